"""What a seeded fault is."""

from __future__ import annotations

import enum
from dataclasses import dataclass

from model.language.edits import Change


class Evidence(enum.Enum):
    """How well the source of a fault is known."""

    CONFIRMED = "its cause is confirmed, by the fix that was merged or by the code itself"
    STATED = "its cause is stated by those who reported or mended it"
    LIKE = "a like fault; there the mechanism is another, or the cause is not proven"
    NONE = "no public report is known"


@dataclass(frozen=True)
class Fault:
    """A named change to the rules.

    `kind` is one of specs/kinds.py, `caught_by` names the property that must notice it, `world` a small world in
    which it shows (a shipped one by name, or the path of a .toml file), and `source` a public report of an engine
    that broke the same rule, of which `evidence` says how well its cause is known.
    """

    name: str
    about: str
    changes: tuple[Change, ...]
    kind: str
    caught_by: str
    world: str
    source: str
    evidence: Evidence = Evidence.NONE
