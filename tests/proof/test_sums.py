"""At any size: in reachable states of small worlds, what is said of them can be true, and sums change as is said.

A concrete state is stated to the solver with its members named. Then everything that is asserted of every state must be
satisfiable with it (an instance or a law that is false would exclude it), and the sums after a step, written in terms of
those before, must come to what they are in the state after.
"""

from __future__ import annotations

import itertools
from typing import Any

import pytest
import z3

from checker.proof.attempt import Members, everybody
from checker.proof.induction import Work
from checker.proof.query import Query
from checker.search.explore import explore
from model.language.terms import Index, Range
from model.lifecycle import LIFECYCLE
from model.lifecycle.dials import Slot
from model.readings.effects import after, false_guards
from model.readings.interpret import Interpreter
from model.readings.layout import Layout
from model.readings.products import Product, broken
from model.readings.python import Machine
from model.readings.said import Name
from model.readings.solver import equality, negation, solver_term
from model.readings.sums import END
from tests.proof.scopes import SCOPE
from tests.search.running import world_of


class Stated:
    """A world's states, stated to the any-size reading of one rule, whose parameters are members of the world."""

    def __init__(self, world: str, rule: str) -> None:
        self.layout = Layout(LIFECYCLE, world_of(world))
        self.work = Work(SCOPE.theory(), LIFECYCLE.rule(rule))
        self.tr = self.work.tr
        self.tr.entails = self.work.entails
        assert self.work.after is not None
        self.members: dict[type[Index], list[Name]] = {}
        for index, size in self.layout.sizes.items():
            self.members[index] = [self.name(index, m) for m in range(size)]
        self.work.state(self.pool, {})  # all sums come up
        with self.tr.within(self.work.level):
            self.after = sums_after(self)
        self.work.state(self.pool, {})

    def name(self, index: type[Index], position: int) -> Name:
        return Name(index, "", position) if index.ordered else Name(index, f"{index.short}!{position + 1}")

    @property
    def pool(self) -> dict[type[Index], dict[Name, None]]:
        return {i: dict.fromkeys(ms) for i, ms in self.members.items()}

    def facts(self, state: Any, at_rule: tuple[int, ...]) -> list[Any]:
        """The dials, the cells, and which member each parameter is."""
        facts: list[Any] = []
        for dial in LIFECYCLE.dials:
            at = [(m,) for m in self.members[dial.index]] if dial.index else [()]
            value = self.layout.world.values[dial.name]
            facts += [equality(self.tr.dial(dial, a), value[n] if a else value) for n, a in enumerate(at)]
        for place, cell in enumerate(self.layout.cells):
            names = tuple(self.name(i, m) for i, m in zip(cell.field.indices, cell.at, strict=True))
            facts.append(equality(self.tr.read(self.work.now, cell.field, names), self.layout.value(state, place)))
        for members in self.members.values():
            facts += [negation(self.tr.same(a, b)) for a, b in itertools.combinations(members, 2)]
        assert self.work.after is not None
        for var, position in zip(self.work.after.params, at_rule, strict=True):
            known_member: Any = self.work.after.params[var]
            if issubclass(var.domain, Range):
                facts.append(equality(self.tr.number(known_member), position))
            else:
                facts.append(self.tr.same(known_member, self.name(var.domain, position)))
        return [solver_term(f) for f in facts if f is not True]


