"""What a seeded fault is."""

from __future__ import annotations

from dataclasses import dataclass

from model.language.edits import Change


@dataclass(frozen=True)
class Fault:
    """A named change to the rules.

    `caught_by` names the property that must notice it, `world` a small shipped world in which it shows, and `source`
    a public report of an engine that broke the same rule.
    """

    name: str
    about: str
    changes: tuple[Change, ...]
    caught_by: str
    world: str
    source: str
