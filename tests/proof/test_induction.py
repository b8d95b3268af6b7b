"""What is proved at any size, what is refuted, and that what is missing is found out."""

from __future__ import annotations

from dataclasses import replace

import pytest
import z3

from checker.proof.cti import Finder, Judge, never_together, renamings
from checker.proof.prove import (
    ALWAYS,
    REST,
    START,
    Proof,
    Task,
    case_text,
    cases,
    hinted,
    prove,
    tasks,
    tried,
)
from checker.proof.query import Query
from checker.proof.vacuity import unmet
from model.language import Property, Term, count, forall, prop, step
from model.language.properties import Shape
from model.language.terms import lift
from model.lifecycle import LIFECYCLE
from model.lifecycle.dials import Device, Publish, Release, Request, Slot
from model.lifecycle.state import Lifecycle, Phase, Status, oldest
from model.lifecycle.terms import held, running
from model.readings.anysize import AnySize
from model.readings.layout import Layout
from model.readings.said import ALL
from specs.auxiliary import AUXILIARY
from specs.disciplines import SAFE
from specs.properties import PROPERTIES
from tests.proof.scopes import SCOPE, UNCHANGED, WHOLE, WORLDS, claim, obligations, scope_of
from tests.search.running import world_of


@pytest.mark.slow
def test_every_claim_is_proved() -> None:
    proof = prove(WHOLE)
    assert not proof.open
    assert proof.proved == {c.name for c in WHOLE.claims}
    assert proof.unused == ()
    assert {o.answer for o in proof.reasons} == {"proved"}
    assert {name for o in proof.reasons for name in o.used} <= proof.proved
    assert {p.name for p in PROPERTIES if p.shape in (Shape.STATE, Shape.STEP)} <= proof.proved


def test_how_a_rule_changes_a_sum_is_an_obligation_of_its_own() -> None:
    """A request that ends leaves nothing of its own in flight, and nothing changes for the others."""
    scope = replace(SCOPE, cores=True)
    found = tried(scope, scope.theory(), Task("retire_late_stop", ("progress.scheduled-adds-up",)))
    reasons = {(o.rule, o.claim.partition("): ")[2]): o.used for o in found if o.reason}
    assert {o.claim.partition("): ")[0] for o in found if o.reason} == {
        "total(Slot i: ite(entry[i, r] == LIVE, tokens[i, r], 0)"
    }
    assert reasons == {
        ("retire_late_stop", "every member becomes 0, in row r, save at Slot 0"): (),
        ("retire_late_stop", "every member stays what it is, in rows other than r, save at Slot 0"): (),
        (ALWAYS, "no member is negative"): ("bounds.tokens",),
    }
    assert [(o.rule, o.answer) for o in found if not o.reason] == [("retire_late_stop", "proved")]


def test_the_memory_of_an_unordered_device_is_refuted_where_blocks_are_freed_at_once() -> None:
    """The discipline that is proved in order: out of order an old write comes after the new owner's, and that is real."""
    fixed = {"device": Device.UNORDERED, "release": Release.ORDERED, "publish": Publish.COMPUTED, "workers": 1}
    scope = replace(scope_of(assumption=lift(True)), fixed=fixed)
    name = "memory.settled-is-there"
    found = Finder(scope).find([world_of("ordered-release-unordered")], "execute", claim(name, scope))
    assert found is not None
    judged = Judge(UNCHANGED, PROPERTIES).judge(found)
    assert judged.trace is not None
    assert (judged.trace.shows, judged.trace.length) == (name, 14)


@pytest.mark.parametrize("first", [(), ("delivery.prefix", "no.such"), ("eligibility.window",)])
def test_a_hint_that_is_wrong_costs_no_proof(first: tuple[str, ...]) -> None:
    scope = replace(SCOPE, hints={"retire_token": {"delivery.grows": {"": first}, "delivery.prefix": {"": first}}})
    planned = [t for t in tasks(scope, ["delivery.prefix"])[0] if t.where == "retire_token"]
    assert [hinted(scope, t) for t in planned] == [{"delivery.prefix": first}]
    assert {o.answer for t in planned for o in tried(scope, scope.theory(), t)} == {"proved"}


