"""Options that several commands share, and how their values are read."""

from __future__ import annotations

import argparse
from pathlib import Path


def add_common(parser: argparse.ArgumentParser) -> None:
    common = parser.add_argument_group("output and bounds of every command")
    common.add_argument("--json", action="store_true", help="print one JSON document instead of text")
    common.add_argument("--junit", type=Path, metavar="FILE", help="write a JUnit file as well")
    common.add_argument("--quiet", action="store_true", help="print the last line only, and no progress")
    common.add_argument("--timeout", type=seconds, metavar="S", help="at most this many seconds for each world")
    common.add_argument("--memory", type=positive, metavar="MB", help="at most this much memory")


def add_with(parser: argparse._ActionsContainer) -> None:
    parser.add_argument(
        "--with",
        action="append",
        default=[],
        type=Path,
        metavar="FILE.py",
        dest="with_files",
        help="a Python file with faults and properties of your own; may be repeated",
    )


def positive(text: str) -> int:
    return _number(text, 1)


def non_negative(text: str) -> int:
    return _number(text, 0)


def _number(text: str, low: int) -> int:
    try:
        value = int(text)
    except ValueError:
        value = low - 1
    if value < low:
        raise argparse.ArgumentTypeError(f"{text} is no whole number of at least {low}")
    return value


def seconds(text: str) -> float:
    try:
        value = float(text)
    except ValueError:
        value = 0.0
    if not 0 < value < float("inf"):
        raise argparse.ArgumentTypeError(f"{text} is no number of seconds above 0")
    return value
