"""A trace replayed on the engine: event by event, observed after each, and run on after its end to see the damage."""

from __future__ import annotations

import contextlib
import random
from collections.abc import Iterator, Sequence

from checker.replay.reference.events import At, differences, perform
from checker.replay.reference.measure import measure
from checker.replay.reference.memory import Overwritten, unfounded
from checker.replay.reference.outcome import Damage, Difference, EngineReplay, Refusal
from checker.replay.reference.stage import Stage, ends, set_up
from checker.replay.trace import Event, Trace
from engine_ref import Engine, Fcfs, Refused
from engine_ref.checks import Misused
from model.lifecycle.state import Lifecycle
from model.readings.effects import moves
from model.readings.layout import Cell, Layout

ROUNDS = 60  # of the fair policy after a trace; a sound engine is at rest long before
SEEDS = 40  # random ways to go on that are tried where the fair one shows nothing
FURTHER = 60  # events of each
TRIES = 12  # attempts for each of them: most that is tried is refused


class Run:
    """One engine on a stage, and the worst that its memory was seen in."""

    def __init__(self, stage: Stage, layout: Layout, off: Sequence[str] = ()) -> None:
        self.stage, self.layout, self.off = stage, layout, tuple(off)
        self.engine: Engine = stage.engine(off)
        self.overwritten = Overwritten.none()

    def event(self, rule: str, at: At) -> None:
        """Perform an event; Refused if the engine will not."""
        perform(self.engine, rule, at)
        if rule in ("execute", "acquire") or rule.startswith("retire"):
            self.overwritten.look(self.engine, self.stage)

    def go(self, events: Sequence[Event]) -> None:
        """Perform events up to the first that the engine refuses."""
        with contextlib.suppress(Refused):
            for event in events:
                self.event(event.rule, event.at)

    def differing(self, state: Sequence[int]) -> Iterator[tuple[Cell, str, str]]:
        """Where the engine is not in this state. Of a sound engine the KV is asked, too: with something off, it is damage."""
        yield from differences(self.engine, self.layout, state)
        if not self.off:
            yield from unfounded(self.engine, self.stage, self.layout, state)

    def damage(self, over: bool = False) -> Damage:
        return measure(self.engine, self.stage, self.overwritten, over)

    def rest(self) -> None:
        """Serve what is there to its end, by the fair policy; new requests are not submitted."""
        policy = Fcfs(self.engine)
        for _ in range(ROUNDS):
            if policy.quiet or not policy.round():
                break
            self.overwritten.look(self.engine, self.stage)

    def wander(self, seed: int, events: int, cancels: bool = False) -> int:
        """Go on with at most so many random events that the engine allows; how many they were. What is cancelled does not
        show what went wrong, so nobody cancels if not asked to."""
        chance = random.Random(seed)
        possible: dict[str, list[At]] = {}
        for rule, at in moves(self.layout):
            possible.setdefault(rule.name, []).append(at)
        rules = [name for name in possible if name != "cancel" or cancels]
        done = 0
        for _ in range(events * TRIES):
            name = chance.choice(rules)
            at = chance.choice(possible[name])
            try:
                self.event(name, at)
            except (Refused, Misused):
                continue
            done += 1
            if done == events:
                break
        return done


def stage_of(trace: Trace) -> Stage:
    """The stage on which the engine can do what the trace does."""
    committed = [trace.layout.position[(Lifecycle.committed, (r,))] for r in range(trace.world.values["requests"])]
    happened = zip(trace.events, trace.states[:-1], strict=True)
    return set_up(trace.world, ends((e.rule, e.at, s[committed[e.at[0]]]) for e, s in happened if e.at))


def replay(trace: Trace, off: Sequence[str] = (), stage: Stage | None = None) -> EngineReplay:
    """Replay the trace with these switches off.

    A sound engine's replay stops where the engine refuses, or is in another state. A run that gets to the trace's end is
    served on to rest by a fair policy and, where something is off and no damage shows, in several random ways.
    """
    stage = stage or stage_of(trace)
    run = Run(stage, trace.layout, off)
    outcome = follow(run, trace)
    at_once = run.damage()
    if not outcome.followed and not off:
        return _told(run, outcome, at_once, "")
    run.rest()
    if found := run.damage(over=True):
        return _told(run, outcome, found, "run on to rest by a fair policy" + (", and before" if at_once else ""))
    if not off:
        return _told(run, outcome, Damage(), "run on to rest by a fair policy")
    best: EngineReplay | None = None
    for seed in range(SEEDS):
        again = Run(stage, trace.layout, off)
        again.go(trace.events)
        further = again.wander(seed, FURTHER)
        again.rest()
        found = again.damage(over=True)
        said = f"run on by {further} random events (seed {seed}) and a fair policy"
        if found.seen_by_clients:
            return _told(again, outcome, found, said)
        if found and best is None:
            best = _told(again, outcome, found, said)
    tried = f"run on to rest by a fair policy, and in {SEEDS} random ways of up to {FURTHER} events"
    return best or _told(run, outcome, Damage(), tried)


def follow(run: Run, trace: Trace) -> EngineReplay:
    """Perform the trace's events. A sound engine's replay stops where it first refuses, or is in another state."""
    difference = None
    for index, event in enumerate(trace.events):
        try:
            run.event(event.rule, event.at)
        except Refused as refused:
            refusal = Refusal(index, event.text, refused.guard, refused.values)
            return EngineReplay(run.off, index, refusal, difference)
        if difference is None:
            difference = _first(run, trace, index)
        if difference is not None and not run.off:
            return EngineReplay(run.off, index + 1, None, difference)
    return EngineReplay(run.off, len(trace.events), None, difference)


def _first(run: Run, trace: Trace, index: int) -> Difference | None:
    for cell, engine, model in run.differing(trace.states[index + 1]):
        return Difference(index, trace.events[index].text, cell.field.name, cell.text, engine, model)
    return None


def _told(run: Run, outcome: EngineReplay, damage: Damage, went_on: str) -> EngineReplay:
    outputs = {f"r{r}": tuple(q.committed) for r, q in enumerate(run.engine.requests)}
    return EngineReplay(
        outcome.off, outcome.events, outcome.refused, outcome.difference, damage, went_on, outputs
    )


