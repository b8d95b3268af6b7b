"""No reading lacks an operator: every kind of term there is goes through each of them.

A new member of Op fails here until it has an example, and then until every reading has a case for it.
"""

from __future__ import annotations

import itertools

import pytest

from model.language import Term, before, count, exists, forall, implies, ite, total
from model.language.terms import Moment, Op, Var, free, same, substitute, walk
from model.language.text import SYMBOLS, render
from model.readings.ground import Grounder, places, shift
from model.readings.interpret import evaluate
from model.readings.layout import Layout, code
from model.readings.prose import WORDS, explain, words
from model.readings.python import Writer
from tests.language.machines import small_layout, stored
from tests.language.small import Colour, Job, Place, Small, top, weight

s = Small(Moment.NOW)
j, p = Job.variable("j"), Place.variable("p")

# For each operator a term that has it at the top, its sort being one that a cell can have; NEXT only stands in one.
EXAMPLES: dict[Op, Term] = {
    Op.CONST: ite(s.open, Colour.GREEN, Colour.RED).args[1],
    Op.VAR: forall(Place, lambda i: i == p).args[0].args[1],
    Op.DIAL: weight[j],
    Op.FIELD: s.load[p, j],
    Op.NEXT: p.next,
    Op.NOT: ~s.open,
    Op.AND: s.open & s.busy[j],
    Op.OR: s.open | s.busy[j],
    Op.IMPLIES: implies(s.open, s.busy[j]),
    Op.ITE: ite(s.open, s.turn, Colour.RED),
    Op.EQ: s.turn == Colour.GREEN,
    Op.NE: s.turn != Colour.GREEN,
    Op.LT: s.level[j] < s.balance,
    Op.LE: s.level[j] <= s.balance,
    Op.GT: s.level[j] > s.balance,
    Op.GE: s.level[j] >= s.balance,
    Op.ADD: s.level[j] + s.balance,
    Op.SUB: s.level[j] - s.balance,
    Op.MUL: (top - 1) * s.level[j],
    Op.FORALL: forall(Job, lambda q: s.busy[q]),
    Op.EXISTS: exists(Job, lambda q: s.busy[q]),
    Op.COUNT: count(Job, lambda q: s.busy[q]),
    Op.TOTAL: total(Job, lambda q: s.level[q]),
    Op.BEFORE: before(p, lambda i: s.load[i, j]),
}

# States in which every example takes at least two values, unless it reads none.
STATES = [
    {
        "open": o,
        "busy[j0]": b,
        "level[j0]": level,
        "balance": 1,
        "turn": turn,
        **{f"load[p{m}, j0]": level for m in (0, 1)},
    }
    for o, b, level, turn in itertools.product([0, 1], [0, 1], [0, 1, 2], [0, 1])
]
ENV: dict[Var, int] = {j.data: 0, p.data: 1}
WITHOUT_STATE = {Op.CONST, Op.VAR, Op.DIAL, Op.NEXT}


@pytest.fixture(scope="module")
def layout() -> Layout:
    return small_layout(jobs=1)


def test_every_operator_has_an_example() -> None:
    assert {op: EXAMPLES[op].op for op in Op} == {op: op for op in Op}


@pytest.mark.parametrize("op", Op)
def test_python_agrees_with_the_interpreter(op: Op, layout: Layout) -> None:
    """Each operator is interpreted, grounded and written, and the examples tell its values apart."""
    term = EXAMPLES[op]
    written = Writer(layout, indexed=True).write(Grounder(layout).term(term, ENV))
    values = set()
    for cells in STATES:
        state = stored(layout, cells)
        expected = code(term.sort, evaluate(term, layout.world, ENV, layout.reader(state)))
        assert int(eval(written, {"s": state})) == expected  # noqa: S307
        values.add(expected)
    assert (len(values) == 1) == (op in WITHOUT_STATE)


@pytest.mark.parametrize("op", Op)
def test_a_ground_term_can_be_moved_to_the_state_after(op: Op, layout: Layout) -> None:
    ground = Grounder(layout).term(EXAMPLES[op], ENV)
    moved = shift(ground, Moment.THEN)
    assert places(moved, Moment.NOW) == frozenset()
    assert places(moved, Moment.THEN) == places(ground, Moment.NOW)
    assert shift(moved, Moment.NOW) == ground


@pytest.mark.parametrize("op", Op)
def test_text_and_prose_have_words(op: Op) -> None:
    assert op in SYMBOLS
    assert op in WORDS
    assert render(EXAMPLES[op]) != ""
    assert words(EXAMPLES[op]) != ""


def test_no_two_operators_read_alike() -> None:
    for reading in (render, words):
        texts = [reading(term) for term in EXAMPLES.values()]
        assert len(set(texts)) == len(Op)


def test_words_in_full() -> None:
    assert {op: words(term) for op, term in EXAMPLES.items()} == {
        Op.CONST: "GREEN",
        Op.VAR: "p",
        Op.DIAL: "weight[j]",
        Op.FIELD: "load[p, j]",
        Op.NEXT: "p.next",
        Op.NOT: "not open",
        Op.AND: "open and busy[j]",
        Op.OR: "open or busy[j]",
        Op.IMPLIES: "open implies busy[j]",
        Op.ITE: "(turn if open, else RED)",
        Op.EQ: "turn is GREEN",
        Op.NE: "turn is not GREEN",
        Op.LT: "level[j] < balance",
        Op.LE: "level[j] <= balance",
        Op.GT: "level[j] > balance",
        Op.GE: "level[j] >= balance",
        Op.ADD: "level[j] + balance",
        Op.SUB: "level[j] - balance",
        Op.MUL: "(top - 1) * level[j]",
        Op.FORALL: "(for every Job q: busy[q])",
        Op.EXISTS: "(for some Job q: busy[q])",
        Op.COUNT: "(the number of Jobs q with busy[q])",
        Op.TOTAL: "(the sum over Jobs q of level[q])",
        Op.BEFORE: "(the sum over i before p of load[i, j])",
    }


@pytest.mark.parametrize("op", Op)
def test_a_term_of_each_operator_is_explained_where_it_is_false(op: Op, layout: Layout) -> None:
    """The explanation reads every cell that the term, written out, reads."""
    example = EXAMPLES[op]
    term = example if example.sort.name == "Bool" else ~(example == example)
    state = next(
        stored(layout, c) for c in STATES if not evaluate(term, layout.world, ENV, layout.reader(stored(layout, c)))
    )
    said = explain(layout, term, state, env=dict(ENV))
    assert said.failing != ""
    if op not in (Op.AND, Op.IMPLIES):
        read = {layout.cells[place].text for place in places(Grounder(layout).term(example, ENV), Moment.NOW)}
        assert read <= {r.cell for r in said.readings}


@pytest.mark.parametrize("op", Op)
def test_walks_reach_every_operator(op: Op) -> None:
    """What is generic over terms: walking, comparing, substituting, free variables."""
    term = EXAMPLES[op]
    other = Job.variable("other")
    moved = substitute(term, {j.data: other})
    assert next(walk(term)).op is op
    assert same(term, term)
    assert same(substitute(moved, {other.data: j}), term)
    assert (j.data in free(term)) == (other.data in free(moved)) == (not same(term, moved))
