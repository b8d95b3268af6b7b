"""The explorer: what it counts, what it finds, and that a bound never makes it claim more than it saw."""

from __future__ import annotations

import itertools
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from checker.check import Options, check_world
from checker.search.explore import Exploration, explore
from checker.search.home import lost
from checker.search.limits import INTERRUPT, Limits, Progress
from checker.verdict import Verdict
from checker.worlds import find
from model.language.properties import Property
from model.lifecycle import LIFECYCLE
from model.readings.python import Machine
from specs.faults import FAULTS
from specs.properties import PROPERTIES
from tests.search import toy
from tests.search.running import changed_by, file_of, machine_of, world_of
from tests.search.second import Rules, lost_after
from tests.search.states import walked

SAFE: tuple[Property, ...] = (toy.stays_burnt, toy.all_lit)
ALL: tuple[Property, ...] = (*SAFE, toy.some_light, toy.rests_lit, toy.can_be_dark)


def lamps(count: int, *properties: Property) -> Machine:
    return Machine(toy.TOY, toy.lamps(count), properties)


# --------------------------------------------------------------------------------------------- done by hand
def test_one_lamp() -> None:
    found = explore(lamps(1, *SAFE))
    assert (len(found.states), found.transitions, found.depth) == (3, 3, 2)
    assert found.complete
    assert found.violations == {}
    assert found.fired == {"switch_on": 1, "switch_off": 1, "burn": 1}


def test_a_guard_counts_where_it_alone_is_false() -> None:
    # switch_on has one guard, false when on and when burnt. burn has two: off breaks one of them, burnt breaks both.
    found = explore(lamps(1))
    assert found.sole == {"switch_on.off": 2, "switch_off.on": 2, "burn.on": 1, "burn.whole": 0}


def test_two_lamps_with_and_without_symmetry() -> None:
    # States: 3 * 3 of them, or as many as there are pairs of lights without an order.
    full, reduced = explore(lamps(2), symmetry=False), explore(lamps(2))
    assert (len(full.states), full.transitions, full.depth) == (9, 18, 4)
    assert (len(reduced.states), reduced.transitions, reduced.depth) == (6, 12, 4)
    assert sum(full.fired.values()) == full.transitions
    assert sum(reduced.fired.values()) == reduced.transitions


def test_a_machine_explored_again_counts_again() -> None:
    machine = lamps(2)
    first = explore(machine)
    second = explore(machine)
    assert (first.fired, first.sole) == (second.fired, second.sole)


def test_violations_at_their_shortest() -> None:
    # Both lamps are burnt after twice on, burn: a state in which no lamp is left, and nothing can happen.
    found = explore(lamps(2, *ALL))
    assert {v.property: v.depth for v in found.violations.values()} == {"toy.some-light": 4, "toy.rests-lit": 4}
    assert set(found.met) == {"toy.stays-burnt", "toy.some-light", "toy.all-lit"}
    assert found.unmet == ()


def test_the_way_home_is_lost_with_the_first_lamp_that_burns() -> None:
    missing = lost(explore(lamps(2)), toy.can_be_dark)
    assert missing is not None
    assert (missing.depth, missing.instance) == (2, None)


def test_the_way_home_can_be_lost_from_the_beginning() -> None:
    missing = lost(explore(lamps(2)), toy.can_be_lit)
    assert missing is not None
    assert (missing.depth, missing.source) == (0, 0)


def test_a_chain_leads_from_the_initial_state_to_the_state() -> None:
    found = explore(lamps(2))
    for number in range(len(found.states)):
        way = found.chain(number)
        assert (way[0], way[-1]) == (0, number)
        for source, target in itertools.pairwise(way):
            edges = range(found.first_edge[source], found.first_edge[source + 1])
            assert target in [found.targets[e] for e in edges]


# ---------------------------------------------------------------------------- counted again by the interpreter
@pytest.mark.parametrize("name", ["solo", "misfit"])
def test_rule_and_guard_counts_are_those_of_the_interpreter(name: str) -> None:
    found = explore(machine_of(name), symmetry=False)
    rules = Rules(LIFECYCLE, world_of(name))
    fired: Counter[str] = Counter()
    alone: Counter[str] = Counter()
    for state in found.states:
        for move in rules.moves:
            false = [
                f"{move.rule.name}.{g.name}"
                for g, holds in zip(move.rule.guards, move.guards, strict=True)
                if not holds(state)
            ]
            fired[move.rule.name] += not false
            if len(false) == 1:
                alone[false[0]] += 1
    assert found.fired == dict(fired)
    assert {name: times for name, times in found.sole.items() if times} == dict(alone)


