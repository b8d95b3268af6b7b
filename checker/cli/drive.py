"""`schedproof drive`: a real scheduler, driven by an adversary, every step compared with the rules."""

from __future__ import annotations

import argparse
import json
import subprocess
import time
from pathlib import Path
from typing import Any

from checker.cli.options import positive, seconds
from checker.replay import itf
from checker.replay.assumptions import REMOVABLE, dials_under, in_force, world_under
from checker.replay.drive import DriveLimits, Driven, Driver, Finding
from checker.replay.environment import check_version, find_engine, set_up
from checker.replay.known import read_known
from checker.replay.port import START_SECONDS, AdapterLost, Port, command_for
from checker.replay.shrink import path_of, shrink
from checker.report import drive_text, machine_text
from checker.report.junit import probe_junit, write_junit
from checker.report.output import Output
from checker.search.limits import INTERRUPT
from checker.verdict import Unusable, Verdict
from checker.version import VERSION
from model.language.model import nearest
from model.lifecycle import LIFECYCLE
from specs.engines import LOADS, PRESET, Load

HELP = "try a real engine's scheduler against the rules"
DESCRIPTION = """\
Drives an engine's own scheduler classes through an adapter, in the engine's own Python: an adversary submits, cancels,
schedules and chooses results, breadth first and then at random, and every step must be a path of the rules under the
disciplines that the engine states. A finding comes with its shortest moves and a script of the engine's own calls.
Without --minutes, the few configurations and loads that the adapter calls its preset are tried, about 30 s together,
plus starting the engine and making findings small; with --minutes N, all of them, N minutes each.

examples:
  schedproof drive vllm==0.10.2 --setup              build the environment (2.5 GB), then search for about 30 s
  schedproof drive vllm --config fcfs-cache-depth2   one configuration
  schedproof drive vllm --no-assume unique-ids       what if a client uses an id again too early?
  schedproof drive vllm --minutes 5 --known known.txt  everything; fail only on findings that are new
  schedproof drive my_adapter.py --python PATH       an adapter of your own (docs/port.md)"""

SECONDS = 30.0
LEAST_SECONDS = 1.0  # for a run, however little is left
SELF_TEST_SECONDS = 900.0


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("engine", metavar="ENGINE", help="vllm, vllm==0.10.2, or the path of an adapter file")
    where = parser.add_argument_group("environment")
    where.add_argument("--setup", action="store_true", help="build the engine's environment in .engines/ first")
    where.add_argument("--only-setup", action="store_true", help="and do nothing else")
    where.add_argument("--python", type=Path, metavar="PATH", help="a Python that has the engine")
    how = parser.add_argument_group("search")
    how.add_argument(
        "--config", action="append", default=[], metavar="NAME", help="only this configuration; may be repeated"
    )
    how.add_argument("--load", choices=[w.name for w in LOADS], help="only this load (see specs/engines)")
    how.add_argument("--seconds", type=seconds, metavar="S", help=f"for everything together (default {SECONDS:g})")
    how.add_argument(
        "--minutes", type=seconds, metavar="N", help="for each configuration and load, and try all of them"
    )
    how.add_argument("--states", type=positive, default=100_000, metavar="N", help="at most so many, breadth first")
    how.add_argument("--seed", type=int, default=0, help="for the walks")
    what = parser.add_argument_group("assumptions and findings")
    names = ", ".join(REMOVABLE)
    what.add_argument("--assume", action="append", default=[], metavar="NAME", help=f"rest on this one too: {names}")
    what.add_argument("--no-assume", action="append", default=[], metavar="NAME", help="do not rest on this one")
    what.add_argument(
        "--known",
        type=Path,
        metavar="FILE",
        help="a baseline: the kinds of findings, one a line, that do not fail. With it nothing new is 0, also at a bound",
    )
    what.add_argument(
        "--findings", type=Path, default=Path("schedproof-findings"), metavar="DIR", help="default %(default)s"
    )
    parser.add_argument("--json", action="store_true", help="print one JSON document instead of text")
    parser.add_argument("--junit", type=Path, metavar="FILE", help="write a JUnit file as well")
    parser.add_argument("--quiet", action="store_true", help="print the last line only, and no progress")


