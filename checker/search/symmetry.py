"""The exact normal form of a state under renaming of interchangeable members (identical requests, blocks).

Members of an index without an order can be told apart only by the dials and the fields, so renaming them maps
runs to runs. States that differ by a renaming are explored once. The form is exact: two states have the same
normal form if and only if one is a renaming of the other. It preserves every property the language can state
(none can name a member), dead ends, the home check and the length of shortest traces. It does not preserve fair
cycles, and is not used for them.

How: one index, the columns (the blocks), is put in order by sorting its columns of cells. For the others (the
requests), members are sorted by keys that no renaming of anything changes; where keys tie, every order of the
tied members is tried and the least result taken. Tied members whose cells are wholly equal need no trying.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from operator import itemgetter
from typing import Any

from model.language.terms import Index
from model.readings.layout import Layout

State = Any  # bytes, or a tuple of ints
Getter = Callable[[Sequence[int]], Any]
Order = tuple[tuple[int, ...], ...]  # for each outer index, which member comes first, second, ...


class Ranking:
    """Puts the members of one index in order by keys, class by class, and lists the orders that ties leave open."""

    def __init__(self, ranks: list[int], keys: list[Getter], rows: list[Getter], single: bool) -> None:
        self.ranks, self.keys, self.rows, self.single = ranks, keys, rows, single
        self.places = sorted(range(len(ranks)), key=ranks.__getitem__)
        self.uniform = len(set(ranks)) == 1

    def orders(self, state: Sequence[int]) -> list[tuple[int, ...]]:
        looks = [(rank, key(state)) for rank, key in zip(self.ranks, self.keys, strict=True)]
        ranked = sorted(self.places, key=looks.__getitem__)
        groups: list[list[tuple[int, ...]]] = []
        start = 0
        for at in range(1, len(ranked) + 1):
            if at == len(ranked) or looks[ranked[at]] != looks[ranked[start]]:
                groups.append(self._distinct(tuple(ranked[start:at]), state))
                start = at
        return [self._place(itertools.chain.from_iterable(picked)) for picked in itertools.product(*groups)]

    def _distinct(self, tied: tuple[int, ...], state: Sequence[int]) -> list[tuple[int, ...]]:
        """The orders of tied members that can differ: exchanging two whose cells are all equal changes nothing."""
        if len(tied) == 1 or (self.single and len({self.rows[m](state) for m in tied}) == 1):
            return [tied]
        return list(itertools.permutations(tied))

    def _place(self, ranked: Iterable[int]) -> tuple[int, ...]:
        """Members in rank order, put into the positions of their own class."""
        if self.uniform:
            return tuple(ranked)
        order = [0] * len(self.ranks)
        for place, member in zip(self.places, ranked, strict=True):
            order[place] = member
        return tuple(order)


class Symmetry:
    """Renames states of one layout. `pack` makes a state of a sequence of stored numbers."""

    def __init__(self, layout: Layout, pack: Callable[[Iterable[int]], State]) -> None:
        self.layout, self.pack = layout, pack
        free = [i for i in layout.sizes if not i.ordered and layout.sizes[i] > 1]
        self.classes = {index: self._classes(index) for index in free}
        alike = layout.columns in free and len(set(self.classes[layout.columns])) == 1
        self.columns = layout.columns if alike else None
        self.outer = [i for i in free if i is not self.columns]
        self.head = sum(1 for c in layout.cells if self.columns not in c.field.indices)
        self.width = (len(layout.cells) - self.head) // layout.sizes[self.columns] if self.columns else 0
        self.ranking = [self._ranking(index) for index in self.outer]
        self.moves: dict[Order, Callable[[Sequence[int]], tuple[int, ...]]] = {}
        self.identity: Order = tuple(tuple(range(layout.sizes[i])) for i in self.outer)

    def _classes(self, index: type[Index]) -> list[int]:
        """Members with equal dials are in one class; only they may be exchanged."""
        world, dials = self.layout.world, self.layout.model.dials
        looks = [tuple(world.of(d, m) for d in dials if d.index is index) for m in range(self.layout.sizes[index])]
        return [looks.index(look) for look in looks]

    def _ranking(self, index: type[Index]) -> Ranking:
        """The keys of the index's members, their full rows of cells, and whether equal rows may be exchanged."""
        members = range(self.layout.sizes[index])
        rows = [_getter(self._places(index, m)) for m in members]
        single = all(c.field.indices.count(index) < 2 for c in self.layout.cells)
        return Ranking(self.classes[index], [self._key(index, m) for m in members], rows, single)

    def _places(self, index: type[Index], member: int) -> list[int]:
        return [
            place
            for place, cell in enumerate(self.layout.cells)
            if any(i is index and a == member for i, a in zip(cell.field.indices, cell.at, strict=True))
        ]

    def _key(self, index: type[Index], member: int) -> Callable[[Sequence[int]], tuple[Any, ...]]:
        """What a member looks like whatever the others are called: its own cells, and its other cells as multisets."""
        free = (*self.outer, self.columns)
        own: list[int] = []
        shared: dict[Any, list[int]] = {}
        for place in self._places(index, member):
            cell = self.layout.cells[place]
            if cell.field.indices.count(index) != 1:
                continue
            fixed = tuple(a for i, a in zip(cell.field.indices, cell.at, strict=True) if i not in free)
            if any(i in free and i is not index for i in cell.field.indices):
                shared.setdefault((cell.field, fixed), []).append(place)
            else:
                own.append(place)
        take_own = _getter(own)
        take_shared = [_getter(places) for places in shared.values()]
        if len(take_shared) == 1:
            take = take_shared[0]
            return lambda s: (take_own(s), sorted(take(s)))
        return lambda s: (take_own(s), *[sorted(take(s)) for take in take_shared])

    # -------------------------------------------------------------------------------- normal form
    def normal(self, state: State) -> State:
        """The normal form: the least of the state's renamings in a fixed comparison."""
        if not self.outer:
            return self._sort_columns(state)
        orders = list(self._orders(state))
        if len(orders) == 1:
            return self._sort_columns(self.move(orders[0], state))
        return min(self._sort_columns(self.move(order, state)) for order in orders)

    def _orders(self, state: Sequence[int]) -> Iterator[Order]:
        tried = [list(ranking.orders(state)) for ranking in self.ranking]
        return itertools.product(*tried)

    def _sort_columns(self, state: State) -> State:
        if self.columns is None:
            return self.pack(state)
        head, width = self.head, self.width
        columns = sorted([state[at : at + width] for at in range(head, len(state), width)])
        if self.pack is bytes:
            return b"".join((state[:head], *columns))
        return self.pack(itertools.chain(state[:head], *columns))

    # ------------------------------------------------------------------------------------ moving
    def move(self, order: Order, state: State) -> State:
        """The state with the outer members renamed: the one called order[0] becomes the first, and so on."""
        if order == self.identity:
            return state
        take = self.moves.get(order)
        if take is None:
            take = self.moves[order] = _getter(self._sources(order, ()))
        return self.pack(take(state))

    def _sources(self, order: Order, column_order: tuple[int, ...]) -> list[int]:
        renamed = dict(zip(self.outer, order, strict=True))
        if self.columns is not None and column_order:
            renamed[self.columns] = column_order
        return [
            self.layout.position[
                (
                    c.field,
                    tuple(renamed[i][a] if i in renamed else a for i, a in zip(c.field.indices, c.at, strict=True)),
                )
            ]
            for c in self.layout.cells
        ]

    # ------------------------------------------------------------------------------------- orbits
    def renamings(self) -> Iterator[Callable[[Sequence[int]], State]]:
        """Every renaming of interchangeable members, as a function on states."""
        outer = [self._permutations(index) for index in self.outer]
        columns = self._permutations(self.columns) if self.columns else [()]
        for *order, column_order in itertools.product(*outer, columns):
            yield self._renaming(tuple(order), column_order)

    def _renaming(self, order: Order, column_order: tuple[int, ...]) -> Callable[[Sequence[int]], State]:
        take = _getter(self._sources(order, column_order))
        return lambda state: self.pack(take(state))

    def _permutations(self, index: type[Index]) -> list[tuple[int, ...]]:
        ranks = self.classes[index]
        every = itertools.permutations(range(len(ranks)))
        return [p for p in every if all(ranks[a] == ranks[b] for a, b in enumerate(p))]

    @property
    def size(self) -> int:
        """How many renamings there are."""
        sizes = [ranks.count(rank) for ranks in self.classes.values() for rank in set(ranks)]
        return math.prod(math.factorial(n) for n in sizes)


def _getter(places: list[int]) -> Callable[[Sequence[int]], tuple[int, ...]]:
    if len(places) == 1:
        only = places[0]
        return lambda s: (s[only],)
    return itemgetter(*places) if places else lambda s: ()
