"""Sums and counts over an index of unknown size: one value each, and the exact change that a rule makes to it.

`count(Block, lambda b: table[r, b] > 0)` is a function of r, and nothing is known of it but laws that hold of every
finite sum (`sum_laws.py`). A sum over an ordered index is a function of where it stops as well, so `before(i, ...)` and
`total(Slot, ...)` are one function at two places.

After a rule the sum is written in terms of the sum before. Its members change at single places, or all at once: then they
must all be what they were, or all nothing, or all what the next one was (a shift). Which it is, is not assumed: it is an
obligation (`Reason`), and a change that is none of these is refused (`Inexact`).
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from enum import Enum
from functools import cached_property
from typing import Any

from model.language.model import Model
from model.language.terms import BINDERS, Index, Moment, Op, Range, Term, Var, walk
from model.language.text import render
from model.readings.anysize import NOWHERE, AnySize
from model.readings.said import Name, Source
from model.readings.smt import After, Env, Inexact, Initial, Symbolic, View
from model.readings.solver import (
    INTS,
    Function,
    Value,
    at_most,
    below,
    choice,
    conjunction,
    disjunction,
    equality,
    minus,
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

    def __str__(self) -> str:
        return self.name

    @cached_property
    def inner(self) -> tuple[Term, ...]:
        """The sums that its members are made of."""
        return tuple(t for t in walk(self.body) if t.op in SUMS)


@dataclass(frozen=True)
class Base:
    """What the members of a sum are after a rule, all of them but single places: those of other sums, added up.

    `of` is the sum itself where nothing changes, nothing where all vanish. `shifted`: each is what the next one was.
    """

    of: tuple[Sum, ...] = ()
    shifted: bool = False
    places: tuple[Name, ...] = ()


Why = frozenset[str]  # the names of the hypotheses that something rests on


class When(Enum):
    """What a reason is about."""

    START = "at the start"
    ALWAYS = "in every state"
    RULE = "after the rule in hand"


@dataclass(frozen=True)
class Reason:
    """What must hold of the members of a sum so that the sum is what it is said to be.

    `says`: in words; `formula`: the same about some members, `about`, which may be any.
    """

    kind: Sum
    says: str
    when: When
    formula: Value
    about: tuple[Name, ...]


@dataclass(frozen=True)
class Law:
    """How a rule changes a sum: which members of which variables decide on the row, and a base for each case."""

    rows: tuple[tuple[Name, Var], ...]
    bases: dict[tuple[bool, ...], Base]
    why: Why = frozenset()


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


Entails = Callable[[Reason, bool], Why | None]
SUMS = (Op.COUNT, Op.TOTAL, Op.BEFORE)
END = None  # where a sum over the whole of an ordered index stops


class Sums(AnySize):
    """Any size, with sums.

    `entails(reason, instances)` asks whether the hypotheses (and the guards, if it is about the rule in hand) imply a reason,
    and says which did; without `instances`, only what was stated already is used.
    """

    def __init__(self, model: Model, fixed: Mapping[str, Any]) -> None:
        super().__init__(model, fixed)
        self.symbolic = Symbolic()
        self.sums: dict[Shape, Sum] = {}
        self.shapes: dict[int, tuple[Term, Sum, tuple[Var, ...]]] = {}
        self.moments: dict[int, frozenset[Moment]] = {}
        self.applied: dict[tuple[Sum, tuple[Name, ...]], dict[Name | None, None]] = {}
        self.laws: dict[Source, Law] = {}
        self.literals: dict[str, Any] = {}  # of the hypotheses, by name
        self.entails: Entails = self._unasked

    def _unasked(self, reason: Reason, instances: bool) -> Why | None:
        raise Inexact("how a sum changes needs a solver to justify it")

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

    def declare(self, terms: Iterable[Term]) -> None:
        """Let all sums of these terms be known, since what one sum becomes may be another."""
        for term in (t for whole in terms for t in walk(whole) if t.op in SUMS):
            with suppress(Inexact):
                self.sum_kind(term)

    def _declare(self, plain: Term, parameters: tuple[Var, ...]) -> Sum:
        for v in parameters:
            if issubclass(v.domain, Range):
                raise Inexact(f"({plain}) depends on the number {v.name}, which no sum of any size may")
        index = plain.data.domain
        name = render(plain)
        taken = sum(s.name.partition(" #")[0] == name for s in self.sums.values())
        name = f"{name} #{taken + 1}" if taken else name
        sorts = [self.index_sort(v.domain) for v in parameters] + ([INTS] if index.ordered else [])
        function = Function(name, sorts, INTS)
        return Sum(name, index, plain.data, plain.args[0], plain.op is Op.COUNT, parameters, function)

    def sum(self, term: Term, env: Env, now: View, then: View | None) -> Value:
        kind, variables = self.sum_kind(term)
        moments = self.moments.get(id(term))
        if moments is None:
            read = (t.data[1] for t in walk(term.args[-1]) if t.op is Op.FIELD)
            moments = self.moments[id(term)] = frozenset(read)
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
        self.mention((kind, at))
        if stop is None or stop != self.first(kind.index):
            stops[stop] = None
        if stop is not None:
            self.speak_of(stop)
        return self.of(kind, at, stop)

    def of(self, kind: Sum, at: tuple[Name, ...], stop: Name | None) -> Value:
        args = [self.term_of(m) for m in at]
        if kind.index.ordered:
            if stop is not None and stop == self.first(kind.index):
                return 0
            args.append(self.place(kind, stop))
        return kind.function(*args)

    def place(self, kind: Sum, stop: Name | None) -> Any:
        """Where a sum over an ordered index stops, as a number."""
        return solver_term(self.size(kind.index) if stop is None else self.number(stop))

    def member(self, kind: Sum, at: tuple[Name, ...], x: Name, view: View) -> Value:
        """The sum's member at x, as a number."""
        env = {**dict(zip(kind.parameters, at, strict=True)), kind.variable: x}
        levels = self.levels[1:2] if isinstance(view, After) else []
        with self.within(*levels, tag=frozenset([*at, x]), source=self.source):
            value = self.value(kind.body, env, view, view)
        return choice(value, 1, 0) if kind.counts else value

    # ------------------------------------------------------------------------------------------- change
    def _initial(self, kind: Sum, at: tuple[Name, ...]) -> Value:
        x = Name(kind.index, f"{kind.index.short}~any")
        nothing = equality(self.member(kind, at, x, NOWHERE), 0)
        if self.entails(Reason(kind, "every member begins at 0", When.START, nothing, (*at, x)), False) is None:
            raise Inexact(f"{kind} does not begin at 0, and its size is unknown")
        return 0

    def _after(self, kind: Sum, at: tuple[Name, ...], stop: Name | None, view: After) -> Value:
        law = self.law(kind, view)
        env = dict(zip(kind.parameters, at, strict=True))
        conditions = [self.same(member, env[variable]) for member, variable in law.rows]
        result: Value = None
        for case, base in law.bases.items():
            when = conjunction(c if wanted else negation(c) for c, wanted in zip(conditions, case, strict=True))
            if when is not False:
                value = self._changed(kind, at, stop, view, base)
                result = value if result is None else choice(when, value, result)
        return result

    def _changed(self, kind: Sum, at: tuple[Name, ...], stop: Name | None, view: After, base: Base) -> Value:
        before, first = view.before, Name(kind.index, "")
        if base.shifted:
            if stop == first:
                return 0
            # The first member has gone, and every other moved up one place.
            gone = minus(self.member(kind, at, first, before))
            if stop is None:
                return sum_of([self.sum_up_to(kind, at, END, before), gone])
            return sum_of([self.clamped(kind, at, self.moved(stop, 1), before), gone])
        terms = [self.sum_up_to(other, at, stop, before) for other in base.of]
        for number, place in enumerate(base.places):
            inside = [self.inside(place), *(negation(self.same(place, p)) for p in base.places[:number])]
            if kind.index.ordered and stop is not None:
                inside.append(below(self.number(place), self.place(kind, stop)))
            new, old = self.member(kind, at, place, view), self._members(base.of, at, place, before)
            if equality(new, old) is not True:
                terms.append(choice(conjunction(inside), sum_of([new, minus(old)]), 0))
        return sum_of(terms)

    def _members(self, kinds: tuple[Sum, ...], at: tuple[Name, ...], x: Name, view: View) -> Value:
        return sum_of(self.member(k, at, x, view) for k in kinds)

    def law(self, kind: Sum, view: After) -> Law:
        """How a rule changes a kind of sum. Whatever speaks of it rests on what the law rests on."""
        source = ("law", kind, view)
        self.mention(source)
        if source not in self.laws:
            with self.within(self.levels[1], source=source):
                found = self._find_law(kind, view)
                # One that is not known exactly leaves this one unknown, whenever it is asked for.
                for inner in kind.inner:
                    self.law(self.sum_kind(inner)[0], view)
                self.laws[source] = found
        return self.laws[source]

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
                    places[self.value(single[0], view.params, view.before)] = None
                else:
                    ranging.append((update, read))
        if not ranging:
            return Law((), {(): Base((kind,), places=tuple(places))})
        rows = self._rows(kind, view, ranging)
        cases = itertools.product((False, True), repeat=len(rows))
        why: set[str] = set()
        bases = {case: self._base(kind, view, rows, case, tuple(places), why) for case in cases}
        return Law(rows, bases, frozenset(why))

    def _rows(self, kind: Sum, view: After, ranging: list[tuple[Any, ...]]) -> tuple[tuple[Name, Var], ...]:
        """What decides, apart from the member, whether an update is about this sum at all: which row is written."""
        found: dict[tuple[Name, Var], None] = {}
        for update, read in ranging:
            for index, arg in zip(update.indices, read.args, strict=True):
                fixed = not (index.op is Op.VAR and index.data in update.bound)
                if fixed and arg.op is Op.VAR and arg.data in kind.parameters:
                    found[self.value(index, view.params, view.before), arg.data] = None
        return tuple(found)

    def _base(
        self,
        kind: Sum,
        view: After,
        rows: tuple[tuple[Name, Var], ...],
        case: tuple[bool, ...],
        places: tuple[Name, ...],
        why: set[str],
    ) -> Base:
        """What the members become. `why` is told the hypotheses that it rests on."""
        at = tuple(Name(v.domain, f"{v.domain.short}~of{n}") for n, v in enumerate(kind.parameters))
        env = dict(zip(kind.parameters, at, strict=True))
        x, first = Name(kind.index, f"{kind.index.short}~any"), Name(kind.index, "")
        same = [self.same(m, env[v]) for m, v in rows]
        row = [s if wanted else negation(s) for s, wanted in zip(same, case, strict=True)]
        which = "".join(
            f", {'in row' if w else 'in rows other than'} {m}" for (m, _), w in zip(rows, case, strict=True)
        )
        new = self.member(kind, at, x, view)
        what = f"{view.rule.name} changes {kind}"

        def implied(becomes: str, old: Value, but: tuple[Name, ...], instances: bool) -> bool:
            outside = [negation(c) for c in (*row, self.inside(x))] + [self.same(x, p) for p in but]
            says = f"every member {becomes}{which}" + "".join(f", save at {p.of.__name__} {p}" for p in but)
            formula = disjunction([*outside, equality(new, old)])
            found = self.entails(Reason(kind, says, When.RULE, formula, (*at, x, *places)), instances)
            why.update(found or ())
            return found is not None

        # A rule may treat the first place in its own way.
        exceptions = (places, (*places, first)) if kind.index.ordered and first not in places else (places,)
        options = [(of, but) for but in exceptions for of in self._candidates(kind)]
        for instances in (False, True):  # most changes need no hypothesis to be what they are
            shifts = kind.index.ordered and not places
            moved = self.member(kind, at, self.moved(x, 1), view.before) if shifts else None
            if shifts and implied("becomes what the next one was", moved, (), instances):
                why |= self._ends_with_nothing(kind, at, what, view)
                return Base(shifted=True)
            for of, but in options:
                if implied(becomes(kind, of), self._members(of, at, x, view.before), but, instances):
                    return Base(of, places=but)
        raise Inexact(
            f"{what} in a way that is not known exactly: its members neither stay, nor vanish, nor become those of "
            "another sum, nor move up one place"
        )

    def _candidates(self, kind: Sum) -> list[tuple[Sum, ...]]:
        """What a sum may become: itself, nothing, another of its kind, or both."""
        domains = [v.domain for v in kind.parameters]
        others = [
            o
            for o in self.sums.values()
            if o is not kind and o.index is kind.index and [v.domain for v in o.parameters] == domains
        ]
        return [(kind,), (), *((o,) for o in others), *((kind, o) for o in others)]

    def _ends_with_nothing(self, kind: Sum, at: tuple[Name, ...], what: str, view: After) -> Why:
        """What moves in from past the end must add nothing to the sum."""
        x = Name(kind.index, f"{kind.index.short}~end")
        beyond = at_most(self.size(kind.index), self.number(x))
        formula = disjunction([negation(beyond), equality(self.member(kind, at, x, view.before), 0)])
        says = "what moves in from past the end is nothing"
        found = self.entails(Reason(kind, says, When.ALWAYS, formula, (*at, x)), True)
        if found is None:
            raise Inexact(f"{what} by a shift, but what moves in from past the end is not nothing")
        return found


def becomes(kind: Sum, of: tuple[Sum, ...]) -> str:
    """What the members of a sum become where they become those of others, in words."""
    if of == (kind,):
        return "stays what it is"
    return f"becomes that of {' and '.join(o.name for o in of)}" if of else "becomes 0"