def run(options: argparse.Namespace, output: Output) -> Verdict:
    _check(options)
    engine = find_engine(options.engine)
    if options.json:
        output.quiet = True  # standard output is the document's
    if options.setup:
        set_up(engine, lambda line: output.details([line]), output.status)
    if options.only_setup:
        return Verdict.HOLDS
    python = options.python or engine.python
    if not python.exists():
        raise Unusable(
            f"{python} does not exist; build it with --setup, or give a Python that has the engine with --python."
        )
    known = read_known(options.known, LIFECYCLE)
    output.status(f"starting {engine.adapter} with {python}")
    try:
        with Port(command_for(python, engine.adapter), watch=output.status) as port:
            drive = _Drive(options, output, port, known)
            if not drive.described["version"]:
                raise Unusable(
                    f"{python} has no {drive.described['engine']}; build one that has with --setup, or give another --python."
                )
            check_version(engine, drive.described["version"], f"{python} has")
            if not drive.described["tested"]:
                _self_test(command_for(python, engine.adapter), output)
            return drive.run()
    except AdapterLost as lost:
        raise Unusable(f"{lost}.") from None


def _check(options: argparse.Namespace) -> None:
    """Refuse options that contradict each other, before anything is installed or started."""
    if options.only_setup and not options.setup:
        raise Unusable("--only-setup goes with --setup; give both.")
    if options.only_setup and (options.json or options.junit):
        raise Unusable("--only-setup drives nothing, so there is nothing for --json or --junit; leave them out.")
    if options.minutes is not None and options.seconds is not None:
        raise Unusable("--seconds is for everything together, --minutes for each configuration and load; give one.")
    for name in (*options.assume, *options.no_assume):
        if name not in REMOVABLE:
            raise Unusable(f"there is no assumption {name} that can be put or taken; {nearest(name, list(REMOVABLE))}.")
        if name in options.assume and name in options.no_assume:
            raise Unusable(f"{name} is both put and taken away; give --assume or --no-assume.")
    probe_junit(options.junit)


def _self_test(command: list[str], output: Output) -> None:
    """A version that the adapter was not tested with must pass its self-test; then it is driven under that label."""
    output.details(["untested version; the adapter's self-test runs first"])
    try:
        done = subprocess.run(
            [*command, "--self-test"], capture_output=True, text=True, check=False, timeout=SELF_TEST_SECONDS
        )
    except subprocess.TimeoutExpired:
        raise Unusable(f"the adapter's self-test did not end within {SELF_TEST_SECONDS:g} s.") from None
    last = (done.stdout.strip() or done.stderr.strip() or "it said nothing").splitlines()[-1]
    if done.returncode:
        raise Unusable(
            f"the adapter's self-test fails with this version of the engine ({last}); use the tested version."
        )
    output.details([f"self-test passed: {last}"])