def test_hints_name_what_there_is() -> None:
    names = {c.name for c in WHOLE.claims}
    wheres = {REST, *(r.name for r in WHOLE.rules)}
    assert {*WHOLE.hints, *(where for where, _ in WHOLE.by_cases)} <= wheres
    for by_claim in WHOLE.hints.values():
        assert names >= set(by_claim)
        assert names >= {name for by_case in by_claim.values() for first in by_case.values() for name in first}
    for (where, name), dial in WHOLE.by_cases.items():
        written = set(WHOLE.hints[where][name])
        assert written <= {case_text(case) for case in cases(WHOLE, where, claim(name, WHOLE))}, dial


def test_what_one_case_leaves_open_is_open() -> None:
    """A claim that an ordered device keeps and an unordered one does not."""

    @prop(reason="so in order: the oldest step is executed first")
    def unlike(s: Lifecycle) -> Term:
        return forall(Slot, lambda i: (s.status[i] != Status.EXECUTED) | (s.status[oldest] == Status.EXECUTED))

    scope = scope_of(properties=(*PROPERTIES, unlike), assumption=lift(True))
    first = ("eligibility.window",)
    hints = {"execute": {unlike.name: {f"device = {d.name}": first for d in Device}}}
    named = replace(scope, fixed={"workers": 1}, hints=hints, by_cases={("execute", unlike.name): "device"})
    planned = [t for t in tasks(named, [unlike.name])[0] if t.where == "execute"]
    found = {o.case: o.answer for t in planned for o in tried(named, named.theory(), t)}
    assert found == {"device = IN_ORDER": "proved", "device = UNORDERED": "open"}
    assert (
        unlike.name
        not in Proof(named, tuple(o for t in planned for o in tried(named, named.theory(), t)), 0, 0.0).proved
    )
    in_order = replace(named, fixed={"workers": 1, "device": Device.IN_ORDER})
    assert [case_text(c) for c in cases(in_order, "execute", claim(unlike.name, in_order))] == ["device = IN_ORDER"]


@step(reason="false when the window moves up, and true only if the state after is taken for the one before")
def never_fewer_executed(before: Lifecycle, then: Lifecycle) -> Term:
    """No step is executed less than before."""

    def executed(s: Lifecycle) -> Term:
        return count(Slot, lambda i: s.status[i] == Status.EXECUTED)

    return executed(then) >= executed(before)


def test_a_sum_before_and_after_is_not_one_sum() -> None:
    """The kind of sum is declared once, wherever it is read; which state it is read in is another matter."""
    scope = scope_of(properties=(*PROPERTIES, never_fewer_executed))
    assert [o.answer for o in obligations(scope, "recycle", never_fewer_executed.name)] == ["open"]
    assert [o.answer for o in obligations(scope, "execute", never_fewer_executed.name)] == ["proved"]


def test_everything_has_its_obligations() -> None:
    """Each claim is judged at the start (or, of steps, where nothing changes) and for each rule that it can notice."""
    planned, framed = tasks(SCOPE)
    inductive = [c for c in SCOPE.claims if c.shape is not Shape.REST]
    assert {t.names for t in planned if t.where == REST} == {(c.name,) for c in SCOPE.claims if c.shape is Shape.REST}
    pairs = [(t.where, name) for t in planned for name in t.names]
    assert len(set(pairs)) == len(pairs)
    assert {n for w, n in pairs if w == START} == {c.name for c in inductive if c.shape is Shape.STATE}
    assert {n for w, n in pairs if w == ALWAYS} == {c.name for c in inductive if c.shape is Shape.STEP}
    rules = {r.name: r for r in SCOPE.rules}
    by_rule = [(w, n) for w, n in pairs if w in rules]
    assert len(by_rule) + framed == len(rules) * len(inductive)
    for where, name in by_rule:
        assert claim(name).reads & rules[where].writes()


def test_the_invariants_have_states_and_every_rule_fires_in_one() -> None:
    assert unmet(SCOPE, WORLDS) == []


