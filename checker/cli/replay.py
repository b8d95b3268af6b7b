"""`schedproof replay`: stories and traces, run again step by step."""

from __future__ import annotations

import argparse
import difflib
from pathlib import Path

from checker.catalogue import Catalogue, catalogue
from checker.check import violates
from checker.cli.options import add_with
from checker.replay import itf
from checker.replay.reference import judge, tell_on_engine
from checker.replay.story import read_story, rewritten, story_layout, tell
from checker.report import machine_text, trace_text
from checker.report.junit import probe_junit, write_junit
from checker.report.output import Output
from checker.verdict import Unusable, Verdict, worst
from checker.version import VERSION
from model.lifecycle import LIFECYCLE
from specs.stories import story_files

HELP = "run stories and traces again"
DESCRIPTION = """\
Runs stories (scripts of events, *.txt) and traces (*.itf.json) step by step in the interpreter. A story must give the
record it was accepted with; a trace must run as its file says and show its violation. Without FILE, all shipped
stories are run.

examples:
  schedproof replay                                     all shipped stories
  schedproof replay my-story.txt --rewrite              accept what the story gives now
  schedproof replay schedproof-traces/*.itf.json        do these traces still show what they showed?
  schedproof replay --on ref                            the stories on a real small engine, with its tokens
  schedproof replay NAME.itf.json --on ref              does the engine refuse it, and what breaks if it does not?"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("files", nargs="*", type=Path, metavar="FILE", help="a story (.txt) or a trace (.itf.json)")
    parser.add_argument(
        "--on",
        choices=("model", "ref"),
        default="model",
        help="the rules, or the reference engine with real KV memory (needs torch: the extra `engine`)",
    )
    parser.add_argument("--rewrite", action="store_true", help="write what each story gives into its file")
    add_with(parser)
    parser.add_argument("--json", action="store_true", help="print one JSON document instead of text")
    parser.add_argument("--junit", type=Path, metavar="FILE", help="write a JUnit file as well")
    parser.add_argument("--quiet", action="store_true", help="print the last line only")


def run(options: argparse.Namespace, output: Output) -> Verdict:
    probe_junit(options.junit)
    rows = []
    known = catalogue(LIFECYCLE, options.with_files)
    for path in options.files or story_files():
        lines, failures = _replay(path, options, known)
        verdict = Verdict.VIOLATED if failures else Verdict.HOLDS
        rows.append({"file": str(path), "verdict": verdict.word, "failures": failures})
        if not options.json:
            output.details([f"{path}:", *(f"  {line}" for line in lines), *(f"  FAILED {f}" for f in failures)])
    verdict = worst(Verdict.VIOLATED if r["failures"] else Verdict.HOLDS for r in rows)
    if options.json:
        output.lines([machine_text.replay_json(verdict, VERSION, rows)])
    else:
        bad = sum(bool(r["failures"]) for r in rows)
        output.lines([f"{verdict.word}: {len(rows) - bad} of {len(rows)} replayed as they should"])
    if options.junit:
        write_junit("schedproof replay", machine_text.replay_cases(rows), options.junit)
    return verdict


def _replay(path: Path, options: argparse.Namespace, known: Catalogue) -> tuple[list[str], list[str]]:
    if options.on == "ref":
        if options.rewrite:
            raise Unusable("--rewrite accepts what the rules give; leave --on ref out.")
        return _trace_on_engine(path, known) if path.suffix == ".json" else _story_on_engine(path, known)
    return _trace(path, known) if path.suffix == ".json" else _story(path, options.rewrite, known)


def _story_on_engine(path: Path, known: Catalogue) -> tuple[list[str], list[str]]:
    """Told by the rules first, whose record must be the accepted one; then by the engine, whose record must be the same."""
    _, failures = _story(path, False, known)
    story = read_story(path)
    layout = story_layout(story, LIFECYCLE)
    engine = tell_on_engine(story, tell(story, LIFECYCLE, known.properties), layout)
    return [*engine.lines, f"{engine.events} events on the engine"], [*failures, *engine.failures]


def _trace_on_engine(path: Path, known: Catalogue) -> tuple[list[str], list[str]]:
    trace = itf.load(path, LIFECYCLE, known)
    judgement = judge(trace)
    return [f"{trace_text.headline(trace)}:", *(f"  {s}" for s in judgement.says)], list(judgement.failures)


def _story(path: Path, rewrite: bool, known: Catalogue) -> tuple[list[str], list[str]]:
    story = read_story(path)
    told = tell(story, LIFECYCLE, known.properties)
    if rewrite and not told.failures:
        try:
            path.write_text(rewritten(story, told))
        except OSError as error:
            raise Unusable(f"{path} cannot be written ({error.strerror}); copy the story elsewhere.") from None
        return [*told.lines, f"{told.events} events; accepted"], []
    failures = list(told.failures)
    if tuple(told.lines) != story.golden:
        changes = difflib.unified_diff(story.golden, told.lines, "accepted", "now", lineterm="", n=1)
        failures.append(
            "\n  ".join(["it gives another record than the accepted one (--rewrite accepts it):", *changes])
        )
    return [*told.lines, f"{told.events} events"], failures


def _trace(path: Path, known: Catalogue) -> tuple[list[str], list[str]]:
    trace = itf.load(path, LIFECYCLE, known)
    lines = [f"{trace_text.headline(trace)}: runs as the file says"]
    shows = trace_text.departs(trace) or violates(trace, known.properties)
    failures = [] if shows else [f"it does not violate {trace.shows} any more"]
    return lines, failures
