"""`show`: everything that is declared can be shown in each form, and a trace in the form it was written in."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from checker.cli.show import LISTS
from model.language.edits import parts
from model.lifecycle import LIFECYCLE
from specs.auxiliary import AUXILIARY
from specs.faults import FAULTS
from specs.policies import POLICIES
from specs.properties import LIVENESS, PROPERTIES
from specs.worlds import world_files
from tests.cli.conftest import Cli

NAMES = {
    "rules": [r.name for r in LIFECYCLE.rules],
    "properties": [p.name for p in (*PROPERTIES, *LIVENESS)],
    "auxiliary": [p.name for p in AUXILIARY],
    "worlds": list(world_files()),
    "faults": [f.name for f in FAULTS],
    "policies": [p.name for p in POLICIES],
    "dials": [d.name for d in LIFECYCLE.dials],
}
KEYS = {what: what.removesuffix("s") for what in NAMES} | {
    "properties": "property",
    "auxiliary": "property",
    "policies": "policy",
}
ONE_BY_ONE = [name for what, names in NAMES.items() if what != "dials" for name in names]


def test_every_list_is_here() -> None:
    assert set(LISTS) == set(NAMES) == set(KEYS)


@pytest.mark.parametrize("what", NAMES)
def test_a_list_has_every_name_in_every_form(cli: Cli, what: str) -> None:
    text, table = cli("show", what), cli("show", what, "--format", "md")
    ran = cli("show", what, "--format", "json")
    assert (text.code, table.code, ran.code) == (0, 0, 0)
    assert (text.err, table.err, ran.err) == ("", "", "")
    rows = ran.document("show")[what]
    assert sorted(row[KEYS[what]] for row in rows) == sorted(NAMES[what])
    head, *lines = text.out.splitlines()
    assert head.split()[0] == KEYS[what]
    assert sorted(line.split()[0] for line in lines) == sorted(NAMES[what])
    cells = [line.strip("|").split(" | ") for line in table.out.splitlines()]
    assert len({len(row) for row in cells}) == 1
    assert sorted(row[0].strip() for row in cells[2:]) == sorted(NAMES[what])


def test_auxiliary_invariants_are_listed_with_who_needs_them(cli: Cli) -> None:
    lines = cli("show", "auxiliary").out.splitlines()
    assert any(line.startswith("window.launched-holds ") and "ownership.stale-waits needs" in line for line in lines)


@pytest.mark.parametrize("name", ONE_BY_ONE)
def test_a_card_in_every_form(cli: Cli, name: str) -> None:
    text, listed, ran = (cli("show", name, "--format", form) for form in ("text", "md", "json"))
    assert (text.code, listed.code, ran.code) == (0, 0, 0)
    assert name in ran.document("show").values()
    assert text.out.startswith(name)
    assert all(line.startswith("  ") or not line for line in text.out.splitlines()[1:])
    assert listed.out.startswith(f"**{name}")
    assert all(line.lstrip().startswith("- ") for line in listed.out.splitlines()[2:])


@pytest.mark.parametrize("name", NAMES["rules"])
def test_a_part_shows_its_rule(cli: Cli, name: str) -> None:
    declared = LIFECYCLE.rule(name)
    whole = cli("show", name).out
    *card, _ = whole.splitlines()
    for part in parts(declared):
        *same, tried = cli("show", part).out.splitlines()
        assert same == card
        assert tried == f"  try: schedproof check --without {part}"
        assert f"    {part}" in whole


def test_a_rule_card(cli: Cli) -> None:
    lines = cli("show", "deliver").out.splitlines()
    assert lines[:5] == [
        "deliver(r: Request)",
        "  The client takes the next committed token. After the terminal message it takes no more.",
        "  by the client; weakly fair",
        "  guards:",
        "    deliver.undelivered: delivered[r] < committed[r]",
    ]
    assert "    deliver/delivered: delivered[r] becomes delivered[r] + 1" in lines
    assert lines[-1] == "  try: schedproof check --without deliver.undelivered"
    assert "  exists only where preemption" in cli("show", "preempt").out


def test_a_property_card(cli: Cli) -> None:
    lines = cli("show", "eligibility.within-budget").out.splitlines()
    assert lines[:3] == [
        "eligibility.within-budget  (R8, of every state)",
        "  The tokens planned for a step stay within the token budget.",
        "  why: The budget bounds the time of a step and the size of its tensors.",
    ]
    assert "  exactly: (the sum over Requests r of planned[r]) <= budget" in lines


def test_a_fault_card_and_a_world_card(cli: Cli) -> None:
    fault = cli("show", "notify-twice").out.splitlines()
    assert fault[:4] == [
        "notify-twice",
        "  The terminal message is sent again.",
        "  change: without notify.once",
        "  must be caught by delivery.message-once, in the world pair for example",
    ]
    world = cli("show", "crowded-no-preemption").out.splitlines()
    assert world[2:] == [
        "  states up to renaming: 6,698",
        "  expected to violate rest.no-dead-end, rest.way-home",
        "  try: schedproof check crowded-no-preemption",
    ]


@pytest.mark.parametrize("name", ["notify-twice", "deliver", "solo"])
def test_what_a_card_says_to_try_runs(cli: Cli, name: str) -> None:
    tried = cli("show", name).line("  try:")
    _, *arguments = tried.split()
    ran = cli(*arguments, "--depth", "3")
    assert (ran.code, ran.err) in [(1, ""), (3, "")]


# ------------------------------------------------------------------------------------------------------ traces
@pytest.fixture
def trace(cli: Cli) -> str:
    document = cli("check", "--fault", "notify-twice", "--depth", "5", "--json").document("check")
    found = {v["property"]: str(v["trace"]) for v in document["worlds"][0]["violations"]}
    return found["delivery.message-once"]


def test_a_trace_in_every_form(cli: Cli, trace: str) -> None:
    text, table, ran = (cli("show", trace, "--format", form) for form in ("text", "md", "json"))
    assert (text.code, table.code, ran.code) == (0, 0, 0)
    assert ran.document("show") == json.loads(Path(trace).read_text())
    assert text.out.splitlines()[0] == (
        "delivery.message-once is violated after 5 steps in the world pair, with the fault notify-twice"
    )
    assert table.out.splitlines()[0] == f"**{text.out.splitlines()[0]}**"
    assert sum(line.startswith("| ") for line in table.out.splitlines()) == 6
    assert text.out.splitlines()[-1] == (
        "  The unchanged rules refuse notify(r0) at step 5: the guard notify.once is false (notified[r0] = 1)."
    )


def test_a_trace_under_any_name_and_place(cli: Cli, trace: str, tmp_path: Path) -> None:
    expected = cli("show", trace).out
    for place in ("./renamed", "a copy", "x.itf.json"):
        Path(place).write_text(Path(trace).read_text())
        assert cli("show", place).out == expected
        assert cli("show", str(tmp_path / place)).out == expected


def test_a_trace_whose_property_was_edited(cli: Cli, trace: str) -> None:
    content = Path(trace).read_text()
    changed = "violated; the rules have changed since the trace was made, or it was edited."
    for name, said in (
        ("delivery.grows", f" does not end with delivery.grows {changed}"),
        ("bounds.ref", f" does not end with bounds.ref {changed}"),
        ("delivery.grow", " is about delivery.grow, which is no property; did you mean delivery.grows."),
    ):
        Path(trace).write_text(content.replace('"delivery.message-once"', f'"{name}"'))
        ran = cli("show", trace)
        assert (ran.code, ran.out, ran.err) == (2, "", f"error: {trace}{said}\n")
