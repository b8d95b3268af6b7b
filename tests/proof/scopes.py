"""Scopes that several tests prove."""

from __future__ import annotations

from collections.abc import Sequence

from checker.proof.claims import Claim
from checker.proof.induction import Obligation
from checker.proof.prove import Scope, Task, work
from model.language.model import Model
from model.language.properties import Property, Shape
from model.lifecycle import LIFECYCLE
from specs.auxiliary import AUXILIARY
from specs.disciplines import LIVELY, PLAIN, SAFE
from specs.properties import PROPERTIES


def scope_of(
    model: Model = LIFECYCLE,
    properties: Sequence[Property] = PROPERTIES,
    auxiliary: Sequence[Property] = AUXILIARY,
    everything: bool = False,
) -> Scope:
    return Scope(model, tuple(properties), tuple(auxiliary), SAFE if everything else SAFE & PLAIN, lively=LIVELY)


SCOPE = scope_of()


def hypotheses(scope: Scope) -> list[Claim]:
    return [c for c in scope.claims if c.shape is Shape.STATE]


def obligations(scope: Scope, where: str, *claims: str) -> list[Obligation]:
    """Those about a rule and some claims, tried."""
    return work(scope, scope.theory(), Task(where, claims)).prove()
