"""The generated python agrees with the plain interpreter: on random terms, on random rules and properties."""

from __future__ import annotations

import itertools
from collections import Counter
from typing import Any

import pytest
from hypothesis import HealthCheck, Phase, given, settings

from model.language import Model, Property, Term
from model.language.terms import Op, walk
from model.readings.ground import Grounder
from model.readings.layout import Layout
from model.readings.python import Machine, Writer
from tests.readings.compare import by_interpreter, compare
from tests.readings.draw import SMALL, WORLDS, environment, made, models, states, terms

QUIET = settings(
    derandomize=True,
    database=None,
    deadline=None,
    phases=(Phase.generate, Phase.shrink),
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large, HealthCheck.large_base_example],
)


# --------------------------------------------------------------------------------------------------- terms
@pytest.mark.parametrize("name", WORLDS)
def test_random_terms(name: str) -> None:
    """Interpreted, and written out for the world, a term has one value. Every operator is drawn."""
    machine = Machine(SMALL, made(name))
    layout, grounder, writer = machine.layout, Grounder(machine.layout), Writer(machine.layout, indexed=True)
    drawn: set[Op] = set()

    @settings(QUIET, max_examples=400)
    @given(terms(), states(layout, 11), environment(layout))
    def agree(term: Term, at: list[tuple[int, ...]], env: dict[Any, int]) -> None:
        drawn.update(t.op for t in walk(term))
        text = writer.write(grounder.term(term, env))
        written = compile(text, text, "eval")
        for now, then in itertools.pairwise(at):
            expected = by_interpreter(layout, term, now, then, env)
            assert int(eval(written, {"s": now, "t": then})) == expected, (text, now, then)  # noqa: S307

    agree()
    assert drawn == set(Op)


# ------------------------------------------------------------------------------------ rules and properties
@pytest.mark.parametrize("name", WORLDS)
def test_random_rules_and_properties(name: str) -> None:
    layout = Layout(SMALL, made(name))
    seen: Counter[str] = Counter()

    # A drawn model takes minutes to shrink, and its machine shows what it does anyway.
    @settings(QUIET, max_examples=60, phases=(Phase.generate,))
    @given(models(), states(layout, 6))
    def agree(drawn: tuple[Model, tuple[Property, ...]], at: list[tuple[int, ...]]) -> None:
        machine = Machine(drawn[0], layout.world, drawn[1])
        seen.update(compare(machine, [machine.pack(state) for state in at]))

    agree()
    for what in ("step", "beyond", "alone", "sound state", "broken step", "broken state after a sound one"):
        assert seen[what] > 0, seen
