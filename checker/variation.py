"""The rules as they are checked: unchanged or under a policy, with a seeded fault, or with guards and updates taken away."""

from __future__ import annotations

import re
from dataclasses import dataclass

from checker.catalogue import SHIPPED, Catalogue
from checker.verdict import Unusable
from model.language.edits import Change, Drop, changed, changed_rule, parts
from model.language.errors import LanguageError
from model.language.model import Model, nearest
from specs.faults.fault import Fault
from specs.policies.policy import Policy


@dataclass(frozen=True)
class Variation:
    """A model with named changes. `fault`, `without` and `policy` are what the user asked for, `model` the result.

    A policy is no change to what must hold: `unchanged` are the rules under it, and a variation is true if they are changed.
    """

    unchanged: Model
    model: Model
    fault: Fault | None = None
    without: tuple[str, ...] = ()
    policy: Policy | None = None

    def __bool__(self) -> bool:
        return self.fault is not None or bool(self.without)

    @property
    def rules(self) -> tuple[str, ...]:
        """The names of the rules that are changed."""
        changes = self.fault.changes if self.fault else ()
        rules = [changed_rule(c) for c in changes]
        return tuple(dict.fromkeys(re.split(r"[./]", part)[0] for part in (*rules, *self.without)))

    @property
    def words(self) -> str:
        """As a sentence goes on: `with the fault notify-twice, without release.unpinned`; empty if unchanged."""
        said = [f"under the policy {self.policy.name}"] if self.policy else []
        said += [f"with the fault {self.fault.name}"] if self.fault else []
        said += [f"without {part}" for part in self.without]
        return ", ".join(said)

    @property
    def options(self) -> list[str]:
        """The command-line options that make it."""
        said = ["--policy", self.policy.name] if self.policy else []
        said += ["--fault", self.fault.name] if self.fault else []
        return said + [word for part in self.without for word in ("--without", part)]


def vary(
    model: Model,
    fault: str | None = None,
    without: tuple[str, ...] = (),
    known: Catalogue = SHIPPED,
    policy: str | None = None,
) -> Variation:
    """Find the fault, the parts and the policy by name. Unusable, with the nearest name, if there is no such thing."""
    chosen = known.policy(policy) if policy is not None else None
    if chosen is not None:
        model = changed(model, *chosen.changes)
    seeded = known.fault(fault) if fault is not None else None
    changes: list[Change] = list(seeded.changes) if seeded else []
    for part in without:
        _check_part(model, part)
        if Drop(part) in changes:
            raise Unusable(f"--without {part}: it is taken away already; name it once.")
        changes.append(Drop(part))
    try:
        return Variation(model, changed(model, *changes), seeded, without, chosen)
    except LanguageError as error:
        whose = f"the fault {fault}: " if seeded else ""
        raise Unusable(f"{whose}{error}") from None


def _check_part(model: Model, part: str) -> None:
    """Whether the part exists, with the nearest rule or the nearest part of the rule if not."""
    cut = min((part.index(c) for c in "./" if c in part), default=-1)
    if cut < 0:
        raise Unusable(f"--without {part}: write RULE.GUARD, such as release.unpinned, or RULE/FIELD for an update.")
    try:
        rule = model.rule(part[:cut])
    except LanguageError as error:
        raise Unusable(f"--without {part}: {error}") from None
    if any(g.assumed and part == f"{rule.name}.{g.name}" for g in rule.guards):
        raise Unusable(f"--without {part}: this is an assumption about the environment, and no check of the engine.")
    if part not in parts(rule):
        raise Unusable(f"--without {part}: there is no such part; {nearest(part, list(parts(rule)))}.")
