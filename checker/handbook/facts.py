"""What the cards rest on: which property notices each guard's absence, with its shortest trace, and each fault's kept trace."""

from __future__ import annotations

import json
import tempfile
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

from checker.catalogue import SHIPPED, Catalogue
from checker.mutate.campaign import campaign, processes
from checker.mutate.hunt import Catch
from checker.mutate.subjects import Kind, Subject, mutants
from checker.replay import itf
from checker.replay.trace import Trace
from model.lifecycle import LIFECYCLE
from specs.faults.equivalent import EQUIVALENT
from specs.regressions import regression_files


@dataclass(frozen=True)
class Facts:
    """By guard (`release.unpinned`) or fault: who catches it, and the trace. `protects`: the guards by property."""

    known: Catalogue
    catches: Mapping[str, Catch]
    guards: Mapping[str, Trace]
    faults: Mapping[str, Trace]
    protects: Mapping[str, list[str]]

    def shortest(self, name: str) -> Trace | None:
        """The shortest trace there is that ends with this property violated."""
        found = [t for t in (*self.guards.values(), *self.faults.values()) if t.shows == name]
        return min(found, key=lambda t: t.length, default=None)


def gather(jobs: int | None, watch: Callable[[str], None]) -> Facts:
    """Take every guard away that matters, one at a time, and load the kept trace of every fault."""
    chosen = [s for s in mutants(LIFECYCLE) if s.kind is Kind.GUARD and s.name not in EQUIVALENT]
    hunted = campaign(SHIPPED, chosen, False, processes(jobs), None, watch)
    catches = {h.subject.name: h.catch for h in hunted.caught if h.catch is not None}
    with tempfile.TemporaryDirectory() as place:
        guards = {name: _loaded(Path(place), catch) for name, catch in catches.items() if catch.trace is not None}
    faults = {p.name.removesuffix(".itf.json"): itf.load(p, LIFECYCLE, SHIPPED) for p in regression_files()}
    return Facts(SHIPPED, catches, guards, faults, hunted.protected_by())


def guard_subjects() -> list[Subject]:
    """Every guard that an engine must check."""
    return [s for s in mutants(LIFECYCLE) if s.kind is Kind.GUARD]


def _loaded(place: Path, catch: Catch) -> Trace:
    """The trace of a catch, which other processes hand over as a document. Loading runs it again."""
    path = place / "trace.itf.json"
    path.write_text(json.dumps(catch.trace))
    return itf.load(path, LIFECYCLE, SHIPPED)
