"""`schedproof check --policies`: all policies, and what each of them keeps."""

from __future__ import annotations

import argparse

from checker.catalogue import Catalogue
from checker.check import Options
from checker.cli.traces import save_traces
from checker.policies import compare
from checker.report import machine_text, policies_text
from checker.report.junit import write_junit
from checker.report.output import Output
from checker.search.limits import Limits
from checker.verdict import Unusable, Verdict, worst
from checker.version import VERSION
from checker.worlds import find
from model.lifecycle import LIFECYCLE
from specs.policies import WORLDS

# What compares nothing, or is no part of a comparison.
_OTHERS = (
    "policy",
    "fault",
    "without",
    "settings",
    "simulate",
    "seed",
    "depth",
    "states",
    "all",
    "no_reduction",
    "guards",
)


def run(options: argparse.Namespace, output: Output, known: Catalogue) -> Verdict:
    for name in _OTHERS:
        if getattr(options, name):
            flag = "set" if name == "settings" else name.replace("_", "-")
            raise Unusable(f"--policies compares all policies under the unchanged rules; leave out --{flag}.")
    files = [find(LIFECYCLE, name) for name in options.worlds or WORLDS]
    limits = Limits(seconds=options.timeout, memory=options.memory)
    compared = compare(LIFECYCLE, known, files, not options.worlds, Options(limits), output.status)
    verdict = worst(c.verdict for c in compared)
    results = [r for c in compared for r in (*c.results, c.unfit)]
    saved = [save_traces(r, options.traces) for r in results]
    if options.json:
        rows = [policies_text.row(c, known) for c in compared]
        output.lines([machine_text.policies_json(verdict, VERSION, results, saved, rows)])
    else:
        *table, last = policies_text.lines(compared, known, options.traces)
        output.details(table)
        output.lines([last])
    if options.junit:
        write_junit("schedproof check --policies", policies_text.cases(compared), options.junit)
    return verdict
