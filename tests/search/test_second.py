"""The second search itself: what it remembers changes nothing, and its books are right where they can be done by hand."""

from __future__ import annotations

import pytest

from model.lifecycle import LIFECYCLE
from model.readings.effects import after, false_guards, forgotten, moves
from model.readings.layout import Layout
from specs.properties import PROPERTIES
from tests.search.running import world_of
from tests.search.second import Rules, breadth_first, depth_first, lost_after
from tests.search.states import reachable
from tests.search.toy import TOY, lamps


@pytest.mark.parametrize("name", ["solo", "misfit", "pair", "trio", "solo-prefix", "ordered-publish", "two-workers"])
def test_memory_gives_what_the_interpreter_gives(name: str) -> None:
    world = world_of(name)
    layout = Layout(LIFECYCLE, world)
    rules = Rules(LIFECYCLE, world, PROPERTIES)
    for state in reachable(name, count=150):
        expected = [
            (rule.name, at, tuple(after(layout, rule, at, state)))
            for rule, at in moves(layout)
            if not false_guards(layout, rule, at, state)
        ]
        assert [(m.rule.name, m.at, tuple(then)) for m, then, _ in rules.steps(state)] == expected


@pytest.mark.parametrize("name", ["solo-prefix", "late-commit-unordered", "two-workers", "vllm-window"])
def test_it_forgets_what_the_interpreter_forgets(name: str) -> None:
    rules = Rules(LIFECYCLE, world_of(name), PROPERTIES, forgetful=True)
    layout = Layout(LIFECYCLE, world_of(name))
    forgot = 0
    for state in reachable(name, count=150):
        for _, then, beyond in rules.steps(state):
            assert not beyond
            assert list(rules.kept(then)) == forgotten(layout, then)
            forgot += tuple(rules.kept(then)) != tuple(then)
    assert forgot or not rules.forgets


def test_a_search_that_forgets_nothing_keeps_all() -> None:
    rules = Rules(LIFECYCLE, world_of("late-commit-unordered"), PROPERTIES)
    assert all(
        rules.kept(then) == then for s in reachable("late-commit-unordered", 60) for _, then, _ in rules.steps(s)
    )


def test_the_books_of_two_lamps() -> None:
    # Each lamp is off, on or burnt; on may be switched off, and a burnt one stays: 3 * 3 states, 3 steps a lamp.
    books = depth_first(Rules(TOY, lamps(2)))
    assert len(books.states) == 9
    assert books.transitions == 2 * 3 * 3


def test_lengths_by_hand() -> None:
    properties = [p for p in PROPERTIES if p.name == "delivery.message-once"]
    rules = Rules(LIFECYCLE, world_of("solo"), properties)
    assert breadth_first(rules, 40) == {}
    assert lost_after(Rules(LIFECYCLE, world_of("misfit"), PROPERTIES), "rest.way-home") is None
