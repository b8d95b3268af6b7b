"""What the cards show: for each rule, property and fault the values that its template fills in."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any, TypeVar

from checker.handbook import tables
from checker.handbook.facts import Facts
from checker.handbook.places import Places, anchor
from checker.replay.reference import MISSING
from checker.replay.trace import Trace
from checker.report import cards, picture
from checker.variation import Variation
from model.language.properties import Property, Shape
from model.language.rules import Guard, Rule
from model.lifecycle import LIFECYCLE
from model.readings.prose import words
from specs.faults.equivalent import EQUIVALENT
from specs.faults.fault import Evidence, Fault

PLACE = "../"  # cards lie one folder below the site's root


@dataclass(frozen=True)
class GuardCard:
    """A guard with what its absence leads to: a picture, or why nothing comes of it.

    `says` and `reason` are those of the property that notices.
    """

    name: str
    anchor: str
    condition: str
    assumed: bool
    shows: str | None
    says: str
    reason: str
    length: int
    world: str
    also: tuple[str, ...]
    figure: Any
    engine: str
    argued: str | None


def rules(facts: Facts) -> dict[str, dict[str, Any]]:
    """A context for each rule's card."""
    return {
        rule.name: {
            "rule": rule,
            "data": cards.rule_data(rule),
            "guards": [_guard(facts, rule, g) for g in rule.guards],
            "faults": [f for f in facts.known.faults if rule.name in _changed(f)],
        }
        for rule in LIFECYCLE.rules
    }


def _guard(facts: Facts, rule: Rule, guard: Guard) -> GuardCard:
    name = f"{rule.name}.{guard.name}"
    catch, trace = facts.catches.get(name), facts.guards.get(name)
    noticed = facts.property(catch.shows) if catch else None
    return GuardCard(
        name,
        anchor(name),
        words(guard.condition),
        guard.assumed,
        catch.shows if catch else None,
        noticed.doc.splitlines()[0] if noticed else "",
        noticed.reason if noticed else "",
        catch.length if catch else 0,
        catch.world if catch else "",
        tuple(n for n in catch.also if n != catch.shows and not n.startswith("bounds.")) if catch else (),
        _figure(facts, trace),
        tables.engine(facts, name),
        EQUIVALENT.get(name),
    )


def properties(facts: Facts) -> dict[str, dict[str, Any]]:
    """A context for each property's card."""
    return {
        p.name: {
            "property": p,
            "data": cards.property_data(p),
            "exactly": _exactly(p),
            "policies": [y.name for y in facts.known.policies if p.name in y.breaks],
            "kind": _kind(p),
            "guards": list(dict.fromkeys(facts.protects.get(p.name, []))),
            "faults": [f for f in facts.known.faults if f.caught_by == p.name],
            "reports": {kind: _reports(facts, kind) for kind in p.catches},
            "figure": _figure(facts, facts.shortest(p.name)),
            "lasso": lasso.command if (lasso := facts.lassos.get(p.name)) else None,
        }
        for p in facts.known.everything
    }


def faults(facts: Facts) -> dict[str, dict[str, Any]]:
    """A context for each fault's card."""
    return {
        f.name: {
            "fault": f,
            "changes": [str(c) for c in f.changes],
            "rules": sorted(_changed(f)),
            "figure": _figure(facts, facts.faults.get(f.name)),
            "engine": tables.engine(facts, f.name),
            "missing": MISSING,
        }
        for f in facts.known.faults
    }


def by_actor() -> dict[str, list[Rule]]:
    return _grouped(LIFECYCLE.rules, lambda r: str(r.by.value))


def by_subject(facts: Facts) -> dict[str, list[Property]]:
    return _grouped(facts.known.everything, lambda p: p.subject)


def by_kind(facts: Facts) -> dict[str, list[Fault]]:
    return _grouped(facts.known.faults, lambda f: f.kind)


T = TypeVar("T")


def _grouped(things: Iterable[T], key: Callable[[T], str]) -> dict[str, list[T]]:
    groups: dict[str, list[T]] = {}
    for thing in things:
        groups.setdefault(key(thing), []).append(thing)
    return groups


def _changed(fault: Fault) -> set[str]:
    """The rules that a fault changes."""
    return set(Variation(LIFECYCLE, LIFECYCLE, fault).rules)


def _kind(declared: Property) -> str:
    return {
        Shape.STATE: "holds in every state",
        Shape.STEP: "holds of every step",
        Shape.REST: "holds where nothing more can happen",
        Shape.HOME: "can be reached again from every state",
        Shape.REACHABLE: "can happen, in some world",
        Shape.LEADS: "holds in the end, in every fair run",
    }.get(declared.shape, declared.shape.value)


def _exactly(declared: Property) -> str:
    """The property's term in words; of a promise, what leads to what."""
    head = "  exactly: "
    return next(line.removeprefix(head) for line in cards.property_lines(declared) if line.startswith(head))


def _reports(facts: Facts, kind: str) -> list[str]:
    """Public reports of engines that had a fault of this kind."""
    public = (f.source for f in facts.known.faults if f.kind == kind and f.evidence is not Evidence.NONE)
    return list(dict.fromkeys(public))


def _figure(facts: Facts, trace: Trace | None) -> str:
    return picture.figure(trace, facts.known.everything, Places(facts.known, PLACE).link) if trace else ""
