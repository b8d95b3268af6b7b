"""Where a trace does no damage in its world: the same switches in a wider one, run at random.

A shortest trace ends where the bookkeeping breaks. What follows may be harmless for want of another request, of a second
step in flight, or of a device that lets steps overtake each other. Each is added in turn.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

from checker.replay.reference.outcome import Damage, EngineReplay
from checker.replay.reference.run import Run, ways
from checker.replay.reference.stage import set_up
from checker.replay.trace import Trace
from model.lifecycle.dials import Device, Publish, Release
from model.readings.layout import Layout
from model.readings.world import World, WorldError, world

SEEDS = 24  # random runs in each wider world


def in_a_wider_world(trace: Trace, off: Sequence[str]) -> EngineReplay | None:
    """A run with these switches off that does damage, where the same run with nothing off does none; None if not found.

    Each run begins with the trace, as far as it goes in the wider world.
    """
    best: EngineReplay | None = None
    for made, different in _wider(trace):
        layout, stage = Layout(trace.model, made), set_up(made, {})
        for further, words in ways(SEEDS):
            damage, outputs = _run(Run(stage, layout, off), trace, further)
            if damage and not _run(Run(stage, layout), trace, further)[0]:
                said = f"in {trace.world.name} with {different}, the trace run on by {words}"
                found = EngineReplay(tuple(off), trace.length, None, None, damage, said, outputs)
                if damage.seen_by_clients:
                    return found
                best = best or found
    return best


def _run(run: Run, trace: Trace, further: Callable[[Run], None]) -> tuple[Damage, dict[str, tuple[int, ...]]]:
    run.go(trace.events)
    further(run)
    return run.damage(over=True), run.outputs()


def _wider(trace: Trace) -> Iterator[tuple[World, str]]:
    """Wider worlds in which the unchanged engine is right, with what is different in words."""
    v = trace.world.values
    more: dict[str, Any] = {}
    if v["requests"] < 2:
        more = {"requests": 2, "seats": 2}
        yield from _made(trace, more)
    if v["release"] is Release.FENCED and v["publish"] is Publish.COMPUTED:
        more = {**more, "depth": max(2, v["depth"]), "device": Device.UNORDERED}
        yield from _made(trace, more)


def _made(trace: Trace, more: dict[str, Any]) -> Iterator[tuple[World, str]]:
    given = dict(trace.world.values) | more
    for dial in trace.model.dials:
        if dial.index is not None and "requests" in more:
            given[dial.name] = given[dial.name][0]
    words = ", ".join(f"{name} = {getattr(value, 'name', value)}".lower() for name, value in more.items())
    try:
        yield world(trace.model, trace.world.name, given), words
    except WorldError:
        return
