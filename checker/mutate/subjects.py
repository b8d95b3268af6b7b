"""What is tried: the faults written by hand, and every rule with one guard or one update taken away."""

from __future__ import annotations

import enum
from collections.abc import Sequence
from dataclasses import dataclass

from checker.catalogue import Catalogue
from checker.variation import Variation, vary
from checker.verdict import Unusable
from model.language.model import Model, nearest
from model.language.rules import Rule
from model.readings.interpret import evaluate
from model.readings.world import World
from specs.faults.fault import Fault


class Kind(enum.Enum):
    """What kind of change a subject makes."""

    FAULT = "a fault written by hand"
    GUARD = "a guard taken away"
    UPDATE = "an update taken away"


@dataclass(frozen=True)
class Subject:
    """A fault by its name, or a mutant by the part that it lacks: `release.unpinned`, `release/ref`."""

    name: str
    kind: Kind

    def variation(self, model: Model, known: Catalogue) -> Variation:
        if self.kind is Kind.FAULT:
            return vary(model, fault=self.name, known=known)
        return vary(model, without=(self.name,), known=known)

    def fault(self, known: Catalogue) -> Fault | None:
        return known.fault(self.name) if self.kind is Kind.FAULT else None

    @property
    def option(self) -> list[str]:
        """How `check` makes the same change."""
        return ["--fault" if self.kind is Kind.FAULT else "--without", self.name]


def mutants(model: Model) -> list[Subject]:
    """Every guard that an engine must check and every update, each taken away by itself. Assumptions stay."""
    found = []
    for rule in model.rules:
        found += [Subject(f"{rule.name}.{g.name}", Kind.GUARD) for g in rule.guards if not g.assumed]
        found += [Subject(name, Kind.UPDATE) for name in rule.update_names()]
    return found


def subjects(model: Model, known: Catalogue, names: Sequence[str] = ()) -> list[Subject]:
    """All faults and mutants, or those named: a fault, a guard, an update, or a rule for all its mutants."""
    every = [*(Subject(f.name, Kind.FAULT) for f in known.faults), *mutants(model)]
    if not names:
        return every
    chosen = []
    for name in names:
        of_rule = name in [r.name for r in model.rules]
        found = [s for s in every if s.name == name or (of_rule and rule_of(s) == name)]
        if not found:
            known_names = [*(s.name for s in every), *(r.name for r in model.rules)]
            raise Unusable(f"there is no fault, guard, update or rule {name}; {nearest(name, known_names)}.")
        chosen += found
    return list(dict.fromkeys(chosen))


def rule_of(subject: Subject) -> str | None:
    """The rule that a mutant changes."""
    return None if subject.kind is Kind.FAULT else subject.name.replace("/", ".").partition(".")[0]


def exists(subject: Subject, variation: Variation, world: World) -> bool:
    """Whether what is changed is there in the world: its rules, and the field of an update that is taken away."""
    rules = [variation.unchanged.rule(name) for name in variation.rules]
    if not all(evaluate(rule.needs, world) for rule in rules):
        return False
    return subject.kind is not Kind.UPDATE or _writes(rules[0], subject.name, world)


def _writes(rule: Rule, name: str, world: World) -> bool:
    field = rule.updates[rule.update_names().index(name)].field
    return bool(evaluate(field.needs, world))