def runs(world: str, rule: str, most: int) -> list[tuple[tuple[int, ...], tuple[int, ...]]]:
    """Reached states in which the rule may fire, with the members it may fire for; a few, spread over the world."""
    layout = Layout(LIFECYCLE, world_of(world))
    explored = explore(Machine(LIFECYCLE, world_of(world), [], forgetful=False))
    instances = [i for i in explored.machine.instances if i.rule.name == rule]
    found = []
    for state in explored.states[:: max(1, len(explored.states) // 3000)]:
        found += [(tuple(state), i.at) for i in instances if not false_guards(layout, i.rule, i.at, state)]
    return found[:: max(1, len(found) // most)][:most]


@pytest.mark.parametrize(
    "rule", ["launch", "recycle", "preempt", "retire_token", "acquire", "release", "select", "execute"]
)
def test_a_step_that_happens_is_not_excluded_and_sums_are_right(rule: str) -> None:
    taken = runs("solo-window", rule, 3) + (runs("trio", rule, 2) if rule != "recycle" else [])
    assert len(taken) >= 3
    worlds = ["solo-window"] * 3 + ["trio"] * 2
    stated_of = {world: Stated(world, rule) for world in dict.fromkeys(worlds[: len(taken)])}
    for (state, at), world in zip(taken, worlds, strict=False):
        stated = stated_of[world]
        work, tr = stated.work, stated.tr
        whole = {i: {**m, **{n: None for n in work.level.met if n.of is i}} for i, m in stated.pool.items()}
        solver = told(work, whole).solver
        solver.add(*stated.facts(state, at), *work.theory.literals.values())
        products = tr.products_of(everybody(whole), work.level)
        expected = sums_in(stated, after(stated.layout, LIFECYCLE.rule(rule), at, state))
        before = sums_in(stated, state)
        solver.add(*[solver_term(equality(tr.of(k, ms, END), before[k, ms])) for k, ms in before])
        assert answer_of(solver, products) == z3.sat, f"{rule} from {state}"
        for key, value in stated.after.items():
            solver.push()
            solver.add(solver_term(negation(equality(value, expected[key]))))
            assert answer_of(solver, products) == z3.unsat, f"{key[0]} after {rule} from {state} is {expected[key]}"
            solver.pop()


@pytest.mark.parametrize("rule", ["launch", "recycle", "execute", "retire_token"])
def test_any_place_may_be_the_first_or_the_last_whatever_is_said_of_the_places_beside_it(rule: str) -> None:
    """A proof speaks of the places before and after a named one. What it is told of those is true where there are none."""
    (state, at), *_ = runs("solo-window", rule, 1)
    stated = Stated("solo-window", rule)
    work, place = stated.work, Name(Slot, "s!9")
    beside: Members = {Slot: dict.fromkeys(work.tr.moved(place, by) for by in (-2, -1, 1, 2))}
    near: Members = {**stated.pool, Slot: {**stated.pool[Slot], place: None}}
    whole = {**near, Slot: {**near[Slot], **beside[Slot]}}
    for _ in range(2):
        work.state(near, beside)
    query = told(work, whole)
    query.add([*stated.facts(state, at), *work.theory.literals.values()])
    products = work.tr.products_of(everybody(whole), work.level)
    for position in range(stated.layout.sizes[Slot]):
        with query.aside():
            query.add([solver_term(equality(work.tr.number(place), position))])
            assert answer_of(query.solver, products) == z3.sat, f"no place may be number {position}"


def told(work: Work, members: Members) -> Query:
    """All that a proof about the rule may be told of these members."""
    query = work.query(work.common, work.usual)
    query.tell(everybody(members), work.tr.ground, work.level)
    return query


def answer_of(solver: Any, products: list[Product]) -> Any:
    """The solver's answer, told the laws of products that its models break."""
    while (answer := solver.check()) == z3.sat and (wrong := broken(solver.model(), products)):
        solver.add(*wrong)
    return answer


def sums_after(stated: Stated) -> dict[Any, Any]:
    """Each sum after the rule, in terms of those before."""
    assert stated.work.after is not None
    return {(k, ms): stated.tr.sum_up_to(k, ms, END, stated.work.after) for k, ms in kinds(stated)}


def kinds(stated: Stated) -> list[tuple[Any, tuple[Name, ...]]]:
    return [
        (kind, at)
        for kind in list(stated.tr.sums.values())
        for at in itertools.product(*(stated.members[v.domain] for v in kind.parameters))
    ]


def sums_in(stated: Stated, state: Any) -> dict[Any, int]:
    """What each sum is in a state, by the interpreter."""
    interpreter = Interpreter(stated.layout.world, stated.layout.reader(state, state))
    found = {}
    for kind, at in kinds(stated):
        env = {v: stated.members[v.domain].index(m) for v, m in zip(kind.parameters, at, strict=True)}
        size = stated.layout.sizes[kind.index]
        found[kind, at] = sum(interpreter.value(kind.body, {**env, kind.variable: m}) for m in range(size))
    return found
