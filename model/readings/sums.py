"""Sums and counts over an index of unknown size: one value each, and the exact change that a rule makes to it.

`count(Block, lambda b: table[r, b] > 0)` is a function of r, and nothing is known of it but laws that hold of every
finite sum. A sum over an ordered index is a function of where it stops as well, so `before(i, ...)` and `total(Slot, ...)`
are one function at two places.

After a rule the sum is written in terms of the sum before. Its members change at single places, or all at once: then they
must all be what they were, or all nothing, or all what the next one was (a shift). Which it is, is not assumed: it is an
obligation, and a change that is none of these is refused (`Inexact`).
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field as dataclass_field
from typing import Any

import z3

from model.language.model import Model
from model.language.terms import BINDERS, Index, Moment, Op, Range, Term, Var, walk
from model.language.text import render
from model.readings.anysize import NOWHERE, AnySize, Name, Pool
from model.readings.smt import (
    After,
    Env,
    Inexact,
    Initial,
    Symbolic,
    Value,
    View,
    choice,
    conjunction,
    disjunction,
    equality,
    known,
    negation,
    solver_term,
    sum_of,
)

Shape = tuple[Any, ...]


@dataclass(eq=False)
class Sum:
    """A kind of sum: its members' body, the variable it ranges over, and the variables it is a function of."""

    name: str
    index: type[Index]
    variable: Var
    body: Term
    counts: bool
    parameters: tuple[Var, ...]
    function: Any
    non_negative: bool | None = None
    at_most_one: bool | None = None

    def __str__(self) -> str:
        return self.name


@dataclass(frozen=True)
class Base:
    """What the members are after a rule, all of them but single places: what they were, nothing, or the next one's."""

    word: str  # same, nothing, shifted


@dataclass
class Law:
    """How a rule changes a sum: for each way its conditions can be, the base; and the places where it is otherwise."""

    conditions: tuple[Callable[[Env], Value], ...]
    bases: dict[tuple[bool, ...], str]
    places: tuple[Name, ...]


def shape_of(term: Term) -> tuple[Shape, tuple[Var, ...]]:
    """The term's structure up to the names of variables, and its free variables in order of appearance."""
    order: dict[Var, int] = {}

    def walked(t: Term, bound: tuple[Var, ...]) -> Shape:
        if t.op is Op.VAR:
            if t.data in bound:
                return ("bound", bound.index(t.data))
            return ("free", order.setdefault(t.data, len(order)))
        if t.op in BINDERS:
            inner = (t.data, *bound)
            head: tuple[Any, ...] = (t.op, t.data.domain)
            if t.op is Op.BEFORE:
                return (*head, walked(t.args[0], bound), walked(t.args[1], inner))
            return (*head, *(walked(a, inner) for a in t.args))
        data = t.data[0] if t.op is Op.FIELD else t.data  # in whichever state it is read
        return (t.op, t.sort.name, type(data), data, *(walked(a, bound) for a in t.args))

    return walked(term, ()), tuple(order)


Entails = Callable[[str, Value, bool], bool]
END = None  # where a sum over the whole of an ordered index stops