def test_a_contradiction_among_the_invariants_is_found() -> None:
    @prop(reason="never so: somebody runs, and nobody does")
    def absurd(s: Lifecycle) -> Term:
        return (count(Request, lambda r: running(s, r)) > 0) & forall(Request, lambda r: ~running(s, r))

    scope = scope_of(auxiliary=(*AUXILIARY, absurd))
    assert len(unmet(scope, WORLDS[:1])) > len(SCOPE.rules)


# --------------------------------------------------------------------------------------- missing invariants
@pytest.mark.parametrize(
    ("missing", "rule", "broken", "world"),
    [
        ("window.launched-holds", "admit", "ownership.stale-waits", "solo"),
        ("window.launched-has-work", "recycle", "eligibility.launched-is-fixed", "solo"),
        ("counters.plan-is-wanted", "launch", "progress.within-limit", "solo-window"),
        ("late.waited-for", "preempt", "late.follows-on", "solo-late"),
        ("late.follows-on", "retire_late_token", "delivery.context-first", "solo-late"),
    ],
)
def test_without_an_auxiliary_invariant_the_counterexample_is_not_reached(
    missing: str, rule: str, broken: str, world: str
) -> None:
    """The state that is found leaves the query open at every size."""
    scope = scope_of(auxiliary=[p for p in AUXILIARY if p.name != missing])
    found = Finder(scope).find([world_of(world)], rule, claim(broken, scope))
    assert found is not None
    judged = Judge(UNCHANGED, PROPERTIES).judge(found)
    assert not judged.real
    assert judged.bound is None
    assert judged.states > 500
    assert judged.apart, "what no reached state has together says what the invariant should exclude"


@pytest.mark.slow
@pytest.mark.parametrize(
    ("missing", "broken", "name"),
    [
        ("content.uses-its-table", "memory.reads-own-text", "two-workers"),
        ("content.runs-from-oldest", "content.executed-before", "two-workers"),
        ("content.writes-apart", "memory.settled-is-there", "two-workers"),
        ("content.cached-is-written", "sharing.holds-what-it-claims", "two-workers"),
        ("content.run-on-each", "memory.settled-is-there", "two-workers"),
        ("pending.reads-its-text", "memory.reads-own-text", "late-commit-ordered"),
    ],
)
def test_without_what_is_known_of_the_memory_the_counterexample_is_not_reached(
    missing: str, broken: str, name: str
) -> None:
    """A step of a worker, in a state of a shipped world that satisfies all other invariants. It leaves the query open at
    every size, since it is a state of it.

    What is pending implies the content in a window of any one length, step by step; only no proof for all lengths at once
    can go that way. So it is left out with the content.
    """
    world = world_of(name)
    alone = {d.name: world.values[d.name] for d in LIFECYCLE.dials if d.index is None}
    others = [
        p
        for p in AUXILIARY
        if p.name != missing and (missing.startswith("pending.") or not p.name.startswith("pending."))
    ]
    scope = replace(scope_of(auxiliary=others, assumption=SAFE), fixed=alone)
    found = Finder(scope).find([world], "execute", claim(broken, scope))
    assert found is not None
    judged = Judge(UNCHANGED, (*PROPERTIES, *AUXILIARY)).judge(found)
    assert (judged.real, judged.bound) == (False, None)
    assert judged.apart


def test_what_no_reached_state_has_together_is_told_without_a_cell_too_many() -> None:
    scope = scope_of(auxiliary=[p for p in AUXILIARY if p.name != "window.launched-holds"])
    found = Finder(scope).find([world_of("solo")], "admit", claim("ownership.stale-waits", scope))
    assert found is not None
    explored, layout = Judge(UNCHANGED, PROPERTIES).explore(found), Layout(LIFECYCLE, found.world)
    cells = never_together(explored, layout, found.before)
    same = {
        frozenset(p for p in cells if reached[places[p]] == found.before[p])
        for places in renamings(explored, layout)
        for reached in explored.states
    }
    assert set(cells) not in same
    assert {frozenset(cells) - {p} for p in cells} <= same


