"""vLLM 0.10.2, unmodified, under the driver: what is sound stays so, what is found stays found, and nothing seeded is missed.

A lane of its own (make test-engines): it needs the engine's environment, and says skipped where that is not there.
"""

from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from checker.replay.assumptions import DEVICE_IN_ORDER, FEASIBLE_REQUESTS, REMOVABLE, UNIQUE_IDS, world_under
from checker.replay.drive import DAMAGE, DriveLimits, Driven, Driver
from checker.replay.environment import find_engine
from checker.replay.port import EngineError, Port, command_for
from model.lifecycle import LIFECYCLE
from specs.engines import CONTENDED, ROOMY, Load

ENGINE = find_engine("vllm")
PYTHON = Path(os.environ.get("SCHEDPROOF_VLLM_PYTHON", str(ENGINE.python)))
HAS_ENGINE = "import importlib.metadata as found; found.version('vllm')"
FAULTY = Path(__file__).with_name("faulty_adapter.py")

LONE = Load("lone", "one request with room", ((2, 3, 0),), shared=0, blocks=6, block_size=1, budget=2, seats=2)


def built() -> bool:
    """Whether the environment is there and complete: the engine itself is installed last."""
    return PYTHON.exists() and not subprocess.run([str(PYTHON), "-c", HAS_ENGINE], capture_output=True).returncode


pytestmark = [
    pytest.mark.engine,
    pytest.mark.skipif(not built(), reason="the environment of vLLM is not built; make engines builds it"),
]


@pytest.fixture(scope="module")
def port() -> Iterator[Port]:
    with Port(command_for(PYTHON, ENGINE.adapter), step_seconds=120) as opened:
        yield opened


def driver(port: Port, configuration: str, load: Load, **dials: Any) -> Driver:
    stated = port.describe()["configurations"][configuration]["dials"]
    return Driver(port, configuration, {**stated, **dials}, world_under(load), LIFECYCLE)


def drive(port: Port, configuration: str, load: Load, seconds: float = 60, **dials: Any) -> Driven:
    return driver(port, configuration, load, **dials).run(DriveLimits(seconds=seconds), 0, lambda driven, how: None)


def test_it_is_the_version_that_was_tested(port: Port) -> None:
    described = port.describe()
    assert (described["engine"], described["version"], described["tested"]) == ("vllm", "0.10.2", True)


def test_every_rule_has_its_name_in_the_engine(port: Port) -> None:
    assert {r.name for r in LIFECYCLE.rules} <= set(port.describe()["names"])


@pytest.mark.parametrize("kind", ["depth1", "depth2", "loop", "async", "loop-async"])
@pytest.mark.parametrize("caching", ["cache", "nocache"])
def test_first_come_first_served_is_sound_here(port: Port, kind: str, caching: str) -> None:
    """Every state of two contending requests, and every step a path of the rules."""
    result = drive(port, f"fcfs-{caching}-{kind}", CONTENDED)
    assert result.findings == {}
    assert result.exhausted
    assert result.states > 300
    assert result.events["preempt"] > 0


@pytest.mark.parametrize(
    ("kind", "moves"),
    [
        ("depth1", ["submit", "schedule", "submit", "result", "schedule", "result", "schedule"]),
        ("loop", ["submit", "loop", "submit", "loop", "loop"]),
    ],
)
def test_a_priority_victim_keeps_its_plan(port: Port, kind: str, moves: list[str]) -> None:
    """vLLM PR 28558: the victim is planned into the step in which it is preempted."""
    drove = driver(port, f"priority-cache-{kind}", CONTENDED)
    result = drove.run(DriveLimits(seconds=60), 0, lambda driven, how: None)
    assert set(result.findings) == {"select.running"}
    found = result.findings["select.running"]
    assert [m["kind"] for m in found.moves] == moves
    asked = {"configuration": drove.configuration, "world": drove.engine.document(), "moves": list(found.moves)}
    script = port.ask("script", None, **asked, finding=found.sentence)
    ran = subprocess.run([str(PYTHON), "-c", script["script"]], capture_output=True, text=True, check=True)
    calls, end = ran.stdout.split("\nfound: ")
    assert calls.count("\ncall ") == len(moves), "every call is named"
    assert end.splitlines()[0] == found.sentence
    assert "\n  r0 is PREEMPTED, yet has num_computed_tokens 1, " in end
    if kind == "depth1":  # the loop takes the step's result in the same turn
        assert "\n  a step in flight has num_scheduled_tokens {'r0': 1, 'r1': 1}\n" in end


def test_a_cancel_inside_the_window_frees_the_blocks_at_once(port: Port) -> None:
    drove = driver(port, "fcfs-cache-depth2", ROOMY)
    node = drove.start()
    for move in ({"kind": "submit", "request": 0}, {"kind": "schedule"}, {"kind": "cancel", "request": 0}):
        then = drove.step(node, move)
        assert then is not None
        node = then
    seen = node.observation
    assert seen["requests"][0]["phase"] == "FINISHED"
    assert [q for q, _, _ in seen["window"][0]] == [0], "the step that works for it is still in flight"
    assert sorted(seen["free"]) == list(range(ROOMY.blocks)), "and all of its blocks are free"


@pytest.mark.parametrize(("configuration", "moves"), [("fcfs-nocache-depth2", 8), ("fcfs-nocache-loop", 6)])
def test_that_is_safe_only_on_an_ordered_device(port: Port, configuration: str, moves: int) -> None:
    result = drive(port, configuration, CONTENDED, device="unordered")
    assert [(f.kind, f.rests_on, len(f.moves)) for f in result.findings.values()] == [
        (DAMAGE, (DEVICE_IN_ORDER,), moves)
    ]


