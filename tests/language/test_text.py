"""A printed term reads as it was written: with the parentheses that Python needs, and no others."""

from __future__ import annotations

import pytest

from model.language import Term, before, count, exists, forall, implies, ite, total
from model.language.terms import Moment, Op
from model.language.text import render
from tests.language.small import Amount, Colour, Job, Place, Small, shade, strict, top, weight

s, then = Small(Moment.NOW), Small(Moment.THEN)
j, k, p, n = Job.variable("j"), Job.variable("k"), Place.variable("p"), Amount.variable("n")
a, b, c = s.busy[j], s.busy[k], s.open
x, y, z = s.level[j], s.level[k], s.balance

WRITTEN: list[tuple[Term, str]] = [
    # what stands alone
    (a, "busy[j]"),
    (c, "open"),
    (then.open, "then.open"),
    (then.load[p.next, j], "then.load[p.next, j]"),
    (s.lit[Place.first()], "lit[p0]"),
    (s.lit[Place.first().next], "lit[p0.next]"),
    (s.lit[p.next.next], "lit[p.next.next]"),
    (n + 0, "n + 0"),
    (weight[j] + top, "weight[j] + top"),
    (s.turn == shade, "turn == shade"),
    (s.turn != Colour.GREEN, "turn != GREEN"),
    (c == True, "open == True"),  # noqa: E712
    # logic
    ((a | b) & c, "(busy[j] | busy[k]) & open"),
    (a | (b & c), "busy[j] | busy[k] & open"),
    ((a & b) | c, "busy[j] & busy[k] | open"),
    (a & b & c, "busy[j] & busy[k] & open"),
    (a & (b & c), "busy[j] & (busy[k] & open)"),
    (a | b | c, "busy[j] | busy[k] | open"),
    (a | (b | c), "busy[j] | (busy[k] | open)"),
    (~a, "~busy[j]"),
    (~~a, "~~busy[j]"),
    (~(a & b), "~(busy[j] & busy[k])"),
    (~a & b, "~busy[j] & busy[k]"),
    (~(x == y), "~(level[j] == level[k])"),
    (~(a == b), "~(busy[j] == busy[k])"),
    (~a == b, "~busy[j] == busy[k]"),
    (~forall(Job, lambda q: s.busy[q]), "~forall(Job q: busy[q])"),
    (implies(a, b), "busy[j] implies busy[k]"),
    (implies(a & b, c | a), "busy[j] & busy[k] implies open | busy[j]"),
    (implies(a, implies(b, c)), "busy[j] implies (busy[k] implies open)"),
    (implies(implies(a, b), c), "busy[j] implies busy[k] implies open"),
    (implies(a, b) & c, "(busy[j] implies busy[k]) & open"),
    (~implies(a, b), "~(busy[j] implies busy[k])"),
    # comparisons
    ((x == y) & (y < z), "(level[j] == level[k]) & (level[k] < balance)"),
    ((x <= 1) | (x >= 3), "(level[j] <= 1) | (level[j] >= 3)"),
    ((x == y) == c, "(level[j] == level[k]) == open"),
    (c == (x == y), "open == (level[j] == level[k])"),
    ((x > y) != (y > x), "(level[j] > level[k]) != (level[k] > level[j])"),
    ((a & b) == (b & a), "busy[j] & busy[k] == busy[k] & busy[j]"),
    (implies(a, b) == c, "(busy[j] implies busy[k]) == open"),
    (x + y < z - 1, "level[j] + level[k] < balance - 1"),
    (p < p.next, "p < p.next"),
    # arithmetic
    (x - (y - z), "level[j] - (level[k] - balance)"),
    ((x - y) - z, "level[j] - level[k] - balance"),
    (x - (y + z), "level[j] - (level[k] + balance)"),
    (x + (y - z), "level[j] + (level[k] - balance)"),
    (x - y + z, "level[j] - level[k] + balance"),
    (2 * (x + y), "2 * (level[j] + level[k])"),
    (2 * x + y, "2 * level[j] + level[k]"),
    (x + y * 2, "level[j] + level[k] * 2"),
    (x * 2 * top, "level[j] * 2 * top"),
    (x * (2 * top), "level[j] * (2 * top)"),
    (5 - x, "5 - level[j]"),
    (x - -1, "level[j] - -1"),
    # choices
    (ite(a, x, y), "ite(busy[j], level[j], level[k])"),
    (ite(a, ite(b, 1, 2), 3) + 1, "ite(busy[j], ite(busy[k], 1, 2), 3) + 1"),
    (ite(a | b, x + y, x - y), "ite(busy[j] | busy[k], level[j] + level[k], level[j] - level[k])"),
    (ite(a, b, c) & c, "ite(busy[j], busy[k], open) & open"),
    (ite(a, Colour.RED, s.turn) == shade, "ite(busy[j], RED, turn) == shade"),
    # quantifiers
    (forall(Job, lambda q: s.busy[q] | c), "forall(Job q: busy[q] | open)"),
    (exists(Place, lambda i: s.lit[i]) & c, "exists(Place i: lit[i]) & open"),
    (count(Job, lambda q: s.busy[q]) * top, "count(Job q: busy[q]) * top"),
    (total(Job, lambda q: s.level[q] + 1) < top, "total(Job q: level[q] + 1) < top"),
    (before(p, lambda i: s.load[i, j]), "before(p, i: load[i, j])"),
    (before(p.next, lambda i: 1) - 1, "before(p.next, i: 1) - 1"),
    (
        forall(Job, lambda q: exists(Place, lambda i: s.load[i, q] > 0)),
        "forall(Job q: exists(Place i: load[i, q] > 0))",
    ),
    (implies(strict, forall(Job, lambda q: s.extra[q] == 1)), "strict implies forall(Job q: extra[q] == 1)"),
]


@pytest.mark.parametrize(("term", "text"), WRITTEN)
def test_a_term_reads_as_it_was_written(term: Term, text: str) -> None:
    assert str(term) == text


def test_every_operator_has_an_example() -> None:
    found: set[Op] = set()
    todo = [term for term, _ in WRITTEN]
    while todo:
        top_most = todo.pop()
        found.add(top_most.op)
        todo += top_most.args
    assert found == set(Op)


def test_different_terms_of_the_list_read_differently() -> None:
    """Parentheses that are left out must not make two terms alike."""
    texts = [text for _, text in WRITTEN]
    assert len(texts) == len(set(texts))


def test_variables_and_fields_under_other_names() -> None:
    term = forall(Job, lambda q: (s.level[q] < x) | (then.level[q] == 0))
    text = render(term, names={j.data: "r7"}, field=lambda name, moment: f"{name}@{moment.value}")
    assert text == "forall(Job q: (level@now[q] < level@now[r7]) | (level@then[q] == 0))"
