"""`check`: exit codes, what it prints for people, and that what it tells you to type works."""

from __future__ import annotations

import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

from checker.cli import check as command
from checker.search.limits import Limits
from checker.verdict import Disagreement, exit_code_table
from checker.worlds import shipped
from model.lifecycle import LIFECYCLE
from specs.worlds import world_files
from tests.cli.conftest import Cli, Ran, judged_in


# ------------------------------------------------------------------------------------------------ exit codes
@pytest.mark.parametrize(
    ("arguments", "code", "last"),
    [
        (["solo"], 0, "holds: solo explored to the end"),
        (["solo", "misfit"], 0, "holds: 2 worlds explored to the end"),
        (["crowded-no-preemption"], 0, "holds: crowded-no-preemption explored to the end, violated as expected"),
        (["solo", "crowded-no-preemption"], 0, "holds: 2 worlds explored to the end, 1 of them violated as expected"),
        (["solo", "--without", "notify.once"], 1, "violated: in solo"),
        (["misfit", "--fault", "admit-what-never-fits"], 1, "violated: in misfit"),
        (["crowded", "--set", "preemption=off"], 1, "violated: in crowded"),
        (["solo", "misfit", "--without", "admit.fits"], 1, "violated: in misfit"),
        (["solo", "--depth", "3"], 3, "undetermined: bounds met in solo (depth 3)"),
        (["solo", "misfit", "--states", "640"], 3, "undetermined: bounds met in misfit (640 states)"),
        (["solo", "--memory", "1"], 3, "undetermined: bounds met in solo (1 MB of memory)"),
        (["pair", "--timeout", "0.000001"], 3, "undetermined: bounds met in pair (1e-06 s)"),
        (["solo", "--simulate", "10"], 3, "undetermined: bounds met in solo (10 random walks)"),
        (["misfit", "solo", "--without", "notify.once", "--states", "10"], 3, None),
        (["solo", "misfit", "--without", "notify.once", "--states", "640"], 1, "violated: in solo, misfit"),
    ],
)
def test_exit_codes_and_last_lines(cli: Cli, arguments: list[str], code: int, last: str | None) -> None:
    ran = cli("check", *arguments)
    assert (ran.code, ran.err) == (code, "")
    if last is not None:
        assert ran.last == last


