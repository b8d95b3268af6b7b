"""Worlds of the small state: terms evaluated and rules run in states that are given by the cells that differ."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from model.language import Rule, Term, model
from model.language.terms import Var
from model.readings.effects import after
from model.readings.interpret import evaluate
from model.readings.layout import Layout
from model.readings.world import world
from tests.language.small import DIALS, Small


def small_layout(*rules: Rule, **dials: Any) -> Layout:
    """Two jobs and three places, unless said otherwise."""
    declared = model("small", Small, DIALS, rules)
    return Layout(declared, world(declared, "here", {"jobs": 2, "places": 3, **dials}))


def stored(layout: Layout, cells: Mapping[str, int]) -> list[int]:
    """The initial state but for these cells, as stored numbers."""
    state = list(layout.initial)
    texts = [c.text for c in layout.cells]
    for text, value in cells.items():
        state[texts.index(text)] = value
    return state


def value(term: Term, cells: Mapping[str, int], env: Mapping[Var, int] | None = None, **dials: Any) -> Any:
    """The term's value in the small state, by the interpreter."""
    layout = small_layout(**dials)
    return evaluate(term, layout.world, env, layout.reader(stored(layout, cells)))


def changes(rule: Rule, at: tuple[int, ...], cells: Mapping[str, int], **dials: Any) -> dict[str, int]:
    """The cells that the rule changes, with what it makes of them."""
    layout = small_layout(rule, **dials)
    before = stored(layout, cells)
    then = after(layout, rule, at, before)
    return {c.text: t for c, b, t in zip(layout.cells, before, then, strict=True) if b != t}
