"""`mutate` on the command line: text, documents for machines, traces, and bad input."""

from __future__ import annotations

import json
import xml.etree.ElementTree as ET
from pathlib import Path

import pytest

from checker.cli import mutate as command
from checker.replay.reference import MISSING
from tests.cli.conftest import Cli


def test_a_guard_with_who_catches_it_and_how_to_see_it(cli: Cli) -> None:
    ran = cli("mutate", "release.unpinned", "--on", "model")
    assert ran.code == 0
    assert "  release.unpinned  ownership.keeps after 7 steps in solo\n" in ran.out
    assert "see it: schedproof check solo --without release.unpinned\n" in ran.out
    assert ran.last.startswith("holds: 1 of 1 guards caught; 100 % of those caught by more than the bounds")


def test_the_command_it_names_shows_the_same(cli: Cli) -> None:
    assert "ownership.keeps is violated after 7 steps" in cli("check", "solo", "--without", "release.unpinned").out


def test_for_machines(cli: Cli) -> None:
    ran = cli("mutate", "release", "notify-twice", "--on", "model", "--json", "--junit", "junit.xml")
    document = ran.document("mutate")
    assert [s["name"] for s in document["subjects"]] == [
        "release.left",
        "release.unpinned",
        "release/ref",
        "release/table",
        "notify-twice",
    ]
    assert document["subjects"][-1]["caught"]["by"] == "delivery.message-once"
    assert document["protected_by"]["ownership.keeps"] == ["release.unpinned"]
    suite = ET.parse("junit.xml").getroot()
    assert (suite.get("tests"), suite.get("failures")) == ("5", "0")


def test_on_the_engine_the_damage_is_measured(cli: Cli) -> None:
    pytest.importorskip("torch", reason="the engine needs torch; make test installs it")
    document = cli("mutate", "notify-twice", "--on", "ref", "--json").document("mutate")
    engine = document["subjects"][0]["caught"]["engine"]
    assert (engine["refused_at"], engine["has_switch"]) == ("notify.once", True)
    assert "messages" in engine["damage"]


def test_without_torch_it_says_what_to_install(cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(command, "available", lambda: False)
    ran = cli("mutate", "notify-twice", "--on", "ref")
    assert (ran.code, ran.err) == (2, f"error: {MISSING}\n")
    assert cli("mutate", "notify-twice").code == 0


def test_traces_are_written_and_replay(cli: Cli, tmp_path: Path) -> None:
    assert cli("mutate", "release/ref", "--on", "model", "--traces", "out").code == 0
    path = Path("out") / "release-ref.itf.json"
    assert json.loads(path.read_text())["#meta"]["schedproof"]["without"] == ["release/ref"]
    assert cli("replay", str(path)).code == 0


def test_a_place_for_traces_that_is_none(cli: Cli) -> None:
    Path("file").write_text("")
    ran = cli("mutate", "release/ref", "--on", "model", "--traces", "file")
    assert ran.code == 2
    assert "cannot be written (Not a directory); give another --traces DIR" in ran.err


def test_a_name_that_is_none(cli: Cli) -> None:
    ran = cli("mutate", "release.unpined")
    assert ran.code == 2
    assert "there is no fault, guard, update or rule release.unpined; did you mean release.unpinned" in ran.err


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (["solo"], "--everything takes no WORLD"),
        (["--json"], "--everything takes no --json"),
        (["--fault", "notify-twice"], "--everything takes no --fault"),
        (["--set", "depth=2"], "--everything takes no --set"),
        (["--with", "mine.py"], "--everything takes no --with"),
    ],
)
def test_everything_takes_nothing_else(cli: Cli, options: list[str], said: str) -> None:
    ran = cli("check", "--everything", *options)
    assert ran.code == 2
    assert said in ran.err + ran.out
