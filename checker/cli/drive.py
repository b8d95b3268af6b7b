"""`schedproof drive`: an engine's own scheduler, tried move by move against the rules."""

from __future__ import annotations

import argparse
import json
import subprocess
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from checker.cli.options import positive, seconds
from checker.replay import itf
from checker.replay.drive import DriveLimits, Driven, Driver, Finding, path_of, shrink
from checker.replay.engine_world import EngineRequest, EngineWorld
from checker.replay.environment import find_engine, set_up
from checker.replay.port import AdapterLost, Port, command_for
from checker.report import drive_text
from checker.report.output import Output
from checker.verdict import Unusable, Verdict
from checker.version import VERSION
from model.language.model import nearest
from model.lifecycle import LIFECYCLE
from specs.engines import LOADS, Load, prompts

HELP = "try a real engine's scheduler against the rules"
DESCRIPTION = """\
Drives an engine's own scheduler classes through an adapter, in the engine's own Python: an adversary submits, cancels,
schedules and chooses results, breadth first and then at random, and every step must be a path of the rules under the
disciplines that the engine states. A finding comes with its shortest moves and a script of the engine's own calls.

examples:
  schedproof drive vllm==0.10.2 --setup              build the environment (2.5 GB), then drive for about 30 s
  schedproof drive vllm --config fcfs-cache-depth2   one configuration
  schedproof drive vllm --minutes 5 --known known.txt  fail only on findings that are new
  schedproof drive my_adapter.py --python PATH       an adapter of your own (docs/port.md)"""

PRESET = 30.0
REMOVABLE = ("device-in-order", "feasible-requests")


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
    how.add_argument("--seconds", type=seconds, metavar="S", help=f"for everything (default {PRESET:g})")
    how.add_argument("--minutes", type=seconds, metavar="N", help="for each configuration and load")
    how.add_argument("--states", type=positive, default=100_000, metavar="N", help="at most so many, breadth first")
    how.add_argument("--seed", type=int, default=0, help="for the walks")
    what = parser.add_argument_group("assumptions and findings")
    what.add_argument("--no-assume", action="append", default=[], metavar="NAME", help="do not rest on this assumption")
    what.add_argument("--known", type=Path, metavar="FILE", help="kinds of findings, one a line, that do not fail")
    what.add_argument(
        "--findings", type=Path, default=Path("schedproof-findings"), metavar="DIR", help="default %(default)s"
    )
    parser.add_argument("--json", action="store_true", help="print one JSON document instead of text")
    parser.add_argument("--quiet", action="store_true", help="print the last line only, and no progress")


def run(options: argparse.Namespace, output: Output) -> Verdict:
    engine = find_engine(options.engine)
    if options.setup:
        set_up(engine, lambda line: output.details([line]))
        if options.only_setup:
            return Verdict.HOLDS
    python = options.python or engine.python
    if not python.exists():
        raise Unusable(
            f"{python} does not exist; build it with --setup, or give a Python that has the engine with --python."
        )
    known = _known(options.known)
    try:
        with Port(command_for(python, engine.adapter)) as port:
            drive = _Drive(options, output, port, known)
            if not drive.described["tested"]:
                _self_test(command_for(python, engine.adapter), output)
            return drive.run()
    except AdapterLost as lost:
        raise Unusable(f"{lost}.") from None


def _self_test(command: list[str], output: Output) -> None:
    """A version that the adapter was not tested with must pass its self-test; then it is driven under that label."""
    output.details(["untested version; the adapter's self-test runs first"])
    done = subprocess.run([*command, "--self-test"], capture_output=True, text=True, check=False)
    last = (done.stdout.strip() or done.stderr.strip() or "it said nothing").splitlines()[-1]
    if done.returncode:
        raise Unusable(
            f"the adapter's self-test fails with this version of the engine ({last}); use the tested version."
        )
    output.details([f"self-test passed: {last}"])


def _known(path: Path | None) -> list[str]:
    if path is None:
        return []
    try:
        return [line.strip() for line in path.read_text().splitlines() if line.strip() and not line.startswith("#")]
    except OSError as error:
        raise Unusable(
            f"{path} cannot be read ({error.strerror}); give a file with one kind of finding a line."
        ) from None


def engine_world(load: Load) -> EngineWorld:
    requests = zip(prompts(load), load.requests, strict=True)
    asked = tuple(EngineRequest(prompt, limit, priority) for prompt, (_, limit, priority) in requests)
    return EngineWorld(load.name, asked, load.blocks, load.block_size, load.budget, load.seats)


