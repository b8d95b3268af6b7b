"""`schedproof check`: every interleaving of small worlds."""

from __future__ import annotations

import argparse
import shlex
from dataclasses import replace
from pathlib import Path
from typing import Any

from checker.catalogue import Catalogue, catalogue
from checker.check import CheckResult, Options, WorldResult, check_world, unreached
from checker.cli import mutate, policies, prove, replay
from checker.cli.options import add_common, add_with, non_negative, positive
from checker.cli.together import Part, together
from checker.cli.traces import save_traces
from checker.report import check_text, machine_text, picture
from checker.report.junit import probe_junit, write_junit
from checker.report.output import Output
from checker.search.choose import SEARCHES
from checker.search.limits import INTERRUPT, Limits
from checker.settings import parse_settings
from checker.variation import Variation, vary
from checker.verdict import Unusable, Verdict
from checker.version import VERSION
from checker.worlds import WorldFile, find, shipped, with_dials
from model.lifecycle import LIFECYCLE
from model.readings.interpret import evaluate
from model.readings.prose import words
from specs.policies import WORLDS as POLICY_WORLDS

HELP = "visit every interleaving of small worlds"
DESCRIPTION = """\
Visits every interleaving of completion, cancel, preemption and scheduling in small worlds, and prints the shortest
way to each violated property. Without WORLD, all shipped worlds are explored. With a change to the rules (--fault,
--without) and no WORLD, worlds are tried from the smallest until one shows a violation.

examples:
  schedproof check                                 all shipped worlds
  schedproof check --everything                    the same, every fault and mutant, replays and proofs
  schedproof check --without release.unpinned      may blocks be freed while a step is in flight?
  schedproof check pair --set preemption=off       the world pair, without preemption
  schedproof check my-world.toml --simulate 10000  random walks through a world of your own
  schedproof check solo --liveness                 does everything that is begun come to its end?
  schedproof check --policies                      which policy keeps which promise?"""

AFTER_VIOLATION = 100_000


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("worlds", nargs="*", metavar="WORLD", help="a shipped world (see: show worlds) or a .toml file")
    parser.add_argument(
        "--everything",
        action="store_true",
        help="all worlds, all faults and mutants, all that is kept to be replayed, and the proofs, with a joint summary",
    )
    rules = parser.add_argument_group("changes to the rules")
    rules.add_argument(
        "--without",
        action="append",
        default=[],
        metavar="RULE.GUARD",
        help="take a guard (or RULE/FIELD, an update) away; may be repeated",
    )
    add_with(rules)
    rules.add_argument(
        "--policy", metavar="NAME", help="let a policy choose, and judge what it promises (see: show policies)"
    )
    rules.add_argument(
        "--policies", action="store_true", help="compare all policies: which promise is kept under which"
    )
    rules.add_argument("--fault", metavar="NAME", help="seed a fault (see: show faults)")
    rules.add_argument(
        "--set",
        action="append",
        default=[],
        metavar="DIAL=VALUE",
        dest="settings",
        help="set a dial of the worlds otherwise; may be repeated",
    )
    bounds = parser.add_argument_group("bounds; a search that meets one is undetermined")
    bounds.add_argument("--states", type=positive, metavar="N", help="stop once this many distinct states are known")
    bounds.add_argument("--depth", type=non_negative, metavar="N", help="at most this many steps from the start")
    bounds.add_argument(
        "--all", action="store_true", help=f"go on to the end after a violation (else {AFTER_VIOLATION:,} states more)"
    )
    search = parser.add_argument_group("search")
    search.add_argument(
        "--search",
        choices=SEARCHES,
        default="auto",
        help="kernel: compiled code, for which a C compiler is needed; python: slower by far, with the same results; "
        "auto: the kernel where it can be used (default %(default)s)",
    )
    search.add_argument(
        "--liveness",
        action="store_true",
        help="judge also what must happen in the end; no states are joined by renaming then (needs scipy)",
    )
    search.add_argument("--simulate", type=positive, metavar="N", help="N random walks instead of every interleaving")
    search.add_argument("--seed", type=int, help="for the walks (default 0)")
    search.add_argument(
        "--no-reduction",
        action="store_true",
        help="keep apart states that differ by renaming, or by what nobody can read any more",
    )
    search.add_argument(
        "--traces",
        type=Path,
        default=Path("schedproof-traces"),
        metavar="DIR",
        help="where traces are written (default %(default)s)",
    )
    search.add_argument(
        "--guards", action="store_true", help="print how often each guard alone kept a rule from firing"
    )
    add_common(parser)


