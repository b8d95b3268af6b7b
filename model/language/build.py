"""Words for what Python has no operator for: implication, choice, quantifiers and sums."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any, TypeVar

from model.language.errors import refuse
from model.language.terms import BOOL, INT, Index, Op, Sort, Term, Value, lift, want

I = TypeVar("I", bound=Index)  # noqa: E741


def implies(premise: Value, conclusion: Value) -> Term:
    return Term(Op.IMPLIES, (want(premise, BOOL, "implies"), want(conclusion, BOOL, "implies")), BOOL)


def ite(condition: Value, yes: Value, no: Value) -> Term:
    """`yes` where the condition holds, else `no`; both of one sort."""
    a, b = lift(yes), lift(no)
    if a.sort != b.sort:
        raise refuse(f"ite gives ({a}) of sort {a.sort} or ({b}) of sort {b.sort}; give both branches one sort.")
    if isinstance(a, Index) or isinstance(b, Index):
        raise refuse(
            f"ite gives ({a}) or ({b}), but which member is meant may not depend on a condition; "
            "choose between what the members have: ite(condition, now.field[a], now.field[b])."
        )
    return Term(Op.ITE, (want(condition, BOOL, "the condition of ite"), a, b), a.sort)


def among(term: Term, *values: Value) -> Term:
    """Whether the term equals one of the values."""
    if not values:
        raise refuse(f"among({term}) has nothing to be among; give it at least one value.")
    result: Term = term == values[0]
    for value in values[1:]:
        result |= term == value
    return result


def every_of(*conditions: Value) -> Term:
    """The conjunction of all the conditions; True if there are none."""
    result = lift(True)
    for position, condition in enumerate(conditions):
        result = want(condition, BOOL, "every_of") if position == 0 else result & condition
    return result


def forall(index: type[I], body: Callable[[I], Value]) -> Term:
    return _bind(Op.FORALL, index, body, BOOL, BOOL)


def exists(index: type[I], body: Callable[[I], Value]) -> Term:
    return _bind(Op.EXISTS, index, body, BOOL, BOOL)


def count(index: type[I], body: Callable[[I], Value]) -> Term:
    """How many members satisfy the body."""
    return _bind(Op.COUNT, index, body, BOOL, INT)


def total(index: type[I], body: Callable[[I], Value]) -> Term:
    """The sum of the body over all members."""
    return _bind(Op.TOTAL, index, body, INT, INT)


def before(stop: I, body: Callable[[I], Value]) -> Term:
    """The sum of the body over the members of an ordered index that come before `stop`."""
    index = type(stop)
    if not isinstance(stop, Index):
        raise refuse(f"({stop}) is no member of an index, so nothing is before it; give before a member.")
    if not index.ordered:
        raise refuse(f"{index.__name__} has no order, so nothing is before ({stop}); declare it with ordered=True.")
    summed = _bind(Op.TOTAL, index, body, INT, INT)
    return Term(Op.BEFORE, (stop, summed.args[0]), INT, summed.data)


def _bind(op: Op, index: type[I], body: Callable[[I], Value], inner: Sort, outer: Sort) -> Term:
    members_of(index, op.value)
    names = parameter_names(body)
    if len(names) != 1:
        member = index.short
        raise refuse(
            f"the body of {op.value} takes ({', '.join(names)}); "
            f"write a function of one member, {op.value}({index.__name__}, lambda {member}: ...)."
        )
    variable = index.variable(names[0])
    return Term(op, (want(body(variable), inner, op.value),), outer, variable.data)


def members_of(index: object, word: str) -> None:
    """Refuse what has no members to range over, such as the numbers of a Range."""
    if not (isinstance(index, type) and issubclass(index, Index)):
        name = getattr(index, "__name__", index)
        raise refuse(f"{word} cannot range over {name}, which is no index; give it a subclass of Index.")


def parameter_names(function: Callable[..., Any]) -> list[str]:
    return list(inspect.signature(function).parameters)
