"""One try to prove a goal: a dialogue with the solver, whose models show what it was not told yet."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Set
from typing import TYPE_CHECKING, Any

import z3

from checker.proof.query import Query
from model.language.terms import Index
from model.readings.products import broken
from model.readings.said import Name
from model.readings.solver import solver_term
from model.readings.sums import Sum

if TYPE_CHECKING:
    from checker.proof.induction import Goal, Work

Members = dict[type[Index], dict[Name, None]]


class Attempt:
    """A goal, and the members that the solver knows of.

    `near`: those that the rule and the goal speak of; `more`: those that came in. What is said is what matters where the
    query's hypotheses are given.
    """

    def __init__(self, work: Work, query: Query, goal: Goal, members: set[Name]) -> None:
        self.work, self.tr, self.query, self.goal, self.members = work, work.tr, query, goal, members
        self.near: Members = work.pool(goal)
        self.more: Members = {}
        self.given = query.given

    def answer(self, widely: bool) -> Any:
        """The solver's answer, told what its models miss: laws of products, and members that must be somewhere.

        Of new members it is told first what needs little; then the rest; then that sums have members. Not `widely`: laws
        of products only.
        """
        work, query, goal = self.work, self.query, self.goal
        wider = iter(self.widening())
        owing = False  # whether only little was stated of some member
        budget = query.budget()
        while (answer := query.check()) == z3.sat:
            if budget.spent():
                return z3.unknown
            found = query.solver.model()
            if wrong := broken(found, self.tr.products_of(self.members, work.level, goal.level, given=self.given)):
                query.add(wrong)
                continue
            if not widely:
                break
            if missed := self._missed(found):
                self._bring(missed)
                owing = True
                continue
            if owing:
                self.state()
                owing = False
            elif step := next(wider, None):
                owing = step()
                self.members |= everybody(self.more) | everybody(self.near)
            else:
                break
            query.tell(self.members, self.tr.ground, work.level, goal.level)
        return answer

    def state(self) -> None:
        """State all that matters of the members, and of those that the goal speaks of for them."""
        for index, members in self.work.pool(self.goal, self.members).items():
            self.near.setdefault(index, {}).update(members)
        self.members |= everybody(self.near)
        self.work.state(self.near, self.more, self.given)
        self.work.state_goal(self.goal, self.near, self.more)

    def _bring(self, missed: Iterable[Name]) -> None:
        work = self.work
        for member in missed:
            reached = [self.tr.moved(member, n) for n in (work.places if member.of.ordered else (0,))]
            self.more.setdefault(member.of, {}).update(dict.fromkeys(reached))
            self.members.update(reached)
        work.state_little(self.near, self.more, self.goal)
        self.query.tell(self.members, self.tr.ground, work.level, self.goal.level)

    def widening(self) -> list[Callable[[], bool]]:
        """What is done, one after another, to have more said of a goal; whether only little was stated so far."""
        return [self._witness, self._before, self._witness_all, *[self._nearer, self._witness] * self.work.rounds]

    def _witness(self) -> bool:
        self.tr.witness(self._applied(everybody(self.near)), self.near)
        return False

    def _witness_all(self) -> bool:
        """As _witness, also of the sums that only hypotheses speak of."""
        self.tr.witness(self._sums(everybody(self.near)), self.near)
        return False

    def _before(self) -> bool:
        """What is just before a place is not spoken of where the places are said to be in order."""
        for index in [i for i in self.near if i.ordered]:
            self.more.setdefault(index, {}).update((self.tr.moved(m, -1), None) for m in self.near[index] if m.base)
        return True

    def _nearer(self) -> bool:
        """What came in counts as if the goal spoke of it."""
        for index, members in self.more.items():
            self.near.setdefault(index, {}).update(members)
        self.more = {}
        return True

    def _missed(self, found: Any) -> list[Name]:
        """The members that are somewhere in a model, by what is stated of those near, and of which it knows nothing.

        Those that the claim itself speaks of come first: where it was true before, they often show why it still is.
        """
        near = everybody(self.near)
        relevant = self.tr.relevant(self.given)
        missed = {
            member: why.claim
            for member, why in self.tr.hidden.items()
            if member not in self.members
            and why.tag <= near
            and why.source in relevant
            and z3.is_false(found.eval(solver_term(why.unless)))
        }
        for claim in (self.goal.claim, ""):
            if first := [m for m, said_by in missed.items() if said_by == claim]:
                return first
        return list(missed)

    def _sums(self, near: Set[Name]) -> list[tuple[Sum, tuple[Name, ...]]]:
        """The sums about members near that matter."""
        relevant = self.tr.relevant(self.given)
        return [key for key in self.tr.applied if near >= set(key[1]) and key in relevant]

    def _applied(self, near: Set[Name]) -> Iterable[tuple[Sum, tuple[Name, ...]]]:
        """The sums that the goal or the rule speaks of; without a rule, those that hypotheses about members near do."""
        relevant = self.tr.relevant(self.given)
        spoken = (*self.work.level.sums, *self.goal.level.sums)
        applied = dict.fromkeys(key for key in spoken if key in relevant)
        if self.work.rule is None:
            applied.update(dict.fromkeys(self._sums(near)))
        return applied


def everybody(pool: Members) -> frozenset[Name]:
    return frozenset(m for members in pool.values() for m in members)
