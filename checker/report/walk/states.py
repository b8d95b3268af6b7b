"""A small world's state graph, to be walked by hand: every state, what may happen in it, and what alone forbids the rest."""

from __future__ import annotations

from typing import Any

from checker.search.explore import Exploration, explore
from checker.search.limits import Limits
from checker.verdict import Unusable
from checker.worlds import WorldFile
from model.language.rules import Guard
from model.lifecycle import LIFECYCLE
from model.lifecycle.dials import Block, Request, Slot
from model.lifecycle.state import Phase, Reason
from model.readings.effects import moves
from model.readings.layout import Layout, member_name
from model.readings.prose import shown, words
from model.readings.python import Machine, TooLarge
from model.readings.stepper import Stepper

MOST = 1_500  # states; a larger graph makes a page that is slow to open


def graph(file: WorldFile, title: str) -> dict[str, Any]:
    """The graph as plain data. Nothing is renamed or forgotten, so that a walk is a run. Unusable if it is too large."""
    explored = _explored(file)
    layout = explored.machine.layout
    events = [(rule.name, at) for rule, at in moves(layout)]
    number = {(i.rule.name, i.at): events.index((i.rule.name, i.at)) for i in explored.machine.instances}
    stepper = Stepper(layout)
    texts = [found.text if (found := stepper.instance(*e)) else "" for e in events]
    guards: dict[str, int] = {}
    states: list[tuple[list[str], dict[int, int], dict[int, int]]] = []
    for n, state in enumerate(explored.states):
        edges = range(explored.first_edge[n], explored.first_edge[n + 1])
        taken = {number[_key(explored, edge)]: explored.targets[edge] for edge in edges}
        refused = {}
        for k, event in enumerate(events):
            false = [] if k in taken or not texts[k] else stepper.false_guards(*event, tuple(state))
            if len(false) == 1:
                refused[k] = guards.setdefault(f"{event[0]}.{false[0]}", len(guards))
        states.append(([shown(layout, state, p) for p in range(len(layout.cells))], taken, refused))
    values = sorted({v for cells, _, _ in states for v in cells})
    place = {v: i for i, v in enumerate(values)}
    return {
        "title": title,
        "world": file.name,
        "cells": [c.text for c in layout.cells],
        "values": values,
        "events": texts,
        "actors": [LIFECYCLE.rule(rule).by.name.lower() for rule, _ in events],
        "guards": [[name, words(_guard(name).condition)] for name in guards],
        "states": [[[place[v] for v in cells], taken, refused] for cells, taken, refused in states],
        "transitions": len(explored.targets),
        "says": {p.name: p.value for p in Phase} | {r.name: r.value for r in Reason},
        **_sizes(layout),
    }


def _explored(file: WorldFile) -> Exploration:
    try:
        machine = Machine(LIFECYCLE, file.world, forgetful=False)
    except TooLarge:
        machine = None
    explored = explore(machine, symmetry=False, limits=Limits(states=MOST + 1)) if machine else None
    if explored is None or len(explored.states) > MOST:
        raise Unusable(
            f"the world {file.name} has more than {MOST:,} states with nothing renamed, too many to walk by hand; make it "
            "smaller with --set, such as cancellation=off or fewer requests, or name a smaller world, such as solo."
        )
    return explored


def _guard(name: str) -> Guard:
    rule, _, guard = name.partition(".")
    return next(g for g in LIFECYCLE.rule(rule).guards if g.name == guard)


def _key(explored: Exploration, edge: int) -> tuple[str, tuple[int, ...]]:
    instance = explored.machine.instances[explored.taken[edge]]
    return instance.rule.name, instance.at


def _sizes(layout: Layout) -> dict[str, Any]:
    values = layout.world.values
    return {
        "requests": [member_name(Request, r) for r in range(layout.sizes[Request])],
        "blocks": [member_name(Block, b) for b in range(layout.sizes[Block])],
        "slots": [member_name(Slot, i) for i in range(layout.sizes[Slot])],
        "prompt": list(values["prompt"]),
        "limit": list(values["limit"]),
        "dials": ", ".join(f"{d} {values[d]}" for d in ("blocks", "block_size", "budget", "seats", "depth")),
    }
