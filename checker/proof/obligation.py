"""What is to be shown, one query each: what came of it, and its file for other solvers."""

from __future__ import annotations

import re
import zlib
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import z3

from model.readings.solver import assert_all

LONGEST_NAME = 100  # of a claim, as a part of the name of a file
Key = tuple[str, str, int, str]  # of an obligation: rule, claim, part and case


@dataclass(frozen=True)
class Obligation:
    """One query and what came of it. `answer`: proved, open (satisfiable), unknown or refused; `used`: hypotheses.

    `case`: for which values of dials it was, if not for all at once. `few`: whether the hypotheses of a hint were enough, or
    the claim itself. `reason`: whether it is about no claim but about the members of a sum, which others rest on.
    `broken`: whether a state is known from which the rule breaks the claim.
    """

    rule: str
    claim: str
    part: int
    answer: str
    seconds: float
    used: tuple[str, ...] = ()
    why: str = ""
    case: str = ""
    few: bool = False
    reason: bool = False
    broken: bool = False

    @property
    def key(self) -> Key:
        return self.rule, self.claim, self.part, self.case


def file_name(about: Obligation) -> str:
    """What the file of an obligation is called; a claim that cannot be said in it has a number of its own there."""
    claim = about.claim
    if len(claim) > LONGEST_NAME or re.search(r"[^\w.-]", claim):
        claim = f"{claim[:LONGEST_NAME]} {zlib.crc32(claim.encode()):08x}"
    parts = filter(None, (about.rule, claim, about.case, str(about.part), "smt2"))
    return re.sub(r"[^\w.=-]+", "-", ".".join(parts))


def write(directory: Path, about: Obligation, facts: Iterable[Any]) -> None:
    """Write the query of an obligation as an SMT-LIB file, which says what it is about: unsat means proved."""
    whole = z3.Solver()
    assert_all(whole, facts)
    case = f" ({about.case})" if about.case else ""
    head = f"; {about.rule}: {about.claim}, part {about.part + 1}{case}\n; unsat: the obligation holds at every size\n"
    (directory / file_name(about)).write_text(f"{head}(set-logic ALL)\n{whole.sexpr()}(check-sat)\n")
