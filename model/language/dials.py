"""Dials: the constants a world sets. A dial is a term, so one declaration serves every world and the proof."""

from __future__ import annotations

import enum
from dataclasses import dataclass
from typing import Any

from model.language.errors import Unapplied, refuse
from model.language.terms import BOOL, INT, Index, Op, Sort, Term, Value, enum_sort, index_sort, want


@dataclass(frozen=True, eq=False)
class Dial:
    """A named constant of a world, or one for each member of an index.

    `low` is the least value a number may have; `default` is used where a world is silent, None if it must speak.
    Where `needs` is false the dial makes no difference.
    """

    name: str
    sort: Sort
    doc: str
    index: type[Index] | None = None
    low: int = 0
    default: Any = None
    needs: Term | None = None


class PerIndex(Unapplied):
    """A dial with one value for each member of an index: `prompt[r]`."""

    def __init__(self, dial: Dial) -> None:
        self.dial = dial

    def signature(self) -> tuple[str, str]:
        return self.dial.name, self.index.__name__

    @property
    def index(self) -> type[Index]:
        assert self.dial.index is not None
        return self.dial.index

    def __getitem__(self, member: Index) -> Term:
        if isinstance(member, Term) and member.op is Op.NEXT:
            raise refuse(f"{self.dial.name} has no value past the last member, which ({member}) may be; use a field.")
        return Term(
            Op.DIAL, (want(member, index_sort(self.index), f"{self.dial.name}[...]"),), self.dial.sort, self.dial
        )


def number(name: str, doc: str, low: int = 0, default: int | None = None, needs: Term | None = None) -> Term:
    """A whole number of at least `low`."""
    return Term(Op.DIAL, (), INT, Dial(name, INT, doc, low=low, default=default, needs=needs))


def number_per(
    name: str, index: type[Index], doc: str, low: int = 0, default: int | None = None, needs: Term | None = None
) -> PerIndex:
    """A whole number of at least `low` for each member of an index."""
    return PerIndex(Dial(name, INT, doc, index, low=low, default=default, needs=needs))


def switch(name: str, doc: str, default: bool) -> Term:
    """On or off."""
    return Term(Op.DIAL, (), BOOL, Dial(name, BOOL, doc, default=default))


def choice(name: str, doc: str, default: enum.Enum, needs: Term | None = None) -> Term:
    """One of an Enum's members."""
    sort = enum_sort(type(default))
    return Term(Op.DIAL, (), sort, Dial(name, sort, doc, default=default, needs=needs))


def dial_of(term: Term | PerIndex) -> Dial:
    """The declaration behind a dial term."""
    if isinstance(term, PerIndex):
        return term.dial
    if term.op is not Op.DIAL:
        raise refuse(f"({term}) is no dial; give the term that number, switch or choice returned.")
    dial = term.data
    assert isinstance(dial, Dial)
    return dial


def dials_only(condition: Value, what: str) -> Term:
    """A Bool term over dials, as `needs=` wants it."""
    from model.language.terms import reads_state

    term = want(condition, BOOL, what)
    if reads_state(term):
        raise refuse(f"{what} ({term}) reads the state, but it must be decided by the dials alone; make it a guard.")
    return term
