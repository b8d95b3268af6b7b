"""What a search may forget: gone after the step that made it unreadable, seen by the step itself, never a violation."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from checker.search.explore import explore
from model.language import LanguageError, Model, Rule, Term, forall, guard, model, number, rule, step
from model.language.model import forget
from model.readings.effects import forgotten
from model.readings.python import Beyond, Machine
from model.readings.world import world
from tests.language.small import DIALS, Job, Small, Who, top


@rule(by=Who.WORKER)
def work(now: Small, after: Small, j: Job) -> None:
    guard("room", now.level[j] < top)
    after.busy[j] = True
    after.level[j] = now.level[j] + 1


@rule(by=Who.WORKER)
def stop(now: Small, after: Small, j: Job) -> None:
    after.busy[j] = False


@rule(by=Who.WORKER)
def slip(now: Small, after: Small, j: Job) -> None:
    guard("one", now.level[j] == 1)
    after.busy[j] = False
    after.level[j] = now.level[j] - 5


def is_busy(s: Small, j: Job) -> Term:
    return s.busy[j]


IDLE = forget((Small.level,), is_busy, "the level of an idle job is set anew")


def made(*rules: Rule, forgets: bool = True) -> Model:
    return model("forgetful", Small, DIALS, rules, (), (IDLE,) if forgets else ())


def machine(declared: Model, forgetful: bool = True) -> Machine:
    return Machine(declared, world(declared, "here", {"jobs": 1, "places": 1}), [only_up], forgetful)


@step()
def only_up(before: Small, then: Small) -> Term:
    """The level never falls: seen before it is forgotten."""
    return forall(Job, lambda j: then.level[j] >= before.level[j])


def cells(tried: Machine, state: Sequence[int]) -> dict[str, int]:
    return {c.text: v for c, v in zip(tried.layout.cells, state, strict=True) if c.field.name in ("busy", "level")}


def test_levels_of_idle_jobs_are_forgotten() -> None:
    tried = machine(made(work, stop))
    found = explore(tried)
    assert [cells(tried, s) for s in found.states] == [
        {"busy[j0]": 0, "level[j0]": 0},
        {"busy[j0]": 1, "level[j0]": 1},
        {"busy[j0]": 1, "level[j0]": 2},
        {"busy[j0]": 1, "level[j0]": 3},
    ]
    assert found.violations == {}
    assert all(list(s) == forgotten(tried.layout, s) for s in found.states)


def test_nothing_is_forgotten_unless_it_is_wanted() -> None:
    for tried in (machine(made(work, stop), forgetful=False), machine(made(work, stop, forgets=False))):
        assert len(explore(tried).states) == 7


def test_what_leaves_its_bounds_is_not_forgotten() -> None:
    """A cell that leaves its bounds in the step that makes it unreadable has left them all the same."""
    tried = machine(made(work, slip))
    (after_work,) = [then for _, then, _ in tried.successors(tried.initial)]
    (slipped,) = [then for k, then, _ in tried.successors(after_work) if tried.instances[k].rule is slip]
    assert type(slipped) is Beyond
    assert cells(tried, slipped)["level[j0]"] == -4
    assert tried.violations(slipped) == {"bounds.level"}
    assert set(explore(tried).violations) == {"bounds.level", "test-forget.only-up"}
    assert set(explore(Machine(tried.model, tried.world)).violations) == {"bounds.level"}


unlisted = number("unlisted", "a dial that no model lists")


def unless_unlisted(s: Small, j: Job) -> Term:
    return s.busy[j] | (unlisted > 0)


def test_dials_of_what_is_forgotten_are_listed() -> None:
    later = forget((Small.level,), unless_unlisted, "nobody reads it")
    with pytest.raises(
        LanguageError, match=r"forgetful uses the dial unlisted without listing it; add it to dials=\.\Z"
    ):
        model("forgetful", Small, DIALS, (), (), (later,))