def run(options: argparse.Namespace, output: Output) -> Verdict:
    if options.everything:
        return _everything(options, output)
    known = catalogue(LIFECYCLE, options.with_files)
    if options.policies:
        return policies.run(options, output, known)
    variation = vary(LIFECYCLE, options.fault, tuple(options.without), known, options.policy)
    settings = parse_settings(options.settings)
    if options.simulate and (options.liveness or options.policy):
        raise Unusable("--simulate walks at random, which shows nothing of what happens in the end; leave one out.")
    if options.seed is not None and options.simulate is None:
        raise Unusable("--seed is for the walks of --simulate N; leave it out, or walk.")
    files = [with_dials(LIFECYCLE, f, settings) for f in _worlds(options, variation)]
    files = _with_rules(files, variation, named=bool(options.worlds) or variation.fault is not None)
    _probe(options)
    session = _Session(options, output, variation, known, until_violated=bool(variation) and not options.worlds)
    for file in files:
        if session.done:
            session.untried.append(file.name)
        else:
            session.world(file)
    changed = variation or options.policy or settings
    return session.finish(whole=not (changed or options.worlds or options.simulate))


def _everything(options: argparse.Namespace, output: Output) -> Verdict:
    said = [f"--{n}" for n in ("json", "junit", "fault", "without", "settings", "with_files") if getattr(options, n)]
    if said or options.worlds:
        what = "WORLD" if options.worlds else said[0].replace("settings", "set").removesuffix("_files")
        raise Unusable(f"--everything takes no {what}; run check, mutate and replay by themselves for that.")
    parts = [
        Part("worlds", add_arguments, run),
        Part("faults and mutants", mutate.add_arguments, mutate.run),
        Part("stories and traces", replay.add_arguments, replay.run),
        Part("every size", prove.add_arguments, prove.run),
    ]
    return together(parts, output)


def _with_rules(files: list[WorldFile], variation: Variation, named: bool) -> list[WorldFile]:
    """The worlds in which every changed rule exists. A world that was asked for and has not is refused."""
    rules = [variation.model.rule(name) for name in variation.rules]
    fit = [f for f in files if all(evaluate(r.needs, f.world) for r in rules)]
    for file in files if named else ():
        if file not in fit:
            missing = next(r for r in rules if not evaluate(r.needs, file.world))
            raise Unusable(
                f"the rule {missing.name} does not exist in {file.name}, only where {words(missing.needs)}; name such a world."
            )
    return fit


def _probe(options: argparse.Namespace) -> None:
    """Find out before a long search that its results cannot be written."""
    probe_junit(options.junit)
    for place in (options.traces, *options.traces.parents):
        if place.exists() and not place.is_dir():
            raise Unusable(
                f"traces cannot be written to {options.traces} ({place} is no directory); give another --traces DIR."
            )


def _worlds(options: argparse.Namespace, variation: Variation) -> list[WorldFile]:
    if options.worlds:
        found: dict[str, WorldFile] = {}
        for asked in options.worlds:
            file = find(LIFECYCLE, asked)
            if file.name in found:
                raise Unusable(
                    f"two worlds are named {file.name}, and so would be their traces; check them one by one."
                )
            found[file.name] = file
        return list(found.values())
    if variation.fault is not None:
        return [find(LIFECYCLE, variation.fault.world)]
    if variation.policy is not None:
        return [find(LIFECYCLE, name) for name in POLICY_WORLDS]
    # A world that is there to be violated says nothing about a change to the rules.
    return [w for w in shipped(LIFECYCLE) if not (variation and w.expect)]


