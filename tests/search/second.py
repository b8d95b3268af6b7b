"""A second search, for the tests only: depth first, by the interpreter, with no reduction and books of its own.

It does not join renamings. It forgets what the model lets a search forget only if told to.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

from model.language.model import Forget, Model
from model.language.properties import Property, Shape
from model.language.rules import Rule
from model.readings.effects import moves
from model.readings.interpret import evaluate
from model.readings.world import World, members
from tests.search.memory import Memory, State, Watched, Writes, remembered, truth, written


@dataclass(frozen=True)
class Effect:
    """The cells a move writes in states that look alike to it, and whether a value leaves its cell's bounds."""

    writes: Writes
    beyond: bool


class Move:
    """A rule with its parameters: guards asked one by one, the first false one ends it."""

    def __init__(self, layout: Watched, rule: Rule, at: tuple[int, ...]) -> None:
        self.layout, self.rule, self.at = layout, rule, at
        env = dict(zip(rule.params, at, strict=True))
        self.guards = [truth(layout, guard.condition, env) for guard in rule.guards]
        self.written = list(written(layout, rule.updates, env))
        self.effect = Memory(layout, self.taken)

    def enabled(self, state: State) -> bool:
        return all(guard.part(state) for guard in self.guards)

    def taken(self, state: State) -> Effect:
        cells = self.layout.cells
        writes = tuple(write for one in self.written for write in one.part(state))
        return Effect(writes, not all(cells[p].low <= v <= cells[p].high for p, v in writes))


def then_of(state: Any, writes: Writes) -> Any:
    for place, value in writes:
        state[place] = value
    return state


def false_of(judges: list[tuple[str, Memory]], state: State) -> list[str]:
    """The names of what is false here. (What is remembered is looked up without a call: most of the time goes here.)"""
    return [name for name, holds in judges if holds.known.get(holds.take(state)) is not True and not holds(state)]


class Forgetful:
    """The cells that one choice of members lets a search forget: the interpreter, asked for no other choice."""

    def __init__(self, layout: Watched, declared: Forget, at: tuple[int, ...]) -> None:
        self.layout, self.declared, self.at = layout, declared, at
        env = dict(zip((v.domain for v in declared.members), at, strict=True))
        self.writes = tuple(
            (place, cell.initial)
            for place, cell in enumerate(layout.cells)
            if cell.field in declared.fields
            and all(env.get(i, a) == a for i, a in zip(cell.field.indices, cell.at, strict=True))
        )

    def __call__(self, state: State) -> Writes:
        env = dict(zip(self.declared.members, self.at, strict=True))
        unless = evaluate(self.declared.unless, self.layout.world, env, self.layout.reader(state))
        return () if unless else self.writes


class Rules:
    """A model in a world, run and judged by the interpreter."""

    def __init__(
        self, model: Model, world: World, properties: Sequence[Property] = (), forgetful: bool = False
    ) -> None:
        self.layout = layout = Watched(model, world)
        self.initial = bytes(layout.initial)
        self.forgets = list(self.forgettings()) if forgetful else []
        live = [p for p in properties if evaluate(p.needs, world)]
        self.of_states = [(p.name, self.judge(p)) for p in live if p.shape is Shape.STATE]
        self.of_steps = [(p.name, self.judge(p)) for p in live if p.shape is Shape.STEP]
        self.moves = [Move(layout, rule, at) for rule, at in moves(layout)]
        self.enabled = [self.choices(list(of)) for _, of in itertools.groupby(self.moves, lambda m: m.rule.name)]
        self.at_rest = [(p.name, self.judge(p), frozenset(p.apart_from)) for p in live if p.shape is Shape.REST]
        self.home = [(p.name, self.judge(p), frozenset(p.apart_from)) for p in live if p.shape is Shape.HOME]

    def judge(self, declared: Property) -> Memory:
        return truth(self.layout, declared.term, {})

    def choices(self, of_rule: list[Move]) -> Memory:
        """Which of these moves are enabled."""
        return Memory(self.layout, lambda state: tuple(m for m in of_rule if m.enabled(state)))

    def forgettings(self) -> Iterator[Memory]:
        """What may be forgotten of each choice of members, as cells to write."""
        for declared in self.layout.model.forgets:
            for at in itertools.product(*(members(v.domain, self.layout.world) for v in declared.members)):
                one = Forgetful(self.layout, declared, at)
                if one.writes:
                    yield remembered(self.layout, one)

    def kept(self, state: State) -> State:
        """The state, without what may be forgotten."""
        if not self.forgets:
            return state
        kept = bytearray(state)
        for forgets in self.forgets:
            for place, value in forgets(state):
                kept[place] = value
        return kept

    def chosen(self, state: State) -> Iterator[tuple[Move, Effect]]:
        """Each enabled move with what it does."""
        for enabled in self.enabled:
            known = enabled.known.get(enabled.take(state))
            for move in enabled(state) if known is None else known:
                yield move, move.effect(state)

    def steps(self, state: State) -> Iterator[tuple[Move, State, bool]]:
        """Each enabled move with the state it leads to, and whether that is out of bounds."""
        for move, effect in self.chosen(state):
            yield move, self.then(state, effect), effect.beyond

    def then(self, state: State, effect: Effect) -> State:
        """The state behind a step; a tuple if it is out of bounds."""
        return (
            tuple(then_of(list(state), effect.writes))
            if effect.beyond
            else bytes(then_of(bytearray(state), effect.writes))
        )

    def broken(self, state: State) -> list[str]:
        """The properties of states that are false here."""
        return false_of(self.of_states, state)

    def broken_by(self, before: State, then: State) -> list[str]:
        """The properties of steps that are false of this one."""
        if type(then) is tuple:
            before = tuple(before)
        return false_of(self.of_steps, before + then)  # type: ignore[operator]

    def broken_at_rest(self, state: State, enabled: frozenset[str]) -> list[str]:
        return [name for name, holds, apart in self.at_rest if enabled <= apart and not holds(state)]

    def out_of_bounds(self, state: State) -> list[str]:
        return sorted({f"bounds.{c.field.name}" for c in self.layout.out_of_bounds(state)})


