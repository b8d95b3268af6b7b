"""A proof that needs a member of a member of a member: no state refutes it, so its instances are found missing and added."""

from __future__ import annotations

from checker.proof.prove import Scope, prove
from checker.proof.result import result
from checker.variation import Variation
from checker.verdict import Verdict
from model.language import (
    Index,
    State,
    Term,
    every,
    exists,
    field,
    flag,
    forall,
    guard,
    implies,
    model,
    prop,
    rule,
    scalar,
)
from model.language.terms import lift
from tests.proof.small import Node, Who, requests


class Chain(State):
    lit = scalar(flag, doc="something is lit")
    shown = scalar(flag, doc="it was shown")
    first = field(flag, Node, doc="begins a chain")
    second = field(flag, Node, Node, doc="goes on a chain")
    third = field(flag, Node, Node, doc="ends a chain")
    end = field(flag, Node, doc="is at the end of one")


@rule(by=Who.WORKER)
def light(now: Chain, after: Chain, x: Node, y: Node, z: Node) -> None:
    after.lit = True
    after.first[x] = True
    after.second[x, y] = True
    after.third[y, z] = True
    after.end[z] = True


@rule(by=Who.WORKER)
def show(now: Chain, after: Chain) -> None:
    guard("lit", now.lit)
    after.shown = True


@prop()
def begins(s: Chain) -> Term:
    return implies(s.lit, exists(Node, lambda x: s.first[x]))


@prop()
def goes_on(s: Chain) -> Term:
    return forall(Node, lambda x: implies(s.first[x], exists(Node, lambda y: s.second[x, y])))


@prop()
def ends(s: Chain) -> Term:
    return forall(
        Node, lambda x: forall(Node, lambda y: implies(s.second[x, y], exists(Node, lambda z: s.third[y, z])))
    )


@prop()
def at_end(s: Chain) -> Term:
    return forall(Node, lambda y: forall(Node, lambda z: implies(s.third[y, z], s.end[z])))


@prop()
def has_an_end(s: Chain) -> Term:
    """What was shown has an end."""
    return implies(s.shown, exists(Node, lambda z: s.end[z]))


CHAIN = model("chain", Chain, (requests,), (light, show))
SCOPE = Scope(CHAIN, (has_an_end,), (begins, goes_on, ends, at_end), lift(True))


def test_instances_that_are_missed_are_added() -> None:
    first = prove(SCOPE)
    assert [(o.rule, o.claim, o.answer) for o in first.open] == [("show", has_an_end.name, "open")]
    found = result(SCOPE, Variation(CHAIN, CHAIN), [], [])
    assert found.verdict is Verdict.HOLDS
    assert [(o.rule, o.claim) for o in found.expanded] == [("show", has_an_end.name)]
    (after_all,) = (o for o in found.proof.of(has_an_end.name) if o.rule == "show")
    assert set(after_all.used) == {p.name for p in (begins, goes_on, ends, at_end)}
    assert found.stateless == ()


def test_what_is_not_so_is_not_proved_with_more_instances_either() -> None:
    """Without a link of the chain there is a state, and it is shown."""
    found = result(Scope(CHAIN, (has_an_end,), (begins, goes_on, at_end), lift(True)), Variation(CHAIN, CHAIN), [], [])
    assert found.verdict is Verdict.UNDETERMINED
    assert found.expanded == found.stateless == ()
    assert [c.step.claim.name for c in found.found] == [has_an_end.name]
    assert not found.found[0].real


class Place(Index, size=requests, ordered=True):
    """Places are in a row."""


class Row(State):
    begun = field(flag, Place, doc="something began here")
    ended = field(flag, Place, doc="something ended here")


@rule(by=Who.WORKER)
def end_here(now: Row, after: Row, x: Place) -> None:
    guard("begun", now.begun[x])
    after.ended[x] = True


@rule(by=Who.WORKER)
def move_up(now: Row, after: Row) -> None:
    guard("gone", ~now.begun[Place.first()] & ~now.ended[Place.first()])
    for x in every(Place):
        after.begun[x] = now.begun[x.next]
        after.ended[x] = now.ended[x.next]


@prop()
def begins_before(s: Row) -> Term:
    """What ended began here or before."""
    return forall(Place, lambda x: implies(s.ended[x], exists(Place, lambda y: (y <= x) & s.begun[y])))


def test_what_moves_up_is_found_one_place_before() -> None:
    """Where everything moves up a place, the member that a claim speaks of is the one before that of the state before."""
    row = model("row", Row, (requests,), (end_here, move_up))
    assert prove(Scope(row, (begins_before,), (), lift(True))).open == ()
