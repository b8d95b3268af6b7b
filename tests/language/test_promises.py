"""Promises: declared once as data, refused where they cannot be meant; and the edits that make a policy."""

from __future__ import annotations

import pytest

from model.language import (
    LanguageError,
    Promise,
    Property,
    Shape,
    Term,
    field,
    flag,
    guard,
    leads_to,
    model,
    rule,
)
from model.language.edits import Extend, Fair, Widen, changed
from tests.language.refusal import refused
from tests.language.small import DIALS, Amount, Job, Place, Small, Who


@rule(by=Who.WORKER, fair=True)
def finish(now: Small, after: Small, j: Job) -> None:
    """The job is done."""
    guard("busy", now.busy[j])
    after.busy[j] = False


@rule(by=Who.WORKER)
def start(now: Small, after: Small, j: Job) -> None:
    """The job begins."""
    guard("idle", ~now.busy[j])
    after.busy[j] = True


@rule(by=Who.WORKER, fair=True)
def turn_off(now: Small, after: Small) -> None:
    """All is closed."""
    guard("open", now.open)
    after.open = False


SMALL = model("small", Small, DIALS, (start, finish, turn_off))


@leads_to(alone=(finish,), rule="ours", reason="For the tests.", catches=("idle",))
def busy_ends(s: Small, j: Job) -> tuple[Term, Term]:
    """A busy job is idle in the end."""
    return s.busy[j], ~s.busy[j]


def made(declared: Property) -> Promise:
    assert declared.promise is not None
    return declared.promise


def test_what_is_declared_is_data() -> None:
    assert (busy_ends.name, busy_ends.shape, busy_ends.state) == ("test-promises.busy-ends", Shape.LEADS, Small)
    assert (busy_ends.doc, busy_ends.rule, busy_ends.catches) == ("A busy job is idle in the end.", "ours", ("idle",))
    promise = made(busy_ends)
    assert [v.name for v in promise.members] == ["j"]
    assert (str(promise.premise), str(promise.goal)) == ("busy[j]", "~busy[j]")
    assert (promise.alone, promise.by) == (("finish",), ())


def test_no_promise_is_open_where_the_term_holds_and_some_is_where_the_witness_does() -> None:
    assert str(busy_ends.term) == "forall(Job j: ~busy[j] | ~busy[j])"
    assert str(busy_ends.witness) == "exists(Job j: busy[j] & ~~busy[j])"


def test_a_promise_may_be_about_no_member_or_about_several() -> None:
    def closes(s: Small) -> tuple[Term, Term]:
        return s.open, ~s.open

    def carries(s: Small, p: Place, j: Job) -> tuple[Term, Term]:
        return s.busy[j], s.load[p, j] == 0

    none, both = leads_to(by=(turn_off,))(closes), leads_to()(carries)
    assert (made(none).members, made(none).by) == ((), ("turn_off",))
    assert str(none.term) == "~open | ~open"
    assert [v.domain for v in made(both).members] == [Place, Job]
    assert str(both.term) == "forall(Place p: forall(Job j: ~busy[j] | (load[p, j] == 0)))"


def test_what_is_no_promise_is_refused() -> None:
    def no_state(j: Job) -> tuple[Term, Term]:
        raise AssertionError

    def of_numbers(s: Small, n: Amount) -> tuple[Term, Term]:
        raise AssertionError

    for function in (no_state, of_numbers):
        assert refused(lambda function=function: leads_to()(function))[0] == (  # type: ignore[misc]
            f"{function.__name__} is a promise; it takes (s: YourState) and members, such as (s, r: Request)."
        )

    def one(s: Small, j: Job) -> Term:
        return s.busy[j]

    assert refused(lambda: leads_to()(one))[0].endswith("; return two conditions, premise and goal.")  # type: ignore[arg-type]


def test_only_fair_rules_of_the_same_members_can_keep_it() -> None:
    def ends(s: Small, j: Job) -> tuple[Term, Term]:
        return s.busy[j], ~s.busy[j]

    said = "alone= names start, which is not fair, so it promises nothing; name fair rules."
    assert refused(lambda: leads_to(alone=(start,)))[0] == said
    for others in ({"alone": (turn_off,)}, {"by": (turn_off,)}):
        assert refused(lambda others=others: leads_to(**others)(ends))[0] == (  # type: ignore[misc]
            "test-promises.ends names turn_off, whose parameters are not its own; they must be the same."
        )


# ------------------------------------------------------------------------------------------------- a policy's edits
class Watched(Small):
    seen = field(flag, Job, doc="somebody has looked at the job")


def looks(now: Watched, after: Watched, j: Job) -> None:
    guard("unseen", ~now.seen[j])
    after.seen[j] = True


def test_a_rule_is_made_fair_and_is_otherwise_the_same() -> None:
    new = changed(SMALL, Fair("start"))
    assert new.rule("start").fair
    assert not SMALL.rule("start").fair
    assert new.rule("start").guards == SMALL.rule("start").guards
    assert new.rule("finish") is SMALL.rule("finish")
    assert str(Fair("start")) == "start made fair"


def test_a_wider_state_has_the_same_fields_and_more_and_rules_may_use_them() -> None:
    new = changed(SMALL, Widen(Watched), Extend("finish", looks))
    assert new.state.fields()[:-1] == SMALL.state.fields()
    assert new.state.fields()[-1] is Watched.seen
    assert {r.state for r in new.rules} == {Watched}
    assert [g.name for g in new.rule("finish").guards] == ["busy", "unseen"]
    assert "seen" in new.rule("finish").writes()
    assert SMALL.state is Small
    assert {r.state for r in SMALL.rules} == {Small}


def test_an_extension_needs_the_wider_state_first() -> None:
    with pytest.raises(LanguageError, match="Small has no field seen"):
        changed(SMALL, Extend("finish", looks))


def test_a_state_that_is_no_wider_one_is_refused() -> None:
    class Other(Watched):
        other = field(flag, Job, doc="something else")

    class Apart(Small):
        apart = field(flag, Job, doc="something apart")

    with pytest.raises(LanguageError, match=r"Apart is no Watched; declare it as a subclass of that\."):
        changed(SMALL, Widen(Watched), Widen(Apart))
    assert changed(SMALL, Widen(Watched), Widen(Other)).state is Other


def test_an_unknown_rule_is_not_made_fair() -> None:
    with pytest.raises(LanguageError, match="there is no rule finnish; did you mean finish"):
        changed(SMALL, Fair("finnish"))
