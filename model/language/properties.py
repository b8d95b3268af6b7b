"""Properties: what must hold of every state, of every step, and at rest."""

from __future__ import annotations

import enum
import inspect
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from model.language.dials import dials_only
from model.language.errors import refuse
from model.language.rules import Rule
from model.language.state import State
from model.language.terms import BOOL, Moment, Term, Value, want


class Shape(enum.Enum):
    """What a property is a property of."""

    STATE = "state"  # of every reachable state
    STEP = "step"  # of every step: the states before and after it
    REST = "rest"  # a state in which no rule but the excepted ones is enabled satisfies it
    HOME = "home"  # from every state, one that satisfies it can be reached without the excepted rules
    REACHABLE = "reachable"  # some reachable state satisfies it


@dataclass(frozen=True)
class Property:
    """A named requirement.

    `doc` says what must hold, `reason` why, `catches` the kinds of fault it is there for, `rule` the lifecycle rule
    it makes precise. `witness` is a term that some state (or step) must satisfy, or the property says nothing.
    `apart_from` names the rules that REST and HOME leave out: what others decide to ask for.
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
        subject = function.__module__.rpartition(".")[2].replace("_", "-")
        name = f"{subject}.{function.__name__.replace('_', '-')}"
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
    import typing

    hints = typing.get_type_hints(function)
    names = list(inspect.signature(function).parameters)
    wanted = ["before", "then"] if shape is Shape.STEP else ["s"]
    state = hints.get(names[0]) if names else None
    if names != wanted or not (isinstance(state, type) and issubclass(state, State)):
        written = ", ".join(f"{n}: YourState" for n in wanted)
        raise refuse(f"{function.__name__} takes ({', '.join(names)}), but this kind of property takes ({written}).")
    moments = (Moment.NOW, Moment.THEN)[: len(wanted)]
    return tuple(state(m) for m in moments), state
