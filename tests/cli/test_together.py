"""Several commands as one: what each comes to, what the results mean, and what is wrong."""

from __future__ import annotations

import argparse
import io

from checker.cli import prove
from checker.cli.together import Part, together
from checker.report.output import Output
from checker.verdict import Verdict


def part(title: str, verdict: Verdict, *details: str, stated: str = "") -> Part:
    def run(options: argparse.Namespace, output: Output) -> Verdict:
        output.details(details)
        output.stated([stated] if stated else [])
        output.lines([f"{verdict.word}: by {title}"])
        return verdict

    return Part(title, lambda parser: None, run)


def printed(*parts: Part, quiet: bool = False) -> tuple[Verdict, list[str]]:
    out = io.StringIO()
    verdict = together(parts, Output(quiet, out, io.StringIO()))
    return verdict, out.getvalue().splitlines()


def test_of_what_holds_the_last_line_is_shown_and_what_it_means() -> None:
    verdict, lines = printed(part("one", Verdict.HOLDS, "a detail"), part("two", Verdict.HOLDS, stated="for all"))
    assert verdict is Verdict.HOLDS
    assert lines == ["for all", "", "one: holds: by one", "two: holds: by two", "holds: one, two"]
    assert printed(part("two", Verdict.HOLDS, stated="for all"), quiet=True)[1] == [
        "two: holds: by two",
        "holds: two",
    ]


def test_of_what_does_not_hold_everything_is_shown() -> None:
    verdict, lines = printed(part("one", Verdict.VIOLATED, "a detail", stated="for some"), part("two", Verdict.HOLDS))
    assert verdict is Verdict.VIOLATED
    assert lines == [
        "one:",
        "  a detail",
        "  for some",
        "one: violated: by one",
        "two: holds: by two",
        "violated: not so: one",
    ]


def test_what_a_part_means_with_others_that_do_not_hold_is_not_said() -> None:
    verdict, lines = printed(part("one", Verdict.UNDETERMINED), part("two", Verdict.HOLDS, stated="for all"))
    assert verdict is Verdict.UNDETERMINED
    assert "for all" not in lines


def test_what_is_proved_is_said_with_its_dials_and_its_assumptions() -> None:
    def run(options: argparse.Namespace, output: Output) -> Verdict:
        options.properties = ["delivery.message-once"]
        return prove.run(options, output)

    verdict, lines = printed(Part("every size", prove.add_arguments, run))
    assert verdict is Verdict.HOLDS
    assert lines[0] == "proved by induction: 1 property"
    assert "    requests, prompt, limit, blocks, block_size, budget, seats, depth, workers, cancellation," in lines
    assert "  assuming that" in lines
    assert any(line.startswith("  together with `schedproof check`, if that holds: exhausted in ") for line in lines)
    assert lines[-2:] == ["every size: holds: 1 claim proved for every size", "holds: every size"]
