"""The C reading agrees with the interpreter: random terms in random states, every operator, and whole random models."""

from __future__ import annotations

import ctypes
import itertools
from collections import Counter
from typing import Any

import pytest
from hypothesis import Phase, given, settings

from checker.search.explore import explore
from checker.search.kernel.compiler import library
from checker.search.kernel.search import Compiled
from checker.search.kernel.search import explore as compiled
from checker.search.limits import Limits
from model.language import Model, Property, Term
from model.language.terms import Op, walk
from model.readings.c import CWriter, Spans, Terms, TooWide, outside
from model.readings.ground import Ground, Grounder, addition, cell, constant, multiple
from model.readings.layout import Layout
from model.readings.python import Machine
from tests.language.machines import small_layout, stored
from tests.readings.compare import by_interpreter
from tests.readings.draw import SMALL, WORLDS, environment, made, models, states, terms
from tests.readings.test_agreement import QUIET
from tests.readings.test_complete import ENV, EXAMPLES, STATES
from tests.search.test_kernel import end


class Functions:
    """Terms compiled together, each a function of two states; a compiler called for each would take all day."""

    def __init__(self, layout: Layout, ground: list[Ground]) -> None:
        writer = CWriter(layout)
        lines = [writer.names]
        for number, term in enumerate(ground):
            locals_, (text,) = writer.block([term])
            lines += [f"int f{number}(const int *s, const int *t) {{", *locals_, f"return {text}; }}"]
        self.library = library("\n".join(lines), "-O1")

    def value(self, number: int, now: tuple[int, ...], then: tuple[int, ...]) -> int:
        kind = ctypes.c_int * len(now)
        return int(getattr(self.library, f"f{number}")(kind(*now), kind(*then)))


@pytest.mark.parametrize("name", WORLDS)
def test_random_terms(name: str) -> None:
    layout = Machine(SMALL, made(name)).layout
    drawn: list[tuple[Term, dict[Any, int], list[tuple[int, ...]]]] = []

    @settings(QUIET, max_examples=400)
    @given(terms(), states(layout, 8), environment(layout))
    def draw(term: Term, at: list[tuple[int, ...]], env: dict[Any, int]) -> None:
        drawn.append((term, env, at))

    draw()
    grounder = Grounder(layout)
    functions = Functions(layout, [grounder.term(term, env) for term, env, _ in drawn])
    for number, (term, env, at) in enumerate(drawn):
        for now, then in itertools.pairwise(at):
            assert functions.value(number, now, then) == by_interpreter(layout, term, now, then, env), str(term)
    assert {t.op for term, _, _ in drawn for t in walk(term)} == set(Op)


def test_every_operator() -> None:
    """The examples tell its values apart, as for python."""
    layout = small_layout(jobs=1)
    grounder = Grounder(layout)
    functions = Functions(layout, [grounder.term(EXAMPLES[op], ENV) for op in Op])
    for number, op in enumerate(Op):
        for cells in STATES:
            state = tuple(stored(layout, cells))
            assert functions.value(number, state, state) == by_interpreter(layout, EXAMPLES[op], state, (), ENV)


@pytest.mark.parametrize("name", WORLDS)
def test_random_rules_and_properties(name: str) -> None:
    """What a search counts and finds from a random model's first states on, out of bounds too."""
    seen: Counter[str] = Counter()

    @settings(QUIET, max_examples=20, phases=(Phase.generate,))
    @given(models())
    def agree(drawn: tuple[Model, tuple[Property, ...]]) -> None:
        for symmetry in (True, False):
            machine = Machine(drawn[0], made(name), drawn[1])
            one, other = (search(machine, symmetry, Limits(depth=3)) for search in (compiled, explore))
            assert isinstance(one, Compiled)
            assert end(one) == end(other)
            assert set(one.states) == set(other.states)
            seen["beyond"] += other.beyond
            seen["transitions"] += other.transitions
            seen["alone"] += sum(other.sole.values())
            seen["violated"] += len(other.violations)

    agree()
    assert min(seen[what] for what in ("beyond", "transitions", "alone", "violated")) > 10, seen


# -------------------------------------------------------------------------------------------- spans and text
def test_the_span_of_a_term_is_that_of_its_values() -> None:
    terms_ = Terms()
    spans = Spans(terms_, [(-1, 2), (0, 3)])
    a, b = cell(0), cell(1)
    assert spans.of(terms_.add(addition([a, multiple(-2, b)]))) == (-7, 2)
    assert spans.of(terms_.add(Ground(Op.ITE, (Ground(Op.LT, (a, b)), a, constant(9))))) == (-1, 9)
    assert spans.of(terms_.add(Ground(Op.LE, (a, b)))) == (0, 1)


def test_a_number_that_does_not_fit_is_refused() -> None:
    terms_ = Terms()
    spans = Spans(terms_, [(0, 1)])
    with pytest.raises(TooWide, match="may become 4,294,967,296, and at most 2,147,483,647 fits"):
        spans.of(terms_.add(multiple(1 << 32, cell(0))))
    assert spans.of(terms_.add(multiple((1 << 31) - 1, cell(0)))) == (0, (1 << 31) - 1)


@pytest.mark.parametrize(
    ("span", "said_"),
    [((0, 3), None), ((-1, 3), "(v < 0) | (v > 3)"), ((0, 4), "(v < 0) | (v > 3)"), ((4, 9), "1"), ((-3, -1), "1")],
)
def test_bounds_are_asked_for_only_where_they_can_be_left(span: tuple[int, int], said_: str | None) -> None:
    assert outside("v", 0, 3, span) == said_


def test_what_occurs_twice_is_computed_once() -> None:
    layout = small_layout(jobs=1)
    twice = addition([cell(0), constant(1)])
    statements, (text,) = CWriter(layout).block([Ground(Op.EQ, (twice, multiple(2, twice)))])
    assert len(statements) == 1
    assert text == "(x0 == (2 * x0))"
