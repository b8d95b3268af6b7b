"""Each fault of the catalogue is refuted, and its counterexample recognised as real."""

from __future__ import annotations

from dataclasses import replace

import pytest

from checker.proof.cti import Finder, Judge
from checker.proof.prove import REST, Task, work
from checker.proof.result import result
from checker.verdict import Verdict
from model.language.terms import INT
from model.lifecycle import LIFECYCLE
from specs.auxiliary import AUXILIARY
from specs.disciplines import SAFE
from specs.properties import PROPERTIES
from tests.proof.scopes import WORLDS, claim, obligations, scope_of
from tests.search.running import CAUGHT, changed_by, fault_named, world_of

RESTING = [n for n, (caught_by, _) in CAUGHT.items() if caught_by == "rest.no-dead-end"]
# A lost way home is no property of states or steps, so induction says nothing of it. This fault shows before that, in an
# auxiliary invariant of the proof that there is no dead end.
HOME = {"admit-what-never-fits": "rest.admitted-fits"}
# Faults whose damage is to the content of memory, or under prefixes that are published when they are planned, and what
# the changed rule breaks. (A promise that is kept makes the cache lie at once; the wrong read comes later.)
REMEMBERED = {
    "executed-after-one-worker": "memory.settled-is-there",
    "overtakes-own-step": "memory.reads-own-text",
    "preempt-leaned-on": "ownership.exclusive",
    "abort-leaned-on": "ownership.exclusive",
    "promise-kept-at-preempt": "sharing.holds-what-it-claims",
    "promise-kept-at-abort": "sharing.holds-what-it-claims",
}
PROMISED = [n for n in REMEMBERED if fault_named(n).world == "ordered-publish"]
ELSEWHERE = {*RESTING, *HOME, *REMEMBERED}


@pytest.mark.parametrize("name", [n for n in CAUGHT if n not in ELSEWHERE])
def test_a_fault_is_refuted_and_real(name: str) -> None:
    """The changed rule does not preserve what must catch the fault, and its world reaches the broken state."""
    caught_by, length = CAUGHT[name]
    variation = changed_by(name)
    scope = scope_of(variation.model)
    broken = [
        rule for rule in variation.rules if any(o.answer != "proved" for o in obligations(scope, rule, caught_by))
    ]
    in_order = {"device": "in_order"} if fault_named(name).world == "late-commit" else {}
    worlds = [world_of(fault_named(name).world, **in_order), *WORLDS]
    found = None
    # A late token that is committed wrongly breaks counters first: there induction stops, at the aux that admit needs.
    target = caught_by if broken else "late.waited-for"
    for rule in broken or variation.rules:
        found = found or Finder(scope).find(worlds, rule, claim(target, scope))
    assert found is not None
    judged = Judge(variation, (*PROPERTIES, *AUXILIARY)).judge(found)
    assert judged.real
    assert judged.trace is not None
    assert judged.trace.shows == target
    if target == caught_by and found.world.name == fault_named(name).world:
        assert judged.trace.length >= length


@pytest.mark.parametrize("name", REMEMBERED)
def test_a_fault_of_memory_is_refuted_and_real(name: str) -> None:
    """Asked with the dials of the fault's own world, which is enough: a state of it leaves the query open at every size."""
    variation, world, broken = changed_by(name), world_of(fault_named(name).world), REMEMBERED[name]
    alone = {d.name: world.values[d.name] for d in LIFECYCLE.dials if d.index is None}
    scope = replace(scope_of(variation.model, assumption=SAFE), fixed=alone)
    (rule,) = variation.rules
    found = Finder(scope).find([world], rule, claim(broken, scope))
    assert found is not None
    judged = Judge(variation, PROPERTIES).judge(found)
    assert judged.trace is not None
    assert (judged.trace.shows, judged.step.world.name) == (broken, world.name)


@pytest.mark.parametrize("name", PROMISED)
def test_what_a_broken_promise_breaks_the_unchanged_rule_keeps(name: str) -> None:
    """Of these the whole proof says nothing, since prefixes are published before they are computed."""
    world = world_of(fault_named(name).world)
    disciplines = {d.name: world.values[d.name] for d in LIFECYCLE.dials if d.index is None and d.sort != INT}
    scope = replace(scope_of(assumption=SAFE), fixed=disciplines)
    (rule,) = changed_by(name).rules
    task = Task(rule, (REMEMBERED[name],), rounds=1)
    assert {o.answer for o in work(scope, scope.theory(), task).prove()} == {"proved"}


@pytest.mark.parametrize("name", HOME)
def test_a_fault_that_loses_the_way_home_breaks_an_auxiliary_invariant_and_that_is_real(name: str) -> None:
    variation, broken = changed_by(name), HOME[name]
    scope = scope_of(variation.model)
    (rule,) = variation.rules
    assert "open" in [o.answer for o in obligations(scope, rule, broken)]
    found = Finder(scope).find([world_of(fault_named(name).world)], rule, claim(broken, scope))
    assert found is not None
    judged = Judge(variation, (*PROPERTIES, *AUXILIARY)).judge(found)
    assert judged.trace is not None
    assert (judged.trace.shows, judged.trace.length) == (broken, CAUGHT[name][1])


def test_no_fault_is_left_out() -> None:
    lost = {n for n, (caught_by, _) in CAUGHT.items() if caught_by == "rest.way-home"}
    assert lost == set(HOME)
    assert set(CAUGHT) >= ELSEWHERE


@pytest.mark.parametrize("name", RESTING)
def test_a_dead_end_is_refuted_and_real(name: str) -> None:
    """A state of the proof's own has no way on, which leaves the query open at every size; and a world has one."""
    variation = changed_by(name)
    scope = scope_of(variation.model)
    worlds = [world_of(fault_named(name).world), *WORLDS]
    found = Finder(scope).find(worlds, REST, claim("rest.no-dead-end", scope))
    assert found is not None
    assert Judge(variation, PROPERTIES).judge(found).real


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
