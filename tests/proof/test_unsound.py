"""False claims that a proof could be led to believe: each is refuted, refused or left open, and never proved."""

from __future__ import annotations

from dataclasses import replace

import pytest
import z3

from checker.proof.prove import START, Proof, Scope, prove
from checker.proof.result import result
from checker.variation import Variation
from checker.verdict import Verdict
from model.language import (
    Index,
    Model,
    Range,
    Rule,
    State,
    Term,
    at_rest,
    every,
    exists,
    field,
    flag,
    forall,
    guard,
    implies,
    model,
    number,
    prop,
    rule,
    scalar,
    total,
    upto,
)
from model.language.properties import Property
from model.language.terms import lift
from model.lifecycle import LIFECYCLE
from model.lifecycle.dials import requests as how_many
from model.lifecycle.state import Lifecycle
from model.readings.smt import Inexact
from model.readings.solver import assert_all
from specs.properties import PROPERTIES
from tests.proof.scopes import SCOPE
from tests.proof.small import Node, Who, requests

extra = number("extra", "some number", low=0)
signed = number("signed", "some number", low=-5)
most = number("most", "how many there are to choose from", low=0)


class Choice(Range, low=1, high=most):
    """What there is to choose from, if anything."""


class Pair(State):
    f = field(upto(100), Node, doc="what is copied to")
    g = field(upto(100), Node, doc="what is copied from")
    marked = field(flag, Node, doc="is marked")


class One(State):
    a = scalar(upto(100), doc="a number")
    done = scalar(flag, doc="something was chosen")


class Few(Index, size=most):
    """There may be none."""


class Rare(State):
    rare = field(flag, Few, doc="is rare")


@rule(by=Who.WORKER)
def grow(now: Pair, after: Pair, x: Node) -> None:
    guard("low", now.g[x] < 100)
    after.g[x] = now.g[x] + 1


@rule(by=Who.WORKER)
def copy(now: Pair, after: Pair) -> None:
    for x in every(Node):
        after.f[x] = now.g[x]


@rule(by=Who.WORKER)
def mix(now: Pair, after: Pair) -> None:
    for x in every(Node):
        after.f[x] = now.g[x] + now.f[x]


@rule(by=Who.WORKER)
def choose(now: One, after: One, k: Choice) -> None:
    guard("not-yet", ~now.done)
    after.done = True


@rule(by=Who.WORKER)
def take(now: One, after: One, a: Choice) -> None:
    after.a = now.a - a


@rule(by=Who.WORKER)
def mark(now: Rare, after: Rare, x: Few) -> None:
    after.rare[x] = True


@prop(reason="false: grow breaks it")
def same(s: Pair) -> Term:
    return forall(Node, lambda x: s.f[x] == s.g[x])


@prop(reason="false: grow four times, then copy")
def small(s: Pair) -> Term:
    return exists(Node, lambda y: ~s.marked[y] & (total(Node, lambda x: s.f[x]) <= 3))


@prop(reason="false in the first state of larger worlds; no rule breaks it")
def three_at_most(s: Lifecycle) -> Term:
    return how_many <= 3


@prop(reason="false where there is something extra")
def nothing_extra(s: Pair) -> Term:
    return (extra == 0) & forall(Node, lambda x: s.f[x] >= 0)


@prop(reason="false where there is something extra")
def sums_to_nothing(s: Pair) -> Term:
    return total(Node, lambda x: s.f[x] + extra) == 0


@prop(reason="false where the number is negative")
def larger(s: One) -> Term:
    return implies(s.a >= 1, signed * s.a >= signed)


@at_rest(apart_from=(), reason="false where there is nothing to choose from")
def was_chosen(s: One) -> Term:
    return s.done


def model_of(state: type[State], *rules: Rule) -> Model:
    return model("small", state, (requests, extra, signed, most), rules)


def proof_of(of: Model, properties: tuple[Property, ...], *auxiliary: Property) -> Proof:
    return prove(Scope(of, properties, auxiliary, lift(True)))


@pytest.mark.slow
def test_nothing_is_assumed_at_the_start_not_even_of_dials() -> None:
    """What a claim says of dials alone every rule keeps; so the start must not be shown from what is yet to be shown."""
    scope = replace(SCOPE, properties=(*PROPERTIES, three_at_most))
    found = result(scope, Variation(LIFECYCLE, LIFECYCLE), [], [three_at_most.name])
    assert [o.rule for o in found.proof.of(three_at_most.name) if o.answer != "proved"] == [START]
    assert found.verdict is Verdict.VIOLATED
    (shown,) = found.found
    assert shown.trace is not None
    assert (shown.trace.length, shown.step.world.values["requests"]) == (0, 4)


def test_how_a_sum_begins_is_not_shown_by_what_is_yet_to_be_shown() -> None:
    proof = proof_of(model_of(Pair, grow), (sums_to_nothing,), nothing_extra)
    assert not proof.proved & {sums_to_nothing.name, nothing_extra.name}
    assert {o.answer for o in proof.of(sums_to_nothing.name) if o.rule == START} == {"refused"}


def test_what_a_sum_under_a_quantifier_rests_on_is_said() -> None:
    """That copying makes one sum the other is known; that it leaves the sum as it was, only by what is false."""
    proof = proof_of(model_of(Pair, grow, copy), (small,), same)
    (copied,) = [o for o in proof.of(small.name) if o.rule == "copy"]
    assert (copied.answer != "proved") or same.name in copied.used
    assert small.name not in proof.proved


def test_a_sum_that_is_met_late_and_changes_in_an_unknown_way_is_refused() -> None:
    proof = proof_of(model_of(Pair, mix), (small,))
    (mixed,) = [o for o in proof.of(small.name) if o.rule == "mix"]
    assert mixed.answer == "refused"
    assert "in a way that is not known exactly" in mixed.why


def test_a_product_by_what_may_be_negative_is_refused() -> None:
    with pytest.raises(Inexact, match="no product by a dial that is at least 0"):
        proof_of(model_of(One, choose), (larger,))


def test_where_there_is_nothing_to_choose_from_a_rule_is_stuck() -> None:
    proof = proof_of(model_of(One, choose), (was_chosen,))
    assert was_chosen.name not in proof.proved


def test_one_name_for_two_things_is_refused() -> None:
    with pytest.raises(Inexact, match="a is a field and what take is for"):
        proof_of(model_of(One, take), ())


def test_an_index_that_may_have_no_members_is_refused() -> None:
    with pytest.raises(Inexact, match="Few may have no members"):
        prove(Scope(model("rare", Rare, (most,), (mark,)), (), (), lift(True)))


def test_what_the_solver_does_not_take_is_an_error_and_no_fact_less() -> None:
    """Facts are handed over without what the solver's own Python checks around each call."""
    solver = z3.SimpleSolver()
    solver.set("smt.restart_factor", "much")
    with pytest.raises(z3.Z3Exception, match="restart_factor"):
        assert_all(solver, [False])
