"""Exploration by compiled code. It comes to the same end as explore.py: the same counts, findings and witnesses.

States are numbered by discovery here too, but another renaming may stand for a state; `states` gives them in the normal
form of symmetry.py. What is not found by compiled code: traces, which the machine and the interpreter walk again.
"""

from __future__ import annotations

import ctypes
import os
import time
from collections.abc import Iterator, Sequence
from ctypes import c_int16, c_int32, c_uint8, c_uint32, c_uint64, c_void_p
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, overload

from checker.search.explore import Exploration, Found, witness
from checker.search.kernel.binding import (
    AFTER_VIOLATION,
    MOST_STATES,
    NO_MEMORY,
    NO_MEMORY_FOR_IT,
    CFound,
    CSearch,
    engine,
    world,
)
from checker.search.kernel.compiler import NoCompiler
from checker.search.kernel.functions import Functions, Missing
from checker.search.kernel.packing import Packing
from checker.search.kernel.problem import Problem, Unsuited
from checker.search.limits import INTERRUPT, Limits, Observe, Progress, peak_memory, unobserved
from checker.search.symmetry import Symmetry
from model.language.properties import Property
from model.readings.c import TooWide
from model.readings.python import Machine

QUOTA = 1 << 16  # states between two looks at the clock and the memory
MOST_WORDS = 8
MOST_THREADS = 8


class Unavailable(Exception):
    """The compiled search cannot be used for a world; the message says why."""


class Code:
    """The compiled functions of a world. If in `parts`, they serve also the rules with guards or updates taken away."""

    def __init__(self, machine: Machine, symmetry: bool, parts: bool = False) -> None:
        """Raises Unavailable if the world does not suit the compiled search, or nothing can be compiled."""
        self.symmetry = Symmetry(machine.layout, machine.pack) if symmetry else None
        self.packing = Packing(machine.layout, self.symmetry)
        self.functions = Functions(self.packing, parts)
        try:
            if self.packing.words > MOST_WORDS:
                raise Unsuited(f"a state takes {self.packing.words} words, and at most {MOST_WORDS} are provided for")
            self.problem = Problem(machine, self.symmetry, self.packing, self.functions)
            source = self.functions.source()
            self.engine = engine(self.packing.words, self.functions.lane)
            self.library = world(source, self.packing.words, self.functions.lane)
        except (Unsuited, TooWide, NoCompiler) as error:
            raise Unavailable(str(error)) from None
        self.functions.closed = True
        self._link(self.problem)

    def normal(self, words: Sequence[int]) -> list[int]:
        """The normal form of a packed state."""
        state = (c_uint64 * len(words))(*words)
        self.engine.normal_form(self.problem.c, state)
        return list(state)

    def serve(self, machine: Machine) -> Problem | None:
        """The tables of another machine of the same world, or None if it needs functions that are not there."""
        if machine is self.problem.machine:
            return self.problem
        if not self.functions.parts or machine.layout.cells != self.packing.layout.cells:
            return None
        try:
            return self._link(Problem(machine, self.symmetry, self.packing, self.functions))
        except Missing:
            return None

    def _link(self, problem: Problem) -> Problem:
        """Give the tables the addresses of the functions."""
        for name in ("spread", "holds"):
            address = ctypes.cast(getattr(self.library, name), c_void_p).value
            setattr(problem.c, name, address)
        for name in ("effects", "conditions", *(() if self.functions.parts else ("fires",))):
            setattr(problem.c, name, ctypes.addressof(c_void_p.in_dll(self.library, name)))
        return problem


