"""The solver's reading of a model of any size: nothing is written out, and no numeral bounds anything.

An index is an uninterpreted sort (an ordered one: the whole numbers from 0 up to its size), a field a function. A
quantified formula becomes a name `p` with instances: where it may be asserted, `p` implies the body at every member
that occurs; where it may be denied, its denial implies that the body is false at a member of its own (a skolem
constant). So every query is free of quantifiers. An instance that is missing can only make a proof fail, never
succeed wrongly.

A sum or count over an index is a value of its own (`sums.py`).
"""

from __future__ import annotations

import itertools
from collections.abc import Collection, Iterable, Iterator, Mapping, Set
from contextlib import contextmanager
from typing import Any

import z3

from model.language.dials import Dial
from model.language.model import Model, indices_of
from model.language.state import Field
from model.language.terms import INT, Index, Op, Term, free
from model.readings.products import Product
from model.readings.said import ALL, NOTHING, Given, Hidden, Level, Name, Number, Pool, Source, Sources, Tag, Universal
from model.readings.smt import Env, Inexact, Initial, Symbolic, Translator, View
from model.readings.solver import (
    BOOLS,
    INTS,
    Function,
    Value,
    at_most,
    below,
    conjunction,
    constant_of,
    disjunction,
    equality,
    known,
    negation,
    offset,
    product,
    solver_term,
    sum_of,
    value_sort,
)

NOWHERE = Initial()


