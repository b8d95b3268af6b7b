"""The gate of the reductions: with them and without, a search comes to the same end.

Both at once, as the checker uses them: states up to renaming, and what nobody can read any more forgotten. To the end where
the unreduced world is small, up to a depth elsewhere. And the gate can fail: reductions that are wrong do not pass it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import pytest

import checker.search.explore
from checker.check import Options, WorldResult, check_world
from checker.search.explore import Exploration, explore
from checker.search.limits import Limits
from checker.search.symmetry import Symmetry
from checker.verdict import Verdict
from model.language.build import exists
from model.language.model import Model, forget
from model.language.terms import Term, lift
from model.lifecycle import LIFECYCLE
from model.lifecycle.content import holds_text
from model.lifecycle.dials import Block, Request, Slot, Worker
from model.lifecycle.state import Lifecycle, Phase
from model.lifecycle.terms import due
from model.readings.python import Machine
from specs.properties import PROPERTIES
from specs.worlds import world_files
from tests.search.running import CAUGHT, changed_by, fault_named, file_of, world_of

# Worlds with fewer than MANY states when nothing is joined and nothing forgotten, and those that take a second or two.
MANY = 150_000
SMALL = (
    "solo",
    "misfit",
    "solo-late",
    "solo-spare",
    "solo-overrun",
    "two-workers-ordered",
    "two-families-ordered",
    "solo-prefix",
    "crowded-no-preemption",
    "two-families",
    "late-commit-unordered",
    "solo-window",
    "ordered-publish-unordered",
    "shared-prefix-window",
    "crowded",
    "vllm-window",
    "vllm-sync",
)
QUICK = ("solo", "misfit", "solo-late", "solo-spare", "solo-overrun", "solo-prefix", "crowded-no-preemption")
DEPTH = 14


@dataclass(frozen=True)
class End:
    """What a search comes to, apart from how many states it took."""

    violated: dict[str, int]
    fired: frozenset[str]
    met: frozenset[str]
    stopped: str | None
    verdict: Verdict | None = None
    skipped: tuple[str, ...] = ()


def end(search: Exploration) -> End:
    """The properties with the lengths of their shortest traces, the rules that fired and the witnesses met."""
    violated = {f.property: f.depth for f in search.violations.values()}
    return End(violated, frozenset(r for r, n in search.fired.items() if n), frozenset(search.met), search.bound)


def checked_end(result: WorldResult) -> End:
    """The same of a whole check, with its verdict and the way home."""
    search = result.search
    assert isinstance(search, Exploration)
    plain = end(search)
    lengths = {t.shows: t.length for t in result.traces}
    return End(lengths, plain.fired, plain.met, plain.stopped, result.verdict, result.skipped)


def both_ways(name: str, fault: str | None = None, depth: int | None = None) -> list[WorldResult]:
    """The check with the reductions and without."""
    return [
        check_world(file_of(name), changed_by(fault), PROPERTIES, Options(Limits(depth=depth), reduction=on))
        for on in (True, False)
    ]


def size(result: WorldResult) -> int:
    assert isinstance(result.search, Exploration)
    return len(result.search.states)


def sized(names: Sequence[str]) -> list[Any]:
    return [name if name in QUICK else pytest.param(name, marks=pytest.mark.slow) for name in names]


# -------------------------------------------------------------------------------------------------- the gate
@pytest.mark.parametrize("name", sized(SMALL))
def test_small_worlds_end_alike(name: str) -> None:
    reduced, full = both_ways(name)
    assert checked_end(reduced) == checked_end(full)
    assert size(reduced) < size(full) < MANY
    assert checked_end(full).stopped is None


@pytest.mark.slow
@pytest.mark.parametrize("name", [name for name in world_files() if name not in SMALL])
def test_the_others_are_alike_up_to_a_depth(name: str) -> None:
    reduced, full = both_ways(name, depth=DEPTH)
    assert checked_end(reduced) == checked_end(full)
    assert size(reduced) < size(full)


@pytest.mark.parametrize(
    "fault", [pytest.param(f, marks=pytest.mark.slow) if n > 9 else f for f, (_, n) in CAUGHT.items()]
)
def test_faults_are_caught_alike(fault: str) -> None:
    """In the fault's own world, as deep as it takes to catch it; to the end if it takes a check of the way home."""
    caught_by, length = CAUGHT[fault]
    reduced, full = both_ways(fault_named(fault).world, fault, None if caught_by == "rest.way-home" else length)
    assert checked_end(reduced) == checked_end(full)
    assert checked_end(reduced).violated[caught_by] == length
    assert size(reduced) <= size(full)
    assert size(reduced) < size(full) or length <= 2  # two requests that differ, and hardly a step done


# -------------------------------------------------------------------------------------- the gate can be shut
def forgetting_unless(unless: Any) -> Model:
    (declared,) = LIFECYCLE.forgets
    changed = forget(declared.fields, unless, "wrong on purpose")
    return Model(LIFECYCLE.name, LIFECYCLE.state, LIFECYCLE.dials, LIFECYCLE.rules, LIFECYCLE.requirements, (changed,))


def never(s: Lifecycle, b: Block, w: Worker) -> Term:
    return lift(False)


def unless_used(s: Lifecycle, b: Block, w: Worker) -> Term:
    """What the lifecycle says, without the block's being published."""

    def reads(r: Request) -> Term:
        holds = (s.phase[r] == Phase.RUNNING) & (s.table[r, b] > 0) & holds_text(s, b, w, r, s.table[r, b])
        return holds | exists(Slot, lambda i: due(s, i, r) & (s.uses[i, r, b] > 0))

    return exists(Request, reads)


def test_forgetting_too_much_is_noticed() -> None:
    """Up to a depth, in a world where what is published is read again."""

    def ends(model: Model, forgetful: bool = True) -> End:
        machine = Machine(model, world_of("ordered-publish"), PROPERTIES, forgetful=forgetful)
        return end(explore(machine, limits=Limits(depth=DEPTH - 2)))

    kept = ends(LIFECYCLE, forgetful=False)
    assert ends(LIFECYCLE) == kept
    assert ends(forgetting_unless(never)) != kept
    assert ends(forgetting_unless(unless_used)) != kept


class Scrambled(Symmetry):
    """Sorts what each field says of the blocks by itself, and so forgets which of it belongs to one block."""

    def normal(self, state: Any) -> Any:
        result = list(super().normal(state))
        head, width = self.head, self.width
        for at in range(head, head + width):
            result[at::width] = sorted(result[at::width])
        return self.pack(result)


class Merged(Symmetry):
    """Takes requests for alike that are not: what their dials say is not looked at."""

    def _classes(self, index: Any) -> list[int]:
        return [0] * self.layout.sizes[index]


@pytest.mark.parametrize(("wrong", "name"), [(Scrambled, "pair"), (Merged, "misfit")])
def test_a_wrong_normal_form_is_noticed(wrong: type[Symmetry], name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    machine = Machine(LIFECYCLE, world_of(name), PROPERTIES)
    full = end(explore(machine, symmetry=False, limits=Limits(depth=DEPTH)))
    assert end(explore(machine, limits=Limits(depth=DEPTH))) == full
    monkeypatch.setattr(checker.search.explore, "Symmetry", wrong)
    assert end(explore(machine, limits=Limits(depth=DEPTH))) != full