def test_of_a_core_nothing_can_be_left_out() -> None:
    """What is named with --core is needed: without it, nothing that the proof was told contradicts the claim's denial."""
    a, b, c = (z3.Bool(n) for n in "abc")
    literals = {n: z3.Bool(f"hypothesis {n}") for n in ("first", "second", "third")}
    facts = [z3.Implies(literals["first"], a), z3.Implies(literals["second"], b), z3.Implies(literals["third"], c)]
    query = Query(AnySize(LIFECYCLE, {}), [*facts, z3.Not(z3.And(a, b))], literals, ALL, 10.0)
    assert query.check() == z3.unsat
    query.used = lambda: list(literals)  # type: ignore[method-assign]  # as a solver may say
    assert query.needed() == ["first", "second"]


# ------------------------------------------------------------------------------ what small worlds do not show
@prop(reason="false, but no world of three requests shows it")
def three_at_most(s: Lifecycle) -> Term:
    """No more than three requests run."""
    return count(Request, lambda r: running(s, r)) <= 3


@prop(reason="false, but no world of two blocks shows it")
def two_at_most(s: Lifecycle) -> Term:
    """A request that runs holds two blocks at most."""
    return forall(Request, lambda r: held(s, r) <= 2)


def holds_in(declared: Property, *worlds: str) -> bool:
    from checker.check import check_world
    from tests.search.running import file_of

    return all(not check_world(file_of(w), UNCHANGED, [declared]).traces for w in worlds)


@pytest.mark.parametrize(
    ("declared", "rule", "small", "size"),
    [
        (three_at_most, "admit", ("solo", "trio", "misfit"), ("requests", 4)),
        (two_at_most, "acquire", ("solo", "trio", "misfit"), ("blocks", 3)),
    ],
)
def test_what_is_false_in_larger_worlds_only_passes_the_small_ones_and_is_refuted(
    declared: Property, rule: str, small: tuple[str, ...], size: tuple[str, int]
) -> None:
    assert holds_in(declared, *small)
    scope = scope_of(properties=(*PROPERTIES, declared))
    assert [o.answer for o in obligations(scope, rule, declared.name) if o.answer != "proved"]
    found = Finder(scope).find([world_of(w) for w in small], rule, claim(declared.name, scope))
    assert found is not None
    assert found.world.values[size[0]] >= size[1]
    judged = Judge(UNCHANGED, (declared,), states=30_000).judge(found)
    assert judged.real or judged.bound is not None


# ------------------------------------------------------------------------------------------------ the whole
def test_what_rests_on_an_open_claim_is_not_called_proved() -> None:
    """A claim falls with the hypotheses that its proof used, and nothing else does."""
    from checker.proof.obligation import Obligation
    from checker.proof.prove import Proof

    names = [c.name for c in SCOPE.claims]
    a, b, c = names[:3]
    rows = [
        Obligation("r", a, 0, "open", 0.0),
        Obligation("r", b, 0, "proved", 0.0, (a,)),
        Obligation("r", c, 0, "proved", 0.0, (c,)),
    ]
    proof = Proof(SCOPE, tuple(rows), 0, 0.0)
    assert proof.proved == {c}


@pytest.mark.parametrize("rule", ["abort", "preempt"])
def test_an_answer_does_not_depend_on_what_is_tried_beside_it(rule: str) -> None:
    """What a sum becomes may be another that nothing has spoken of yet (what is due, of what was live and sampled), and a
    sum up to a place needs the first place, which other claims speak of."""
    assert [o.answer for o in obligations(SCOPE, rule, "late.follows-on")] == ["proved"]


def test_the_start_matters() -> None:
    """A claim that every rule preserves, but that does not hold at the start."""

    @prop()
    def begun(s: Lifecycle) -> Term:
        return forall(Request, lambda r: s.phase[r] != Phase.NEW)

    scope = scope_of(properties=(*PROPERTIES, begun))
    assert [o.answer for o in obligations(scope, START, begun.name)] == ["open"]
