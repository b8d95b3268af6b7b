"""Where each cell of a world's state lies in a flat sequence of whole numbers, and what the numbers stand for."""

from __future__ import annotations

import enum
import itertools
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from model.language.errors import LanguageError
from model.language.model import Model, indices_of
from model.language.state import Field
from model.language.terms import BOOL, INT, Index, Moment, Sort, lift
from model.readings.interpret import Read, evaluate
from model.readings.world import World, members


@dataclass(frozen=True)
class Cell:
    """One cell: a field at given positions of its indices, with its inclusive bounds as stored numbers."""

    field: Field
    at: tuple[int, ...]
    low: int
    high: int
    initial: int

    @property
    def label(self) -> str:
        """A Python identifier: table_r0_b1, or phase_ for a single cell, which no name of generated source ends like."""
        parts = [f"{i.short}{m}" for i, m in zip(self.field.indices, self.at, strict=True)]
        return "_".join([self.field.name, *(parts or [""])])

    @property
    def text(self) -> str:
        """As a trace shows it: table[r0, b1]."""
        parts = [member_name(i, m) for i, m in zip(self.field.indices, self.at, strict=True)]
        return f"{self.field.name}[{', '.join(parts)}]" if parts else self.field.name


def member_name(index: type[Index], position: int) -> str:
    return f"{index.short}{position}"


def code(sort: Sort, value: Any) -> int:
    """A value as the number that stores it: False/True 0/1, an Enum member its position, an Int itself."""
    if isinstance(value, enum.Enum):
        return list(sort.of).index(value)
    return int(value)


def decode(sort: Sort, stored: int) -> Any:
    if sort == BOOL:
        return bool(stored)
    return stored if sort == INT else list(sort.of)[stored]


class Layout:
    """The cells of a model in a world. Cells of the index `columns` come last, member by member."""

    def __init__(self, model: Model, world: World) -> None:
        self.model, self.world = model, world
        self.sizes = {index: len(members(index, world)) for index in indices_of(model)}
        self.columns = self._column_index()
        cells = [c for f in model.state.fields() if evaluate(f.needs, world) for c in self._cells(f)]
        self.cells = tuple(sorted(cells, key=self._place))
        self.position = {(c.field, c.at): i for i, c in enumerate(self.cells)}
        self.initial = tuple(c.initial for c in self.cells)

    def _cells(self, field: Field) -> list[Cell]:
        return [self._cell(field, at) for at in itertools.product(*(range(self.sizes[i]) for i in field.indices))]

    def _cell(self, field: Field, at: tuple[int, ...]) -> Cell:
        if field.sort == INT:
            variables = [i.variable(i.short) for i in field.indices]
            env = {v.data: m for v, m in zip(variables, at, strict=True)}
            low, high = (evaluate(lift(b(*variables)), self.world, env) for b in (field.kind.low, field.kind.high))
        else:
            low, high = 0, 1 if field.sort == BOOL else len(list(field.sort.of)) - 1
        cell = Cell(field, at, low, high, code(field.sort, field.initial))
        if not low <= cell.initial <= high:
            raise LanguageError(
                f"{cell.text} begins at {cell.initial}, but its bounds in the world {self.world.name} are {low} and {high}; "
                "give the field an initial value within them."
            )
        return cell

    def _column_index(self) -> type[Index] | None:
        """The largest index without an order that no field has twice: sorting its columns makes them canonical."""
        fields = self.model.state.fields()
        fit = [i for i in self.sizes if not i.ordered and all(f.indices.count(i) < 2 for f in fields)]
        return max(fit, key=lambda i: self.sizes[i]) if fit else None

    def _place(self, cell: Cell) -> int:
        if self.columns not in cell.field.indices:
            return -1
        return cell.at[cell.field.indices.index(self.columns)]

    def reader(self, now: Sequence[int], then: Sequence[int] = ()) -> Read:
        """How the interpreter reads these states. A cell that does not exist has its field's initial value."""

        def read(field: Field, moment: Moment, at: tuple[int, ...]) -> Any:
            place = self.position.get((field, at))
            if place is None:
                return field.initial
            return decode(field.sort, (now if moment is Moment.NOW else then)[place])

        return read

    def value(self, state: Sequence[int], place: int) -> Any:
        """The value in one cell of a state, as its sort has it."""
        return decode(self.cells[place].field.sort, state[place])

    def out_of_bounds(self, state: Sequence[int]) -> list[Cell]:
        return [c for c, v in zip(self.cells, state, strict=True) if not c.low <= v <= c.high]
