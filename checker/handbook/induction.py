"""A counterexample to induction in a small world: a state that no run reaches, from which one step breaks a property.

A property is inductive if every step from every state that has it leads to a state that has it. Here every state is
tried that differs in one cell from a reachable one, which is enough to find one, and too little to prove that there is none.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from checker.catalogue import Catalogue
from checker.search.explore import explore
from checker.worlds import find
from model.language.properties import Shape
from model.lifecycle import LIFECYCLE
from model.readings.interpret import evaluate
from model.readings.layout import Layout
from model.readings.prose import shown
from model.readings.python import Beyond, Machine

State = tuple[int, ...]


@dataclass(frozen=True)
class Counterexample:
    """A state, what sets it apart from a reachable one, the step that breaks the property, and who rules the state out.

    `cells` are those that are not as at the start; `excluded` the other properties that are false in the state, `silent`
    those that hold there too.
    """

    property: str
    reachable: int
    changed: tuple[str, str, str]
    cells: tuple[tuple[str, str], ...]
    step: str
    effects: tuple[tuple[str, str, str], ...]
    excluded: tuple[str, ...]
    silent: tuple[str, ...]


def counterexample(known: Catalogue, world: str, name: str) -> Counterexample | None:
    """The first that is found, in the order in which the reachable states were; None if there is none so near."""
    machine = Machine(LIFECYCLE, find(LIFECYCLE, world).world, forgetful=False)
    states = [tuple(s) for s in explore(machine, symmetry=False).states]
    reached = set(states)
    declared = next(p for p in known.properties if p.name == name)
    holds = machine.predicate(declared.term)
    for state, near, place in _neighbours(machine.layout, states):
        if near in reached or not holds(machine.pack(near)):
            continue
        for k, then, _ in machine.successors(machine.pack(near)):
            if type(then) is not Beyond and not holds(then):
                return _told(known, machine, name, len(states), (state, near, tuple(then)), place, k)
    return None


def _neighbours(layout: Layout, states: Sequence[State]) -> Iterator[tuple[State, State, int]]:
    """Every state that differs from one of these in one cell, within its bounds, with that cell's place."""
    for state in states:
        for place, cell in enumerate(layout.cells):
            for value in range(cell.low, cell.high + 1):
                if value != state[place]:
                    yield state, (*state[:place], value, *state[place + 1 :]), place


def _told(
    known: Catalogue, machine: Machine, name: str, reachable: int, run: tuple[State, State, State], place: int, k: int
) -> Counterexample:
    layout, (state, near, then) = machine.layout, run
    others = [p for p in known.properties if p.shape is Shape.STATE and p.name != name]
    others = [p for p in others if evaluate(p.needs, layout.world)]
    false = [p.name for p in others if not evaluate(p.term, layout.world, {}, layout.reader(near))]
    return Counterexample(
        name,
        reachable,
        (layout.cells[place].text, shown(layout, state, place), shown(layout, near, place)),
        tuple((c.text, shown(layout, near, p)) for p, c in enumerate(layout.cells) if near[p] != c.initial),
        machine.instances[k].text,
        tuple(
            (c.text, shown(layout, near, p), shown(layout, then, p))
            for p, c in enumerate(layout.cells)
            if near[p] != then[p]
        ),
        tuple(false),
        tuple(p.name for p in others if p.name not in false),
    )
