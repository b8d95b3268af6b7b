"""The only place that prints: results on standard output, progress and errors on standard error."""

from __future__ import annotations

import sys
import time
from collections.abc import Iterable
from typing import TextIO

from checker.search.limits import Progress, peak_memory

PLAIN_EVERY = 10.0  # seconds between two lines of progress where there is no terminal
LIVE_EVERY = 0.2


class Output:
    """Prints lines, and progress in between: one line that renews itself on a terminal, plain lines elsewhere."""

    def __init__(self, quiet: bool = False, out: TextIO | None = None, err: TextIO | None = None) -> None:
        self.quiet = quiet
        self.out, self.err = out or sys.stdout, err or sys.stderr
        self.live = self.err.isatty()
        self.shown = 0.0
        self.width = 0

    def lines(self, lines: Iterable[str]) -> None:
        """Results: always printed."""
        self.clear()
        for line in lines:
            self.out.write(line + "\n")
        self.out.flush()

    def details(self, lines: Iterable[str]) -> None:
        """What --quiet leaves out."""
        if not self.quiet:
            self.lines(lines)

    def stated(self, lines: Iterable[str]) -> None:
        """What a result means: for what it holds, and what it assumes. A detail, that a joint summary repeats."""
        self.details(lines)

    def error(self, line: str) -> None:
        self.clear()
        self.err.write(line + "\n")

    def progress(self, world: str, progress: Progress) -> None:
        self.status(progress_line(world, progress))

    def status(self, line: str) -> None:
        """A line of progress, shown if it is time for one."""
        now = time.monotonic()
        if self.quiet or now - self.shown < (LIVE_EVERY if self.live else PLAIN_EVERY):
            return
        if not self.live and self.shown == 0.0:
            self.shown = now  # a short run needs no plain line at all
            return
        self.shown = now
        if self.live:
            self.err.write("\r" + line.ljust(self.width))
            self.width = len(line)
        else:
            self.err.write(line + "\n")
        self.err.flush()

    def clear(self) -> None:
        if self.width:
            self.err.write("\r" + " " * self.width + "\r")
            self.err.flush()
            self.width = 0


def progress_line(world: str, p: Progress) -> str:
    """Level, states, rate, frontier and its growth, memory, hottest rule."""
    rate = p.states / p.seconds if p.seconds > 0 else 0
    share = f" of {p.expected:,}" if p.expected else ""
    return (
        f"{world}: level {p.level}, {p.states:,}{share} states, {rate:,.0f}/s, "
        f"frontier {p.frontier:,} (x{p.growth:.2f}), {peak_memory():.0f} MB, most fired: {p.hottest}"
    )
