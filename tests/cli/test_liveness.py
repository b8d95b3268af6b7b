"""Promises and policies on the command line: text, JSON, JUnit, trace files that go on for ever, and what cannot be used."""

from __future__ import annotations

import json
import xml.etree.ElementTree as ET
from pathlib import Path
from typing import Any

import pytest

from checker.cli import policies as command
from checker.replay import itf
from checker.verdict import Unusable
from model.lifecycle import LIFECYCLE
from specs.policies import POLICIES, PROMISED
from specs.properties import LIVENESS
from tests.cli.conftest import Cli, judged_in
from tests.search.running import file_of

ENDS = "liveness.submitted-finishes"
SCARCE = ("check", "scarce", "--policy", "any", "--set", "cancellation=off")
TRACE = f"schedproof-traces/scarce.any.{ENDS}.itf.json"


def test_promises_are_judged_where_they_are_asked_for(cli: Cli) -> None:
    without, ran = cli("check", "solo"), cli("check", "solo", "--liveness")
    assert (without.code, ran.code) == (0, 0)
    judged = len(judged_in("solo"))
    assert f"solo: holds: {judged} properties" in without.out
    assert f"solo: holds: {judged + len(LIVENESS) - len(PROMISED)} properties" in ran.out
    assert "621 states up to renaming" in without.out
    assert "1,109 states," in ran.out


def test_a_policy_that_breaks_its_promise(cli: Cli) -> None:
    ran = cli(*SCARCE)
    assert ran.code == 1
    assert f"scarce: under the policy any: VIOLATED: {ENDS}\n" in ran.out
    assert f"    {ENDS}    9 steps  {TRACE}  (the last 5 of them for ever)\n" in ran.out
    head = f"{ENDS} is violated by 4 steps and then 5 steps for ever in the world scarce, under the policy any"
    assert head in ran.out
    before, _, after = ran.out.partition("       for ever:\n")
    assert "    4  admit(r1)" in before
    assert "    5  acquire(r0, b0)" in after
    assert (
        "For r = r0: from step 1 on it is promised (phase[r0] is not NEW), and never comes, that phase[r0] is FINISHED."
        in after
    )
    assert (
        "This is a fair run: in the steps that are repeated, every rule that must not wait for ever is taken" in after
    )
    assert ran.line("again:") == "schedproof check scarce --policy any --set cancellation=off"
    shown = cli("show", TRACE)
    assert shown.out.startswith(head)
    table = cli("show", TRACE, "--format", "md").out
    assert table.index("| 4 | `admit(r1)`") < table.index("| | for ever: | |") < table.index("| 5 | `acquire(r0, b0)`")


def test_a_policy_that_keeps_it_is_tried_where_policies_are_compared(cli: Cli) -> None:
    ran = cli("check", "--policy", "orca")
    assert (ran.code, ran.last) == (0, "holds: 2 worlds explored to the end")
    assert "scarce: under the policy orca: holds" in ran.out
    assert "ample: under the policy orca: holds" in ran.out


def test_json_says_what_is_repeated(cli: Cli) -> None:
    (world,) = cli(*SCARCE, "--json").document("check")["worlds"]
    assert (world["policy"], world["up_to_renaming"]) == ("any", False)
    assert world["violations"] == [{"property": ENDS, "length": 9, "loop": 5, "trace": TRACE}]
    (plain,) = cli("check", "solo", "--without", "notify.once", "--json").document("check")["worlds"]
    assert plain["policy"] is None
    assert {v["loop"] for v in plain["violations"]} == {None}


# ------------------------------------------------------------------------------------------------- the file
def stored(cli: Cli) -> dict[str, Any]:
    cli(*SCARCE, "--quiet")
    found: dict[str, Any] = json.loads(Path(TRACE).read_text())
    return found


def test_the_file_says_where_the_loop_begins_and_runs_again(cli: Cli) -> None:
    document = stored(cli)
    assert document["loop"] == 4
    assert len(document["states"]) == 10
    first, last = ({k: v for k, v in document["states"][n].items() if k != "#meta"} for n in (4, 9))
    assert first == last
    assert document["#meta"]["schedproof"]["policy"] == "any"
    assert cli("replay", TRACE).code == 0
    assert cli("show", TRACE, "--format", "json").document("show") == document
    path = Path(TRACE)
    before = path.read_text()
    assert cli("replay", TRACE, "--rewrite").code == 0
    assert path.read_text() == before


@pytest.mark.parametrize(
    ("loop", "said"),
    [
        (10, "has the loop 10, which is no number of a state; make it again with check."),
        (-1, "has the loop -1, which is no number of a state; make it again with check."),
        (True, "has the loop True, which is no number of a state; make it again with check."),
        ("4", "has the loop '4', which is no number of a state; make it again with check."),
        (
            3,
            "the last state is not that of number 3, to which the file says the run comes back; the rules have changed",
        ),
    ],
)
def test_a_loop_that_is_none_is_refused(cli: Cli, loop: Any, said: str) -> None:
    document = stored(cli) | {"loop": loop}
    Path(TRACE).write_text(json.dumps(document))
    with pytest.raises(Unusable) as caught:
        itf.load(Path(TRACE), LIFECYCLE)
    assert said in str(caught.value)


def test_a_run_that_ends_shows_no_promise_broken(cli: Cli) -> None:
    document = stored(cli)
    del document["loop"]
    Path(TRACE).write_text(json.dumps(document))
    assert cli("show", TRACE).code == 2
    ran = cli("replay", TRACE)
    assert ran.code == 1
    assert f"does not violate {ENDS} any more" in ran.out


