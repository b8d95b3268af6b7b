"""The C reading agrees with the interpreter: random terms in random states, every operator, and whole random models."""

from __future__ import annotations

import ctypes
import itertools
from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Any

import pytest
from hypothesis import Phase, given, settings

from checker.search.explore import explore
from checker.search.kernel.binding import world
from checker.search.kernel.search import Compiled
from checker.search.kernel.search import explore as compiled
from checker.search.limits import Limits
from model.language import Model, Property, Term
from model.language.terms import Op, walk
from model.readings.c import CWriter, Spans, Terms, TooWide, lane, outside
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
    """Terms compiled together, each a function of many states; a compiler called for each would take all day.

    Each in the narrowest lanes that it fits, and again in wider ones; as a number, and as a truth value where it is one.
    """

    def __init__(self, layout: Layout, ground: list[Ground]) -> None:
        self.layout, self.libraries = layout, {}
        texts: dict[str, list[str]] = {"int8_t": [], "int16_t": [], "int32_t": []}
        self.narrowest: list[str] = []
        for number, term in enumerate(ground):
            writer = CWriter(layout)
            spans = Spans(writer.terms, [(c.low, c.high) for c in layout.cells])
            root = writer.terms.add(term)
            spans.of(root)
            self.narrowest.append(lane(spans.hull, *((c.low, c.high) for c in layout.cells)))
            locals_, (text,) = writer.numbers([term])
            body = [f"void f{number}(const V *s, const V *t, V *r) {{", *locals_, f"*r = {text}; }}"]
            if writer.is_truth(root):
                locals_, (text,) = writer.truths([term])
                body += [f"uint64_t truth{number}(const V *s, const V *t) {{", *locals_, f"return bits({text}); }}"]
            for kind in list(texts)[list(texts).index(self.narrowest[-1]) :]:
                texts[kind] += body
        for kind, lines in texts.items():
            lines.append("int size(void) { return VECTOR; }")
            self.libraries[kind] = world("\n".join(['#include "lanes.h"', CWriter(layout).names, *lines]), 1, kind)

    def values(self, number: int, pairs: list[tuple[tuple[int, ...], tuple[int, ...]]]) -> Iterator[list[int]]:
        """What the term is for each pair of states, as each of the libraries that have it says."""
        for kind in list(LANES)[list(LANES).index(self.narrowest[number]) :]:
            library, size = self.libraries[kind], int(self.libraries[kind].size())
            lanes = size // ctypes.sizeof(LANES[kind])
            few = [pairs[at : at + lanes] for at in range(0, len(pairs), lanes)]
            numbers, truths = [], []
            for part in few:
                now, then = (vectors(LANES[kind], size, [pair[moment] for pair in part]) for moment in (0, 1))
                result = vectors(LANES[kind], size, [(0,)])
                getattr(library, f"f{number}")(now, then, result)
                numbers += list(result[: len(part)])
                if hasattr(library, f"truth{number}"):
                    truth = getattr(library, f"truth{number}")
                    truth.restype = ctypes.c_uint64
                    holds = int(truth(now, then))
                    truths += [holds >> at & 1 for at in range(len(part))]
            yield numbers
            yield truths or numbers


LANES: dict[str, Any] = {"int8_t": ctypes.c_int8, "int16_t": ctypes.c_int16, "int32_t": ctypes.c_int32}


def vectors(kind: Any, size: int, states: Sequence[tuple[int, ...]]) -> Any:
    """The states side by side, the first ones again where there are too few, at an address that a vector may have."""
    cells = len(states[0])
    room = (ctypes.c_char * (size * (cells + 1)))()
    lanes = size // ctypes.sizeof(kind)
    made = (kind * (lanes * cells)).from_buffer(room, -ctypes.addressof(room) % size)
    for place in range(cells):
        for at in range(lanes):
            made[lanes * place + at] = states[at % len(states)][place]
    return made


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
        pairs = list(itertools.pairwise(at))
        wanted = [by_interpreter(layout, term, now, then, env) for now, then in pairs]
        assert all(found == wanted for found in functions.values(number, pairs)), str(term)
    assert {t.op for term, _, _ in drawn for t in walk(term)} == set(Op)


def test_every_operator() -> None:
    """The examples tell its values apart, as for python."""
    layout = small_layout(jobs=1)
    grounder = Grounder(layout)
    functions = Functions(layout, [grounder.term(EXAMPLES[op], ENV) for op in Op])
    pairs = [(state, state) for state in (tuple(stored(layout, cells)) for cells in STATES)]
    for number, op in enumerate(Op):
        wanted = [by_interpreter(layout, EXAMPLES[op], state, (), ENV) for state, _ in pairs]
        assert all(found == wanted for found in functions.values(number, pairs))


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
    [
        ((0, 3), None),
        ((-1, 3), "((v < K(0)) | (v > K(3)))"),
        ((0, 4), "((v < K(0)) | (v > K(3)))"),
        ((4, 9), "K(-1)"),
        ((-3, -1), "K(-1)"),
    ],
)
def test_bounds_are_asked_for_only_where_they_can_be_left(span: tuple[int, int], said_: str | None) -> None:
    assert outside("v", 0, 3, span) == said_


def test_what_occurs_twice_is_computed_once() -> None:
    layout = small_layout(jobs=1)
    twice = addition([cell(0), constant(1)])
    statements, (text,) = CWriter(layout).truths([Ground(Op.EQ, (twice, multiple(2, twice)))])
    assert len(statements) == 1
    assert text == "(x0 == (K(2) * x0))"


def test_a_lane_is_as_wide_as_it_must_be() -> None:
    assert [lane((0, high)) for high in (127, 128, 32_767, 32_768)] == ["int8_t", "int16_t", "int16_t", "int32_t"]
    assert lane((-128, 0), (0, 5)) == "int8_t"
    assert lane((0, 5), (-129, 0)) == "int16_t"
