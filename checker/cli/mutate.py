"""`schedproof mutate`: every fault and every mutant of the rules, and who catches it."""

from __future__ import annotations

import argparse
from pathlib import Path

from checker.catalogue import catalogue
from checker.cli.options import add_with, positive
from checker.mutate.campaign import ARGUED_STATES, MOST_STATES, Campaign, campaign, processes
from checker.mutate.nothing import with_proofs
from checker.mutate.subjects import subjects
from checker.replay import itf
from checker.replay.again import ENGINE, MODEL
from checker.replay.reference import MISSING, available
from checker.report import mutate_machine, mutate_text
from checker.report.junit import probe_junit, write_junit
from checker.report.output import Output
from checker.verdict import Unusable, Verdict, cause
from checker.version import VERSION
from model.lifecycle import LIFECYCLE

HELP = "try every fault and mutant of the rules, and see who catches it"
DESCRIPTION = """\
Takes every guard and every update away, one at a time, and seeds every fault. Each is explored in the smallest world
that shows it. Printed is who caught it, after how many steps; what nothing caught, and why; and which guards protect
which property. A guard that nothing needs, and a property that nothing can break, are defects.

examples:
  schedproof mutate                                  all of them
  schedproof mutate release                          the rule release: which of its parts are needed, and for what
  schedproof mutate release.unpinned notify-twice    one guard and one fault
  schedproof mutate --with my_faults.py my-fault     a fault of your own"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "names",
        nargs="*",
        metavar="NAME",
        help="a fault (show faults), RULE.GUARD, RULE/FIELD, or a RULE for all of it",
    )
    add_with(parser)
    parser.add_argument("--jobs", type=positive, metavar="N", help="processes to use (default: one a core)")
    parser.add_argument(
        "--states",
        type=positive,
        metavar="N",
        help=f"explore worlds of at most N states together before a mutant counts as a survivor (default {MOST_STATES:,}, "
        f"or {ARGUED_STATES:,} for one that is known to change nothing)",
    )
    parser.add_argument(
        "--on",
        choices=(MODEL, ENGINE),
        help="ref: replay each trace on the reference engine and measure the damage; model: do not. Default: ref if torch "
        "is there",
    )
    parser.add_argument("--traces", type=Path, metavar="DIR", help="write the shortest trace of each as well")
    parser.add_argument("--json", action="store_true", help="print one JSON document instead of text")
    parser.add_argument("--junit", type=Path, metavar="FILE", help="write a JUnit file as well")
    parser.add_argument("--quiet", action="store_true", help="print the last line only, and no progress")


def run(options: argparse.Namespace, output: Output) -> Verdict:
    probe_junit(options.junit)
    known = catalogue(LIFECYCLE, options.with_files)
    chosen = subjects(LIFECYCLE, known, options.names)
    if options.on == ENGINE and not available():
        raise Unusable(MISSING)
    engine = available() and options.on != MODEL
    result = campaign(
        known, chosen, not options.names, processes(options.jobs), options.states, watch=output.status, engine=engine
    )
    result = with_proofs(result, processes(options.jobs), output.status)
    if options.traces is not None:
        save(result, options.traces)
    if options.json:
        output.lines([mutate_machine.mutate_json(result, VERSION)])
    else:
        report(result, output)
    if options.junit is not None:
        write_junit("schedproof mutate", mutate_machine.mutate_cases(result), options.junit)
    return result.verdict


def report(result: Campaign, output: Output) -> None:
    output.details(mutate_text.table_lines(result))
    output.details(mutate_text.survivor_lines(result))
    if result.everything:
        output.details(mutate_text.reverse_lines(result))
    elif len(result.caught) == 1:
        output.details(mutate_text.engine_lines(result.caught[0]))
        output.details(["", f"see it: {mutate_text.again(result.caught[0], result.known.options)}"])
    output.details(mutate_text.wrong_lines(result))
    output.lines([mutate_text.summary(result)])


def save(result: Campaign, place: Path) -> None:
    """Write the trace of each subject that has one."""
    for hunted in result.caught:
        if hunted.catch is not None and hunted.catch.trace is not None:
            path = place / f"{hunted.subject.name.replace('/', '-')}.itf.json"
            try:
                place.mkdir(parents=True, exist_ok=True)
                path.write_text(itf.written(hunted.catch.trace))
            except OSError as error:
                raise Unusable(f"{path} cannot be written ({cause(error)}); give another --traces DIR.") from None
