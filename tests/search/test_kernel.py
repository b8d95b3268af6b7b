"""The compiled search comes to the same end as the python one: counts, findings, witnesses, and which states there are."""

from __future__ import annotations

import ctypes
import itertools
import random
from typing import Any

import pytest

from benchmarks.peer_model import INVARIANTS, PEER, SIZES, peer_world
from checker.check import Options, check_world
from checker.search.choose import Explorer
from checker.search.explore import Exploration, explore
from checker.search.home import lost
from checker.search.kernel import binding
from checker.search.kernel import search as kernel
from checker.search.kernel.packing import Packing
from checker.search.kernel.problem import CProblem
from checker.search.limits import Limits, Progress
from checker.search.symmetry import Symmetry
from checker.verdict import Verdict
from model.language import Model
from model.language.edits import Drop, changed, parts
from model.language.properties import Shape
from model.lifecycle import LIFECYCLE
from model.readings.python import Machine
from model.readings.world import World, world
from specs.properties import PROPERTIES
from tests.language.two_phase_commit import TWO_PHASE, consistent
from tests.search import toy
from tests.search.running import CAUGHT, changed_by, fault_named, file_of, machine_of, world_of
from tests.search.states import arbitrary, walked
from tests.search.test_counts import COUNTS, LARGE, SMALL

BOTH = pytest.mark.parametrize("symmetry", [True, False])


def end(found: Exploration) -> dict[str, Any]:
    """Everything a search says, apart from how it numbers states."""
    return {
        "states": len(found.states),
        "transitions": found.transitions,
        "edges": len(found.targets),
        "beyond": found.beyond,
        "depth": found.depth,
        "bound": found.bound,
        "violated": {f.property: f.depth for f in found.violations.values()},
        "met": set(found.met),
        "unmet": set(found.unmet),
        "fired": found.fired,
        "sole": found.sole,
    }


def compare(machine: Machine, symmetry: bool = True, limits: Limits = Limits()) -> kernel.Compiled:
    """Explore both ways and hold one against the other."""
    compiled, python = kernel.explore(machine, symmetry, limits), explore(machine, symmetry, limits)
    assert end(compiled) == end(python)
    assert set(compiled.states) == set(python.states)
    if compiled.bound is None and not compiled.beyond:
        for declared in (p for p in machine.properties if p.shape is Shape.HOME):
            missing = [lost(found, declared) for found in (compiled, python)]
            assert len({m.depth if m else None for m in missing}) == 1
    return compiled


# ---------------------------------------------------------------------------------------- our own worlds
@pytest.mark.parametrize("name", [n if n in SMALL else pytest.param(n, marks=pytest.mark.slow) for n in COUNTS])
def test_counts_of_the_shipped_worlds(name: str) -> None:
    """As pinned, where they were counted in three other ways."""
    reduced, full = (kernel.explore(machine_of(name), symmetry) for symmetry in (True, False))
    assert (len(reduced.states), len(full.states), full.transitions) == COUNTS[name]


@pytest.mark.slow
@pytest.mark.parametrize("name", LARGE)
def test_counts_of_the_large_worlds(name: str) -> None:
    normal_forms, states, transitions = LARGE[name]
    machine = machine_of(name)
    reduced = kernel.explore(machine, keep=False)
    assert (len(reduced.states), reduced.violations, reduced.bound) == (normal_forms, {}, None)
    if states < 6_000_000:
        full = kernel.explore(machine, symmetry=False, keep=False)
        assert (len(full.states), full.transitions) == (states, transitions)


@BOTH
@pytest.mark.parametrize("name", SMALL)
def test_small_worlds_to_the_end(name: str, symmetry: bool) -> None:
    compare(machine_of(name), symmetry)


@pytest.mark.slow
@pytest.mark.parametrize("name", [n for n in COUNTS if n not in SMALL])
def test_the_others_up_to_a_depth(name: str) -> None:
    compare(machine_of(name), limits=Limits(depth=14))


