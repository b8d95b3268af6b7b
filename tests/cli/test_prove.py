"""`prove`: exit codes, what is printed, and that what cannot be used is refused in a sentence."""

from __future__ import annotations

import re
import xml.etree.ElementTree as ET
from pathlib import Path

import pytest

from tests.cli.conftest import Cli

FEW = ("delivery.message-once", "delivery.finish-has-reason")


def test_a_few_properties_are_proved_with_what_they_rest_on(cli: Cli) -> None:
    ran = cli("prove", *FEW, "--core")
    assert ran.code == 0
    assert ran.last == "holds: 2 claims proved for every size"
    assert "  such that (device is IN_ORDER" in ran.out
    assert "    - (for every Request r: not sharing or prefix <= prompt[r])" in ran.out, "what every world must satisfy"
    assert "    requests, prompt, limit, blocks, block_size, budget, seats, depth, workers, cancellation," in ran.out
    assert "  notify, delivery.message-once: " in ran.out


def test_every_query_is_written_also_why_a_sum_changes_as_it_does(cli: Cli) -> None:
    ran = cli("prove", "progress.owed-adds-up", "--set", "publish=computed", "--smt2", "queries", "--core")
    assert ran.code == 0
    written = sorted(Path("queries").iterdir())
    (said,) = re.findall(r"^  ([\d,]+) queries in ", ran.out, re.MULTILINE)
    assert len(written) == int(said.replace(",", ""))
    changes = "total(Slot i: ite((entry[i, r] == LIVE) & samples[i, r], 1, 0)): every member becomes 0, in row r"
    (abort,) = (path for path in written if path.read_text().startswith(f"; abort: {changes}, part 1\n"))
    assert f"  abort, {changes}: nothing else" in ran.out
    assert abort.name.startswith("abort.total-Slot-i-ite-entry-i-r-==-LIVE-samples-i-r-1-0-every-member-becomes-0")
    assert re.search(r"^  how sums change +\d+ +\d+ ", ran.out, re.MULTILINE)


@pytest.mark.slow
def test_the_document(cli: Cli) -> None:
    found = cli("prove", "delivery.message-once", "--json").document("prove")
    assert found["verdict"] == "holds"
    assert {"name": "delivery.message-once", "proved": True} in found["claims"]
    assert {o["answer"] for o in (*found["obligations"], *found["reasons"])} == {"proved"}
    assert found["reasons"], "what is known of the sums that were spoken of"


def test_a_missing_guard_is_refuted_with_a_trace(cli: Cli) -> None:
    ran = cli("prove", "delivery.message-once", "--without", "notify.once")
    assert ran.code == 1
    assert ran.last == "violated: delivery.message-once, with a trace"
    assert "notify(r0) breaks delivery.message-once in a state of the world" in ran.out
    assert "delivery.message-once is violated after 5 steps in the world" in ran.out


def test_a_fault_that_changes_nothing_where_invariants_are_proved_is_asked_for_where_it_does(cli: Cli) -> None:
    ran = cli("prove", "--fault", "preempt-leaned-on")
    assert (ran.code, ran.last) == (1, "violated: ownership.exclusive, with a trace")
    assert "So ownership.exclusive is asked for those of its world ordered-publish: release fenced," in ran.out
    assert "ownership.exclusive is violated after 10 steps in the world ordered-publish" in ran.out


def test_a_guard_that_says_nothing_for_the_dials_that_are_proved_is_told_to(cli: Cli) -> None:
    said = "  without preempt.not-leaned-on, every rule does the same as before"
    assert said in cli("prove", "delivery.message-once", "--without", "preempt.not-leaned-on").out
    assert said not in cli("prove", "delivery.message-once", "--without", "preempt.running").out


def test_a_discipline_that_is_not_declared_safe_is_tried_as_it_is(cli: Cli) -> None:
    ran = cli("prove", "delivery.message-once", "--set", "release=ordered", "--set", "device=unordered")
    assert ran.code == 0
    assert "  whatever the discipline\n  with release ordered, device unordered" in ran.out
    ran = cli("prove", "ownership.keeps", "--set", "release=ordered")
    assert (ran.code, ran.err) == (2, "error: ownership.keeps says nothing for these dials; set them otherwise.\n")


def test_a_junit_file_has_a_case_for_each_family_of_obligations(cli: Cli) -> None:
    assert cli("prove", "delivery.message-once", "--junit", "junit.xml").code == 0
    suite = ET.parse("junit.xml").getroot()
    cases = {c.get("name"): c for c in suite}
    assert {"in every state", "notify"} <= set(cases)
    assert (suite.get("failures"), suite.get("errors")) == ("0", "0")
    assert cli("prove", "delivery.message-once", "--without", "notify.once", "--junit", "junit.xml").code == 1
    (notify,) = (c for c in ET.parse("junit.xml").getroot() if c.get("name") == "notify")
    (failure,) = notify.findall("failure")
    assert failure.get("message") == "notify breaks delivery.message-once"
    assert "real:" in (failure.text or "")
    cli("prove", "--bmc", "6", "solo", "--fault", "notify-twice", "--junit", "junit.xml")
    assert [(c.get("name"), len(c.findall("failure"))) for c in ET.parse("junit.xml").getroot()] == [("solo", 1)]


def test_bounded_checking(cli: Cli) -> None:
    ran = cli("prove", "--bmc", "6", "solo", "--fault", "notify-twice")
    assert ran.code == 1
    assert "solo: violated after 5 steps, and not after fewer" in ran.out
    assert ran.last == "violated: delivery.message-once, bounds.notified"
    found = cli("prove", "--bmc", "6", "solo", "--fault", "notify-twice", "--json").document("prove")
    assert len(found["bmc"]["events"]) == found["bmc"]["steps"] == 5


