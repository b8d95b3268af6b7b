"""The lifecycle's rules and properties, generated and interpreted, agree in states that need not be reachable."""

from __future__ import annotations

import enum
import itertools
import random
from collections.abc import Iterator
from typing import Any

import pytest

from checker.search.explore import explore, witness
from checker.search.limits import Limits
from model.language import Model, Shape
from model.language.edits import Drop, changed
from model.language.terms import BOOL
from model.lifecycle import LIFECYCLE
from model.readings.effects import forgotten
from model.readings.layout import Layout
from model.readings.python import Machine
from model.readings.world import World, WorldError, world
from specs.properties import PROPERTIES
from tests.readings.compare import by_interpreter, compare

SIZES = {"requests": 2, "prompt": [3, 2], "limit": 2, "blocks": 2, "block_size": 2, "budget": 2, "seats": 1, "depth": 2}
SHARED = {**SIZES, "sharing": True, "prefix": 2}
EVERYTHING = SHARED | {
    "release": "ordered",
    "device": "unordered",
    "publish": "ordered",
    "late_result": "commit",
    "cache": "all",
    "overrun": True,
    "workers": 2,
    "families": 2,
    "family": [0, 1],
}

# Without what a search may forget of its states: here every state counts.
RULES = Model(LIFECYCLE.name, LIFECYCLE.state, LIFECYCLE.dials, LIFECYCLE.rules)
NO_GUARDS = [Drop(f"{r.name}.{g.name}") for r in RULES.rules for g in r.guards]
UNGUARDED = changed(RULES, *NO_GUARDS)


def settings() -> Iterator[dict[str, Any]]:
    """The sizes alone, each switch and choice set each way, whatever the lifecycle has of them, and everything on."""
    yield SIZES
    yield SHARED
    yield EVERYTHING
    for dial in LIFECYCLE.dials:
        options = (
            list(dial.sort.of) if isinstance(dial.default, enum.Enum) else [False, True] if dial.sort == BOOL else []
        )
        for option in (o for o in options if o != dial.default):
            try:
                yield world(LIFECYCLE, "alone", {**SIZES, dial.name: option}).plain()
            except WorldError:
                yield world(LIFECYCLE, "shared", {**SHARED, dial.name: option}).plain()


AS_IT_IS = world(LIFECYCLE, "as it is", SIZES)


def said(given: dict[str, Any]) -> str:
    usual = AS_IT_IS.plain()
    return (
        ", ".join(f"{name} {value}" for name, value in given.items() if usual[name] not in (value, [value] * 2))
        or "as it is"
    )


def random_states(layout: Layout, share: int = 1) -> list[tuple[int, ...]]:
    """States within their bounds, most of them for the sizes as they are.

    Low values are likelier, as otherwise hardly any guard would be true. What may be forgotten is forgotten.
    """
    count = (240 if layout.world.values == AS_IT_IS.values else 16) // share
    chance = random.Random(0)
    drawn = (
        [min(chance.randint(c.low, c.high), chance.randint(c.low, c.high)) for c in layout.cells] for _ in range(count)
    )
    return [tuple(forgotten(layout, state)) for state in drawn]


WORLDS = [pytest.param(world(LIFECYCLE, "drawn", given), id=said(given)) for given in settings()]


@pytest.mark.parametrize("made", WORLDS)
def test_guards_effects_and_properties_in_random_states(made: World) -> None:
    machine = Machine(RULES, made, PROPERTIES)
    seen = compare(machine, [machine.pack(s) for s in random_states(machine.layout)])
    assert min(seen["step"], seen["alone"]) > 16


@pytest.mark.parametrize("made", WORLDS)
def test_what_is_forgotten_in_random_states(made: World) -> None:
    """As the search runs the rules. What it may forget is gone after each step, and properties of steps see it still."""
    machine = Machine(changed(LIFECYCLE, *NO_GUARDS), made, [p for p in PROPERTIES if p.shape is Shape.STEP])
    assert list(machine.initial) == forgotten(machine.layout, machine.initial)
    if machine.forgettings:
        seen = compare(machine, [machine.pack(s) for s in random_states(machine.layout, share=2)])
        assert seen["forgetful step"] > 10


@pytest.mark.parametrize("made", WORLDS)
def test_effects_of_every_instance_in_random_states(made: World) -> None:
    """Without guards every instance fires everywhere, and leaves the bounds often."""
    machine = Machine(UNGUARDED, made)
    states = [machine.pack(s) for s in random_states(machine.layout)]
    seen = compare(machine, states)
    assert seen["step"] == len(states) * len(machine.instances)
    assert seen["beyond"] > len(states)


def test_guards_effects_and_properties_in_reachable_states() -> None:
    """Where nothing is violated before, what a step violates is found exactly."""
    made = world(LIFECYCLE, "reached", SIZES)
    found = explore(Machine(RULES, made), symmetry=False, limits=Limits(states=4000))
    machine = Machine(RULES, made, PROPERTIES)
    states = found.states[::25]
    seen = compare(machine, states)
    assert seen["sound state"] == len(states) > 100


@pytest.mark.parametrize("made", WORLDS)
def test_every_term_of_the_properties_in_random_states(made: World) -> None:
    """Properties of every shape and their witnesses, as functions of one state or two."""
    machine = Machine(RULES, made, PROPERTIES)
    terms = [(p.name, t, p.shape) for p in machine.properties for t in (p.term, witness(p)) if t is not None]
    states = random_states(machine.layout, share=2)
    values: dict[bool, int] = {True: 0, False: 0}
    for name, term, shape in terms:
        holds = machine.predicate(term)
        for now, then in itertools.pairwise(states):
            expected = bool(by_interpreter(machine.layout, term, now, then))
            assert holds(now, then) is expected, name
            if shape is not Shape.STEP:
                assert holds(now) is expected, name
            values[expected] += 1
    assert min(values.values()) > 100
