"""`check` for machines: the JSON document and its schema, and the JUnit file."""

from __future__ import annotations

import json
import re
import xml.etree.ElementTree as ET
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import jsonschema  # type: ignore[import-untyped]
import pytest

from checker.cli import check as command
from checker.verdict import Verdict
from specs.stories import story_files
from specs.worlds import world_files
from tests.cli.conftest import Cli, judged_in, schema, validate
from tests.search.running import file_of

STATES = {"solo": 621, "misfit": 657, "crowded-no-preemption": 6_698}


def junit(path: str = "junit.xml") -> ET.Element:
    return ET.parse(path).getroot()


def messages(suite: ET.Element, kind: str) -> dict[str, str]:
    """The message of each case that has one of this kind."""
    found = {c.get("name", ""): c.find(kind) for c in suite}
    return {name: e.get("message", "") for name, e in found.items() if e is not None}


@pytest.mark.slow
def test_all_shipped_worlds(cli: Cli) -> None:
    ran = cli("check", "--json", "--junit", "junit.xml", "--quiet")
    assert (ran.code, ran.err) == (0, "")
    document = ran.document("check")
    assert sorted(w["world"] for w in document["worlds"]) == sorted(world_files())
    assert (document["unreached"], document["untried"]) == ([], [])
    suite = junit()
    assert [c.get("name") for c in suite][-1] == "every rule and witness is reached"
    assert (suite.get("failures"), suite.get("errors")) == ("0", "0")