def search_options(options: argparse.Namespace, expected: bool) -> Options:
    """How to search; a world that expects its violations is explored to the end like one that expects none."""
    limits = Limits(
        states=options.states,
        depth=options.depth,
        seconds=options.timeout,
        memory=options.memory,
        after_violation=None if options.all or expected else AFTER_VIOLATION,
    )
    return Options(limits, not options.no_reduction, options.search, walks=options.simulate, seed=options.seed or 0)


class _Session:
    """The worlds of one command, reported as they are done."""

    def __init__(
        self,
        options: argparse.Namespace,
        output: Output,
        variation: Variation,
        known: Catalogue,
        until_violated: bool,
    ) -> None:
        self.options, self.output, self.variation, self.known = options, output, variation, known
        self.until_violated = until_violated
        self.results: list[WorldResult] = []
        self.files: dict[str, dict[str, Path]] = {}
        self.untried: list[str] = []

    @property
    def done(self) -> bool:
        interrupted = bool(self.results) and self.results[-1].search.bound == INTERRUPT
        return interrupted or (self.until_violated and any(r.traces for r in self.results))

    def world(self, file: WorldFile) -> None:
        if self.variation or self.variation.policy:
            file = replace(file, expect=(), normal_forms=None)
        observe: Any = lambda progress: self.output.progress(file.name, progress)
        asked = self.options.liveness or self.variation.policy is not None
        promises = self.known.promises(self.variation.policy) if asked else ()
        how = search_options(self.options, bool(file.expect))
        result = check_world(file, self.variation, (*self.known.properties, *promises), how, observe)
        self.results.append(result)
        self.files[file.name] = save_traces(result, self.options.traces)
        if not self.options.json:
            self.report(result)

    def report(self, result: WorldResult) -> None:
        files = self.files[result.file.name]
        self.output.details(check_text.world_lines(result))
        if self.options.guards:
            self.output.details(check_text.guard_lines(result))
        self.output.details(check_text.violation_lines(result, files))
        if not result.unexpected:
            return
        self.output.details(["", *check_text.shown_trace(result), ""])
        shown = shlex.join(["schedproof", "show", str(files[check_text.chosen(result).shows])])
        seen = picture.beside(files[check_text.chosen(result).shows])
        self.output.details([f"show it:   {shown}", f"picture:   {seen}", f"again:     {self.again(result)}", ""])

    def again(self, result: WorldResult) -> str:
        """The command that reproduces a result. What depends on the machine, time and memory, is not a part of it."""
        options, place = self.options, result.file.place
        said = ["schedproof", "check", place if place in options.worlds else result.file.name]
        said += [*self.known.options, *self.variation.options]
        said += [part for setting in options.settings for part in ("--set", setting)]
        if options.simulate:
            said += ["--simulate", str(options.simulate), "--seed", str(options.seed or 0)]
        for name in ("states", "depth"):
            if getattr(options, name) is not None:
                said += [f"--{name}", str(getattr(options, name))]
        said += ["--all"] if options.all else []
        said += ["--liveness"] if options.liveness else []
        said += ["--no-reduction"] if options.no_reduction else []
        said += ["--search", options.search] if options.search != "auto" else []
        return shlex.join(said)

    def finish(self, whole: bool) -> Verdict:
        result = CheckResult(
            tuple(self.results), unreached(self.results), whole and not self.untried, tuple(self.untried)
        )
        if self.options.json:
            self.output.lines([machine_text.check_json(result, VERSION, self.files)])
        else:
            *before, last = check_text.summary_lines(result)
            self.output.details(before)
            self.output.lines([last])
        if self.options.junit:
            write_junit("schedproof check", machine_text.check_cases(result), self.options.junit)
        return result.verdict
