"""A second search, for the tests only: depth first, by the interpreter, with no reduction and books of its own.

The interpreter takes about a millisecond for a state. What makes whole worlds affordable is memory: the value of a term
depends only on the cells that were read while it was computed. The cells are noted as they are read, not foretold from
the declaration, so nothing here rests on what the readings under test believe a rule reads.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from operator import itemgetter
from typing import Any

from model.language.model import Model
from model.language.properties import Property, Shape
from model.language.rules import Rule
from model.language.state import Field
from model.language.terms import Moment
from model.readings.effects import after, false_guards, moves
from model.readings.interpret import Read, evaluate
from model.readings.layout import Layout
from model.readings.world import World

State = Sequence[int]
Writes = tuple[tuple[int, int], ...]
UNKNOWN = object()
UNREAD: Any = object()


class Watched(Layout):
    """A layout whose readers note every cell they are asked for: its place, for the later state behind all others."""

    def __init__(self, model: Model, world: World) -> None:
        super().__init__(model, world)
        self.noted: dict[int, None] = {}

    def reader(self, now: State, then: State = ()) -> Read:
        plain = super().reader(now, then)

        def read(field: Field, moment: Moment, at: tuple[int, ...]) -> Any:
            place = self.position.get((field, at))
            if place is not None:
                self.noted[place + (len(self.cells) if moment is Moment.THEN else 0)] = None
            return plain(field, moment, at)

        return read


class Memory:
    """Remembers what a function gives, by the values of the cells that it reads.

    The keys are the cells that any computation so far has read. An answer is kept only under keys that cover all it
    has read, so another state with the same values there has the same answer. A computation that reads a new cell makes
    all that is remembered void.
    """

    def __init__(self, layout: Watched, compute: Callable[[State], Any]) -> None:
        self.layout, self.compute = layout, compute
        self.places: list[int] = []
        self.take: Callable[[State], Any] = lambda s: ()
        self.known: dict[Any, Any] = {}

    def __call__(self, state: State) -> Any:
        found = self.known.get(self.take(state), UNKNOWN)
        return self.computed(state) if found is UNKNOWN else found

    def computed(self, state: State) -> Any:
        self.layout.noted = {}
        result = self.compute(state)
        fresh = [p for p in self.layout.noted if p not in self.places]
        if fresh:
            self.places += fresh
            self.take = itemgetter(*self.places)
            self.known = {}
        self.known[self.take(state)] = result
        return result


@dataclass(frozen=True)
class Effect:
    """The cells a move writes in states that look alike to it, and whether a value leaves its cell's bounds."""

    writes: Writes
    beyond: bool


class Move:
    """A rule with its parameters: guards asked one by one, the first false one ends it."""

    def __init__(self, layout: Watched, rule: Rule, at: tuple[int, ...]) -> None:
        self.layout, self.rule, self.at = layout, rule, at
        self.guards = [Memory(layout, self.asked(replace(rule, guards=(g,)))) for g in rule.guards]
        self.effect = Memory(layout, self.taken)

    def asked(self, alone: Rule) -> Callable[[State], bool]:
        return lambda state: not false_guards(self.layout, alone, self.at, state)

    def enabled(self, state: State) -> bool:
        return all(guard(state) for guard in self.guards)

    def taken(self, state: State) -> Effect:
        """What is written. A second run in which all that was not read is blank shows writes of what was there already."""
        after(self.layout, self.rule, self.at, state)
        read = set(self.layout.noted)
        blank = [value if place in read else UNREAD for place, value in enumerate(state)]
        result = after(self.layout, self.rule, self.at, blank)
        assert read == set(self.layout.noted), f"{self.rule.name} reads what it has not read before"
        writes = tuple(
            (p, int(v)) for p, v in enumerate(result) if v is not UNREAD and (p not in read or v != state[p])
        )
        cells = self.layout.cells
        return Effect(writes, not all(cells[p].low <= v <= cells[p].high for p, v in writes))


class Rules:
    """A model in a world, run and judged by the interpreter."""

    def __init__(self, model: Model, world: World, properties: Sequence[Property] = ()) -> None:
        self.layout = layout = Watched(model, world)
        self.initial = bytes(layout.initial)
        self.moves = [Move(layout, rule, at) for rule, at in moves(layout)]
        live = [p for p in properties if evaluate(p.needs, world)]
        self.of_states = [(p.name, self.judge(p)) for p in live if p.shape is Shape.STATE]
        self.of_steps = [(p.name, self.judge(p)) for p in live if p.shape is Shape.STEP]
        self.at_rest = [(p.name, self.judge(p), frozenset(p.apart_from)) for p in live if p.shape is Shape.REST]
        self.home = [(p.name, self.judge(p), frozenset(p.apart_from)) for p in live if p.shape is Shape.HOME]

    def judge(self, declared: Property) -> Memory:
        layout, width = self.layout, len(self.layout.cells)

        def holds(states: State) -> bool:
            read = layout.reader(states[:width], states[width:])
            return bool(evaluate(declared.term, layout.world, {}, read))

        return Memory(layout, holds)

    def steps(self, state: State) -> Iterator[tuple[Move, State, bool]]:
        """Each enabled move with the state it leads to, and whether that is out of bounds."""
        for move in self.moves:
            if move.enabled(state):
                effect: Effect = move.effect(state)
                then = list(state) if effect.beyond else bytearray(state)
                for place, value in effect.writes:
                    then[place] = value
                yield move, tuple(then) if effect.beyond else bytes(then), effect.beyond

    def broken(self, state: State) -> list[str]:
        """The properties of states that are false here."""
        return [name for name, holds in self.of_states if not holds(state)]

    def broken_by(self, before: State, then: State) -> list[str]:
        """The properties of steps that are false of this one."""
        if type(then) is tuple:
            before = tuple(before)
        both = before + then  # type: ignore[operator]
        return [name for name, holds in self.of_steps if not holds(both)]

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
        for move, then, beyond in rules.steps(state):
            books.transitions += 1
            enabled.add(move.rule.name)
            books.violated.update(rules.broken_by(state, then))
            if beyond:
                books.beyond += 1
                books.violated.update((*rules.broken(then), *rules.out_of_bounds(then)))
            elif then not in books.states:
                books.states.add(bytes(then))
                todo.append(bytes(then))
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
            for move, then, beyond in rules.steps(state):
                enabled.add(move.rule.name)
                later += rules.broken_by(state, then)
                if beyond:
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
