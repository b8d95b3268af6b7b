"""`mutate`: what it tries, who it says catches it, and that it notices what is wrong."""

from __future__ import annotations

import importlib.util

import pytest

from checker.catalogue import SHIPPED, Catalogue
from checker.mutate import campaign as module
from checker.mutate.campaign import Campaign, campaign
from checker.mutate.hunt import How, Hunted, Sound, hunt
from checker.mutate.nothing import NO_SOLVER, changes_nothing, with_proofs
from checker.mutate.subjects import Kind, Subject, mutants, subjects
from checker.report.mutate_text import survivor_lines
from checker.verdict import Unusable, Verdict
from model.language.edits import parts
from model.lifecycle import LIFECYCLE
from specs.faults import FAULTS
from specs.faults.equivalent import EQUIVALENT
from specs.faults.fault import Evidence
from specs.kinds import (
    ABORT,
    COUNTERS,
    EARLY_REUSE,
    LEAK,
    OVER_RELEASE,
    SPLICED_OUTPUT,
    STALE_RESULT,
    STUCK,
    TERMINAL_MESSAGE,
    VISIBILITY,
)
from tests.search.running import file_of


def silent(line: str) -> None:
    """Nobody watches."""


def tried(*names: str, most: int | None = None) -> Campaign:
    return campaign(SHIPPED, subjects(LIFECYCLE, SHIPPED, names), False, 2, most, silent)


def one(result: Campaign) -> Hunted:
    assert len(result.hunted) == 1
    return result.hunted[0]


# ------------------------------------------------------------------------------------------------ what is tried
def test_every_guard_that_is_checked_and_every_update_is_a_mutant() -> None:
    assumed = {f"{r.name}.{g.name}" for r in LIFECYCLE.rules for g in r.guards if g.assumed}
    every = {p for r in LIFECYCLE.rules for p in parts(r)}
    assert {m.name for m in mutants(LIFECYCLE)} == every - assumed


def test_a_rule_stands_for_all_its_mutants() -> None:
    found = [s.name for s in subjects(LIFECYCLE, SHIPPED, ["release"])]
    assert found == ["release.left", "release.unpinned", "release/ref", "release/table"]


def test_an_unknown_name_is_refused_with_the_nearest() -> None:
    with pytest.raises(Unusable, match=r"there is no fault, guard, update or rule relase; did you mean release"):
        subjects(LIFECYCLE, SHIPPED, ["relase"])


# ---------------------------------------------------------------------------------------------- who catches it
def test_a_guard_is_caught_in_the_smallest_world_that_shows_it() -> None:
    """With nothing in flight to fear, release.unpinned shows in the world of one request already."""
    found = one(tried("release.unpinned"))
    assert found.catch is not None
    assert (found.catch.how, found.catch.shows, found.catch.length) == (How.PROPERTY, "ownership.keeps", 7)
    assert (found.catch.world, found.tried) == ("solo", ())
    assert found.catch.trace is not None
    assert len(found.catch.trace["states"]) == 8


def test_a_world_without_what_is_changed_is_not_tried() -> None:
    found = one(tried("hit.next"))
    assert found.catch is not None
    assert found.catch.world == "solo-prefix"
    assert found.tried == ()


def test_a_rule_that_stops_firing_is_noticed_too() -> None:
    found = one(tried("cancel/asked", most=1_000))
    assert found.catch is not None
    assert (found.catch.how, found.catch.shows) == (How.COVERAGE, "the rule abort not reached")


def test_what_changes_nothing_by_an_argument_is_no_survivor() -> None:
    result = tried("recycle.something", most=1_000)
    assert (result.verdict, one(result).catch) == (Verdict.HOLDS, None)


def test_a_survivor_without_an_argument_is_wrong(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "EQUIVALENT", {})
    result = tried("recycle.something", most=1_000)
    assert result.verdict is Verdict.VIOLATED
    assert result.wrong["recycle.something"].startswith("survives")


