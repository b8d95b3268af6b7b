"""Random walks: the same seed walks the same way, what is found is real, and nothing found means nothing."""

from __future__ import annotations

from dataclasses import replace

import pytest

from checker.check import Options, WorldResult, check_world
from checker.search.limits import INTERRUPT, Limits, Progress
from checker.search.simulate import LONGEST, Simulation, simulate
from checker.verdict import Verdict
from model.readings.effects import after, false_guards
from model.readings.python import Machine
from specs.faults import FAULTS
from specs.properties import PROPERTIES
from tests.search import toy
from tests.search.running import CAUGHT, changed_by, file_of, machine_of


def walked(world: str, fault: str | None, walks: int, seed: int = 0, limits: Limits = Limits()) -> WorldResult:
    return check_world(file_of(world), changed_by(fault), PROPERTIES, Options(limits, walks=walks, seed=seed))


def simulation(result: WorldResult) -> Simulation:
    assert isinstance(result.search, Simulation)
    return result.search


def events(result: WorldResult) -> dict[str, list[str]]:
    return {t.shows: [e.text for e in t.events] for t in result.traces}


def figures(result: WorldResult) -> tuple[int, int, int, int]:
    walks = simulation(result)
    return walks.walks, walks.transitions, walks.distinct, walks.longest


# ------------------------------------------------------------------------------------------------ repeatable
def test_one_seed_walks_one_way() -> None:
    first, again = (walked("pair", "notify-twice", 60, seed=7) for _ in range(2))
    assert figures(first) == figures(again)
    assert events(first) == events(again)
    assert first.violated


def test_another_seed_walks_another_way() -> None:
    assert figures(walked("pair", None, 20, seed=1)) != figures(walked("pair", None, 20, seed=2))


# ------------------------------------------------------------------------------------------------- what it finds
def test_it_finds_the_second_terminal_message() -> None:
    result = walked("pair", "notify-twice", 100)
    assert result.verdict is Verdict.VIOLATED
    assert "delivery.message-once" in result.violated


@pytest.mark.parametrize(
    "fault", [f.name for f in FAULTS if f.caught_by != "rest.way-home" and CAUGHT[f.name][1] <= 12]
)
def test_it_finds_every_fault_that_is_near(fault: str) -> None:
    """Walks judge states, steps and dead ends. Whether there is a way home, they cannot see; what is far, they may miss."""
    seeded = next(f for f in FAULTS if f.name == fault)
    assert any(seeded.caught_by in walked(seeded.world, fault, number).violated for number in (300, 3000))


def test_it_finds_dead_ends() -> None:
    properties = [toy.rests_lit, toy.some_light, toy.stays_burnt]
    found = simulate(Machine(toy.TOY, toy.lamps(1), properties), walks=50, seed=0).found
    assert set(found) == {"toy.rests-lit", "toy.some-light"}


def test_what_it_finds_is_a_run_of_the_interpreter() -> None:
    for trace in walked("pair", "abort-releases-at-once", 400).traces:
        layout = trace.layout
        assert trace.states[0] == layout.initial
        for event, before, then in zip(trace.events, trace.states, trace.states[1:], strict=False):
            rule = trace.model.rule(event.rule)
            assert not false_guards(layout, rule, event.at, before)
            assert tuple(after(layout, rule, event.at, before)) == then


# ------------------------------------------------------------------------------------------------- no verdict
@pytest.mark.parametrize("world", ["solo", "pair", "crowded-no-preemption"])
def test_walks_that_find_nothing_show_nothing(world: str) -> None:
    result = walked(world, None, 50)
    assert result.violated == ()
    assert result.verdict is Verdict.UNDETERMINED
    assert result.search.bound == "50 random walks"


def test_walks_that_find_what_a_world_expects_do_not_hold_either() -> None:
    file = replace(file_of("crowded-no-preemption", cancellation=False), expect=("rest.no-dead-end",))
    result = check_world(file, changed_by(), PROPERTIES, Options(walks=300))
    assert result.violated == ("rest.no-dead-end",)
    assert result.verdict is Verdict.UNDETERMINED
    assert not result.as_expected


@pytest.mark.parametrize(
    ("limits", "words"),
    [(Limits(seconds=1e-9), "1e-09 s"), (Limits(states=50), "50 states"), (Limits(memory=1), "1 MB of memory")],
)
def test_a_bound_ends_the_walks_and_is_named(limits: Limits, words: str) -> None:
    result = walked("pair", None, 10_000, limits=limits)
    assert result.search.bound == words
    assert simulation(result).walks < 10_000
    assert result.verdict is Verdict.UNDETERMINED


def test_a_walk_ends_after_the_longest_length() -> None:
    # A lamp that does not burn can be switched for ever.
    switches = Machine(replace(toy.TOY, rules=(toy.switch_on, toy.switch_off)), toy.lamps(1))
    found = simulate(switches, walks=2, seed=0)
    assert found.longest == LONGEST
    assert found.transitions == 2 * LONGEST
    assert found.distinct == 2


def test_ctrl_c_keeps_what_was_found() -> None:
    def press(progress: Progress) -> None:
        if progress.states > 2000:
            raise KeyboardInterrupt

    result = check_world(file_of("pair"), changed_by("notify-twice"), PROPERTIES, Options(walks=100_000), press)
    assert result.search.bound == INTERRUPT
    assert result.verdict is Verdict.VIOLATED
    assert "delivery.message-once" in result.violated
    machine = machine_of("pair")
    sound = simulate(machine, 100_000, 0, observe=press)
    assert (sound.bound, sound.found) == (INTERRUPT, {})