class AnySize(Translator):
    """Translates into quantifier-free formulas; the facts of the levels in use are to be asserted with them.

    What is true of every state is said once, on the ground level, and serves every rule: hypotheses are stated for
    members by name, and names mean any member.
    """

    def __init__(self, model: Model, fixed: Mapping[str, Any]) -> None:
        super().__init__(model, fixed)
        one_name_for_each(model)
        never_empty(model)
        self.ground = Level()
        self.levels = [self.ground]
        self.tag = NOTHING
        self.names: dict[Any, Any] = {}
        self.counter = itertools.count(1)
        self.hidden: dict[Name, Hidden] = {}  # members that only what is stated speaks of
        self.source: Source = ""  # of what is being stated
        self.claim = ""  # the claim that is being stated, if it is one
        self.sources = Sources()
        self.said_so_far = 0  # facts
        self.trail: list[Source] = []  # of what the present source has spoken

    # ------------------------------------------------------------------------------------------ levels
    @property
    def level(self) -> Level:
        return self.levels[-1]

    @contextmanager
    def within(self, *levels: Level, tag: Tag = NOTHING, source: Source = "") -> Iterator[Level]:
        """What is translated now is said on the last of these levels (the first is always the ground)."""
        kept = self.levels, self.tag, self.source, self.trail
        self.levels, self.tag = [self.ground, *levels], tag
        if source != self.source:
            self.source, self.trail = source, []
            self.sources.begin(source)
        try:
            yield self.level
        finally:
            self.levels, self.tag, self.source, self.trail = kept

    def mention(self, what: Source) -> None:
        """The present source speaks of this."""
        self.trail.append(what)
        if what != self.source:
            self.sources.link(self.source, what)

    def relevant(self, given: Given) -> Collection[Source]:
        """What matters where these claims are given, and no others."""
        return self.sources.relevant(given)

    def value(self, term: Term, env: Env, now: View, then: View | None = None, sign: int = 0) -> Value:
        if not term.args and term.op is not Op.FIELD and term.op is not Op.DIAL:
            return self.leaf(term, env)
        unbound = free(term) if term.unbound is None else term.unbound
        key = (id(term), now, then, sign, *[env[v] for v in unbound])
        for level in self.levels:
            found = level.memo.get(key)
            if found is not None:
                for what in found[1]:
                    self.mention(what)
                return found[0]
        self.kept[id(term)] = term
        before = len(self.trail)
        value = self.compound(term, env, now, then, sign)
        spoken = tuple(dict.fromkeys(self.trail[before:])) if len(self.trail) > before else ()
        self.level.memo[key] = value, spoken
        return value

    # ----------------------------------------------------------------------------------------- members
    def first(self, index: type[Index]) -> Name:
        return Name(index, "")

    def moved(self, member: Name, places: int) -> Name:
        return member._replace(offset=member.offset + places) if places else member

    def same(self, a: Name, b: Name) -> Value:
        if a.base == b.base:
            return a.offset == b.offset
        return equality(self.term_of(a), self.term_of(b))

    def at_least(self, member: Name, places: int) -> Value:
        return at_most(places, self.number(member))

    def number(self, member: Any) -> Value:
        if isinstance(member, Name) and not member.base:
            return member.offset
        return self.term_of(member)

    def term_of(self, member: Any) -> Any:
        found = self.names.get(member)
        if found is None:
            if isinstance(member, Number):
                found = constant_of(member.name, INTS)
            elif not member.of.ordered:
                found = constant_of(member.base, self.index_sort(member.of))
            else:
                base = constant_of(member.base, INTS) if member.base else z3.IntVal(0)
                found = sum_of([base, member.offset])
                if not member.base:
                    found = z3.IntVal(member.offset)
                elif not member.offset:
                    with self.within(tag=frozenset([member])):
                        self.state(at_most(0, base))
            self.names[member] = found
        return found

    def index_sort(self, index: type[Index]) -> Any:
        if index.ordered:
            return INTS
        found = self.names.get(index)
        if found is None:
            found = self.names[index] = z3.DeclareSort(index.__name__)
        return found

    def inside(self, member: Name) -> Value:
        """Whether the index has this member: of one without an order, every name is a member."""
        if not member.of.ordered:
            return True
        size = self.size(member.of)
        low = True if member.offset >= 0 else at_most(0, self.number(member))
        return conjunction([low, below(self.number(member), size)])

    def size(self, index: type[Index]) -> Value:
        return self.value(index.size, {}, NOWHERE)

    def skolem(self, index: type[Index], unless: Value = False) -> Name:
        """A member that nobody has spoken of yet. In every goal they have the same names, and mean others."""
        if self.level.goal:
            number = self.level.made[index] = self.level.made.get(index, 0) + 1
            member = Name(index, f"{index.short}!{number}")
            self.level.meet(member, self.source, self.tag)
        else:
            member = Name(index, f"{index.short}~{next(self.counter)}")
            self.hidden[member] = Hidden(self.tag, unless, self.source, self.claim)
        return member

    def state(self, fact: Value) -> None:
        if fact is not True:
            self.said_so_far += 1
            self.level.facts.setdefault(self.source, {}).setdefault(self.tag, []).append(solver_term(fact))

    # ------------------------------------------------------------------------------------------- state
    def exists(self, field: Field, at: tuple[Name, ...]) -> Value:
        return conjunction([self.value(field.needs, {}, NOWHERE), *(self.inside(m) for m in at)])

    def speak_of(self, member: Name) -> None:
        """A rule or a goal names this member itself; what is stated of it came with another."""
        if len(self.levels) > 1 and "~" not in member.base:
            self.level.meet(member, self.source, self.tag)

    def read(self, view: View, field: Field, at: tuple[Name, ...]) -> Value:
        for member in at:
            self.speak_of(member)
        if isinstance(view, Initial):
            return field.initial
        key = (field, view, at)
        self.mention(key)
        level = self.ground if isinstance(view, Symbolic) else self.levels[1]
        if key not in level.cells:
            with self.within(*([] if level is self.ground else [level]), tag=frozenset(at), source=key):
                level.cells[key] = self.fresh_read(view, field, at)
        return level.cells[key]

    def cell(self, view: Symbolic, field: Field, at: tuple[Name, ...]) -> Value:
        key = (view.name, field)
        function = self.names.get(key)
        if function is None:
            sorts = [self.index_sort(i) for i in field.indices]
            function = self.names[key] = Function(f"{view.name}{field.name}", sorts, value_sort(field.sort))
        cell = function(*(self.term_of(m) for m in at))
        there = self.exists(field, at)
        self.state(disjunction([there, equality(cell, field.initial)]))
        return cell

    def dial(self, dial: Dial, at: tuple[Name, ...]) -> Value:
        if dial.name in self.fixed:
            return self.fixed[dial.name]
        if not at:
            return constant_of(dial.name, value_sort(dial.sort))
        function = self.names.get(dial)
        if function is None:
            assert dial.index is not None
            function = self.names[dial] = Function(dial.name, [self.index_sort(dial.index)], value_sort(dial.sort))
        known = self.ground.cells.get((dial, at))
        if known is None:
            known = self.ground.cells[dial, at] = function(self.term_of(at[0]))
            if dial.sort == INT:
                with self.within(tag=frozenset(at)):
                    self.state(at_most(dial.low, known))
        return known

    def dial_facts(self) -> list[Any]:
        """The ranges of the dials without an index."""
        return [
            at_most(d.low, constant_of(d.name, INTS))
            for d in self.model.dials
            if d.name not in self.fixed and d.sort == INT and d.index is None
        ]

    # -------------------------------------------------------------------------------------- quantifiers
    def over(self, term: Term, env: Env, now: View, then: View | None, sign: int) -> Value:
        if term.op in (Op.COUNT, Op.TOTAL, Op.BEFORE):
            return self.sum(term, env, now, then)
        env = {v: env[v] for v in free(term)}
        number = next(self.counter)
        source = ("p", number)
        self.mention(source)
        tag = frozenset(m for m in env.values() if isinstance(m, Name))
        with self.within(*self.levels[1:], tag=tag, source=source):
            return self.quantified(number, term, env, now, then, sign)

    def quantified(self, number: int, term: Term, env: Env, now: View, then: View | None, sign: int) -> Value:
        variables, body = [term.data], term.args[-1]
        while body.op is term.op:
            variables.append(body.data)
            body = body.args[-1]
        # The solver guesses False first: that there is none, which brings no member.
        there_is = constant_of(f"p~{number}", BOOLS)
        everywhere = term.op is Op.FORALL
        stated, denied = (sign >= 0, sign <= 0) if everywhere else (sign <= 0, sign >= 0)
        holds = negation(there_is)
        inner = 1 if everywhere else -1
        if denied:
            inside = {**env, **{v: self.skolem(v.domain, holds) for v in variables}}
            value = self.value(body, inside, now, then, -inner)
            there = conjunction(self.inside(inside[v]) for v in variables)
            value = negation(value) if everywhere else value
            self.state(disjunction([holds, conjunction([there, value])]))
        if stated:
            said = Universal(holds, tuple(variables), body, env, now, then, inner, self.tag, self.claim)
            self.level.universals.setdefault(self.source, []).append(said)
        return holds if everywhere else there_is

    def instance(self, universal: Universal, members: tuple[Name, ...]) -> None:
        """State a universal formula of the present source for these members."""
        universal.done.add(members)
        env = {**universal.env, **dict(zip(universal.variables, members, strict=True))}
        outside = [negation(self.inside(m)) for m in members]
        if any(o is True for o in outside):
            return
        kept = self.tag, self.claim
        self.tag, self.claim = frozenset(m for m in env.values() if isinstance(m, Name)), universal.claim
        value = self.value(universal.body, env, universal.now, universal.then, universal.sign)
        value = value if universal.sign > 0 else negation(value)
        self.state(disjunction([negation(universal.premise), *outside, value]))
        self.tag, self.claim = kept

    def instantiate(self, pool: Pool, most: Pool | None = None, given: Given = ALL) -> None:
        """State every universal formula of the present level for all members of the pool, and what comes up on the way.

        `most`: other members, of which each instance may have one. `given`: only what matters if just these claims are.
        """
        everybody = {m for members in (*pool.values(), *(most or {}).values()) for m in members}
        universals, done = self.level.universals, set[Source]()
        if not universals:
            return
        while sources := [s for s in self.relevant(given) if s in universals and s not in done]:
            for source in sources:
                done.add(source)
                with self.within(*self.levels[1:], source=source):
                    for universal in universals[source]:
                        if everybody.issuperset(universal.tag):
                            for members in self._choices(universal, pool, most):
                                if members not in universal.done:
                                    self.instance(universal, members)

    def _choices(self, universal: Universal, pool: Pool, most: Pool | None) -> Iterable[tuple[Name, ...]]:
        """Members for a universal formula's variables: of the pool, and one of the others if there are some."""
        reach = [list(pool.get(v.domain, ())) for v in universal.variables]
        choices = itertools.product(*reach)
        if not most:
            return choices
        more = [list(most.get(v.domain, ())) for v in universal.variables]
        singled = (
            itertools.product(*(more[i] if i == n else reach[i] for i in range(len(reach)))) for n in range(len(reach))
        )
        return itertools.chain(choices, *singled)

    # ----------------------------------------------------------------------------------------- products
    def times(self, term: Term, env: Env, now: View, then: View | None) -> Value:
        """A product by an unknown dial. The constant part of the other side is multiplied out; the rest is a name."""
        a, b = (self.value(x, env, now, then) for x in term.args)
        if known(a) or known(b):
            return product(a, b)
        (dial, factor), *_ = [(x, y) for t, x, y in zip(term.args, (a, b), (b, a), strict=True) if is_size(t)] or [
            (None, None)
        ]
        if dial is None:
            raise Inexact(f"({term}) is no product by a dial that is at least 0, and of others nothing is known")
        rest, constant = offset(factor)
        key = (dial.get_id(), rest.get_id())
        tag = frozenset(env[v] for v in free(term) if isinstance(env[v], Name))
        if not any(key in level.products for level in self.levels):
            function = Function(f"{dial}*", [INTS], INTS)
            self.level.products[key] = Product(dial, rest, function(rest), tag)
        self.mention(key)
        found = next(level.products[key] for level in self.levels if key in level.products)
        return sum_of([found.value, product(constant, dial)])

    def products_of(self, members: Set[Name], *levels: Level, given: Given = ALL) -> list[Product]:
        """The products that are spoken of and that speak of these members only."""
        relevant = self.relevant(given)
        products = (item for level in (self.ground, *levels) for item in level.products.items())
        return [p for key, p in products if key in relevant and p.tag <= members]

    # --------------------------------------------------------------------------------------------- sums
    def sum(self, term: Term, env: Env, now: View, then: View | None) -> Value:
        raise Inexact(f"({term}) is a sum, which this reading was not told how to treat")


def is_size(term: Term) -> bool:
    """Whether it is a dial that is never negative."""
    return term.op is Op.DIAL and term.data.low >= 0


def one_name_for_each(model: Model) -> None:
    """Refuse a model in which a name stands for two things: the solver would take them for one."""
    taken = {d.name: "a dial" for d in model.dials}
    for field in model.state.fields():
        if field.name in taken:
            raise Inexact(f"{field.name} is {taken[field.name]} and a field, which are one to the solver: rename one")
        taken[field.name] = "a field"
    for rule in model.rules:
        for name in (v.name for v in rule.params if v.name in taken):
            raise Inexact(
                f"{name} is {taken[name]} and what {rule.name} is for, which are one to the solver: rename one"
            )


def never_empty(model: Model) -> None:
    """Refuse a model in which an index without an order may have no members: to the solver there is always one."""
    for index in indices_of(model):
        size = index.size
        if (
            not index.ordered
            and not (size.op is Op.CONST and size.data >= 1)
            and not (is_size(size) and size.data.low >= 1)
        ):
            raise Inexact(f"{index.__name__} may have no members ({size}), which no proof of any size allows for")
