"""A trace replayed on the engine: event by event, observed after each, and run on after its end to see the damage."""

from __future__ import annotations

import contextlib
import random
from collections.abc import Callable, Iterator, Sequence
from functools import partial

from checker.replay.reference.events import At, Comparison, perform
from checker.replay.reference.measure import measure
from checker.replay.reference.memory import Overwritten, unfounded
from checker.replay.reference.outcome import Damage, Difference, EngineReplay, Refusal
from checker.replay.reference.stage import ENDS, Stage, ends, set_up
from checker.replay.trace import Event, Trace
from engine_ref import Engine, Fcfs, Refused
from engine_ref.checks import Misused
from engine_ref.core import Phase
from model.lifecycle.state import Lifecycle
from model.readings.effects import moves
from model.readings.layout import Cell, Layout

ROUNDS = 60  # of the fair policy after a trace; a sound engine is at rest long before
SEEDS = 40  # random ways to go on that are tried where the fair one shows nothing
FURTHER = 600  # events tried in each; most are refused


class Run:
    """One engine on a stage, and the worst that its memory was seen in."""

    def __init__(self, stage: Stage, layout: Layout, off: Sequence[str] = ()) -> None:
        self.stage, self.layout, self.off = stage, layout, tuple(off)
        self.engine: Engine = stage.engine(off)
        self.comparison = Comparison(layout)
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
        yield from self.comparison.differences(self.engine, state)
        if not self.off:
            yield from unfounded(self.engine, self.stage, self.layout, state)

    def damage(self, over: bool = False) -> Damage:
        return measure(self.engine, self.stage, self.overwritten, over)

    def outputs(self) -> dict[str, tuple[int, ...]]:
        """The committed tokens of each request."""
        return {f"r{r}": tuple(q.committed) for r, q in enumerate(self.engine.requests)}

    def rest(self) -> None:
        """Serve what is there to its end, by the fair policy; new requests are not submitted."""
        policy = Fcfs(self.engine)
        policy.take_in()
        self._serve(policy)

    def provoke(self, cancels: bool) -> None:
        """All requests come, and a hostile policy serves them."""
        for r, q in enumerate(self.engine.requests):
            if q.phase is Phase.NEW:
                self.engine.submit(r)
        self._serve(Fcfs(self.engine, hostile=True, cancels=cancels))
        self.rest()

    def _serve(self, policy: Fcfs) -> None:
        for _ in range(ROUNDS):
            if policy.quiet or not policy.round():
                break
            self.overwritten.look(self.engine, self.stage)

    def wander(self, seed: int) -> None:
        """Go on with random events that the engine allows, and then by the fair policy."""
        chance = random.Random(seed)
        possible: dict[str, list[At]] = {}
        for rule, at in moves(self.layout):
            possible.setdefault(rule.name, []).append(at)
        rules = [name for name in possible if name != "cancel" or seed % 3 == 0]  # what is cancelled shows little
        for _ in range(FURTHER):
            name = chance.choice(rules)
            with contextlib.suppress(Refused, Misused):
                self.event(name, chance.choice(possible[name]))
        self.rest()


def stage_of(trace: Trace) -> Stage:
    """The stage on which the engine can do what the trace does."""
    committed = [trace.layout.position[(Lifecycle.committed, (r,))] for r in range(trace.world.values["requests"])]
    happened = zip(trace.events, trace.states[:-1], strict=True)
    stops = ((e.rule, e.at, s[committed[e.at[0]]]) for e, s in happened if e.rule in ENDS)
    return set_up(trace.world, ends(stops))


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
    for further, words in ways(SEEDS):
        again = Run(stage, trace.layout, off)
        again.go(trace.events)
        further(again)
        if found := again.damage(over=True):
            told = _told(again, outcome, found, f"run on by {words}")
            if found.seen_by_clients:
                return told
            best = best or told
    return best or _told(run, outcome, Damage(), f"run on by fair and hostile policies, and in {SEEDS} random ways")


def ways(seeds: int) -> Iterator[tuple[Callable[[Run], None], str]]:
    """How a run may go on, with words for each: by hostile policies first, then at random."""
    yield partial(Run.provoke, cancels=False), "a hostile policy"
    yield partial(Run.provoke, cancels=True), "a hostile policy, and clients that cancel"
    for seed in range(seeds):
        yield partial(Run.wander, seed=seed), f"random events (seed {seed}) and a fair policy"


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
    return EngineReplay(
        outcome.off, outcome.events, outcome.refused, outcome.difference, damage, went_on, run.outputs()
    )
