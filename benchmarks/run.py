"""`make bench`: the compiled search, the python one, SPIN and minicheck on the same worlds, in turn, several rounds; medians.

Times are of the search alone: generation and compilation, ours and SPIN's, are apart (`prepared_seconds`). Every count
of states without reductions must be the same, or the run fails. Writes benchmarks/results/latest.json, and from that the
table and the picture in the README and in docs/speed.md (benchmarks/shown.py).
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import re
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from dataclasses import asdict, dataclass
from pathlib import Path

from benchmarks.one import has_minicheck
from benchmarks.peer_model import SIZES
from benchmarks.shown import show
from checker.check import Options, check_world
from checker.search.limits import Limits
from checker.variation import vary
from checker.worlds import find
from model.lifecycle import LIFECYCLE
from specs.faults import FAULTS
from specs.properties import PROPERTIES

HERE = Path(__file__).parent
WORLDS = ("solo-window", "pair", "unmixed", "peer-tiny", "peer-small", "trio,limit=2")
LARGE = ("peer-medium",)
PYTHON_MOST = 200_000  # states; a larger world is not given to the python search
SPIN_FLAGS = ("-O3", "-w", "-DSAFETY", "-DNOREDUCE", "-DNOFAIR", "-DMEMLIM=16000")


@dataclass
class Row:
    """Medians over the rounds. `bytes_a_state`: peak memory beyond what was there before the search, a state."""

    world: str
    tool: str
    reduced: bool
    states: int
    transitions: int
    seconds: float
    cpu_seconds: float
    prepared_seconds: float
    peak_mb: float
    bytes_a_state: float
    rounds: int

    @property
    def rate(self) -> float:
        return self.states / self.seconds


@dataclass(frozen=True)
class Spin:
    """A model that is compiled and waits to be run."""

    place: Path
    seconds: float
    bits: int

    def run(self) -> dict[str, float]:
        began = time.monotonic()
        process = subprocess.Popen(
            ["./pan", "-m400000", f"-w{self.bits}"], cwd=self.place, stdout=subprocess.PIPE, text=True
        )
        assert process.stdout is not None
        said = process.stdout.read()
        _, _, usage = os.wait4(process.pid, 0)
        process.returncode = 0
        took = time.monotonic() - began
        states, errors = re.search(r"(\d+) states, stored", said), re.search(r"errors: (\d+)", said)
        transitions = re.search(r"(\d+) transitions", said)
        assert states and errors and transitions and errors[1] == "0", said
        return {
            "states": int(states[1]),
            "transitions": int(transitions[1]) - 1,
            "seconds": took,
            "cpu_seconds": usage.ru_utime + usage.ru_stime,
            "prepared_seconds": self.seconds,
            "peak_mb": usage.ru_maxrss / 1024,
            "search_mb": usage.ru_maxrss / 1024,
        }


def compiled(place: Path, model: str, bits: int, *flags: str) -> Spin:
    place.mkdir()
    (place / "model.pml").write_text(model)
    began = time.monotonic()
    for command in (["spin", *flags, "-a", "model.pml"], ["cc", *SPIN_FLAGS, "-o", "pan", "pan.c"]):
        subprocess.run(command, cwd=place, check=True, capture_output=True)
    return Spin(place, time.monotonic() - began, bits)


def one(*arguments: str) -> str:
    ran = subprocess.run(
        [sys.executable, "-m", "benchmarks.one", *arguments],
        cwd=HERE.parent,
        check=True,
        capture_output=True,
        text=True,
    )
    return ran.stdout


def contenders(world: str, work: Path, states: int) -> dict[tuple[str, bool], object]:
    """What is run on a world: by tool and whether reduced, a function that runs it once."""
    found: dict[tuple[str, bool], object] = {
        ("kernel", False): lambda: json.loads(one("kernel", world, "full")),
        ("kernel", True): lambda: json.loads(one("kernel", world, "reduced")),
        ("kernel, one thread", False): lambda: json.loads(one("kernel-1", world, "full")),
        ("kernel, one thread", True): lambda: json.loads(one("kernel-1", world, "reduced")),
    }
    if states <= PYTHON_MOST:
        found["python", False] = lambda: json.loads(one("python", world, "full"))
        found["python", True] = lambda: json.loads(one("python", world, "reduced"))
    if world == WORLDS[0] and has_minicheck():
        found["minicheck", False] = lambda: json.loads(one("minicheck", world, "full"))
    if shutil.which("spin") is None:
        return found
    bits = max(18, states.bit_length() + 1)  # SPIN's table of 2^bits entries: at most half full
    export = one("promela", world)
    for name, flag in (("spin", "-DBITS_"), ("spin, a byte a cell", "-DBYTES")):
        found[name, False] = compiled(work / f"{world}-{name}", export, bits, flag).run
    if world.startswith("peer-"):
        sizes = [f"-D{n}={v}" for n, v in zip("NBZTSEPM", SIZES[world.removeprefix("peer-")], strict=True)]
        expert = (HERE / "peers" / "lifecycle.pml").read_text()
        found["spin, an expert's model", False] = compiled(work / f"{world}-expert", expert, bits, *sizes).run
    return found


def measured(world: str, rounds: int, work: Path) -> list[Row]:
    first = json.loads(one("kernel", world, "full"))
    states, transitions = first["states"], first["transitions"]
    runs = contenders(world, work, states)
    taken: dict[tuple[str, bool], list[dict[str, float]]] = {key: [] for key in runs}
    for _ in range(rounds):
        for key, run in runs.items():
            taken[key].append(run())  # type: ignore[operator]
    rows = []
    for (tool, reduced), each in taken.items():
        middle = {
            name: statistics.median(m[name] for m in each) for name in each[0] if name not in ("bound", "violated")
        }
        found, steps = int(middle.pop("states")), int(middle.pop("transitions"))
        if not reduced and (found, steps) != (states, transitions):
            sys.exit(
                f"{world}: {tool} counts {found:,} states and {steps:,} transitions, "
                f"and the kernel {states:,} and {transitions:,}"
            )
        each_state = middle.pop("search_mb") * 1024 * 1024 / found
        rows.append(Row(world, tool, reduced, found, steps, **middle, bytes_a_state=each_state, rounds=rounds))
        print(f"{world}, {tool}: {found:,} states in {rows[-1].seconds:.2f} s", flush=True)
    return rows


def faults() -> list[dict[str, object]]:
    """Time to the shortest trace of each fault, from nothing but the cache of compiled code."""
    found = []
    for fault in FAULTS:
        began = time.monotonic()
        limits = Limits(after_violation=100_000)
        result = check_world(find(LIFECYCLE, fault.world), vary(LIFECYCLE, fault.name), PROPERTIES, Options(limits))
        took = time.monotonic() - began
        found.append({"fault": fault.name, "world": fault.world, "steps": result.traces[0].length, "seconds": took})
    return found


def ratios(rows: list[Row]) -> list[str]:
    """What the aims are stated in: the kernel against SPIN in one run, by the time of one processor and by the clock."""
    said = []
    for world in dict.fromkeys(r.world for r in rows):
        here = {(r.tool, r.reduced): r for r in rows if r.world == world}
        full, reduced = here["kernel, one thread", False], here["kernel, one thread", True]
        for (tool, _), row in here.items():
            if tool.startswith("spin"):
                said.append(
                    f"{world}, against {tool}: {row.cpu_seconds / full.cpu_seconds:.1f} times the states a second of CPU time "
                    f"({row.seconds / here['kernel', False].seconds:.1f} by the clock, with all threads); to the same end with "
                    f"reduction {row.cpu_seconds / reduced.cpu_seconds:.1f} times as fast "
                    f"({row.seconds / here['kernel', True].seconds:.1f})"
                )
        share = (reduced.states / reduced.cpu_seconds) / (full.states / full.cpu_seconds)
        said.append(f"{world}: a canonical state at {100 * share:.0f} % of the unreduced rate")
    return said


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("worlds", nargs="*", default=list(WORLDS))
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--large", action="store_true", help=f"also {', '.join(LARGE)}: minutes and gigabytes")
    options = parser.parse_args()
    if not has_minicheck():
        print("minicheck is not installed and is left out; pip install '.[bench]'")
    rows: list[Row] = []
    with tempfile.TemporaryDirectory(prefix="bench-") as work:
        for world in [*options.worlds, *(LARGE if options.large else ())]:
            rows += measured(world, options.rounds, Path(work))
    caught = faults()
    together = sum(float(str(f["seconds"])) for f in caught)
    closing = [*ratios(rows), f"all {len(caught)} faults find their shortest traces in {together:.1f} s together"]
    print("\n".join(closing))
    results = HERE / "results"
    results.mkdir(exist_ok=True)
    machine = {"python": platform.python_version(), "system": platform.platform(), "cpus": os.cpu_count()}
    document = {"machine": machine, "rows": [asdict(r) for r in rows], "faults": caught, "said": closing}
    (results / "latest.json").write_text(json.dumps(document, indent=1) + "\n")
    if options.worlds == list(WORLDS):
        show(HERE.parent, document)


if __name__ == "__main__":
    main()
