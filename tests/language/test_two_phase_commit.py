"""A model that is no server: the language, the python reading and the search do not know what they are used for."""

from __future__ import annotations

import pytest

from checker.search.explore import Exploration, explore
from model.language.edits import Drop, changed
from model.language.model import Model
from model.readings.python import Machine
from model.readings.world import world
from tests.language.two_phase_commit import TWO_PHASE, consistent

CONSISTENT = "two-phase-commit.consistent"


def explored(managers: int, symmetry: bool, declared: Model = TWO_PHASE) -> Exploration:
    made = world(declared, f"{managers} managers", {"managers": managers})
    return explore(Machine(declared, made, [consistent]), symmetry=symmetry)


@pytest.mark.parametrize(
    ("managers", "symmetry", "states"),
    [(3, False, 288), (5, False, 8832), (3, True, 80), (5, True, 314)],
)
def test_known_state_counts(managers: int, symmetry: bool, states: int) -> None:
    """288 and 8,832 are stateright's counts. It gives 665 for five with symmetry: its representative is not exact."""
    found = explored(managers, symmetry)
    assert found.complete
    assert len(found.states) == len(set(found.states)) == states


@pytest.mark.parametrize("symmetry", [False, True])
def test_managers_agree(symmetry: bool) -> None:
    found = explored(3, symmetry)
    assert found.violations == {}
    assert found.met == (CONSISTENT,)


# The shortest way to break agreement, for each guard that is taken away; None if it cannot be broken.
STEPS = {
    "tm_rcv_prepared.undecided": None,
    "tm_rcv_prepared.sent": 6,  # three are taken for prepared, commit, one hears of it, another chooses to abort
    "tm_commit.undecided": 10,  # three prepare, three are heard, abort, commit, and two hear different messages
    "tm_commit.all-prepared": 3,  # commit, one hears of it, another chooses to abort
    "tm_abort.undecided": 10,  # as for tm_commit.undecided, in the other order
    "rm_prepare.working": None,  # who prepares again forgets what it decided, and cannot abort any more
    "rm_choose_to_abort.working": 9,  # three prepare, three are heard, commit, one hears of it, another aborts
    "rm_rcv_commit.sent": 2,  # one commits unasked, another chooses to abort
    "rm_rcv_abort.sent": 9,  # as for rm_choose_to_abort.working
}


@pytest.mark.parametrize("symmetry", [False, True])
@pytest.mark.parametrize("part", STEPS)
def test_shortest_way_to_disagree_without_a_guard(part: str, symmetry: bool) -> None:
    found = explored(3, symmetry, changed(TWO_PHASE, Drop(part)))
    steps = found.violations[CONSISTENT].depth if found.violations else None
    assert steps == STEPS[part]


def test_every_guard_was_taken_away() -> None:
    assert list(STEPS) == [f"{r.name}.{g.name}" for r in TWO_PHASE.rules for g in r.guards]


@pytest.mark.parametrize(("managers", "states"), [(3, 288), (5, 8832)])
def test_orbits_of_normal_forms_are_all_states(managers: int, states: int) -> None:
    """Renaming the members of each normal form gives every reachable state, each exactly once."""
    reduced = explored(managers, symmetry=True)
    assert reduced.symmetry is not None
    renamings = list(reduced.symmetry.renamings())
    assert len(renamings) == reduced.symmetry.size
    orbits = [{renamed(state) for renamed in renamings} for state in reduced.states]
    assert sum(len(orbit) for orbit in orbits) == states
    assert set().union(*orbits) == set(explored(managers, symmetry=False).states)