class WithSums(AnySize):
    """Any size, with sums.

    `entails(what, formula, rule)` asks whether the invariants (and, if `rule`, the guards of the rule in hand) imply a
    formula; `what` names the obligation.
    """

    def __init__(self, model: Model, fixed: Mapping[str, Any]) -> None:
        super().__init__(model, fixed)
        self.symbolic = Symbolic()
        self.sums: dict[Shape, Sum] = {}
        self.shapes: dict[int, tuple[Term, Sum, tuple[Var, ...]]] = {}
        self.applied: dict[tuple[Sum, tuple[Name, ...]], dict[Name | None, None]] = {}
        self.laws: dict[tuple[Sum, int], Law] = {}
        self.entails: Entails = self._unasked
        self.said: set[Any] = set()

    def _unasked(self, what: str, formula: Value, rule: bool) -> bool:
        raise Inexact(f"{what} needs a solver to justify it")

    # ------------------------------------------------------------------------------------- declaration
    def sum_kind(self, term: Term) -> tuple[Sum, tuple[Var, ...]]:
        """The kind of sum that a term is, and the variables it is a function of."""
        found = self.shapes.get(id(term))
        if found is None:
            word = Op.COUNT if term.op is Op.COUNT else Op.TOTAL
            plain = Term(word, (term.args[-1],), term.sort, term.data)
            shape, parameters = shape_of(plain)
            kind = self.sums.get(shape)
            if kind is None:
                kind = self.sums[shape] = self._declare(plain, parameters)
            found = self.shapes[id(term)] = term, kind, parameters
        return found[1], found[2]

    def _declare(self, plain: Term, parameters: tuple[Var, ...]) -> Sum:
        for v in parameters:
            if issubclass(v.domain, Range):
                raise Inexact(f"({plain}) depends on the number {v.name}, which no sum of any size may")
        index = plain.data.domain
        name = render(plain)
        taken = sum(s.name.partition(" #")[0] == name for s in self.sums.values())
        name = f"{name} #{taken + 1}" if taken else name
        sorts = [self.index_sort(v.domain) for v in parameters] + ([z3.IntSort()] if index.ordered else [])
        function = z3.Function(name, *sorts, z3.IntSort()) if sorts else None
        return Sum(name, index, plain.data, plain.args[0], plain.op is Op.COUNT, parameters, function)

    def sum(self, term: Term, env: Env, now: View, then: View | None) -> Value:
        kind, variables = self.sum_kind(term)
        moments = {t.data[1] for t in walk(kind.body) if t.op is Op.FIELD}
        if len(moments) > 1:
            raise Inexact(f"({term}) reads two states at once, so nothing says how it changes")
        view = then if moments == {Moment.THEN} else now
        assert view is not None
        at = tuple(env[v] for v in variables)
        if term.op is not Op.BEFORE:
            return self.sum_up_to(kind, at, END, view)
        stop = self.value(term.args[0], env, now, then)
        # A variable is a member; what is next to one may be past the end, where there is nothing more to sum.
        if term.args[0].op is Op.VAR:
            return self.sum_up_to(kind, at, stop, view)
        return self.clamped(kind, at, stop, view)

    def clamped(self, kind: Sum, at: tuple[Name, ...], stop: Name, view: View) -> Value:
        inside = self.inside(stop)
        return choice(inside, self.sum_up_to(kind, at, stop, view), self.sum_up_to(kind, at, END, view))

    def sum_up_to(self, kind: Sum, at: tuple[Name, ...], stop: Name | None, view: View) -> Value:
        if isinstance(view, Initial):
            return self._initial(kind, at)
        if isinstance(view, After):
            return self._after(kind, at, stop, view)
        return self.symbol(kind, at, stop)

    def symbol(self, kind: Sum, at: tuple[Name, ...], stop: Name | None) -> Value:
        stops = self.applied.setdefault((kind, at), {})
        self.level.sums[kind, at] = None
        args = [self.term_of(m) for m in at]
        if kind.index.ordered:
            if stop is not None and stop == self.first(kind.index):
                return 0
            stops[stop] = None
            args.append(self.place(kind, stop))
        return kind.function(*args) if args else z3.Int(kind.name)

    def place(self, kind: Sum, stop: Name | None) -> Any:
        """Where a sum over an ordered index stops, as a number."""
        return solver_term(self.size(kind.index) if stop is None else self.number(stop))

    def member(self, kind: Sum, at: tuple[Name, ...], x: Name, view: View) -> Value:
        """The sum's member at x, as a number."""
        env = {**dict(zip(kind.parameters, at, strict=True)), kind.variable: x}
        with self.within(*self.levels[1:2] if isinstance(view, After) else [], tag=frozenset([*at, x])):
            value = self.value(kind.body, env, view, view)
        return choice(value, 1, 0) if kind.counts else value

    # ------------------------------------------------------------------------------------------- change
    def _initial(self, kind: Sum, at: tuple[Name, ...]) -> Value:
        x = Name(kind.index, f"{kind.index.short}~any")
        if not self.entails(f"{kind} begins at 0", equality(self.member(kind, at, x, NOWHERE), 0), False):
            raise Inexact(f"{kind} does not begin at 0, and its size is unknown")
        return 0

    def _after(self, kind: Sum, at: tuple[Name, ...], stop: Name | None, view: After) -> Value:
        law = self.law(kind, view)
        env = dict(zip(kind.parameters, at, strict=True))
        conditions = [c(env) for c in law.conditions]
        result: Value = None
        for case, base in law.bases.items():
            when = conjunction(c if wanted else negation(c) for c, wanted in zip(conditions, case, strict=True))
            if when is False:
                continue
            value = self._changed(kind, at, stop, view, base, law.places)
            result = value if result is None else choice(when, value, result)
        return result

    def _changed(
        self, kind: Sum, at: tuple[Name, ...], stop: Name | None, view: After, base: str, places: tuple[Name, ...]
    ) -> Value:
        before = view.before
        if base == "shifted":
            if stop == self.first(kind.index):
                return 0
            # The first member has gone, and every other moved up one place.
            further = END if stop is None else self.moved(stop, 1)
            whole = self.sum_up_to(kind, at, END, before) if further is None else self.clamped(kind, at, further, before)
            return sum_of([whole, minus(self.member(kind, at, self.first(kind.index), before))])
        terms = [] if base == "nothing" else [self.sum_up_to(kind, at, stop, before)]
        for number, place in enumerate(places):
            inside = [self.inside(place), *(negation(self.same(place, p)) for p in places[:number])]
            if kind.index.ordered and stop is not None:
                inside.append(solver_term(self.number(place)) < self.place(kind, stop))
            new = self.member(kind, at, place, view)
            old = 0 if base == "nothing" else self.member(kind, at, place, before)
            if equality(new, old) is not True:
                terms.append(choice(conjunction(inside), sum_of([new, minus(old)]), 0))
        return sum_of(terms)

    def law(self, kind: Sum, view: After) -> Law:
        key = (kind, id(view))
        if key not in self.laws:
            with self.within(self.levels[1]):
                self.laws[key] = self._find_law(kind, view)
        return self.laws[key]

    def _find_law(self, kind: Sum, view: After) -> Law:
        """Where the rule changes members of the sum, and what all the others become."""
        places: dict[Name, None] = {}
        ranging: list[tuple[Any, ...]] = []
        for read in (t for t in walk(kind.body) if t.op is Op.FIELD and t.data[0] in view.updates):
            for update in view.updates[read.data[0]]:
                at_x = [
                    index
                    for index, arg in zip(update.indices, read.args, strict=True)
                    if arg.op is Op.VAR and arg.data is kind.variable
                ]
                single = [i for i in at_x if not (i.op is Op.VAR and i.data in update.bound)]
                if single:
                    place = self.value(single[0], view.params, view.before)
                    places[place] = None
                else:
                    ranging.append((update, read))
        fixed = tuple(places)
        if not ranging:
            return Law((), {(): "same"}, fixed)
        conditions = self._conditions(kind, view, ranging)
        bases: dict[tuple[bool, ...], str] = {}
        for case in itertools.product((False, True), repeat=len(conditions)):
            bases[case] = self._base(kind, view, conditions, case, fixed)
        return Law(tuple(conditions), bases, fixed)

    def _conditions(self, kind: Sum, view: After, ranging: list[tuple[Any, ...]]) -> list[Callable[[Env], Value]]:
        """What decides, apart from the member, whether an update is about this sum at all: which row is written."""
        found: dict[tuple[Name, Var], None] = {}
        for update, read in ranging:
            for index, arg in zip(update.indices, read.args, strict=True):
                fixed = not (index.op is Op.VAR and index.data in update.bound)
                if fixed and arg.op is Op.VAR and arg.data in kind.parameters:
                    found[self.value(index, view.params, view.before), arg.data] = None
        return [lambda env, m=member, v=variable: self.same(m, env[v]) for member, variable in found]

    def _base(
        self,
        kind: Sum,
        view: After,
        conditions: list[Callable[[Env], Value]],
        case: tuple[bool, ...],
        places: tuple[Name, ...],
    ) -> str:
        at = tuple(Name(v.domain, f"{v.domain.short}~of{n}") for n, v in enumerate(kind.parameters))
        env = dict(zip(kind.parameters, at, strict=True))
        x = Name(kind.index, f"{kind.index.short}~any")
        premise = [c(env) if wanted else negation(c(env)) for c, wanted in zip(conditions, case, strict=True)]
        premise += [negation(self.same(x, p)) for p in places]
        if kind.index.ordered:
            premise += [solver_term(self.number(x)) >= 0, self.inside(x)]
        new, old = self.member(kind, at, x, view), self.member(kind, at, x, view.before)
        outside = disjunction(negation(p) for p in premise)
        what = f"{view.rule.name} changes {kind}"
        options: dict[str, Value] = {"same": equality(new, old), "nothing": equality(new, 0)}
        if kind.index.ordered and not places:
            options["shifted"] = equality(new, self.member(kind, at, self.moved(x, 1), view.before))
        for word, formula in options.items():
            if self.entails(f"{what}: {word}", disjunction([outside, formula]), True):
                if word == "shifted":
                    self._ends_with_nothing(kind, at, what, view)
                return word
        raise Inexact(
            f"{what} in a way that is not known exactly: its members neither stay, nor vanish, nor move up one place"
        )

    def _ends_with_nothing(self, kind: Sum, at: tuple[Name, ...], what: str, view: After) -> None:
        """What moves in from past the end must add nothing to the sum."""
        x = Name(kind.index, f"{kind.index.short}~end")
        beyond = solver_term(self.number(x)) >= solver_term(self.size(kind.index))
        formula = disjunction([negation(beyond), equality(self.member(kind, at, x, view.before), 0)])
        if not self.entails(f"{what}: nothing moves in", formula, False):
            raise Inexact(f"{what} by a shift, but what moves in from past the end is not nothing")

    # ---------------------------------------------------------------------------------------- general laws
    def sum_facts(self, pool: Pool, view: Symbolic) -> None:
        """What holds of every finite sum, stated on the ground for the sums that came up and the members of a pool."""
        everybody = {m for members in pool.values() for m in members}
        with self.within():
            for (kind, at), stops in list(self.applied.items()):
                if everybody.issuperset(at):
                    members = tuple(pool.get(kind.index, ()))
                    if kind.index.ordered:
                        known_stops = [s for s in stops if s is None or s in everybody]
                        self._ordered_facts(kind, at, known_stops, members, view)
                    else:
                        self._plain_facts(kind, at, members, view)

    def once(self, *key: Any) -> bool:
        """Whether this is to be said for the first time."""
        if key in self.said:
            return False
        self.said.add(key)
        return True

    def about(self, *names: Name | None) -> Any:
        return self.within(tag=frozenset(n for n in names if n is not None))

    def _law_of_members(self, kind: Sum, what: str, bound: Callable[[Any], Value]) -> bool:
        """Whether every member of the sum is within a bound, by the invariants."""
        at = tuple(Name(v.domain, f"{v.domain.short}~of{n}") for n, v in enumerate(kind.parameters))
        x = Name(kind.index, f"{kind.index.short}~any")
        value = solver_term(self.member(kind, at, x, self.symbolic))
        return self.entails(
            f"the members of {kind} are {what}", disjunction([negation(self.inside(x)), bound(value)]), False
        )

    def _non_negative(self, kind: Sum) -> bool:
        if kind.non_negative is None:
            kind.non_negative = kind.counts or self._law_of_members(kind, "not negative", lambda v: v >= 0)
        return kind.non_negative

    def _at_most_one(self, kind: Sum) -> bool:
        if kind.at_most_one is None:
            kind.at_most_one = kind.counts or self._law_of_members(kind, "at most one", lambda v: v <= 1)
        return kind.at_most_one

    def _plain_facts(self, kind: Sum, at: tuple[Name, ...], members: tuple[Name, ...], view: Symbolic) -> None:
        """The sum is what the named members come to, each once, and the rest, which is never less than nothing."""
        if not self.once(kind, at, members) or not self._non_negative(kind):
            return
        with self.about(*at, *members):
            whole = solver_term(self.symbol(kind, at, None))
            parts, distinct = [], []
            for number, m in enumerate(members):
                new = conjunction(negation(self.same(m, other)) for other in members[:number])
                parts.append(choice(new, self.member(kind, at, m, view), 0))
                distinct.append(choice(new, 1, 0))
            named = sum_of(parts)
            self.state(whole >= solver_term(named))
            if kind.counts:
                rest = sum_of([self.size(kind.index), *(minus(d) for d in distinct), named])
                self.state(whole <= solver_term(rest))

    def _ordered_facts(
        self, kind: Sum, at: tuple[Name, ...], stops: list[Name | None], members: tuple[Name, ...], view: Symbolic
    ) -> None:
        non_negative = self._non_negative(kind)
        at_most_one = self._at_most_one(kind)
        stops = list(dict.fromkeys([*stops, END]))
        for m in members:
            here = solver_term(self.number(m))
            value = solver_term(self.member(kind, at, m, view))
            outside = negation(self.inside(m))
            up_to = solver_term(self.symbol(kind, at, m))
            beyond = solver_term(self.symbol(kind, at, self.moved(m, 1)))
            if self.once(kind, at, m):
                with self.about(*at, m):
                    self.state(disjunction([outside, beyond == up_to + value]))
                    if non_negative:
                        self.state(up_to >= 0)
                    if at_most_one:
                        self.state(up_to <= here)
            for stop in stops:
                if stop == m or not self.once(kind, at, m, stop):
                    continue
                end, whole = self.place(kind, stop), solver_term(self.symbol(kind, at, stop))
                with self.about(*at, m, stop):
                    if non_negative:
                        self.state(disjunction([outside, here >= end, beyond <= whole]))
                    if at_most_one:
                        self.state(disjunction([outside, here >= end, whole - beyond <= end - here - 1]))
        if non_negative and self.once(kind, at):
            with self.about(*at):
                self.state(solver_term(self.symbol(kind, at, END)) >= 0)

    def witnesses(self, applied: Any, pool: Pool, view: Symbolic) -> None:
        """What a sum is more than its named members (or after a place) comes of another member; it is given a name."""
        everybody = {m for members in pool.values() for m in members}
        with self.within():
            for kind, at in applied:
                if not everybody.issuperset(at) or not self._non_negative(kind):
                    continue
                members = tuple(pool.get(kind.index, ()))
                if not kind.index.ordered:
                    if self.once("witness", kind, at, members):
                        self._witness(kind, at, members, view)
                    continue
                for m in members:
                    if not m.offset and self.once("witness", kind, at, m):
                        self._witness_from(kind, at, m, view)

    def _witness(self, kind: Sum, at: tuple[Name, ...], members: tuple[Name, ...], view: Symbolic) -> None:
        with self.about(*at, *members):
            named = []
            for number, m in enumerate(members):
                new = conjunction(negation(self.same(m, other)) for other in members[:number])
                named.append(choice(new, self.member(kind, at, m, view), 0))
            x = self.skolem(kind.index)
            other = conjunction([*(negation(self.same(x, m)) for m in members), negation(equality(self.member(kind, at, x, view), 0))])
            whole = self.symbol(kind, at, None)
            self.state(disjunction([equality(whole, sum_of(named)), other]))

    def _witness_from(self, kind: Sum, at: tuple[Name, ...], start: Name, view: Symbolic) -> None:
        with self.about(*at, start):
            x = self.skolem(kind.index)
            n, here = solver_term(self.number(x)), solver_term(self.number(start))
            there = negation(equality(self.member(kind, at, x, view), 0))
            same = equality(self.symbol(kind, at, start), self.symbol(kind, at, END))
            outside = negation(self.inside(start))
            self.state(disjunction([same, outside, conjunction([n >= here, self.inside(x), there])]))


def minus(value: Value) -> Value:
    return -value
