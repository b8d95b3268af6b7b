"""Faults and properties of a user's own, from a file, and what is said of a file that cannot be used."""

from __future__ import annotations

from pathlib import Path

import pytest

from checker.catalogue import SHIPPED, catalogue
from checker.verdict import Unusable
from model.lifecycle import LIFECYCLE
from tests.cli.conftest import Cli

MINE = '''
from model.language import Term, forall, prop
from model.language.edits import Drop
from model.lifecycle.dials import Request
from model.lifecycle.state import Lifecycle
from specs.faults.fault import Fault
from specs.kinds import TERMINAL_MESSAGE


@prop(rule="ours", reason="We bill by message.")
def one_message(s: Lifecycle) -> Term:
    """A request has at most one message."""
    return forall(Request, lambda r: s.notified[r] <= 1)


FAULTS = (
    Fault("my-fault", "Two messages.", (Drop("notify.once"),), TERMINAL_MESSAGE, "mine.one-message", "solo", "ours"),
)
'''


@pytest.fixture
def mine(tmp_path: Path) -> Path:
    path = tmp_path / "mine.py"
    path.write_text(MINE)
    return path


def test_a_file_adds_its_faults_and_properties(mine: Path) -> None:
    known = catalogue(LIFECYCLE, [mine])
    assert known.fault("my-fault").caught_by == "mine.one-message"
    assert len(known.properties) == len(SHIPPED.properties) + 1
    assert len(known.faults) == len(SHIPPED.faults) + 1


def test_commands_take_the_file(cli: Cli, mine: Path) -> None:
    ran = cli("check", "--with", str(mine), "--fault", "my-fault")
    assert ran.code == 1
    assert "mine.one-message is violated after 5 steps" in ran.out
    assert f"schedproof check solo --with {mine} --fault my-fault" in ran.out
    trace = "schedproof-traces/solo.my-fault.mine.one-message.itf.json"
    assert "mine.one-message" in cli("show", trace, "--with", str(mine)).out
    assert cli("replay", trace, "--with", str(mine)).code == 0
    assert "We bill by message." in cli("show", "mine.one-message", "--with", str(mine)).out


def test_mutate_takes_the_file(cli: Cli, mine: Path) -> None:
    ran = cli("mutate", "--with", str(mine), "my-fault")
    assert (ran.code, "mine.one-message after 5 steps in solo" in ran.out) == (0, True)


def test_a_trace_without_its_file_says_what_is_missing(cli: Cli, mine: Path) -> None:
    cli("check", "--with", str(mine), "--fault", "my-fault")
    ran = cli("show", "schedproof-traces/solo.my-fault.mine.one-message.itf.json")
    assert ran.code == 2
    assert "If it is a fault of your own, name its file with --with FILE.py." in ran.err


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("x = 1\n", r"it defines no fault, property or policy"),
        ("import nothing_of_this_name\n", r"line 1: ModuleNotFoundError: .*; mend the file there"),
        ("def f(:\n", r"line 1: SyntaxError"),
        (MINE.replace("my-fault", "notify-twice"), r"there is a fault notify-twice already; give yours another name"),
        (
            MINE.replace("mine.one-message", "mine.one-mesage"),
            r"mine\.one-mesage, which is no property; did you mean mine",
        ),
        (MINE.replace("notified[r] <= 1", "notified[r] <= 1 and True"), r"--with .*mine\.py: "),
    ],
    ids=["nothing", "import", "syntax", "twice", "caught by", "language"],
)
def test_a_file_that_cannot_be_used(mine: Path, text: str, said: str) -> None:
    mine.write_text(text)
    with pytest.raises(Unusable, match=said):
        catalogue(LIFECYCLE, [mine])


def test_a_file_that_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(Unusable, match="there is no such file; give the path of a Python file"):
        catalogue(LIFECYCLE, [tmp_path / "none.py"])


def test_a_fault_that_changes_what_is_not_there(cli: Cli, mine: Path) -> None:
    mine.write_text(MINE.replace("notify.once", "notify.twice"))
    ran = cli("check", "--with", str(mine), "--fault", "my-fault")
    assert ran.code == 2
    assert "the fault my-fault: notify has no part notify.twice" in ran.err
