"""What the adversary does once an assumption is taken away, and when a finding rests on it."""

from __future__ import annotations

from typing import Any

from checker.replay.assumptions import REMOVABLE, dials_under, in_force, leaned_on, world_under
from specs.engines import CONTENDED, LOADS

ALL = frozenset(REMOVABLE)


def seen(*phases: str, window: list[Any] | None = None) -> dict[str, Any]:
    return {"requests": [{"phase": phase} for phase in phases], "window": window or []}


def submit(r: int) -> dict[str, Any]:
    return {"kind": "submit", "request": r}


def test_what_is_in_force() -> None:
    assert in_force(["unique-ids", "distinct-arrivals"], [], []) == {"unique-ids"}
    assert in_force(["unique-ids"], ["device-in-order"], ["unique-ids"]) == {"device-in-order"}


def test_the_device_changes_only_when_it_is_put_or_taken() -> None:
    stated = ["device-in-order"]
    assert dials_under({"device": "in_order"}, stated, ALL)["device"] == "in_order"
    assert dials_under({"device": "in_order"}, stated, frozenset())["device"] == "unordered"
    assert dials_under({"device": "unordered"}, [], ALL)["device"] == "in_order"
    assert dials_under({}, [], frozenset()) == {}


def test_no_shipped_load_breaks_an_assumption() -> None:
    for load in LOADS:
        engine = world_under(load)
        assert len(engine.requests) == len(load.requests)
        assert not any(engine.never_fits(r) or engine.same_id(r) for r in range(len(engine.requests)))


def test_a_request_that_never_fits() -> None:
    engine = world_under(CONTENDED, ALL - {"feasible-requests"})
    assert [engine.never_fits(r) for r in range(3)] == [False, False, True]
    assert list(leaned_on(engine, seen("NEW", "NEW", "NEW"), submit(2))) == ["feasible-requests"]
    event = {"kind": "event", "rule": "submit", "at": [2]}
    assert list(leaned_on(engine, seen("NEW", "NEW", "NEW"), event)) == ["feasible-requests"]
    assert list(leaned_on(engine, seen("NEW", "NEW", "NEW"), submit(1))) == []


def test_an_id_used_again() -> None:
    engine = world_under(CONTENDED, ALL - {"unique-ids"})
    assert [r.get("id") for r in engine.document()["requests"]] == [None, None, 0]
    assert len({q.prompt for q in engine.requests}) == 3
    in_flight = [[[0, 2, True]]]
    assert list(leaned_on(engine, seen("FINISHED", "NEW", "NEW", window=in_flight), submit(2))) == ["unique-ids"]
    assert list(leaned_on(engine, seen("RUNNING", "NEW", "NEW"), submit(2))) == ["unique-ids"]
    assert list(leaned_on(engine, seen("FINISHED", "NEW", "NEW", window=[[[1, 2, True]]]), submit(2))) == []
    assert list(leaned_on(engine, seen("FINISHED", "NEW", "NEW"), submit(2))) == [], "nothing refers to it any more"
    assert list(leaned_on(engine, seen("RUNNING", "NEW", "NEW"), submit(1))) == []
