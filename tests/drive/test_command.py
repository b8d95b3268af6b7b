"""`drive` as a command: what it tries, what it counts, and what it gives to machines."""

from __future__ import annotations

import json
import sys
import xml.etree.ElementTree as ET
from pathlib import Path
from typing import Any

import pytest

from checker.report.drive_text import meaning
from checker.report.output import Output
from checker.search.limits import INTERRUPT
from tests.cli.conftest import Cli, cli
from tests.cli.test_bad_input import refused

__all__ = ["cli"]

RAISED = 'File "engine.py", line 1'  # as the adapter says when it is told to raise
MODEL = Path(__file__).with_name("model_adapter.py")


@pytest.fixture
def adapter(tmp_path: Path) -> Any:
    """Writes an adapter file whose engine is the rules with a fault."""

    def write(fault: str = "", misbehave: str = "") -> str:
        said = [str(MODEL), fault, json.dumps({"depth": 1}), misbehave]
        script = f"import runpy, sys\nsys.argv = {said}\nrunpy.run_path(sys.argv[0], run_name='__main__')\n"
        (tmp_path / "engine.py").write_text(script)
        return "engine.py"

    return write


def drive(cli: Cli, engine: str, *more: str) -> Any:
    return cli("drive", engine, "--python", sys.executable, "--load", "contended", "--seconds", "2", *more)


def test_a_finding_for_machines(cli: Cli, adapter: Any) -> None:
    ran = drive(cli, adapter("notify-twice"), "--json", "--junit", "junit.xml")
    assert (ran.code, ran.err) == (1, "")
    document = ran.document("drive")
    (run,) = document["runs"]
    assert (run["configuration"], run["load"], run["dials"]) == ("rules", "contended", {"depth": 1})
    assert run["assumed"] == ["device-in-order", "feasible-requests", "unique-ids"]
    (found,) = run["findings"]
    assert (found["kind"], found["standing"], found["rests_on"]) == ("notify.once", "new", [])
    assert (found["length"], len(found["moves"])) == (5, 5)
    assert found["sentence"] == "the rules refuse notify(r0): the guard notify.once is false (notified[r0] = 1)"
    assert found["meaning"][1:] == ["notify.once asks: notified[r] is 0 (schedproof show notify.once)"]
    moves, told = Path(found["script"]).read_text().splitlines()
    assert moves.startswith("# the moves: ")
    assert told == f"# {found['kind']}: {found['sentence']}"
    assert json.loads(Path(found["trace"]).read_text())["#meta"]["schedproof"]["property"].endswith("notify.once")
    assert document["untried"] == {
        "configurations": ["again", "assuming-nothing"],
        "loads": ["tight", "roomy", "crowd"],
    }
    suite = ET.parse("junit.xml").getroot()
    assert (suite.get("tests"), suite.get("failures"), suite.get("errors")) == ("2", "1", "1")
    failure, left = (child for case in suite for child in case)
    assert failure.get("message") == found["sentence"]
    assert found["script"] in (failure.text or "")
    assert left.get("message") == f"not determined: the search stopped at {run['bound']}"


def test_the_trace_of_a_finding_replays_and_says_that_the_engine_was_not_asked(cli: Cli, adapter: Any) -> None:
    out = drive(cli, adapter("notify-twice")).out
    assert "below: a state is what is observed of the engine after a move" in out
    assert "    notify: " in out
    (trace,) = Path("schedproof-findings").glob("*.itf.json")
    ran = cli("replay", str(trace))
    assert ran.code == 0
    assert "    The finding is what the engine did next; the engine is not asked here." in ran.out
    assert ran.last == (
        "holds: 1 of 1 replayed as they should; 1 of them told of a finding in an engine, which was not asked again"
    )


