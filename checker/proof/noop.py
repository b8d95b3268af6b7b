"""Whether a changed rule is no change at all: one query of the kind that proofs are made of.

A mutant that nothing catches is either a gap in the properties or changes nothing: the invariants and the guards imply
that it fires in the same states and writes the same values. The second can be proved, at any size.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import replace
from typing import Any

from checker.proof.induction import Work
from checker.proof.obligation import Obligation
from checker.proof.prove import Scope
from model.language.model import Model
from model.language.rules import Guard, Rule, Update
from model.readings.smt import After, View
from model.readings.solver import equality


def no_op(scope: Scope, original: Rule, mutant: Rule) -> bool | None:
    """True if the mutant does what the original does in every state that satisfies the invariants; None if not shown.

    Where only one of the two may fire, it must change nothing, since a step that changes nothing is no step. It is shown
    for all values of the dials that the scope leaves open. The invariants are those of the unchanged model.
    """
    if not _proved(_same_effects(scope, original, mutant)):
        return None
    for given, wanted in ((mutant, original), (original, mutant)):
        missing = {o.part for o in _allowed(scope, given, wanted) if o.answer != "proved"}
        if not all(_proved(_idle(scope, given, wanted, wanted.guards[n])) for n in missing):
            return None
    return True


def _proved(obligations: Sequence[Obligation]) -> bool:
    return all(o.answer == "proved" for o in obligations)


def unchanged(scope: Scope, before: Model, rules: Collection[str]) -> bool:
    """Whether the scope's model does what another did before, for all dials of the scope and whatever the invariants.

    `rules`: those that differ.
    """
    bare = replace(scope, properties=(), auxiliary=())
    return all(no_op(bare, before.rule(name), scope.model.rule(name)) for name in rules)


def _allowed(scope: Scope, given: Rule, wanted: Rule) -> list[Obligation]:
    """Where one rule may fire, the other's guards hold."""
    work = Work(scope.theory(), given)
    params = _params(work, wanted)
    for number, guard in enumerate(wanted.guards):
        work.deny_term(f"{wanted.name}.{guard.name}", number, guard.condition, params)
    return work.prove()


def _idle(scope: Scope, given: Rule, wanted: Rule, guard: Guard) -> list[Obligation]:
    """Where the other's guard is false, the rule changes nothing."""
    work = Work(scope.theory(), given)
    with work.tr.within(work.level):
        work.guards.append(work.tr.value(~guard.condition, _params(work, wanted), work.now, None, 1))
    assert work.after is not None
    _deny_same(work, given.updates, work.after, work.now)
    return work.prove()


def _same_effects(scope: Scope, original: Rule, mutant: Rule) -> list[Obligation]:
    """Every cell that one of the two writes comes to the same."""
    work = Work(scope.theory(), mutant)
    assert work.after is not None
    changed = work.after
    other = After(original, _params(work, original), work.now)
    _deny_same(work, (*original.updates, *mutant.updates), changed, other)
    return work.prove()


def _deny_same(work: Work, updates: Sequence[Update], one: View, other: View) -> None:
    """Goals: that each cell of the fields that are written is the same in two states."""
    for name, field in {u.field.name: u.field for u in updates}.items():

        def same(f: Any = field) -> Any:
            at = tuple(work.tr.skolem(i) for i in f.indices)
            return equality(work.tr.read(one, f, at), work.tr.read(other, f, at))

        work.deny(f"{work.where}/{name}", 0, same)


def _params(work: Work, rule: Rule) -> dict[Any, Any]:
    """The other rule's parameters are those of the rule in hand; the two have the same."""
    assert work.after is not None
    return dict(zip(rule.params, work.after.params.values(), strict=True))