class _Drive:
    """The configurations of one command, reported as they are done."""

    def __init__(self, options: argparse.Namespace, output: Output, port: Port, known: list[str]) -> None:
        self.options, self.output, self.port, self.known = options, output, port, known
        self.described = port.describe()
        self.rows: list[dict[str, Any]] = []

    def run(self) -> Verdict:
        configurations = self.configurations()
        self.details(drive_text.engine_lines(self.described))
        loads = [w for w in LOADS if self.options.load in (None, w.name)]
        for name in configurations:
            for load in loads:
                self.configuration(name, load, len(configurations) * len(loads))
        return self.finish()

    def details(self, lines: list[str]) -> None:
        if not self.options.json:
            self.output.details(lines)

    def configurations(self) -> list[str]:
        known = list(self.described["configurations"])
        for name in self.options.config:
            if name not in known:
                raise Unusable(f"there is no configuration {name}; {nearest(name, known)}.")
        for name in self.options.no_assume:
            if name not in self.described["assumptions"]:
                raise Unusable(f"there is no assumption {name}; {nearest(name, list(self.described['assumptions']))}.")
            if name not in REMOVABLE:
                raise Unusable(f"{name} cannot be taken away here, only {' and '.join(REMOVABLE)} can.")
        return self.options.config or known

    def configuration(self, name: str, load: Load, count: int) -> None:
        dials: Mapping[str, Any] = self.described["configurations"][name]["dials"]
        driver = Driver(self.port, name, self.dials(dials), self.world(load), LIFECYCLE)
        each = self.options.minutes * 60 if self.options.minutes else (self.options.seconds or PRESET) / count
        limits = DriveLimits(self.options.states, each)
        result = driver.run(limits, self.options.seed, lambda d, how: self.progress(name, load, d, how))
        findings = [shrink(driver, f) for f in result.findings.values()]
        files = {f.kind: self.save(driver, name, load, f) for f in findings}
        self.rows.append(drive_text.row(name, load.name, result, findings, files, self.known))
        self.details(drive_text.configuration_lines(self.rows[-1], findings))

    def world(self, load: Load) -> EngineWorld:
        """The load; with a request that can never fit, if the engine may not assume that there is none."""
        if "feasible-requests" not in self.options.no_assume:
            return engine_world(load)
        misfit = (load.blocks * load.block_size + 1, 1, 0)
        return engine_world(replace(load, requests=(*load.requests, misfit)))

    def dials(self, dials: Mapping[str, Any]) -> dict[str, Any]:
        free = {"device": "unordered"} if "device-in-order" in self.options.no_assume else {}
        return {**dials, **free}

    def progress(self, name: str, load: Load, driven: Driven, how: str) -> None:
        self.output.status(drive_text.progress_line(name, load.name, driven, how))

    def save(self, driver: Driver, name: str, load: Load, finding: Finding) -> Path:
        """The finding's moves and the engine's own script that makes them."""
        stem = "-".join([name, load.name, *finding.kind.replace("/", " ").replace(":", " ").replace(".", " ").split()])[
            :120
        ]
        place: Path = self.options.findings / stem
        arguments = {"configuration": name, "world": driver.engine.document(), "moves": list(finding.moves)}
        script = self.port.ask("script", None, **arguments)["script"]
        try:
            place.parent.mkdir(parents=True, exist_ok=True)
            place.with_suffix(".py").write_text(script)
            itf.save(path_of(driver, finding), place.with_suffix(".itf.json"), VERSION)
            place.with_suffix(".json").write_text(json.dumps({"finding": finding.kind, **arguments}, indent=1) + "\n")
        except OSError as error:
            raise Unusable(
                f"findings cannot be written to {place.parent} ({error.strerror}); give --findings DIR."
            ) from None
        return place.with_suffix(".py")

    def finish(self) -> Verdict:
        fresh = sum(len(r["new"]) for r in self.rows)
        verdict = Verdict.VIOLATED if fresh else Verdict.HOLDS
        if not fresh and not all(r["exhausted"] for r in self.rows):
            verdict = Verdict.UNDETERMINED
        if self.options.json:
            document = {"version": VERSION, "command": "drive", "verdict": verdict.word, "configurations": self.rows}
            self.output.lines([json.dumps(document, indent=2)])
        else:
            self.output.lines([drive_text.last_line(verdict, self.rows)])
        return verdict
