"""Rules, properties, fields and models that cannot be meant: one sentence each, at the line that is wrong."""

from __future__ import annotations

import pytest

from model.language import (
    Index,
    LanguageError,
    Range,
    Requirement,
    Rule,
    State,
    at_rest,
    enabled,
    exists,
    field,
    flag,
    guard,
    home,
    model,
    note,
    number,
    prop,
    rule,
    scalar,
    step,
    switch,
    upto,
)
from model.language.terms import Moment, Term
from tests.language.refusal import refused
from tests.language.small import DIALS, Amount, Job, Place, Small, Who, height, strict, top

elsewhere = Small(Moment.NOW)
unlisted = number("unlisted", "a dial that no model lists")


class Other(State):
    open = scalar(flag)


def test_a_rule_begins_with_the_two_states() -> None:
    def swapped(after: Small, now: Small) -> None: ...
    def missing(now: Small) -> None: ...
    def nothing() -> None: ...
    def bare(now, after): ...  # type: ignore[no-untyped-def]
    def no_state(now: Job, after: Job) -> None: ...
    def two(now: Small, after: Other) -> None: ...

    written = {
        swapped: "after, now",
        missing: "now",
        nothing: "",
        bare: "now, after",
        no_state: "now, after",
        two: "now, after",
    }
    for function, names in written.items():
        assert refused(lambda function=function: rule(by=Who.WORKER)(function)) == (  # type: ignore[misc]
            f"the rule {function.__name__} begins with ({names}); write (now: YourState, after: YourState, ...).",
            0,
        )


def test_a_parameter_without_a_domain() -> None:
    def untyped(now: Small, after: Small, j) -> None: ...  # type: ignore[no-untyped-def]
    def whole(now: Small, after: Small, j: int) -> None: ...

    for function in (untyped, whole):
        assert refused(lambda function=function: rule(by=Who.WORKER)(function)) == (  # type: ignore[misc]
            f"the parameter j of {function.__name__} has no domain; annotate it with an Index or a Range.",
            0,
        )


def test_the_line_of_a_refused_signature_is_the_decorator() -> None:
    def wrong() -> None:
        @rule(by=Who.WORKER)
        def act(now: Small) -> None: ...

    assert refused(wrong)[1] == 1


def test_needs_that_read_the_state() -> None:
    sentence = "needs= ({}) reads the state, but it must be decided by the dials alone; make it a guard."
    amount = Amount.variable("n")
    assert refused(lambda: rule(by=Who.WORKER, needs=elsewhere.open)) == (sentence.format("open"), 0)
    assert refused(lambda: prop(needs=strict & (elsewhere.balance > 0))) == (
        sentence.format("strict & (balance > 0)"),
        0,
    )
    assert refused(lambda: step(needs=amount > 0)) == (sentence.format("n > 0"), 0)
    assert refused(lambda: scalar(flag, needs=elsewhere.open)) == (sentence.format("open"), 0)
    assert refused(lambda: rule(by=Who.WORKER, needs=top)) == (
        "needs= takes Bool, but (top) is Int; give it a term of sort Bool.",
        0,
    )


def test_a_property_takes_the_states_it_is_of() -> None:
    def of_now(now: Small) -> Term: ...  # type: ignore[empty-body]
    def of_two(before: Small, then: Small) -> Term: ...  # type: ignore[empty-body]
    def of_one(s: Small) -> Term: ...  # type: ignore[empty-body]
    def of_job(s: Job) -> Term: ...  # type: ignore[empty-body]
    def bare(s) -> Term: ...  # type: ignore[no-untyped-def, empty-body]

    one, two = "(s: YourState)", "(before: YourState, then: YourState)"
    for kind, function, takes, wanted in [
        (prop(), of_now, "now", one),
        (prop(), of_two, "before, then", one),
        (prop(), of_job, "s", one),
        (prop(), bare, "s", one),
        (step(), of_one, "s", two),
        (home(apart_from=()), of_now, "now", one),
        (at_rest(apart_from=()), of_two, "before, then", one),
    ]:
        assert refused(lambda kind=kind, function=function: kind(function)) == (  # type: ignore[misc]
            f"{function.__name__} takes ({takes}), but this kind of property takes {wanted}.",
            0,
        )


def test_a_property_and_its_witness_are_conditions() -> None:
    def number(s: Small) -> Term:
        return s.balance

    def truth(s: Small) -> Term:
        return s.open

    assert refused(lambda: prop()(number)) == (
        "the property test-misuse-declared.number takes Bool, but (balance) is Int; give it a term of sort Bool.",
        0,
    )
    assert refused(lambda: prop(witness=lambda s: s.balance)(truth)) == (
        "the witness of test-misuse-declared.truth takes Bool, but (balance) is Int; give it a term of sort Bool.",
        0,
    )


@rule(by=Who.WORKER)
def spend(now: Small, after: Small, j: Job, n: Amount) -> None:
    guard("enough", n <= now.balance)
    after.balance = now.balance - n
    after.level[j] = n


def test_enabled_cannot_choose_a_number() -> None:
    assert refused(lambda: enabled(spend, Job.variable("j"))) == (
        "enabled(spend) cannot choose the number n; state the guard instead.",
        0,
    )


