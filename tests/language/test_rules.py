"""What a recorded rule knows of itself, and what its words mean."""

from __future__ import annotations

import itertools
from pathlib import Path

import pytest

from model.language import (
    among,
    assume,
    before,
    count,
    enabled,
    every,
    every_of,
    forall,
    guard,
    implies,
    ite,
    note,
    rule,
    total,
)
from model.language.terms import Moment, free, same
from tests.language.machines import changes, small_layout, stored, value
from tests.language.small import Amount, Colour, Job, Place, Small, Who, strict

now = Small(Moment.NOW)
j, p = Job.variable("j"), Place.variable("p")


@rule(by=Who.WORKER, fair=True, needs=strict)
def start(now: Small, after: Small, j: Job, n: Amount) -> None:
    """The job takes something and is busy."""
    guard("idle", ~now.busy[j])
    assume("enough", n <= now.balance)
    note("left", now.balance - n)
    after.busy[j] = True
    after.balance = now.balance - n
    after.extra[j] = now.level[j]


@rule(by=Who.WORKER)
def shift(now: Small, after: Small) -> None:
    for p in every(Place):
        after.lit[p] = now.lit[p.next]
        after.paint[p.next] = now.paint[p]
        for j in every(Job):
            after.load[p, j] = now.load[p.next, j]


@rule(by=Who.WORKER)
def ends(now: Small, after: Small, j: Job) -> None:
    after.lit[Place.first()] = False
    after.lit[Place.first().next] = now.busy[j]
    after.load[Place.first(), j] = 0


# ------------------------------------------------------------------------------------- what a rule knows
def test_a_rule_is_data() -> None:
    assert (start.name, start.by, start.fair, start.needs) == ("start", Who.WORKER, True, strict)
    assert start.doc == "The job takes something and is busy."
    assert [(v.name, v.domain) for v in start.params] == [("j", Job), ("n", Amount)]
    assert [(g.name, str(g.condition), g.assumed) for g in start.guards] == [
        ("idle", "~busy[j]", False),
        ("enough", "n <= balance", True),
    ]
    assert [(n.name, str(n.value)) for n in start.notes] == [("left", "balance - n")]
    assert start.state is Small
    assert (shift.fair, str(shift.needs), shift.doc) == (False, "True", "")


def test_a_rule_knows_its_lines() -> None:
    lines = Path(__file__).read_text().splitlines()
    line = next(n for n, text in enumerate(lines, 1) if text.startswith("def start("))
    assert start.where == f"tests/language/test_rules.py:{line - 1}"
    assert [g.where for g in start.guards] == [f"tests/language/test_rules.py:{line + k}" for k in (2, 3)]
    assert [u.where for u in start.updates] == [f"tests/language/test_rules.py:{line + k}" for k in (5, 6, 7)]


def test_reads_and_writes() -> None:
    assert start.reads() == {"busy", "balance", "level"}
    assert start.writes() == {"busy", "balance", "extra"}
    assert shift.reads() == shift.writes() == frozenset({"lit", "paint", "load"})
    assert ends.reads() == {"busy"}
    assert ends.writes() == {"lit", "load"}


def test_update_names() -> None:
    assert start.update_names() == ("start/busy", "start/balance", "start/extra")
    assert ends.update_names() == ("ends/lit[p0]", "ends/lit[p0.next]", "ends/load")


def test_a_rule_runs_its_function_once() -> None:
    runs = []

    @rule(by=Who.WORKER)
    def act(now: Small, after: Small) -> None:
        runs.append(now)
        after.open = True

    assert changes(act, (), {}) == {"open": 1}
    assert len(runs) == 1


def test_a_rule_without_guards_may_always_fire() -> None:
    assert str(enabled(ends, j)) == "True & True"


