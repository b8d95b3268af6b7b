"""The kept traces: one for each fault, still the shortest, and what is said when one is not what it was."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from checker.catalogue import SHIPPED
from checker.replay import itf
from checker.replay.again import MODEL, difference, replay, shortest
from checker.verdict import Verdict
from model.lifecycle import LIFECYCLE
from specs.faults import FAULTS
from specs.regressions import regression_files
from tests.cli.conftest import Cli
from tests.search.running import CAUGHT

KEPT = {path.name.removesuffix(".itf.json"): path for path in regression_files()}
each = pytest.mark.parametrize("name", KEPT)


def test_every_fault_has_its_trace() -> None:
    assert set(KEPT) == {f.name for f in FAULTS}


@each
def test_it_shows_what_catches_the_fault_in_so_many_steps(name: str) -> None:
    trace = itf.load(KEPT[name], LIFECYCLE)
    assert (trace.shows, trace.length) == CAUGHT[name]
    assert trace.variation.fault is not None
    assert (trace.variation.fault.name, trace.variation.without) == (name, ())


@each
def test_it_runs_on_the_rules(name: str) -> None:
    assert replay(LIFECYCLE, SHIPPED, KEPT[name], MODEL).verdict is Verdict.HOLDS


@pytest.mark.parametrize("name", ["notify-twice", "freed-by-two-paths", "never-refused"])
def test_searched_again_it_is_the_same(name: str) -> None:
    trace = shortest(LIFECYCLE, SHIPPED, KEPT[name])
    assert trace is not None
    assert difference(KEPT[name], trace) == []
    assert itf.written(itf.to_itf(trace, "0")) == itf.written(json.loads(KEPT[name].read_text()) | _version(name))


def _version(name: str) -> dict[str, object]:
    meta = json.loads(KEPT[name].read_text())["#meta"]
    meta["schedproof"]["version"] = "0"
    return {"#meta": meta}


def changed_file(tmp_path: Path) -> Path:
    """A trace of other rules: there, a cancel was no part of the way."""
    document = json.loads(KEPT["notify-twice"].read_text())
    meta = document["#meta"]["schedproof"]
    meta["events"][1] = {"rule": "admit", "parameters": {"r": "r0"}}
    path = tmp_path / "notify-twice.itf.json"
    path.write_text(json.dumps(document))
    return path


def test_a_trace_of_other_rules_fails_with_a_readable_difference(cli: Cli, tmp_path: Path) -> None:
    path = changed_file(tmp_path)
    ran = cli("replay", str(path))
    assert ran.code == 1
    assert "FAILED" in ran.out
    assert "step 2, admit(r0), leads to another" in ran.out
    assert "    -admit(r0)\n    +cancel(r0)\n" in ran.out


def test_rewriting_keeps_the_shortest_trace_there_is_now(cli: Cli, tmp_path: Path) -> None:
    path = changed_file(tmp_path)
    ran = cli("replay", str(path), "--rewrite")
    assert (ran.code, "+cancel(r0)" in ran.out) == (0, True)
    assert itf.meta_of(path)["events"] == itf.meta_of(KEPT["notify-twice"])["events"]
    assert cli("replay", str(path)).code == 0
    assert "as it was" in cli("replay", str(path), "--rewrite").out


def test_a_trace_whose_property_holds_now_says_so(cli: Cli, tmp_path: Path) -> None:
    document = json.loads(KEPT["notify-twice"].read_text())
    document["#meta"]["schedproof"]["property"] = "delivery.grows"
    path = tmp_path / "other.itf.json"
    path.write_text(json.dumps(document))
    assert "does not violate delivery.grows any more" in cli("replay", str(path)).out
    assert "does not happen any more" in cli("replay", str(path), "--rewrite").out


def test_on_the_engine_too_a_trace_must_show_what_it_says(cli: Cli, tmp_path: Path) -> None:
    pytest.importorskip("torch", reason="the engine needs torch; make test installs it")
    document = json.loads(KEPT["notify-twice"].read_text())
    document["#meta"]["schedproof"]["property"] = "delivery.grows"
    path = tmp_path / "other.itf.json"
    path.write_text(json.dumps(document))
    ran = cli("replay", str(path), "--on", "ref")
    assert (ran.code, "does not violate delivery.grows any more" in ran.out) == (1, True)


def test_a_trace_of_another_model_is_refused(cli: Cli, tmp_path: Path) -> None:
    document = json.loads(KEPT["notify-twice"].read_text())
    document["#meta"]["schedproof"]["model"] = "chess"
    path = tmp_path / "other.itf.json"
    path.write_text(json.dumps(document))
    ran = cli("replay", str(path))
    assert ran.code == 2
    assert "is a trace of the model chess, and this is lifecycle." in ran.err
