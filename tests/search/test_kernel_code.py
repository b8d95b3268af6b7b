"""However the compiled search is compiled and run, it comes to the same end: wide lanes, another processor, threads, rounds."""

from __future__ import annotations

import pytest

from checker.search.choose import Explorer
from checker.search.kernel import binding, compiler
from checker.search.kernel import search as kernel
from checker.search.limits import Limits
from checker.verdict import Unusable
from model.language import State, Term, exists, forall, guard, model, number, prop, rule, scalar, step, upto
from model.lifecycle import LIFECYCLE
from model.lifecycle.dials import Request
from model.lifecycle.state import Lifecycle
from model.readings.python import Machine
from model.readings.world import world
from specs.properties import PROPERTIES
from tests.search import toy
from tests.search.running import machine_of, world_of
from tests.search.test_kernel import BOTH, compare, end


class Wide(State):
    """A number that may be larger than an int in C can say."""

    x = scalar(upto(3))


top = number("top", "a factor", low=1)


@rule(by=toy.Anyone.ANYONE)
def count_up(now: Wide, after: Wide) -> None:
    guard("below", now.x * top * top < 3 * top * top)
    after.x = now.x + 1


WIDE = model("wide", Wide, (top,), (count_up,))


@pytest.mark.parametrize(("factor", "lane"), [(6, "int8_t"), (100, "int16_t"), (20_000, "int32_t")])
def test_lanes_are_as_wide_as_the_numbers_ask(factor: int, lane: str) -> None:
    found = compare(Machine(WIDE, world(WIDE, "wide", {"top": factor}), ()))
    assert found.handle.code.functions.lane == lane


@pytest.mark.parametrize(
    ("value", "said"), [(20_000, ""), (1_000_000, "by python, since a number of the rules may become")]
)
def test_a_number_that_does_not_fit_is_left_to_python(value: int, said: str) -> None:
    machine = Machine(WIDE, world(WIDE, "wide", {"top": value}), ())
    found = Explorer().explore(machine)
    assert len(found.states) == 4
    assert found.searched.startswith(said)
    assert isinstance(found, kernel.Compiled) == (said == "")
    if said:
        with pytest.raises(Unusable, match="--search kernel cannot be used for wide: a number of the rules"):
            Explorer("kernel").explore(machine)


@BOTH
def test_code_for_any_processor_comes_to_the_same_end(symmetry: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    """Here it is compiled for this processor; elsewhere its vectors are shorter, and lines are looked at in other ways."""
    monkeypatch.setattr(compiler, "_processor", lambda: "")
    binding.engine.cache_clear()
    compare(machine_of("solo"), symmetry)
    compare(machine_of("solo-prefix", "publish-beyond-prefix"), symmetry)
    compare(Machine(WIDE, world(WIDE, "wide", {"top": 100}), ()), symmetry)
    binding.engine.cache_clear()


@prop(rule="tests", reason="Violated many times, in a level that threads share.")
def somebody_waits(s: Lifecycle) -> Term:
    """A request's client has nothing yet."""
    return exists(Request, lambda r: s.delivered[r] == 0)


@step(rule="tests", reason="The same, of steps.")
def nobody_is_last(before: Lifecycle, then: Lifecycle) -> Term:
    """No step gives the last client its first token."""
    return exists(Request, lambda r: then.delivered[r] == 0) | forall(Request, lambda r: before.delivered[r] > 0)


@BOTH
def test_how_many_threads_there_are_changes_nothing(symmetry: bool) -> None:
    """Not even which of several shortest ways is taken, to states and to what they violate."""
    machine = Machine(LIFECYCLE, world_of("pair"), (*PROPERTIES, somebody_waits, nobody_is_last))
    code = kernel.Code(machine, symmetry)
    one, *others = (kernel.explore(machine, symmetry, code=code, threads=n) for n in (1, 2, 3, *[8] * 6))
    assert len(one.violations) == 2
    assert all(f.source > 5_000 for f in one.violations.values())
    for other in others:
        assert end(other) == end(one)
        assert other.violations == one.violations
        for what in ("parents", "via", "first_edge", "targets", "taken"):
            assert getattr(other, what) == getattr(one, what)
        assert other.states.words == one.states.words  # type: ignore[attr-defined]


def test_a_level_is_one_round_or_many() -> None:
    """What is found first does not depend on where a bound on states cuts the rounds."""
    whole = kernel.explore(machine_of("pair"))
    cut = kernel.explore(machine_of("pair"), limits=Limits(states=50_000))
    assert 40_000 < len(cut.parents) < len(whole.parents)
    assert list(cut.parents) == list(whole.parents[: len(cut.parents)])
    assert list(cut.via) == list(whole.via[: len(cut.via)])
