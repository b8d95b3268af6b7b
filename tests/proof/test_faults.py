"""Faults and `prove`, apart from the command itself: what a changed rule breaks the unchanged one keeps."""

from __future__ import annotations

from dataclasses import replace

import pytest

from checker.proof.cti import Finder, Judge
from checker.proof.prove import REST, Task, work
from checker.proof.result import result
from checker.verdict import Verdict
from model.language.terms import INT
from model.lifecycle import LIFECYCLE
from specs.disciplines import SAFE
from specs.properties import PROPERTIES
from tests.proof.scopes import WORLDS, claim, scope_of
from tests.search.running import CAUGHT, changed_by, fault_named, world_of

# What is broken where prefixes are published before they are computed, of which the whole proof says nothing. (A promise that
# is kept makes the cache lie at once; the wrong read comes later.)
PROMISED = {
    "preempt-leaned-on": "ownership.exclusive",
    "abort-leaned-on": "ownership.exclusive",
    "promise-kept-at-preempt": "sharing.holds-what-it-claims",
    "promise-kept-at-abort": "sharing.holds-what-it-claims",
}


@pytest.mark.parametrize("name", PROMISED)
def test_what_a_broken_promise_breaks_the_unchanged_rule_keeps(name: str) -> None:
    """Of these the whole proof says nothing, since prefixes are published before they are computed."""
    world = world_of(fault_named(name).world)
    disciplines = {d.name: world.values[d.name] for d in LIFECYCLE.dials if d.index is None and d.sort != INT}
    scope = replace(scope_of(assumption=SAFE), fixed=disciplines)
    (rule,) = changed_by(name).rules
    task = Task(rule, (PROMISED[name],), rounds=1)
    assert {o.answer for o in work(scope, scope.theory(), task).prove()} == {"proved"}


def test_a_reached_state_is_recognised_up_to_renaming() -> None:
    variation = changed_by("notify-twice")
    scope = scope_of(variation.model)
    found = Finder(scope).find([world_of("solo")], "notify", claim("delivery.message-once", scope))
    assert found is not None
    judge = Judge(variation, PROPERTIES)
    other = judge.judge(found)
    assert other.trace is not None
    assert not other.same_state, "induction begins in a state that only the invariants allow"
    last = other.trace
    reached = replace(found, at=last.events[-1].at, before=last.states[-2], then=last.states[-1])
    judged = judge.judge(reached)
    assert judged.same_state
    assert judged.trace is not None
    assert judged.trace.length == CAUGHT["notify-twice"][1]


@pytest.mark.slow
def test_a_fault_as_a_whole() -> None:
    """What is about the changed rule is tried, and the property that the fault is meant to break is looked into first."""
    variation = changed_by("notify-twice")
    found = result(scope_of(variation.model), variation, WORLDS, [])
    assert found.verdict is Verdict.VIOLATED
    assert found.found[0].step.claim.name == "delivery.message-once"
    assert found.found[0].real
    assert "delivery.message-once" in found.unproved
    assert {o.rule for o in found.proof.obligations} == {"notify", REST}
    assert found.proof.untried
    assert not found.proof.proved, "nothing is called proved where not all was tried"
