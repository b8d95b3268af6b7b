"""Traces on the reference engine (engine_ref), with measured damage.

The engine needs torch, which is optional: importing this package does not, calling its functions does. Unusable, in one
sentence that says what to install, where it is missing.
"""

from __future__ import annotations

import importlib.util
from collections.abc import Sequence

from checker.replay.reference.outcome import Damage, Difference, EngineReplay, Judgement, Refusal
from checker.replay.story import Story, Told
from checker.replay.trace import Trace
from checker.verdict import Unusable
from model.readings.layout import Layout

__all__ = [
    "Damage",
    "Difference",
    "EngineReplay",
    "Judgement",
    "Refusal",
    "available",
    "judge",
    "replay_on_engine",
    "tell_on_engine",
]

MISSING = "the reference engine needs torch, which is not installed; install it with: pip install 'schedproof[engine]'."


def available() -> bool:
    """Whether torch is installed, without importing it."""
    try:
        return importlib.util.find_spec("torch") is not None
    except ValueError:
        return False


def replay_on_engine(trace: Trace, off: Sequence[str] = ()) -> EngineReplay:
    """Replay a trace on the engine with these of its switches off. Unusable without torch, or for an unknown switch."""
    _need_torch()
    from checker.replay.reference.run import replay
    from checker.replay.reference.switches import check_switches

    check_switches(off)
    return replay(trace, off)


def judge(trace: Trace) -> Judgement:
    """Both replays of a trace: the sound engine, and the engine changed as the trace's rules were. Unusable without torch."""
    _need_torch()
    from checker.replay.reference.judgement import judge as judged

    return judged(trace)


def tell_on_engine(story: Story, told: Told, layout: Layout) -> Told:
    """What the engine gives for a story that the rules have told. Unusable without torch."""
    _need_torch()
    from checker.replay.reference.story import tell_on_engine as tell

    return tell(story, told, layout)


def _need_torch() -> None:
    if not available():
        raise Unusable(MISSING)