# ------------------------------------------------------------------------------------------------ effects
def test_right_sides_read_the_state_before() -> None:
    @rule(by=Who.WORKER)
    def exchange(now: Small, after: Small) -> None:
        after.balance = ite(now.open, 1, 0)
        after.open = now.balance == 2

    assert changes(exchange, (), {"balance": 2}) == {"balance": 0, "open": 1}
    assert changes(exchange, (), {"balance": 0, "open": 1}) == {"balance": 1, "open": 0}


def test_every_is_one_update_for_all_members() -> None:
    @rule(by=Who.WORKER)
    def level_out(now: Small, after: Small) -> None:
        for j in every(Job):
            after.level[j] = total(Job, lambda k: now.level[k]) - now.level[j]

    assert [(str(u.value), [v.name for v in u.bound]) for u in level_out.updates] == [
        ("total(Job k: level[k]) - level[j]", ["j"])
    ]
    assert changes(level_out, (), {"level[j0]": 3, "level[j1]": 1}) == {"level[j0]": 1, "level[j1]": 3}


def test_loops_inside_loops() -> None:
    @rule(by=Who.WORKER)
    def fill(now: Small, after: Small) -> None:
        for p in every(Place):
            after.lit[p] = False
            for j in every(Job):
                after.load[p, j] = 2 + ite(now.busy[j], 1, 0)
        for j in every(Job):
            after.busy[j] = True

    assert [[v.name for v in u.bound] for u in fill.updates] == [["p"], ["p", "j"], ["j"]]
    assert changes(fill, (), {"busy[j1]": 1}, places=2) == {
        "lit[p0]": 0,
        "lit[p1]": 0,
        "load[p0, j0]": 2,
        "load[p1, j0]": 2,
        "load[p0, j1]": 3,
        "load[p1, j1]": 3,
        "busy[j0]": 1,
    }


def test_a_loop_over_an_index_that_is_a_parameter_too() -> None:
    @rule(by=Who.WORKER)
    def only(now: Small, after: Small, j: Job) -> None:
        for k in every(Job):
            after.busy[k] = k == j

    assert [(str(u.indices[0]), str(u.value)) for u in only.updates] == [("jj", "jj == j")]
    assert changes(only, (1,), {"busy[j0]": 1}) == {"busy[j0]": 0, "busy[j1]": 1}


def test_past_the_end_reads_are_initial_and_writes_do_nothing() -> None:
    """lit begins True (1), paint GREEN (1), load 1."""
    dark = {f"lit[p{m}]": 0 for m in range(3)} | {f"load[p{m}, j{k}]": 3 for m in range(3) for k in range(2)}
    painted = {"paint[p0]": 0, "paint[p1]": 2, "paint[p2]": 2}
    assert changes(shift, (), dark | painted) == {
        "lit[p2]": 1,
        "paint[p1]": 0,  # and what p2 had goes nowhere
        "load[p2, j0]": 1,
        "load[p2, j1]": 1,
    }


def test_far_past_the_end() -> None:
    last = {p.data: 2}
    for beyond in (p.next, p.next.next, p.next.next.next):
        assert value(now.lit[beyond], {"lit[p2]": 0}, last) is True
        assert value(now.paint[beyond], {}, last) is Colour.GREEN
        assert value(now.load[beyond, j], {"load[p2, j0]": 3}, {**last, j.data: 0}) == 1
    assert value(now.lit[p.next], {"lit[p2]": 0}, {p.data: 1}) is False
    assert value(now.lit[Place.first().next], {}, places=1) is True


# ------------------------------------------------------------------------------------------------- words
@pytest.mark.parametrize(("stop", "sum_before"), [(0, 0), (1, 1), (2, 1 + 2), (3, 1 + 2 + 3)])
def test_before_is_the_sum_over_earlier_members(stop: int, sum_before: int) -> None:
    loads = {"load[p0, j0]": 1, "load[p1, j0]": 2, "load[p2, j0]": 3}
    env = {j.data: 0, p.data: max(stop - 1, 0)}
    until = p.next if stop else p
    assert value(before(until, lambda i: now.load[i, j]), loads, env) == sum_before