@pytest.mark.parametrize("fault", CAUGHT)
def test_faults_as_deep_as_it_takes(fault: str) -> None:
    caught_by, length = CAUGHT[fault]
    found = compare(machine_of(fault_named(fault).world, fault), limits=Limits(depth=length))
    if caught_by != "rest.way-home":
        assert found.violations[caught_by].depth == length


@pytest.mark.parametrize("without", ["acquire/ref", "deliver.undelivered", "launch/scheduled", "release/table"])
def test_changes_that_lead_out_of_bounds(without: str) -> None:
    found = compare(Machine(changed_by(None, without).model, world_of("solo"), PROPERTIES))
    assert found.beyond > 0
    assert any(name.startswith("bounds.") for name in found.violations)


# ------------------------------------------------------------------------------------------ other models
@BOTH
@pytest.mark.parametrize("managers", [3, 5])
def test_two_phase_commit(managers: int, symmetry: bool) -> None:
    made = world(TWO_PHASE, "managers", {"managers": managers})
    compare(Machine(TWO_PHASE, made, [consistent]), symmetry)
    for part in (f"{r.name}.{g.name}" for r in TWO_PHASE.rules for g in r.guards):
        if managers == 3 and symmetry:
            compare(Machine(changed(TWO_PHASE, Drop(part)), made, [consistent]), symmetry)


TOYS: dict[str, tuple[Model, World, tuple[Any, ...]]] = {
    "lamps": (
        toy.TOY,
        toy.lamps(3),
        (toy.stays_burnt, toy.all_lit, toy.some_light, toy.rests_lit, toy.can_be_dark, toy.can_be_lit),
    ),
    "one lamp": (toy.TOY, toy.lamps(1), (toy.some_light, toy.rests_lit)),
    "graph": (toy.GRAPH, world(toy.GRAPH, "graph", {"nodes": 3}), ()),
    "two kinds of nodes": (toy.GRAPH, world(toy.GRAPH, "graph", {"nodes": 3, "weight": [0, 1, 1]}), ()),
    "painted": (toy.PAINTED, world(toy.PAINTED, "painted", {"nodes": 2, "colours": 3}), ()),
    "painted, two kinds": (
        toy.PAINTED,
        world(toy.PAINTED, "painted", {"nodes": 2, "colours": 2, "weight": [0, 1]}),
        (),
    ),
}


@BOTH
@pytest.mark.parametrize("name", TOYS)
def test_models_that_are_no_servers(name: str, symmetry: bool) -> None:
    declared, made, properties = TOYS[name]
    compare(Machine(declared, made, properties), symmetry)


@pytest.mark.parametrize(
    ("name", "symmetry", "states", "transitions"),
    [
        ("tiny", False, 112_425, 413_222),
        ("tiny", True, 35_806, None),
        ("small", False, 2_383_877, 10_317_679),
        ("small", True, 150_561, None),
    ],
)
def test_published_counts_of_the_model_that_tools_were_compared_on(
    name: str, symmetry: bool, states: int, transitions: int | None
) -> None:
    found = kernel.explore(Machine(PEER, peer_world(name, *SIZES[name]), INVARIANTS), symmetry, keep=False)
    assert len(found.states) == states
    assert transitions in (None, found.transitions)
    assert (found.violations, found.bound, found.beyond) == ({}, None, 0)


# ------------------------------------------------------------------------------------------ the normal form
@pytest.mark.parametrize(
    "name",
    ["pair", "trio", "shared-prefix", "two-workers", "cache-all", "misfit", "graph", "two kinds of nodes", "painted"],
)
def test_two_states_have_one_normal_form_just_if_they_have_in_python(name: str) -> None:
    """Random states with few different values, so that members look alike; and each state beside one of its renamings."""
    machine = Machine(*TOYS[name]) if name in TOYS else machine_of(name)
    code = kernel.Code(machine, symmetry=True)
    symmetry, chance = code.symmetry, random.Random(7)
    assert symmetry is not None
    renamings = list(symmetry.renamings())
    states = [*arbitrary(machine, 400, seed=5), *walked(machine, 400, seed=6)]
    states += [chance.choice(renamings)(s) for s in states]
    forms: dict[Any, set[Any]] = {}
    for state in states:
        packed = code.packing.packed(state)
        assert code.packing.unpacked(packed) == list(state)
        form = machine.pack(code.packing.unpacked(code.normal(packed)))
        assert symmetry.normal(form) == symmetry.normal(state)
        forms.setdefault(symmetry.normal(state), set()).add(form)
    assert {len(found) for found in forms.values()} == {1}