def without(port: Port, assumption: str, configuration: str, load: Load) -> Driven:
    """Driven with an assumption about clients taken away."""
    stated = port.describe()["configurations"][configuration]["dials"]
    world = world_under(load, frozenset(REMOVABLE) - {assumption})
    drove = Driver(port, configuration, stated, world, LIFECYCLE)
    return drove.run(DriveLimits(seconds=90), 0, lambda driven, how: None)


@pytest.mark.parametrize(
    ("configuration", "moves"),
    [
        ("fcfs-nocache-depth1", ["submit", "schedule", "cancel", "submit", "result"]),
        ("fcfs-cache-loop", ["submit", "loop", "cancel", "submit", "loop"]),
    ],
)
def test_an_id_used_again_too_early_gets_the_result_of_the_other(
    port: Port, configuration: str, moves: list[str]
) -> None:
    """And only then: all states were tried, and where nothing referred to the id any more nothing was found."""
    result = without(port, UNIQUE_IDS, configuration, LONE)
    assert result.exhausted
    assert {(f.kind, f.rests_on) for f in result.findings.values()} == {("differs: committed", (UNIQUE_IDS,))}
    (found,) = result.findings.values()
    assert [m["kind"] for m in found.moves] == moves
    assert "committed[r1] is 1 in the engine, 0 by the rules" in found.sentence
    assert result.events["submit"] > 0


def test_what_never_fits_is_admitted(port: Port) -> None:
    result = without(port, FEASIBLE_REQUESTS, "fcfs-cache-depth1", LONE)
    assert result.exhausted
    assert {(f.kind, f.rests_on) for f in result.findings.values()} == {("admit.fits", (FEASIBLE_REQUESTS,))}


def test_the_victim_that_keeps_its_plan_can_end_the_engine(port: Port) -> None:
    """Past the finding above: the step names a request that the workers have left out of their batch."""
    world = {
        "requests": [
            {"prompt": [1, 2], "limit": 2, "priority": 1},
            {"prompt": [3, 4, 5, 6], "limit": 2, "priority": 0},
        ],
        "blocks": 5,
        "block_size": 1,
        "budget": 2,
        "seats": 2,
    }
    done = {"kind": "loop", "stop": [], "ready": True}
    moves = [{"kind": "submit", "request": 0}, {**done, "ready": False}, {"kind": "submit", "request": 1}, done, done]
    answer = port.ask("reset", configuration="priority-cache-loop", world=world)
    for move in moves:
        answer = port.ask("step", state=answer["state"], move=move)
    victim = answer["observation"]["requests"][0]
    assert (victim["phase"], victim["scheduled"]) == ("PREEMPTED", 1)
    assert 0 in [r for r, _, _ in answer["observation"]["window"][-1]]
    with pytest.raises(EngineError) as raised:
        port.ask("step", state=answer["state"], move=done)
    assert str(raised.value) == "KeyError: 'r0'"
    assert raised.value.place.startswith("vllm/v1/core/sched/scheduler.py, line 891, in update_from_output")


@pytest.mark.parametrize(
    ("fault", "kind", "moves"),
    [
        ("free-keeps-count", "differs: ref", 3),
        ("finished-runs-on", "exception AssertionError at vllm/v1/core/kv_cache_manager.py", 4),
        ("progress-kept", "no event hit", 9),
        ("block-handed-twice", "differs: ref", 2),
        ("stop-told-twice", "differs: notified", 3),
    ],
)
def test_a_historic_fault_put_back_is_found(fault: str, kind: str, moves: int) -> None:
    """The moves needed are few: none of these hides behind a long run."""

    def enough(driven: Driven, how: str) -> None:
        if driven.findings:
            raise KeyboardInterrupt

    with Port([*command_for(PYTHON, FAULTY), fault], step_seconds=120) as opened:
        drove = driver(opened, "fcfs-nocache-depth1", CONTENDED)
        result = drove.run(DriveLimits(seconds=60), 0, enough)
    (found,) = result.findings.values()
    assert found.kind.startswith(kind), found.sentence
    assert len(found.moves) == moves


SCRIPTS = Path(__file__).resolve().parents[2] / "docs" / "findings"

# Runs each script of a folder, and prints its name and all that it says. One process, since loading vLLM takes longest.
RUN_ALL = """
import contextlib, io, json, pathlib, runpy, sys
for file in pathlib.Path(sys.argv[1]).glob("*.py"):
    with contextlib.redirect_stdout(io.StringIO()) as said:
        try:
            runpy.run_path(str(file))
        except Exception as error:
            print("raised", repr(error))
    print(json.dumps([file.stem, said.getvalue()]))
"""

SHOWN = {
    "priority-victim-keeps-its-plan": "r0 is PREEMPTED, yet has num_computed_tokens 1, output tokens 2, blocks []",
    "priority-victim-ends-the-engine": "raised KeyError('r0')",
    "id-used-again": "r1 is RUNNING: num_computed_tokens 2, output tokens 1, ",
    "cancel-inside-the-window": "r1 is RUNNING: num_computed_tokens 2, output tokens 0, blocks [1, 0]",
    "never-fits": "r1 is PREEMPTED: num_computed_tokens 0, ",
}


def test_the_scripts_in_the_documents_still_show_it() -> None:
    ran = subprocess.run([str(PYTHON), "-c", RUN_ALL, str(SCRIPTS)], stdout=subprocess.PIPE, text=True, check=True)
    said = dict(json.loads(line) for line in ran.stdout.splitlines())
    assert set(said) == set(SHOWN)
    for script, shown in SHOWN.items():
        assert shown in said[script][said[script].rindex("\n\n") :], script
