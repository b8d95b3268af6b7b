"""Every fault on the engine: the sound one refuses it or differs in the field, the broken one does measured damage."""

from __future__ import annotations

import pytest

from checker.replay.reference.judgement import judge, parting
from checker.replay.reference.outcome import Judgement
from specs.faults import FAULTS
from tests.reference.traces import fault_trace, world_trace

# The kinds of damage that each fault does, at the trace's end or further on; None where the engine has no switch.
DAMAGE: dict[str, set[str] | None] = {
    "abort-after-finish": {"messages"},
    "abort-frees-nothing": {"leaks"},
    "acquire-keeps-one-index": {"tokens"},
    "cached-block-returned-twice": {"leaks"},
    "cancel-ends-another": {"messages"},
    "freed-by-two-paths": {"leaks"},
    "idle-seats-not-chosen": {"endless"},
    "never-refused": {"endless"},
    "nobody-is-preempted": {"endless"},
    "planned-request-preempted": {"tokens", "memory", "stream"},
    "published-under-two-names": None,  # the engine's cache has one name for a block
    "rejected-not-answered": {"messages"},
    "release-only-known-tokens": {"leaks"},
    "resumed-judged-by-prompt": {"tokens", "stream"},
    "stale-chunk-counts": {"memory"},
    "stale-work-pins-nothing": {"tokens", "memory", "stream"},
    "release-while-pinned": {"tokens", "memory", "stream"},
    "abort-releases-at-once": {"tokens", "memory", "stream"},
    "acquire-held-block": {"tokens", "stream"},
    "release-forgets-reference": {"leaks"},
    "retire-stale-token": {"tokens", "stream"},
    "sample-mid-prompt": {"tokens", "stream"},
    "preempt-forgets-output": {"stream"},
    "commit-after-cancel": {"messages"},
    "notify-twice": {"messages"},
    "select-finished": {"messages"},
    "admit-beyond-seats": set(),
    "admit-what-never-fits": {"endless"},
    "hit-without-reference": {"leaks"},
    "publish-before-computed": {"tokens", "stream"},
    "publish-beyond-prefix": {"tokens", "stream"},
    "acquire-keeps-cache-entry": {"tokens", "memory"},
    "promise-kept-at-preempt": {"tokens", "memory", "stream"},
    "promise-kept-at-abort": {"tokens", "memory", "stream"},
    "preempt-leaned-on": {"tokens", "memory", "stream"},
    "abort-leaned-on": {"tokens", "stream"},
    "owed-kept-at-preempt": {"tokens", "stream", "endless"},
    "admit-with-result-due": {"tokens", "stream"},
    "executed-after-one-worker": {"tokens", "memory", "stream"},
    "overtakes-own-step": {"tokens", "memory", "stream"},
}


def judged(name: str) -> Judgement:
    return judge(fault_trace(name))


def test_every_fault_is_here() -> None:
    assert set(DAMAGE) == {f.name for f in FAULTS}


@pytest.mark.slow
@pytest.mark.parametrize("name", DAMAGE)
def test_the_sound_engine_parts_where_the_rules_do_and_the_broken_one_does_damage(name: str) -> None:
    judgement, parted = judged(name), parting(fault_trace(name))
    assert judgement.failures == ()
    if parted is None:  # the fault keeps something from happening, and the sound engine does all that happened
        assert judgement.sound.followed
    elif parted.guards:
        assert judgement.sound.refused is not None
        assert (judgement.sound.refused.index, judgement.sound.refused.guard in parted.guards) == (parted.index, True)
    else:
        assert judgement.sound.difference is not None
        assert judgement.sound.difference.index == parted.index
        assert judgement.sound.difference.field in parted.fields
    if DAMAGE[name] is None:
        assert judgement.flawed is None
        assert judgement.says[-1].startswith("The engine has no switch for this change")
        return
    assert judgement.flawed is not None
    assert judgement.flawed.followed
    assert set(judgement.damage.kinds) == DAMAGE[name]


# --------------------------------------------------------------------- what the damage is, word for word
@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "sentence"),
    [
        ("preempt-forgets-output", "the client of r0 took 74, 74, with 74 twice; alone it is 74, 70"),
        ("notify-twice", "the client of r0 was sent 2 terminal messages"),
        ("release-forgets-reference", "block b0 is never free again: its count is 1, and 0 hold it"),
        ("retire-stale-token", "token 1 of r0 is 74; alone it is 70 (74, 74 for 74, 70)"),
        ("admit-with-result-due", "token 1 of r0 is 79; alone it is 49 (79, 79 for 79, 49)"),
        ("admit-what-never-fits", "r0 never ends: it is RUNNING with 0 of 1 tokens when nothing can go on"),
    ],
)
def test_the_damage_is_said_with_its_numbers(name: str, sentence: str) -> None:
    assert sentence in judged(name).damage.sentences


@pytest.mark.slow
def test_what_does_no_damage_in_its_world_is_tried_in_a_wider_one() -> None:
    """One step in flight leaves no room for a late write. With two, on a second stream, it lands in the next owner's block."""
    judgement = judged("release-while-pinned")
    assert "No damage shows, run on by fair and hostile policies, and in 40 random ways." in judgement.says
    assert judgement.flawed is not None
    assert (
        judgement.flawed.went_on == "in pair with depth = 2, device = unordered, the trace run on by a hostile policy"
    )


@pytest.mark.slow
def test_where_no_damage_can_be_the_reason_is_said() -> None:
    said = judged("admit-beyond-seats").says[-1]
    assert said == "No damage: a seat limits how many share a step; no memory belongs to it, so tokens stay right."


# ------------------------------------------------------------------- worlds that are there to fail
@pytest.mark.slow
@pytest.mark.parametrize(
    ("world", "length"),
    [("ordered-release-unordered", 20), ("ordered-publish-unordered", 13)],
    ids=["release", "publish"],
)
def test_a_step_that_reads_what_is_not_its_own_gives_wrong_tokens(world: str, length: int) -> None:
    """The engine is sound; its discipline needs an order that the device does not keep."""
    trace = world_trace(world, "memory.reads-own-text", length)
    judgement = judge(trace)
    assert trace.length == length
    assert judgement.failures == ()
    assert judgement.sound.followed
    assert {"tokens", "stream"} <= set(judgement.damage.kinds)
