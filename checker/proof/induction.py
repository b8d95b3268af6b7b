"""Induction at any size: every claim holds at the start, and every rule preserves it.

For each rule the effect is put into the claim, so that the state after is written in terms of the state before; the
denied claim gives skolem constants, and the hypotheses are stated for those, for the rule's own parameters and for what
either of them reads. An obligation is then one query without quantifiers.

What it shows: an obligation that is unsatisfiable holds at every size. What it does not: one that is satisfiable may
only lack an instance or an invariant; `cti.py` finds out which.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence, Set
from contextlib import nullcontext
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

import z3

from checker.proof.attempt import Attempt, Members, everybody
from checker.proof.claims import Claim
from checker.proof.obligation import Key, Obligation, write
from checker.proof.query import Query
from model.language.model import Model, indices_of
from model.language.properties import Shape
from model.language.rules import Rule
from model.language.terms import Op, Range, Term, walk
from model.readings.anysize import NOWHERE
from model.readings.said import ALL, AllBut, Given, Level, Name, Number
from model.readings.smt import After, Env, Inexact, Initial, View
from model.readings.solver import Value, assert_all, at_most, disjunction, known, negation, solver_term
from model.readings.sum_laws import WithSums
from model.readings.sums import Reason, When, Why


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
        conditions = (*(r.condition for r in model.requirements), assumption)
        values = (tr.value(c, {}, NOWHERE, None, 1) for c in conditions)
        self.base: list[Any] = [*tr.dial_facts(), *(v for v in values if v is not True)]
        self.literals = tr.literals
        self.reasons: dict[Key, Obligation] = {}  # what is known of sums rests on these
        for claim in hypotheses:
            self.literals[claim.name] = literal = z3.Bool(f"hypothesis {claim.name}")
            with tr.within(source=claim.name):
                tr.claim = claim.name
                for part in claim.parts:
                    tr.state(disjunction([negation(literal), tr.value(part, {}, self.now, None, 1)]))
        tr.claim = ""

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
    """A part of a claim, translated to be denied."""

    claim: str
    part: int
    source: str
    level: Level
    value: Value


class WithAll:
    """Tries goals with all hypotheses: what was said of the members of one goal serves the others."""

    def __init__(self, work: Work) -> None:
        self.work, self.pool = work, Members()
        self.query = work.query(work.common, work.usual)

    def check(self, goal: Goal, widely: bool) -> Obligation:
        work, known = self.work, everybody(self.pool)
        for index, members in work.pool(goal).items():
            self.pool.setdefault(index, {}).update(members)
        if everybody(self.pool) != known or not known:
            work.state(self.pool, {}, work.usual)
            self.query.tell(everybody(self.pool), work.tr.ground, work.level)
        work.state_goal(goal, self.pool, {})
        with self.query.aside():
            return work.check(self.query, goal, everybody(self.pool), widely)


class Work:
    """The obligations about one rule; without a rule, those about the beginning or about every state."""

    def __init__(self, theory: Theory, rule: Rule | None, where: str = "", premises: Sequence[Term] = ()) -> None:
        self.theory, self.rule = theory, rule
        self.where = rule.name if rule else where
        self.smt2: Path | None = None  # where each query is written
        self.case = ""  # for which values of dials this is, if not for all
        self.cores = False  # whether to leave out of each core what can be left out
        self.rounds = 0  # how often the members that came in count as if the goal spoke of them
        self.hints: Mapping[str, tuple[str, ...]] = {}  # hypotheses that claims are tried with first
        # Whether a state is known from which a claim is broken, so that to try longer is in vain; and of which it is.
        self.breaks: Callable[[str], bool] | None = None
        self.broken: set[str] = set()
        self.assuming = True
        self.common, self.usual = dict(theory.literals), ALL  # hypotheses that are used for more than hints
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
            if premises:
                self._meet_one_of_each()
            if rule is not None:
                self._enter(rule)
        self.guards = [g for g in self.guards if g is not True]

    def _meet_one_of_each(self) -> None:
        """What is stuck, or is so at the start, is so for every member, and there is one."""
        for index in indices_of(self.theory.model):
            self.level.meet(self.tr.first(index) if index.ordered else Name(index, index.short))

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

    def keep_apart(self, names: Collection[str]) -> None:
        """Let only hints speak of these hypotheses."""
        self.usual = AllBut(frozenset(names))
        self.common = {name: literal for name, literal in self.theory.literals.items() if name in self.usual}

    def assume_nothing(self) -> None:
        """At the start nothing was shown yet, not even what hypotheses say of the dials alone."""
        self.common, self.assuming = {}, False
        self._meet_one_of_each()

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
        self.tr.entails = self.entails
        source = f"goal {name} {part}"
        try:
            with self.tr.within(self.level, level, source=source):
                value = said()
        except Inexact as error:
            self.refused.append(self._outcome(name, part, "refused", 0.0, why=str(error)))
            return
        if value is not True:
            self.goals.append(Goal(name, part, source, level, value))

    def _outcome(self, claim: str, part: int, answer: str, seconds: float, used: Any = (), why: str = "") -> Obligation:
        rests = (*used, *self.taken) if answer == "proved" else ()
        return Obligation(self.where, claim, part, answer, seconds, tuple(dict.fromkeys(rests)), why, self.case)

    # ---------------------------------------------------------------------------------------- solving
    def pool(self, goal: Goal, beside: Set[Name] = frozenset()) -> Members:
        """The members that the rule and this goal speak of; and those that they speak of where there are others beside."""
        pool: Members = {}
        relevant = self.tr.relevant((goal.source,))
        found = set(beside)
        met = [
            (m, tag)
            for level in (self.level, goal.level)
            for m, by in level.met.items()
            for s, tag in by
            if s in relevant
        ]
        while near := [m for m, tag in met if m not in found and tag <= found]:
            found.update(near)
        for member in dict.fromkeys(m for m, _ in met if m in found and m not in beside):
            pool.setdefault(member.of, {})[member] = None
        return pool

    def state(self, pool: Members, more: Members, given: Given = ALL) -> None:
        """State all that is universal for the members of the pool, with one of the others beside them.

        `given`: only what matters if just these hypotheses are.
        """
        tr = self.tr
        for _ in range(2):  # sums come up in what is stated, and bring members of their own
            with tr.within():
                tr.instantiate(pool, more, given)
            with tr.within(self.level):
                tr.instantiate(pool, more, given)
            said = tr.said_so_far
            tr.sum_facts(pool, more, self.now, given)
            if tr.said_so_far == said:
                break

    def state_goal(self, goal: Goal, pool: Members, more: Members) -> None:
        """The same of what the goal itself says."""
        with self.tr.within(self.level, goal.level):
            self.tr.instantiate(pool, more)

    def state_little(self, pool: Members, more: Members, goal: Goal) -> None:
        """As `state`, but only what the goal, the guards and the goal's own claim say."""
        for levels in ((), (self.level,), (self.level, goal.level)):
            with self.tr.within(*levels):
                self.tr.instantiate(pool, more, (goal.claim, goal.source))

    def prepare(self, rules: Sequence[Rule]) -> None:
        """State now, once for all that is done with this theory later, what holds of the members that most goals speak of."""
        self.tr.entails = self.entails
        self.tr.know_members()
        pool: Members = {}
        for index in indices_of(self.theory.model):
            named = [self.tr.first(index)] if index.ordered else []
            named += [
                Name(index, f"{index.short}!1"),
                *(Name(index, v.name) for r in rules for v in r.params if v.domain is index),
            ]
            pool[index] = dict.fromkeys(named)
        self.state(pool, {}, self.usual)

    def query(self, hypotheses: dict[str, Any], given: Given) -> Query:
        """One that is told the dials and the guards."""
        return Query(self.tr, (*self.theory.base, *self.guards), hypotheses, given, self.theory.timeout)

    def prove(self) -> list[Obligation]:
        """Try every goal with few hypotheses, those that a hint names or its own claim; and then with all, if need be.

        Of a claim that is not proved in one part, the others are tried with the members that they speak of, and no more.
        """
        self.tr.entails = self.entails
        goals = sorted(self.goals, key=lambda g: len(everybody(self.pool(g))))
        found = self._briefly(goals, self.breaks) if self.breaks is not None else {}
        every = WithAll(self)
        for goal in goals:
            if goal in found and (found[goal].answer == "proved" or self.broken):
                continue
            lost = any(o.claim == goal.claim and o.answer != "proved" for g, o in found.items() if g is not goal)
            for check in self._ways(goal, every, not lost):
                found[goal] = self._exactly(goal, check)
                if found[goal].answer == "proved":
                    break
        return [*self.refused, *(found[goal] for goal in self.goals)]

    def _briefly(self, goals: Sequence[Goal], breaks: Callable[[str], bool]) -> dict[Goal, Obligation]:
        """What comes of goals with few hypotheses and little said; and of which claims a state is known that breaks them."""
        found: dict[Goal, Obligation] = {}
        for goal in goals:
            for few in dict.fromkeys([self._known((goal.claim,)), self._few(goal)]):
                found[goal] = self._exactly(goal, partial(self._near, goal, few, False))
                if found[goal].answer == "proved":
                    break
        left = [goal for goal in goals if found[goal].answer not in ("proved", "refused")]
        self.broken = {claim for claim in dict.fromkeys(g.claim for g in left) if breaks(claim)}
        for goal in left:
            if goal.claim in self.broken:
                found[goal] = replace(found[goal], answer="open", why="", broken=True)
            elif self.broken and found[goal].answer == "open":
                found[goal] = replace(found[goal], why="tried for a short time only, since other claims are broken")
        return found

    def _ways(self, goal: Goal, every: WithAll, widely: bool) -> Iterator[Callable[[], Obligation]]:
        """How a goal is tried, the cheapest way first."""
        hinted, few = goal.claim in self.hints, self._few(goal)
        yield partial(self._near, goal, few, hinted or not self.assuming)
        if self.assuming and not (hinted and set(few) >= self.theory.literals.keys()):
            yield partial(every.check, goal, widely)

    def _few(self, goal: Goal) -> tuple[str, ...]:
        """Those that a hint names, or the claim itself."""
        return self._known(self.hints.get(goal.claim, (goal.claim,)))

    def _known(self, names: Iterable[str]) -> tuple[str, ...]:
        """Those of the hypotheses that there are."""
        return tuple(name for name in names if self.assuming and name in self.theory.literals)

    def _exactly(self, goal: Goal, check: Callable[[], Obligation]) -> Obligation:
        """What comes of a goal; refused if a sum of it, met on the way, changes in a way that is not known."""
        try:
            return check()
        except Inexact as error:
            return self._outcome(goal.claim, goal.part, "refused", 0.0, why=str(error))

    def _near(self, goal: Goal, few: tuple[str, ...], widely: bool) -> Obligation:
        """What comes of a goal with few hypotheses."""
        literals = {name: self.theory.literals[name] for name in few}
        pool, given = self.pool(goal), (*few, goal.source)
        self.state(pool, {}, given)
        self.state_goal(goal, pool, {})
        query = self.query(literals, given)
        query.tell(everybody(pool), self.tr.ground, self.level)
        # What is asked only once is asked sooner without a scope of its own; what is asked often is not.
        with query.aside() if widely else nullcontext():
            return replace(self.check(query, goal, everybody(pool), widely), few=True)

    def check(self, query: Query, goal: Goal, members: Set[Name], widely: bool) -> Obligation:
        """What comes of a goal: with more and more that is said of members, if `widely`."""
        began = time.monotonic()
        query.tell(members, goal.level)
        query.add([negation(goal.value)])
        attempt = Attempt(self, query, goal, set(members))
        answer = attempt.answer(widely)
        core = [] if answer != z3.unsat else query.needed() if self.cores else query.used()
        used = [*core, *self._relied_on(goal)] if answer == z3.unsat else []
        why = "the solver gave up; see STEPS in checker/proof/query.py" if answer == z3.unknown else ""
        word = {"unsat": "proved", "sat": "open"}.get(str(answer), "unknown")
        found = self._outcome(goal.claim, goal.part, word, time.monotonic() - began, used, why)
        self._write(query, found)
        return found

    def _write(self, query: Query, about: Obligation) -> None:
        """Write what the query was told, where that is asked for."""
        if self.smt2 is not None:
            write(self.smt2, about, (*query.hypotheses.values(), *query.facts))

    def _relied_on(self, goal: Goal) -> list[str]:
        """Hypotheses without which the claim does not mean what was denied, since how its sums change rests on them."""
        relevant = self.tr.relevant((goal.source,))
        return sorted({name for source, law in self.tr.laws.items() if source in relevant for name in law.why})

    # ------------------------------------------------------------------------------- reasons for sums
    def entails(self, reason: Reason, instances: bool) -> Why | None:
        """Which hypotheses (with the rule's guards, if it is about the rule) imply a reason; None if none do."""
        if known(reason.formula):
            return frozenset() if reason.formula else None
        began, rule = time.monotonic(), reason.when is When.RULE
        bases = {m.base for m in reason.about} | {v.name for v in (self.rule.params if rule and self.rule else ())}
        pool: Members = {}
        for member in [m for m in self.tr.names if isinstance(m, Name) and m.base in bases]:
            pool.setdefault(member.of, {})[member] = None
        if instances:
            with self.tr.within():
                self.tr.instantiate(pool, None, self.usual)
        query = self._reasoner(frozenset(bases), rule)
        query.tell(everybody(pool), self.tr.ground, *([self.level] if rule else []))
        with query.aside():
            query.add([negation(reason.formula)])
            if query.check() != z3.unsat:
                return None
            used = query.needed() if self.cores else query.used()
            where = self.where if rule else reason.when.value
            claim, seconds = f"{reason.kind}: {reason.says}", time.monotonic() - began
            found = Obligation(where, claim, 0, "proved", seconds, tuple(used), case=self.case, reason=True)
            self.theory.reasons.setdefault(found.key, found)
            self._write(query, found)
        return frozenset(used)

    def _reasoner(self, bases: frozenset[str], rule: bool) -> Query:
        """One for all questions about the same members."""
        if (bases, rule) not in self.reasoners:
            facts = (*self.theory.base, *(self.guards if rule else ()))
            self.reasoners[bases, rule] = Query(self.tr, facts, self.common, self.usual, self.theory.timeout)
        return self.reasoners[bases, rule]


def moves_up(rule: Rule) -> bool:
    """Whether the rule writes to some place what the next one holds."""
    return any(t.op is Op.NEXT for update in rule.updates for t in walk(update.value))
