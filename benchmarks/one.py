"""One exploration in a process of its own, so that its peak memory is its own: prints a JSON object."""

from __future__ import annotations

import json
import sys
import time

from benchmarks.peer_model import INVARIANTS, PEER, SIZES, peer_world
from checker.search.explore import explore
from checker.search.kernel import search as kernel
from checker.search.limits import Limits, peak_memory
from checker.settings import parse_settings
from checker.worlds import find, with_dials
from model.lifecycle import LIFECYCLE
from model.readings.promela import promela
from model.readings.python import Machine
from specs.properties import PROPERTIES


def machine_of(world: str) -> Machine:
    """A machine for `peer-small`, or for a shipped world, perhaps with dials: `trio,limit=2`. Nothing is forgotten."""
    name, *settings = world.split(",")
    if name.startswith("peer-"):
        size = name.removeprefix("peer-")
        return Machine(PEER, peer_world(size, *SIZES[size]), INVARIANTS)
    file = with_dials(LIFECYCLE, find(LIFECYCLE, name), parse_settings(settings))
    return Machine(LIFECYCLE, file.world, PROPERTIES, forgetful=False)


def explored(world: str, tool: str, reduced: bool, most: int | None) -> dict[str, object]:
    began = time.monotonic()
    machine = machine_of(world)
    limits = Limits(states=most)
    base = peak_memory()
    if tool == "kernel":
        code = kernel.Code(machine, reduced)
        ready = time.monotonic()
        cpu = time.process_time()
        found = kernel.explore(machine, reduced, limits, code=code, keep=False)
    else:
        ready, cpu = time.monotonic(), time.process_time()
        found = explore(machine, reduced, limits)  # type: ignore[assignment]
    return {
        "states": len(found.states),
        "transitions": found.transitions,
        "seconds": time.monotonic() - ready,
        "cpu_seconds": time.process_time() - cpu,
        "prepared_seconds": ready - began,
        "peak_mb": peak_memory(),
        "search_mb": peak_memory() - base,
        "bound": found.bound,
        "violated": sorted(found.violations),
    }


if __name__ == "__main__":
    what, world = sys.argv[1:3]
    if what == "promela":
        sys.stdout.write(promela(machine_of(world)))
    else:
        reduced, most = sys.argv[3] == "reduced", int(sys.argv[4]) if len(sys.argv) > 4 else None
        json.dump(explored(world, what, reduced, most), sys.stdout)
