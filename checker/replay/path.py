"""Whether what an engine did is a path of the rules: the small steps between two observations, found and run.

An engine moves at its own grain: one call plans, preempts, allocates and publishes. From the two observations around a
move follows which events of the rules it must have been made of; in which order is searched. If no order is allowed by
the rules, or the state it leads to is not the one observed, the engine has departed from them: at that guard, or there.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from checker.replay.engine_world import Comparison, Observation
from model.language.terms import Index
from model.lifecycle.state import Entry, Status
from model.readings.layout import member_name
from model.readings.prose import explain
from model.readings.stepper import State, Stepper

Event = tuple[str, tuple[int, ...]]
Move = Mapping[str, Any]

# What the kinds of findings are called that are no false guard.
NO_EVENT = "no event "
DIFFERS = "differs: "
ORDER = "order"

TRIES = 3000  # events tried in the search for an order before it gives up


@dataclass(frozen=True)
class Departure:
    """Where an engine leaves the rules. `kind` groups findings: a guard, `differs: FIELD`, or what is left at rest."""

    kind: str
    sentence: str


class _Attempt:
    """A search for an order of events: depth first, and never twice from one state with the same events left."""

    def __init__(self, stepper: Stepper) -> None:
        self.stepper = stepper
        self.met: set[tuple[State, tuple[Event, ...]]] = set()
        self.most = -1
        self.furthest: State = ()
        self.done: tuple[Event, ...] = ()
        self.left: tuple[Event, ...] = ()

    def run(self, state: State, left: tuple[Event, ...], done: tuple[Event, ...]) -> tuple[State, list[Event]] | None:
        if not left:
            return state, list(done)
        if (state, left) in self.met or len(self.met) >= TRIES:
            return None
        self.met.add((state, left))
        if len(done) > self.most:
            self.most, self.furthest, self.done, self.left = len(done), state, done, left
        for i, event in enumerate(left):
            if not self.stepper.false_guards(*event, state):
                found = self.run(self.stepper.after(*event, state), left[:i] + left[i + 1 :], (*done, event))
                if found is not None:
                    return found
        return None


class PathFinder:
    """Follows an engine through one world of the rules."""

    def __init__(self, stepper: Stepper, comparison: Comparison) -> None:
        self.stepper, self.comparison = stepper, comparison
        self.layout = stepper.layout

    def follow(
        self, state: State, move: Move, before: Observation, then: Observation
    ) -> tuple[State, list[Event]] | Departure:
        """The state of the rules after the move and the events that lead there, or where the engine departs."""
        events = list(self._events(state, move, before, then))
        unknown = next((e for e in events if self.stepper.instance(*e) is None), None)
        if unknown is not None:
            return Departure(NO_EVENT + unknown[0], f"{self.text(unknown)} cannot happen in this world of the rules")
        found = self._order(state, events)
        if isinstance(found, Departure):
            return found
        for field, sentence in self.comparison.differences(found[0], then):
            said = ", ".join(self.text(e) for e in found[1]) or "nothing"
            return Departure(DIFFERS + field, f"after {said}, {sentence}")
        return found

    def text(self, event: Event) -> str:
        rule, at = event
        params = self.layout.model.rule(rule).params
        names = [
            member_name(v.domain, m) if issubclass(v.domain, Index) else str(m) for v, m in zip(params, at, strict=True)
        ]
        return f"{rule}({', '.join(names)})" if names else rule

    # ------------------------------------------------------------------------------------- order
    def _order(self, state: State, events: list[Event]) -> tuple[State, list[Event]] | Departure:
        """Run the events in an order that every guard allows, preferring the one they are given in."""
        attempt = _Attempt(self.stepper)
        found = attempt.run(state, tuple(events), ())
        return found if found is not None else self._refused(attempt)

    def _refused(self, attempt: _Attempt) -> Departure:
        """The first event that no order allows, what else the move did to the same member, and the guard that is false."""
        (rule, at), state = attempt.left[0], attempt.furthest
        beside = ", ".join(self.text(e) for e in attempt.done if self._member(e) == self._member((rule, at)))
        refused = f"the rules refuse {self.text((rule, at))}" + (f" in the same move as {beside}" if beside else "")
        false = self.stepper.false_guards(rule, at, state)
        if not false:
            return Departure(f"{rule}.{ORDER}", f"{refused}: no order of these events is allowed")
        declared = self.layout.model.rule(rule)
        guard = next(g for g in declared.guards if g.name == false[0])
        why = explain(self.layout, guard.condition, state, (), dict(zip(declared.params, at, strict=True)))
        values = "; ".join(str(r) for r in why.readings)
        return Departure(f"{rule}.{guard.name}", f"{refused}: the guard {rule}.{guard.name} is false ({values})")

    def _member(self, event: Event) -> Any:
        """Whom an event is about: the first of its parameters."""
        params = self.layout.model.rule(event[0]).params
        return (params[0].domain, event[1][0]) if params else None

    # ------------------------------------------------------------------------------------ events
    def _events(self, state: State, move: Move, before: Observation, then: Observation) -> Iterator[Event]:
        match move["kind"]:
            case "event":
                yield move["rule"], tuple(move["at"])
            case "submit":
                yield "submit", (move["request"],)
            case "cancel":
                yield from self._cancelled(state, move["request"], before)
            case "schedule":
                yield from self._scheduled(state, before, then)
            case "result":
                yield from self._retired(state, before, then)

    def _cancelled(self, state: State, r: int, before: Observation) -> Iterator[Event]:
        yield "cancel", (r,)
        if before["requests"][r]["phase"] != "FINISHED":
            yield "abort", (r,)
            if self.comparison.table(state, r):
                yield "release", (r,)
            yield "notify", (r,)

    def _scheduled(self, state: State, before: Observation, then: Observation) -> Iterator[Event]:
        step = then["window"][-1] if len(then["window"]) > len(before["window"]) else []
        old, new = before["requests"], then["requests"]
        for r in range(len(new)):
            if old[r]["phase"] == "RUNNING" and new[r]["phase"] == "PREEMPTED":
                planned = next((k for q, k, _ in step if q == r), None)
                if planned is not None:
                    yield "select", (r, planned)
                yield "preempt", (r,)
                if self.comparison.table(state, r):
                    yield "release", (r,)
        for r, k, _ in step:
            if new[r]["phase"] == "RUNNING":
                yield from self._planned(state, r, k, before, then)
        if step:
            yield "launch", (len(before["window"]),)

    def _planned(self, state: State, r: int, k: int, before: Observation, then: Observation) -> Iterator[Event]:
        """A request that is in the step: admitted if it was not running, its new blocks hit or taken, its tokens planned."""
        new, resumed = then["requests"][r], before["requests"][r]["phase"] != "RUNNING"
        held = [] if resumed else self.comparison.table(state, r)
        gained = list(new["blocks"][len(held) :])
        hits = (new["scheduled"] - k) // self.comparison.engine.block_size if resumed else 0
        if resumed:
            yield "admit", (r,)
        for b in gained[:hits]:
            yield "hit", (r, b)
        for b in gained[hits:]:
            yield "acquire", (r, b)
        yield "select", (r, k)
        yield from self._published(state, then, [*held, *gained[hits:]], r, taken=gained[hits:])

    def _published(
        self, state: State, then: Observation, blocks: Sequence[int], r: int, taken: Sequence[int] = ()
    ) -> Iterator[Event]:
        """Blocks of the request that have a name now and had not; a block taken anew has lost the name it had."""
        for b in blocks:
            name = self.comparison.observed_name(then["blocks"][b]["published"])
            if name and (b in taken or name != self.comparison.name(state, b)):
                yield "publish", (r, b)

    def _retired(self, state: State, before: Observation, then: Observation) -> Iterator[Event]:
        if self.comparison.cell(state, "status", 0) is Status.LAUNCHED:
            yield "execute", (0, 0)
        old, new = before["requests"], then["requests"]
        for r in range(len(new)):
            entry = self.comparison.cell(state, "entry", 0, r)
            if entry is Entry.NONE:
                continue
            grew = new[r]["output"] > old[r]["output"]
            yield self._retire(state, r, entry, grew, new[r]), (r,)
            yield from (("deliver", (r,)) for _ in range(new[r]["output"] - old[r]["output"]))
            yield from self._published(state, then, self.comparison.table(state, r), r)
        yield "recycle", ()
        for r in range(len(new)):
            if old[r]["phase"] != "FINISHED" and new[r]["phase"] == "FINISHED":
                yield "notify", (r,)
                if self.comparison.table(state, r):
                    yield "release", (r,)

    def _retire(self, state: State, r: int, entry: Entry, grew: bool, new: Mapping[str, Any]) -> str:
        ends = (
            {"STOP": "stop", "LENGTH": "length"}.get(new["reason"], "token") if new["phase"] == "FINISHED" else "token"
        )
        if entry is Entry.STALE:
            return f"retire_late_{ends}" if grew else "retire_stale"
        return f"retire_{ends}" if self.comparison.cell(state, "samples", 0, r) else "retire_chunk"
