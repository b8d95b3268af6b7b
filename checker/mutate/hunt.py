"""The hunt for one subject: world after world, the smallest first, until something other than a bound catches it."""

from __future__ import annotations

import enum
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from checker.catalogue import Catalogue
from checker.check import confirm, reached
from checker.mutate.subjects import Kind, Subject
from checker.replay import itf
from checker.replay.reference import judge
from checker.replay.trace import Trace, trace_of
from checker.search.choose import Explorer
from checker.search.explore import Exploration, Found, explore
from checker.search.home import lost_homes
from checker.search.limits import Limits
from checker.variation import Variation
from checker.version import VERSION
from checker.worlds import WorldFile
from model.language.model import Model
from model.language.properties import Property, Shape
from model.readings.python import Machine
from model.readings.world import World

AFTER_VIOLATION = 10_000  # how many states more are visited to see what else notices the change
AFTER_FAULT = 100_000  # the same for a fault, whose own property may need a longer way than others
SOON = 5_000  # states in which most faults show
ENOUGH = 10_000  # states after which a change that coverage noticed is not tried any further
BOUNDS = "bounds."


class How(enum.Enum):
    """What noticed a change."""

    PROPERTY = "a property"
    BOUNDS = "the bounds of a field only"
    COVERAGE = "a rule that never fires any more, or a witness that is not met"


@dataclass(frozen=True)
class Shown:
    """What a trace showed on the reference engine: the guard at which the sound one refused, if it did, and with the
    change made to the engine too the kinds of damage. `switch`: whether the engine can be changed in this way; `measured`:
    how it went on after the trace, in words."""

    refused: str | None
    switch: bool
    damage: tuple[str, ...]
    says: tuple[str, ...]
    failures: tuple[str, ...]
    measured: str = ""

    @property
    def wider(self) -> bool:
        """The damage was measured in a wider world than the trace's, in which there is more to be damaged."""
        return self.measured.startswith("in ")


@dataclass(frozen=True)
class Catch:
    """How a subject was caught: by what, in which world, after how many steps.

    `also` is every property seen violated there with its length, `trace` the shortest run as an ITF document (none
    where only coverage noticed), `engine` what that run showed on the reference engine, if it was replayed there.
    """

    how: How
    shows: str
    length: int
    world: str
    also: Mapping[str, int]
    trace: dict[str, Any] | None
    engine: Shown | None = None


@dataclass(frozen=True)
class Hunted:
    """What came of a subject. `tried`: worlds explored to the end that show nothing; `left`: not explored any more."""

    subject: Subject
    catch: Catch | None
    tried: tuple[str, ...]
    left: tuple[str, ...]
    seconds: float


class Sound:
    """What the unchanged rules do in the worlds, by name; found out when it is first asked for.

    The code that is compiled for a world serves its mutants as well: they need no functions that are not there. Hunts are
    in parallel already, so each search has one thread.
    """

    def __init__(self, model: Model, properties: Sequence[Property]) -> None:
        self.model, self.properties = model, properties
        self._known: dict[str, _Known] = {}

    def matter(self, world: World) -> frozenset[str]:
        """The guards that alone kept a rule from firing somewhere. Taking another away changes nothing there."""
        return self._look(world).matter

    def reached(self, world: World) -> frozenset[str]:
        """The rules that fire and the witnesses that are met, in words."""
        return self._look(world).reached

    def explore(self, machine: Machine, limits: Limits) -> Exploration:
        """Explore a mutant of the world."""
        return self._look(machine.world).explorer.explore(machine, limits=limits)

    def machine(self, world: World) -> Machine:
        """The unchanged rules in the world, of which a mutant shares all but one."""
        return self._look(world).machine

    def _look(self, world: World) -> _Known:
        if world.name not in self._known:
            explorer, machine = Explorer(parts=True, threads=1), Machine(self.model, world, self.properties)
            explored = explorer.explore(machine)
            matter = frozenset(guard for guard, times in explored.sole.items() if times)
            self._known[world.name] = _Known(explorer, machine, matter, reached(explored))
        return self._known[world.name]


@dataclass(frozen=True)
class _Known:
    explorer: Explorer
    machine: Machine
    matter: frozenset[str]
    reached: frozenset[str]


