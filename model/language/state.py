"""Fields and the two views of a state that a rule is recorded with: `now`, which is read, and `after`, which is written."""

from __future__ import annotations

import difflib
import enum
import inspect
from collections.abc import Callable
from dataclasses import dataclass
from dataclasses import field as dataclass_field
from typing import TYPE_CHECKING, Any, NoReturn, overload

from model.language.build import members_of
from model.language.dials import dials_only
from model.language.errors import Unapplied, refuse
from model.language.terms import (
    BOOL,
    INT,
    Index,
    Moment,
    Op,
    Sort,
    Term,
    Value,
    enum_sort,
    index_sort,
    lift,
    reads_state,
    want,
)

if TYPE_CHECKING:
    from model.language.rules import Recorder


@dataclass(frozen=True)
class Kind:
    """A field's sort with, for an Int, its bounds as dial terms of the field's own indices (both inclusive)."""

    sort: Sort
    low: Callable[..., Value] = lambda *_: 0
    high: Callable[..., Value] = lambda *_: 0


flag = Kind(BOOL)


def upto(high: Value | Callable[..., Value], low: Value | Callable[..., Value] = 0) -> Kind:
    """An Int from `low` (0) to `high`, each a number, a dial term, or a function of the field's indices."""
    return Kind(INT, *(b if callable(b) and not isinstance(b, Term) else _always(b) for b in (low, high)))


def _always(value: Value) -> Callable[..., Value]:
    return lambda *_: value


@dataclass(frozen=True, eq=False)
class Field:
    """A part of the state: a function of its indices. Fields compare by identity."""

    kind: Kind
    indices: tuple[type[Index], ...]
    initial: Any
    doc: str
    needs: Term
    name: str = dataclass_field(default="")

    @property
    def sort(self) -> Sort:
        return self.kind.sort

    def __set_name__(self, owner: type, name: str) -> None:
        object.__setattr__(self, "name", name)


class Table(Field):
    """A field with one cell for each member of its indices."""

    @overload
    def __get__(self, state: None, owner: type) -> Field: ...
    @overload
    def __get__(self, state: State, owner: type) -> Cells: ...
    def __get__(self, state: State | None, owner: type) -> Field | Cells:
        return self if state is None else Cells(self, state)

    def __set__(self, state: State, value: Any) -> NoReturn:
        raise refuse(f"{self.name} is a function of its indices; write after.{self.name}[...] = value.")


class Scalar(Field):
    """A field with a single cell: `now.coordinator`, `after.coordinator = value`."""

    @overload
    def __get__(self, state: None, owner: type) -> Field: ...
    @overload
    def __get__(self, state: State, owner: type) -> Term: ...
    def __get__(self, state: State | None, owner: type) -> Field | Term:
        return self if state is None else Cells(self, state)[()]

    def __set__(self, state: State, value: Value) -> None:
        Cells(self, state)[()] = value


def field(
    kind: Kind | type[enum.Enum], *indices: type[Index], initial: Value = None, doc: str, needs: Value = True
) -> Table:
    """Declare a field; without `initial` it starts False, 0 or at the Enum's first member.

    Where `needs` (a Bool over dials) is false the field has no cells and reads its initial value.
    """
    if not indices:
        raise refuse("a field without an index is a scalar; write scalar(...).")
    return Table(*_declared(kind, indices, initial, doc, needs))


def scalar(kind: Kind | type[enum.Enum], initial: Value = None, doc: str = "", needs: Value = True) -> Scalar:
    """Declare a field with a single cell."""
    return Scalar(*_declared(kind, (), initial, doc, needs))


