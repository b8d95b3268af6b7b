"""What the cards rest on: which property notices each guard's absence, with its shortest trace; each fault's kept trace; the
run that breaks each promise; and what these runs do to a real engine."""

from __future__ import annotations

import json
import tempfile
from collections.abc import Callable, Mapping
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path

from checker.catalogue import SHIPPED, Catalogue
from checker.handbook.lassos import Lasso, lassos
from checker.handbook.run import Drift
from checker.mutate.campaign import campaign, processes
from checker.mutate.hunt import Catch
from checker.mutate.subjects import Kind, Subject, mutants
from checker.replay import itf
from checker.replay.reference import Judgement, available, judge
from checker.replay.trace import Trace
from model.language.properties import Property
from model.lifecycle import LIFECYCLE
from specs.faults.equivalent import EQUIVALENT
from specs.regressions import regression_files


@dataclass(frozen=True)
class Facts:
    """By guard (`release.unpinned`) or fault: who catches it, and the trace. `protects`: the guards by property.

    `lassos`: by promise, the run that breaks it. `engine`: by guard or fault, what its run showed on the reference engine, as
    sentences; empty where torch is not installed.
    """

    known: Catalogue
    catches: Mapping[str, Catch]
    guards: Mapping[str, Trace]
    faults: Mapping[str, Trace]
    protects: Mapping[str, list[str]]
    lassos: Mapping[str, Lasso] = field(default_factory=dict)
    engine: Mapping[str, tuple[str, ...]] = field(default_factory=dict)

    def property(self, name: str) -> Property | None:
        """The property of this name; None for a field's bounds."""
        return next((p for p in self.known.everything if p.name == name), None)

    def shortest(self, name: str) -> Trace | None:
        """The shortest trace there is that ends with this property violated; of a promise, the run that breaks it."""
        if name in self.lassos:
            return self.lassos[name].trace
        found = [t for t in (*self.guards.values(), *self.faults.values()) if t.shows == name]
        return min(found, key=lambda t: t.length, default=None)


def gather(jobs: int | None, watch: Callable[[str], None]) -> Facts:
    """Take every guard away that matters, one at a time, and load the kept trace of every fault.

    Drift if a guard is missed by nobody and no argument says why, or if the reference engine does otherwise than the rules.
    """
    chosen = [s for s in mutants(LIFECYCLE) if s.kind is Kind.GUARD and s.name not in EQUIVALENT]
    hunted = campaign(SHIPPED, chosen, False, processes(jobs), None, watch, available())
    for name, said in hunted.wrong.items():
        raise Drift(f"the card of {name} cannot be written: it {said}.")
    catches = {h.subject.name: h.catch for h in hunted.caught if h.catch is not None}
    with tempfile.TemporaryDirectory() as place:
        guards = {name: _loaded(Path(place), catch) for name, catch in catches.items() if catch.trace is not None}
    kept = {p.name.removesuffix(".itf.json"): p for p in regression_files()}
    faults = {name: itf.load(path, LIFECYCLE, SHIPPED) for name, path in kept.items()}
    shown = {name: catch.engine.says for name, catch in catches.items() if catch.engine is not None}
    if available():
        watch("the faults on the reference engine")
        shown |= _on_engine(kept, processes(jobs))
    watch("runs that break a promise")
    return Facts(SHIPPED, catches, guards, faults, hunted.protected_by(), lassos(SHIPPED), shown)


def guard_subjects() -> list[Subject]:
    """Every guard that an engine must check."""
    return [s for s in mutants(LIFECYCLE) if s.kind is Kind.GUARD]


def _on_engine(kept: Mapping[str, Path], jobs: int) -> dict[str, tuple[str, ...]]:
    """What each kept trace shows on the engine."""
    with ProcessPoolExecutor(jobs) as pool:
        return said_of(dict(zip(kept, pool.map(_judged, kept.values()), strict=True)))


def said_of(judged: Mapping[str, Judgement]) -> dict[str, tuple[str, ...]]:
    """What the judgements say. Drift if one is not what the rules lead one to expect."""
    for name, one in judged.items():
        if one.failures:
            raise Drift(f"the fault {name} on the reference engine: {one.failures[0]}.")
    return {name: one.says for name, one in judged.items()}


def _judged(path: Path) -> Judgement:
    return judge(itf.load(path, LIFECYCLE, SHIPPED))


def _loaded(place: Path, catch: Catch) -> Trace:
    """The trace of a catch, which other processes hand over as a document. Loading runs it again."""
    path = place / "trace.itf.json"
    path.write_text(json.dumps(catch.trace))
    return itf.load(path, LIFECYCLE, SHIPPED)
