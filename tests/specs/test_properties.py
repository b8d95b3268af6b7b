"""Properties, rules and their parts: well formed, told apart by name, and documented."""

from __future__ import annotations

import re

import pytest

import specs.kinds
from model.language.edits import parts
from model.language.properties import Property, Shape
from model.language.rules import NAME, Rule
from model.lifecycle import LIFECYCLE
from specs.properties import LIVENESS, PROPERTIES

EVERY = (*PROPERTIES, *LIVENESS)
KINDS = {v for k, v in vars(specs.kinds).items() if k.isupper()}
each = pytest.mark.parametrize("declared", [pytest.param(p, id=p.name) for p in EVERY])
each_rule = pytest.mark.parametrize("rule", [pytest.param(r, id=r.name) for r in LIFECYCLE.rules])


def test_no_two_properties_have_one_name() -> None:
    found = [p.name for p in EVERY]
    assert len(set(found)) == len(found)


@each
def test_a_name_is_a_subject_and_words(declared: Property) -> None:
    assert re.match(
        r"(ownership|sharing|memory|progress|delivery|eligibility|races|rest|liveness)\.[a-z]+(-[a-z]+)*\Z",
        declared.name,
    )


@each
def test_a_property_says_what_and_why(declared: Property) -> None:
    for sentence in (declared.doc, declared.reason):
        assert sentence[0].isupper()
        assert sentence.endswith(".")


@each
def test_a_property_makes_lifecycle_rules_precise(declared: Property) -> None:
    assert re.match(r"R\d+(, R\d+)*\Z", declared.rule)


@each
def test_a_property_that_can_be_violated_catches_something(declared: Property) -> None:
    assert set(declared.catches) <= KINDS
    assert bool(declared.catches) == (declared.shape is not Shape.REACHABLE)


@each
def test_a_property_of_states_or_steps_has_a_witness(declared: Property) -> None:
    assert (declared.witness is not None) == (declared.shape in (Shape.STATE, Shape.STEP, Shape.LEADS))


@each
def test_what_a_property_leaves_out_are_rules_of_the_client(declared: Property) -> None:
    assert bool(declared.apart_from) == (declared.shape in (Shape.REST, Shape.HOME))
    for name in declared.apart_from:
        assert LIFECYCLE.rule(name).by.name == "CLIENT"


@each
def test_what_leads_to_something_is_apart_from_what_is_judged_state_by_state(declared: Property) -> None:
    assert (declared in LIVENESS) == (declared.shape is Shape.LEADS) == (declared.promise is not None)


def test_every_kind_of_fault_is_caught_by_something() -> None:
    assert {kind for p in PROPERTIES for kind in p.catches} == KINDS


# ----------------------------------------------------------------------------------------------------- rules
def test_no_two_rules_have_one_name() -> None:
    found = [r.name for r in LIFECYCLE.rules]
    assert len(set(found)) == len(found)


@each_rule
def test_the_parts_of_a_rule_have_names_of_their_own(rule: Rule) -> None:
    assert len(set(parts(rule))) == len(parts(rule))
    assert all(NAME.match(g.name) for g in rule.guards)


@each_rule
def test_a_rule_says_what_it_does(rule: Rule) -> None:
    assert rule.doc[0].isupper()
    assert rule.doc.endswith(".")
    assert rule.guards
    assert rule.updates


@each_rule
def test_the_place_of_every_part_is_in_the_lifecycle(rule: Rule) -> None:
    for where in (rule.where, *(g.where for g in rule.guards), *(u.where for u in rule.updates)):
        assert re.match(r"model/lifecycle/\w+\.py:\d+\Z", where)