def test_what_no_world_reaches_is_undetermined(cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(command, "shipped", lambda model: [file_of("solo"), file_of("misfit")])
    ran = cli("check", "--junit", "junit.xml")
    assert ran.code == 3
    assert ran.last == "undetermined: some rules or witnesses were not reached"
    missing = cli("check", "--json").document("check")["unreached"]
    assert "the witness of eligibility.mixes" in missing
    listed = "".join(f"  {name}\n" for name in missing)
    assert f"not reached in any world, although it should be:\n{listed}undetermined" in ran.out
    said = f"not reached in any world: {', '.join(missing)}"
    assert messages(junit(), "error") == {"every rule and witness is reached": said}


# ------------------------------------------------------------------------------------------------------ JSON
@pytest.mark.parametrize("name", ["check", "drive", "error", "markov", "replay", "show"])
def test_a_schema_is_a_schema_and_describes_every_key(name: str) -> None:
    jsonschema.Draft202012Validator.check_schema(schema(name))
    assert [k for k, v in keys_of(schema(name)) if "description" not in v and "const" not in v] == []
    with pytest.raises(jsonschema.ValidationError):
        validate({}, name)


def keys_of(part: Any) -> Iterator[tuple[str, dict[str, Any]]]:
    """Every key that a schema has a place for, with what it says of it."""
    for key, value in part.items() if isinstance(part, dict) else ():
        if key == "properties":
            yield from value.items()
        for inner in (
            value.values() if key in ("properties", "$defs") else value if isinstance(value, list) else [value]
        ):
            yield from keys_of(inner)


def test_the_schema_refuses_a_document_with_a_key_more_or_less(cli: Cli) -> None:
    document = cli("check", "solo", "--without", "notify.once", "--json").document("check")
    for of in (document, document["worlds"][0], document["worlds"][0]["violations"][0]):
        for key in list(of):
            value = of.pop(key)
            with pytest.raises(jsonschema.ValidationError):
                validate(document, "check")
            of[key] = value
        of["new"] = 1
        with pytest.raises(jsonschema.ValidationError):
            validate(document, "check")
        del of["new"]
    validate(document, "check")


@pytest.mark.parametrize(
    "arguments",
    [
        ["solo", "misfit"],
        ["crowded-no-preemption"],
        ["--without", "notify.once"],
        ["pair", "--fault", "notify-twice", "--depth", "6"],
        ["solo", "--simulate", "20"],
        ["pair", "--simulate", "50", "--fault", "notify-twice"],
        ["solo", "--no-reduction", "--states", "100"],
        ["misfit", "--set", "prompt=1,5"],
    ],
    ids=" ".join,
)
def test_json_is_of_its_schema_and_says_what_the_text_says(cli: Cli, arguments: list[str]) -> None:
    text = cli("check", *arguments)
    ran = cli("check", *arguments, "--json")
    document = ran.document("check")
    assert (ran.code, ran.err) == (text.code, "")
    assert Verdict[document["verdict"].upper()].value == ran.code
    for world in document["worlds"]:
        assert f"{world['world']}: " in text.out
        for violation in world["violations"]:
            assert re.search(
                rf"^    {re.escape(violation['property'])} +{violation['length']} steps", text.out, re.MULTILINE
            )
            trace = json.loads(Path(violation["trace"]).read_text())
            assert trace["#meta"]["schedproof"]["property"] == violation["property"]


def test_json_figures(cli: Cli) -> None:
    document = cli("check", *STATES, "--json").document("check")
    assert {w["world"]: w["states"] for w in document["worlds"]} == STATES
    assert [w["verdict"] for w in document["worlds"]] == ["holds"] * 3
    assert [w["as_expected"] for w in document["worlds"]] == [False, False, True]
    full = cli("check", "solo", "--no-reduction", "--json").document("check")["worlds"][0]
    assert (full["states"], full["up_to_renaming"], full["transitions"]) == (1_109, False, 3_520)
    assert sum(full["rules"].values()) == 3_520


# ----------------------------------------------------------------------------------------------------- JUnit
def test_junit_counts_what_failed(cli: Cli) -> None:
    cli("check", "solo", "--junit", "junit.xml")
    suite = junit("junit.xml")
    assert suite.tag == "testsuite"
    judged = judged_in("solo")
    assert [c.get("name") for c in suite] == judged
    assert {c.get("classname") for c in suite} == {"schedproof.solo"}
    assert (suite.get("tests"), suite.get("failures"), suite.get("errors")) == (str(len(judged)), "0", "0")
    assert not [child for case in suite for child in case]


def test_junit_says_what_is_violated_and_how(cli: Cli) -> None:
    ran = cli("check", "solo", "--without", "notify.once", "--junit", "junit.xml", "--json")
    names = [v["property"] for v in ran.document("check")["worlds"][0]["violations"]]
    suite = junit()
    assert set(messages(suite, "failure")) == set(names) == {"delivery.message-once", "bounds.notified"}
    assert messages(suite, "failure")["delivery.message-once"] == (
        "delivery.message-once is violated after 5 steps in the world solo, without notify.once"
    )
    text = suite.findtext("testcase[@name='delivery.message-once']/failure")
    assert text is not None
    assert "5. notify(r0)" in text
    assert messages(suite, "error") == {"rest.way-home": "rest.way-home was not judged: some states are out of bounds"}
    assert (suite.get("failures"), suite.get("errors")) == ("2", "1")


def test_junit_passes_nothing_that_a_bound_left_open(cli: Cli) -> None:
    cli("check", "solo", "--depth", "2", "--junit", "junit.xml")
    suite = junit()
    assert suite.get("errors") == suite.get("tests")
    assert all("the search stopped at depth 2" in (e.get("message") or "") for c in suite for e in c)


def test_junit_of_a_world_that_expects_violations(cli: Cli) -> None:
    cli("check", "crowded-no-preemption", "--junit", "junit.xml")
    suite = junit()
    assert (suite.get("failures"), suite.get("errors")) == ("0", "0")
    cli("check", "crowded-no-preemption", "--junit", "junit.xml", "--depth", "20")
    suite = junit()
    notes = {c.get("name"): c.findtext("system-out") for c in suite if c.find("error") is None}
    assert notes == {
        "rest.no-dead-end": "as this world expects: "
        "rest.no-dead-end is violated after 18 steps in the world crowded-no-preemption"
    }
    assert suite.get("failures") == "0"


# ---------------------------------------------------------------------------------------------------- replay
@pytest.fixture
def good_and_bad(tmp_path: Path) -> list[str]:
    """A story that gives its record, and the same with another record."""
    text = story_files()[0].read_text()
    (tmp_path / "good.txt").write_text(text)
    (tmp_path / "bad.txt").write_text(text + "and a line that no run gives\n")
    return ["good.txt", "bad.txt"]


def test_replay_for_machines(cli: Cli, good_and_bad: list[str]) -> None:
    ran = cli("replay", *good_and_bad, "--json", "--junit", "junit.xml")
    assert (ran.code, ran.err) == (1, "")
    document = ran.document("replay")
    assert document["verdict"] == "violated"
    assert [(r["file"], r["verdict"], len(r["failures"])) for r in document["files"]] == [
        ("good.txt", "holds", 0),
        ("bad.txt", "violated", 1),
    ]
    suite = junit()
    assert [(c.get("name"), c.get("classname")) for c in suite] == [
        (f, "schedproof.replay.model") for f in good_and_bad
    ]
    assert (suite.get("tests"), suite.get("failures"), suite.get("errors")) == ("2", "1", "0")
    assert messages(suite, "failure") == {"bad.txt": document["files"][1]["failures"][0].splitlines()[0]}
    assert suite.findtext("testcase[@name='bad.txt']/failure") == document["files"][1]["failures"][0]


# ------------------------------------------------------------------------------------------------- no result
@pytest.mark.parametrize(
    ("command", "arguments"),
    [
        ("check", ["check", "nowhere"]),
        ("check", ["check", "--depth", "many"]),
        ("drive", ["drive", "no-engine"]),
        ("replay", ["replay", "nothing.txt"]),
        ("replay", ["replay", "--junit", "nowhere/junit.xml"]),
        ("show", ["show", "nothing"]),
        (None, ["chekc"]),
    ],
    ids=lambda v: " ".join(v) if isinstance(v, list) else "",
)
def test_what_cannot_be_used_is_a_document_too(cli: Cli, command: str | None, arguments: list[str]) -> None:
    ran = cli(*arguments, "--json")
    assert ran.code == 2
    document = ran.document("error")
    assert (document["command"], document["verdict"]) == (command, "error")
    assert ran.err == document["error"] + "\n"
    assert cli(*arguments).out == ""


def test_an_internal_error_is_a_document_too(cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(*_: object) -> None:
        raise RuntimeError("lost")

    monkeypatch.setattr(command, "shipped", broken)
    ran = cli("check", "--json")
    assert (ran.code, ran.document("error")["verdict"]) == (4, "disagreement")
