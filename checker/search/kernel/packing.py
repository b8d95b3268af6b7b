"""Where each cell lies in a packed state of 64-bit words, and how members of an index change places there.

A cell takes as many bits as its bounds need. What belongs to one member lies together, so that a member is one piece
and exchanging two takes a few operations on whole words.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

from checker.search.symmetry import Symmetry
from model.readings.layout import Layout

WORD = 64

Signature = tuple[tuple[Any, int], ...]  # the members of renamed indices that a cell belongs to


class Piece(NamedTuple):
    """Neighbouring bits of a word, `width` of them from `shift` on."""

    word: int
    shift: int
    width: int

    @property
    def mask(self) -> int:
        return (1 << self.width) - 1


class Swap(NamedTuple):
    """Exchanges the bits `mask` of word `a` with those `up` higher in word `b`."""

    mask: int
    a: int
    b: int
    up: int


@dataclass(frozen=True)
class Look:
    """A piece of what a member looks like, with the own piece of whom it shares it with, if that is one member."""

    piece: Piece
    beside: Piece | None
    role: int


class Packing:
    """The places of a layout's cells in a packed state, for a search with this symmetry or with none."""

    def __init__(self, layout: Layout, symmetry: Symmetry | None) -> None:
        self.layout, self.symmetry = layout, symmetry
        self.width = [(c.high - c.low).bit_length() for c in layout.cells]
        self.signature = [self._signature(place) for place in range(len(layout.cells))]
        self.word = [0] * len(layout.cells)
        self.shift = [0] * len(layout.cells)
        self.used: list[int] = []
        for unit in sorted(self._units(), key=self._size, reverse=True):
            self._put(unit)
        self.words = max(1, len(self.used))

    # ------------------------------------------------------------------------------------ placing
    def _signature(self, place: int) -> Signature:
        cell = self.layout.cells[place]
        renamed = (*self.symmetry.outer, self.symmetry.columns) if self.symmetry else ()
        return tuple((i, a) for i, a in zip(cell.field.indices, cell.at, strict=True) if i in renamed)

    def _units(self) -> list[list[int]]:
        """The cells in groups that lie together: a column, an outer member's own, and others by whose they are."""
        groups: dict[Any, list[int]] = {}
        for place in (p for p, width in enumerate(self.width) if width):
            column = [a for i, a in self.signature[place] if self.symmetry and i is self.symmetry.columns]
            groups.setdefault(("column", *column) if column else self.signature[place], []).append(place)
        return [part for group in groups.values() for part in self._parts(sorted(group, key=self._within))]

    def _within(self, place: int) -> tuple[Any, ...]:
        """The order of cells that is the same for each column: by whose they are beside the column's, then as declared."""
        others = [(str(i), a) for i, a in self.signature[place] if self.symmetry and i is not self.symmetry.columns]
        return others, place

    def _parts(self, group: list[int]) -> list[list[int]]:
        """The group in parts that each fit a word."""
        parts: list[list[int]] = [[]]
        for place in group:
            if self._size([*parts[-1], place]) > WORD:
                parts.append([])
            parts[-1].append(place)
        return parts

    def _size(self, places: Iterable[int]) -> int:
        return sum(self.width[p] for p in places)

    def _put(self, unit: list[int]) -> None:
        """Into the first word that has room."""
        size = self._size(unit)
        word = next((w for w, used in enumerate(self.used) if used + size <= WORD), len(self.used))
        if word == len(self.used):
            self.used.append(0)
        for place in unit:
            self.word[place], self.shift[place] = word, self.used[word]
            self.used[word] += self.width[place]

    # ----------------------------------------------------------------------------------- renaming
    def pieces(self, places: Iterable[int]) -> list[Piece]:
        """The cells as pieces, neighbours together."""
        found: list[Piece] = []
        for place in places:
            here = Piece(self.word[place], self.shift[place], self.width[place])
            last = found[-1] if found else None
            if last and (last.word, last.shift + last.width) == here[:2]:
                found[-1] = Piece(last.word, last.shift, last.width + here.width)
            elif here.width:
                found.append(here)
        return found

    def columns(self) -> list[list[Piece]]:
        """Each column in pieces, all alike; empty if no index is sorted by columns."""
        if self.symmetry is None or self.symmetry.columns is None:
            return []
        index = self.symmetry.columns
        members = [
            sorted((p for p, s in enumerate(self.signature) if (index, m) in s), key=self._within)
            for m in range(self.layout.sizes[index])
        ]
        return [self.pieces(places) for places in members]

    def own(self, index: Any, member: int) -> list[Piece]:
        """What is the member's and nobody else's."""
        return self.pieces(self._groups.get(((index, member),), []))

    @cached_property
    def _groups(self) -> dict[Signature, list[int]]:
        """The cells by whose they are."""
        groups: dict[Signature, list[int]] = {}
        for place in sorted(range(len(self.signature)), key=self._within):
            groups.setdefault(self.signature[place], []).append(place)
        return groups

    def looks(self, index: Any, member: int) -> list[Look]:
        """What a member shares with others, whatever they are called."""
        groups = self._groups
        roles = list(dict.fromkeys(tuple(i for i, _ in s) for s in groups))
        found = []
        for signature, places in groups.items():
            role = tuple(i for i, _ in signature)
            if (index, member) in signature and len(role) > 1 and role.count(index) == 1:
                beside = self._beside(signature, index)
                for n, piece in enumerate(self.pieces(places)):
                    found.append(Look(piece, beside, 1 + roles.index(role) + len(roles) * n))
        return found

    def _beside(self, signature: Signature, index: Any) -> Piece | None:
        others = tuple((i, a) for i, a in signature if i is not index)
        own = self.pieces(self._groups.get(others, [])) if len(others) == 1 else []
        return own[0] if own else None

    def swaps(self, index: Any, i: int, j: int) -> list[Swap]:
        """What exchanging two members of an index takes."""
        renamed = {i: j, j: i}
        merged: dict[tuple[int, int, int], int] = {}
        for place, cell in enumerate(self.layout.cells):
            at = tuple(renamed.get(a, a) if x is index else a for x, a in zip(cell.field.indices, cell.at, strict=True))
            other = self.layout.position[cell.field, at]
            if place < other and self.width[place]:
                lower, upper = sorted((place, other), key=lambda p: self.shift[p])
                up = self.shift[upper] - self.shift[lower]
                key = (self.word[lower], self.word[upper], up)
                mask = ((1 << self.width[place]) - 1) << self.shift[lower]
                merged[key] = merged.get(key, 0) | mask
        return [Swap(mask, a, b, up) for (a, b, up), mask in merged.items()]

    # ------------------------------------------------------------------------------------- states
    def packed(self, state: Sequence[int]) -> list[int]:
        """The words of a state within its bounds."""
        words = [0] * self.words
        for place, cell in enumerate(self.layout.cells):
            words[self.word[place]] |= state[place] - cell.low << self.shift[place]
        return words

    def unpacked(self, words: Sequence[int]) -> list[int]:
        """The stored numbers of a packed state."""
        cells = zip(self.layout.cells, self.word, self.shift, self.width, strict=True)
        return [c.low + (words[word] >> shift & ((1 << width) - 1)) for c, word, shift, width in cells]
