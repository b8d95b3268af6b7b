"""`markov`: exact readouts, in words and for machines, and sentences for what cannot be read."""

from __future__ import annotations

import pytest

from tests.cli.conftest import Cli


def test_one_half_after_four_steps(cli: Cli) -> None:
    ran = cli("markov", "--p", "0.5", "--q", "0", "--steps", "4")
    assert (ran.code, ran.err) == (0, "")
    assert "     4  1/16     15/16\n" in ran.out
    assert "closed form: pending(n) = (1/2)^n, so pending(4) = 1/16\n" in ran.out
    assert "The terminal state is absorbing" in ran.out
    assert "does not simulate continuous batching" in ran.out
    assert ran.last == "holds: after 4 steps the request is pending with probability 1/16"


def test_a_terminal_state_that_is_left_breaks_a_lifecycle_rule(cli: Cli) -> None:
    ran = cli("markov", "--p", "1/2", "--q", "1/3")
    assert "this would break delivery.first-wins" in ran.out
    assert "absorbing" not in ran.out


def test_for_machines(cli: Cli) -> None:
    document = cli("markov", "--p", "1/4", "--json").document("markov")
    assert document["rows"][-1] == {"step": 4, "pending": "81/256", "terminal": "175/256"}
    assert document["absorbing"] is True


def test_quiet_is_the_last_line(cli: Cli) -> None:
    ran = cli("markov", "--p", "1", "--steps", "1", "--quiet")
    assert ran.out == "holds: after 1 step the request is pending with probability 0\n"


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--p", "1.5"], "error: --p: 1.5 is not between 0 and 1; a probability is.\n"),
        (
            ["--p", "1", "--q", "1/0"],
            "error: --q: 1/0 divides by zero; write a fraction whose denominator is above 0.\n",
        ),
        (["--p", "1", "--steps", "101"], "error: --steps 101 is too many to read; give at most 100.\n"),
    ],
)
def test_what_cannot_be_read(cli: Cli, arguments: list[str], said: str) -> None:
    ran = cli("markov", *arguments)
    assert (ran.code, ran.out, ran.err) == (2, "", said)
