"""A machine as the tables that the compiled search runs on: which instance has which guards, effects and checks."""

from __future__ import annotations

import ctypes
from collections.abc import Iterable, Sequence
from ctypes import c_int32, c_uint8, c_uint32, c_uint64, c_void_p
from itertools import groupby
from typing import Any

from checker.search.explore import witness
from checker.search.kernel.functions import Functions
from checker.search.kernel.packing import Look, Packing, Piece
from checker.search.symmetry import Symmetry
from model.language.properties import Property, Shape
from model.readings.ground import Instance, is_constant
from model.readings.python import Machine

NOTHING = Piece(0, 0, 0)


class Unsuited(Exception):
    """A world that the compiled search is not made for; the message says why."""


class CPiece(ctypes.Structure):
    _fields_ = [("mask", c_uint64), ("word", c_uint32), ("shift", c_uint32)]


class CSwap(ctypes.Structure):
    _fields_ = [("mask", c_uint64), ("a", c_uint32), ("b", c_uint32), ("up", c_uint32), ("unused", c_uint32)]


class CLook(ctypes.Structure):
    _fields_ = [("piece", CPiece), ("beside", CPiece), ("role", c_uint64)]


class COuter(ctypes.Structure):
    _fields_ = [
        ("members", c_uint32),
        ("classes", c_uint32),
        ("class_first", c_void_p),
        ("class_item", c_void_p),
        ("own_first", c_void_p),
        ("look_first", c_void_p),
        ("own", c_void_p),
        ("look", c_void_p),
        ("swap_first", c_void_p),
        ("swap", c_void_p),
    ]


class CProblem(ctypes.Structure):
    """As in problem.h."""

    _fields_ = [
        *((name, c_uint32) for name in ("cells", "guards", "instances", "rules", "properties", "fields")),
        *((name, c_void_p) for name in ("spread", "holds", "fires", "effects", "conditions")),
        *((name, c_void_p) for name in ("low", "high", "initial", "word", "shift", "field")),
        *((name, c_void_p) for name in ("need_first", "need_item", "rule")),
        *((f"{name}_{part}", c_void_p) for name in ("effect", "write", "step", "forget") for part in ("first", "item")),
        *((name, c_void_p) for name in ("unless", "gone_first", "gone_item")),
        *((name, c_uint32) for name in ("judgements", "rests")),
        *((name, c_void_p) for name in ("judgement", "rest", "held")),
        *((name, c_uint32) for name in ("columns", "column_pieces", "outers")),
        *((name, c_void_p) for name in ("column", "outer")),
    ]


MOST_COLUMNS, MOST_PIECES, MOST_MEMBERS, MOST_OUTER = 64, 4, 16, 32  # as in normal.h
MOST_INSTANCES = (1 << 15) - 1