def test_a_survivor_is_asked_whether_it_changes_anything_at_all(monkeypatch: pytest.MonkeyPatch) -> None:
    """What the solver shows to change nothing needs no argument; what it does not show still does."""
    monkeypatch.setattr(module, "EQUIVALENT", {})
    found = with_proofs(tried("retire_chunk/samples", "recycle.something", "release.unpinned", most=1_000), 2, silent)
    assert found.nothing == {"retire_chunk/samples"}
    assert set(found.wrong) == {"recycle.something"}
    assert "  retire_chunk/samples" in survivor_lines(found)


def test_of_what_does_not_exist_where_invariants_are_proved_nothing_is_shown() -> None:
    """A field of the ghost memory is not written there at all, which is no reason to say that writing it changes nothing."""
    assert not changes_nothing(Subject("execute/uses", Kind.UPDATE))


def test_without_a_solver_a_sentence_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None)
    found = with_proofs(tried("retire_chunk/samples", most=1_000), 2, silent)
    assert (found.nothing, found.verdict) == (frozenset(), Verdict.HOLDS)
    assert NO_SOLVER in survivor_lines(found)


def test_an_argument_for_what_is_caught_is_wrong(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "EQUIVALENT", {"release.unpinned": "surely"})
    result = tried("release.unpinned")
    assert result.wrong == {"release.unpinned": "is said to change nothing, but ownership.keeps notices it"}


def test_without_the_property_that_a_fault_names_it_is_wrong() -> None:
    less = Catalogue(FAULTS, tuple(p for p in SHIPPED.properties if p.name != "delivery.message-once"))
    subject = Subject("notify-twice", Kind.FAULT)
    found = hunt(LIFECYCLE, less, Sound(LIFECYCLE, less.properties), subject, [file_of("solo")], 1_000)
    result = Campaign(less, (found,), everything=False)
    assert result.wrong == {"notify-twice": "is not caught by delivery.message-once in pair"}


def test_a_property_that_nothing_violates_is_a_defect() -> None:
    result = tried("release")
    whole = Campaign(SHIPPED, result.hunted, everything=True)
    assert whole.wrong["delivery.grows"] == "is violated by no fault and no mutant"
    assert "ownership.keeps" not in whole.wrong


def test_which_guards_protect_a_property() -> None:
    table = tried("release").protected_by()
    assert table["ownership.keeps"] == ["release.unpinned"]


@pytest.mark.slow
def test_everything_is_caught_or_changes_nothing() -> None:
    """The product's own claim: each fault by its property, each mutant by somebody, each property broken by something."""
    result = campaign(SHIPPED, subjects(LIFECYCLE, SHIPPED), True, 2, None, silent)
    assert result.wrong == {}
    assert {h.subject.name for h in result.survivors} == set(EQUIVALENT)
    assert result.beyond_bounds >= 0.9 * len(result.caught)


# ---------------------------------------------------------------------------------------------------- the faults
def test_the_faults_have_public_sources_of_every_kind() -> None:
    """At least fifteen whose cause is confirmed or stated, and some of each kind that the model can express."""
    known = [f for f in FAULTS if f.evidence in (Evidence.CONFIRMED, Evidence.STATED)]
    assert len({f.source for f in known}) >= 15
    kinds = {OVER_RELEASE, LEAK, EARLY_REUSE, STALE_RESULT, COUNTERS, SPLICED_OUTPUT, VISIBILITY, ABORT, STUCK}
    assert kinds | {TERMINAL_MESSAGE} <= {f.kind for f in known}


def test_what_is_said_of_a_source_agrees_with_it() -> None:
    for fault in FAULTS:
        none, like = fault.source.startswith("no public report"), fault.source.startswith("like ")
        assert (fault.evidence is Evidence.NONE) == none, fault.name
        assert (fault.evidence is Evidence.LIKE) == like, fault.name


def test_subjects_are_told_apart_by_kind() -> None:
    kinds = {s.name: s.kind for s in subjects(LIFECYCLE, SHIPPED)}
    assert kinds["release.unpinned"] is Kind.GUARD
    assert kinds["release/ref"] is Kind.UPDATE
    assert kinds["notify-twice"] is Kind.FAULT
    assert Subject("release/ref", Kind.UPDATE).option == ["--without", "release/ref"]
