"""Runs that go on for ever: made of what the search for liveness found, and judged by the interpreter alone."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from checker.replay.trace import Trace, build
from checker.search.liveness import Unkept, choices, counts_as_fair, keeps_by
from checker.variation import Variation
from checker.verdict import Disagreement
from model.language.properties import Promise, Property
from model.language.terms import Var
from model.readings.effects import after, false_guards, moves
from model.readings.ground import Instance
from model.readings.interpret import evaluate
from model.readings.layout import Layout
from model.readings.python import Machine

ROUNDS = 1_000  # a loop that has not closed by then closes never


@dataclass(frozen=True)
class Broken:
    """A promise that a run makes at the state `since` for these members, and never keeps."""

    members: tuple[int, ...]
    since: int


def lasso_of(machine: Machine, found: Unkept, variation: Variation) -> Trace:
    """The run behind a finding, by the interpreter, which forgets nothing.

    The search may forget what nobody can read any more, so the first rounds of the loop may change cells that it does not
    see. Rounds are gone until a whole state recurs; what was before then belongs to the stem.
    """
    stem, loop = ([machine.instances[k] for k in part] for part in (found.stem, found.loop))
    layout = machine.layout
    before, rounds = _rounds(layout, _run(layout, stem, layout.initial), loop)
    events = [*stem, *loop * (before + rounds)]
    trace = build(layout, found.name, events, variation)
    return Trace(
        trace.model,
        trace.world,
        trace.shows,
        trace.events,
        trace.states,
        variation,
        len(stem) + before * len(loop),
    )


def _run(layout: Layout, events: Sequence[Instance], state: tuple[int, ...]) -> tuple[int, ...]:
    for instance in events:
        state = tuple(after(layout, instance.rule, instance.at, state))
    return state


def _rounds(layout: Layout, state: tuple[int, ...], loop: Sequence[Instance]) -> tuple[int, int]:
    """How many rounds are gone before a state that recurs, and after how many more it does."""
    seen = {state: 0}
    for number in range(1, ROUNDS):
        state = _run(layout, loop, state)
        if state in seen:
            return seen[state], number - seen[state]
        seen[state] = number
    raise Disagreement(
        f"in {layout.world.name}, the search finds a loop that the interpreter does not close in {ROUNDS:,} rounds; "
        "please report this with the command you ran."
    )


# ------------------------------------------------------------------------------------------------- judging
def broken(trace: Trace, declared: Property) -> Broken | None:
    """For whom the run breaks the promise, as the interpreter sees it; None if it is no fair run that does."""
    promise = declared.promise
    assert promise is not None
    if trace.loop is None or trace.states[trace.loop] != trace.states[-1]:
        return None
    for at in choices(promise, trace.world):
        since = _since(trace, promise, at)
        if since is not None and not neglected(trace, promise, at):
            return Broken(at, since)
    return None


def _since(trace: Trace, promise: Promise, at: tuple[int, ...]) -> int | None:
    """The first state that makes the promise and behind which nothing keeps it, if the loop keeps it nowhere."""
    assert trace.loop is not None
    env: dict[Var, int] = dict(zip(promise.members, at, strict=True))
    opens, keeps = (
        [bool(evaluate(term, trace.world, env, trace.layout.reader(s))) for s in trace.states]
        for term in (promise.premise, promise.goal)
    )
    kept = [n + 1 for n, k in enumerate(keeps) if k]
    kept += [n + 1 for n, e in enumerate(trace.events) if keeps_by(promise, at, e.rule, e.at)]
    free = max(kept, default=0)
    if free > trace.loop:
        return None
    return next((n for n in range(free, len(opens)) if opens[n]), None)


def neglected(trace: Trace, promise: Promise, at: tuple[int, ...]) -> list[str]:
    """The fair rules that the loop never takes for some members for which they are enabled all the time: none, if it is fair."""
    assert trace.loop is not None
    taken = {(e.rule, e.at) for e in trace.events[trace.loop :]}
    layout, states = trace.layout, trace.states[trace.loop :]
    return [
        rule.name
        for rule, of in moves(layout)
        if counts_as_fair(promise, at, rule, of)
        and (rule.name, of) not in taken
        and not any(false_guards(layout, rule, of, state) for state in states)
    ]
