"""How many states and transitions each shipped world has, counted in three ways that must agree.

The explorer with symmetry, whose normal forms stand for whole orbits; the explorer without; and the second search, which
shares with them the declared rules and the layout of a state, and nothing else (the largest worlds are left to the compiled
one, which counts all of them). All three forget what the model lets a search forget, the second by the interpreter; that
forgetting changes no verdict is for the gate to say (test_reductions.py).
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

# states up to renaming, all states, all transitions; what nobody can read any more is forgotten in all three
COUNTS = {
    "misfit": (657, 1_017, 3_519),
    "solo": (621, 1_109, 3_520),
    "solo-late": (749, 1_327, 4_326),
    "solo-spare": (2_293, 4_189, 14_965),
    "solo-overrun": (2_009, 9_437, 34_479),
    "solo-prefix": (2_133, 10_195, 35_351),
    "two-workers-ordered": (6_294, 18_405, 93_634),
    "two-families-ordered": (21_549, 41_541, 193_874),
    "crowded-no-preemption": (6_698, 24_837, 88_034),
    "two-families": (13_337, 25_297, 112_172),
    "late-commit-unordered": (7_865, 30_818, 114_849),
    "ordered-publish-unordered": (12_257, 47_698, 196_069),
    "solo-window": (14_907, 71_527, 287_640),
    "vllm-sync": (21_439, 83_825, 395_930),
    "ordered-release-unordered": (22_790, 90_122, 358_157),
    "vllm-window": (24_414, 96_650, 388_697),
    "shared-prefix-window": (25_465, 97_133, 470_966),
    "unordered-device": (28_571, 109_533, 538_302),
    "ample": (15_421, 68_877, 343_337),
    "scarce": (19_631, 72_441, 356_562),
    "crowded": (33_272, 124_981, 631_848),
    "two-workers": (33_604, 150_349, 754_886),
    "trio": (15_677, 164_777, 966_622),
    "late-commit-ordered": (43_221, 169_601, 846_092),
    "late-commit": (55_221, 205_689, 1_060_812),
    "shared-prefix": (29_571, 307_209, 1_604_034),
    "ordered-publish": (84_500, 329_665, 1_763_214),
    "window": (91_887, 343_921, 1_860_138),
    "cache-all": (33_800, 363_462, 1_682_277),
    "whole-prompt-shared": (31_450, 336_822, 1_538_973),
    "ordered-release": (95_653, 377_629, 1_966_726),
    "vllm-async": (64_593, 380_356, 1_474_518),
    "overrun": (36_993, 386_212, 1_800_589),
    "unmixed": (52_076, 521_309, 2_834_300),
    "pair": (55_868, 559_613, 3_081_020),
}
SMALL = (
    "solo",
    "misfit",
    "solo-late",
    "solo-spare",
    "solo-overrun",
    "solo-prefix",
    "crowded-no-preemption",
    "two-families",
)

# Above this many states the second search, which needs fifteen seconds for this many, is left to the compiled one, which is
# another program in another language (test_kernel.py holds it to the same numbers); and above more, in all worlds but one, so
# are the explorer's two.
LONG, LONGEST = 90_000, 220_000
COUNTED = [name for name, (_, states, _) in COUNTS.items() if states <= LONGEST or name == "pair"]

# Worlds that only compiled code counts (test_kernel.py), and SPIN without reductions (test_spin.py).
LARGE = {
    "trio-shared-window": (346_405, 3_927_583, 24_917_285),
    "trio-two-tokens": (462_839, 5_167_597, 33_995_717),
    "pair-shared-window": (1_223_045, 13_035_713, 80_720_638),
    "trio-window": (3_075_905, 34_908_937, 246_503_033),
}


def test_every_shipped_world_is_counted() -> None:
    assert {*COUNTS, *LARGE} == set(world_files())


@pytest.mark.parametrize("name", [*COUNTS, *LARGE])
def test_the_file_gives_the_number_of_normal_forms(name: str) -> None:
    assert find(LIFECYCLE, name).normal_forms == (COUNTS | LARGE)[name][0]


@pytest.mark.parametrize(
    "name", [name if name in SMALL else pytest.param(name, marks=pytest.mark.slow) for name in COUNTED]
)
def test_three_counts_agree(name: str) -> None:
    normal_forms, states, transitions = COUNTS[name]
    reduced = explore(machine_of(name))
    assert len(reduced.states) == normal_forms
    assert sum_of_orbits(reduced) == states

    full = explore(machine_of(name), symmetry=False)
    assert (len(full.states), full.transitions) == (states, transitions)

    expected = set(find(LIFECYCLE, name).expect) - {"rest.way-home"}
    assert set(full.violations) == set(reduced.violations) == expected
    if states > LONG:
        return

    second = depth_first(Rules(LIFECYCLE, world_of(name), PROPERTIES, forgetful=True))
    assert (len(second.states), second.transitions) == (states, transitions)
    assert second.states == set(full.states)
    assert second.violated == expected


def sum_of_orbits(reduced: Exploration) -> int:
    assert reduced.symmetry is not None
    renamings = list(reduced.symmetry.renamings())
    assert len(renamings) == reduced.symmetry.size
    return sum(len({rename(state) for rename in renamings}) for state in reduced.states)
