"""Rules run by the interpreter: guards asked and effects taken as they were declared, nothing generated."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence

from model.language.rules import Rule
from model.readings.ground import belongs
from model.readings.interpret import Interpreter
from model.readings.layout import Layout, code
from model.readings.world import members


def false_guards(layout: Layout, rule: Rule, at: tuple[int, ...], state: Sequence[int]) -> list[str]:
    """The names of the rule's guards that are false here; an empty list means that it may fire."""
    interpreter = Interpreter(layout.world, layout.reader(state))
    env = dict(zip(rule.params, at, strict=True))
    return [g.name for g in rule.guards if not interpreter.value(g.condition, env)]


def after(layout: Layout, rule: Rule, at: tuple[int, ...], state: Sequence[int]) -> list[int]:
    """The state that the rule's effects lead to, as stored numbers."""
    interpreter = Interpreter(layout.world, layout.reader(state))
    result = list(state)
    env = dict(zip(rule.params, at, strict=True))
    for update in rule.updates:
        for members_of_loop in itertools.product(*(members(v.domain, layout.world) for v in update.bound)):
            inner = {**env, **dict(zip(update.bound, members_of_loop, strict=True))}
            place = layout.position.get((update.field, tuple(interpreter.value(i, inner) for i in update.indices)))
            if place is not None:
                result[place] = code(update.field.sort, interpreter.value(update.value, inner))
    return result


def forgotten(layout: Layout, state: Sequence[int]) -> list[int]:
    """The state without what the model lets a search forget."""
    interpreter = Interpreter(layout.world, layout.reader(state))
    result = list(state)
    for declared in layout.model.forgets:
        for at in itertools.product(*(members(v.domain, layout.world) for v in declared.members)):
            env = dict(zip(declared.members, at, strict=True))
            if not interpreter.value(declared.unless, dict(env)):
                for place, cell in enumerate(layout.cells):
                    if cell.field in declared.fields and belongs(cell, env):
                        result[place] = cell.initial
    return result


def moves(layout: Layout) -> Iterator[tuple[Rule, tuple[int, ...]]]:
    """Every rule of the world with every choice of its parameters."""
    interpreter = Interpreter(layout.world, layout.reader(layout.initial))
    for rule in layout.model.rules:
        if interpreter.value(rule.needs, {}):
            for at in itertools.product(*(members(v.domain, layout.world) for v in rule.params)):
                yield rule, at
