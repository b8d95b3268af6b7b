"""The normal form is exact: it joins the renamings of a state and nothing else; and joining them changes no verdict.

The renamings it is held against are written again in the tests (states.py).
"""

from __future__ import annotations

import functools
from collections import Counter, defaultdict
from dataclasses import replace
from typing import Any

import pytest

from checker.check import Options, check_world
from checker.search.explore import explore
from checker.search.symmetry import Symmetry
from model.language.model import Model
from model.lifecycle import LIFECYCLE
from model.readings.python import Machine
from model.readings.world import world
from specs.faults import FAULTS
from specs.properties import PROPERTIES
from tests.search.running import changed_by, file_of, machine_of, world_of
from tests.search.second import Rules
from tests.search.states import arbitrary, orbit, reachable, renamings, walked
from tests.search.toy import GRAPH, PAINTED

LIFECYCLES: dict[str, tuple[str, dict[str, Any]]] = {
    **{name: (name, {}) for name in ("solo", "pair", "trio", "misfit", "crowded-no-preemption", "unmixed")},
    "pair, two steps in flight": ("pair", {"depth": 2}),
    "trio, one prompt longer": ("trio", {"prompt": [1, 2, 1], "blocks": 3}),
    "trio, all prompts different": ("trio", {"prompt": [1, 2, 3], "blocks": 4}),
    "trio, three blocks": ("trio", {"blocks": 3, "depth": 2}),
}
TOYS: dict[str, tuple[Model, dict[str, Any]]] = {
    "graph": (GRAPH, {"nodes": 3}),
    "graph, two weights": (GRAPH, {"nodes": 4, "weight": [0, 1, 1, 0]}),
    "painted": (PAINTED, {"nodes": 3, "colours": 3}),
    "painted, two weights": (PAINTED, {"nodes": 3, "colours": 2, "weight": [1, 0, 1]}),
    "painted, one colour": (PAINTED, {"nodes": 3, "colours": 1}),
}
everywhere = pytest.mark.parametrize("name", [*LIFECYCLES, *TOYS])


@functools.cache
def made(name: str) -> Machine:
    if name in TOYS:
        model, dials = TOYS[name]
        return Machine(model, world(model, name, dials))
    of, changed = LIFECYCLES[name]
    return machine_of(of, **changed)


def samples(machine: Machine) -> list[Any]:
    """Reachable and arbitrary states, and neighbours of both that differ by an exchange of two cells."""
    found = walked(machine, 60) + arbitrary(machine, 60)
    near = []
    for number, state in enumerate(found):
        cells = list(state)
        a, b = number % len(cells), (number * 7 + 1) % len(cells)
        cells[a], cells[b] = cells[b], cells[a]
        near.append(machine.pack(cells))
    return list(dict.fromkeys(found + near))


# ------------------------------------------------------------------------------------------------ exactness
@everywhere
def test_all_renamings_have_one_normal_form(name: str) -> None:
    machine = made(name)
    symmetry = Symmetry(machine.layout, machine.pack)
    for state in samples(machine):
        around = orbit(machine.layout, state)
        assert {symmetry.normal(machine.pack(s)) for s in around} == {symmetry.normal(state)}
        assert tuple(symmetry.normal(state)) in around


@everywhere
def test_other_states_have_other_normal_forms(name: str) -> None:
    machine = made(name)
    symmetry = Symmetry(machine.layout, machine.pack)
    alike: dict[Any, list[Any]] = defaultdict(list)
    for state in samples(machine):
        alike[symmetry.normal(state)].append(state)
    for first, *others in alike.values():
        around = orbit(machine.layout, first)
        assert all(tuple(s) in around for s in others)


@everywhere
def test_renamings_are_those_written_again(name: str) -> None:
    machine = made(name)
    symmetry = Symmetry(machine.layout, machine.pack)
    ours = renamings(machine.layout)
    assert symmetry.size == len(ours) == sum(1 for _ in symmetry.renamings())
    for state in samples(machine)[:40]:
        theirs = {tuple(rename(state)) for rename in symmetry.renamings()}
        assert theirs == orbit(machine.layout, state)


@pytest.mark.parametrize(("name", "count"), [("solo", 1_109), ("misfit", 1_017), ("crowded-no-preemption", 24_837)])
def test_every_state_of_a_small_world(name: str, count: int) -> None:
    """Grouped by normal form, each group is one whole orbit: no two orbits are joined, and none is split."""
    machine = machine_of(name)
    symmetry = Symmetry(machine.layout, machine.pack)
    full = explore(machine, symmetry=False)
    groups: dict[Any, set[tuple[int, ...]]] = defaultdict(set)
    for state in full.states:
        groups[symmetry.normal(state)].add(tuple(state))
    assert sum(len(group) for group in groups.values()) == count
    for group in groups.values():
        assert group == orbit(machine.layout, next(iter(group)))


def test_every_graph_of_three_nodes() -> None:
    """Of an index that one field has twice, all members are tried: there are 104 graphs of three nodes, loops allowed."""
    machine = Machine(PAINTED, world(PAINTED, "graphs", {"nodes": 3, "colours": 1}))
    symmetry = Symmetry(machine.layout, machine.pack)
    edges = [p for p, c in enumerate(machine.layout.cells) if c.field.name == "edge"]
    forms = set()
    for number in range(2**9):
        cells = [0] * len(machine.layout.cells)
        for bit, place in enumerate(edges):
            cells[place] = number >> bit & 1
        forms.add(symmetry.normal(machine.pack(cells)))
    assert len(forms) == 104


# ------------------------------------------------------------------------------------- why it is a reduction
@pytest.mark.parametrize(
    ("name", "fault"), [("pair", None), ("trio", None), ("misfit", None), ("pair", "acquire-held-block")]
)
def test_rules_and_properties_cannot_tell_renamings_apart(name: str, fault: str | None) -> None:
    """What can happen in a renamed state is what can happen in the state, renamed; and the same properties hold."""
    rules = Rules(changed_by(fault).model, world_of(name), PROPERTIES)
    machine = machine_of(name)
    for state in (*reachable(name, 40), *arbitrary(machine, 20)):
        happens = [(m.rule.name, tuple(then)) for m, then, _ in rules.steps(state)]
        for rename in renamings(machine.layout):
            renamed = bytes(rename(state))
            expected = Counter((name, rename(then)) for name, then in happens)
            assert Counter((m.rule.name, tuple(then)) for m, then, _ in rules.steps(renamed)) == expected
            assert rules.broken(renamed) == rules.broken(state)


@pytest.mark.parametrize("name", ["solo", "misfit"])
@pytest.mark.parametrize("fault", [None, *(f.name for f in FAULTS)])
def test_the_same_outcome_to_the_end(name: str, fault: str | None) -> None:
    """Explored to the end, with dead ends and the way home."""
    variation = changed_by(fault)
    file = replace(file_of(name), normal_forms=None)  # that number is of the unchanged rules
    results = [check_world(file, variation, PROPERTIES, Options(reduction=on)) for on in (True, False)]
    reduced, full = ({t.shows: t.length for t in r.traces} for r in results)
    assert reduced == full
    assert results[0].verdict is results[1].verdict
    assert results[0].skipped == results[1].skipped
    assert all(r.search.bound is None for r in results)


def test_the_unchanged_rules_are_those_of_the_lifecycle() -> None:
    assert changed_by().model == LIFECYCLE
