"""How many states and transitions each shipped world has, counted in three ways that must agree.

The explorer with symmetry, whose normal forms stand for whole orbits; the explorer without; and the second search, which
shares with them the declared rules and the layout of a state, and nothing else.
"""

from __future__ import annotations

import pytest

from checker.search.explore import Exploration, explore
from checker.worlds import find
from model.lifecycle import LIFECYCLE
from specs.properties import PROPERTIES
from specs.worlds import world_files
from tests.search.running import machine_of, world_of
from tests.search.second import Rules, depth_first

# states up to renaming, all states, all transitions
COUNTS = {
    "solo": (621, 1_109, 3_520),
    "misfit": (657, 1_017, 3_519),
    "crowded-no-preemption": (6_698, 24_837, 88_034),
    "trio": (15_677, 164_777, 966_622),
    "crowded": (33_272, 124_981, 631_848),
    "unmixed": (52_076, 521_309, 2_834_300),
    "pair": (55_868, 559_613, 3_081_020),
}
SMALL = ("solo", "misfit", "crowded-no-preemption")


def test_every_shipped_world_is_counted() -> None:
    assert set(COUNTS) == set(world_files())


@pytest.mark.parametrize("name", COUNTS)
def test_the_file_gives_the_number_of_normal_forms(name: str) -> None:
    assert find(LIFECYCLE, name).normal_forms == COUNTS[name][0]


@pytest.mark.parametrize(
    "name", [name if name in SMALL else pytest.param(name, marks=pytest.mark.slow) for name in COUNTS]
)
def test_three_counts_agree(name: str) -> None:
    normal_forms, states, transitions = COUNTS[name]
    reduced = explore(machine_of(name))
    assert len(reduced.states) == normal_forms
    assert sum_of_orbits(reduced) == states

    full = explore(machine_of(name), symmetry=False)
    assert (len(full.states), full.transitions) == (states, transitions)

    second = depth_first(Rules(LIFECYCLE, world_of(name), PROPERTIES))
    assert (len(second.states), second.transitions) == (states, transitions)
    assert second.states == set(full.states)

    expected = set(find(LIFECYCLE, name).expect) - {"rest.way-home"}
    assert second.violated == set(full.violations) == set(reduced.violations) == expected


def sum_of_orbits(reduced: Exploration) -> int:
    assert reduced.symmetry is not None
    renamings = list(reduced.symmetry.renamings())
    assert len(renamings) == reduced.symmetry.size
    return sum(len({rename(state) for rename in renamings}) for state in reduced.states)
