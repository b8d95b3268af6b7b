"""Breadth-first exploration: every reachable state of a world, and a shortest way to each violated property.

What it shows: if it ends without meeting a bound, every interleaving of the rules in this world was visited.
What it does not: anything about other worlds, or about what happens after a property has been violated once.

Each property is followed to its first violation, which breadth first makes a shortest one. Exploration goes on
behind violations (the damage often shows later than the bookkeeping error), except where a cell left its bounds.
"""

from __future__ import annotations

import time
from array import array
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

from checker.search.limits import INTERRUPT, Limits, Observe, Progress, unobserved
from checker.search.symmetry import Symmetry
from model.language.properties import Property, Shape
from model.readings.python import Beyond, Machine

CHECK_EVERY = 500  # states between two looks at the clock and the memory


@dataclass(frozen=True)
class Found:
    """Where a property was first violated.

    `source` is the number of the last state before; `instance` the step taken there, or None if the state itself is
    meant; `depth` the length of the trace in steps.
    """

    property: str
    depth: int
    source: int
    instance: int | None


@dataclass
class Exploration:
    """What a search found. `states` are numbered in the order of discovery; `bound` names what stopped it, if anything.

    The edges that lead out of state n have the numbers from first_edge[n] up to before first_edge[n + 1]; they are of
    the states that were expanded. `searched` says how, where that is not what was asked for.
    """

    machine: Machine
    symmetry: Symmetry | None
    states: Sequence[Any]
    parents: Sequence[int]
    via: Sequence[int]
    first_edge: Sequence[int]
    targets: Sequence[int]
    taken: Sequence[int]
    transitions: int = 0
    beyond: int = 0
    depth: int = 0
    seconds: float = 0.0
    bound: str | None = None
    violations: dict[str, Found] = field(default_factory=dict)
    unmet: tuple[str, ...] = ()
    met: tuple[str, ...] = ()
    fired: dict[str, int] = field(default_factory=dict)
    sole: dict[str, int] = field(default_factory=dict)
    searched: str = ""

    @property
    def complete(self) -> bool:
        return self.bound is None

    def chain(self, number: int) -> list[int]:
        """The numbers of the states on a shortest way to this one, the initial state first."""
        way = [number]
        while self.parents[way[-1]] >= 0:
            way.append(self.parents[way[-1]])
        return way[::-1]


def explore(
    machine: Machine,
    symmetry: bool = True,
    limits: Limits = Limits(),
    observe: Observe = unobserved,
) -> Exploration:
    """Explore a machine's world. Ctrl-C ends it early, with `bound` saying so; what was found until then is kept."""
    search = _Search(machine, Symmetry(machine.layout, machine.pack) if symmetry else None, limits, observe)
    return search.run()


