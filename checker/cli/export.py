"""`schedproof export`: a world as a model for another checker."""

from __future__ import annotations

import argparse
from pathlib import Path

from checker.report.output import Output
from checker.settings import parse_settings
from checker.variation import vary
from checker.verdict import Unusable, Verdict, cause
from checker.worlds import find, with_dials
from model.lifecycle import LIFECYCLE
from model.readings.c import TooWide
from model.readings.promela import promela
from model.readings.python import Machine, TooLarge
from specs.properties import PROPERTIES

HELP = "write a world as a model for another checker"
DESCRIPTION = """\
Writes the rules and properties of a world as a model for SPIN (Promela), so that an independent checker can count the
states and look for violations. Its count must be that of `check WORLD --no-reduction`.

examples:
  schedproof export pair --to promela > pair.pml
  spin -a pair.pml && cc -O2 -DSAFETY -DNOREDUCE -o pan pan.c && ./pan -m1000000 -w24"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("world", metavar="WORLD", help="a shipped world (see: show worlds) or a .toml file")
    parser.add_argument("--to", choices=("promela",), default="promela", help="the form (default %(default)s)")
    parser.add_argument("--output", type=Path, metavar="FILE", help="write to a file instead of printing")
    parser.add_argument("--fault", metavar="NAME", help="with a seeded fault (see: show faults)")
    parser.add_argument(
        "--without", action="append", default=[], metavar="RULE.GUARD", help="without a guard (or RULE/FIELD)"
    )
    parser.add_argument(
        "--set", action="append", default=[], metavar="DIAL=VALUE", dest="settings", help="set a dial otherwise"
    )


def run(options: argparse.Namespace, output: Output) -> Verdict:
    variation = vary(LIFECYCLE, options.fault, tuple(options.without))
    file = with_dials(LIFECYCLE, find(LIFECYCLE, options.world), parse_settings(options.settings))
    try:
        machine = Machine(variation.model, file.world, PROPERTIES, forgetful=False)
        text = promela(machine, " ".join(f"The request lifecycle in the world {file.name} {variation.words}".split()))
    except (TooLarge, TooWide) as error:
        raise Unusable(f"the world {file.name} is too large: {error}; lower its dials.") from None
    if options.output is None:
        output.lines(text.splitlines())
        return Verdict.HOLDS
    try:
        options.output.write_text(text)
    except OSError as error:
        raise Unusable(f"{options.output} cannot be written ({cause(error)}); give another --output FILE.") from None
    return Verdict.HOLDS
