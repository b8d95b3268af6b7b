"""Where a trace does no damage in its world: the same switches in a wider one, run at random.

A shortest trace ends where the bookkeeping breaks. What follows may be harmless for want of another request, of a second
step in flight, or of a device that lets steps overtake each other. Each is added in turn.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from checker.replay.reference.outcome import EngineReplay
from checker.replay.reference.run import Run
from checker.replay.reference.stage import set_up
from checker.replay.trace import Trace
from model.lifecycle.dials import Device, Publish, Release
from model.readings.layout import Layout
from model.readings.world import World, WorldError, world

SEEDS = 60  # random runs in each wider world
EVENTS = 120  # of each, at most


def in_a_wider_world(trace: Trace, off: Sequence[str]) -> EngineReplay | None:
    """A run with these switches off that does damage, where the same run with nothing off does none; None if not found.

    Every other run begins with the trace, as far as it goes there.
    """
    best: EngineReplay | None = None
    for made, words in _wider(trace):
        layout, stage = Layout(trace.model, made), set_up(made, {})
        for seed in range(SEEDS):
            run = Run(stage, layout, off)
            done = _random_run(run, trace, seed)
            damage = run.damage(over=True)
            if damage and not _harmed(Run(stage, layout), trace, seed):
                outputs = {f"r{r}": tuple(q.committed) for r, q in enumerate(run.engine.requests)}
                after = "the trace and " if seed % 2 else ""
                said = f"in {trace.world.name} with {words}, after {after}{done} random events (seed {seed}) and a fair policy"
                found = EngineReplay(tuple(off), done, None, None, damage, said, outputs)
                if damage.seen_by_clients:
                    return found
                best = best or found
    return best


def _random_run(run: Run, trace: Trace, seed: int) -> int:
    if seed % 2:
        run.go(trace.events)
    done = run.wander(seed, EVENTS, cancels=seed % 3 == 0)
    run.rest()
    return done


def _harmed(sound: Run, trace: Trace, seed: int) -> bool:
    _random_run(sound, trace, seed)
    return bool(sound.damage(over=True))


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
