"""The verdicts and exit codes, defined once.

Nothing is called proved or exhausted unless it was: a search that met a bound is UNDETERMINED, and names it. Only `drive
--known` asks less, whether there is anything new within its bounds; it names them as well.
"""

from __future__ import annotations

import enum
from collections.abc import Iterable


class Verdict(enum.Enum):
    """The outcome of a command; the value is its exit code."""

    HOLDS = 0
    VIOLATED = 1
    ERROR = 2
    UNDETERMINED = 3
    DISAGREEMENT = 4

    @property
    def word(self) -> str:
        return self.name.lower()


MEANINGS = {
    Verdict.HOLDS: "everything asked for holds, or every expected violation was found",
    Verdict.VIOLATED: "a property is violated, or an expected violation was not found",
    Verdict.ERROR: "the command, a world, a trace or a specification cannot be used as given",
    Verdict.UNDETERMINED: "a bound was met first, or a rule or witness was not reached where it should be",
    Verdict.DISAGREEMENT: "two readings of the rules disagree, or an internal error: a fault of schedproof itself",
}

_WORST_FIRST = (
    Verdict.DISAGREEMENT,
    Verdict.ERROR,
    Verdict.VIOLATED,
    Verdict.UNDETERMINED,
    Verdict.HOLDS,
)


def worst(verdicts: Iterable[Verdict]) -> Verdict:
    """The verdict of several together; HOLDS if there are none."""
    found = set(verdicts)
    return next((v for v in _WORST_FIRST if v in found), Verdict.HOLDS)


def exit_code_table() -> str:
    """For the end of every --help."""
    rows = [f"  {v.value}  {v.word:13} {MEANINGS[v]}" for v in Verdict]
    return "exit codes (of several outcomes the worst: 4, 2, 1, 3, 0):\n" + "\n".join(rows)


class Unusable(Exception):
    """Input that cannot be used: one sentence that names the place and the fix. The command ends with ERROR."""


class Disagreement(Exception):
    """Two readings gave different answers: one sentence that names them. The command ends with DISAGREEMENT."""


def cause(error: OSError) -> str:
    """Why a path cannot be used. The system says `File exists` where a file stands in the way of a directory."""
    return "Not a directory" if isinstance(error, FileExistsError) else error.strerror or str(error)