class Handle:
    """The memory of one search, freed when nothing refers to it any more."""

    def __init__(self, code: Code, problem: Problem, limits: Limits, keep: bool, threads: int) -> None:
        self.code, self.problem = code, problem
        properties, fields = len(problem.machine.properties), len(problem.fields)
        self.found = (CFound * (properties + fields))(*[CFound(0, -1, -1)] * (properties + fields))
        self.fired = (c_uint64 * max(1, len(problem.machine.model.rules)))()
        self.alone = (c_uint64 * max(1, len(problem.alone)))()
        watch = [x for entry in problem.watch for x in entry]
        self.watch = (c_uint32 * max(1, len(watch)))(*watch)
        self.met = (c_uint8 * max(1, properties))()
        self.c = CSearch(
            problem=ctypes.pointer(problem.c),
            keep=keep,
            most=limits.states or 0,
            more=0 if limits.after_violation is None else limits.after_violation + 1,
            found=ctypes.addressof(self.found),
            fired=ctypes.addressof(self.fired),
            alone=ctypes.addressof(self.alone),
            watched=len(problem.watch),
            watched_steps=sum(of_step for _, _, of_step in problem.watch),
            watch=ctypes.addressof(self.watch),
            met=ctypes.addressof(self.met),
            threads=threads,
        )

    def begin(self) -> int:
        return int(self.code.engine.begin(self.c))

    def advance(self, end: int, quota: int) -> int:
        return int(self.code.engine.advance(self.c, end, quota))

    def dead_ends(self, depth: int) -> int:
        self.c.depth = depth
        return int(self.code.engine.dead_ends(self.c))

    def growth(self) -> float:
        """MB that the search will need beside what it has when it next grows; 0 if that is not soon."""
        return float(self.code.engine.growth_needs(self.c)) / (1 << 20)

    def array(self, name: str, kind: Any, count: int) -> Sequence[int]:
        """One of C's arrays, which lives as long as the view of it."""
        address = getattr(self.c, name)
        made = (kind * count).from_address(address) if address else (kind * 0)()
        made.owner = self
        return memoryview(made).cast("B").cast(kind._type_)

    def __del__(self) -> None:
        if self.c.states or self.c.slots:
            self.code.engine.finish(self.c)


class States(Sequence[Any]):
    """The states that were found, each unpacked and in normal form when it is asked for."""

    def __init__(self, handle: Handle) -> None:
        self.handle = handle
        words = handle.code.packing.words
        self.words, self.each = handle.array("states", c_uint64, handle.c.count * words), words
        symmetry = handle.problem.symmetry
        self.normal = symmetry.normal if symmetry else lambda state: state

    def __len__(self) -> int:
        return len(self.words) // self.each

    @overload
    def __getitem__(self, number: int) -> Any: ...
    @overload
    def __getitem__(self, number: slice) -> list[Any]: ...
    def __getitem__(self, number: int | slice) -> Any:
        if isinstance(number, slice):
            return [self[n] for n in range(*number.indices(len(self)))]
        if not -len(self) <= number < len(self):
            raise IndexError(number)
        at = number % len(self) * self.each
        state = self.handle.code.packing.unpacked(self.words[at : at + self.each])
        return self.normal(self.handle.problem.machine.pack(state))

    def __iter__(self) -> Iterator[Any]:
        return (self[n] for n in range(len(self)))


@dataclass(kw_only=True)
class Compiled(Exploration):
    """An exploration whose states and edges are in C's memory."""

    handle: Handle

    def lost(self, declared: Property) -> Found | None:
        """As home.lost. If there is no memory for it, that is the exploration's `bound` from now on."""
        problem = self.handle.problem
        apart = (c_uint8 * max(1, len(self.machine.instances)))(*problem.apart(declared))
        missing = self.handle.code.engine.lost(self.handle.c, problem.homes[declared.name], ctypes.addressof(apart))
        if missing == NO_MEMORY_FOR_IT:
            self.bound = "the memory of this machine"
        return None if missing < 0 else Found(declared.name, len(self.chain(missing)) - 1, missing, None)


def explore(
    machine: Machine,
    symmetry: bool = True,
    limits: Limits = Limits(),
    observe: Observe = unobserved,
    code: Code | None = None,
    keep: bool = True,
    parts: bool = False,
    threads: int | None = None,
) -> Compiled:
    """As explore.explore. `code` is tried first if given; the graph, which the home check needs, is kept if `keep`;
    `parts`: see Code. `threads`: how many work on it, as many as there are processors if None; nothing else depends on it.

    Raises Unavailable if the world does not suit the compiled search, or nothing can be compiled here.
    """
    problem = code.serve(machine) if code is not None else None
    if code is None or problem is None:
        code = Code(machine, symmetry, parts)
        problem = code.problem
    return _Search(Handle(code, problem, limits, keep, threads or processors()), limits, observe).run()


