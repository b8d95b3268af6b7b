"""A finding made small, and told as a trace of the rules."""

from __future__ import annotations

from collections.abc import Sequence

from checker.replay.drive import STUCK, Driven, Driver, Finding
from checker.replay.path import Move
from checker.replay.trace import DEPARTS, Trace, build
from checker.variation import vary


def path_of(driver: Driver, finding: Finding) -> Trace:
    """The events of the rules that the engine's moves were made of, up to where it departed from them."""
    kept, driver.result, driver.path = driver.result, Driven(), []
    node = driver.start()
    for move in finding.moves:
        then = driver.step(node, move)
        driver.drop(node)
        if then is None:
            break
        node = then
    events = [driver.stepper.instances[e] for e in driver.path]
    driver.result, driver.path = kept, None
    return build(driver.layout, DEPARTS + finding.kind, events, vary(driver.layout.model))


def shrink(driver: Driver, finding: Finding) -> Finding:
    """A finding with moves dropped, one after another, as long as one of its kind is still found that rests on no more."""
    moves = list(finding.moves)
    at = len(moves) - 2
    while at >= 0:
        shorter = moves[:at] + moves[at + 1 :]
        again = run_moves(driver, shorter, fairly=finding.kind == STUCK)
        if again is not None and again.kind == finding.kind and {*again.rests_on} <= {*finding.rests_on}:
            moves, finding = list(again.moves), again
            at = min(at, len(moves) - 1)
        at -= 1
    return finding


def run_moves(driver: Driver, moves: Sequence[Move], fairly: bool = False) -> Finding | None:
    """Make the moves from a reset, and let the engine run on if asked; the first finding, or None.

    A move that is not possible ends it.
    """
    kept, driver.result = driver.result, Driven()
    try:
        node = driver.start()
        for move in moves:
            if move not in node.moves:
                return None
            then = driver.step(node, move)
            driver.drop(node)
            if driver.result.findings:
                return next(iter(driver.result.findings.values()))
            if then is None:
                return None
            node = then
        if fairly:
            driver.fairly(node)
        driver.drop(node)
        return next(iter(driver.result.findings.values()), None)
    finally:
        driver.result = kept
