"""Traces to replay: of each seeded fault, and of the worlds that are there to fail."""

from __future__ import annotations

from functools import cache

from checker.check import Options, check_world
from checker.replay import itf
from checker.replay.trace import Trace
from checker.search.limits import Limits
from model.lifecycle import LIFECYCLE
from specs.properties import PROPERTIES
from specs.regressions import regression_files
from tests.search.running import changed_by, file_of


@cache
def fault_trace(name: str) -> Trace:
    """The kept trace of the fault."""
    return itf.load(next(p for p in regression_files() if p.name == f"{name}.itf.json"), LIFECYCLE)


@cache
def world_trace(world: str, shows: str, depth: int) -> Trace:
    """The shortest trace to a property that the world is there to violate."""
    result = check_world(file_of(world), changed_by(), PROPERTIES, Options(Limits(depth=depth)))
    return next(t for t in result.traces if t.shows == shows)
