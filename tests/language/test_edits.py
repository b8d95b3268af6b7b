"""A change does what it says to one part, leaves the model it was given alone, and knows the names of the parts."""

from __future__ import annotations

import pytest

from model.language import LanguageError, Model, Rule, State, Term, every, exists, guard, model, note, rule
from model.language.edits import Change, Drop, Extend, Replace, changed, parts, rule_name
from model.language.rules import Guard, Update
from model.language.terms import Range
from tests.language.machines import changes
from tests.language.small import DIALS, Amount, Job, Place, Small, Who


@rule(by=Who.WORKER)
def start(now: Small, after: Small, j: Job, n: Amount) -> None:
    guard("idle", ~now.busy[j])
    guard("enough", n <= now.balance)
    note("left", now.balance - n)
    after.busy[j] = True
    after.balance = now.balance - n


@rule(by=Who.WORKER)
def clear(now: Small, after: Small) -> None:
    guard("open", now.open)
    for p in every(Place):
        for j in every(Job):
            after.load[p, j] = 0
    after.lit[Place.first()] = False
    after.lit[Place.first().next] = False


SMALL = model("small", Small, DIALS, (start, clear))


def guards(found: Rule) -> list[tuple[str, str]]:
    return [(g.name, str(g.condition)) for g in found.guards]


def updates(found: Rule) -> list[tuple[str, str]]:
    return [(name, str(u.value)) for name, u in zip(found.update_names(), found.updates, strict=True)]


def everything(made: Model) -> list[tuple[object, ...]]:
    return [(r.name, guards(r), updates(r), [str(n.value) for n in r.notes]) for r in made.rules]


def untouched(change: Change) -> Model:
    """The changed model, after a look at the one it was made from and at the rules that were not meant."""
    before = everything(SMALL)
    made = changed(SMALL, change)
    assert everything(SMALL) == before
    assert [r.name for r in made.rules] == ["start", "clear"]
    assert (made.name, made.state, made.dials) == (SMALL.name, SMALL.state, SMALL.dials)
    assert len([r for r, old in zip(made.rules, SMALL.rules, strict=True) if r is old]) == 1
    return made


def test_parts() -> None:
    assert parts(start) == ("start.idle", "start.enough", "start/busy", "start/balance")
    assert parts(clear) == ("clear.open", "clear/load", "clear/lit[p0]", "clear/lit[p0.next]")


def test_drop_a_guard() -> None:
    made = untouched(Drop("start.enough")).rule("start")
    assert guards(made) == [("idle", "~busy[j]")]
    assert updates(made) == updates(start)
    assert made.notes == start.notes


@pytest.mark.parametrize(("part", "left"), [("clear/lit[p0]", 2), ("clear/lit[p0.next]", 2), ("clear/load", 2)])
def test_drop_an_update(part: str, left: int) -> None:
    made = untouched(Drop(part)).rule("clear")
    kept = [u for name, u in zip(clear.update_names(), clear.updates, strict=True) if name != part]
    assert list(made.updates) == kept
    assert len(kept) == left
    assert made.guards == clear.guards


def test_replace_a_guard() -> None:
    def poor(now: Small, j: Job, n: Amount) -> Term:
        return (n > now.balance) | exists(Job, lambda k: (k != j) & now.busy[k])

    made = untouched(Replace("start.enough", poor)).rule("start")
    assert guards(made) == [("idle", "~busy[j]"), ("enough", "(n > balance) | exists(Job k: (k != j) & busy[k])")]
    assert [type(g) for g in made.guards] == [Guard, Guard]
    assert updates(made) == updates(start)


def test_replace_an_update() -> None:
    made = untouched(Replace("start/balance", lambda now, j, n: now.balance + now.level[j])).rule("start")
    assert updates(made) == [("start/busy", "True"), ("start/balance", "balance + level[j]")]
    assert guards(made) == guards(start)
    assert changes(made, (0, 3), {"balance": 1, "level[j0]": 2}) == {"busy[j0]": 1, "balance": 3}


def test_replace_an_update_that_ranges_over_indices() -> None:
    """The variables of the loops follow the parameters, the outer loop first."""
    made = untouched(Replace("clear/load", lambda now, p, j: now.load[p.next, j] + 1)).rule("clear")
    assert [type(u) for u in made.updates] == [Update, Update, Update]
    assert updates(made)[0] == ("clear/load", "load[p.next, j] + 1")
    cells = {"load[p0, j0]": 0, "load[p1, j0]": 2, "load[p0, j1]": 3, "load[p1, j1]": 0, "lit[p0]": 0, "lit[p1]": 0}
    assert changes(made, (), cells, places=2) == {
        "load[p0, j0]": 3,
        "load[p0, j1]": 1,
        "load[p1, j1]": 2,  # past the end it reads 1
    }


