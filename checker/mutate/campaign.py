"""All hunts together, in parallel processes, and what they add up to."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from checker.catalogue import Catalogue, catalogue
from checker.mutate.hunt import How, Hunted, Sound, hunt
from checker.mutate.subjects import Kind, Subject, exists
from checker.verdict import Verdict
from checker.worlds import WorldFile, find, shipped
from model.language.properties import Shape
from model.lifecycle import LIFECYCLE
from specs.faults.equivalent import EQUIVALENT

MOST_STATES = 1_000_000  # explored for a mutant that nothing catches, before it counts as a survivor
ARGUED_STATES = 30_000  # the same for one that changes nothing by an argument


@dataclass(frozen=True)
class Campaign:
    """What came of all hunts.

    `nothing`: survivors that the solver showed to change nothing at any size; `unasked`: why it was not asked.
    """

    known: Catalogue
    hunted: tuple[Hunted, ...]
    everything: bool
    nothing: frozenset[str] = frozenset()
    unasked: str = ""

    @property
    def wrong(self) -> dict[str, str]:
        """The subjects of which something else came than should, with a sentence each."""
        said = {h.subject.name: text for h in self.hunted if (text := self._wrong(h)) is not None}
        if self.everything:
            said |= dict.fromkeys(self.unknown_equivalents, "is said to be equivalent, but is no mutant")
            said |= dict.fromkeys(self.idle, "is violated by no fault and no mutant")
        return said

    def _wrong(self, hunted: Hunted) -> str | None:
        fault, catch = hunted.subject.fault(self.known), hunted.catch
        if fault is not None and (catch is None or fault.caught_by not in catch.also):
            return f"is not caught by {fault.caught_by} in {fault.world}"
        argued = hunted.subject.name in EQUIVALENT
        if catch is None and not argued and hunted.subject.name not in self.nothing:
            return "survives: no property notices it, and no argument says that it changes nothing"
        if catch is not None and argued:
            return f"is said to change nothing, but {catch.shows} notices it"
        if catch is not None and catch.engine is not None and catch.engine.failures:
            return f"on the engine: {catch.engine.failures[0]}"
        return None

    @property
    def survivors(self) -> tuple[Hunted, ...]:
        return tuple(h for h in self.hunted if h.catch is None)

    @property
    def caught(self) -> tuple[Hunted, ...]:
        return tuple(h for h in self.hunted if h.catch is not None)

    @property
    def beyond_bounds(self) -> int:
        """How many were caught by something other than the bounds of a field."""
        return sum(h.catch is not None and h.catch.how is not How.BOUNDS for h in self.hunted)

    @property
    def unknown_equivalents(self) -> list[str]:
        names = {h.subject.name for h in self.hunted}
        return [part for part in EQUIVALENT if part not in names]

    def protected_by(self) -> dict[str, list[str]]:
        """For each property, the guards without which it is violated."""
        table: dict[str, list[str]] = {name: [] for name in self._breakable}
        for h in self.hunted:
            if h.subject.kind is Kind.GUARD and h.catch is not None:
                for name in h.catch.also:
                    table.setdefault(name, []).append(h.subject.name)
        return table

    @property
    def idle(self) -> list[str]:
        """Properties that nothing violates: either they say nothing, or a fault is missing."""
        seen = {name for h in self.hunted if h.catch is not None for name in h.catch.also}
        return [name for name in self._breakable if name not in seen]

    @property
    def _breakable(self) -> list[str]:
        return [p.name for p in self.known.properties if p.shape is not Shape.REACHABLE]

    @property
    def verdict(self) -> Verdict:
        return Verdict.VIOLATED if self.wrong else Verdict.HOLDS


Watch = Callable[[str], None]


def campaign(
    known: Catalogue,
    chosen: Sequence[Subject],
    everything: bool,
    jobs: int,
    most: int | None,
    watch: Watch,
    engine: bool = False,
) -> Campaign:
    """Hunt for every subject in `jobs` processes, exploring `most` states of what nothing catches.

    `watch` is told how far it is. `engine`: replay each trace on the reference engine, which needs torch.
    """
    files = [f for f in shipped(LIFECYCLE) if not f.expect]
    with ProcessPoolExecutor(jobs) as pool:
        tasks = [pool.submit(_hunt, known.files, s, _worlds(known, s, files), _most(s, most), engine) for s in chosen]
        found = []
        for task in as_completed(tasks):
            found.append(task.result())
            watch(f"{len(found)} of {len(tasks)} faults and mutants tried; last: {found[-1].subject.name}")
    place = {s: number for number, s in enumerate(chosen)}
    return Campaign(known, tuple(sorted(found, key=lambda h: place[h.subject])), everything)


def processes(asked: int | None) -> int:
    """How many processes to use: as many as asked for, or as there are cores."""
    return asked or len(os.sched_getaffinity(0))


def _most(subject: Subject, asked: int | None) -> int:
    return asked or (ARGUED_STATES if subject.name in EQUIVALENT else MOST_STATES)


def _worlds(known: Catalogue, subject: Subject, files: Sequence[WorldFile]) -> list[WorldFile]:
    """The worlds that have what the subject changes. A fault has a world of its own."""
    variation, fault = subject.variation(LIFECYCLE, known), subject.fault(known)
    if fault is not None:
        return [find(LIFECYCLE, fault.world)]
    return [f for f in files if exists(subject, variation, f.world)]


# ------------------------------------------------------------------------------- in other processes
def _hunt(files: tuple[Path, ...], subject: Subject, worlds: Sequence[WorldFile], most: int, engine: bool) -> Hunted:
    known, sound = _known(files)
    return hunt(LIFECYCLE, known, sound, subject, worlds, most, engine)


@cache
def _known(files: tuple[Path, ...]) -> tuple[Catalogue, Sound]:
    """Faults hold functions, which do not travel between processes; their files do."""
    known = catalogue(LIFECYCLE, files)
    return known, Sound(LIFECYCLE, known.properties)
