"""`schedproof markov`: a two-state chain, exactly."""

from __future__ import annotations

import argparse
from fractions import Fraction

from checker.cli.options import non_negative
from checker.report import markov_text
from checker.report.output import Output
from checker.verdict import Unusable, Verdict
from checker.version import VERSION
from model.markov import Chain, NotAProbability, probability
from model.markov.chain import STEPS

HELP = "step a two-state chain, with exact fractions"
DESCRIPTION = f"""\
A hypothetical chain of two states, 0 pending and 1 terminal, that begins in pending. In each step p leads from 0 to 1,
and q from 1 to 0. Every number is an exact fraction; 0.5 is read as 1/2.

{markov_text.LACKS}

examples:
  schedproof markov --p 1/2 --q 0 --steps 4
  schedproof markov --p 0.25 --steps 4"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--p", required=True, metavar="FRACTION", help="the probability of pending to terminal")
    parser.add_argument(
        "--q", default="0", metavar="FRACTION", help="the probability of terminal to pending (default %(default)s)"
    )
    parser.add_argument(
        "--steps", type=non_negative, default=4, metavar="N", help=f"0 to {STEPS} steps (default %(default)s)"
    )
    parser.add_argument("--json", action="store_true", help="print one JSON document instead of text")
    parser.add_argument("--quiet", action="store_true", help="print the last line only")


def run(options: argparse.Namespace, output: Output) -> Verdict:
    chain = Chain(read("--p", options.p), read("--q", options.q))
    if options.steps > STEPS:
        raise Unusable(f"--steps {options.steps} is too many to read; give at most {STEPS}.")
    pending = chain.run(options.steps)
    if options.json:
        output.lines([markov_text.document(chain, pending, VERSION)])
    else:
        output.details(markov_text.lines(chain, pending))
        output.lines([markov_text.summary(pending)])
    return Verdict.HOLDS


def read(option: str, text: str) -> Fraction:
    try:
        return probability(text)
    except NotAProbability as error:
        raise Unusable(f"{option}: {error}") from None