class Problem:
    """The tables, and the C struct that points to them. `functions` numbers what they refer to."""

    def __init__(self, machine: Machine, symmetry: Symmetry | None, packing: Packing, functions: Functions) -> None:
        self.machine, self.symmetry, self.packing, self.functions = machine, symmetry, packing, functions
        self.c = CProblem()
        self._kept: list[Any] = []
        if len(machine.instances) > MOST_INSTANCES:
            raise Unsuited(f"it has {len(machine.instances):,} rule instances, and at most {MOST_INSTANCES:,} fit")
        self.fields = list(dict.fromkeys(c.field.name for c in machine.layout.cells))
        self._cells()
        self._guards()
        self._instances()
        self._forgetting()
        self._properties()
        self._normal_form()

    # --------------------------------------------------------------------------------- C's arrays
    def _array(self, name: str, kind: Any, values: Iterable[Any]) -> None:
        setattr(self.c, name, self._pointer(kind, values))

    def _pointer(self, kind: Any, values: Iterable[Any]) -> int:
        listed = list(values)
        made = (kind * max(1, len(listed)))(*listed)
        self._kept.append(made)
        return ctypes.addressof(made)

    def _lists(self, name: str, lists: Sequence[Sequence[int]], each: int = 1) -> None:
        self._array(f"{name}_first", c_uint32, _starts(lists, each))
        self._array(f"{name}_item", c_uint32, (item for one in lists for item in one))

    # ------------------------------------------------------------------------------------- tables
    def _cells(self) -> None:
        cells, packing = self.machine.layout.cells, self.packing
        self.c.cells = len(cells)
        self._array("low", c_int32, (c.low for c in cells))
        self._array("high", c_int32, (c.high for c in cells))
        self._array("initial", c_int32, (c.initial for c in cells))
        self._array("word", c_uint32, packing.word)
        self._array("shift", c_uint32, packing.shift)
        self._array("field", c_uint32, (self.fields.index(c.field.name) for c in cells))
        self.c.fields = len(self.fields)

    def _guards(self) -> None:
        """The guards that an instance needs, and which one is false where one alone is missing, if that can be said."""
        machine = self.machine
        rows = []
        for instance in machine.instances:
            row: dict[int, str | None] = {}
            for declared, term in zip(instance.rule.guards, instance.guards, strict=True):
                if not (is_constant(term) and term.data):
                    number = self.functions.guard(term)
                    # Two guards that became one term are never false alone.
                    row[number] = None if number in row else f"{instance.rule.name}.{declared.name}"
            rows.append(row)
        self._lists("need", [list(row) for row in rows])
        self.alone = [name for row in rows for name in row.values()]
        self.c.instances, self.c.guards, self.c.rules = len(rows), len(self.functions.guards), len(machine.model.rules)
        self._array("rule", c_uint32, machine.rule_of)

    def _instances(self) -> None:
        machine, condition = self.machine, self.functions.condition
        of = range(len(machine.instances))
        self._lists("effect", [self._effects(i) for i in machine.instances])
        self._lists("write", [sorted(machine.written_after(k)) for k in of])
        for k, instance in enumerate(machine.instances):
            forgotten = [g for g in machine.forgettings if g.concerns & instance.written]
            judged = [part for _, parts in machine.touched_by_step(k) for part in parts]
            self.functions.fire(instance.effects, judged, forgotten)
        steps = [[(n, condition(p)) for n, parts in machine.touched_by_step(k) for p in parts] for k in of]
        self._lists("step", [[x for pair in pairs for x in pair] for pairs in steps], each=2)

    def _effects(self, instance: Instance) -> list[int]:
        """One function for all that the instance writes; or, where parts may be taken away, one for each field."""
        groups = _groups(instance, self.machine) if self.functions.parts else [instance.effects]
        return [self.functions.effect(group) for group in groups if group]

    def _forgetting(self) -> None:
        machine = self.machine
        self._array("unless", c_uint32, (self.functions.condition(g.unless) for g in machine.forgettings))
        self._lists("gone", [g.places for g in machine.forgettings])
        concerned = [
            [n for n, g in enumerate(machine.forgettings) if g.concerns & i.written] for i in machine.instances
        ]
        self._lists("forget", concerned)

    def _properties(self) -> None:
        machine, condition = self.machine, self.functions.condition
        self.c.properties = len(machine.properties)
        judged = [(n, condition(part)) for n, check in enumerate(machine.checks) for part in check.of_states()]
        self._array("judgement", c_uint32, (x for pair in judged for x in pair))
        self.c.judgements = len(judged)
        rests = [(n, p) for n, p in enumerate(machine.properties) if p.shape is Shape.REST]
        self._array("rest", c_uint32, (x for n, p in rests for x in (n, self.term(p.term))))
        self._array("held", c_uint8, (not apart for _, p in rests for apart in self.apart(p)))
        self.c.rests = len(rests)
        self.homes = {p.name: self.term(p.term) for p in machine.properties if p.shape is Shape.HOME}
        self.watch = [
            (n, self.term(declared), p.shape is Shape.STEP)
            for n, p in enumerate(machine.properties)
            if (declared := witness(p)) is not None
        ]

    def term(self, declared: Any) -> int:
        """The number of a whole term as a condition."""
        return self.functions.condition(self.machine.grounder.term(declared, {}))

    def apart(self, declared: Property) -> list[bool]:
        """For each instance, whether the property leaves it out."""
        return [i.rule.name in declared.apart_from for i in self.machine.instances]

    # -------------------------------------------------------------------------------- normal form
    def _normal_form(self) -> None:
        columns = self.packing.columns()
        pieces = len(columns[0]) if columns else 0
        outer = self.symmetry.outer if self.symmetry else []
        sizes = [self.machine.layout.sizes[i] for i in outer]
        if len(columns) > MOST_COLUMNS or pieces > MOST_PIECES or max(sizes, default=0) > MOST_MEMBERS:
            raise Unsuited("an index has too many members")
        if sum(sizes) > MOST_OUTER:
            raise Unsuited("its indices have too many members together")
        self.c.columns, self.c.column_pieces, self.c.outers = len(columns), pieces, len(outer)
        self._array("column", CPiece, (_piece(p) for column in columns for p in column))
        self._array("outer", COuter, (self._outer(index) for index in outer))

    def _outer(self, index: Any) -> COuter:
        assert self.symmetry is not None
        members = range(self.machine.layout.sizes[index])
        ranks = self.symmetry.classes[index]
        classes = [[m for m in members if ranks[m] == rank] for rank in dict.fromkeys(ranks)]
        own = [self.packing.own(index, m) for m in members]
        looks = [self.packing.looks(index, m) for m in members]
        swaps = [
            self.packing.swaps(index, i, j) if i < j and ranks[i] == ranks[j] else [] for i in members for j in members
        ]
        return COuter(
            len(members),
            len(classes),
            self._pointer(c_uint32, _starts(classes)),
            self._pointer(c_uint32, (m for one in classes for m in one)),
            self._pointer(c_uint32, _starts(own)),
            self._pointer(c_uint32, _starts(looks)),
            self._pointer(CPiece, (_piece(p) for one in own for p in one)),
            self._pointer(CLook, (_look(look) for one in looks for look in one)),
            self._pointer(c_uint32, _starts(swaps)),
            self._pointer(CSwap, (CSwap(*swap, 0) for one in swaps for swap in one)),
        )


def _groups(instance: Instance, machine: Machine) -> list[tuple[tuple[int, Any], ...]]:
    """The instance's effects, those on one field together."""
    field = lambda effect: machine.layout.cells[effect[0]].field.name
    return [tuple(group) for _, group in groupby(sorted(instance.effects, key=field), key=field)]


def _starts(lists: Sequence[Sequence[Any]], each: int = 1) -> list[int]:
    starts = [0]
    for one in lists:
        starts.append(starts[-1] + len(one) // each)
    return starts


def _piece(piece: Piece) -> CPiece:
    return CPiece(piece.mask, piece.word, piece.shift)


def _look(look: Look) -> CLook:
    return CLook(_piece(look.piece), _piece(look.beside or NOTHING), look.role)
