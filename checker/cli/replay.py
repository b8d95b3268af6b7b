"""`schedproof replay`: stories and traces, run again step by step."""

from __future__ import annotations

import argparse
from pathlib import Path

from checker.catalogue import catalogue
from checker.cli.options import add_with
from checker.replay.again import ENGINE, MODEL, Replayed, replay, rewrite
from checker.replay.reference import MISSING, available
from checker.report import replay_text
from checker.report.junit import probe_junit, write_junit
from checker.report.output import Output
from checker.verdict import Unusable, Verdict, worst
from checker.version import VERSION
from model.lifecycle import LIFECYCLE
from specs.regressions import regression_files
from specs.stories import story_files

HELP = "run stories and traces again"
DESCRIPTION = """\
Runs stories (scripts of events, *.txt) and traces (*.itf.json) step by step: on the rules, or on the reference engine,
a small engine with real KV memory. A story must give the record it was accepted with. A trace must run as its file says
and show its violation; on the engine, the sound one must refuse it where the rules do, and with the change made to the
engine too the damage is measured. Without FILE, all shipped stories and the kept trace of every fault are run.

examples:
  schedproof replay                                     everything that is kept, on rules and engine
  schedproof replay my-story.txt --rewrite              accept what the story gives now
  schedproof replay schedproof-traces/*.itf.json        do these traces still show what they showed?
  schedproof replay NAME.itf.json --on ref              does the engine refuse it, and what breaks if it does not?"""

BOTH = "both"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("files", nargs="*", type=Path, metavar="FILE", help="a story (.txt) or a trace (.itf.json)")
    parser.add_argument(
        "--on",
        choices=(MODEL, ENGINE, BOTH),
        help="the rules, the reference engine (needs torch: the extra `engine`), or both. Default: model; without FILE "
        "both, if torch is there",
    )
    parser.add_argument(
        "--rewrite",
        action="store_true",
        help="write what each story gives, or the trace that is shortest now, into its file",
    )
    add_with(parser)
    parser.add_argument("--json", action="store_true", help="print one JSON document instead of text")
    parser.add_argument("--junit", type=Path, metavar="FILE", help="write a JUnit file as well")
    parser.add_argument("--quiet", action="store_true", help="print the last line only")


def run(options: argparse.Namespace, output: Output) -> Verdict:
    probe_junit(options.junit)
    known = catalogue(LIFECYCLE, options.with_files)
    if options.rewrite and options.on in (ENGINE, BOTH):
        raise Unusable("--rewrite accepts what the rules give; leave --on out.")
    paths = options.files or [*story_files(), *regression_files()]
    replayed: list[Replayed] = []
    for path in paths:
        for on in _on(options):
            one = rewrite(LIFECYCLE, known, path) if options.rewrite else replay(LIFECYCLE, known, path, on)
            replayed.append(one)
            output.status(f"{len(replayed)} replayed; last: {path.name}")
            if not options.json:
                output.details(replay_text.lines(one))
    verdict = worst(r.verdict for r in replayed)
    if options.json:
        output.lines([replay_text.replay_json(verdict, VERSION, replayed)])
    else:
        alone = options.on is None and not options.files and not options.rewrite and not available()
        if alone:
            output.details([f"On the rules only: {MISSING}"])
        output.lines(
            [f"{verdict.word}: {replay_text.summary(replayed)}{replay_text.absent(replayed) if alone else ''}"]
        )
    if options.junit:
        write_junit("schedproof replay", replay_text.replay_cases(replayed), options.junit)
    return verdict


def _on(options: argparse.Namespace) -> tuple[str, ...]:
    if options.rewrite or options.on == MODEL or (options.on is None and (options.files or not available())):
        return (MODEL,)
    return (ENGINE,) if options.on == ENGINE else (MODEL, ENGINE)
