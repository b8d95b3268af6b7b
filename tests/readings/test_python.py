"""The generated source: it shows in tracebacks, its names are its own, and it counts and explores exactly."""

from __future__ import annotations

import linecache
import traceback
from typing import Any

import pytest

from checker.search.explore import explore
from checker.search.symmetry import Symmetry
from model.language import (
    Model,
    State,
    Term,
    at_rest,
    every,
    exists,
    flag,
    forall,
    guard,
    model,
    prop,
    rule,
    scalar,
    step,
    upto,
)
from model.language.terms import Moment
from model.readings.effects import after, false_guards, moves
from model.readings.layout import Layout
from model.readings.python import Beyond, Machine
from model.readings.world import world
from tests.language.small import DIALS, Amount, Colour, Job, Place, Small, Who, debt, strict, top


@rule(by=Who.WORKER)
def earn(now: Small, after: Small, j: Job) -> None:
    guard("room", now.balance < top)
    guard("ready", now.busy[j])
    after.balance = now.balance + 1
    after.busy[j] = False


@rule(by=Who.WORKER)
def ready(now: Small, after: Small, j: Job) -> None:
    guard("idle", ~now.busy[j])
    after.busy[j] = True


@rule(by=Who.WORKER)
def spend(now: Small, after: Small) -> None:
    guard("not-below", now.balance > 0 - debt)
    after.balance = now.balance - 1
    for p in every(Place):
        after.lit[p] = now.balance == 0


WALLET = model("wallet", Small, DIALS, (earn, ready, spend))


def machine(declared: Model, *properties: Any, **dials: Any) -> Machine:
    return Machine(declared, world(declared, "here", {"jobs": 2, "places": 1, **dials}), properties)


def interpreted(layout: Layout) -> set[tuple[int, ...]]:
    """Every reachable state, found without any generated source."""
    found = {layout.initial}
    todo = [layout.initial]
    while todo:
        state = todo.pop()
        for declared, at in moves(layout):
            if not false_guards(layout, declared, at, state):
                then = tuple(after(layout, declared, at, state))
                if then not in found:
                    found.add(then)
                    todo.append(then)
    return found


# -------------------------------------------------------------------------------------------- exploration
@pytest.mark.parametrize(
    ("dials", "kind", "states"),
    [
        ({"top": 3}, bytes, 4 * 2 * 2 * 2),
        ({"top": 3, "debt": 2}, tuple, 44),  # at -2 the place is never lit
        ({"top": 254}, bytes, 255 * 2 * 2 * 2),  # load may be one more than the top
        ({"top": 255}, tuple, 256 * 2 * 2 * 2),
    ],
)
def test_states_are_bytes_where_they_fit_and_tuples_elsewhere(dials: dict[str, int], kind: type, states: int) -> None:
    tried = machine(WALLET, **dials)
    assert type(tried.initial) is kind
    found = explore(tried, symmetry=False)
    assert {type(s) for s in found.states} == {kind}
    assert {tuple(s) for s in found.states} == interpreted(tried.layout)
    assert len(found.states) == states


@pytest.mark.parametrize("debt_here", [0, 2])
def test_renaming_keeps_bytes_and_tuples_apart(debt_here: int) -> None:
    tried = machine(WALLET, debt=debt_here)
    reduced = explore(tried)
    symmetry = Symmetry(tried.layout, tried.pack)
    every = {renamed(s) for s in reduced.states for renamed in symmetry.renamings()}
    assert {type(s) for s in every} == {type(tried.initial)}
    assert every == set(explore(machine(WALLET, debt=debt_here), symmetry=False).states)
    assert len(reduced.states) < len(every)


class Named(State):
    """Cells called like what generated source could call its own."""

    s = scalar(upto(2))
    t = scalar(upto(2))
    k = scalar(flag)
    out = scalar(upto(2))
    bad = scalar(flag)
    fired = scalar(flag)
    sole = scalar(flag)
    copy = scalar(flag)
    OK = scalar(flag)
    Beyond = scalar(flag)
    int = scalar(flag)
    number = scalar(flag)
    holds = scalar(flag)
    s_then = scalar(flag)


@rule(by=Who.WORKER)
def count_up(now: Named, after: Named) -> None:
    guard("below", now.s < 2)
    after.s = now.s + 1
    after.t = now.s
    after.out = now.t
    after.s_then = now.s == 1


@rule(by=Who.WORKER)
def set_all(now: Named, after: Named) -> None:
    guard("top", now.s == 2)
    for name in ("k", "bad", "fired", "sole", "copy", "OK", "Beyond", "int", "number", "holds"):
        setattr(after, name, ~getattr(now, name))


@step()
def counts_only_up(before: Named, then: Named) -> Term:
    return (then.s >= before.s) & ((then.holds == before.holds) | (before.s == 2))


def test_names_of_cells_are_not_those_of_the_source() -> None:
    declared = model("named", Named, (), (count_up, set_all))
    tried = Machine(declared, world(declared, "here", {}), [counts_only_up])
    found = explore(tried)
    assert [tuple(s) for s in found.states] == [
        (0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0),
        (1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0),
        (2, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1),
        (2, 1, 1, 0, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1),
    ]
    assert {tuple(s) for s in found.states} == interpreted(tried.layout)
    assert found.violations == {}
    assert (tried.fired, tried.sole) == ([2, 2], [2, 2])


# ------------------------------------------------------------------------------------------------ counting
@rule(by=Who.WORKER)
def fill(now: Small, after: Small) -> None:
    guard("room", now.balance < 2)
    guard("shut", ~now.open)
    after.balance = now.balance + 1


@rule(by=Who.WORKER)
def turn(now: Small, after: Small) -> None:
    after.open = ~now.open


