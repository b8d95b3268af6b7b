"""The chain: state 0 is pending, state 1 is terminal; p leads from 0 to 1, and q from 1 to 0.

Every number is a fraction. `0.5` is read as exactly 1/2. The chain has no arrivals, no tokens, no batch and no
memory, and it draws no samples: it shows how probability moves along one declared transition.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from fractions import Fraction

DIGITS = 12  # of a number as written; more would make exact fractions too long to read
STEPS = 100  # the most steps of one run; with fractions of 12 digits, more would be too long to print
WRITTEN = re.compile(r"-?(?:[0-9]+(?:/[0-9]+)?|[0-9]*\.[0-9]+)")

# What is said of text that is no probability. The page of the Markov lab says it with the same words.
SAID = {
    "text": "{text} is no number; write a fraction such as 1/2, or 0.5.",
    "long": "{text} is too long; write at most {digits} digits.",
    "zero": "{text} divides by zero; write a fraction whose denominator is above 0.",
    "range": "{text} is not between 0 and 1; a probability is.",
}


class NotAProbability(ValueError):
    """Text that is no probability: one sentence that says why, and what to write."""


def probability(text: str) -> Fraction:
    """The exact number that is written: 1/2, 0.5, 0 or 1. NotAProbability if there is none between 0 and 1."""
    written = text.strip()
    kind = _misread(written)
    if kind is None:
        return Fraction(written)
    raise NotAProbability(SAID[kind].format(text=repr(text) if kind == "text" else written, digits=DIGITS))


def _misread(written: str) -> str | None:
    """What is wrong with the text, as a key of SAID."""
    if not WRITTEN.fullmatch(written):
        return "text"
    if sum(c.isdigit() for c in written) > DIGITS:
        return "long"
    if "/" in written and int(written.partition("/")[2]) == 0:
        return "zero"
    return None if 0 <= Fraction(written) <= 1 else "range"


@dataclass(frozen=True)
class Chain:
    """p: the probability of 0 to 1 in a step; q: of 1 to 0. Both within 0 to 1."""

    p: Fraction
    q: Fraction

    def __post_init__(self) -> None:
        for value in (self.p, self.q):
            if not 0 <= value <= 1:
                raise NotAProbability(SAID["range"].format(text=value))

    @property
    def absorbing(self) -> bool:
        """Whether the terminal state is never left."""
        return self.q == 0

    def step(self, pending: Fraction) -> Fraction:
        """The probability of pending after one step, given the one before."""
        return pending * (1 - self.p) + (1 - pending) * self.q

    def run(self, steps: int, pending: Fraction = Fraction(1)) -> list[Fraction]:
        """The probability of pending at 0, 1, ..., `steps` steps, by stepping. `steps` is within 0 to STEPS."""
        if not 0 <= steps <= STEPS:
            raise ValueError(f"{steps} steps are not between 0 and {STEPS}")
        found = [pending]
        for _ in range(steps):
            found.append(self.step(found[-1]))
        return found

    def closed(self, steps: int, pending: Fraction = Fraction(1)) -> Fraction:
        """The same by the closed form: what the chain settles at, and the distance to it, which shrinks by 1 - p - q."""
        settled = self.settled
        if settled is None:
            return pending
        return settled + (pending - settled) * (1 - self.p - self.q) ** steps

    @property
    def settled(self) -> Fraction | None:
        """The one probability of pending that a step leaves as it is; None if every one is (p = q = 0)."""
        return self.q / (self.p + self.q) if self.p + self.q else None

    @property
    def formula(self) -> str:
        """The closed form in n, beginning from pending, with the numbers in it."""
        settled = self.settled
        if settled is None:
            return "pending(n) = 1"
        factor = f"({1 - self.p - self.q})^n"
        return f"pending(n) = {factor}" if settled == 0 else f"pending(n) = {settled} + {1 - settled} * {factor}"
