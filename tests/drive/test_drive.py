"""The driver is not blind: on the rules themselves it finds nothing, and every seeded fault is found through the port."""

from __future__ import annotations

import json
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from checker.replay.drive import DriveLimits, Driven, Driver, Finding
from checker.replay.engine_world import EngineRequest, EngineWorld
from checker.replay.port import Port
from checker.replay.shrink import run_moves, shrink
from model.lifecycle import LIFECYCLE
from specs.faults import FAULTS

ADAPTER = Path(__file__).with_name("model_adapter.py")
TWO = (EngineRequest((100, 1001), 2), EngineRequest((100, 2001), 2))
PAIR = EngineWorld("pair", TWO, blocks=3, block_size=1, budget=2, seats=2)
ONE_SEAT = EngineWorld("one-seat", TWO, blocks=3, block_size=1, budget=2, seats=1)
MISFIT = EngineWorld("misfit", (EngineRequest((1, 2, 3, 4), 2), TWO[1]), blocks=3, block_size=1, budget=2, seats=2)
ALONE = EngineWorld("alone", TWO[:1], blocks=3, block_size=1, budget=2, seats=1)
SMALL = EngineWorld("small", (EngineRequest((100,), 2),), blocks=2, block_size=1, budget=2, seats=1)

Found = tuple[EngineWorld, dict[str, Any], str, int]

# For each fault a world and disciplines in which it shows, the kind of finding it must be, and the moves of its shortest trace.
EXPECTED: dict[str, Found] = {
    "release-while-pinned": (SMALL, {}, "release.unpinned", 7),
    "abort-releases-at-once": (SMALL, {}, "differs: table", 5),
    "acquire-held-block": (PAIR, {}, "acquire.free", 4),
    "release-forgets-reference": (SMALL, {}, "differs: ref", 5),
    "retire-stale-token": (SMALL, {}, "retire_token.live", 8),
    "sample-mid-prompt": (ALONE, {}, "differs: owed", 5),
    "preempt-forgets-output": (SMALL, {}, "differs: committed", 8),
    "commit-after-cancel": (SMALL, {}, "retire_token.live", 9),
    "notify-twice": (SMALL, {}, "notify.once", 5),
    "select-finished": (SMALL, {}, "select.running", 6),
    "admit-beyond-seats": (ONE_SEAT, {}, "admit.seat", 4),
    "admit-what-never-fits": (MISFIT, {}, "admit.fits, without feasible-requests", 2),
    "owed-kept-at-preempt": (SMALL, {"depth": 2}, "differs: owed", 9),
    "admit-with-result-due": (SMALL, {"depth": 2, "late_result": "commit"}, "admit.no-result-due", 9),
    "executed-after-one-worker": (SMALL, {"workers": 2}, "retire_token.executed", 7),
    "overtakes-own-step": (SMALL, {"depth": 2, "device": "unordered"}, "execute.oldest", 9),
    "hit-without-reference": (PAIR, {"cache": "all"}, "differs: ref", 11),
    "publish-before-computed": (PAIR, {"cache": "all"}, "publish.computed", 4),
    "publish-beyond-prefix": (PAIR, {"sharing": True, "prefix": 1}, "publish.prefix", 9),
    "acquire-keeps-cache-entry": (PAIR, {"cache": "all"}, "differs: published", 12),
    "promise-kept-at-preempt": (PAIR, {"cache": "all", "publish": "ordered"}, "differs: published", 6),
    "promise-kept-at-abort": (PAIR, {"cache": "all", "publish": "ordered"}, "differs: published", 7),
    "preempt-leaned-on": (PAIR, {"cache": "all", "publish": "ordered"}, "preempt.not-leaned-on", 9),
    "abort-leaned-on": (PAIR, {"cache": "all", "publish": "ordered"}, "abort.not-leaned-on", 10),
    "freed-by-two-paths": (SMALL, {}, "differs: ref", 7),
    "cached-block-returned-twice": (PAIR, {"cache": "all"}, "differs: ref", 10),
    "release-only-known-tokens": (SMALL, {}, "differs: ref", 6),
    "abort-frees-nothing": (SMALL, {}, "held at rest", 6),
    "stale-work-pins-nothing": (SMALL, {}, "release.unpinned", 7),
    "resumed-judged-by-prompt": (SMALL, {}, "differs: owed", 14),
    "stale-chunk-counts": (SMALL, {}, "retire_chunk.live", 17),
    "planned-request-preempted": (SMALL, {}, "launch.something", 6),
    "cancel-ends-another": (PAIR, {}, "abort.asked", 3),
    "abort-after-finish": (SMALL, {}, "abort.unfinished", 4),
    "rejected-not-answered": (MISFIT, {}, "terminal message, without feasible-requests", 2),
    "never-refused": (MISFIT, {}, "stuck, without feasible-requests", 1),
    "idle-seats-not-chosen": (SMALL, {}, "stuck", 1),
    "nobody-is-preempted": (PAIR, {}, "stuck", 18),
    "acquire-keeps-one-index": (PAIR, {"cache": "all"}, "differs: published", 13),
}

