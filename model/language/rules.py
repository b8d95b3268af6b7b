"""Rules: named guards and updates, recorded once from a decorated function.

    @rule(by=SCHEDULER)
    def preempt(now: Lifecycle, after: Lifecycle, r: Request) -> None:
        guard("running", now.phase[r] == Phase.RUNNING)
        after.phase[r] = Phase.PREEMPTED

The function runs once, when it is decorated. What it leaves is data: nothing of it runs when the rule fires.
"""

from __future__ import annotations

import contextvars
import enum
import inspect
import itertools
import re
import typing
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

from model.language.build import I, members_of
from model.language.dials import dials_only
from model.language.errors import here, refuse
from model.language.state import Field, State
from model.language.terms import (
    BOOL,
    Index,
    Moment,
    Op,
    Range,
    Term,
    Value,
    Var,
    free,
    lift,
    substitute,
    walk,
    want,
)

NAME = re.compile(r"[a-z][a-z0-9]*(-[a-z0-9]+)*\Z")


@dataclass(frozen=True)
class Guard:
    """A named condition. `assumed` marks what the environment or economy restricts rather than the engine."""

    name: str
    condition: Term
    assumed: bool
    where: str


@dataclass(frozen=True)
class Update:
    """One write, for every value of its bound variables: field[indices] becomes value, read in the state before."""

    field: Field
    indices: tuple[Term, ...]
    value: Term
    bound: tuple[Var, ...]
    where: str


@dataclass(frozen=True)
class Note:
    """A named term that a trace shows beside the event; it has no effect on the state."""

    name: str
    value: Term


@dataclass(frozen=True)
class Rule:
    """A rule as data. `rule.guard` and `rule/field` name its parts in faults, coverage, proofs and reports."""

    name: str
    by: enum.Enum
    fair: bool
    needs: Term
    params: tuple[Var, ...]
    guards: tuple[Guard, ...]
    updates: tuple[Update, ...]
    notes: tuple[Note, ...]
    doc: str
    where: str
    state: type[State]

    def reads(self) -> frozenset[str]:
        """Names of the fields that its guards and effects read."""
        terms = [g.condition for g in self.guards]
        terms += [t for u in self.updates for t in (u.value, *u.indices)]
        return frozenset(t.data[0].name for term in terms for t in walk(term) if t.op is Op.FIELD)

    def writes(self) -> frozenset[str]:
        """Names of the fields that it writes."""
        return frozenset(u.field.name for u in self.updates)

    def update_names(self) -> tuple[str, ...]:
        """The name of each update: `rule/field`, with its indices if the rule writes the field more than once."""
        fields = [u.field.name for u in self.updates]
        return tuple(
            f"{self.name}/{u.field.name}"
            if fields.count(u.field.name) == 1
            else f"{self.name}/{u.field.name}[{','.join(str(i) for i in u.indices)}]"
            for u in self.updates
        )


class Recorder:
    """Collects what a rule's function says while it runs."""

    def __init__(self, name: str, params: typing.Sequence[Term] = ()) -> None:
        self.name = name
        self.params = [p.data for p in params]
        self.guards: list[Guard] = []
        self.updates: list[Update] = []
        self.notes: list[Note] = []
        self.ranging: list[Var] = []

    def guard(self, name: str, condition: Value, assumed: bool) -> None:
        if not isinstance(name, str) or not NAME.match(name):
            raise refuse(f"the guard name {name!r} of {self.name} is no name; write lower-case words joined by -.")
        if any(g.name == name for g in self.guards):
            raise refuse(f"{self.name} has two guards named {name}; give the second a name of its own.")
        term = want(condition, BOOL, f"the guard {self.name}.{name}")
        self.known([term], self.params)
        self.guards.append(Guard(name, term, assumed, here()))

    def note(self, name: str, value: Value) -> None:
        term = lift(value)
        self.known([term], self.params)
        self.notes.append(Note(name, term))

    def known(self, terms: typing.Iterable[Term], variables: typing.Sequence[Var]) -> None:
        """Refuse a variable that means nothing here: one of a loop that has ended, or that is not around an update."""
        for variable in (v for t in terms for v in free(t) if v not in variables):
            index = variable.domain.__name__
            raise refuse(
                f"{self.name} uses {variable.name} outside of an update in its own `for {variable.name} in every({index})`; "
                "quantify over it with forall, exists, count or total."
            )

    def write(self, field: Field, indices: tuple[Term, ...], value: Term) -> None:
        self.known((*indices, value), [*self.params, *self.ranging])
        placed = [v for t in indices for v in free(t)]
        for variable in (v for v in free(value) if v in self.ranging and v not in placed):
            raise refuse(
                f"{self.name} writes one cell of {field.name} for every {variable.name} and another value each time; "
                f"put {variable.name} among its indices, or join the values with forall, exists, count or total."
            )
        update = Update(field, indices, value, tuple(v for v in self.ranging if v in placed), here())
        for earlier in self.updates:
            if earlier.field is field and _may_meet(earlier, update):
                raise refuse(
                    f"{self.name} may write the same cell of {field.name} twice, here and at {earlier.where}; "
                    "updates are simultaneous, so join the two into one with ite(condition, a, b)."
                )
        self.updates.append(update)


