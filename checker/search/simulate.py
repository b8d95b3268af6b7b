"""Random walks through a world, for worlds too large to explore. A walk that finds nothing shows nothing."""

from __future__ import annotations

import random
import time
from dataclasses import dataclass, field
from typing import Any

from checker.search.limits import INTERRUPT, Limits, Observe, Progress, unobserved
from model.language.properties import Shape
from model.readings.ground import Instance
from model.readings.python import Beyond, Machine

LONGEST = 1000  # steps in one walk


@dataclass
class Simulation:
    """What random walks met. `found` holds, for each property violated, the steps of the walk that violated it first."""

    walks: int = 0
    transitions: int = 0
    distinct: int = 0
    longest: int = 0
    seconds: float = 0.0
    bound: str = ""
    found: dict[str, tuple[Instance, ...]] = field(default_factory=dict)


def simulate(
    machine: Machine, walks: int, seed: int, limits: Limits = Limits(), observe: Observe = unobserved
) -> Simulation:
    """Walk at random from the initial state, `walks` times, each until nothing is enabled or LONGEST steps."""
    walker = _Walker(machine, random.Random(seed))
    result, began = walker.result, time.monotonic()
    result.bound = f"{walks:,} random walks"
    try:
        for number in range(walks):
            result.seconds = time.monotonic() - began
            met = limits.met(len(walker.seen), result.seconds)
            if met is not None:
                result.bound = met
                break
            walker.walk()
            result.walks += 1
            if number % 20 == 0:
                observe(walker.progress(result.seconds))
    except KeyboardInterrupt:
        result.bound = INTERRUPT
    result.seconds = time.monotonic() - began
    result.distinct = len(walker.seen)
    return result


class _Walker:
    def __init__(self, machine: Machine, chance: random.Random) -> None:
        self.machine, self.chance = machine, chance
        self.result = Simulation()
        self.seen: set[Any] = {machine.initial}
        self.rest = [
            (p.name, machine.predicate(p.term), p.apart_from) for p in machine.properties if p.shape is Shape.REST
        ]

    def walk(self) -> None:
        machine = self.machine
        state = machine.initial
        events: list[Instance] = []
        while len(events) < LONGEST:
            successors = machine.successors(state)
            self.at_rest(state, events, [k for k, _, _ in successors])
            if not successors:
                break
            k, then, bad = self.chance.choice(successors)
            events.append(machine.instances[k])
            self.result.transitions += 1
            if bad or type(then) is Beyond or not machine.holds_after[k](then):
                for name in sorted(machine.violations(then, bad)):
                    self.keep(name, events)
            if type(then) is Beyond:
                break
            state = machine.pack(then)
            self.seen.add(state)
        self.result.longest = max(self.result.longest, len(events))

    def at_rest(self, state: Any, events: list[Instance], enabled: list[int]) -> None:
        names = {self.machine.instances[k].rule.name for k in enabled}
        for name, quiescent, apart in self.rest:
            if names <= set(apart) and not quiescent(state):
                self.keep(name, events)

    def keep(self, name: str, events: list[Instance]) -> None:
        if name not in self.result.found:
            self.result.found[name] = tuple(events)

    def progress(self, seconds: float) -> Progress:
        fired = self.machine.fired
        hottest = self.machine.model.rules[max(range(len(fired)), key=fired.__getitem__)].name
        return Progress(self.result.longest, len(self.seen), self.result.transitions, seconds, 1, 1.0, hottest)