def test_what_is_known_does_not_fail_and_is_said(cli: Cli, adapter: Any, tmp_path: Path) -> None:
    (tmp_path / "known.txt").write_text("# accepted\nnotify.once\n")
    ran = drive(cli, adapter("notify-twice"), "--known", "known.txt", "--junit", "junit.xml")
    assert ran.code == 0, "a bound was met, and nothing is new"
    assert ran.last.startswith("holds: no new finding beside those of known.txt in 1 run, ")
    assert ran.last.endswith(" states and random walks, which is not all")
    assert "    known; not counted\n" in ran.out
    assert "known, but not met here" not in ran.out
    suite = ET.parse("junit.xml").getroot()
    assert (suite.get("failures"), suite.get("errors")) == ("0", "0")
    assert (suite.findtext("testcase[@name='notify.once']/system-out") or "").startswith("known; not counted\n")


def test_a_kind_of_finding_is_explained_in_the_words_of_the_rules_and_of_the_engine() -> None:
    described = {"engine": "vllm", "names": {"select": {"event": "in SchedulerOutput.num_scheduled_tokens"}}}
    rule, asks, named = meaning("select.running", described)
    assert rule.startswith("select: Plan k tokens of a running request")
    assert asks == "select.running asks: phase[r] is RUNNING (schedproof show select.running)"
    assert named == "in vllm: in SchedulerOutput.num_scheduled_tokens (schedproof show --names vllm)"
    assert meaning("no event hit", described)[0].startswith("hit: ")
    assert meaning("differs: ref", described)[0].startswith("ref: ")
    assert meaning("stuck", described) == []


def test_what_is_known_and_not_met_is_said_and_what_is_new_fails(cli: Cli, adapter: Any, tmp_path: Path) -> None:
    (tmp_path / "known.txt").write_text("  # accepted\nnotify.once, without unique-ids\nexception KeyError at here\n")
    ran = drive(cli, adapter("notify-twice"), "--known", "known.txt")
    assert ran.code == 1
    assert "known, but not met here: notify.once, without unique-ids\n" in ran.out
    assert "known, but not met here: exception KeyError at here\n" in ran.out


@pytest.mark.parametrize(
    ("line", "sentence"),
    [
        ("selct.runing", "known.txt lists selct.runing, which is no kind of finding; did you mean select.running."),
        (
            "xyzzy",
            "known.txt lists xyzzy, which is no kind of finding; "
            "copy the kind as drive prints it in front of `, after N moves`.",
        ),
        (
            "admit.fits, without feasible-request",
            "known.txt lists admit.fits, without feasible-request, but there is no assumption feasible-request; "
            "did you mean feasible-requests.",
        ),
    ],
)
def test_a_baseline_that_lists_what_cannot_be_found_is_refused(
    cli: Cli, adapter: Any, tmp_path: Path, line: str, sentence: str
) -> None:
    (tmp_path / "known.txt").write_text(f"{line}\n")
    arguments = ("drive", adapter(), "--python", sys.executable, "--known", "known.txt")
    assert refused(cli, *arguments) == sentence


