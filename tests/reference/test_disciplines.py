"""Freeing at once and publishing early are right as long as the device keeps its order, and wrong tokens if not."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from engine_ref import Config, Engine, Fcfs, Network, Refused, Submission, alone

NETWORK = Network(0)
FIRST, SECOND = Submission((5, 6, 7), 2), Submission((5, 6, 40), 2)


def engine(device: str, **disciplines: object) -> Engine:
    """Blocks of two tokens, two steps in flight, two requests submitted and admitted; they share their first two tokens."""
    config = Config(blocks=5, block_size=2, budget=6, seats=2, depth=2, device=device, **disciplines)  # type: ignore[arg-type]
    made = Engine(config, NETWORK)
    for asked in (FIRST, SECOND):
        made.submit(made.add(asked))
    made.admit(0)
    made.admit(1)
    return made


def freed_at_once(device: str) -> Engine:
    """r0 is preempted while its step is in flight, and its blocks go to r1, whose step is launched behind."""
    made = engine(device, release="ordered")
    made.acquire(0, 0)
    made.acquire(0, 1)
    made.select(0, 3)
    made.launch()
    made.preempt(0)
    made.release(0)
    made.acquire(1, 0)
    made.acquire(1, 1)
    made.select(1, 3)
    made.launch()
    return made


def published_when_planned(device: str) -> Engine:
    """r0's prefix is published when it is planned, and r1 takes it from the cache; both steps are in flight."""
    made = engine(device, publish="ordered", sharing=True, prefix=2)
    made.acquire(0, 0)
    made.acquire(0, 1)
    made.select(0, 3)
    made.publish(0, 0)
    made.launch()
    made.hit(1, 0)
    made.acquire(1, 2)
    made.select(1, 1)
    made.launch()
    return made


def outputs(made: Engine) -> list[list[int]]:
    assert Fcfs(made).run(rounds=60)
    return [q.client.tokens for q in made.requests]


def truth() -> list[list[int]]:
    return [list(alone(NETWORK, asked).tokens) for asked in (FIRST, SECOND)]


@pytest.mark.parametrize("begin", [freed_at_once, published_when_planned])
def test_in_order_the_tokens_are_those_alone(begin: Callable[[str], Engine]) -> None:
    made = begin("in_order")
    with pytest.raises(Refused, match=r"execute\.oldest is false \(slots_not_run_yet = \[0\]\)"):
        made.execute(1, 0)
    made.execute(0, 0)
    made.execute(1, 0)
    assert outputs(made) == truth()


@pytest.mark.parametrize("begin", [freed_at_once, published_when_planned])
def test_unordered_but_in_order_by_luck_they_are_too(begin: Callable[[str], Engine]) -> None:
    made = begin("unordered")
    made.execute(0, 0)
    made.execute(1, 0)
    assert outputs(made) == truth()


@pytest.mark.parametrize(
    ("begin", "wrong"),
    [(freed_at_once, [[2, 67], [6, 2]]), (published_when_planned, [[2, 67], [67, 6]])],
    ids=["release", "publish"],
)
def test_unordered_the_tokens_of_the_other_request_change(
    begin: Callable[[str], Engine], wrong: list[list[int]]
) -> None:
    made = begin("unordered")
    made.execute(1, 0)
    made.execute(0, 0)
    found = outputs(made)
    assert found[0] == truth()[0]
    assert found[1] != truth()[1]
    assert found == wrong
