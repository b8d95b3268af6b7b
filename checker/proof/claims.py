"""What is proved: properties of states and steps and the bounds of fields, taken apart into conjuncts."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

from model.language.build import implies
from model.language.model import Model
from model.language.properties import Property, Shape
from model.language.rules import Rule
from model.language.state import Field, bounds
from model.language.terms import BOOL, INT, Moment, Op, Range, Term, Var, free, lift, substitute, walk


@dataclass(frozen=True, eq=False)
class Claim:
    """Something that is to hold at any size. `auxiliary`: it is there to make others provable."""

    name: str
    shape: Shape
    term: Term
    needs: Term
    auxiliary: bool = False
    apart_from: tuple[str, ...] = ()

    @cached_property
    def whole(self) -> Term:
        """The claim where its dials are on; nothing where they are not."""
        return self.term if self.needs.op is Op.CONST and self.needs.data else implies(self.needs, self.term)

    @cached_property
    def parts(self) -> tuple[Term, ...]:
        """Conjuncts that together are the whole claim."""
        return tuple(_conjuncts(self.whole))

    @cached_property
    def reads(self) -> frozenset[str]:
        """Names of the fields it reads; of one of steps, those that it reads in the state after."""
        return read_fields(self.term, Moment.THEN if self.shape is Shape.STEP else Moment.NOW)


def read_fields(term: Term, moment: Moment) -> frozenset[str]:
    return frozenset(t.data[0].name for t in walk(term) if t.op is Op.FIELD and t.data[1] is moment)


def _conjuncts(term: Term) -> Iterator[Term]:
    if term.op is Op.AND:
        for side in term.args:
            yield from _conjuncts(side)
    elif term.op is Op.FORALL:
        for part in _conjuncts(term.args[0]):
            yield Term(Op.FORALL, (part,), BOOL, term.data)
    elif term.op is Op.IMPLIES:
        for part in _conjuncts(term.args[1]):
            yield implies(term.args[0], part)
    else:
        yield term


def claims(
    model: Model, properties: Sequence[Property], auxiliary: Sequence[Property] = (), lively: Term = lift(True)
) -> list[Claim]:
    """The properties that induction is about, those about dead ends, and the bounds of every field that has some.

    Of dead ends it is claimed that there are none where the dials are `lively`.
    """
    inductive = (Shape.STATE, Shape.STEP)
    found = [Claim(p.name, p.shape, p.term, p.needs) for p in properties if p.shape in inductive]
    found += [Claim(p.name, p.shape, p.term, p.needs, True, p.apart_from) for p in auxiliary]
    found += [
        Claim(p.name, p.shape, p.term, p.needs & lively, apart_from=p.apart_from)
        for p in properties
        if p.shape is Shape.REST
    ]
    return found + [bounds_claim(f) for f in model.state.fields() if f.sort == INT]


def bounds_claim(declared: Field) -> Claim:
    """That a field stays within its bounds, as a term."""
    low, high = bounds(declared.kind, declared.indices)
    variables = [i.variable(i.short) for i in declared.indices]
    named = {v.data.name: v for v in variables}
    low, high = (substitute(t, {v: named[v.name] for v in free(t)}) for t in (low, high))
    cell = Term(Op.FIELD, tuple(variables), declared.sort, (declared, Moment.NOW))
    return Claim(
        f"bounds.{declared.name}",
        Shape.STATE,
        _forall([v.data for v in variables], (low <= cell) & (cell <= high)),
        declared.needs,
    )


def stuck(rule: Rule) -> Term:
    """That the rule is enabled for no choice of its parameters; of a number, it is enough that there is none or that the least
    does not enable it."""
    numbers: dict[Var, Term] = {v: v.domain.low for v in rule.params if issubclass(v.domain, Range)}
    condition = rule.needs
    for v, low in numbers.items():
        condition = condition & (low <= v.domain.high)
    for guard in rule.guards:
        condition = condition & substitute(guard.condition, numbers)
    return _forall([v for v in rule.params if v not in numbers], ~condition)


def _forall(variables: Sequence[Var], body: Term) -> Term:
    for v in reversed(variables):
        body = Term(Op.FORALL, (body,), BOOL, v)
    return body
