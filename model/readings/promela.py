"""The Promela reading: a world's rules and properties as a model for SPIN, an independent checker.

One process, one atomic step (`d_step`) a rule instance, so that SPIN's states are exactly ours: its count of distinct
states must be that of a search without reductions. A cell is a global variable with its own name, as many bits as its
bounds need (with -DBYTES a byte, which takes more memory and less time). What SPIN is not asked: the way home from
everywhere, which is no property of a run, and witnesses.
"""

from __future__ import annotations

import enum
from collections.abc import Iterator

from model.language.properties import Shape
from model.language.terms import Moment, Op
from model.readings.c import Spans, Terms
from model.readings.ground import Ground, Instance, cell, conjunction, constant, folded, ordered, places
from model.readings.layout import Cell
from model.readings.python import Machine

SOURCE: dict[Op, str] = {Op.EQ: "==", Op.LT: "<", Op.LE: "<=", Op.AND: "&&", Op.OR: "||", Op.ADD: "+", Op.MUL: "*"}


def promela(machine: Machine, about: str = "") -> str:
    """The machine's world as a Promela model. Properties are left out with -DNOPROPERTIES."""
    return "\n".join(_Model(machine).lines(about)) + "\n"


class _Model:
    def __init__(self, machine: Machine) -> None:
        self.machine, self.layout = machine, machine.layout
        self.spare = 0
        self.terms = Terms()
        self.spans = Spans(self.terms, [(c.low, c.high) for c in machine.layout.cells])

    def lines(self, about: str) -> Iterator[str]:
        yield f"/* {about or f'{self.machine.model.name} in the world {self.machine.world.name}'}"
        yield " * Generated from the declared rules. Count the states:"
        yield " *   spin -a FILE && cc -O2 -DSAFETY -DNOREDUCE -o pan pan.c && ./pan -m1000000 -w24"
        yield " * -DBYTES: a byte a cell; -DNOPROPERTIES: the rules alone. */"
        yield from self.cells()
        yield from self.guards()
        body = list(self.steps())
        yield from (f"hidden int kept{n};" for n in range(self.spare))
        yield from self.properties()
        yield from ["", "active proctype rules() {", "end:", "  do", *body, "#ifndef NOPROPERTIES"]
        yield from self.asserted()
        yield from ["#endif", "  od", "}"]

    # --------------------------------------------------------------------------------------- cells
    def cells(self) -> Iterator[str]:
        enums = dict.fromkeys(c.field.sort.of for c in self.layout.cells if _is_enum(c))
        for of in enums:
            yield from (f"#define {of.__name__}_{member.name} {n}" for n, member in enumerate(of))
        yield from ["#ifdef BYTES", "#define CELL(name, width) byte name", "#else"]
        yield from ["#define CELL(name, width) unsigned name : width", "#endif"]
        for one in self.layout.cells:
            initial = f" = {one.initial}" if one.initial else ""
            bits = max(1, one.high.bit_length())
            if one.low < 0 or bits > 8:
                yield f"int {one.label}{initial};"
            else:
                yield f"CELL({one.label}, {bits}){initial};"

    # --------------------------------------------------------------------------------------- rules
    def guards(self) -> Iterator[str]:
        for k, instance in enumerate(self.machine.instances):
            yield f"#define {self.enabled(k)} {self.write(conjunction(list(instance.guards)))}"

    def enabled(self, k: int) -> str:
        return "_".join(["can", self.machine.instances[k].rule.name, *self.machine.instances[k].names()])

    def steps(self) -> Iterator[str]:
        for k, instance in enumerate(self.machine.instances):
            yield f"  /* {instance.text} */"
            yield f"  :: d_step {{ {self.enabled(k)} ->"
            judged = list(self.judged(k, instance))
            yield from ["#ifndef NOPROPERTIES", *judged, "#endif"] if judged else []
            yield from (f"    {line}" for line in self.effects(instance))
            yield "  }"

    def judged(self, k: int, instance: Instance) -> Iterator[str]:
        """What must hold of the step, said of the state before it, since that is all there is then."""
        value = dict(instance.effects)
        for _, parts in self.machine.touched_by_step(k):
            for part in parts:
                yield f"    assert({self.write(_before(part, value))});"
        for place, written in instance.effects:
            bounds = self.layout.cells[place]
            inside = conjunction(
                [ordered(Op.LE, constant(bounds.low), written), ordered(Op.LE, written, constant(bounds.high))]
            )
            low, high = self.spans.of(self.terms.add(written))
            if low < bounds.low or high > bounds.high:
                yield f"    assert({self.write(inside)}); /* bounds of {bounds.label} */"

    def effects(self, instance: Instance) -> Iterator[str]:
        """Assignments in an order in which none reads what another has written; where there is none, a value is kept."""
        left = dict(instance.effects)
        kept = 0
        renamed: dict[int, str] = {}
        while left:
            reads = {p: places(v, Moment.NOW) - set(renamed) for p, v in left.items()}
            free = [p for p in left if all(p not in reads[q] for q in left if q != p)]
            if not free:
                place = next(iter(left))
                renamed[place] = f"kept{kept}"
                yield f"{renamed[place]} = {self.layout.cells[place].label};"
                kept += 1
                self.spare = max(self.spare, kept)
                continue
            for place in free:
                yield f"{self.layout.cells[place].label} = {self.assigned(place, left.pop(place), renamed)};"

    def assigned(self, place: int, value: Ground, renamed: dict[int, str]) -> str:
        one = self.layout.cells[place]
        if value.op is Op.CONST and _is_enum(one):
            return _member(one, value.data)
        return self.write(value, renamed)

    # ---------------------------------------------------------------------------------- properties
    def properties(self) -> Iterator[str]:
        """A macro for each property of states, and for each dead end that must not be."""
        for check in self.machine.checks:
            if check.property.shape is Shape.STATE:
                yield f"/* {check.property.doc} */"
                yield f"#define {_macro(check.property.name)} {self.write(conjunction(list(check.parts)))}"
            elif check.property.shape is Shape.REST:
                apart = check.property.apart_from
                moves = [self.enabled(k) for k, i in enumerate(self.machine.instances) if i.rule.name not in apart]
                yield f"/* {check.property.doc} */"
                term = self.write(conjunction(list(check.parts)))
                yield f"#define {_macro(check.property.name)} ({' || '.join([*moves, term])})"

    def asserted(self) -> Iterator[str]:
        names = [_macro(c.property.name) for c in self.machine.checks if c.property.shape in (Shape.STATE, Shape.REST)]
        if names:
            yield f"  :: d_step {{ !({' && '.join(names)}) ->"
            yield from (f"    assert({name});" for name in names)
            yield "  }"

    # ----------------------------------------------------------------------------------------- text
    def write(self, term: Ground, renamed: dict[int, str] | None = None) -> str:
        names = renamed or {}
        if term.op is None:
            place: int = term.data[0]
            return names.get(place, self.layout.cells[place].label)
        if term.op is Op.CONST:
            return str(term.data) if term.data >= 0 else f"({term.data})"
        if term.op is Op.EQ and (named := self.named(term, names)):
            return f"({' == '.join(named)})"
        args = [self.write(a, names) for a in term.args]
        match term.op:
            case Op.NOT:
                return f"!{args[0]}"
            case Op.ITE:
                return f"({args[0]} -> {args[1]} : {args[2]})"
        return f"({f' {SOURCE[term.op]} '.join(args)})"

    def named(self, term: Ground, names: dict[int, str]) -> tuple[str, str] | None:
        """A cell compared with one of an Enum's members, by name."""
        left, right = term.args
        if left.op is None and right.op is Op.CONST and _is_enum(self.layout.cells[left.data[0]]):
            return self.write(left, names), _member(self.layout.cells[left.data[0]], right.data)
        return None


def _is_enum(one: Cell) -> bool:
    return isinstance(one.field.sort.of, type) and issubclass(one.field.sort.of, enum.Enum)


def _member(one: Cell, number: int) -> str:
    of = one.field.sort.of
    return f"{of.__name__}_{list(of)[number].name}"


def _macro(name: str) -> str:
    return "holds_" + name.replace(".", "_").replace("-", "_")


def _before(part: Ground, value: dict[int, Ground]) -> Ground:
    """The conjunct with what the step writes in place of the later cells."""
    if part.op is None:
        place, moment = part.data
        return part if moment is Moment.NOW else value.get(place, cell(place))
    if part.op is Op.CONST:
        return part
    return folded(part.op, [_before(a, value) for a in part.args])