class _Drive:
    """The configurations of one command, reported as they are done."""

    def __init__(self, options: argparse.Namespace, output: Output, port: Port, known: list[str]) -> None:
        self.options, self.output, self.port, self.known = options, output, port, known
        self.described = port.describe()
        self.rows: list[dict[str, Any]] = []

    def run(self) -> Verdict:
        configurations, loads = self.configurations(), self.loads()
        runs = [(name, load) for load in loads for name in configurations]
        self.output.details(drive_text.engine_lines(self.described, self.options.assume, self.options.no_assume))
        self.output.details([drive_text.plan_line(configurations, [w.name for w in loads], self.options)])
        self.output.details(drive_text.legend_lines(configurations))
        self.load(*runs[0])
        ends = time.monotonic() + (self.options.seconds or SECONDS)
        for done, (name, load) in enumerate(runs):
            left = max(LEAST_SECONDS, (ends - time.monotonic()) / (len(runs) - done))
            self.one(name, load, self.options.minutes * 60 if self.options.minutes else left)
            if self.rows[-1]["bound"] == INTERRUPT:
                break
        return self.finish()

    def load(self, name: str, load: Load) -> None:
        """Let the engine load itself, which may take long and is no part of the time for driving it."""
        answer = self.port.ask("reset", START_SECONDS, configuration=name, world=world_under(load).document())
        self.port.ask("forget", states=[answer["state"]])

    def configurations(self) -> list[str]:
        every = list(self.described["configurations"])
        for name in self.options.config:
            if name not in every:
                raise Unusable(f"there is no configuration {name}; {nearest(name, every)}.")
        if self.options.config or self.options.minutes:
            return self.options.config or every
        return list(self.described.get("preset", every))

    def loads(self) -> list[Load]:
        if self.options.load:
            return [w for w in LOADS if w.name == self.options.load]
        return list(LOADS if self.options.minutes else PRESET)

    def one(self, name: str, load: Load, seconds: float) -> None:
        """Drive one configuration through one load."""
        stated = self.described["configurations"][name]
        assumed = in_force(stated["assumed"], self.options.assume, self.options.no_assume)
        dials = dials_under(stated["dials"], stated["assumed"], assumed)
        driver = Driver(self.port, name, dials, world_under(load, assumed), LIFECYCLE)
        limits = DriveLimits(self.options.states, seconds)
        watch = lambda driven, how: self.progress(name, load, driven, how)
        result = driver.run(limits, self.options.seed, watch)
        small = [shrink(driver, f) for f in sorted(result.findings.values(), key=lambda f: -len(f.moves))]
        findings = sorted({f.label: f for f in small}.values(), key=lambda f: len(f.moves))
        files = {f.label: self.save(driver, name, load, f) for f in findings}
        told = [
            drive_text.finding_row(f, files[f.label], self.known, stated["assumed"], self.described) for f in findings
        ]
        self.rows.append(drive_text.row(name, load.name, sorted(assumed), dials, result, told))
        self.output.details(drive_text.run_lines(self.rows[-1]))

    def progress(self, name: str, load: Load, driven: Driven, how: str) -> None:
        self.output.status(drive_text.progress_line(name, load.name, driven, how))

    def save(self, driver: Driver, name: str, load: Load, finding: Finding) -> Path:
        """The finding's moves and the engine's own script that makes them."""
        words = "".join(c if c.isalnum() or c in "-_" else " " for c in finding.label).split()
        place: Path = self.options.findings / "-".join([name, load.name, *words])[:120]
        arguments = {"configuration": name, "world": driver.engine.document(), "moves": list(finding.moves)}
        script = self.port.ask("script", None, **arguments, finding=f"{finding.label}: {finding.sentence}")["script"]
        try:
            place.parent.mkdir(parents=True, exist_ok=True)
            place.with_suffix(".py").write_text(script)
            itf.save(path_of(driver, finding), place.with_suffix(".itf.json"), VERSION)
            told = {"finding": finding.label, "traceback": finding.traceback or None, **arguments}
            place.with_suffix(".json").write_text(json.dumps(told, indent=1) + "\n")
        except OSError as error:
            raise Unusable(
                f"findings cannot be written to {place.parent} ({error.strerror}); give --findings DIR."
            ) from None
        return place.with_suffix(".py")

    def untried(self) -> dict[str, list[str]]:
        """The configurations and loads that no run had."""
        tried = {row["configuration"] for row in self.rows}, {row["load"] for row in self.rows}
        return {
            "configurations": [name for name in self.described["configurations"] if name not in tried[0]],
            "loads": [w.name for w in LOADS if w.name not in tried[1]],
        }

    def verdict(self) -> Verdict:
        """With a baseline the question is whether this much driving finds anything new: then a bound is no open end.

        An interrupt is one all the same, since what was asked for was not done.
        """
        if any(f["standing"] == "new" for r in self.rows for f in r["findings"]):
            return Verdict.VIOLATED
        if all(r["exhausted"] for r in self.rows):
            return Verdict.HOLDS
        interrupted = any(r["bound"] == INTERRUPT for r in self.rows)
        return Verdict.UNDETERMINED if interrupted or self.options.known is None else Verdict.HOLDS

    def finish(self) -> Verdict:
        verdict, baseline = self.verdict(), self.options.known
        if self.options.junit:
            cases = machine_text.drive_cases(self.rows, baseline is not None)
            write_junit("schedproof drive", cases, self.options.junit)
        if self.options.json:
            self.output.lines([machine_text.drive_json(verdict, VERSION, self.described, self.rows, self.untried())])
        else:
            self.output.details(drive_text.untried_lines(self.untried()))
            self.output.details(drive_text.unmet_lines(self.known, self.rows))
            self.output.lines([drive_text.last_line(verdict, self.rows, baseline)])
        return verdict
