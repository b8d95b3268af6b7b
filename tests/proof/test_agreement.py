"""The solver's reading agrees with the interpreter: on random terms and rules, and on every edge of small worlds."""

from __future__ import annotations

import itertools
from typing import Any

import pytest
import z3
from hypothesis import given, settings

from checker.search.explore import explore
from model.language import Model, Property, Term
from model.language.terms import Op, walk
from model.lifecycle import LIFECYCLE
from model.readings.effects import after, false_guards
from model.readings.layout import Layout, code
from model.readings.python import Machine
from model.readings.sized import Sized
from model.readings.smt import After, Symbolic
from model.readings.solver import known, solver_term
from model.readings.world import World
from tests.readings.compare import by_interpreter
from tests.readings.draw import PARAMS, SMALL, WORLDS, environment, made, models, states, terms
from tests.readings.test_agreement import QUIET
from tests.search.running import world_of


class Reader:
    """Evaluates the solver's terms about one or two symbolic states in given ones."""

    def __init__(self, model: Model, world: World) -> None:
        self.tr, self.layout = Sized(model, world.values), Layout(model, world)
        self.now, self.then = Symbolic("now "), Symbolic("then ")

    def number(self, value: Any, sort: Any, now: Any, then: Any = ()) -> int:
        """The value in these states, as a stored number."""
        if known(value):
            return code(sort, value)
        pairs = []
        for view, state in ((self.now, now), (self.then, then)):
            for place, cell in enumerate(self.layout.cells if state else ()):
                constant = self.tr.cell(view, cell.field, cell.at)
                pairs.append((constant, solver_term(self.layout.value(state, place))))
        result = z3.simplify(z3.substitute(value, *pairs))
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
            assert reader.number(value, term.sort, now, then) == by_interpreter(reader.layout, term, now, then, env)

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
        cells = [(c, reader.tr.read(view, c.field, c.at)) for c in reader.layout.cells]
        for state in at:
            free = not false_guards(reader.layout, instance.rule, instance.at, state)
            assert reader.number(enabled, BOOL_SORT, state) == free
            if free:
                fired += 1
                found = [reader.number(value, c.field.sort, state) for c, value in cells]
                assert found == list(after(reader.layout, instance.rule, instance.at, state))
    return fired


BOOL_SORT = (PARAMS[0] == PARAMS[0]).sort


@pytest.mark.parametrize(
    ("name", "every"),
    [("solo", 12), ("trio", 800), ("solo-window", 500), ("late-commit-ordered", 4000), ("two-workers", 3000)],
)
def test_the_edges_of_small_worlds(name: str, every: int) -> None:
    """In explored states the relation has the successors that the explorer has, all of them and no others."""
    explored = explore(Machine(LIFECYCLE, world_of(name), [], forgetful=False))
    reader = Reader(LIFECYCLE, world_of(name))
    chosen = [tuple(s) for s in explored.states[::every]]
    assert compare(reader, chosen) >= len(chosen) // 2
