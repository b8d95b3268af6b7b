"""`schedproof prove`: every size at once."""

from __future__ import annotations

import argparse
from pathlib import Path

from checker.cli.options import positive, seconds
from checker.report.output import Output
from checker.verdict import Verdict

HELP = "prove properties for every number of requests, blocks and tokens"
DESCRIPTION = """\
Proves by induction that each property holds at the start and that each rule preserves it: for every number of requests,
blocks, seats, steps in flight and tokens at once. What cannot be proved is looked into: a state is shown from which a rule
breaks the property, and whether a world reaches it. Without PROPERTY, all are proved.

examples:
  schedproof prove                                  every property, every size
  schedproof prove ownership.exclusive --core       and which other properties its proof uses
  schedproof prove --without release.unpinned       refuted, with a trace
  schedproof prove --bmc 8 pair --fault notify-twice  all runs of one world up to 8 steps, as one formula"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("properties", nargs="*", metavar="PROPERTY", help="what to prove (see: show properties)")
    rules = parser.add_argument_group("changes to the rules, and dials")
    rules.add_argument(
        "--without",
        action="append",
        default=[],
        metavar="RULE.GUARD",
        help="take a guard (or RULE/FIELD, an update) away; may be repeated",
    )
    rules.add_argument("--fault", metavar="NAME", help="seed a fault (see: show faults)")
    rules.add_argument(
        "--set",
        action="append",
        default=[],
        metavar="DIAL=VALUE",
        dest="settings",
        help="prove for this value of a dial only; may be repeated",
    )
    rules.add_argument(
        "--any-discipline", action="store_true", help="do not assume the disciplines that are declared safe together"
    )
    how = parser.add_argument_group("what else")
    how.add_argument("--core", action="store_true", help="print which properties each obligation used")
    how.add_argument("--smt2", type=Path, metavar="DIR", help="write each obligation as an SMT-LIB file")
    how.add_argument(
        "--bmc", nargs=2, metavar=("K", "WORLD"), help="instead of a proof: all runs of a world up to K steps"
    )
    how.add_argument("--processes", type=positive, metavar="N", help="how many at once (default: one for each CPU)")
    common = parser.add_argument_group("output and bounds of every command")
    common.add_argument("--json", action="store_true", help="print one JSON document instead of text")
    common.add_argument("--junit", type=Path, metavar="FILE", help="write a JUnit file as well")
    common.add_argument("--quiet", action="store_true", help="print the last line only, and no progress")
    common.add_argument("--timeout", type=seconds, default=60.0, metavar="S", help="at most this long for a query")


def run(options: argparse.Namespace, output: Output) -> Verdict:
    from checker.cli import proving

    return proving.run(options, output)
