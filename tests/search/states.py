"""Random states to try things on: reachable ones, and any at all within the bounds of their cells."""

from __future__ import annotations

import functools
import itertools
import random
from collections.abc import Callable, Sequence
from typing import Any

from model.readings.layout import Layout
from model.readings.python import Beyond, Machine
from tests.search.running import machine_of

Renaming = Callable[[Sequence[int]], tuple[int, ...]]


@functools.cache
def reachable(name: str, count: int, seed: int = 0) -> tuple[Any, ...]:
    """States of a shipped world met on random walks."""
    return tuple(walked(machine_of(name), count, seed))


def walked(machine: Machine, count: int, seed: int = 0) -> list[Any]:
    chance = random.Random(seed)
    found: dict[Any, None] = {machine.initial: None}
    state = machine.initial
    for _ in range(100 * count):
        if len(found) >= count:
            break
        inside = [then for _, then, _ in machine.successors(state) if type(then) is not Beyond]
        state = machine.pack(chance.choice(inside)) if inside else machine.initial
        found[state] = None
    return list(found)


def arbitrary(machine: Machine, count: int, seed: int = 0) -> list[Any]:
    """States that need not be reachable. Few different values, so that many members look alike."""
    chance = random.Random(seed)
    cells = machine.layout.cells
    return [
        machine.pack(chance.choice((c.low, c.low, min(c.low + 1, c.high), c.high)) for c in cells) for _ in range(count)
    ]


# -------------------------------------------------------------------------------------- renamings, done again
def renamings(layout: Layout) -> list[Renaming]:
    """Every way to rename members that no order and no dial tells apart, written without a look at the product's."""
    free = [i for i in layout.sizes if not i.ordered]
    choices = [[p for p in itertools.permutations(range(layout.sizes[i])) if _alike(layout, i, p)] for i in free]
    return [_renaming(layout, dict(zip(free, chosen, strict=True))) for chosen in itertools.product(*choices)]


def _alike(layout: Layout, index: Any, order: tuple[int, ...]) -> bool:
    dials = [d for d in layout.model.dials if d.index is index]
    return all(layout.world.of(d, a) == layout.world.of(d, b) for d in dials for a, b in enumerate(order))


def _renaming(layout: Layout, orders: dict[Any, tuple[int, ...]]) -> Renaming:
    def rename(state: Sequence[int]) -> tuple[int, ...]:
        result = [0] * len(state)
        for place, cell in enumerate(layout.cells):
            at = tuple(orders[i][a] if i in orders else a for i, a in zip(cell.field.indices, cell.at, strict=True))
            result[layout.position[(cell.field, at)]] = state[place]
        return tuple(result)

    return rename


def orbit(layout: Layout, state: Sequence[int]) -> set[tuple[int, ...]]:
    return {rename(state) for rename in renamings(layout)}