@dataclass
class Books:
    """What the second search has counted and found."""

    states: set[bytes] = field(default_factory=set)
    transitions: int = 0
    beyond: int = 0
    violated: set[str] = field(default_factory=set)


def depth_first(rules: Rules) -> Books:
    """Visit every state, the newest first. Nothing is explored behind a state that is out of bounds."""
    books = Books(states={rules.initial})
    todo = [rules.initial]
    while todo:
        state = todo.pop()
        books.violated.update(rules.broken(state))
        enabled = set()
        for move, effect in rules.chosen(state):
            books.transitions += 1
            enabled.add(move.rule.name)
            then = rules.then(state, effect)
            books.violated.update(rules.broken_by(state, then))
            if effect.beyond:
                books.beyond += 1
                books.violated.update((*rules.broken(then), *rules.out_of_bounds(then)))
            else:
                kept = bytes(rules.kept(then))
                if kept not in books.states:
                    books.states.add(kept)
                    todo.append(kept)
        books.violated.update(rules.broken_at_rest(state, frozenset(enabled)))
    return books


def breadth_first(rules: Rules, depth: int) -> dict[str, int]:
    """How many steps the shortest way to each violated property takes, of those that take at most `depth`."""
    lengths: dict[str, int] = {}
    seen, level = {rules.initial}, [rules.initial]
    for length in range(depth + 1):
        following: list[bytes] = []
        for state in level:
            enabled = set()
            found = rules.broken(state)
            later: list[str] = []
            for move, effect in rules.chosen(state):
                enabled.add(move.rule.name)
                then = rules.then(state, effect)
                later += rules.broken_by(state, then)
                if effect.beyond:
                    later += (*rules.broken(then), *rules.out_of_bounds(then))
                elif then not in seen:
                    seen.add(bytes(then))
                    following.append(bytes(then))
            for name in (*found, *rules.broken_at_rest(state, frozenset(enabled))):
                lengths.setdefault(name, length)
            if length < depth:
                for name in later:
                    lengths.setdefault(name, length + 1)
        level = following
    return lengths


def lost_after(rules: Rules, name: str) -> int | None:
    """How many steps it takes to come where nothing leads to a state at rest any more; None if that cannot happen."""
    _, at_home, apart = next(h for h in rules.home if h[0] == name)
    lengths = {rules.initial: 0}
    order = [rules.initial]
    into: dict[bytes, list[bytes]] = {}
    for state in order:
        for move, then, beyond in rules.steps(state):
            assert not beyond, "a home check needs every state"
            if then not in lengths:
                lengths[bytes(then)] = lengths[state] + 1
                order.append(bytes(then))
            if move.rule.name not in apart:
                into.setdefault(bytes(then), []).append(state)
    safe = {state for state in order if at_home(state)}
    todo = list(safe)
    while todo:
        new = [s for s in into.get(todo.pop(), []) if s not in safe]
        safe.update(new)
        todo += new
    return next((lengths[state] for state in order if state not in safe), None)
