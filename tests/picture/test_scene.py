"""What a picture shows is what the trace's states say: owners, pins, steps in flight, and who writes over whom."""

from __future__ import annotations

import pytest

from checker.check import Options, check_world
from checker.replay.trace import Trace
from checker.report.picture import scene
from checker.report.picture.scene import Owned
from checker.search.limits import Limits
from model.lifecycle.dials import Block, Request
from model.lifecycle.state import Lifecycle
from specs.properties import PROPERTIES
from specs.regressions import regression_files
from tests.reference.traces import fault_trace
from tests.search.running import changed_by, file_of

FAULTS = [p.name.removesuffix(".itf.json") for p in regression_files()]


def expected_trace(world: str, shows: str) -> Trace:
    result = check_world(file_of(world), changed_by(), PROPERTIES, Options(Limits(after_violation=None)))
    return next(t for t in result.traces if t.shows == shows)


def block(trace: Trace, b: int) -> tuple[Owned, ...]:
    return scene(trace).blocks[b]


@pytest.mark.parametrize("fault", FAULTS)
def test_owners_and_counts_are_those_of_the_states(fault: str) -> None:
    trace = fault_trace(fault)
    drawn = scene(trace)
    assert len(drawn.blocks) == trace.layout.sizes[Block]
    for n, state in enumerate(trace.states):
        for b, owned in enumerate(drawn.blocks):
            held = [
                r
                for r in range(trace.layout.sizes[Request])
                if state[trace.layout.position[(Lifecycle.table, (r, b))]] > 0
            ]
            assert list(owned[n].holders) == held
            assert owned[n].ref == state[trace.layout.position[(Lifecycle.ref, (b,))]]


@pytest.mark.parametrize("fault", FAULTS)
def test_each_launch_begins_a_step_and_each_recycle_ends_one(fault: str) -> None:
    trace = fault_trace(fault)
    drawn = scene(trace)
    launches = [n for n, e in enumerate(trace.events, 1) if e.rule == "launch"]
    recycles = [n for n, e in enumerate(trace.events, 1) if e.rule == "recycle"]
    assert [f.launched for f in drawn.flights] == launches
    assert [f.gone for f in drawn.flights if f.gone] == recycles[: len(launches)]
    assert all(f.executed is None or f.launched < f.executed for f in drawn.flights)


def test_a_block_freed_under_a_step_is_in_use_and_lost() -> None:
    before, then = block(fault_trace("release-while-pinned"), 0)[-2:]
    assert (before.holders, before.pinned, before.lost) == ((0,), (0,), ())
    assert (then.holders, then.pinned, then.lost, then.freed) == ((), (0,), (0,), True)


def test_the_step_turns_stale_where_the_request_is_preempted() -> None:
    trace = fault_trace("release-while-pinned")
    (flight,) = scene(trace).flights
    assert (flight.launched, flight.executed, flight.gone) == (5, None, None)
    assert flight.work[0].stale == next(n for n, e in enumerate(trace.events, 1) if e.rule == "preempt")


def test_a_shared_block_has_both_owners_and_the_count_that_is_wrong() -> None:
    last = block(fault_trace("hit-without-reference"), 0)[-1]
    assert (last.holders, last.ref) == ((0, 1), 1)


def test_a_stale_step_writes_over_blocks_that_were_given_away() -> None:
    trace = expected_trace("ordered-release-unordered", "memory.reads-own-text")
    places = [(b, n) for b, owned in enumerate(scene(trace).blocks) for n, o in enumerate(owned) if o.overwritten]
    assert places
    for b, n in places:
        assert trace.events[n - 1].rule == "execute"
        assert block(trace, b)[n - 1].lost != ()


def test_sound_runs_write_over_nothing() -> None:
    trace = fault_trace("notify-twice")
    assert not any(o.overwritten or o.lost for owned in scene(trace).blocks for o in owned)