@pytest.mark.parametrize("name", ["solo", "misfit"])
@pytest.mark.parametrize(
    ("without", "anything_lost"),
    [("admit.seat", False), ("abort.asked", False), ("notify/notified", True), ("execute/status", True)],
)
def test_the_home_check_is_that_of_plain_reachability(name: str, without: str, anything_lost: bool) -> None:
    variation = changed_by(None, without)
    home = next(p for p in PROPERTIES if p.name == "rest.way-home")
    found = explore(Machine(variation.model, world_of(name), PROPERTIES))
    assert (found.bound, found.beyond) == (None, 0)
    missing = lost(found, home)
    expected = lost_after(Rules(variation.model, world_of(name), PROPERTIES), home.name)
    assert (missing.depth if missing else None) == expected
    assert (missing is not None) == anything_lost


@pytest.mark.parametrize("symmetry", [True, False])
def test_cells_too_large_for_a_byte_change_nothing(symmetry: bool) -> None:
    """A budget that is never used up counts the same states, in bytes and in tuples."""
    small, large = machine_of("solo", budget=4), machine_of("solo", budget=256)
    assert (small.pack, large.pack) == (bytes, tuple)
    one, other = explore(small, symmetry), explore(large, symmetry)
    assert [tuple(s) for s in one.states] == other.states
    assert one.transitions == other.transitions


@pytest.mark.parametrize("name", ["solo", "pair", "trio", "misfit"])
def test_the_generated_code_judges_states_as_the_interpreter_does(name: str) -> None:
    """Also for states of a broken model, where there is something to judge."""
    for fault in ("acquire-held-block", "sample-mid-prompt", "retire-stale-token"):
        machine = machine_of(name, fault)
        rules = Rules(changed_by(fault).model, world_of(name), PROPERTIES)
        stutters = {n for n, _ in rules.of_steps}
        for state in walked(machine, 200, seed=3):
            assert machine.violations(state) - stutters == set(rules.broken(state))


# ------------------------------------------------------------------------------------------------- bounds
BOUNDS: dict[str, tuple[Limits, str]] = {
    "states": (Limits(states=300), "300 states"),
    "one state": (Limits(states=1), "1 state"),
    "depth": (Limits(depth=9), "depth 9"),
    "no step": (Limits(depth=0), "depth 0"),
    "seconds": (Limits(seconds=1e-9), "1e-09 s"),
    "memory": (Limits(memory=1), "1 MB of memory"),
}


@pytest.mark.parametrize("which", BOUNDS)
@pytest.mark.parametrize("symmetry", [True, False])
def test_a_bound_is_named_and_nothing_is_said_to_hold(which: str, symmetry: bool) -> None:
    limits, words = BOUNDS[which]
    result = check_world(file_of("solo"), changed_by(), PROPERTIES, Options(limits, symmetry))
    assert result.verdict is Verdict.UNDETERMINED
    assert result.search.bound == words
    assert not explored(result.search).complete
    assert result.skipped == (f"rest.way-home was not judged: the search stopped at {words}",)


def explored(search: Any) -> Exploration:
    assert isinstance(search, Exploration)
    return search


@pytest.mark.parametrize("most", [1, 100, 620, 621])
def test_the_bound_on_states_is_kept_up_to_one_expansion(most: int) -> None:
    found = explore(machine_of("solo"), limits=Limits(states=most))
    assert found.bound == ("1 state" if most == 1 else f"{most} states")
    assert most <= len(found.states) < most + len(found.machine.instances)


def test_a_bound_that_is_not_met_changes_nothing() -> None:
    free = explore(machine_of("solo"))
    roomy = Limits(states=622, depth=30, seconds=600, memory=1 << 20, after_violation=1)
    found = explore(machine_of("solo"), limits=roomy)
    assert found.bound is None
    assert found.states == free.states


def test_a_depth_is_searched_completely() -> None:
    shallow = explore(machine_of("solo"), limits=Limits(depth=9))
    free = explore(machine_of("solo"))
    assert shallow.depth == 9
    assert shallow.states == [s for n, s in enumerate(free.states) if len(free.chain(n)) <= 10]


def test_what_is_violated_within_a_bound_is_violated() -> None:
    file = file_of("pair")
    result = check_world(file, changed_by("notify-twice"), PROPERTIES, Options(Limits(depth=5)))
    assert result.verdict is Verdict.VIOLATED
    assert "delivery.message-once" in result.violated
    assert result.search.bound == "depth 5"
    before = check_world(file, changed_by("notify-twice"), PROPERTIES, Options(Limits(depth=4)))
    assert before.verdict is Verdict.UNDETERMINED


