"""SPIN, which shares nothing with us but the exported model, counts the same states and finds the same faults."""

from __future__ import annotations

import re
import shutil
import subprocess
from pathlib import Path

import pytest

from benchmarks.peer_model import INVARIANTS, PEER, SIZES, peer_world
from checker.search.kernel import search as kernel
from model.lifecycle import LIFECYCLE
from model.readings.promela import promela
from model.readings.python import Machine
from model.readings.world import world
from specs.properties import PROPERTIES
from tests.language.two_phase_commit import TWO_PHASE, consistent
from tests.search import toy
from tests.search.running import CAUGHT, changed_by, fault_named, world_of
from tests.search.test_counts import LARGE
from tests.search.test_reductions import SMALL

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(shutil.which("spin") is None or shutil.which("cc") is None, reason="SPIN is not installed"),
]


def spin(place: Path, machine: Machine, *flags: str) -> dict[str, int]:
    """What SPIN says of the exported machine: states, transitions, errors, bytes of a state."""
    (place / "model.pml").write_text(promela(machine))
    run(place, "spin", *flags, "-a", "model.pml")
    run(place, "cc", "-O1", "-w", "-DSAFETY", "-DNOREDUCE", "-DMEMLIM=4000", "-o", "pan", "pan.c")
    said = run(place, "./pan", "-m2000000", "-w22")
    patterns = {
        "states": r"(\d+) states, stored",
        "transitions": r"(\d+) transitions",
        "errors": r"errors: (\d+)",
        "bytes": r"State-vector (\d+) byte",
    }
    found = {name: re.search(pattern, said) for name, pattern in patterns.items()}
    return {name: int(match[1]) for name, match in found.items() if match}


def run(place: Path, *command: str) -> str:
    ran = subprocess.run(command, cwd=place, capture_output=True, text=True, check=True, timeout=300)
    return ran.stdout


def whole(name: str) -> Machine:
    """A shipped world with nothing forgotten."""
    return Machine(LIFECYCLE, world_of(name), PROPERTIES, forgetful=False)


def agree(place: Path, machine: Machine) -> None:
    ours = kernel.explore(machine, symmetry=False)
    theirs = spin(place, machine)
    # SPIN counts the step into the initial state, too.
    assert (theirs["states"], theirs["transitions"]) == (len(ours.states), ours.transitions + 1)
    assert (theirs["errors"], dict(ours.violations)) == (0, {})


@pytest.mark.parametrize("name", [n for n in SMALL if n != "crowded-no-preemption" and "unordered" not in n])
def test_small_worlds(name: str, tmp_path: Path) -> None:
    agree(tmp_path, whole(name))


def test_three_requests(tmp_path: Path) -> None:
    """Sharing, and two steps in flight: more states than the python search would count in minutes."""
    theirs = spin(tmp_path, whole("trio-shared-window"))
    assert (theirs["states"], theirs["transitions"] - 1, theirs["errors"]) == (*LARGE["trio-shared-window"][1:], 0)


def test_other_models(tmp_path: Path) -> None:
    agree(tmp_path, Machine(TWO_PHASE, world(TWO_PHASE, "five", {"managers": 5}), [consistent]))
    agree(tmp_path, Machine(toy.GRAPH, world(toy.GRAPH, "three", {"nodes": 3}), ()))
    agree(tmp_path, Machine(toy.TOY, toy.lamps(3), (toy.stays_burnt,)))


@pytest.mark.parametrize(("name", "states"), [("tiny", 112_425), ("small", 2_383_877)])
def test_the_model_that_tools_were_compared_on(name: str, states: int, tmp_path: Path) -> None:
    machine = Machine(PEER, peer_world(name, *SIZES[name]), INVARIANTS)
    theirs = spin(tmp_path, machine)
    assert (theirs["states"], theirs["errors"]) == (states, 0)


def test_an_export_wastes_no_state(tmp_path: Path) -> None:
    """No more than 1.5 times the bytes of an expert's model of the same world, either way it is compiled."""
    machine = Machine(PEER, peer_world("small", *SIZES["small"]), INVARIANTS)
    (tmp_path / "expert").mkdir()
    shutil.copy(Path(__file__).parents[2] / "benchmarks" / "peers" / "lifecycle.pml", tmp_path / "expert" / "model.pml")
    sizes = [f"-D{name}={value}" for name, value in zip("NBZTSEPM", SIZES["small"], strict=True)]
    for flag, theirs in (("-DBYTES", ()), ("-DNOTHING", ("-DBITS",))):
        ours = spin(tmp_path, machine, flag)
        run(tmp_path / "expert", "spin", *sizes, *theirs, "-a", "model.pml")
        run(tmp_path / "expert", "cc", "-O1", "-w", "-DSAFETY", "-DNOREDUCE", "-o", "pan", "pan.c")
        said = re.search(r"State-vector (\d+) byte", run(tmp_path / "expert", "./pan", "-m20000", "-w22"))
        assert said is not None
        assert ours["bytes"] <= 1.5 * int(said[1])


WAY_HOME = "rest.way-home"  # no property of a run: SPIN is not asked for it


@pytest.mark.parametrize(
    "fault", [f for f, (caught_by, length) in CAUGHT.items() if caught_by != WAY_HOME and length < 10]
)
def test_faults_are_found(fault: str, tmp_path: Path) -> None:
    machine = Machine(changed_by(fault).model, world_of(fault_named(fault).world), PROPERTIES, forgetful=False)
    assert spin(tmp_path, machine)["errors"] == 1


def test_a_world_that_ends_in_a_dead_end(tmp_path: Path) -> None:
    assert spin(tmp_path, whole("crowded-no-preemption"))["errors"] == 1