class _Search:
    def __init__(self, machine: Machine, symmetry: Symmetry | None, limits: Limits, observe: Observe) -> None:
        self.machine, self.limits, self.observe = machine, limits, observe
        self.normal: Callable[[Sequence[int]], Any] = symmetry.normal if symmetry else machine.pack
        self.states: list[Any] = []
        self.parents, self.via, self.targets, self.taken = array("l"), array("l"), array("l"), array("l")
        self.first_edge = array("q", [0])
        graph = (self.states, self.parents, self.via, self.first_edge, self.targets, self.taken)
        self.result = Exploration(machine, symmetry, *graph)
        self.number: dict[Any, int] = {}
        self.began = time.monotonic()
        self.names = [p.name for p in machine.properties]
        self.rest = [self._rest(p) for p in machine.properties if p.shape is Shape.REST]
        self.witnesses = {
            p.name: (p.shape, machine.predicate(t)) for p in machine.properties if (t := witness(p)) is not None
        }
        self.levels = [0, 1]
        self.broken_at: int | None = None  # how many states were known when something was first violated

    def _rest(self, declared: Property) -> tuple[str, Callable[..., bool], frozenset[int]]:
        apart = frozenset(k for k, i in enumerate(self.machine.instances) if i.rule.name in declared.apart_from)
        return declared.name, self.machine.predicate(declared.term), apart

    # ---------------------------------------------------------------------------------- the search
    def run(self) -> Exploration:
        result = self.result
        try:
            self._begin()
            done = 0
            while done < len(result.states) and result.bound is None:
                if self.limits.depth is not None and result.depth >= self.limits.depth:
                    self._dead_ends(done)
                    result.bound = f"depth {self.limits.depth}"
                    break
                end = len(result.states)
                done = self._level(done, end)
                if len(result.states) > end:
                    result.depth += 1
                    self.levels.append(len(result.states) - end)
        except KeyboardInterrupt:
            result.bound = INTERRUPT
        self._finish()
        return result

    def _begin(self) -> None:
        for counts in (self.machine.fired, self.machine.sole):
            counts[:] = [0] * len(counts)
        initial = self.normal(self.machine.initial)
        self._new(initial, -1, -1)
        for number in self.machine.violated(initial):
            self._violate(self.names[number], 0, 0, None)
        self._watch(initial)

    def _level(self, start: int, end: int) -> int:
        most = self.limits.states
        for source in range(start, end):
            full = most is not None and len(self.result.states) >= most
            if full or (source - start) % CHECK_EVERY == 0:
                self.result.bound = self._met()
                if self.result.bound is not None:
                    return source
                self.observe(self.progress(end - start))
            self._expand(source)
        return end

    def _met(self) -> str | None:
        more = self.limits.after_violation
        if more is not None and self.broken_at is not None and len(self.result.states) >= self.broken_at + more:
            return f"{more:,} states after the first violation"
        return self.limits.met(len(self.result.states), time.monotonic() - self.began)

    def _expand(self, source: int) -> None:
        result, state = self.result, self.result.states[source]
        successors = self.machine.successors(state)
        result.transitions += len(successors)
        for k, raw, bad in successors:
            for number in bad:
                self._violate(self.names[number], result.depth + 1, source, k)
            if type(raw) is Beyond:
                self._beyond(source, k, raw)
                continue
            target = self._reach(source, k, self.normal(raw), raw)
            if self.witnesses:
                self._watch_step(state, raw)
            self.targets.append(target)
            self.taken.append(k)
        self.first_edge.append(len(result.targets))
        self._at_rest(source, successors)

    def _at_rest(self, source: int, successors: Sequence[tuple[int, Any, Any]]) -> None:
        state = self.result.states[source]
        for name, quiescent, apart in self.rest:
            if (
                name not in self.result.violations
                and all(k in apart for k, _, _ in successors)
                and not quiescent(state)
            ):
                self._violate(name, self.result.depth, source, None)

    def _dead_ends(self, start: int) -> None:
        """Look for dead ends in the last level that a bound on the depth allows; its steps count for nothing else."""
        if not self.rest:
            return
        counted = [list(c) for c in (self.machine.fired, self.machine.sole)]
        for source in range(start, len(self.result.states)):
            self._at_rest(source, self.machine.successors(self.result.states[source]))
        self.machine.fired[:], self.machine.sole[:] = counted

    def _reach(self, source: int, k: int, target: Any, raw: Any) -> int:
        known = self.number.get(target)
        if known is not None:
            return known
        number = self._new(target, source, k)
        if not self.machine.holds_after[k](raw):
            for bad in self.machine.violated(raw):
                self._violate(self.names[bad], self.result.depth + 1, number, None)
        if self.witnesses:
            self._watch(raw)
        return number

    def _new(self, state: Any, parent: int, k: int) -> int:
        number = self.number[state] = len(self.result.states)
        self.states.append(state)
        self.parents.append(parent)
        self.via.append(k)
        return number

    def _beyond(self, source: int, k: int, raw: Beyond) -> None:
        """A cell left its bounds: what is violated there is recorded, and nothing is explored behind it."""
        self.result.beyond += 1
        for name in sorted(self.machine.violations(raw)):
            self._violate(name, self.result.depth + 1, source, k)

    def _violate(self, name: str, depth: int, source: int, instance: int | None) -> None:
        if self.broken_at is None:
            self.broken_at = len(self.result.states)
        if name not in self.result.violations:
            self.result.violations[name] = Found(name, depth, source, instance)

    # ------------------------------------------------------------------------------------ watching
    def _watch(self, state: Any) -> None:
        for name, (shape, holds) in list(self.witnesses.items()):
            if shape is not Shape.STEP and holds(state):
                del self.witnesses[name]

    def _watch_step(self, state: Any, then: Any) -> None:
        for name, (shape, holds) in list(self.witnesses.items()):
            if shape is Shape.STEP and holds(state, then):
                del self.witnesses[name]

    def progress(self, frontier: int) -> Progress:
        fired = self.machine.fired
        hottest = max(range(len(fired)), key=fired.__getitem__)
        return Progress(
            level=self.result.depth,
            states=len(self.result.states),
            transitions=self.result.transitions,
            seconds=time.monotonic() - self.began,
            frontier=frontier,
            growth=self.levels[-1] / self.levels[-2] if self.levels[-2] else 1.0,
            hottest=self.machine.model.rules[hottest].name,
        )

    def _finish(self) -> None:
        result, machine = self.result, self.machine
        result.seconds = time.monotonic() - self.began
        existing = {i.rule.name for i in machine.instances}
        result.fired = {
            r.name: n for r, n in zip(machine.model.rules, machine.fired, strict=True) if r.name in existing
        }
        result.sole = {
            name: n
            for name, n in zip(machine.guard_names, machine.sole, strict=True)
            if name.partition(".")[0] in existing
        }
        result.unmet = tuple(self.witnesses)
        result.met = tuple(
            p.name for p in machine.properties if witness(p) is not None and p.name not in self.witnesses
        )


def witness(declared: Property) -> Any:
    """The term that must be met somewhere for the property to mean something, or None."""
    return declared.term if declared.shape is Shape.REACHABLE else declared.witness
