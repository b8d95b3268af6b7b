"""A story on the engine: the same table at every boundary as the rules give, with the tokens behind it."""

from __future__ import annotations

import json
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from checker.cli.main import run
from checker.replay import itf
from checker.replay.reference import tell_on_engine
from checker.replay.reference.run import Run
from checker.replay.reference.stage import set_up
from checker.replay.story import Boundary, Happened, Told, WasRefused, read_story, story_layout, tell
from checker.verdict import Verdict
from checker.version import VERSION
from engine_ref import Submission, alone
from model.lifecycle import LIFECYCLE
from specs.properties import PROPERTIES
from specs.stories import story_files
from tests.reference.traces import fault_trace

FIXTURE = next(p for p in story_files() if p.stem == "four-on-two-seats")


def on_engine(path: Path) -> tuple[Told, Told]:
    """What the rules and what the engine give for a story."""
    story = read_story(path)
    told = tell(story, LIFECYCLE, PROPERTIES)
    return told, tell_on_engine(story, told, story_layout(story, LIFECYCLE))


def test_the_fixture_gives_the_same_boundary_table_on_rules_and_engine() -> None:
    told, engine = on_engine(FIXTURE)
    assert engine.failures == []
    assert engine.events == told.events
    table = [line for line in engine.lines if not line.startswith("  tokens of")]
    assert tuple(table) == tuple(told.lines) == read_story(FIXTURE).golden


def test_its_tokens_are_those_of_each_request_alone() -> None:
    """r2 was preempted, and its context computed again; r1 shared its steps with others."""
    layout = story_layout(read_story(FIXTURE), LIFECYCLE)
    stage = set_up(layout.world, {})
    last = on_engine(FIXTURE)[1].lines[-3:]
    for r, line in zip((0, 1, 2), last, strict=True):
        truth = alone(stage.network, stage.submissions[r])
        tokens = " ".join(str(t) for t in truth.tokens)
        assert line == f"  tokens of r{r}: {tokens}; its client took {stage.submissions[r].limit}"
    assert isinstance(stage.submissions[0], Submission)


def doctored(kind: type, **change: Any) -> Told:
    """What the engine gives if the rules' record says something else in the first entry of a kind."""
    story = read_story(FIXTURE)
    told = tell(story, LIFECYCLE, PROPERTIES)
    at = next(i for i, h in enumerate(told.happened) if isinstance(h, kind))
    told.happened[at] = replace(told.happened[at], **change)
    return tell_on_engine(story, told, story_layout(story, LIFECYCLE))


def test_another_record_is_a_failure() -> None:
    told = tell(read_story(FIXTURE), LIFECYCLE, PROPERTIES)
    first = next(h for h in told.happened if isinstance(h, Boundary))
    wrong = (replace(first.records[0], recomputed=1), *first.records[1:])
    failures = doctored(Boundary, records=wrong).failures
    assert len(failures) == 1
    assert "the engine's record of r0 is" in failures[0]


def test_another_state_is_a_failure() -> None:
    failures = doctored(Happened, then=story_layout(read_story(FIXTURE), LIFECYCLE).initial).failures
    assert failures == [f"{FIXTURE}:7: after submit(r0), the engine has phase[r0] = WAITING, not NEW"]


def test_what_the_engine_does_not_refuse_is_a_failure() -> None:
    failures = doctored(WasRefused, rule="cancel", at=(0,), text="cancel(r0)").failures
    assert failures[0].endswith("the engine does cancel(r0), which the rules refuse")


def test_what_the_engine_refuses_is_a_failure() -> None:
    failures = doctored(Happened, rule="notify", at=(0,), text="notify(r0)").failures
    assert failures == [
        f"{FIXTURE}:7: the engine refuses notify(r0): notify.finished is false (phase = NEW)",
    ]


# --------------------------------------------------------------------------------------- command line
def test_replay_on_ref_runs_the_stories(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["replay", str(FIXTURE), "--on", "ref"]) is Verdict.HOLDS
    said = capsys.readouterr().out
    assert "59 events on the engine" in said
    assert "tokens of r1: " in said


def test_a_trace_on_ref_says_what_was_refused_and_what_was_damaged(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "trace.itf.json"
    itf.save(fault_trace("notify-twice"), path, VERSION)
    assert run(["replay", str(path), "--on", "ref"]) is Verdict.HOLDS
    assert capsys.readouterr().out == (
        f"{path} on the engine:\n"
        "  delivery.message-once is violated after 5 steps in the world pair, with the fault notify-twice:\n"
        "    The engine refuses notify(r0) at step 5, at notify.once (notified = 1).\n"
        "    With notify.once off, the engine does all 5 steps.\n"
        "    Damage, run on to rest by a fair policy, and before:\n"
        "      the client of r0 was sent 2 terminal messages\n"
        "holds: 1 of 1 replayed as they should; of 1 traces the sound engine refuses 1 at their guard, differs in a field "
        "in 0, and follows 0 unharmed; changed in the same way, 1 do measured damage, and 0 are in the model only\n"
    )


def test_an_engine_that_does_not_refuse_is_a_violation(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """An engine without the check passes nothing off as sound."""
    path = tmp_path / "trace.itf.json"
    itf.save(fault_trace("notify-twice"), path, VERSION)
    sound = Run.__init__
    monkeypatch.setattr(
        Run, "__init__", lambda self, stage, layout, off=(): sound(self, stage, layout, ("notify.once",))
    )
    assert run(["replay", str(path), "--on", "ref"]) is Verdict.VIOLATED
    assert "FAILED the rules refuse step 5, notify(r0), at notify.once, but" in capsys.readouterr().out


def test_rewrite_is_for_the_rules(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["replay", "--on", "ref", "--rewrite"]) is Verdict.ERROR
    assert capsys.readouterr().err == "error: --rewrite accepts what the rules give; leave --on out.\n"


def test_json_says_on_what_it_was_replayed(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["replay", str(FIXTURE), "--on", "ref", "--json"]) is Verdict.HOLDS
    document = json.loads(capsys.readouterr().out)
    assert [row["on"] for row in document["files"]] == ["ref"]


def without_torch(*arguments: str) -> subprocess.CompletedProcess[str]:
    """The command in a Python that has no torch."""
    code = "import sys; sys.modules['torch'] = None; from checker.cli.main import main; main()"
    return subprocess.run([sys.executable, "-c", code, *arguments], capture_output=True, text=True, timeout=120)


def test_without_torch_it_says_what_to_install() -> None:
    ran = without_torch("replay", "--on", "ref")
    assert ran.returncode == Verdict.ERROR.value
    assert ran.stderr == (
        "error: the reference engine needs torch, which is not installed; install it with: "
        "pip install 'schedproof[engine]'.\n"
    )


def test_without_torch_everything_else_works() -> None:
    assert without_torch("replay").returncode == 0
    assert without_torch("check", "solo").returncode == 0