def test_a_loop_that_is_not_fair_shows_nothing(cli: Cli) -> None:
    """The run stands still where its loop began, though the policy must go on there."""
    document = stored(cli)
    document["states"] = document["states"][:5]
    document["#meta"]["schedproof"]["events"] = document["#meta"]["schedproof"]["events"][:4]
    Path(TRACE).write_text(json.dumps(document))
    assert cli("replay", TRACE).code == 1


def test_an_unknown_policy_in_a_file_is_refused(cli: Cli) -> None:
    document = stored(cli)
    document["#meta"]["schedproof"]["policy"] = "mine"
    Path(TRACE).write_text(json.dumps(document))
    ran = cli("show", TRACE)
    assert ran.code == 2
    assert "there is no policy mine; " in ran.err
    assert "If it is a policy of your own, name its file with --with FILE.py." in ran.err


# ------------------------------------------------------------------------------------------------ all policies
def small(monkeypatch: pytest.MonkeyPatch) -> None:
    """Worlds without cancellation, which are quickly explored."""
    monkeypatch.setattr(command, "find", lambda model, name: file_of(name, cancellation=False))


def test_all_policies_compared(cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    small(monkeypatch)
    ran = cli("check", "--policies", "--junit", "junit.xml")  # on a slow machine it shows progress, too
    assert ran.code == 0
    rows = {line.split("  ")[0]: line.split()[1:] for line in ran.out.splitlines() if line.startswith("liveness.")}
    names = [p.name for p in POLICIES]
    assert next(line.split() for line in ran.out.splitlines() if "oldest-victim" in line) == names
    assert set(rows) == {*(p.name for p in LIVENESS), f"{ENDS} without admit.fits"}
    assert rows[ENDS] == ["broken", "4+5", "kept", "kept", "broken", "8+20", "kept", "kept"]
    early = rows["liveness.leaves-early"]
    assert early[:6] == ["kept"] * 5 + ["broken"]
    assert ran.line("preempts").split() == ["yes"] * 4 + ["never"] * 2
    assert ran.last == "holds: 6 policies keep and break what they are said to"
    cases = ET.parse("junit.xml").getroot()
    assert [c.get("name") for c in cases] == names
    assert (cases.get("failures"), cases.get("errors")) == ("0", "0")
    assert cli("show", f"schedproof-traces/scarce.oldest-victim.{ENDS}.itf.json").code == 0

    document = cli("check", "--policies", "--json").document("check")
    assert document["verdict"] == "holds"
    assert [p["policy"] for p in document["policies"]] == names
    for policy, row in zip(POLICIES, document["policies"], strict=True):
        assert {n for n, outcome in row["promises"].items() if outcome == "broken"} == set(policy.breaks)
        assert set(row["promises"]) == {p.name for p in LIVENESS}
        assert (row["without_fits"] == {ENDS: "broken"}) == policy.relies_on_fits
    assert len(document["worlds"]) == 3 * len(POLICIES)


def test_a_policy_that_does_something_else_than_it_says_is_a_violation(cli: Cli, tmp_path: Path) -> None:
    mine = tmp_path / "mine.py"
    mine.write_text(
        "from specs.policies.orders import ANY\nfrom specs.policies.policy import Policy\n"
        'MINE = Policy("hopeful", "As any, and says that everything ends.", ANY.changes)\n'
    )
    world = tmp_path / "tight.toml"
    world.write_text(
        "[dials]\nrequests = 2\nprompt = 1\nlimit = 2\nblocks = 2\nblock_size = 1\nbudget = 2\nseats = 2\ncancellation = false\n"
    )
    ran = cli("check", str(world), "--policies", "--with", str(mine))
    assert (ran.code, ran.last) == (1, "violated: not what it is said to keep and break: hopeful")
    assert cli("check", str(world), "--policy", "hopeful", "--with", str(mine)).code == 1


def test_a_bound_leaves_the_comparison_open(cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    small(monkeypatch)
    ran = cli("check", "--policies", "--timeout", "0.000001")
    assert ran.code == 3
    assert ran.last.startswith("undetermined: a bound was met: any, fcfs, ")


def test_what_a_policy_is_said_to_break_must_break_where_policies_are_compared(
    cli: Cli, monkeypatch: pytest.MonkeyPatch
) -> None:
    """In a user's own world a policy may keep what it does not keep everywhere; in those it was made for it must not."""
    assert cli("check", "solo", "--policies").code == 0
    monkeypatch.setattr(command, "find", lambda model, name: file_of("solo"))
    ran = cli("check", "--policies")
    assert (ran.code, ran.last) == (1, "violated: not what it is said to keep and break: any, oldest-victim, static")


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["check", "--policy", "vlmm"], "there is no policy vlmm; did you mean vllm."),
        (
            ["check", "solo", "--liveness", "--simulate", "5"],
            "--simulate walks at random, which shows nothing of what happens in the end; leave one out.",
        ),
        (
            ["check", "--policies", "--fault", "notify-twice"],
            "--policies compares all policies under the unchanged rules; leave out --fault.",
        ),
        (
            ["check", "--policies", "--set", "depth=2"],
            "--policies compares all policies under the unchanged rules; leave out --set.",
        ),
    ],
)
def test_what_cannot_be_asked(cli: Cli, arguments: list[str], said: str) -> None:
    ran = cli(*arguments)
    assert (ran.code, ran.out, ran.err) == (2, "", f"error: {said}\n")