# -------------------------------------------------------------------------------- fields, indices, models
def test_fields() -> None:
    assert refused(lambda: field(flag, doc="")) == ("a field without an index is a scalar; write scalar(...).", 0)
    assert refused(lambda: scalar(flag, initial=0)) == (
        "the initial value takes Bool, but (0) is Int; give it a term of sort Bool.",
        0,
    )
    assert refused(lambda: scalar(bool)) == (  # type: ignore[arg-type]
        "<class 'bool'> is no kind of field; write flag, upto(high) or a subclass of Enum.",
        0,
    )
    assert refused(lambda: field(flag, Amount, doc="")) == (  # type: ignore[arg-type]
        "a field cannot range over Amount, which is no index; give it a subclass of Index.",
        0,
    )
    assert refused(lambda: scalar(upto(elsewhere.balance))) == (
        "the bound (balance) reads the state, but dials alone decide it; make it a property.",
        0,
    )
    assert refused(lambda: field(upto(lambda j: j), Job, doc="")) == (
        "a bound takes Int, but (j) is Job; give it a term of sort Int.",
        0,
    )


def test_names_that_every_state_has() -> None:
    def wrong() -> None:
        class Bad(State):
            moment = scalar(flag)  # type: ignore[assignment]

    assert refused(wrong) == ("Bad has a field moment, which every state has already; give it another name.", 1)


def test_indices_and_ranges_need_their_sizes() -> None:
    def no_size() -> None:
        class Thing(Index): ...

    def no_bounds() -> None:
        class Some(Range, low=1): ...

    def a_choice() -> None:
        class Thing(Index, size=strict): ...

    assert refused(no_size) == ("the index Thing needs a size; write class Thing(Index, size=DIAL).", 1)
    assert refused(no_bounds) == ("the range Some needs bounds; write class Some(Range, low=, high=).", 1)
    assert (
        refused(a_choice)[0]
        == "the size of Thing takes Int, but (strict) is Bool; write ite(condition, 1, 0), or count(Index, ...)."
    )


def test_a_dial_has_no_value_past_the_last_member() -> None:
    assert refused(lambda: height[Place.variable("p").next]) == (
        "height has no value past the last member, which (p.next) may be; use a field.",
        0,
    )


def test_no_dial() -> None:
    assert refused(lambda: model("small", Small, (elsewhere.balance,), ())) == (
        "(balance) is no dial; give the term that number, switch or choice returned.",
        0,
    )


class Thing(Index, size=unlisted):
    """Its size is a dial like any other."""


class Bounded(State):
    count = scalar(upto(unlisted))


class Needing(State):
    count = scalar(flag, needs=unlisted > 0)


class Sized(State):
    count = field(flag, Thing, doc="")


class Kept(State):
    open = scalar(flag)


@rule(by=Who.WORKER)
def guarded(now: Kept, after: Kept) -> None:
    guard("some", unlisted > 0)
    after.open = True


@rule(by=Who.WORKER)
def updated(now: Kept, after: Kept) -> None:
    after.open = unlisted > 0


@rule(by=Who.WORKER, needs=unlisted > 0)
def needing(now: Kept, after: Kept) -> None:
    after.open = True


@rule(by=Who.WORKER)
def noted(now: Kept, after: Kept) -> None:
    note("some", unlisted)
    after.open = True


@rule(by=Who.WORKER)
def taking(now: Kept, after: Kept, t: Thing) -> None:
    after.open = True


@rule(by=Who.WORKER)
def quantified(now: Kept, after: Kept) -> None:
    guard("some", exists(Thing, lambda t: now.open))
    after.open = True


@pytest.mark.parametrize("rule_with", [guarded, updated, needing, noted, taking, quantified], ids=lambda r: r.name)
def test_a_dial_that_a_rule_uses_and_the_model_does_not_list(rule_with: Rule) -> None:
    assert refused(lambda: model("small", Kept, (), (rule_with,))) == (
        "small uses the dial unlisted without listing it; add it to dials=.",
        0,
    )
    assert model("small", Kept, (unlisted,), (rule_with,)).rules == (rule_with,)


@pytest.mark.parametrize("state", [Bounded, Needing, Sized])
def test_a_dial_that_a_field_uses_and_the_model_does_not_list(state: type[State]) -> None:
    assert refused(lambda: model("small", state, (), ())) == (
        "small uses the dial unlisted without listing it; add it to dials=.",
        0,
    )


def test_a_dial_that_a_requirement_uses_and_the_model_does_not_list() -> None:
    needed = Requirement(unlisted > 1, "give unlisted at least 2.")
    assert refused(lambda: model("small", Kept, (), (), (needed,))) == (
        "small uses the dial unlisted without listing it; add it to dials=.",
        0,
    )


def test_a_rule_about_another_state() -> None:
    assert refused(lambda: model("small", Small, (*DIALS, unlisted), (guarded,))) == (
        "the rule guarded is about Kept, not Small; declare both with one state.",
        0,
    )


def test_names_taken_twice() -> None:
    assert refused(lambda: model("small", Kept, (unlisted,), (guarded, guarded))) == (
        "small has two rules named guarded; give the second a name of its own.",
        0,
    )
    again = switch("unlisted", "the same name", default=True)
    assert refused(lambda: model("small", Kept, (unlisted, again), ())) == (
        "small has two dials named unlisted; give the second a name of its own.",
        0,
    )


def test_unknown_names_of_a_model() -> None:
    made = model("small", Small, DIALS, (spend,))
    for look, name, sentence in [
        (made.rule, "spendd", "there is no rule spendd; did you mean spend."),
        (
            made.field,
            "zzz",
            "there is no field zzz; there are colour, busy, level, lit, paint, load, turn, open, balance, extra.",
        ),
        (made.dial, "zzz", "there is no dial zzz; there are jobs, places, top, debt, strict, shade, weight, height."),
    ]:
        with pytest.raises(LanguageError) as error:
            look(name)
        assert str(error.value) == sentence
