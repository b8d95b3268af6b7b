"""The unchanged rules in the shipped worlds: nothing is violated that no world expects, and everything is reached."""

from __future__ import annotations

import pytest

from checker.check import WorldResult, check_world, unreached
from checker.search.explore import Exploration
from checker.verdict import Verdict
from checker.worlds import shipped
from model.language.properties import Shape
from model.lifecycle import LIFECYCLE
from specs.properties import PROPERTIES
from specs.worlds import world_files
from tests.search.running import changed_by, file_of, world_of
from tests.search.second import Rules, breadth_first, lost_after

# The property and the length of the shortest way to it.
EXPECTED = {
    "crowded-no-preemption": {"rest.way-home": 15, "rest.no-dead-end": 18},
    "late-commit-unordered": {
        "memory.settled-is-there": 14,
        "sharing.holds-what-it-claims": 19,
        "memory.reads-own-text": 21,
    },
    "ordered-publish-unordered": {"memory.reads-own-text": 13},
    "ordered-release-unordered": {
        "memory.settled-is-there": 14,
        "sharing.holds-what-it-claims": 18,
        "memory.reads-own-text": 20,
    },
}


@pytest.mark.slow
def test_the_shipped_worlds_together() -> None:
    """One test, since the exploration of all of them is made once and then looked at from several sides."""
    results = [check_world(file, changed_by(), PROPERTIES) for file in shipped(LIFECYCLE)]
    found = {r.file.name: {t.shows: t.length for t in r.traces} for r in results}
    assert found == {name: EXPECTED.get(name, {}) for name in world_files()}
    for result in results:
        assert (result.verdict, result.search.bound, result.skipped) == (Verdict.HOLDS, None, ())

    assert unreached(results) == ()
    # So that nothing counts as reached because it was left out:
    assert {rule for r in results for rule, times in explored(r).fired.items() if times} == {
        r.name for r in LIFECYCLE.rules
    }
    assert {name for r in results for name in explored(r).met} == {
        p.name for p in PROPERTIES if p.shape not in (Shape.REST, Shape.HOME)
    }


def explored(result: WorldResult) -> Exploration:
    assert isinstance(result.search, Exploration)
    return result.search


def test_the_world_without_preemption_fails_as_it_says() -> None:
    result = check_world(file_of("crowded-no-preemption"), changed_by(), PROPERTIES)
    assert {t.shows: t.length for t in result.traces} == EXPECTED["crowded-no-preemption"]
    assert result.as_expected
    assert result.verdict is Verdict.HOLDS


def test_the_interpreter_finds_the_same_dead_end_and_the_same_point_of_no_return() -> None:
    rules = Rules(LIFECYCLE, world_of("crowded-no-preemption"), PROPERTIES)
    assert breadth_first(rules, 18) == {"rest.no-dead-end": 18}
    assert lost_after(rules, "rest.way-home") == 15


def test_with_preemption_nothing_of_it_is_left() -> None:
    result = check_world(file_of("crowded-no-preemption", preemption=True), changed_by(), PROPERTIES)
    assert result.violated == ()
    assert result.verdict is Verdict.HOLDS


@pytest.mark.parametrize("name", world_files())
def test_a_world_says_what_it_is_for(name: str) -> None:
    file = file_of(name)
    assert file.about[0].isupper()
    assert file.about.endswith(".")
    assert file.normal_forms
    assert set(file.expect) <= {p.name for p in PROPERTIES}


def test_worlds_come_smallest_first() -> None:
    sizes = [w.normal_forms or 0 for w in shipped(LIFECYCLE)]
    assert sizes == sorted(sizes)
    assert len(sizes) == len(world_files())