def test_before_the_first_and_far_past_the_last() -> None:
    assert value(before(Place.first(), lambda i: 1), {}) == 0
    assert value(before(p.next.next, lambda i: 1), {}, {p.data: 2}) == 3


def test_words_for_sums_and_choices() -> None:
    cells = {"level[j0]": 3, "busy[j1]": 1}
    assert value(total(Job, lambda k: now.level[k] + 1), cells) == 5
    assert value(count(Job, lambda k: now.busy[k] | (now.level[k] == 3)), cells) == 2
    assert value(among(now.level[j], 1, 3), cells, {j.data: 0}) is True
    assert value(among(now.level[j], 1, 2), cells, {j.data: 0}) is False
    assert [value(implies(a, b), {}) for a, b in itertools.product([True, False], repeat=2)] == [
        True,
        False,
        True,
        True,
    ]
    assert value(every_of(), {}) is True
    assert value(every_of(now.busy[j]), cells, {j.data: 1}) is True
    assert value(every_of(True, now.busy[j], True), cells, {j.data: 0}) is False


def test_enabled_is_the_guards_and_the_needs() -> None:
    """Also the assumed guards. What a rule does not take is chosen, and what it takes is put into its place."""

    @rule(by=Who.WORKER, needs=strict)
    def pair(now: Small, after: Small, j: Job, k: Job) -> None:
        guard("busy", now.busy[j])
        assume("other", ~now.busy[k])
        after.open = True

    one, two = Job.variable("one"), Job.variable("two")
    some = enabled(pair, one)
    assert str(enabled(pair, two, one)) == "busy[two] & ~busy[one] & strict"
    assert str(some) == "exists(Job k: busy[one] & ~busy[k]) & strict"
    assert [v.name for v in free(some)] == ["one"]
    for first, second in itertools.product([0, 1], repeat=2):
        busy = {"busy[j0]": first, "busy[j1]": second}
        assert value(some, busy, {one.data: 0}, strict=True) is bool(first and not second)
        assert value(enabled(pair), busy, strict=True) is (first != second)
        assert value(enabled(pair), busy, strict=False) is False


def test_enabled_does_not_mix_up_variables_of_one_name() -> None:
    @rule(by=Who.WORKER)
    def alone(now: Small, after: Small, j: Job) -> None:
        guard("alone", forall(Job, lambda k: (k == j) | ~now.busy[k]))
        after.open = True

    k = Job.variable("k")
    for first, second, member in itertools.product([0, 1], repeat=3):
        busy = {"busy[j0]": first, "busy[j1]": second}
        other = second if member == 0 else first
        assert value(enabled(alone, k), busy, {k.data: member}) is (other == 0)


def test_same_is_equality_of_terms() -> None:
    everyone = forall(Job, lambda q: now.busy[q])
    assert same(everyone, forall(Job, lambda other: now.busy[other]))
    assert same(now.level[j] + 1, now.level[j] + 1)
    for a, b in [
        (now.level[j] + 1, now.level[j] + 2),
        (now.level[j] + 1, now.level[j] - 1),
        (now.level[j], now.level[Job.variable("j")]),
        (now.open, Small(Moment.THEN).open),
        (everyone, forall(Job, lambda q: now.busy[j])),
        (forall(Job, lambda q: now.open), forall(Place, lambda q: now.open)),
        (now.open == True, now.open == False),  # noqa: E712
    ]:
        assert not same(a, b)
        assert same(a, a)


def test_the_small_state_is_what_the_tests_take_it_for() -> None:
    layout = small_layout()
    assert {c.text: c.initial for c in layout.cells if c.initial} == {
        **{f"lit[p{m}]": 1 for m in range(3)},
        **{f"paint[p{m}]": 1 for m in range(3)},
        **{f"load[p{m}, j{k}]": 1 for m in range(3) for k in range(2)},
        "turn": 2,
    }
    assert stored(layout, {"turn": 0})[[c.text for c in layout.cells].index("turn")] == 0
