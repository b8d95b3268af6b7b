"""The solver's reading of a sized model: indices have as many members as they are given, everything is written out.

Sizes of indices must be known; any other dial may be left open, and is an unknown then.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping
from typing import Any

from model.language.dials import Dial
from model.language.model import Model
from model.language.rules import Rule
from model.language.state import Field, bounds
from model.language.terms import INT, Index, Op, Range, Term, Var, free
from model.readings.smt import Env, Initial, Member, Symbolic, Translator, View
from model.readings.solver import (
    INTS,
    Value,
    at_most,
    choice,
    conjunction,
    constant_of,
    disjunction,
    known,
    sum_of,
    value_sort,
)

NOWHERE = Initial()  # where dials alone are read


class Sized(Translator):
    """`fixed` has a value for each dial that sizes an index, and for as many others as one likes."""

    def __init__(self, model: Model, fixed: Mapping[str, Any]) -> None:
        super().__init__(model, fixed)
        self.sizes: dict[type[Index], int] = {}

    def size(self, index: type[Index]) -> int:
        if index not in self.sizes:
            found = self.value(index.size, {}, NOWHERE)
            assert isinstance(found, int), f"the size of {index.__name__} is open"
            self.sizes[index] = found
        return self.sizes[index]

    def first(self, index: type[Index]) -> Member:
        return 0

    def moved(self, member: Member, places: int) -> Member:
        return member + places

    def same(self, a: Member, b: Member) -> Value:
        return a == b

    def at_least(self, member: Member, places: int) -> Value:
        return member >= places

    def number(self, member: Member) -> Value:
        return member if isinstance(member, int) else constant_of(member, INTS)

    def exists(self, field: Field, at: tuple[Member, ...]) -> Value:
        inside = all(0 <= m < self.size(i) for i, m in zip(field.indices, at, strict=True))
        return inside and self.value(field.needs, {}, NOWHERE)

    def cell(self, view: Symbolic, field: Field, at: tuple[Member, ...]) -> Value:
        unknown = constant_of(self.cell_name(view, field, at), value_sort(field.sort))
        return choice(self.exists(field, at), unknown, field.initial)

    def cell_name(self, view: Symbolic, field: Field, at: tuple[Member, ...]) -> str:
        inside = ", ".join(f"{i.short}{m}" for i, m in zip(field.indices, at, strict=True))
        return f"{view.name}{field.name}[{inside}]"

    def dial(self, dial: Dial, at: tuple[Member, ...]) -> Value:
        if dial.name in self.fixed:
            value = self.fixed[dial.name]
            return value[at[0]] if at and isinstance(value, tuple | list) else value
        return constant_of(self.dial_name(dial, at), value_sort(dial.sort))

    def dial_name(self, dial: Dial, at: tuple[Member, ...]) -> str:
        return f"{dial.name}[{at[0]}]" if at else dial.name

    def over(self, term: Term, env: Env, now: View, then: View | None, sign: int) -> Value:
        var = term.data
        reach: Any = range(self.size(var.domain))
        if term.op is Op.BEFORE:
            stop = self.value(term.args[0], env, now, then)
            reach = range(min(len(reach), stop))
        bodies = [self.value(term.args[-1], {**env, var: m}, now, then, sign) for m in reach]
        match term.op:
            case Op.FORALL:
                return conjunction(bodies)
            case Op.EXISTS:
                return disjunction(bodies)
            case Op.COUNT:
                return sum_of(choice(b, 1, 0) for b in bodies)
        return sum_of(bodies)

    # ------------------------------------------------------------------------------------ what is possible
    def open_dials(self) -> Iterator[tuple[Dial, tuple[int, ...]]]:
        """The dials that are unknowns, one for each member if they have an index."""
        for dial in self.model.dials:
            if dial.name not in self.fixed:
                yield from ((dial, at) for at in self.positions(() if dial.index is None else (dial.index,)))

    def positions(self, indices: tuple[type[Index], ...]) -> Iterator[tuple[int, ...]]:
        yield from itertools.product(*(range(self.size(i)) for i in indices))

    def worldly(self) -> Value:
        """The open dials are in their ranges and fit together, as a world's must."""
        terms = [self.value(r.condition, {}, NOWHERE) for r in self.model.requirements]
        for dial, at in self.open_dials():
            if dial.sort == INT:
                terms.append(at_most(dial.low, self.dial(dial, at)))
        return conjunction(terms)

    def within_bounds(self, view: Symbolic) -> Value:
        """Every cell of the state is within its declared bounds."""
        terms: list[Value] = []
        for field in self.model.state.fields():
            if field.sort == INT:
                low, high = bounds(field.kind, field.indices)
                for at in self.positions(field.indices):
                    cell = self.read(view, field, at)
                    if not known(cell):
                        env = self.bound_env(field, (low, high), at)
                        terms += [
                            at_most(self.value(low, env, NOWHERE), cell),
                            at_most(cell, self.value(high, env, NOWHERE)),
                        ]
        return conjunction(terms)

    def bound_env(self, field: Field, terms: tuple[Term, ...], at: tuple[Member, ...]) -> Env:
        """Bounds name the field's indices by their short names, by variables of their own."""
        by_index = {i.short: m for i, m in zip(field.indices, at, strict=True)}
        return {v: by_index[v.name] for t in terms for v in free(t)}

    def instances(self, rule: Rule) -> Iterator[Env]:
        """The rule with each choice of members; a number among its parameters stays an unknown."""
        choices = [self.choices(v) for v in rule.params]
        for at in itertools.product(*choices):
            yield dict(zip(rule.params, at, strict=True))

    def choices(self, var: Var) -> list[Any]:
        return [f"{var.name}!"] if issubclass(var.domain, Range) else list(range(self.size(var.domain)))

    def enabled(self, rule: Rule, env: Env, view: View) -> Value:
        """The rule exists, its parameters are in range, and its guards hold."""
        terms = [self.value(rule.needs, {}, NOWHERE)]
        for var in rule.params:
            if issubclass(var.domain, Range) and not isinstance(env[var], int):
                k = self.number(env[var])
                low, high = (self.value(t, {}, NOWHERE) for t in (var.domain.low, var.domain.high))
                terms += [at_most(low, k), at_most(k, high)]
        return conjunction([*terms, *(self.value(g.condition, env, view) for g in rule.guards)])