def _may_meet(a: Update, b: Update) -> bool:
    """Whether two writes can name one cell: only different positions tell two index terms apart for certain."""
    pairs = [(_position(x), _position(y)) for x, y in zip(a.indices, b.indices, strict=True)]
    return not any(x is not None and y is not None and x != y for x, y in pairs)


def _position(index: Term) -> int | None:
    """How many places after the first an index term is, if it says so: first() and first().next."""
    steps = 0
    while index.op is Op.NEXT:
        index, steps = index.args[0], steps + 1
    return index.data + steps if index.op is Op.CONST else None


_recording: contextvars.ContextVar[Recorder | None] = contextvars.ContextVar("recording", default=None)


def _recorder(word: str) -> Recorder:
    recorder = _recording.get()
    if recorder is None:
        raise refuse(f"{word} belongs inside a rule; put it in a function decorated with @rule.")
    return recorder


def guard(name: str, condition: Value) -> None:
    """What the engine must check before the rule may fire."""
    _recorder("guard").guard(name, condition, assumed=False)


def assume(name: str, condition: Value) -> None:
    """What the environment or the order of asking restricts; faults and mutants leave it alone."""
    _recorder("assume").guard(name, condition, assumed=True)


def note(name: str, value: Value) -> None:
    """Something a trace should show beside the event, such as why it happened. Costs no state."""
    _recorder("note").note(name, value)


def every(index: type[I]) -> Iterator[I]:
    """`for b in every(Block): after.ref[b] = ...` is one update that ranges over all blocks."""
    recorder = _recorder("every")
    members_of(index, "every")
    taken = {v.name for v in (*recorder.params, *recorder.ranging)}
    # j, jj, jjj: no other variable, and no member of a world (j0, j1), is called so.
    name = next(n for n in (index.short * times for times in itertools.count(1)) if n not in taken)
    variable = index.variable(name)
    recorder.ranging.append(variable.data)
    try:
        yield variable
    finally:  # also after a break
        recorder.ranging.remove(variable.data)


def rule(*, by: enum.Enum, fair: bool = False, needs: Value = True) -> Callable[[Callable[..., None]], Rule]:
    """Declare a rule.

    `by`: the actor whose step it is. `fair`: weakly fair, so it is not withheld for ever while it stays enabled.
    `needs`: a Bool over dials; where it is false the rule does not exist.
    """
    condition = dials_only(needs, "needs=")

    def declare(function: Callable[..., None]) -> Rule:
        state, params = _signature(function)
        recorder = record(function.__name__, function, state, params)
        return Rule(
            function.__name__,
            by,
            fair,
            condition,
            tuple(p.data for p in params),
            tuple(recorder.guards),
            tuple(recorder.updates),
            tuple(recorder.notes),
            inspect.getdoc(function) or "",
            here(),
            state,
        )

    return declare


def _signature(function: Callable[..., Any]) -> tuple[type[State], list[Index | Range]]:
    hints = typing.get_type_hints(function)
    names = list(inspect.signature(function).parameters)
    state = hints.get("now")
    one = isinstance(state, type) and issubclass(state, State) and hints.get("after") is state
    if names[:2] != ["now", "after"] or not one:
        raise refuse(
            f"the rule {function.__name__} begins with ({', '.join(names[:2])}); "
            "write (now: YourState, after: YourState, ...)."
        )
    params: list[Index | Range] = []
    for name in names[2:]:
        domain = hints.get(name)
        if not (isinstance(domain, type) and issubclass(domain, Index | Range)):
            raise refuse(
                f"the parameter {name} of {function.__name__} has no domain; annotate it with an Index or a Range."
            )
        params.append(domain.variable(name))
    assert state is not None
    return state, params


def record(
    name: str,
    function: Callable[..., None],
    state: type[State],
    params: typing.Sequence[Term],
    base: Rule | None = None,
) -> Recorder:
    """Run a rule's function with recorders. With `base`, the parts are added to those of that rule."""
    recorder = Recorder(name, params)
    if base is not None:
        recorder.guards, recorder.updates, recorder.notes = list(base.guards), list(base.updates), list(base.notes)
    token = _recording.set(recorder)
    try:
        function(state(Moment.NOW), state(Moment.THEN, recorder), *params)
    finally:
        _recording.reset(token)
    return recorder


def enabled(declared: Rule, *members: Index) -> Term:
    """Whether the rule's guards hold for these parameters; parameters left out are existentially quantified."""
    values: dict[Var, Term] = dict(zip(declared.params, members, strict=False))
    condition = lift(True)
    for position, g in enumerate(declared.guards):
        term = substitute(g.condition, values)
        condition = term if position == 0 else condition & term
    for variable in declared.params[len(members) :]:
        if not issubclass(variable.domain, Index):
            raise refuse(f"enabled({declared.name}) cannot choose the number {variable.name}; state the guard instead.")
        condition = Term(Op.EXISTS, (condition,), BOOL, variable)
    return condition & declared.needs