class _Search:
    def __init__(self, handle: Handle, limits: Limits, observe: Observe) -> None:
        self.handle, self.limits, self.observe = handle, limits, observe
        self.began = time.monotonic()
        self.machine = handle.problem.machine
        self.bound: str | None = None
        self.depth = 0
        self.levels = [0, 1]

    def run(self) -> Compiled:
        try:
            if self.handle.begin() == NO_MEMORY:
                self.bound = "the memory of this machine"
            self._levels()
        except KeyboardInterrupt:
            self.bound = INTERRUPT
        return self._result()

    def _levels(self) -> None:
        c = self.handle.c
        while c.done < c.count and self.bound is None:
            if self.limits.depth is not None and self.depth >= self.limits.depth:
                self.bound = self._stopped(self.handle.dead_ends(self.depth)) or f"depth {self.limits.depth}"
                break
            end, c.depth = c.count, self.depth
            while c.done < end and self.bound is None:
                self.bound = self._met()
                if self.bound is None:
                    self.observe(self._progress())
                    self.bound = self._stopped(self.handle.advance(end, QUOTA))
            if c.count > end:
                self.depth += 1
                self.levels.append(c.count - end)

    def _met(self) -> str | None:
        needs = self.handle.growth()
        if needs and needs > available_memory():
            return "the memory of this machine"
        memory = self.limits.memory
        if memory is not None and needs and peak_memory() + needs > memory:
            return f"{memory:g} MB of memory"
        return replace(self.limits, states=None).met(self.handle.c.count, time.monotonic() - self.began)

    def _stopped(self, status: int) -> str | None:
        if status == MOST_STATES:
            return f"{self.limits.states:,} state" + "s" * (self.limits.states != 1)
        if status == AFTER_VIOLATION:
            return f"{self.limits.after_violation:,} states after the first violation"
        return "the memory of this machine" if status == NO_MEMORY else None

    def _progress(self) -> Progress:
        c, fired = self.handle.c, self.handle.fired
        hottest = max(range(len(self.machine.model.rules)), key=fired.__getitem__)
        return Progress(
            level=self.depth,
            states=c.count,
            transitions=c.transitions,
            seconds=time.monotonic() - self.began,
            frontier=self.levels[-1],
            growth=self.levels[-1] / self.levels[-2] if self.levels[-2] else 1.0,
            hottest=self.machine.model.rules[hottest].name,
        )

    # ------------------------------------------------------------------------------------ the result
    def _result(self) -> Compiled:
        handle, machine, c = self.handle, self.machine, self.handle.c
        existing = {i.rule.name for i in machine.instances}
        witnesses = [(n, p.name) for n, p in enumerate(machine.properties) if witness(p) is not None]
        return Compiled(
            machine=machine,
            symmetry=handle.problem.symmetry,
            states=States(handle),
            parents=handle.array("parents", c_int32, c.count),
            via=handle.array("via", c_int16, c.count),
            first_edge=handle.array("first_edge", c_uint64, c.done + 1),
            targets=handle.array("targets", c_int32, c.edges),
            taken=handle.array("taken", c_int16, c.edges),
            transitions=c.transitions,
            beyond=c.beyond,
            depth=self.depth,
            seconds=time.monotonic() - self.began,
            bound=self.bound,
            violations=dict(self._violations()),
            unmet=tuple(name for n, name in witnesses if not handle.met[n]),
            met=tuple(name for n, name in witnesses if handle.met[n]),
            fired={r.name: handle.fired[n] for n, r in enumerate(machine.model.rules) if r.name in existing},
            sole=self._sole(existing),
            handle=handle,
        )

    def _sole(self, existing: set[str]) -> dict[str, int]:
        counted = {name: 0 for name in self.machine.guard_names if name.partition(".")[0] in existing}
        for name, times in zip(self.handle.problem.alone, self.handle.alone, strict=False):
            if name is not None:
                counted[name] += times
        return counted

    def _violations(self) -> Iterator[tuple[str, Found]]:
        names = [p.name for p in self.machine.properties]
        names += [f"bounds.{field}" for field in self.handle.problem.fields]
        for name, found in sorted(zip(names, self.handle.found, strict=True), key=lambda pair: int(pair[1].depth)):
            if found.depth >= 0:
                yield name, Found(name, found.depth, found.source, found.instance if found.instance >= 0 else None)


def processors() -> int:
    """How many processors this process may use, at most MOST_THREADS."""
    allowed = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    return min(allowed, MOST_THREADS)


def available_memory() -> float:
    """MB that this machine can still give without swapping, or infinity if it does not say."""
    try:
        said = Path("/proc/meminfo").read_text(encoding="ascii").splitlines()
        free = next(line for line in said if line.startswith("MemAvailable:"))
    except (OSError, StopIteration):
        return float("inf")
    return int(free.split()[1]) / 1024