def test_a_dead_end_is_found_by_bounded_checking(cli: Cli) -> None:
    ran = cli("prove", "rest.no-dead-end", "--bmc", "2", "misfit")
    assert "nothing is violated within 2 steps" in ran.out
    ran = cli("prove", "--bmc", "3", "misfit", "--fault", "rejected-not-answered")
    assert (ran.code, ran.last) == (1, "violated: rest.no-dead-end")
    assert "rest.no-dead-end is violated after 2 steps in the world misfit" in ran.out


def test_a_bound_is_no_proof(cli: Cli) -> None:
    ran = cli("prove", "--bmc", "3", "solo", "--quiet")
    assert (ran.code, ran.out) == (3, "undetermined: nothing within 3 steps, which is a bound\n")


def test_a_solver_that_gave_up_is_not_said_to_have_found_nothing(cli: Cli) -> None:
    ran = cli("prove", "--bmc", "9", "pair", "--timeout", "0.01", "--quiet")
    assert ran.code == 3
    assert re.fullmatch(r"undetermined: the solver gave up at \d steps?; give it longer with --timeout\n", ran.out)
    found = cli("prove", "--bmc", "9", "pair", "--timeout", "0.01", "--json").document("prove")["bmc"]
    assert found["unknown"] is True
    assert found["steps"] < 9


def test_dials_are_set_for_bounded_checking_too(cli: Cli) -> None:
    ran = cli(
        "prove", "rest.no-dead-end", "--bmc", "6", "solo", "--set", "cancellation=off", "--fault", "abort-frees-nothing"
    )
    assert "nothing is violated within 6 steps" in ran.out
    assert cli("prove", "rest.no-dead-end", "--bmc", "6", "solo", "--fault", "abort-frees-nothing").code == 1


def test_what_a_proof_rests_on_is_looked_into_and_is_not_what_was_asked(cli: Cli) -> None:
    ran = cli("prove", "delivery.context-first", "--without", "select.running")
    assert ran.code == 3
    assert "  and with these, since their proofs use them: delivery.context-first\n" in ran.out
    assert "eligibility.only-running is violated after" in ran.out
    rests = "undetermined: not proved: delivery.context-first, whose proof rests on what is violated: "
    assert ran.last.startswith(rests)
    assert "eligibility.only-running" in ran.last.removeprefix(rests).split(", ")


def test_what_is_asked_is_asked_also_where_a_fault_changes_nothing(cli: Cli) -> None:
    ran = cli("prove", "delivery.finish-has-reason", "--fault", "preempt-leaned-on")
    assert (ran.code, ran.last) == (0, "holds: 1 claim proved for every size")
    assert "  So delivery.finish-has-reason is asked for those of its world ordered-publish: " in ran.out


def test_what_was_tried_only_for_a_short_time_is_said_to_be(cli: Cli) -> None:
    """The world that shows it is none of the first few."""
    ran = cli("prove", "--without", "hit.settled", "--json")
    assert ran.code == 1
    found = ran.document("prove")
    assert [c["claim"] for c in found["counterexamples"] if c["real"]] == ["sharing.computed-first"]
    others = {
        o["why"] for o in found["obligations"] if o["answer"] == "open" and o["claim"] != "sharing.computed-first"
    }
    assert others == {"tried for a short time only, since other claims are broken"}
    assert found["untried"] > 0


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["ownership.keep"], "there is no property ownership.keep; did you mean ownership.keeps."),
        (
            ["rest.way-home"],
            "rest.way-home is about what can be reached, which induction does not show; check explores it.",
        ),
        (["--set", "prompt=3"], "--set prompt: it has a value for each Request, and there are any number of them."),
        (["--set", "dept=3"], "--set: there is no dial dept; did you mean depth."),
        (["--set", "depth=none"], "--set depth: depth is 'none', but must be a whole number of at least 1."),
        (["--bmc", "x", "solo"], "--bmc x solo: x is no number of steps; write --bmc K WORLD, such as --bmc 8 pair."),
        (
            ["--smt2", "/dev/null/queries"],
            "--smt2 /dev/null/queries cannot be written to (Not a directory); give another directory.",
        ),
        (["--smt2", "/proc"], "--smt2 /proc cannot be written to (No such file or directory); give another directory."),
        (["--bmc", "3", "sol"], "there is no world sol; did you mean solo, or give the path of a .toml file."),
        (
            ["--bmc", "\u00b2", "solo"],
            "--bmc \u00b2 solo: \u00b2 is no number of steps; write --bmc K WORLD, such as --bmc 8 pair.",
        ),
        (["--bmc", "3", "solo", "--smt2", "queries"], "--bmc takes no --smt2, which is for proofs; leave one out."),
        (["--bmc", "3", "solo", "--core"], "--bmc takes no --core, which is for proofs; leave one out."),
        (
            ["sharing.one-name", "--bmc", "3", "solo"],
            "sharing.one-name says nothing in solo; set its dials otherwise, or take another world.",
        ),
        (
            ["rest.way-home", "--bmc", "3", "solo"],
            "rest.way-home is about what can be reached, which no bounded run shows; check explores it.",
        ),
        (["no.such", "--bmc", "3", "solo"], "there is no property no.such for bounded checking"),
    ],
)
def test_what_cannot_be_used(cli: Cli, arguments: list[str], said: str) -> None:
    ran = cli("prove", *arguments)
    assert ran.code == 2
    assert ran.err.startswith(f"error: {said}")
