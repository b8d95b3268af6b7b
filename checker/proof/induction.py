"""Induction at any size: every claim holds at the start, and every rule preserves it.

For each rule the effect is put into the claim, so that the state after is written in terms of the state before; the
denied claim gives skolem constants, and the hypotheses are stated for those, for the rule's own parameters and for what
either of them reads. An obligation is then one query without quantifiers.

What it shows: an obligation that is unsatisfiable holds at every size. What it does not: one that is satisfiable may
only lack an instance or an invariant; `cti.py` finds out which.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Mapping, Sequence, Set
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import z3

from checker.proof.claims import Claim
from checker.proof.query import Query
from model.language.model import Model, indices_of
from model.language.properties import Shape
from model.language.rules import Rule
from model.language.terms import Index, Op, Range, Term, walk
from model.readings.anysize import NOWHERE, Level, Name, Number
from model.readings.products import broken
from model.readings.smt import After, Env, Inexact, Initial, View
from model.readings.solver import Value, assert_all, at_most, disjunction, known, negation, solver_term
from model.readings.sum_laws import WithSums
from model.readings.sums import Sum, Why

Members = dict[type[Index], dict[Name, None]]


@dataclass(frozen=True)
class Obligation:
    """One query and what came of it. `answer`: proved, open (satisfiable), unknown or refused; `used`: hypotheses.

    `case`: for which values of dials it was, if not for all at once.
    """

    rule: str
    claim: str
    part: int
    answer: str
    seconds: float
    used: tuple[str, ...] = ()
    why: str = ""
    case: str = ""

    @property
    def key(self) -> tuple[str, str, int, str]:
        return self.rule, self.claim, self.part, self.case


class Theory:
    """A model at any size under an assumption about its dials, with hypotheses about its states."""

    def __init__(
        self,
        model: Model,
        fixed: Mapping[str, Any],
        assumption: Term,
        hypotheses: Sequence[Claim],
        timeout: float = 20.0,
    ) -> None:
        self.model, self.timeout = model, timeout
        self.tr = tr = WithSums(model, fixed)
        self.now = tr.symbolic
        tr.declare(part for claim in hypotheses for part in claim.parts)
        self.base: list[Any] = list(tr.dial_facts())
        for condition in (*(r.condition for r in model.requirements), assumption):
            self.base.append(tr.value(condition, {}, NOWHERE, None, 1))
        self.literals = tr.literals
        for claim in hypotheses:
            self.literals[claim.name] = literal = z3.Bool(f"hypothesis {claim.name}")
            tr.source = claim.name
            for part in claim.parts:
                self.base.append(disjunction([negation(literal), tr.value(part, {}, self.now, None, 1)]))
        tr.source = ""
        self.base = [b for b in self.base if b is not True]

    @property
    def possible(self) -> bool:
        """Whether any dials fit what is fixed and assumed."""
        solver = z3.Solver()
        assert_all(solver, self.base)
        return bool(solver.check() != z3.unsat)

    def exists(self, condition: Term) -> bool:
        """Whether dials may be so that this is on."""
        value = self.tr.value(condition, {}, NOWHERE)
        if known(value):
            return bool(value)
        solver = z3.Solver()
        assert_all(solver, self.base)
        return bool(solver.check(value) != z3.unsat)


@dataclass(frozen=True, eq=False)
class Goal:
    """A part of a claim, translated to be denied.

    `relied_on`: hypotheses without which the claim does not mean this value, since how its sums change rests on them.
    """

    claim: str
    part: int
    level: Level
    value: Value
    relied_on: frozenset[str]


class Work:
    """The obligations about one rule; without a rule, those about the beginning or about every state."""

    def __init__(self, theory: Theory, rule: Rule | None, where: str = "", premises: Sequence[Term] = ()) -> None:
        self.theory, self.rule = theory, rule
        self.where = rule.name if rule else where
        self.smt2: Path | None = None  # where each query is written
        self.case = ""  # for which values of dials this is, if not for all
        self.cores = False  # whether to leave out of each core what can be left out
        self.rounds = 0  # how often the members that came in count as if the goal spoke of them
        self.taken: tuple[str, ...] = ()  # claims that all of this rests on
        self.tr, self.now = theory.tr, theory.now
        self.level = Level()
        self.reasoners: dict[tuple[frozenset[str], bool], Query] = {}
        self.goals: list[Goal] = []
        self.refused: list[Obligation] = []
        self.guards: list[Any] = []
        self.after: After | None = None
        # Where a rule moves everything up, what it was is spoken of one place further, and what it becomes one before.
        self.places = (0, -1) if rule is not None and moves_up(rule) else (0,)
        with self.tr.within(self.level):
            self.guards += [self.tr.value(p, {}, self.now, None, 1) for p in premises]
            for index in indices_of(theory.model) if premises else ():
                # What is stuck is stuck for every member, and there is one.
                self.level.meet(self.tr.first(index) if index.ordered else Name(index, index.short))
            if rule is not None:
                self._enter(rule)
        self.guards = [g for g in self.guards if g is not True]

    def _enter(self, rule: Rule) -> None:
        tr = self.tr
        params: dict[Any, Any] = {}
        for v in rule.params:
            if issubclass(v.domain, Range):
                params[v] = Number(v.domain, v.name)
                k = tr.number(params[v])
                low, high = (solver_term(tr.value(t, {}, NOWHERE)) for t in (v.domain.low, v.domain.high))
                self.guards += [at_most(low, k), at_most(k, high)]
            else:
                params[v] = Name(v.domain, v.name)
                self.level.meet(params[v])
                self.guards.append(tr.inside(params[v]))
        self.guards.append(tr.value(rule.needs, {}, NOWHERE, None, 1))
        self.guards += [tr.value(g.condition, params, self.now, None, 1) for g in rule.guards]
        self.after = After(rule, params, self.now)

    # ------------------------------------------------------------------------------------------ goals
    def add(self, claim: Claim, initial: bool = False) -> None:
        """Deny each part of the claim: after the rule, or at the start, or of every state."""
        views: tuple[Any, ...] = (Initial(), Initial()) if initial else (self.now, self.now)
        if self.after is not None:
            views = (self.now, self.after) if claim.shape is Shape.STEP else (self.after, None)
        for number, part in enumerate(claim.parts):
            self.deny(claim.name, number, self._said(part, {}, *views))

    def deny_term(self, name: str, part: int, term: Term, env: Env) -> None:
        """Add a goal: that a term about the state before the rule cannot be false."""
        self.deny(name, part, self._said(term, env, self.now))

    def _said(self, term: Term, env: Env, now: View, then: View | None = None) -> Callable[[], Value]:
        return lambda: self.tr.value(term, env, now, then, -1)

    def deny(self, name: str, part: int, said: Callable[[], Value]) -> None:
        """Add a goal: that what is said cannot be false."""
        level = Level(goal=True)
        self.tr.entails, self.tr.relied_on = self.entails, set()
        try:
            with self.tr.within(self.level, level):
                value = said()
        except Inexact as error:
            self.refused.append(self._outcome(name, part, "refused", 0.0, why=str(error)))
            return
        if value is not True:
            self.goals.append(Goal(name, part, level, value, frozenset(self.tr.relied_on)))

    def _outcome(self, claim: str, part: int, answer: str, seconds: float, used: Any = (), why: str = "") -> Obligation:
        rests = (*used, *self.taken) if answer == "proved" else ()
        return Obligation(self.where, claim, part, answer, seconds, tuple(dict.fromkeys(rests)), why, self.case)

    # ---------------------------------------------------------------------------------------- solving
    def pool(self, goals: Sequence[Goal]) -> Members:
        """The members that the rule and these goals speak of."""
        pool: Members = {}
        for level in (self.level, *(g.level for g in goals)):
            for index, members in level.met.items():
                pool.setdefault(index, {}).update(members)
        return pool

    def state(self, pool: Members, more: Members) -> None:
        """State all that is universal for the members of the pool, with one of the others beside them."""
        tr = self.tr
        for _ in range(2):  # sums come up in what is stated, and bring members of their own
            with tr.within():
                tr.instantiate(pool, more)
            with tr.within(self.level):
                tr.instantiate(pool, more)
            tr.sum_facts(pool, more, self.now)

    def state_goal(self, goal: Goal, pool: Members, more: Members) -> None:
        """The same of what the goal itself says."""
        with self.tr.within(self.level, goal.level):
            self.tr.instantiate(pool, more)

    def state_little(self, pool: Members, more: Members, goal: Goal) -> None:
        """As `state`, but only what the goal, the guards and the goal's own claim say."""
        for levels in ((), (self.level,), (self.level, goal.level)):
            with self.tr.within(*levels):
                self.tr.instantiate(pool, more, ("", goal.claim))

    def prepare(self, rules: Sequence[Rule]) -> None:
        """State now, once for all that is done with this theory later, what holds of the members that most goals speak of."""
        self.tr.entails = self.entails
        self.tr.know_members()
        pool: Members = {}
        for index in indices_of(self.theory.model):
            named = [self.tr.first(index)] if index.ordered else [Name(index, f"{index.short}!2")]
            named += [
                Name(index, f"{index.short}!1"),
                *(Name(index, v.name) for r in rules for v in r.params if v.domain is index),
            ]
            pool[index] = dict.fromkeys(named)
        self.state(pool, {})

    def query(self, pool: Members) -> Query:
        """All that is known before the rule of the members of the pool."""
        query = Query((*self.theory.base, *self.guards), self.theory.literals, self.theory.timeout)
        query.tell(everybody(pool), self.tr.ground, self.level)
        return query

    def prove(self) -> list[Obligation]:
        """Try every goal, those that speak of few members first; what was said of these serves the others.

        Of a claim that is not proved in one part, the others are tried with the members that they speak of, and no more.
        """
        self.tr.entails = self.entails
        pool: Members = {}
        query = self.query(pool)
        found: dict[Goal, Obligation] = {}
        for goal in sorted(self.goals, key=lambda g: len(everybody(self.pool([g])))):
            known = everybody(pool)
            for index, members in self.pool([goal]).items():
                pool.setdefault(index, {}).update(members)
            if everybody(pool) != known:
                self.state(pool, {})
                query.tell(everybody(pool), self.tr.ground, self.level)
            self.state_goal(goal, pool, {})
            lost = any(o.claim == goal.claim and o.answer != "proved" for o in found.values())
            found[goal] = self._check(query, goal, everybody(pool), not lost)
        return [*self.refused, *(found[goal] for goal in self.goals)]

    def _check(self, query: Query, goal: Goal, members: Set[Name], widely: bool) -> Obligation:
        began = time.monotonic()
        with query.aside():
            query.tell(members, goal.level)
            query.add([negation(goal.value)])
            answer = self._answer(query, goal, set(members), widely)
            core = [] if answer != z3.unsat else query.needed() if self.cores else query.used()
            used = [*core, *sorted(goal.relied_on)] if answer == z3.unsat else []
            why = "the solver gave up; see STEPS in checker/proof/query.py" if answer == z3.unknown else ""
            if self.smt2 is not None:
                name = ".".join(filter(None, (self.where, goal.claim, self.case, str(goal.part), "smt2")))
                write_query(self.smt2 / name.replace(" ", "-"), query.solver, self.theory.literals.values())
        word = {"unsat": "proved", "sat": "open"}.get(str(answer), "unknown")
        return self._outcome(goal.claim, goal.part, word, time.monotonic() - began, used, why)

    def _answer(self, query: Query, goal: Goal, members: set[Name], widely: bool) -> Any:
        """The solver's answer, told what its models miss: laws of products, and members that must be somewhere.

        Of new members it is told first what needs little; then the rest; then that sums have members.
        """
        near, more = self.pool([goal]), dict[type[Index], dict[Name, None]]()
        wider = iter(self.widening())
        owing = False  # whether only little was stated of some member
        budget = query.budget()
        while (answer := query.check()) == z3.sat:
            if budget.spent():
                return z3.unknown
            found = query.solver.model()
            if wrong := broken(found, self.tr.products_of(members, self.level, goal.level)):
                query.add(wrong)
                continue
            if query.broken(found):
                continue
            if not widely:
                break
            if missed := self._missed(found, goal, everybody(near), members):
                for member in missed:
                    reached = [self.tr.moved(member, n) for n in (self.places if member.of.ordered else (0,))]
                    more.setdefault(member.of, {}).update(dict.fromkeys(reached))
                    members.update(reached)
                self.state_little(near, more, goal)
                query.tell(members, self.tr.ground, self.level, goal.level)
                owing = True
                continue
            if owing:
                self.state(near, more)
                self.state_goal(goal, near, more)
                owing = False
            elif step := next(wider, None):
                owing = step(near, more, goal)
                members |= everybody(more) | everybody(near)
            else:
                break
            query.offer(members, self.tr.ground, self.level, goal.level)
        return answer

    def widening(self) -> list[Callable[[Members, Members, Goal], bool]]:
        """What is done, one after another, to have more said of a goal; whether only little was stated so far."""
        return [self._witness, self._before, self._witness_all, *[self._nearer, self._witness] * self.rounds]

    def _witness(self, near: Members, more: Members, goal: Goal) -> bool:
        self.tr.witness(self._applied(goal, everybody(near)), near)
        return False

    def _witness_all(self, near: Members, more: Members, goal: Goal) -> bool:
        """As _witness, also of the sums that only hypotheses speak of."""
        members = everybody(near)
        self.tr.witness([key for key in self.tr.applied if members >= set(key[1])], near)
        return False

    def _before(self, near: Members, more: Members, goal: Goal) -> bool:
        """What is just before a place is not spoken of where the places are said to be in order."""
        for index in [i for i in near if i.ordered]:
            more.setdefault(index, {}).update((self.tr.moved(m, -1), None) for m in near[index] if m.base)
        return True

    def _nearer(self, near: Members, more: Members, goal: Goal) -> bool:
        """What came in counts as if the goal spoke of it."""
        for index, members in more.items():
            near.setdefault(index, {}).update(members)
        more.clear()
        return True

    def _missed(self, found: Any, goal: Goal, near: Set[Name], members: Set[Name]) -> list[Name]:
        """The members that are somewhere in a model, by what is stated of those near, and of which it knows nothing.

        Those that the claim itself speaks of come first: where it was true before, they often show why it still is.
        """
        missed = {
            member: why.source
            for member, why in self.tr.hidden.items()
            if member not in members and why.tag <= near and z3.is_false(found.eval(solver_term(why.unless)))
        }
        for sources in ((goal.claim,), ("",)):
            if first := [m for m, source in missed.items() if source in sources]:
                return first
        return list(missed)

    def _applied(self, goal: Goal, near: Set[Name]) -> Iterable[tuple[Sum, tuple[Name, ...]]]:
        """The sums that the goal or the rule speaks of; without a rule, those that hypotheses about members near do."""
        applied = {**self.level.sums, **goal.level.sums}
        if self.rule is None:
            applied.update((key, None) for key in self.tr.applied if near >= set(key[1]))
        return applied

    # ------------------------------------------------------------------------------- reasons for sums
    def entails(self, formula: Value, about: tuple[Name, ...], rule: bool, instances: bool) -> Why | None:
        """Which hypotheses (with the rule's guards) imply a formula about these members and the rule's; None if none do."""
        if known(formula):
            return frozenset() if formula else None
        bases = {m.base for m in about} | {v.name for v in (self.rule.params if rule and self.rule else ())}
        pool: Members = {}
        for member in [m for m in self.tr.names if isinstance(m, Name) and m.base in bases]:
            pool.setdefault(member.of, {})[member] = None
        if instances:
            with self.tr.within():
                self.tr.instantiate(pool)
        query = self._reasoner(frozenset(bases), rule)
        query.tell(everybody(pool), self.tr.ground, *([self.level] if rule else []))
        with query.aside():
            query.add([negation(formula)])
            if query.check() != z3.unsat:
                return None
            return frozenset(query.needed() if self.cores else query.used())

    def _reasoner(self, bases: frozenset[str], rule: bool) -> Query:
        """One for all questions about the same members."""
        if (bases, rule) not in self.reasoners:
            facts = (*self.theory.base, *(self.guards if rule else ()))
            self.reasoners[bases, rule] = Query(facts, self.theory.literals, self.theory.timeout)
        return self.reasoners[bases, rule]


def moves_up(rule: Rule) -> bool:
    """Whether the rule writes to some place what the next one holds."""
    return any(t.op is Op.NEXT for update in rule.updates for t in walk(update.value))


def everybody(pool: Members) -> frozenset[Name]:
    return frozenset(m for members in pool.values() for m in members)


def write_query(path: Path, solver: Any, literals: Iterable[Any]) -> None:
    """The query as an SMT-LIB file, with all hypotheses asserted: unsat means proved."""
    whole = z3.Solver()
    assert_all(whole, [*literals, *solver.assertions()])
    path.write_text(f"; unsat: the obligation holds at every size\n(set-logic ALL)\n{whole.sexpr()}(check-sat)\n")
