"""The engine is observed in its own tensors, tables and queues: what is changed behind its back is seen at once."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from checker.replay.reference.run import Run, replay, stage_of
from checker.replay.reference.run import follow as follow_trace
from checker.replay.trace import Trace
from engine_ref import Engine
from engine_ref.core import Phase
from tests.reference.traces import fault_trace, world_trace

Change = Callable[[Engine], None]


def entry(engine: Engine) -> None:
    engine.memory.tables[0, 0] = 2


def count(engine: Engine) -> None:
    engine.memory.ref[0] += 1


def token(engine: Engine) -> None:
    engine.requests[0].committed.append(9)


def counter(engine: Engine) -> None:
    engine.requests[0].scheduled -= 1


def phase(engine: Engine) -> None:
    engine.requests[1].phase = Phase.WAITING


def window(engine: Engine) -> None:
    engine.window[0].work[0].samples = not engine.window[0].work[0].samples


def residency(engine: Engine) -> None:
    engine.requests[0].epoch += 1


def step(engine: Engine) -> None:
    engine.window[0].executed = True


def name(engine: Engine) -> None:
    engine.memory.names[0] = (0, 1)


class Meddled(Run):
    """Runs as it should, but after the event at `index` somebody changes the engine behind its back."""

    index: int
    change: Change
    done = 0

    def event(self, rule: str, at: tuple[int, ...]) -> None:
        super().event(rule, at)
        if self.done == self.index:
            type(self).change(self.engine)
        self.done += 1


def meddled(trace: Trace, index: int, change: Change) -> Run:
    kind = type("MeddledHere", (Meddled,), {"index": index, "change": staticmethod(change)})
    made: Run = kind(stage_of(trace), trace.layout)
    return made


@pytest.mark.parametrize(
    ("change", "cell"),
    [
        (entry, "table[r0, b0]"),
        (count, "ref[b0]"),
        (token, "committed[r0]"),
        (counter, "scheduled[r0]"),
        (phase, "phase[r1]"),
        (window, "samples[s0, r0]"),
        (residency, "entry[s0, r0]"),
        (step, "status[s0]"),
    ],
    ids=lambda v: getattr(v, "__name__", None),
)
def test_replay_stops_where_something_was_changed(change: Change, cell: str) -> None:
    trace = fault_trace("release-while-pinned")
    launched = next(i for i, e in enumerate(trace.events) if e.rule == "launch")
    outcome = follow_trace(meddled(trace, launched, change), trace)
    assert outcome.events == launched + 1
    assert outcome.difference is not None
    assert (outcome.difference.index, outcome.difference.cell) == (launched, cell)


def test_a_name_in_the_cache_is_seen_too() -> None:
    trace = fault_trace("publish-beyond-prefix")
    outcome = follow_trace(meddled(trace, 3, name), trace)
    assert outcome.difference is not None
    assert (outcome.difference.index, outcome.difference.cell) == (3, "published[b0]")


def test_the_kv_itself_is_seen_where_the_rules_say_what_it_holds() -> None:
    """In worlds with the ghost memory. The changed slot is the one that the executed step has just written, in b1."""

    def overwrite(engine: Engine) -> None:
        engine.memory.pools[0][0, 0, 1, 0, 0, 0] += 0.5

    trace = world_trace("ordered-publish-unordered", "memory.reads-own-text", 13)
    executed = next(i for i, e in enumerate(trace.events) if e.rule == "execute")
    outcome = follow_trace(meddled(trace, executed, overwrite), trace)
    assert outcome.difference is not None
    assert (outcome.difference.index, outcome.difference.cell) == (executed, "valid[b1, w0]")
    assert (outcome.difference.engine, outcome.difference.model) == ("0", "1")


def test_untouched_it_runs_to_the_guard() -> None:
    trace = fault_trace("release-while-pinned")
    outcome = replay(trace)
    assert outcome.difference is None
    assert outcome.refused is not None
    assert str(outcome.refused) == (
        "the engine refuses release(r0) at step 7, at release.unpinned (launched_in_slots = [0])"
    )