def test_a_wrong_order_of_members_would_be_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    """Requests that no look tells apart are taken for sorted: fewer orders tried, and so more normal forms."""
    wanted = len(kernel.explore(machine_of("pair"), limits=Limits(depth=12)).states)
    monkeypatch.setattr(Packing, "swaps", lambda self, index, i, j: [])
    assert len(kernel.explore(machine_of("pair"), limits=Limits(depth=12)).states) > wanted


def test_members_of_different_kinds_are_not_exchanged(monkeypatch: pytest.MonkeyPatch) -> None:
    wanted = end(kernel.explore(machine_of("misfit")))
    monkeypatch.setattr(Symmetry, "_classes", lambda self, index: [0] * self.layout.sizes[index])
    assert end(kernel.explore(machine_of("misfit"))) != wanted


# ---------------------------------------------------------------------------------------------- the packing
@pytest.mark.parametrize("name", [*COUNTS, *LARGE])
@BOTH
def test_cells_lie_apart_and_take_no_more_bits_than_they_need(name: str, symmetry: bool) -> None:
    machine = machine_of(name)
    packing = Packing(machine.layout, Symmetry(machine.layout, machine.pack) if symmetry else None)
    taken = [
        (word, bit)
        for word, shift, width in zip(packing.word, packing.shift, packing.width, strict=True)
        for bit in range(shift, shift + width)
    ]
    assert len(set(taken)) == len(taken) == sum((c.high - c.low).bit_length() for c in machine.layout.cells)
    assert max(bit for _, bit in taken) < 64
    assert packing.words <= 1 + len(taken) // 64 + (len(taken) % 64 > 40)


# --------------------------------------------------------------------------------------------------- bounds
@pytest.mark.parametrize("most", [1, 100, 620, 621, 622])
def test_the_bound_on_states_is_that_of_the_python_search(most: int) -> None:
    compiled, python = (f(machine_of("solo"), limits=Limits(states=most)) for f in (kernel.explore, explore))
    assert compiled.bound == python.bound
    assert most <= len(compiled.states) < most + len(compiled.machine.instances) or compiled.bound is None


def test_a_search_goes_on_only_so_far_after_a_violation() -> None:
    machine = machine_of("pair", "sample-mid-prompt")
    stopped = kernel.explore(machine, limits=Limits(after_violation=500))
    assert stopped.bound == "500 states after the first violation"
    assert "eligibility.samples-at-end" in stopped.violations
    assert kernel.explore(machine_of("solo"), limits=Limits(after_violation=0)).bound is None