# An engine's block has one name, its tokens: those of a shared prefix and of a request's own text are the same there.
INVISIBLE = {"published-under-two-names"}


def driver(port: Port, world: EngineWorld, dials: dict[str, Any]) -> Driver:
    return Driver(port, "rules", dials, world, LIFECYCLE)


def port(fault: str, dials: dict[str, Any]) -> Port:
    return Port([sys.executable, str(ADAPTER), fault, json.dumps(dials)])


def quiet(driven: Driven, how: str) -> None:
    """Nobody watches."""


def first(fault: str, world: EngineWorld, dials: dict[str, Any], kind: str) -> Finding | None:
    """Drive until a finding of that kind is there, and make it small."""

    def enough(driven: Driven, how: str) -> None:
        if kind in driven.findings:
            raise KeyboardInterrupt

    with port(fault, dials) as adapter:
        drive = driver(adapter, world, dials)
        found = drive.run(DriveLimits(seconds=120), 0, enough).findings.get(kind)
        return found and shrink(drive, found)


def test_every_fault_has_an_expectation() -> None:
    assert {*EXPECTED, *INVISIBLE} == {f.name for f in FAULTS}


@pytest.mark.slow
@pytest.mark.parametrize("fault", EXPECTED)
def test_each_seeded_fault_is_found(fault: str) -> None:
    world, dials, kind, moves = EXPECTED[fault]
    found = first(fault, world, {"depth": 1, **dials}, kind)
    assert found is not None
    assert len(found.moves) == moves


@pytest.mark.parametrize(
    "dials", [{"depth": 1}, {"depth": 2}, {"depth": 2, "release": "ordered", "late_result": "commit"}]
)
def test_nothing_is_found_in_the_rules_themselves(dials: dict[str, Any]) -> None:
    with port("", dials) as adapter:
        result = driver(adapter, SMALL, dials).run(DriveLimits(seconds=8), 0, quiet)
    assert result.findings == {}
    assert result.states > 100


def test_the_trace_to_a_finding_is_a_shortest_one() -> None:
    found = first("notify-twice", SMALL, {"depth": 1}, "notify.once")
    assert found is not None
    assert [m["rule"] for m in found.moves] == ["submit", "cancel", "abort", "notify", "notify"]


def test_moves_that_are_not_needed_are_dropped() -> None:
    def event(rule: str, *at: int) -> dict[str, Any]:
        return {"kind": "event", "rule": rule, "at": list(at)}

    way = (
        event("submit", 0),
        event("admit", 0),
        event("acquire", 0, 0),
        event("cancel", 0),
        event("abort", 0),
        event("notify", 0),
        event("notify", 0),
    )
    with port("notify-twice", {"depth": 1}) as adapter:
        drive = driver(adapter, SMALL, {"depth": 1})
        shorter = shrink(drive, Finding("notify.once", "", way))
        assert [m["rule"] for m in shorter.moves] == ["submit", "cancel", "abort", "notify", "notify"]
        again = run_moves(drive, shorter.moves)
        assert again is not None
        assert again.kind == "notify.once"


def test_a_finding_does_not_rest_on_what_its_moves_can_do_without() -> None:
    way = [("submit", 0), ("submit", 1), ("cancel", 1), ("abort", 1), ("notify", 1), ("notify", 1)]
    moves = tuple({"kind": "event", "rule": rule, "at": [r]} for rule, r in way)
    with port("notify-twice", {"depth": 1}) as adapter:
        drive = driver(adapter, MISFIT, {"depth": 1})
        shorter = shrink(drive, Finding("notify.once", "", moves, rests_on=("feasible-requests",)))
    assert (len(shorter.moves), shorter.rests_on, shorter.label) == (5, (), "notify.once")


def test_what_rests_on_an_assumption_hides_nothing_that_does_not() -> None:
    """Neither a state that was reached without breaking it, nor a longer finding of the same kind."""
    broken = frozenset({"unique-ids"})
    with port("", {"depth": 1}) as adapter:
        drive = driver(adapter, SMALL, {"depth": 1})
        root = drive.start()
        assert drive.key(root) == drive.key(replace(root, parent=root))
        assert drive.key(root) != drive.key(replace(root, leans=broken))
        drive.found("stuck", "", ({"kind": "schedule"},), broken)
        drive.found("stuck", "", ({"kind": "schedule"},) * 2, frozenset())
    assert [(f.label, len(f.moves)) for f in drive.result.findings.values()] == [
        ("stuck, without unique-ids", 1),
        ("stuck", 2),
    ]


def test_the_same_seed_walks_the_same_way() -> None:
    counts = []
    for _ in range(2):
        with port("", {"depth": 1}) as adapter:
            drive = driver(adapter, SMALL, {"depth": 1})
            result = drive.run(DriveLimits(states=50, seconds=3), 7, quiet)
            counts.append(list(result.events)[:12])
    assert counts[0] == counts[1]
