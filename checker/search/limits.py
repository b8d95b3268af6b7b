"""Bounds on a search, and what it reports while it runs."""

from __future__ import annotations

import resource
import sys
from collections.abc import Callable
from dataclasses import dataclass

INTERRUPT = "an interrupt (Ctrl-C)"  # the bound that a user meets


@dataclass(frozen=True)
class Limits:
    """When to stop: distinct states, depth in steps, wall-clock seconds, peak memory in MB. None means no bound.

    `after_violation`: how many more states to visit once something is violated. A broken model may have many times
    the states of the sound one, and its first violations are what is asked for.
    """

    states: int | None = None
    depth: int | None = None
    seconds: float | None = None
    memory: float | None = None
    after_violation: int | None = None

    def met(self, states: int, seconds: float) -> str | None:
        """The bound that is met, in words, or None. (Depth is compared by the search, level by level.)"""
        if self.states is not None and states >= self.states:
            return f"{self.states:,} state" + "s" * (self.states != 1)
        if self.seconds is not None and seconds >= self.seconds:
            return f"{self.seconds:g} s"
        if self.memory is not None and peak_memory() >= self.memory:
            return f"{self.memory:g} MB of memory"
        return None


def peak_memory() -> float:
    """The peak resident memory of this process so far, in MB."""
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak / (1 << 20) if sys.platform == "darwin" else peak / 1024


@dataclass(frozen=True)
class Progress:
    """Where a search stands. `growth` is the frontier of this level over that of the last."""

    level: int
    states: int
    transitions: int
    seconds: float
    frontier: int
    growth: float
    hottest: str
    expected: int | None = None


Observe = Callable[[Progress], None]


def unobserved(progress: Progress) -> None:
    """For a search that nobody watches."""