def test_a_search_goes_on_only_so_far_after_a_violation() -> None:
    more = Limits(after_violation=500)
    stopped = explore(machine_of("pair", "sample-mid-prompt"), limits=more)
    assert stopped.bound == "500 states after the first violation"
    assert "eligibility.samples-at-end" in stopped.violations
    assert explore(machine_of("solo", "sample-mid-prompt"), limits=Limits(after_violation=10**6)).bound is None
    assert explore(machine_of("solo"), limits=Limits(after_violation=0)).bound is None


@pytest.mark.parametrize(
    ("depth", "verdict"),
    [(17, Verdict.UNDETERMINED), (20, Verdict.UNDETERMINED), (38, Verdict.UNDETERMINED), (39, Verdict.HOLDS)],
)
def test_a_bounded_search_never_meets_the_expectation_of_a_world(depth: int, verdict: Verdict) -> None:
    """At 20 one of the two expected violations is found, and at 38 all but the last look."""
    file = find(LIFECYCLE, "crowded-no-preemption")
    result = check_world(file, changed_by(), PROPERTIES, Options(Limits(depth=depth)))
    assert result.verdict is verdict
    assert result.as_expected == (verdict is Verdict.HOLDS)


def test_a_violation_that_is_not_expected_counts_beside_those_that_are() -> None:
    file = find(LIFECYCLE, "crowded-no-preemption")
    result = check_world(file, changed_by("notify-twice"), PROPERTIES, Options(Limits(depth=20)))
    assert {"rest.no-dead-end", "delivery.message-once"} <= set(result.violated)
    assert set(result.unexpected) == set(result.violated) - set(file.expect)
    assert result.verdict is Verdict.VIOLATED


def test_an_expected_violation_that_a_whole_search_does_not_find_is_missed(tmp_path: Path) -> None:
    text = 'expect = ["rest.no-dead-end"]\n[dials]\nrequests = 1\nprompt = 1\nlimit = 1\n'
    path = tmp_path / "fine.toml"
    path.write_text(text + "blocks = 1\nblock_size = 1\nbudget = 1\nseats = 1\n")
    result = check_world(find(LIFECYCLE, str(path)), changed_by(), PROPERTIES)
    assert (result.violated, result.missing) == ((), ("rest.no-dead-end",))
    assert result.verdict is Verdict.VIOLATED


# ---------------------------------------------------------------------------------------------- interruption
class Interrupt:
    """Watches a search and presses Ctrl-C once it is deep enough."""

    def __init__(self, level: int) -> None:
        self.level = level

    def __call__(self, progress: Progress) -> None:
        if progress.level >= self.level:
            raise KeyboardInterrupt


def test_ctrl_c_keeps_what_is_known() -> None:
    found = explore(machine_of("pair", "notify-twice"), observe=Interrupt(level=8))
    assert found.bound == INTERRUPT
    assert found.depth == 8
    assert found.violations["delivery.message-once"].depth == 5
    assert len(found.states) > 100


def test_ctrl_c_leaves_a_verdict_with_traces() -> None:
    result = check_world(file_of("pair"), changed_by("notify-twice"), PROPERTIES, observe=Interrupt(level=8))
    assert result.verdict is Verdict.VIOLATED
    assert {t.shows: t.length for t in result.traces}["delivery.message-once"] == 5
    sound = check_world(file_of("pair"), changed_by(), PROPERTIES, observe=Interrupt(level=8))
    assert sound.verdict is Verdict.UNDETERMINED
    assert sound.search.bound == INTERRUPT


def test_progress_tells_the_level_and_what_is_expected() -> None:
    seen: list[Progress] = []
    check_world(file_of("solo"), changed_by(), PROPERTIES, observe=seen.append)
    assert [p.level for p in seen] == list(range(30))
    assert {p.expected for p in seen} == {621}
    assert sum(p.frontier for p in seen) == seen[-1].states == 621
    assert seen[-1].hottest in [r.name for r in LIFECYCLE.rules]


# -------------------------------------------------------------------------------------------- out of bounds
def test_a_state_out_of_bounds_is_reported_and_not_gone_through() -> None:
    found = explore(machine_of("solo", "notify-twice"))
    sound = explore(machine_of("solo"))
    assert found.beyond > 0
    assert set(found.states) == set(sound.states)
    assert found.violations["bounds.notified"].depth == 5
    result = check_world(file_of("solo"), changed_by("notify-twice"), PROPERTIES)
    assert result.skipped == ("rest.way-home was not judged: some states are out of bounds",)


def test_every_fault_is_tried_somewhere_above() -> None:
    """The faults named in this file exist; a renamed one must not make a test pass for nothing."""
    named = {"notify-twice", "sample-mid-prompt", "acquire-held-block", "retire-stale-token"}
    assert named <= {f.name for f in FAULTS}