def test_no_memory_left_is_a_bound(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(kernel, "available_memory", lambda: 1.0)
    result = check_world(file_of("pair"), changed_by(), PROPERTIES, Options(search="kernel"))
    assert result.search.bound == "the memory of this machine"
    assert result.verdict is Verdict.UNDETERMINED
    assert len(result.search.states) > 1000  # type: ignore[union-attr]


def test_no_memory_for_the_way_home_is_a_bound_too(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(kernel, "NO_MEMORY_FOR_IT", -1)
    result = check_world(file_of("solo"), changed_by(), PROPERTIES, Options(search="kernel"))
    assert result.skipped == ("rest.way-home was not judged: the search stopped at the memory of this machine",)
    assert result.verdict is Verdict.UNDETERMINED


def test_the_bound_on_memory_looks_ahead() -> None:
    """The table doubles; it must not do so first and be found too large then."""
    from checker.search.limits import peak_memory

    limits = Limits(memory=peak_memory() + 4)
    found = kernel.explore(machine_of("pair"), symmetry=False, limits=limits)
    assert found.bound is not None
    assert found.bound.endswith("MB of memory")
    assert peak_memory() < (limits.memory or 0) + 30


def test_an_interrupt_keeps_what_was_found() -> None:
    def press(progress: Progress) -> None:
        if progress.states > 1000:
            raise KeyboardInterrupt

    found = kernel.explore(machine_of("pair"), observe=press)
    assert found.bound == "an interrupt (Ctrl-C)"
    assert 1000 < len(found.states) < COUNTS["pair"][0]
    assert found.states[0] == found.machine.initial


def test_progress_is_reported() -> None:
    seen: list[Progress] = []
    kernel.explore(machine_of("crowded"), observe=seen.append)
    assert [p.states for p in seen] == sorted(p.states for p in seen)
    assert seen[-1].states > 30_000
    assert {p.hottest for p in seen} <= {r.name for r in LIFECYCLE.rules}


def test_what_was_found_outlives_the_search() -> None:
    parents = kernel.explore(machine_of("solo")).parents
    assert parents[0] == -1
    assert all(0 <= parent < number for number, parent in enumerate(parents[1:], 1))


def test_edges_lead_where_they_say() -> None:
    found = kernel.explore(machine_of("crowded-no-preemption"))
    symmetry = found.symmetry
    assert symmetry is not None
    for source in range(0, len(found.states), 97):
        edges = range(found.first_edge[source], found.first_edge[source + 1])
        expected = sorted(symmetry.normal(t) for _, t, _ in found.machine.successors(found.states[source]))
        assert sorted(found.states[found.targets[e]] for e in edges) == expected
        assert all(a == found.parents[b] for a, b in itertools.pairwise(found.chain(source)))


# ------------------------------------------------------------------------------ one code for many changes
def test_code_serves_changes_that_take_parts_away() -> None:
    base = machine_of("solo")
    code = kernel.Code(base, symmetry=True, parts=True)
    for part in (part for r in LIFECYCLE.rules for part in parts(r)):
        machine = Machine(changed(LIFECYCLE, Drop(part)), base.world, PROPERTIES)
        found = kernel.explore(machine, limits=Limits(depth=8), code=code)
        assert found.handle.code is code
        assert end(found) == end(explore(machine, limits=Limits(depth=8)))


def test_code_that_is_not_in_parts_serves_its_own_machine_alone() -> None:
    base = machine_of("solo")
    code = kernel.Code(base, symmetry=True)
    assert code.serve(base) is code.problem
    assert code.serve(Machine(changed(LIFECYCLE, Drop("notify.once")), base.world, PROPERTIES)) is None


def test_an_explorer_in_parts_keeps_the_code_it_compiled_first() -> None:
    explorer = Explorer(parts=True)
    first = explorer.explore(machine_of("solo"))
    other = explorer.explore(machine_of("solo", "sample-mid-prompt"))
    again = explorer.explore(Machine(changed(LIFECYCLE, Drop("notify.once")), world_of("solo"), PROPERTIES))
    assert isinstance(first, kernel.Compiled)
    assert isinstance(other, kernel.Compiled)
    assert isinstance(again, kernel.Compiled)
    assert other.handle.code is not first.handle.code
    assert again.handle.code is first.handle.code


def test_code_does_not_serve_what_it_has_no_function_for() -> None:
    code = kernel.Code(machine_of("solo"), symmetry=True, parts=True)
    assert code.serve(machine_of("pair")) is None
    assert code.serve(machine_of("solo", "sample-mid-prompt")) is None
    assert end(kernel.explore(machine_of("solo", "sample-mid-prompt"), code=code)) == end(
        explore(machine_of("solo", "sample-mid-prompt"))
    )


def test_the_structs_are_those_of_the_source() -> None:
    engine = binding.engine(1, "int8_t")
    assert engine.problem_size() == ctypes.sizeof(CProblem)
    assert engine.search_size() == ctypes.sizeof(binding.CSearch)
