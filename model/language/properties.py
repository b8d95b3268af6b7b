"""Properties: what must hold of every state, of every step, and at rest."""

from __future__ import annotations

import enum
import inspect
import typing
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from model.language.dials import dials_only
from model.language.errors import refuse
from model.language.rules import Rule
from model.language.state import State
from model.language.terms import BOOL, Index, Moment, Op, Term, Value, Var, want


class Shape(enum.Enum):
    """What a property is a property of."""

    STATE = "state"  # of every reachable state
    STEP = "step"  # of every step: the states before and after it
    REST = "rest"  # a state in which no rule but the excepted ones is enabled satisfies it
    HOME = "home"  # from every state, one that satisfies it can be reached without the excepted rules
    REACHABLE = "reachable"  # some reachable state satisfies it
    LEADS = "leads to"  # wherever its premise holds, its goal holds then or later, in every fair run


@dataclass(frozen=True)
class Promise:
    """For each choice of `members`: wherever `premise` holds, `goal` holds then or later, in every fair run.

    A run is fair if no instance of a fair rule stays enabled for ever without being taken (weak fairness). `alone` names
    the rules that must keep the promise by themselves: only their instances for these members count as fair then.
    `by` names rules that keep it by being taken for these members, whatever the state is then.
    """

    members: tuple[Var, ...]
    premise: Term
    goal: Term
    alone: tuple[str, ...] = ()
    by: tuple[str, ...] = ()


@dataclass(frozen=True)
class Property:
    """A named requirement.

    `doc` says what must hold, `reason` why, `catches` the kinds of fault it is there for, `rule` the lifecycle rule
    it makes precise. `witness` is a term that some state (or step) must satisfy, or the property says nothing.
    `apart_from` names the rules that REST and HOME leave out: what others decide to ask for. Where the shape is LEADS,
    `promise` is what is asked, `term` says that no promise is open, and `witness` that some is.
    """

    name: str
    shape: Shape
    term: Term
    doc: str
    reason: str
    catches: tuple[str, ...]
    rule: str
    witness: Term | None
    needs: Term
    apart_from: tuple[str, ...]
    state: type[State]
    promise: Promise | None = None

    @property
    def subject(self) -> str:
        return self.name.rpartition(".")[0]


Decorator = Callable[[Callable[..., Value]], Property]


def prop(
    *,
    rule: str = "",
    reason: str = "",
    catches: tuple[str, ...] = (),
    witness: Callable[..., Value] | None = None,
    needs: Value = True,
) -> Decorator:
    """A property of every state: a function of one state."""
    return _declare(Shape.STATE, rule, reason, catches, witness, needs, ())


def step(
    *,
    rule: str = "",
    reason: str = "",
    catches: tuple[str, ...] = (),
    witness: Callable[..., Value] | None = None,
    needs: Value = True,
) -> Decorator:
    """A property of every step: a function of the state before and the state then."""
    return _declare(Shape.STEP, rule, reason, catches, witness, needs, ())


def at_rest(
    *,
    apart_from: tuple[Rule, ...],
    rule: str = "",
    reason: str = "",
    catches: tuple[str, ...] = (),
    needs: Value = True,
) -> Decorator:
    """No dead end: wherever no rule but `apart_from` is enabled, this holds."""
    return _declare(Shape.REST, rule, reason, catches, None, needs, apart_from)


def home(
    *,
    apart_from: tuple[Rule, ...],
    rule: str = "",
    reason: str = "",
    catches: tuple[str, ...] = (),
    needs: Value = True,
) -> Decorator:
    """From every state one that satisfies this can be reached without the rules `apart_from`."""
    return _declare(Shape.HOME, rule, reason, catches, None, needs, apart_from)


def reachable(*, rule: str = "", reason: str = "", needs: Value = True) -> Decorator:
    """Some state satisfies this; not finding one means the model cannot show what it claims to."""
    return _declare(Shape.REACHABLE, rule, reason, (), None, needs, ())