def _declared(
    kind: Kind | type[enum.Enum], indices: tuple[type[Index], ...], initial: Value, doc: str, needs: Value
) -> tuple[Kind, tuple[type[Index], ...], Any, str, Term]:
    if isinstance(kind, type) and issubclass(kind, enum.Enum):
        kind = Kind(enum_sort(kind))
    if not isinstance(kind, Kind):
        raise refuse(f"{kind!r} is no kind of field; write flag, upto(high) or a subclass of Enum.")
    for index in indices:
        members_of(index, "a field")
    bounds(kind, indices)
    if initial is None:
        initial = False if kind.sort == BOOL else 0 if kind.sort == INT else next(iter(kind.sort.of))
    want(initial, kind.sort, "the initial value")
    return kind, indices, initial, doc, dials_only(needs, "needs=")


def bounds(kind: Kind, indices: tuple[type[Index], ...]) -> tuple[Term, Term]:
    """The least and the greatest value of an Int as terms over dials, for indices named by their short names."""
    variables = [i.variable(i.short) for i in indices]
    low, high = (want(b(*variables), INT, "a bound") for b in (kind.low, kind.high))
    for term in (low, high):
        if reads_state(term):
            raise refuse(f"the bound ({term}) reads the state, but dials alone decide it; make it a property.")
    return low, high


class Cells(Unapplied):
    """A field seen in one state. `cells[r, b]` is a term; on `after` it can be written."""

    def __init__(self, field: Field, state: State) -> None:
        self.field, self.state = field, state

    def signature(self) -> tuple[str, str]:
        return self.field.name, ", ".join(i.__name__ for i in self.field.indices)

    @property
    def spelled(self) -> str:
        return f"{self.field.name}[...]" if self.field.indices else self.field.name

    def __getitem__(self, key: Any) -> Term:
        if self.state.recorder is not None:
            raise refuse(f"`after` is only written; read now.{self.spelled}, the state before the step.")
        return Term(Op.FIELD, self.indices(key), self.field.sort, (self.field, self.state.moment))

    def __setitem__(self, key: Any, value: Value) -> None:
        if self.state.recorder is None:
            raise refuse(f"this state is only read; write after.{self.spelled} = value in a rule.")
        self.state.recorder.write(self.field, self.indices(key), want(value, self.field.sort, self.field.name))

    def indices(self, key: Any) -> tuple[Term, ...]:
        terms = tuple(lift(k) for k in (key if isinstance(key, tuple) else (key,)))
        wanted = tuple(index_sort(i) for i in self.field.indices)
        if tuple(t.sort for t in terms) != wanted:
            got = ", ".join(f"({t}) of sort {t.sort}" for t in terms) or "nothing"
            names = ", ".join(str(s) for s in wanted) or "()"
            raise refuse(
                f"{self.field.name} is a function of [{names}], but was given {got}; write {self.field.name}[{names}]."
            )
        return terms


class State:
    """Subclass it and declare fields. An instance is a view of one state, for recording only."""

    def __init__(self, moment: Moment, recorder: Recorder | None = None) -> None:
        self.moment, self.recorder = moment, recorder

    @classmethod
    def fields(cls) -> tuple[Field, ...]:
        """The declared fields, in the order of declaration."""
        found: dict[str, Field] = {}
        for base in reversed(inspect.getmro(cls)):
            found.update({n: f for n, f in vars(base).items() if isinstance(f, Field)})
        return tuple(found.values())

    def __init_subclass__(cls) -> None:
        for name in (n for n, f in vars(cls).items() if isinstance(f, Field)):
            if name in ("moment", "recorder") or hasattr(State, name):
                raise refuse(f"{cls.__name__} has a field {name}, which every state has already; give it another name.")

    def __getattr__(self, name: str) -> NoReturn:
        if name.startswith("__"):
            raise AttributeError(name)
        raise refuse(self._unknown(name))

    def __setattr__(self, name: str, value: Any) -> None:
        if name in ("moment", "recorder") or hasattr(type(self), name):
            super().__setattr__(name, value)
        else:
            raise refuse(self._unknown(name))

    def _unknown(self, name: str) -> str:
        known = [f.name for f in self.fields()]
        near = difflib.get_close_matches(name, known, 1)
        remedy = f"did you mean {near[0]}?" if near else f"it has {', '.join(known)}."
        return f"{type(self).__name__} has no field {name}; {remedy}"
