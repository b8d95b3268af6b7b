"""What an unordered device could do to the memory: the steps in flight, run in every order that the rules allow.

An engine cannot be asked for this: it trusts the order of its device. The rules can, from the same state.
"""

from __future__ import annotations

from model.language.terms import Term
from model.lifecycle.dials import Slot, Worker
from model.lifecycle.state import Status
from model.readings.interpret import evaluate
from model.readings.layout import Layout
from model.readings.stepper import State, Stepper
from specs.properties.memory import settled_is_there


class Damage:
    """Looks for an order of the launched steps after which a running request's blocks do not hold its tokens."""

    def __init__(self, layout: Layout, stepper: Stepper) -> None:
        self.layout, self.stepper = layout, stepper
        self.settled: Term = settled_is_there.term
        self.status = [layout.position[(layout.model.field("status"), (i,))] for i in range(layout.sizes[Slot])]
        self.known: dict[State, str | None] = {}

    def possible(self, state: State) -> str | None:
        """The order of executions that does damage, in words, or None."""
        launched = sum(self.layout.value(state, p) is Status.LAUNCHED for p in self.status)
        if launched < 2 or not evaluate(self.settled, self.layout.world, {}, self.layout.reader(state)):
            return None
        if state not in self.known:
            self.known[state] = self._search(state, ())
        return self.known[state]

    def _search(self, state: State, done: tuple[str, ...]) -> str | None:
        events = [(i, w) for i in range(self.layout.sizes[Slot]) for w in range(self.layout.sizes[Worker])]
        allowed = [e for e in events if not self.stepper.false_guards("execute", e, state)]
        if not allowed:
            # Everything has run, so everything that was promised is written: what is settled must be there.
            whole = evaluate(self.settled, self.layout.world, {}, self.layout.reader(state))
            return None if whole else ", ".join(done)
        for i, w in allowed:
            found = self._search(self.stepper.after("execute", (i, w), state), (*done, f"execute(s{i}, w{w})"))
            if found is not None:
                return found
        return None