@rule(by=Who.WORKER)
def never(now: Small, after: Small) -> None:
    guard("strict", strict)
    guard("shut", ~now.open)
    guard("full", now.balance == 2)
    after.turn = Colour.RED


@rule(by=Who.WORKER, needs=strict)
def absent(now: Small, after: Small) -> None:
    guard("shut", ~now.open)
    after.open = True


def test_steps_and_guards_that_alone_are_false_are_counted() -> None:
    """Six states: a balance of 0, 1 or 2, open or not. By hand:

    fill fires at 0 and 1 while shut; only its room is false at 2 while shut, only its shut at 0 and 1 while open.
    never has strict false everywhere: alone at 2 while shut, and nowhere is another guard alone.
    """
    tried = machine(model("door", Small, DIALS, (fill, turn, never, absent)), jobs=1)
    found = explore(tried)
    assert len(found.states) == 6
    assert found.fired == {"fill": 2, "turn": 6, "never": 0}
    assert found.sole == {"fill.room": 1, "fill.shut": 2, "never.strict": 1, "never.shut": 0, "never.full": 0}
    assert found.transitions == 8


def test_a_rule_whose_needs_are_off_has_no_instances() -> None:
    declared = model("door", Small, DIALS, (fill, absent))
    assert [i.text for i in machine(declared, strict=False).instances] == ["fill"]
    assert [i.text for i in machine(declared, strict=True).instances] == ["fill", "absent"]


# ---------------------------------------------------------------------------------------------- properties
@prop()
def never_full(s: Small) -> Term:
    return s.balance < 2


@prop(needs=strict)
def always_strict(s: Small) -> Term:
    return strict & ~strict


@step()
def by_one(before: Small, then: Small) -> Term:
    return (then.balance - before.balance <= 1) & forall(Job, lambda j: then.level[j] == before.level[j])


@at_rest(apart_from=(turn,))
def rests_full(s: Small) -> Term:
    return s.balance == 2


@rule(by=Who.WORKER)
def jump(now: Small, after: Small) -> None:
    guard("one", now.balance == 1)
    after.balance = now.balance + 2


@rule(by=Who.WORKER)
def sink(now: Small, after: Small, j: Job, n: Amount) -> None:
    guard("most", n == top)
    guard("some", exists(Place, lambda p: now.lit[p]))
    after.level[j] = now.level[j] - n


def test_violations_are_found_where_they_happen() -> None:
    declared = model("door", Small, DIALS, (fill, turn, jump, sink))
    tried = machine(declared, never_full, always_strict, by_one, rests_full, jobs=1)
    assert [p.name for p in tried.properties] == [
        "test-python.never-full",
        "test-python.by-one",
        "test-python.rests-full",
    ]
    found = {tried.instances[k].text: (then, bad) for k, then, bad in tried.successors(tried.initial)}
    assert list(found) == ["fill", "turn", "sink(j0, 3)"]
    assert [tried.violations(then, bad) for then, bad in found.values()] == [
        set(),
        set(),
        {"test-python.by-one", "bounds.level"},
    ]
    assert [type(then) is Beyond for then, _ in found.values()] == [False, False, True]
    explored = explore(tried)
    # rests-full says something where nothing but turn is enabled, which sink never lets happen.
    assert {f.property: (f.depth, f.instance is None) for f in explored.violations.values()} == {
        "test-python.never-full": (2, True),
        "test-python.by-one": (1, False),
        "bounds.level": (1, False),
    }


def test_a_term_as_a_function() -> None:
    tried = machine(WALLET, jobs=1)
    before, then = Small(Moment.NOW), Small(Moment.THEN)
    less = tried.predicate(then.balance < before.balance)
    place = [c.text for c in tried.layout.cells].index("balance")
    rich = tried.pack(2 if p == place else v for p, v in enumerate(tried.initial))
    assert [less(a, b) for a in (tried.initial, rich) for b in (tried.initial, rich)] == [False, False, True, False]
    assert tried.predicate(before.balance == 2)(rich) is True


# ---------------------------------------------------------------------------------------------- tracebacks
def test_the_source_shows_in_a_traceback() -> None:
    """A state that cannot be compared makes a guard fail; the traceback shows the guard."""
    tried = machine(WALLET, jobs=1)
    broken = ["?" if c.field.name == "balance" else 0 for c in tried.layout.cells]
    with pytest.raises(TypeError) as error:
        tried.successors(broken)
    text = "".join(traceback.format_exception(error.value))
    assert f'File "<python reading of wallet in here at {id(tried):x}>", line 5, in successors' in text
    assert "\n    if balance_ < 3:\n" in text


def test_two_machines_show_their_own_source() -> None:
    one, two = machine(WALLET, top=3), machine(WALLET, top=4)
    files = [m.successors.__code__.co_filename for m in (one, two)]
    assert files[0] != files[1]
    assert ["".join(linecache.getlines(f)) for f in files] == [one.source, two.source]
    linecache.checkcache()
    assert linecache.getline(files[1], 5) == "    if balance_ < 4:\n"


def test_the_source_reads_like_the_rule() -> None:
    found = machine(WALLET, jobs=1).source.splitlines()
    start = found.index("    # earn(j0)")
    assert found[start : start + 14] == [
        "    # earn(j0)",
        "    if balance_ < 3:",
        "        if busy_j0:",
        "            fired[0] += 1",
        "            balance__then = balance_ + 1",
        "            busy_j0_then = 0",
        "            t = copy(s) if 0 <= balance__then <= 3 else Beyond(s)",
        "            t[4] = balance__then",
        "            t[6] = busy_j0_then",
        "            out.append((0, t, OK))",
        "        else:",
        "            sole[1] += 1",
        "    elif busy_j0:",
        "        sole[0] += 1",
    ]
