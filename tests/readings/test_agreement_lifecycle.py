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
from model.readings.layout import Layout
from model.readings.python import Machine
from model.readings.world import World, plain, world
from specs.properties import PROPERTIES
from tests.readings.compare import by_interpreter, compare

SIZES = {"requests": 2, "prompt": [2, 1], "limit": 2, "blocks": 2, "block_size": 2, "budget": 2, "seats": 1, "depth": 2}

# Without what a search may leave out of its states: here every state counts.
RULES = Model(LIFECYCLE.name, LIFECYCLE.state, LIFECYCLE.dials, LIFECYCLE.rules)
UNGUARDED = changed(RULES, *(Drop(f"{r.name}.{g.name}") for r in RULES.rules for g in r.guards))


def settings() -> Iterator[dict[str, Any]]:
    """The sizes alone, and with each switch and choice set each way, whatever the lifecycle has of them."""
    yield SIZES
    for dial in LIFECYCLE.dials:
        if dial.sort == BOOL:
            yield {**SIZES, dial.name: not dial.default}
        elif isinstance(dial.default, enum.Enum):
            yield from ({**SIZES, dial.name: plain(m)} for m in type(dial.default) if m is not dial.default)


AS_IT_IS = world(LIFECYCLE, "as it is", SIZES)


def said(given: dict[str, Any]) -> str:
    return ", ".join(f"{name} {value}" for name, value in given.items() if SIZES.get(name) != value) or "as it is"


def random_states(layout: Layout, share: int = 1) -> list[tuple[int, ...]]:
    """States within their bounds, most of them for the sizes as they are.

    Low values are likelier, as otherwise hardly any guard would be true.
    """
    count = (300 if layout.world.values == AS_IT_IS.values else 60) // share
    chance = random.Random(0)  # noqa: S311
    return [
        tuple(min(chance.randint(c.low, c.high), chance.randint(c.low, c.high)) for c in layout.cells)
        for _ in range(count)
    ]


WORLDS = [pytest.param(world(LIFECYCLE, "drawn", given), id=said(given)) for given in settings()]


@pytest.mark.parametrize("made", WORLDS)
def test_guards_effects_and_properties_in_random_states(made: World) -> None:
    machine = Machine(RULES, made, PROPERTIES)
    seen = compare(machine, [machine.pack(s) for s in random_states(machine.layout)])
    assert seen["step"] > 60
    assert seen["beyond"] > 10
    assert seen["alone"] > 60


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
    states = found.states[::20]
    seen = compare(machine, states)
    assert seen["sound state"] == len(states) > 200


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
