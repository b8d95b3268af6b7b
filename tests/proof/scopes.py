"""Scopes that several tests prove."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from checker.proof.claims import Claim
from checker.proof.obligation import Obligation
from checker.proof.prove import Scope, Task, work
from checker.variation import Variation
from checker.worlds import shipped
from model.language.model import Model
from model.language.properties import Property
from model.language.terms import Term
from model.lifecycle import LIFECYCLE
from specs.auxiliary import AUXILIARY
from specs.auxiliary.hints import APART, BY_CASES, hints
from specs.disciplines import COVERED, LIVELY, PLAIN, SAFE
from specs.properties import PROPERTIES


def scope_of(
    model: Model = LIFECYCLE,
    properties: Sequence[Property] = PROPERTIES,
    auxiliary: Sequence[Property] = AUXILIARY,
    assumption: Term = SAFE & PLAIN,
) -> Scope:
    """Most tests leave the ghost memory out, which makes queries smaller."""
    return Scope(model, tuple(properties), tuple(auxiliary), assumption, lively=LIVELY)


SCOPE = scope_of()
UNCHANGED = Variation(LIFECYCLE, LIFECYCLE)
WORLDS = [w.world for w in shipped(LIFECYCLE) if not w.expect]
# What the command proves.
WHOLE = replace(scope_of(assumption=SAFE & COVERED), hints=hints(), by_cases=BY_CASES, apart=APART)


def obligations(scope: Scope, where: str, *claims: str) -> list[Obligation]:
    """Those about a rule and some claims, tried."""
    return work(scope, scope.theory(), Task(where, claims)).prove()


def claim(name: str, scope: Scope = SCOPE) -> Claim:
    return next(c for c in scope.claims if c.name == name)
