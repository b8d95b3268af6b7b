"""What was said in a proof: of which members, and by what.

Everything is kept by what says it, so that a query is told no more than what matters for the claims that are given in it.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from dataclasses import field as dataclass_field
from typing import Any, NamedTuple

from model.language.terms import Index, Range, Term, Var
from model.readings.products import Product
from model.readings.smt import Env, View
from model.readings.solver import Value

REMEMBERED = 4  # answers to what matters where some claims are given


class Name(NamedTuple):
    """A member of an index, by name; one of an ordered index also by its distance from a named one, or from the first."""

    of: type[Index]
    base: str
    offset: int = 0

    def __str__(self) -> str:
        return f"{self.base}+{self.offset}" if self.offset and self.base else self.base or str(self.offset)


class Number(NamedTuple):
    """A rule's parameter that is a number."""

    domain: type[Range]
    name: str


Pool = Mapping[type[Index], Mapping[Name, None]]
Tag = frozenset[Name]
NOTHING: Tag = frozenset()
# What says something: a claim, by name; a cell, a quantified formula, a sum or a product of which it speaks; "" if it is so
# in any case.
Source = Any


@dataclass(frozen=True)
class AllBut:
    """All claims but these."""

    names: frozenset[str] = frozenset()

    def __contains__(self, name: object) -> bool:
        return name not in self.names


ALL = AllBut()
Given = tuple[str, ...] | AllBut  # claims


@dataclass(eq=False)
class Universal:
    """A formula that holds for all members where `premise` does, and the members it was stated for already.

    `tag`: the members that it speaks of anyway; `claim`: the name of the claim that it is from, if it is from one.
    """

    premise: Value
    variables: tuple[Var, ...]
    body: Term
    env: Env
    now: View
    then: View | None
    sign: int
    tag: Tag
    claim: str
    done: set[tuple[Name, ...]] = dataclass_field(default_factory=set)


class Hidden(NamedTuple):
    """Why there is a member that nobody named: what is said of the members of `tag`, unless `unless` holds.

    `claim`: the name of the claim that says it, if one does.
    """

    tag: Tag
    unless: Value
    source: Source
    claim: str


@dataclass(eq=False)
class Level:
    """What was said: of every state, of one rule, or of one goal.

    `facts` are kept by what says them and by the members that they speak of; `memo` has a term's value and what was spoken
    of on the way; `met`: who speaks of a member, where it speaks of which others.
    """

    memo: dict[Any, tuple[Value, tuple[Source, ...]]] = dataclass_field(default_factory=dict)
    cells: dict[Any, Value] = dataclass_field(default_factory=dict)
    facts: dict[Source, dict[Tag, list[Any]]] = dataclass_field(default_factory=dict)
    universals: dict[Source, list[Universal]] = dataclass_field(default_factory=dict)
    met: dict[Name, dict[tuple[Source, Tag], None]] = dataclass_field(default_factory=dict)
    made: dict[type[Index], int] = dataclass_field(default_factory=dict)
    products: dict[tuple[int, int], Product] = dataclass_field(default_factory=dict)
    sums: dict[Any, None] = dataclass_field(default_factory=dict)
    goal: bool = False

    def meet(self, member: Name, source: Source = "", tag: Tag = NOTHING) -> None:
        """The source speaks of this member, where it speaks of those of the tag."""
        self.met.setdefault(member, {})[source, tag] = None


class Sources:
    """Which sources speak of which others."""

    def __init__(self) -> None:
        self.speaks: dict[Source, dict[Source, None]] = {"": {}}
        self.reached: dict[Given, dict[Source, None]] = {}  # the last answers

    def begin(self, source: Source) -> None:
        """From now on there is this source."""
        if source not in self.speaks:
            self.speaks[source] = {}
            if isinstance(source, str):
                self.reached.clear()

    def link(self, source: Source, what: Source) -> None:
        """A source speaks of another."""
        if what not in (spoken := self.speaks[source]):
            spoken[what] = None
            for found in self.reached.values():
                if source in found:
                    self._reach(found, [what])

    def relevant(self, given: Given) -> Collection[Source]:
        """The sources that matter where these claims are given: those, and all that they speak of, directly or not.

        The answer grows while more is said.
        """
        known = self.reached.get(given)
        if known is None:
            claims = given if isinstance(given, tuple) else [s for s in self.speaks if isinstance(s, str)]
            while len(self.reached) >= REMEMBERED:
                del self.reached[next(iter(self.reached))]
            known = self.reached[given] = {}
            self._reach(known, ["", *(s for s in claims if s in given)])
        return known

    def _reach(self, found: dict[Source, None], more: list[Source]) -> None:
        """Add sources, and all that they speak of."""
        while more:
            source = more.pop()
            if source not in found:
                found[source] = None
                more += self.speaks.get(source, ())
