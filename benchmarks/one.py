"""One exploration in a process of its own, so that its peak memory is its own: prints a JSON object."""

from __future__ import annotations

import importlib.util
import json
import sys
import time
from typing import Any

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


def has_minicheck() -> bool:
    return importlib.util.find_spec("minicheck") is not None


def by_minicheck(machine: Machine) -> dict[str, object]:
    """minicheck's own search, on the steps and the properties that our generated Python has for the machine.

    It counts states; the transitions are counted as they are asked for.
    """
    from minicheck import Protocol, check_safety

    fields = tuple(c.label for c in machine.layout.cells)
    taken = 0

    def transitions(state: tuple[int, ...]) -> list[tuple[int, tuple[int, ...]]]:
        nonlocal taken
        after = [(k, tuple(then)) for k, then, _ in machine.successors(machine.pack(state))]
        taken += len(after)
        return after

    def holds(named: dict[str, int]) -> bool:
        return not machine.violated(machine.pack(named.values()))

    started, cpu = time.monotonic(), time.process_time()
    protocol = Protocol(machine.model.name, False, fields, tuple(machine.initial), transitions, {"properties": holds})
    result: dict[str, Any] = check_safety(protocol, max_states=10**9)
    return {
        "states": result["reachable_states"],
        "transitions": taken,
        "seconds": time.monotonic() - started,
        "cpu_seconds": time.process_time() - cpu,
        "bound": None if result["exhaustive"] else "incomplete",
        "violated": [] if result["properties"]["properties"]["holds"] else ["properties"],
    }


def explored(world: str, tool: str, reduced: bool, most: int | None) -> dict[str, object]:
    """One exploration: `kernel`, `kernel-1` (with one thread), `python`, or `minicheck`, which is never reduced."""
    began = time.monotonic()
    machine = machine_of(world)
    limits = Limits(states=most)
    base = peak_memory()
    if tool == "minicheck":
        machine.successors(machine.initial)
        prepared = time.monotonic() - began
        return by_minicheck(machine) | {
            "prepared_seconds": prepared,
            "peak_mb": peak_memory(),
            "search_mb": peak_memory() - base,
        }
    if tool.startswith("kernel"):
        code = kernel.Code(machine, reduced)
        ready = time.monotonic()
        cpu = time.process_time()
        threads = 1 if tool == "kernel-1" else None
        found = kernel.explore(machine, reduced, limits, code=code, keep=False, threads=threads)
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