def hunt(
    model: Model,
    known: Catalogue,
    sound: Sound,
    subject: Subject,
    files: Sequence[WorldFile],
    most: int,
    engine: bool = False,
) -> Hunted:
    """Try the worlds in order; those that make it more than `most` states in all are left.

    `engine`: replay the trace on the reference engine too.
    """
    began, variation = time.monotonic(), subject.variation(model, known)
    weak: Catch | None = None
    tried: list[str] = []
    visited = 0
    for number, file in enumerate(files):
        if visited and visited + (file.normal_forms or 0) > (most if weak is None else min(most, ENOUGH)):
            left = tuple(f.name for f in files[number:])
            return Hunted(subject, weak, tuple(tried), left, time.monotonic() - began)
        if subject.kind is Kind.GUARD and subject.name not in sound.matter(file.world):
            continue
        tried.append(file.name)
        catch, states = _look(known, sound, subject, variation, file, engine)
        visited += states
        if catch is not None and catch.how is How.PROPERTY:
            return Hunted(subject, catch, tuple(tried[:-1]), (), time.monotonic() - began)
        if catch is not None and (weak is None or (weak.how is How.COVERAGE and catch.how is How.BOUNDS)):
            weak = catch
    return Hunted(subject, weak, tuple(tried), (), time.monotonic() - began)


def _look(
    known: Catalogue, sound: Sound, subject: Subject, variation: Variation, file: WorldFile, engine: bool
) -> tuple[Catch | None, int]:
    shared = sound.machine(file.world) if subject.kind is not Kind.FAULT else None
    machine = Machine(variation.model, file.world, known.properties, like=shared)
    explored = _explored(known, sound, subject, machine)
    found = explored.violations | lost_homes(explored)
    if found:
        return _caught(known, subject, variation, explored, found, engine), len(explored.states)
    missing = sorted(sound.reached(file.world) - reached(explored))
    if missing and explored.bound is None:
        return Catch(How.COVERAGE, f"{missing[0]} not reached", 0, file.name, {}, None), len(explored.states)
    return None, len(explored.states)


def _explored(known: Catalogue, sound: Sound, subject: Subject, machine: Machine) -> Exploration:
    """A fault needs functions of its own; compiling them costs more than the first steps of a search by python."""
    fault, limits = subject.fault(known), Limits(after_violation=AFTER_VIOLATION)
    if fault is None:
        return sound.explore(machine, limits)
    explored = explore(machine, limits=replace(limits, states=SOON))
    if fault.caught_by in explored.violations:
        return explored
    return Explorer(threads=1).explore(machine, limits=Limits(after_violation=AFTER_FAULT))


def _caught(
    known: Catalogue,
    subject: Subject,
    variation: Variation,
    explored: Exploration,
    found: Mapping[str, Found],
    engine: bool,
) -> Catch:
    """The property that a fault names if it is there, else the one with the shortest trace.

    Bounds come last, and before them a way home that is lost: its trace ends long before anybody sees what is wrong.
    """
    fault = subject.fault(known)
    named = fault.caught_by if fault is not None else None
    homes = [p.name for p in known.properties if p.shape is Shape.HOME]
    shows = min(found, key=lambda name: (name != named, name.startswith(BOUNDS), name in homes, found[name].depth))
    trace = trace_of(explored, found[shows], variation)
    confirm(trace, known.properties)
    how = How.BOUNDS if shows.startswith(BOUNDS) else How.PROPERTY
    also = {name: f.depth for name, f in sorted(found.items(), key=lambda item: item[1].depth)}
    shown = _on_engine(trace) if engine and not ghostly(subject, variation) else None
    return Catch(how, shows, trace.length, trace.world.name, also, itf.to_itf(trace, VERSION), shown)


def ghostly(subject: Subject, variation: Variation) -> bool:
    """Whether an update of the ghost memory is taken away: of what is true of memory, which no engine does or leaves."""
    ghosts = [field for forget in variation.unchanged.forgets for field in forget.fields]
    rule = variation.unchanged.rule(variation.rules[0])
    names = zip(rule.update_names(), rule.updates, strict=True)
    return subject.kind is Kind.UPDATE and any(name == subject.name and u.field in ghosts for name, u in names)


def _on_engine(trace: Trace) -> Shown:
    judged = judge(trace)
    refused = judged.sound.refused
    return Shown(
        refused.guard if refused is not None else None,
        judged.flawed is not None,
        judged.damage.kinds,
        judged.says,
        judged.failures,
        judged.flawed.went_on if judged.flawed is not None else "",
    )
