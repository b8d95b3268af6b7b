"""What makes a search by the interpreter affordable: what was computed once is remembered by the cells that were read.

The cells are noted as they are read, not foretold from the declaration, so nothing here rests on what the readings
under test believe a rule reads. What is large is taken apart (a conjunction into its parts, "for all" into its members,
an effect into its cells), because a part reads fewer cells than the whole and has its answer ready more often.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator, Sequence
from operator import itemgetter
from typing import Any

from model.language.model import Model
from model.language.rules import Update
from model.language.state import Field
from model.language.terms import Moment, Op, Term, Var
from model.readings.interpret import Read, evaluate
from model.readings.layout import Layout, code
from model.readings.world import World, members

State = Sequence[int]
Env = dict[Var, Any]
Writes = tuple[tuple[int, int], ...]
UNKNOWN = object()
ENOUGH = 60_000  # answers kept by one memory


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

    def value(self, term: Term, env: Env, state: State) -> Any:  # type: ignore[override]
        """The term's value in a state, or in two that follow each other, one written behind the other."""
        width = len(self.cells)
        return evaluate(term, self.world, env, self.reader(state[:width], state[width:]))


class Memory:
    """Remembers what a function gives, by the values of the cells that it reads.

    The keys are the cells that any computation so far has read. An answer is kept only under keys that cover all it
    has read, so another state with the same values there has the same answer. A computation that reads a new cell makes
    all that is remembered void.
    """

    def __init__(self, layout: Watched, compute: Callable[[State], Any]) -> None:
        self.layout, self.compute = layout, compute
        self.places: list[int] = []
        self.rests_on: dict[int, None] = {}
        self.take: Callable[[State], Any] = lambda s: ()
        self.known: dict[Any, Any] = {}

    def __call__(self, state: State) -> Any:
        found = self.known.get(self.take(state), UNKNOWN)
        return self.computed(state) if found is UNKNOWN else found

    def part(self, state: State) -> Any:
        """The answer as a part of a larger one, which then rests on the cells that this one rests on."""
        found = self(state)
        self.layout.noted.update(self.rests_on)
        return found

    def computed(self, state: State) -> Any:
        outside, self.layout.noted = self.layout.noted, {}
        result = self.compute(state)
        fresh = self.layout.noted.keys() - self.rests_on.keys()
        self.layout.noted = outside
        if fresh:
            self.places += sorted(fresh)
            self.take = itemgetter(*self.places)
            self.rests_on = dict.fromkeys(self.places)
        if fresh or len(self.known) > ENOUGH:
            self.known = {}
        self.known[self.take(state)] = result
        return result


class Fork:
    """Here a computation reads a cell; how it goes on depends on the value."""

    def __init__(self, place: int) -> None:
        self.place = place
        self.on: dict[int, Any] = {}


class Tree:
    """A computation, remembered by exactly what it reads: which cell is next depends on the values of those before."""

    def __init__(self, layout: Watched, compute: Callable[[State], Any]) -> None:
        self.layout, self.compute = layout, compute
        self.root: Any = UNKNOWN

    def __call__(self, state: State) -> Any:
        noted, node = self.layout.noted, self.root
        while type(node) is Fork:
            noted[node.place] = None
            node = node.on.get(state[node.place], UNKNOWN)
        return self.computed(state) if node is UNKNOWN else node

    def computed(self, state: State) -> Any:
        outside, self.layout.noted = self.layout.noted, {}
        result = self.compute(state)
        read = list(self.layout.noted)
        self.layout.noted = outside
        self.layout.noted.update(dict.fromkeys(read))
        following: list[Any] = [*(Fork(place) for place in read), result]
        if self.root is UNKNOWN:
            self.root = following[0]
        node = self.root
        for place, behind in zip(read, following[1:], strict=True):
            assert node.place == place, "what is read next depends on more than was read"
            node = node.on.setdefault(state[place], behind)
        return result


def remembered(layout: Watched, compute: Callable[[State], Any]) -> Memory:
    """A computation by the interpreter that is not made of others."""
    return Memory(layout, Tree(layout, compute))


def truth(layout: Watched, term: Term, env: Env) -> Memory:
    """Whether the term is true."""
    parts = [remembered(layout, asked(layout, t, e)) for t, e in apart(layout.world, term, env)]
    return parts[0] if len(parts) == 1 else Memory(layout, lambda state: all(p.part(state) for p in parts))


def asked(layout: Watched, term: Term, env: Env) -> Callable[[State], bool]:
    return lambda state: bool(layout.value(term, env, state))


def apart(world: World, term: Term, env: Env) -> Iterator[tuple[Term, Env]]:
    """Terms, with what their variables stand for, that are all true where this one is."""
    if term.op is Op.AND:
        for side in term.args:
            yield from apart(world, side, env)
    elif term.op is Op.FORALL:
        for member in range(evaluate(term.data.domain.size, world)):
            yield from apart(world, term.args[-1], {**env, term.data: member})
    else:
        yield term, env


def written(layout: Watched, updates: Sequence[Update], env: Env) -> Iterator[Memory]:
    """What each cell that these updates name is written, if it exists: its place and the number stored there."""
    for update in updates:
        for at in itertools.product(*(members(v.domain, layout.world) for v in update.bound)):
            yield remembered(layout, assigned(layout, update, {**env, **dict(zip(update.bound, at, strict=True))}))


def assigned(layout: Watched, update: Update, env: Env) -> Callable[[State], Writes]:
    def assign(state: State) -> Writes:
        place = layout.position.get((update.field, tuple(layout.value(i, env, state) for i in update.indices)))
        return () if place is None else ((place, code(update.field.sort, layout.value(update.value, env, state))),)

    return assign