def test_a_disagreement_is_an_exit_code_of_its_own(cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    def disagree(*arguments: object) -> None:
        raise Disagreement("two readings differ.")

    monkeypatch.setattr(command, "check_world", disagree)
    ran = cli("check", "solo")
    assert (ran.code, ran.out, ran.err) == (4, "", "internal disagreement: two readings differ.\n")


def test_every_help_ends_with_the_exit_codes() -> None:
    for arguments in ([], ["check"], ["show"]):
        ran = subprocess.run(
            [sys.executable, "-m", "checker", *arguments, "--help"], capture_output=True, text=True, check=True
        )
        assert ran.stdout.rstrip().endswith(exit_code_table())


def test_a_subprocess_gives_the_code_and_keeps_the_two_streams_apart(tmp_path: Path) -> None:
    for arguments, code in (
        (["solo"], 0),
        (["solo", "--without", "notify.once"], 1),
        (["nowhere"], 2),
        (["solo", "--depth", "1"], 3),
    ):
        ran = subprocess.run(
            [sys.executable, "-m", "checker", "check", *arguments, "--traces", str(tmp_path)],
            capture_output=True,
            text=True,
            check=False,
        )
        assert ran.returncode == code
        assert bool(ran.stderr) == (code == 2)
        assert bool(ran.stdout) == (code != 2)


# ------------------------------------------------------------------------------------------------- for people
def test_what_a_world_that_holds_prints(cli: Cli) -> None:
    lines = cli("check", "solo").out.splitlines()
    assert lines[0] == f"solo: holds: {len(judged_in('solo'))} properties in every interleaving"
    assert lines[1].startswith("  rests on requests 1, prompt 2, limit 2, blocks 2, block_size 2, budget 2, seats 1, ")
    assert re.match(
        r"  621 states up to renaming, 1,952 transitions, depth 29, \d+\.\d s \([\d,]+ states/s\)\Z", lines[2]
    )
    assert lines[3].startswith("rules that never fire here: reject; witnesses not met, so that these properties ")
    assert lines[4:] == ["holds: solo explored to the end"]


def test_what_a_violation_prints(cli: Cli) -> None:
    ran = cli("check", "--fault", "release-while-pinned", "--depth", "7")
    assert ran.code == 1
    lines = ran.out.splitlines()
    assert lines[0] == (
        "pair: with the fault release-while-pinned: VIOLATED: ownership.keeps; the search stopped at depth 7"
    )
    path = "schedproof-traces/pair.release-while-pinned.ownership.keeps.itf.json"
    assert f"    ownership.keeps    7 steps  {path}" in lines
    assert "    7  release(r0)                   table[r0, b0]: 1 -> 0, ref[b0]: 1 -> 0" in lines
    assert ran.line("show it:") == f"schedproof show {path}"
    assert ran.line("again:") == "schedproof check pair --fault release-while-pinned --depth 7"
    assert ran.last == "violated: in pair"


def test_without_a_world_a_change_is_tried_until_something_shows(cli: Cli) -> None:
    ran = cli("check", "--without", "admit.fits")
    assert ran.code == 1
    assert [line.partition(":")[0] for line in ran.out.splitlines() if ": without admit.fits: " in line] == [
        "solo",
        "misfit",
    ]
    untried = sum(not w.expect for w in shipped(LIFECYCLE)) - 2
    assert f"{untried} worlds were not tried any more; name one to explore it" in ran.out


def test_a_world_that_expects_violations_is_judged_afresh_under_a_change(cli: Cli) -> None:
    ran = cli("check", "crowded-no-preemption", "--without", "notify.once", "--json")
    assert ran.code == 1
    (world,) = ran.document("check")["worlds"]
    assert not world["as_expected"]
    assert {"rest.no-dead-end", "delivery.message-once"} <= {v["property"] for v in world["violations"]}


def test_quiet_prints_the_last_line(cli: Cli) -> None:
    for arguments in (
        ["solo"],
        ["solo", "--without", "notify.once"],
        ["--without", "notify.once"],
        ["solo", "--depth", "2"],
    ):
        loud = cli("check", *arguments)
        quiet = cli("check", *arguments, "--quiet")
        assert quiet.code == loud.code
        assert quiet.out == loud.last + "\n"


def test_guards_prints_how_often_each_alone_was_false(cli: Cli) -> None:
    out = cli("check", "solo", "--guards").out
    assert "    submit                  1   new 620\n" in out
    assert re.search(r"^    notify +89   finished 267, once 89, delivered 28$", out, re.MULTILINE)


# --------------------------------------------------------------------------------------- what it tells you to type
WAYS = [
    ["pair", "--fault", "notify-twice", "--depth", "5"],
    ["--without", "notify.once"],
    ["solo", "--without", "notify.once", "--without", "release.unpinned", "--no-reduction"],
    ["crowded", "--set", "preemption=off", "--set", "prompt=2,2", "--set", "cancellation=off", "--all"],
    ["pair", "--fault", "notify-twice", "--simulate", "40", "--seed", "5"],
    ["pair", "--fault", "sample-mid-prompt", "--states", "300"],
    ["./my worlds/a world.toml", "--without", "notify.once"],
]


@pytest.fixture
def own_world(tmp_path: Path) -> None:
    path = tmp_path / "my worlds" / "a world.toml"
    path.parent.mkdir()
    path.write_text(world_files()["solo"].read_text())


@pytest.mark.usefixtures("own_world")
@pytest.mark.parametrize("arguments", WAYS, ids=" ".join)
def test_the_line_that_reproduces_it_reproduces_it(cli: Cli, arguments: list[str]) -> None:
    first = cli("check", *arguments)
    assert first.code == 1
    program, *again = shlex.split(first.line("again:"))
    assert program == "schedproof"
    second = cli(*again)
    assert second.code == 1
    assert found_in(second) == found_in(first)


def found_in(ran: Ran) -> str:
    """From the list of violations to the command that reproduces them."""
    return ran.out[ran.out.index("  violated, each with its ") : ran.out.index("again: ")]


@pytest.mark.usefixtures("own_world")
@pytest.mark.parametrize("arguments", WAYS, ids=" ".join)
def test_the_line_that_shows_it_shows_it(cli: Cli, arguments: list[str]) -> None:
    checked = cli("check", *arguments)
    program, *show = shlex.split(checked.line("show it:"))
    assert program == "schedproof"
    shown = cli(*show)
    assert (shown.code, shown.err) == (0, "")
    assert shown.out.strip() in checked.out


def test_traces_go_where_they_are_wanted(cli: Cli, tmp_path: Path) -> None:
    changes = ["--without", "notify.once", "--without", "launch/tokens"]
    cli("check", "solo", *changes, "--depth", "5", "--traces", "here/and/there")
    found = [p.name for p in (tmp_path / "here" / "and" / "there").iterdir()]
    assert "solo.without-notify.once.without-launch-tokens.delivery.message-once.itf.json" in found
    assert not (tmp_path / "schedproof-traces").exists()


# ----------------------------------------------------------------------------------------------- interruption
def test_ctrl_c_prints_what_is_known(cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    genuine = Limits.met

    def press(self: Limits, states: int, seconds: float) -> str | None:
        if states > 2_000:
            raise KeyboardInterrupt
        return genuine(self, states, seconds)

    monkeypatch.setattr(Limits, "met", press)
    ran = cli("check", "solo", "pair", "trio")
    assert ran.code == 3
    assert ran.last == "undetermined: bounds met in pair (an interrupt (Ctrl-C))"
    assert "1 worlds were not tried any more; name one to explore it" in ran.out


def test_ctrl_c_elsewhere_is_one_word(cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    def press(*arguments: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(command, "find", press)
    ran = cli("check", "solo")
    assert (ran.code, ran.out, ran.err) == (3, "", "interrupted\n")


def test_a_reader_that_has_gone_ends_it_quietly() -> None:
    command = [sys.executable, "-m", "checker", "show", "rules"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as ran:
        assert ran.stdout is not None
        assert ran.stderr is not None
        ran.stdout.close()
        assert ran.stderr.read() == b""
    assert ran.returncode == 3


def test_progress_is_a_line_with_the_share_that_is_done(monkeypatch: pytest.MonkeyPatch, cli: Cli) -> None:
    monkeypatch.setattr("checker.report.output.PLAIN_EVERY", 0.0)
    err = cli("check", "solo").err
    assert re.search(
        r"^solo: level 12, \d+ of 621 states, [\d,]+/s, frontier \d+ \(x[\d.]+\), \d+ MB, most fired: \w+$",
        err,
        re.MULTILINE,
    )
