"""Each seeded fault is noticed, by the property it names, with a shortest trace whose length is known.

The length is found twice: by the explorer, and breadth first by the interpreter in the unreduced world.
"""

from __future__ import annotations

import re

import pytest

from checker.verdict import Verdict
from model.language.edits import Drop, Extend, parts, rule_name
from model.lifecycle import LIFECYCLE
from specs.faults import FAULTS
from specs.properties import PROPERTIES
from specs.worlds import world_files
from tests.search.running import CAUGHT, changed_by, checked, fault_named, world_of
from tests.search.second import Rules, breadth_first, lost_after

HOME = "rest.way-home"
names = pytest.mark.parametrize("name", CAUGHT)


def rules_with(name: str) -> Rules:
    return Rules(changed_by(name).model, world_of(fault_named(name).world), PROPERTIES)


def test_every_fault_has_its_length_here() -> None:
    assert {f.name: f.caught_by for f in FAULTS} == {name: caught_by for name, (caught_by, _) in CAUGHT.items()}


@names
def test_the_explorer_finds_it_in_so_many_steps(name: str) -> None:
    caught_by, length = CAUGHT[name]
    result = checked(name)
    assert result.verdict is Verdict.VIOLATED
    assert {t.shows: t.length for t in result.traces}[caught_by] == length


@names
def test_the_interpreter_finds_it_in_so_many_steps(name: str) -> None:
    caught_by, length = CAUGHT[name]
    if caught_by == HOME:
        assert lost_after(rules_with(name), caught_by) == length
    else:
        assert breadth_first(rules_with(name), length).get(caught_by) == length


@names
def test_the_explorer_finds_all_that_the_interpreter_finds(name: str) -> None:
    """Every property violated within the length, not only the one that the fault is known for."""
    caught_by, length = CAUGHT[name]
    lengths = {t.shows: t.length for t in checked(name).traces if t.length <= length and t.shows != HOME}
    assert lengths == breadth_first(rules_with(name), length)
    assert (caught_by in lengths) == (caught_by != HOME)


@pytest.mark.parametrize("name", [name for name, (caught_by, _) in CAUGHT.items() if caught_by != HOME])
def test_one_step_less_shows_nothing_of_it(name: str) -> None:
    assert CAUGHT[name][0] not in checked(name, less=1).violated


def test_in_the_pool_it_was_made_for_nothing_gets_lost() -> None:
    """The counter-check of the home fault: the unchanged rules have a way home from everywhere."""
    assert lost_after(Rules(LIFECYCLE, world_of("misfit"), PROPERTIES), HOME) is None


# ---------------------------------------------------------------------------------------------- well formed
NAME = re.compile(r"[a-z]+(-[a-z]+)*\Z")


def test_names_are_names_and_each_is_there_once() -> None:
    found = [f.name for f in FAULTS]
    assert len(set(found)) == len(found)
    assert not [n for n in found if not NAME.match(n)]


@names
def test_a_fault_says_what_it_is(name: str) -> None:
    fault = fault_named(name)
    assert fault.about[0].isupper()
    assert fault.about.endswith(".")
    assert fault.changes
    assert fault.caught_by in [p.name for p in PROPERTIES]
    assert fault.world in world_files()


@names
def test_a_fault_has_a_public_source_or_says_that_none_is_known(name: str) -> None:
    """The report may be of a like fault, and may be explained; nothing else may be added to it."""
    source = fault_named(name).source
    report = r"(like )?[\w.+ -]+, https://github\.com/[\w.-]+/[\w.-]+/(pull|issues)/\d+( \([^()]+\))?"
    assert re.fullmatch(report, source) or source.startswith("no public report known; ")


@names
def test_a_fault_changes_what_the_engine_does_and_not_what_is_assumed_of_its_surroundings(name: str) -> None:
    for change in fault_named(name).changes:
        rule = LIFECYCLE.rule(change.rule if isinstance(change, Extend) else rule_name(change.part))
        if not isinstance(change, Extend):
            assert change.part in parts(rule)
            assert change.part not in [f"{rule.name}.{g.name}" for g in rule.guards if g.assumed]


def test_the_model_that_a_fault_changes_stays_as_it_is() -> None:
    before = {r.name: (r.guards, r.updates) for r in LIFECYCLE.rules}
    for fault in FAULTS:
        changed = changed_by(fault.name).model
        assert [r.name for r in changed.rules] == list(before)
        touched = [r.name for r in changed.rules if r is not LIFECYCLE.rule(r.name)]
        assert touched == sorted(
            {c.rule if isinstance(c, Extend) else rule_name(c.part) for c in fault.changes}, key=list(before).index
        )
    assert {r.name: (r.guards, r.updates) for r in LIFECYCLE.rules} == before


@names
def test_only_guards_that_are_dropped_are_missing(name: str) -> None:
    changed = changed_by(name).model
    dropped = {c.part for c in fault_named(name).changes if isinstance(c, Drop)}
    before = {part for rule in LIFECYCLE.rules for part in parts(rule)}
    assert before - {part for rule in changed.rules for part in parts(rule)} == dropped
