"""Several commands as one, with what they come to together."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from checker.report.output import Output
from checker.search.limits import Progress
from checker.verdict import Verdict, worst


@dataclass(frozen=True)
class Part:
    """A command with what it is called in the summary."""

    title: str
    add_arguments: Callable[[argparse.ArgumentParser], None]
    run: Callable[[argparse.Namespace, Output], Verdict]


class Kept(Output):
    """Keeps what a part prints; progress is shown as it comes, with the part's title."""

    def __init__(self, shown: Output, title: str) -> None:
        super().__init__(quiet=False)
        self.shown_by, self.title = shown, title
        self.kept: list[str] = []
        self.statement: list[str] = []

    def lines(self, lines: Iterable[str]) -> None:
        self.kept += lines

    def stated(self, lines: Iterable[str]) -> None:
        self.statement += (said := list(lines))
        super().stated(said)

    def error(self, line: str) -> None:
        self.shown_by.error(line)

    def progress(self, world: str, progress: Progress) -> None:
        self.shown_by.progress(world, progress)

    def status(self, line: str) -> None:
        self.shown_by.status(f"{self.title}: {line}")

    def clear(self) -> None:
        self.shown_by.clear()


def together(parts: Sequence[Part], output: Output) -> Verdict:
    """Run each part as it runs by default. What a part prints is shown if it does not hold; its last line always.

    What a part states of its result, which may speak of the parts before, is shown if all of these hold as well.
    """
    verdicts: list[Verdict] = []
    summary: list[str] = []
    for part in parts:
        parser = argparse.ArgumentParser()
        part.add_arguments(parser)
        kept = Kept(output, part.title)
        verdict = part.run(parser.parse_args([]), kept)
        verdicts.append(verdict)
        if verdict is not Verdict.HOLDS:
            output.details([f"{part.title}:", *(f"  {line}" for line in kept.kept[:-1])])
        elif kept.statement and worst(verdicts) is Verdict.HOLDS:
            output.details([*kept.statement, ""])
        last = kept.kept[-1] if kept.kept else verdict.word
        summary.append(f"{part.title}: {last}")
        output.status(summary[-1])
    output.lines([*summary, f"{worst(verdicts).word}: {_joint(parts, verdicts)}"])
    return worst(verdicts)


def _joint(parts: Sequence[Part], verdicts: Sequence[Verdict]) -> str:
    bad = [part.title for part, verdict in zip(parts, verdicts, strict=True) if verdict is not Verdict.HOLDS]
    return f"not so: {', '.join(bad)}" if bad else f"{', '.join(part.title for part in parts)}"
