"""Whether a changed rule is no change at all: one query of the kind that proofs are made of.

A mutant that nothing catches is either a gap in the properties or changes nothing: the invariants and the guards imply
that it fires in the same states and writes the same values. The second can be proved, at any size.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import replace
from typing import Any

from checker.proof.induction import Obligation, Work
from checker.proof.prove import Scope
from model.language.model import Model
from model.language.rules import Rule
from model.readings.smt import After
from model.readings.solver import equality


def no_op(scope: Scope, original: Rule, mutant: Rule) -> bool | None:
    """True if the mutant does what the original does in every state that satisfies the invariants; None if not shown.

    It is shown for all values of the dials that the scope leaves open. The invariants are those of the unchanged model.
    """
    same = all(o.answer == "proved" for o in _same_effects(scope, original, mutant))
    return (same and all(o.answer == "proved" for o in _same_states(scope, original, mutant))) or None


def unchanged(scope: Scope, before: Model, rules: Collection[str]) -> bool:
    """Whether the scope's model does what another did before, for all dials of the scope and whatever the invariants.

    `rules`: those that differ.
    """
    bare = replace(scope, properties=(), auxiliary=())
    return all(no_op(bare, before.rule(name), scope.model.rule(name)) for name in rules)


def _same_states(scope: Scope, original: Rule, mutant: Rule) -> list[Obligation]:
    """Each implies the other's guards."""
    found: list[Obligation] = []
    for given, wanted in ((mutant, original), (original, mutant)):
        work = Work(scope.theory(), given)
        params = _params(work, wanted)
        for number, guard in enumerate(wanted.guards):
            work.deny_term(f"{wanted.name}.{guard.name}", number, guard.condition, params)
        found += work.prove()
    return found


def _same_effects(scope: Scope, original: Rule, mutant: Rule) -> list[Obligation]:
    """Every cell that one of the two writes comes to the same."""
    work = Work(scope.theory(), mutant)
    assert work.after is not None
    changed = work.after
    other = After(original, _params(work, original), work.now)
    fields = {u.field.name: u.field for u in (*original.updates, *mutant.updates)}
    for name, field in fields.items():

        def same(f: Any = field) -> Any:
            at = tuple(work.tr.skolem(i) for i in f.indices)
            return equality(work.tr.read(changed, f, at), work.tr.read(other, f, at))

        work.deny(f"{mutant.name}/{name}", 0, same)
    return work.prove()


def _params(work: Work, rule: Rule) -> dict[Any, Any]:
    """The other rule's parameters are those of the rule in hand; the two have the same."""
    assert work.after is not None
    return dict(zip(rule.params, work.after.params.values(), strict=True))
