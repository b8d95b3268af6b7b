"""Each fault of the catalogue is refuted by `prove`, with a counterexample that is real: with a trace."""

from __future__ import annotations

import re

import pytest

from tests.cli.conftest import Cli
from tests.search.running import CAUGHT

# Where induction stops before the property that must catch the fault: at an auxiliary invariant. A lost way home is no
# property of states or steps, and what is committed too late breaks counters only after what admit takes for granted.
SOONER = {"admit-what-never-fits": "rest.admitted-fits", "admit-with-result-due": "late.waited-for"}
HARD = {"executed-after-one-worker", "overtakes-own-step"}  # 20 seconds instead of two


@pytest.mark.parametrize("name", [pytest.param(n, marks=[pytest.mark.slow] * (n in HARD)) for n in CAUGHT])
def test_a_fault_is_refuted_and_real(cli: Cli, name: str) -> None:
    caught_by, length = CAUGHT[name]
    broken = SOONER.get(name, caught_by)
    ran = cli("prove", "--fault", name)
    assert ran.code == 1
    assert re.fullmatch(f"violated: {re.escape(broken)}(, [a-z.-]+)*, with a trace", ran.last)
    (steps,) = re.findall(rf"^{re.escape(broken)} is violated after (\d+) steps? in the world ", ran.out, re.MULTILINE)
    if broken == caught_by:
        assert int(steps) >= length, "no run is shorter than the one that exploring found"
