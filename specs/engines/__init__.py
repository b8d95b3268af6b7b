"""Worlds for driving real engines: what clients will ask for, and how little room there is."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass


@dataclass(frozen=True)
class Load:
    """Requests as (prompt tokens, output limit, priority), the tokens their prompts share, and an engine's sizes."""

    name: str
    about: str
    requests: tuple[tuple[int, int, int], ...]
    shared: int
    blocks: int
    block_size: int
    budget: int
    seats: int


# Three requests on two seats, and blocks for little more than one of them: every run preempts, and every seat is fought for.
TIGHT = Load(
    "tight",
    "three requests on two seats; four blocks of two tokens, a prefix of one block shared",
    ((3, 3, 1), (3, 3, 0), (2, 2, 1)),
    shared=2,
    blocks=4,
    block_size=2,
    budget=4,
    seats=2,
)

# Room for two at a time, so that the window, not the memory, makes the races.
ROOMY = Load(
    "roomy",
    "two requests on two seats; blocks enough for both",
    ((3, 2, 0), (3, 2, 0)),
    shared=2,
    blocks=5,
    block_size=2,
    budget=4,
    seats=2,
)

# Two requests that cannot both be held to their end, the later one more urgent, and blocks of a single token.
CONTENDED = Load(
    "contended",
    "two requests of different priority on two seats; five blocks of one token, nothing shared",
    ((2, 3, 1), (2, 3, 0)),
    shared=0,
    blocks=5,
    block_size=1,
    budget=2,
    seats=2,
)

# Too many states to try them all: for long runs.
CROWD = Load(
    "crowd",
    "four requests on three seats; six blocks of two tokens, a prefix of one block shared",
    ((3, 3, 1), (3, 3, 0), (4, 2, 1), (2, 2, 0)),
    shared=2,
    blocks=6,
    block_size=2,
    budget=5,
    seats=3,
)

LOADS: tuple[Load, ...] = (CONTENDED, TIGHT, ROOMY, CROWD)

# For a short look: one load of which every state can be tried, and the one in which most is fought for.
PRESET: tuple[Load, ...] = (CONTENDED, TIGHT)


def prompts(load: Load) -> tuple[tuple[int, ...], ...]:
    """Tokens for each request: the shared ones alike, all others used by no other request."""
    own: Callable[[int, int], int] = lambda r, position: 1000 * (r + 1) + position
    return tuple(
        tuple(100 + p if p < load.shared else own(r, p) for p in range(length))
        for r, (length, _, _) in enumerate(load.requests)
    )
