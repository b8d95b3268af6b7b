"""What holds of every finite sum: it is what its named members come to and the rest, which is nothing or more.

A law is stated of the sums and the members that came up. One more than its named members has another member that is not
nothing, so that member can be given a name.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any

from model.language.model import Model
from model.readings.said import ALL, Given, Name, Pool
from model.readings.smt import Symbolic
from model.readings.solver import (
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
from model.readings.sums import END, Reason, Sum, Sums, When, Why


class WithSums(Sums):
    """Any size, with sums and what is known of them."""

    def __init__(self, model: Model, fixed: Mapping[str, Any]) -> None:
        super().__init__(model, fixed)
        self.said: set[Any] = set()
        self.known: dict[tuple[str, Sum], Why | None] = {}

    def sum_facts(self, pool: Pool, more: Pool, view: Symbolic, given: Given = ALL) -> None:
        """What holds of every finite sum, stated on the ground for the sums that came up and the members of a pool.

        `more`: other members, which are told apart from those of the pool, but not from one another. `given`: only of sums
        that matter if just these claims are known.
        """
        whole = {i: {**pool.get(i, {}), **more.get(i, {})} for i in {*pool, *more}}
        everybody = {m for members in whole.values() for m in members}
        relevant = self.relevant(given)
        for (kind, at), stops in list(self.applied.items()):
            if not everybody.issuperset(at) or (kind, at) not in relevant:
                continue
            with self.within(source=(kind, at)):
                members = tuple(whole.get(kind.index, ()))
                if kind.index.ordered:
                    near = pool.get(kind.index, {})
                    known_stops = [s for s in stops if s is None or s in everybody]
                    self._ordered_facts(kind, at, known_stops, members, near, view)
                else:
                    self._plain_facts(kind, at, members, view)

    def know_members(self) -> None:
        """Find out of every sum whether its members are never negative, and never more than one."""
        for kind in list(self.sums.values()):
            self._non_negative(kind)
            self._at_most_one(kind)

    def once(self, *key: Any) -> bool:
        """Whether this is to be said for the first time."""
        if key in self.said:
            return False
        self.said.add(key)
        return True

    def about(self, *names: Name | None) -> Any:
        return self.within(tag=frozenset(n for n in names if n is not None), source=self.source)

    def _law_of_members(self, kind: Sum, says: str, bound: Callable[[Any], Value]) -> Why | None:
        """Why every member of the sum is within a bound, by the invariants; None if that is not known."""
        if kind.counts:
            return frozenset()
        at = tuple(Name(v.domain, f"{v.domain.short}~of{n}") for n, v in enumerate(kind.parameters))
        x = Name(kind.index, f"{kind.index.short}~any")
        value = solver_term(self.member(kind, at, x, self.symbolic))
        formula = disjunction([negation(self.inside(x)), bound(value)])
        return self.entails(Reason(kind, says, When.ALWAYS, formula, (*at, x)), True)

    def _non_negative(self, kind: Sum) -> Why | None:
        key = ("non-negative", kind)
        if key not in self.known:
            self.known[key] = self._law_of_members(kind, "no member is negative", lambda v: at_most(0, v))
        return self.known[key]

    def _at_most_one(self, kind: Sum) -> Why | None:
        key = ("at most one", kind)
        if key not in self.known:
            self.known[key] = self._law_of_members(kind, "no member is more than 1", lambda v: at_most(v, 1))
        return self.known[key]

    def _state(self, why: Why | None, *either: Value) -> None:
        """State one of these, which rests on some hypotheses; nothing if it is not known why."""
        if why is not None:
            self.state(disjunction([*(negation(self.literals[name]) for name in sorted(why)), *either]))

    def _plain_facts(self, kind: Sum, at: tuple[Name, ...], members: tuple[Name, ...], view: Symbolic) -> None:
        """The sum is what the named members come to, each once, and the rest, which is never less than nothing."""
        why = self._non_negative(kind)
        if why is None or not self.once(kind, at, members):
            return
        with self.about(*at, *members):
            whole = solver_term(self.of(kind, at, None))
            parts, distinct = [], []
            for number, m in enumerate(members):
                new = conjunction(negation(self.same(m, other)) for other in members[:number])
                parts.append(choice(new, self.member(kind, at, m, view), 0))
                distinct.append(choice(new, 1, 0))
            named = sum_of(parts)
            self._state(why, at_most(named, whole))
            if kind.counts:
                rest = sum_of([self.size(kind.index), *(minus(d) for d in distinct), named])
                self.state(at_most(whole, rest))

    def _ordered_facts(
        self,
        kind: Sum,
        at: tuple[Name, ...],
        stops: list[Name | None],
        members: tuple[Name, ...],
        near: Mapping[Name, None],
        view: Symbolic,
    ) -> None:
        non_negative = self._non_negative(kind)
        at_most_one = self._at_most_one(kind)
        stops = list(dict.fromkeys([*stops, END]))
        for m in members:
            stops_here = stops if m in near else [s for s in stops if s is None or s in near]
            unsaid, stops_here = self.once(kind, at, m), [s for s in stops_here if s != m and self.once(kind, at, m, s)]
            if not unsaid and not stops_here:
                continue
            here = solver_term(self.number(m))
            value = solver_term(self.member(kind, at, m, view))
            outside = negation(self.inside(m))
            up_to = solver_term(self.of(kind, at, m))
            beyond = solver_term(self.of(kind, at, self.moved(m, 1)))
            if unsaid:
                with self.about(*at, m):
                    self.state(disjunction([outside, equality(beyond, sum_of([up_to, value]))]))
                    self.state(disjunction([negation(equality(here, 0)), equality(up_to, 0)]))
                    self._state(non_negative, at_most(0, up_to))
                    # Before the first place there is none, and so no sum that its number could bound.
                    self._state(at_most_one, below(here, 0), at_most(up_to, here))
            for stop in stops_here:
                end, whole = self.place(kind, stop), solver_term(self.of(kind, at, stop))
                with self.about(*at, m, stop):
                    past = [outside, at_most(end, here)]
                    self._state(non_negative, *past, at_most(beyond, whole))
                    self._state(at_most_one, *past, at_most(sum_of([whole, here, 1]), sum_of([beyond, end])))
        if self.once(kind, at):
            with self.about(*at):
                self._state(non_negative, at_most(0, self.of(kind, at, END)))

    def witness(self, applied: Iterable[tuple[Sum, tuple[Name, ...]]], pool: Pool) -> None:
        """What a sum is more than its named members (or after a place) comes of another member; each is given a name."""
        everybody = {m for members in pool.values() for m in members}
        for kind, at in applied:
            if not everybody.issuperset(at) or self._non_negative(kind) is None:
                continue
            members = tuple(pool.get(kind.index, ()))
            with self.within(source=(kind, at)):
                if not kind.index.ordered:
                    self._witness(kind, at, members)
                else:
                    for m in (m for m in members if not m.offset):
                        self._witness_from(kind, at, m)
                        self._last_before(kind, at, m)

    def _witness(self, kind: Sum, at: tuple[Name, ...], members: tuple[Name, ...]) -> None:
        if not self.once("witness", kind, at, members):
            return
        with self.about(*at, *members):
            named = []
            for number, m in enumerate(members):
                new = conjunction(negation(self.same(m, other)) for other in members[:number])
                named.append(choice(new, self.member(kind, at, m, self.symbolic), 0))
            same = equality(self.symbol(kind, at, None), sum_of(named))
            x = self.skolem(kind.index, same)
            something = negation(equality(self.member(kind, at, x, self.symbolic), 0))
            other = conjunction([*(negation(self.same(x, m)) for m in members), something])
            self._state(self._non_negative(kind), same, other)

    def _witness_from(self, kind: Sum, at: tuple[Name, ...], start: Name) -> None:
        if not self.once("witness", kind, at, start):
            return
        with self.about(*at, start):
            same = equality(self.symbol(kind, at, start), self.symbol(kind, at, END))
            x = self.skolem(kind.index, same)
            n, here = solver_term(self.number(x)), solver_term(self.number(start))
            there = negation(equality(self.member(kind, at, x, self.symbolic), 0))
            outside = negation(self.inside(start))
            after = conjunction([at_most(here, n), self.inside(x), there])
            self._state(self._non_negative(kind), same, outside, after)

    def _last_before(self, kind: Sum, at: tuple[Name, ...], stop: Name) -> None:
        """If the sum up to here is something, there is a last member that is, and it is complete with that."""
        if stop == self.first(kind.index) or not self.once("last", kind, at, stop):
            return
        with self.about(*at, stop):
            whole = self.symbol(kind, at, stop)
            nothing = equality(whole, 0)
            x = self.skolem(kind.index, nothing)
            n, end, value = solver_term(self.number(x)), self.place(kind, stop), self.member(kind, at, x, self.symbolic)
            complete = equality(sum_of([self.of(kind, at, x), value]), whole)
            last = conjunction([below(n, end), self.inside(x), negation(equality(value, 0)), complete])
            self.state(disjunction([nothing, negation(self.inside(stop)), last]))
