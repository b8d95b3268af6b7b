"""The solver's reading agrees with the interpreter: on random terms and rules, and on every edge of small worlds."""

from __future__ import annotations

import itertools
from typing import Any

import pytest
import z3
from hypothesis import given, settings

from checker.search.explore import explore
from checker.search.limits import Limits
from model.language import Model, Property, Term
from model.language.terms import BOOL, Op, Sort, walk
from model.lifecycle import LIFECYCLE
from model.readings.effects import after, false_guards
from model.readings.layout import Layout
from model.readings.python import Machine
from model.readings.sized import Sized
from model.readings.smt import After, Symbolic
from model.readings.solver import solver_term
from model.readings.world import World
from tests.readings.compare import by_interpreter
from tests.readings.draw import SMALL, WORLDS, environment, made, models, states, terms
from tests.readings.test_agreement import QUIET
from tests.search.running import world_of


class Reader:
    """Evaluates the solver's terms about one or two symbolic states in given ones."""

    def __init__(self, model: Model, world: World) -> None:
        self.tr, self.layout = Sized(model, world.values), Layout(model, world)
        self.now, self.then = Symbolic("now "), Symbolic("then ")

        self.constants = [
            [solver_term(self.tr.cell(view, c.field, c.at)) for c in self.layout.cells]
            for view in (self.now, self.then)
        ]

    def numbers(self, values: list[tuple[Any, Sort]], now: Any, then: Any = ()) -> list[int]:
        """The values in these states, as stored numbers; all are evaluated by the solver at once."""
        terms = [solver_term(v) for v, _ in values]
        whole = z3.Function("all of", *(t.sort() for t in terms), z3.BoolSort())(*terms)
        pairs = []
        for constants, state in zip(self.constants, (now, then), strict=True):
            known_values = [solver_term(self.layout.value(state, p)) for p in range(len(state))]
            pairs += list(zip(constants, known_values, strict=False))
        results = z3.simplify(z3.substitute(whole, *pairs)).children()
        return [stored(result, sort) for result, (_, sort) in zip(results, values, strict=True)]


def stored(result: Any, sort: Sort) -> int:
    if z3.is_int_value(result):
        return int(result.as_long())
    if z3.is_bool(result):
        assert z3.is_true(result) or z3.is_false(result), result
        return int(z3.is_true(result))
    return next(n for n, m in enumerate(sort.of) if f"{sort.name}.{m.name}" == str(result))


def test_random_terms() -> None:
    """Interpreted, and translated for the solver and evaluated by it, a term has one value. Every operator is drawn."""
    drawn: set[Op] = set()
    for name in WORLDS:
        drawn |= random_terms(name)
    assert drawn == set(Op)


def random_terms(name: str) -> set[Op]:
    world = made(name)
    reader = Reader(SMALL, world)
    drawn: set[Op] = set()

    @settings(QUIET, max_examples=200)
    @given(terms(), states(reader.layout, 5), environment(reader.layout))
    def agree(term: Term, at: list[tuple[int, ...]], env: dict[Any, int]) -> None:
        drawn.update(t.op for t in walk(term))
        value = reader.tr.value(term, env, reader.now, reader.then)
        for now, then in itertools.pairwise(at):
            assert reader.numbers([(value, term.sort)], now, then) == [
                by_interpreter(reader.layout, term, now, then, env)
            ]

    agree()
    return drawn


@pytest.mark.parametrize("name", WORLDS)
def test_random_rules(name: str) -> None:
    """Guards and effects: the state after, written in terms of the state before, is the state the interpreter reaches."""
    world = made(name)
    fired = 0

    @settings(QUIET, max_examples=10)
    @given(models(), states(Layout(SMALL, world), 4))
    def agree(drawn: tuple[Model, tuple[Property, ...]], at: list[tuple[int, ...]]) -> None:
        nonlocal fired
        fired += compare(Reader(drawn[0], world), at)

    agree()
    assert fired > 20


def compare(reader: Reader, at: list[Any]) -> int:
    """Every instance of every rule in these states; the number of those that may fire."""
    fired = 0
    machine = Machine(reader.layout.model, reader.layout.world, [])
    for instance in machine.instances:
        env = dict(zip(instance.rule.params, instance.at, strict=True))
        enabled = reader.tr.enabled(instance.rule, env, reader.now)
        view = After(instance.rule, env, reader.now)
        cells = [(reader.tr.read(view, c.field, c.at), c.field.sort) for c in reader.layout.cells]
        for state in at:
            free = not false_guards(reader.layout, instance.rule, instance.at, state)
            found, *then = reader.numbers([(enabled, BOOL), *cells], state)
            assert found == free
            if free:
                fired += 1
                assert then == list(after(reader.layout, instance.rule, instance.at, state))
    return fired


@pytest.mark.parametrize(
    ("name", "every"),
    [("solo", 12), ("trio", 800), ("solo-window", 500), ("late-commit-ordered", 1500), ("two-workers", 1500)],
)
def test_the_edges_of_small_worlds(name: str, every: int) -> None:
    """In explored states the relation has the successors that the explorer has, all of them and no others."""
    explored = explore(Machine(LIFECYCLE, world_of(name), [], forgetful=False), limits=Limits(states=15_000))
    reader = Reader(LIFECYCLE, world_of(name))
    chosen = [tuple(s) for s in explored.states[::every]]
    assert compare(reader, chosen) >= len(chosen) // 2
