"""Survivors that change nothing, shown by the solver and at every size: that is more than any exploration says.

The solver is loaded only if there is a survivor to ask about.
"""

from __future__ import annotations

import importlib.util
from collections.abc import Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import replace

from checker.mutate.campaign import Campaign, Watch
from checker.mutate.subjects import Kind, Subject, rule_of
from model.language.edits import Drop, changed
from model.lifecycle import LIFECYCLE
from specs.auxiliary import AUXILIARY
from specs.disciplines import COVERED, LIVELY, PLAIN, SAFE
from specs.properties import PROPERTIES

NO_SOLVER = "whether survivors change nothing at any size was not asked: z3 is not installed (pip install z3-solver)"


def with_proofs(result: Campaign, jobs: int, watch: Watch) -> Campaign:
    """The campaign with those of its survivors named that are shown to change nothing."""
    asked = [h.subject for h in result.survivors if h.subject.kind is not Kind.FAULT]
    if not asked:
        return result
    if importlib.util.find_spec("z3") is None:
        return replace(result, unasked=NO_SOLVER)
    watch(f"asking of {len(asked)} survivors whether they change anything at any size")
    return replace(result, nothing=frozenset(s.name for s in _shown(asked, jobs)))


def _shown(asked: Sequence[Subject], jobs: int) -> list[Subject]:
    with ProcessPoolExecutor(min(jobs, len(asked))) as pool:
        return [s for s, shown in zip(asked, pool.map(changes_nothing, asked), strict=True) if shown]


def changes_nothing(subject: Subject) -> bool:
    """Whether guards and invariants imply that the mutant may fire when the original may, and writes what that writes.

    It is asked for the dials for which `prove` shows the invariants; of what does not exist for them nothing is said.
    Without the ghost memory queries are small, so it is asked without first.
    """
    from checker.proof.noop import no_op
    from checker.proof.prove import Scope

    original = LIFECYCLE.rule(rule_of(subject) or "")
    mutant = changed(LIFECYCLE, Drop(subject.name)).rule(original.name)
    fields = {u.field for u in original.updates} - {u.field for u in mutant.updates}
    for proved in (SAFE & PLAIN, SAFE & COVERED):
        scope = Scope(LIFECYCLE, PROPERTIES, AUXILIARY, proved, lively=LIVELY)
        theory = scope.theory(())
        there = theory.exists(original.needs) and all(theory.exists(f.needs) for f in fields)
        if not (there and no_op(scope, original, mutant)):
            return False
    return True
