"""An engine with something off goes wrong in its tokens and counts, and never in Python."""

from __future__ import annotations

from functools import cache

import pytest

from checker.replay.reference import replay_on_engine
from checker.replay.reference.run import Run
from checker.replay.reference.stage import Stage, set_up
from checker.replay.reference.switches import dropped, switches
from checker.variation import vary
from checker.verdict import Unusable
from engine_ref import EFFECTS, GUARDS, MISTAKES
from model.lifecycle import LIFECYCLE
from model.readings.layout import Layout
from model.readings.world import world
from tests.reference.traces import fault_trace

# Everything that can be switched is at home here: late results, a window, sharing, two families, cancels.
DIALS = {
    "requests": 3,
    "prompt": [3, 2, 9],
    "limit": 2,
    "blocks": 4,
    "block_size": 2,
    "budget": 3,
    "seats": 2,
    "depth": 2,
    "sharing": True,
    "prefix": 2,
    "families": 2,
    "family": [0, 1, 0],
    "publish": "ordered",
    "late_result": "commit",
    "cache": "all",
    "mixed": False,
}


@cache
def layout() -> Layout:
    return Layout(LIFECYCLE, world(LIFECYCLE, "all-on", DIALS))


@cache
def stage() -> Stage:
    return set_up(layout().world, {0: 0})


@pytest.mark.parametrize("name", [*GUARDS, *EFFECTS, *MISTAKES])
def test_with_anything_off_it_runs_on(name: str) -> None:
    for seed in range(3):
        run = Run(stage(), layout(), [name])
        run.wander(seed)
        run.damage(over=True)
    run = Run(stage(), layout(), [name])
    run.provoke(cancels=True)
    run.damage(over=True)


def test_with_nothing_off_nothing_goes_wrong() -> None:
    for seed in range(20):
        run = Run(stage(), layout())
        run.wander(seed)
        assert run.damage(over=True).sentences == ()


def test_a_guard_that_is_taken_away_is_switched_off() -> None:
    assert switches(vary(LIFECYCLE, None, ("release.unpinned", "abort/entry"))) == ("release.unpinned", "abort/entry")


def test_a_change_that_the_engine_cannot_make_is_in_the_model_only() -> None:
    assert switches(vary(LIFECYCLE, None, ("launch/uses",))) is None
    assert switches(vary(LIFECYCLE, "notify-twice", ("launch/uses",))) is None


def test_a_fault_that_leaves_nothing_out_is_a_mistake() -> None:
    assert switches(vary(LIFECYCLE, "overtakes-own-step")) == ("overtakes-own-step",)
    assert dropped(vary(LIFECYCLE, "notify-twice")) == ("notify.once",)


def test_an_unknown_switch_is_one_sentence() -> None:
    with pytest.raises(Unusable, match=r"the engine has no switch release\.unpined; did you mean release\.unpinned"):
        replay_on_engine(fault_trace("notify-twice"), ["release.unpined"])


def test_a_switch_by_hand_lets_the_trace_run() -> None:
    assert replay_on_engine(fault_trace("notify-twice"), ["notify.once"]).followed