def test_a_value_that_python_gives() -> None:
    made = untouched(Replace("start.enough", lambda now, j, n: True))
    assert guards(made.rule("start"))[1] == ("enough", "True")


def test_extend_a_rule() -> None:
    def more(now: Small, after: Small, j: Job, n: Amount) -> None:
        guard("open", now.open)
        note("level", now.level[j])
        after.level[j] = n
        for p in every(Place):
            after.load[p, j] = n

    made = untouched(Extend("start", more)).rule("start")
    assert guards(made) == [*guards(start), ("open", "open")]
    assert updates(made) == [*updates(start), ("start/level", "n"), ("start/load", "n")]
    assert [n.name for n in made.notes] == ["left", "level"]
    assert [v for u in made.updates for v in u.bound if issubclass(v.domain, Range)] == []
    assert changes(made, (1, 2), {"balance": 3}, places=1) == {
        "busy[j1]": 1,
        "balance": 1,
        "level[j1]": 2,
        "load[p0, j1]": 2,
    }


def test_changes_follow_one_another() -> None:
    made = changed(
        SMALL,
        Drop("start.idle"),
        Extend("start", lambda now, after, j, n: guard("idle", now.busy[j])),
        Replace("start.idle", lambda now, j, n: now.open),
        Drop("clear/load"),
    )
    assert guards(made.rule("start")) == [("enough", "n <= balance"), ("idle", "open")]
    assert len(made.rule("clear").updates) == 2


def test_no_change_is_the_model_itself() -> None:
    assert changed(SMALL) is SMALL


def test_what_a_change_says_of_itself() -> None:
    assert str(Drop("start.idle")) == "without start.idle"
    assert str(Replace("start.idle", lambda now, j, n: True)) == "start.idle replaced"
    assert str(Extend("start", lambda now, after, j, n: None)) == "start extended"


PARTS = "there are start.idle, start.enough, start/busy, start/balance."


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        (Drop("start.idel"), "start has no part start.idel; did you mean start.idle."),
        (Drop("start/blance"), "start has no part start/blance; did you mean start/balance."),
        (Drop("clear/lit"), "clear has no part clear/lit; did you mean clear/lit[p0]."),
        (Drop("start.x"), "start has no part start.x; did you mean start.idle."),
        (Drop("strat.idle"), "there is no rule strat; did you mean start."),
        (Drop("release.unpinned"), "there is no rule release; did you mean clear."),
        (Drop("zzz.idle"), "there is no rule zzz; there are start, clear."),
        (Drop("start"), "start names no part of a rule; write RULE.GUARD or RULE/FIELD."),
        (Replace("start.enuogh", lambda now, j, n: True), "start has no part start.enuogh; did you mean start.enough."),
        (Extend("clera", lambda now, after: None), "there is no rule clera; did you mean clear."),
    ],
)
def test_unknown_parts(change: Change, sentence: str) -> None:
    with pytest.raises(LanguageError) as error:
        changed(SMALL, change)
    assert str(error.value) == sentence


def refusal(change: Change) -> str:
    with pytest.raises(LanguageError) as error:
        changed(SMALL, change)
    return str(error.value)


def test_a_replacement_of_another_sort() -> None:
    assert refusal(Replace("start.idle", lambda now, j, n: n)).endswith(
        ": start.idle takes Bool, but (n) is Int; give it a term of sort Bool."
    )
    assert refusal(Replace("start/busy", lambda now, j, n: 1)).endswith(
        ": start/busy takes Bool, but (1) is Int; give it a term of sort Bool."
    )


def test_an_extension_may_not_write_again() -> None:
    def again(now: Small, after: Small, j: Job, n: Amount) -> None:
        after.balance = 0

    assert f"start may write the same cell of balance twice, here and at {start.updates[1].where};" in refusal(
        Extend("start", again)
    )
    assert "start has two guards named idle;" in refusal(Extend("start", lambda now, after, j, n: guard("idle", True)))


def test_the_rule_of_a_part() -> None:
    assert rule_name("start.idle") == rule_name("start/busy") == "start"
    assert rule_name("clear/lit[p0.next]") == "clear"


def test_the_state_that_a_replacement_is_given_is_only_read() -> None:
    def write(now: State, j: Job, n: Amount) -> Term:
        now.open = True
        raise AssertionError("not reached")

    assert "this state is only read; write after.open = value in a rule." in refusal(Replace("start.idle", write))