def test_an_interrupt_is_an_open_end_with_a_baseline_too(
    cli: Cli, adapter: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def interrupted(_: Output, line: str) -> None:
        if "states" in line:  # while it searches, not while it waits for the adapter
            raise KeyboardInterrupt

    (tmp_path / "known.txt").write_text("stuck\n")
    monkeypatch.setattr(Output, "status", interrupted)
    ran = cli("drive", adapter(), "--python", sys.executable, "--known", "known.txt", "--junit", "junit.xml")
    assert ran.code == 3
    assert ET.parse("junit.xml").getroot().get("errors") == "1"


def test_what_rests_on_an_assumption_is_labelled_and_not_counted(cli: Cli, adapter: Any) -> None:
    engine = adapter("admit-what-never-fits")
    ran = drive(cli, engine, "--no-assume", "feasible-requests", "--json")
    assert ran.code == 3
    (run,) = ran.document("drive")["runs"]
    assert run["assumed"] == ["device-in-order", "unique-ids"]
    (found,) = run["findings"]
    assert (found["kind"], found["standing"]) == ("admit.fits, without feasible-requests", "assumption")
    assert found["moves"] == ["submit(2,)", "admit(2,)"]
    text = drive(cli, engine, "--no-assume", "feasible-requests").out
    assert "no bug where the engine may assume feasible-requests; not counted" in text
    assert drive(cli, engine, "--json").document("drive")["runs"][0]["findings"] == []


def test_what_an_engine_never_assumed_counts(cli: Cli, adapter: Any) -> None:
    ran = drive(cli, adapter("admit-what-never-fits"), "--config", "assuming-nothing", "--json")
    assert ran.code == 1
    (run,) = ran.document("drive")["runs"]
    assert (run["assumed"], [f["standing"] for f in run["findings"]]) == ([], ["new"])


def test_an_exception_of_the_engine_comes_with_its_traceback(cli: Cli, adapter: Any) -> None:
    engine = adapter("", "raise")
    (found,) = drive(cli, engine, "--json").document("drive")["runs"][0]["findings"]
    assert (found["kind"], found["traceback"]) == ("exception KeyError at File engine.py, line 1", RAISED)
    assert json.loads(Path(found["script"]).with_suffix(".json").read_text())["traceback"] == RAISED
    text = drive(cli, engine)
    assert f"    | {RAISED}\n" in text.out
    assert text.last == f"violated: new findings of 1 kind: {found['kind']}"


def test_a_python_without_the_engine_is_refused(cli: Cli) -> None:
    sentence = f"{sys.executable} has no vllm; build one that has with --setup, or give another --python."
    assert refused(cli, "drive", "vllm", "--python", sys.executable) == sentence


def test_it_says_what_it_tries_and_what_not(cli: Cli, adapter: Any) -> None:
    out = cli("drive", adapter(), "--python", sys.executable, "--seconds", "2").out
    assert "trying 1 configuration under 2 loads: rules; loads contended, tight\n" in out
    assert "rules, contended: 0 findings in " in out
    assert "rules, tight: 0 findings in " in out
    assert "not tried: 2 configurations and 2 loads; --minutes N tries all, N minutes each\n" in out


def test_minutes_try_everything(cli: Cli, adapter: Any) -> None:
    document = cli("drive", adapter(), "--python", sys.executable, "--minutes", "0.01", "--json").document("drive")
    assert len(document["runs"]) == 3 * 4
    assert document["untried"] == {"configurations": [], "loads": []}


def test_an_interrupt_ends_the_run_and_the_rest_is_untried(
    cli: Cli, adapter: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    def interrupted(_: Output, line: str) -> None:
        if "states" in line:  # while it searches, not while it waits for the adapter
            raise KeyboardInterrupt

    monkeypatch.setattr(Output, "status", interrupted)
    ran = cli("drive", adapter(), "--python", sys.executable, "--minutes", "5", "--json")
    assert ran.code == 3
    document = ran.document("drive")
    assert [r["bound"] for r in document["runs"]] == [INTERRUPT]
    assert document["untried"] == {
        "configurations": ["again", "assuming-nothing"],
        "loads": ["tight", "roomy", "crowd"],
    }


def test_an_adapter_that_is_lost_ends_cleanly(cli: Cli, adapter: Any) -> None:
    ran = drive(cli, adapter("", "crash"), "--json")
    assert (ran.code, ran.document("error")["error"]) == (2, "error: the adapter ended with exit code 7.")


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (
            ["--assume", "unique-ids", "--no-assume", "unique-ids"],
            "unique-ids is both put and taken away; give --assume or --no-assume.",
        ),
        (
            ["--no-assume", "unique-id"],
            "there is no assumption unique-id that can be put or taken; did you mean unique-ids.",
        ),
        (
            ["--minutes", "1", "--seconds", "3"],
            "--seconds is for everything together, --minutes for each configuration and load; give one.",
        ),
        (["--only-setup"], "--only-setup goes with --setup; give both."),
        (
            ["--setup", "--only-setup", "--json"],
            "--only-setup drives nothing, so there is nothing for --json or --junit; leave them out.",
        ),
    ],
    ids=lambda v: " ".join(v) if isinstance(v, list) else "",
)
def test_options_that_cannot_be_used(cli: Cli, arguments: list[str], sentence: str) -> None:
    if "--json" in arguments:
        assert cli("drive", "vllm", *arguments).document("error")["error"] == f"error: {sentence}"
    else:
        assert refused(cli, "drive", "vllm", *arguments) == sentence