def leads_to(
    *,
    alone: tuple[Rule, ...] = (),
    by: tuple[Rule, ...] = (),
    rule: str = "",
    reason: str = "",
    catches: tuple[str, ...] = (),
    needs: Value = True,
) -> Callable[[Callable[..., tuple[Value, Value]]], Property]:
    """A promise: a function of a state and of members that gives (premise, goal). See Promise.

    @leads_to()
    def asked_finishes(s: Lifecycle, r: Request) -> tuple[Term, Term]:
        return s.asked[r], finished(s, r)
    """
    condition = dials_only(needs, "needs=")
    for unfair in (r for r in alone if not r.fair):
        raise refuse(f"alone= names {unfair.name}, which is not fair, so it promises nothing; name fair rules.")

    def declare(function: Callable[..., tuple[Value, Value]]) -> Property:
        view, state, members = _promised(function)
        name = _name(function)
        for other in (r for r in (*alone, *by) if [v.domain for v in r.params] != [type(m) for m in members]):
            raise refuse(f"{name} names {other.name}, whose parameters are not its own; they must be the same.")
        pair = function(view, *members)
        if not isinstance(pair, tuple) or len(pair) != 2:
            raise refuse(f"{name} gives {pair!r}; return two conditions, premise and goal.")
        premise, goal = (want(t, BOOL, f"the property {name}") for t in pair)
        variables = tuple(m.data for m in members)
        promise = Promise(variables, premise, goal, tuple(r.name for r in alone), tuple(r.name for r in by))
        kept, waits = ~premise | goal, premise & ~goal
        for variable in reversed(variables):
            kept, waits = Term(Op.FORALL, (kept,), BOOL, variable), Term(Op.EXISTS, (waits,), BOOL, variable)
        doc = inspect.getdoc(function) or ""
        return Property(
            name, Shape.LEADS, kept, doc, reason, catches, rule, waits, condition, (), state, promise=promise
        )

    return declare


def _promised(function: Callable[..., Any]) -> tuple[State, type[State], list[Index]]:
    """The view, its state and the members that the function of a promise is to be called with."""
    hints = typing.get_type_hints(function)
    first, *others = inspect.signature(function).parameters
    state = hints.get(first)
    domains = [hints.get(n) for n in others]
    if first != "s" or not _is_a(state, State) or not all(_is_a(d, Index) for d in domains):
        raise refuse(f"{function.__name__} is a promise; it takes (s: YourState) and members, such as (s, r: Request).")
    assert isinstance(state, type)
    return state(Moment.NOW), state, [d.variable(n) for d, n in zip(domains, others, strict=True) if d is not None]


def _is_a(hint: object, base: type) -> bool:
    return isinstance(hint, type) and issubclass(hint, base)


def _name(function: Callable[..., Any]) -> str:
    subject = function.__module__.rpartition(".")[2].replace("_", "-")
    return f"{subject}.{function.__name__.replace('_', '-')}"


def _declare(
    shape: Shape,
    rule: str,
    reason: str,
    catches: tuple[str, ...],
    witness: Callable[..., Value] | None,
    needs: Value,
    apart_from: tuple[Rule, ...],
) -> Decorator:
    condition = dials_only(needs, "needs=")

    def declare(function: Callable[..., Value]) -> Property:
        views, state = _views(function, shape)
        name = _name(function)
        return Property(
            name,
            shape,
            want(function(*views), BOOL, f"the property {name}"),
            inspect.getdoc(function) or "",
            reason,
            catches,
            rule,
            None if witness is None else want(_witness(witness, views), BOOL, f"the witness of {name}"),
            condition,
            tuple(r.name for r in apart_from),
            state,
        )

    return declare


def _witness(witness: Callable[..., Value], views: tuple[State, ...]) -> Value:
    return witness(*views[: len(inspect.signature(witness).parameters)])


def _views(function: Callable[..., Any], shape: Shape) -> tuple[tuple[State, ...], type[State]]:
    hints = typing.get_type_hints(function)
    names = list(inspect.signature(function).parameters)
    wanted = ["before", "then"] if shape is Shape.STEP else ["s"]
    state = hints.get(names[0]) if names else None
    if names != wanted or not (isinstance(state, type) and issubclass(state, State)):
        written = ", ".join(f"{n}: YourState" for n in wanted)
        raise refuse(f"{function.__name__} takes ({', '.join(names)}), but this kind of property takes ({written}).")
    moments = (Moment.NOW, Moment.THEN)[: len(wanted)]
    return tuple(state(m) for m in moments), state
