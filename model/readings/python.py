"""The python reading: a world's rules and properties as generated source, compiled once.

Each rule instance becomes a nest of `if`s on local variables named after the cells, so that a traceback
through it reads like the rule. Two things keep it fast without changing what it says:

* A property is taken apart into ground conjuncts. After a step only those conjuncts are evaluated that read a
  cell the step wrote: the others have the values they had before, where they held. (The first violation of a
  property is therefore found exactly; nothing is promised about later ones.)
* A property of steps must allow a step that changes nothing; a conjunct none of whose later cells were written
  is such a step, and is checked once a state instead of once a step.
"""

from __future__ import annotations

import linecache
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from model.language.model import Model
from model.language.properties import Property, Shape
from model.language.terms import Moment, Op, Var
from model.readings.ground import (
    FALSE,
    LARGEST,
    TRUE,
    Forgetting,
    Ground,
    Grounder,
    Instance,
    conjunction,
    conjuncts,
    forgettings,
    instances,
    is_constant,
    places,
    shift,
    written_out,
)
from model.readings.layout import Layout
from model.readings.world import World

BYTE = 255


class TooLarge(Exception):
    """A world that cannot be written out: the message says how large it is."""


class Beyond(list[int]):
    """A successor in which some cell has left its bounds. It is reported, and not explored further."""


SOURCE: dict[Op, str] = {Op.EQ: "==", Op.LT: "<", Op.LE: "<=", Op.AND: " and ", Op.OR: " or ", Op.ADD: " + "}


class Writer:
    """Ground terms as Python expressions."""

    def __init__(self, layout: Layout, indexed: bool = False) -> None:
        self.layout, self.indexed = layout, indexed

    def cell(self, place: int, moment: Moment) -> str:
        if self.indexed:
            return f"{'s' if moment is Moment.NOW else 't'}[{place}]"
        label = self.layout.cells[place].label
        return label if moment is Moment.NOW else f"{label}_then"

    def write(self, term: Ground) -> str:
        op, args = term.op, term.args
        match op:
            case None:
                return self.cell(*term.data)
            case Op.CONST:
                return str(term.data)
            case Op.NOT:
                return self.negated(args[0])
            case Op.ITE:
                return self.chosen(*args)
            case Op.MUL:
                return f"{args[0].data} * {self.inside(args[1])}"
            case Op.AND | Op.OR:
                return SOURCE[op].join(self.inside(a) for a in args)
            case Op.ADD:
                return self.added(args)
        assert op is not None
        return f"{self.inside(args[0])} {SOURCE[op]} {self.inside(args[1])}"

    def inside(self, term: Ground) -> str:
        return self.write(term) if term.op in (None, Op.CONST) else f"({self.write(term)})"

    def negated(self, term: Ground) -> str:
        if term.op is Op.EQ:
            return f"{self.inside(term.args[0])} != {self.inside(term.args[1])}"
        return f"not {self.inside(term)}"

    def chosen(self, condition: Ground, yes: Ground, no: Ground) -> str:
        return f"{self.inside(yes)} if {self.inside(condition)} else {self.inside(no)}"

    def added(self, args: Iterable[Ground]) -> str:
        # In a sum, a condition that chooses 1 or 0 is its own truth value; alone it must be made a number.
        return "".join(self.summand(a, first=i == 0) for i, a in enumerate(args))

    def summand(self, term: Ground, first: bool) -> str:
        sign = "" if first else " + "
        if term.op is Op.CONST and term.data < 0 and not first:
            return f" - {-term.data}"
        if term.op is Op.MUL and term.args[0].data == -1 and not first:
            sign, term = " - ", term.args[1]
        return sign + self.inside(term.args[0] if _counts(term) else term)


def _counts(term: Ground) -> bool:
    """Whether the term chooses 1 or 0 by a condition whose Python value is a bool."""
    return term.op is Op.ITE and term.args[1:] == (TRUE, FALSE) and term.args[0].op in (Op.EQ, Op.LT, Op.LE, Op.NOT)


@dataclass(frozen=True)
class Check:
    """A property in a world, as ground conjuncts. `stutter` are those conjuncts with nothing changed."""

    property: Property
    parts: tuple[Ground, ...]
    stutter: tuple[Ground, ...]

    def of_states(self) -> tuple[Ground, ...]:
        """What of it is judged by one state alone."""
        if self.property.shape is Shape.STATE:
            return self.parts
        return self.stutter if self.property.shape is Shape.STEP else ()


class Machine:
    """A model in a world, ready to run.

    `successors(s)` gives (instance number, state, numbers of the violated step properties) for each enabled
    instance; `fired` and `sole` count, for each rule, its steps and, for each guard, how often it alone was false.
    States are `bytes` where every bound fits a byte, and tuples otherwise. If `forgetful`, what the model lets a search
    forget is forgotten after each step (the step properties see it still). `like`: a machine of the same world, from which
    the rules and properties that are the same are taken over instead of being written out again.
    """

    def __init__(
        self,
        model: Model,
        world: World,
        properties: Sequence[Property] = (),
        forgetful: bool = True,
        like: Machine | None = None,
    ) -> None:
        self.model, self.world = model, world
        size = written_out(model, world, properties)
        if size > LARGEST:
            raise TooLarge(f"written out, it has about {size:,} terms, and at most {LARGEST:,} can be compiled")
        self.layout = Layout(model, world)
        shared = like if like is not None and like.layout.cells == self.layout.cells else None
        self.instances: list[Instance] = instances(self.layout, shared.instances if shared else ())
        self.grounder = Grounder(self.layout)
        self.forgettings = forgettings(self.layout) if forgetful else []
        live = [p for p in properties if self.grounder.term(p.needs, {}).data]
        self.properties = tuple(live)
        written = {id(c.property): c for c in shared.checks} if shared else {}
        self.checks: list[Check] = [written.get(id(p)) or self._check(p) for p in live]
        self._read: dict[tuple[int, Moment], frozenset[int]] = {}
        self.small = all(c.low >= 0 and c.high <= BYTE for c in self.layout.cells)
        self.pack: Callable[[Iterable[int]], Any] = bytes if self.small else tuple
        self.fired = [0] * len(model.rules)
        self.guard_names = [f"{r.name}.{g.name}" for r in model.rules for g in r.guards]
        self.sole = [0] * len(self.guard_names)
        self.rule_of = [model.rules.index(i.rule) for i in self.instances]
        self.initial = self.pack(self.layout.initial)

    def _check(self, declared: Property) -> Check:
        parts = conjuncts(self.grounder.term(declared.term, {}))
        if declared.shape is not Shape.STEP:
            return Check(declared, parts, ())
        quiet = [shift(p, Moment.NOW) for p in parts]
        return Check(declared, parts, conjuncts(conjunction(quiet)))

    # ------------------------------------------------------------- what an instance has to be looked at for
    def touched_by_step(self, k: int) -> list[tuple[int, list[Ground]]]:
        """The conjuncts of step properties that the instance can break, by the number of their property."""
        written = self.instances[k].written
        touched = (
            (number, [p for p in check.parts if self._places(p, Moment.THEN) & written])
            for number, check in enumerate(self.checks)
            if check.property.shape is Shape.STEP
        )
        return [(number, parts) for number, parts in touched if parts]

    def touched_after(self, k: int) -> list[Ground]:
        """The conjuncts over one state that the instance can make false."""
        written = self.written_after(k)
        return [part for check in self.checks for part in check.of_states() if self._places(part, Moment.NOW) & written]

    def written_after(self, k: int) -> frozenset[int]:
        """The cells that the instance writes, and those that may be forgotten because of it."""
        written = self.instances[k].written
        for gone in self.forgettings:
            written |= frozenset(gone.places) if gone.concerns & written else frozenset()
        return written

    def _places(self, part: Ground, moment: Moment) -> frozenset[int]:
        known = self._read.get((id(part), moment))
        if known is None:
            known = self._read[id(part), moment] = places(part, moment)
        return known

    # --------------------------------------------------------------------------------------- generated
    @cached_property
    def source(self) -> str:
        return Source(self).text()

    @cached_property
    def successors(self) -> Callable[[Any], list[tuple[int, Any, Sequence[int]]]]:
        made: Callable[[Any], list[tuple[int, Any, Sequence[int]]]] = self._compiled["successors"]
        return made

    @cached_property
    def violated(self) -> Callable[[Any], list[int]]:
        made: Callable[[Any], list[int]] = self._compiled["violated"]
        return made

    @cached_property
    def holds_after(self) -> list[Callable[[Any], bool]]:
        return [self._compiled[f"after_{k}"] for k in range(len(self.instances))]

    @cached_property
    def _compiled(self) -> dict[str, Any]:
        """Compile under a file name of its own, and give `linecache` the source, so that tracebacks show it."""
        filename = f"<python reading of {self.model.name} in {self.world.name} at {id(self):x}>"
        linecache.cache[filename] = (len(self.source), None, self.source.splitlines(keepends=True), filename)
        space: dict[str, Any] = {
            "fired": self.fired,
            "sole": self.sole,
            "copy": bytearray if self.small else list,
            "Beyond": Beyond,
            "OK": (),
        }
        exec(compile(self.source, filename, "exec"), space)  # noqa: S102
        return space

    def violations(self, then: Sequence[int], bad: Sequence[int] = ()) -> set[str]:
        """The names of what is violated in a state, given the numbers of the step properties broken on the way."""
        names = {self.properties[n].name for n in (*bad, *self.violated(then))}
        if type(then) is Beyond:
            names |= {f"bounds.{c.field.name}" for c in self.layout.out_of_bounds(then)}
        return names

    def predicate(self, term: Any, env: Mapping[Var, int] | None = None) -> Callable[..., bool]:
        """A term over one state or two as a function of them: f(s) or f(s, t). `env` says which members are meant."""
        ground = self.grounder.term(term, dict(env or {}))
        text = f"lambda s, t=None: bool({Writer(self.layout, indexed=True).write(ground)})"
        function: Callable[..., bool] = eval(text)  # noqa: S307
        return function


class Source:
    """Writes a machine's module."""

    def __init__(self, machine: Machine) -> None:
        self.machine = machine
        self.layout = machine.layout
        self.writer = Writer(self.layout)
        self.unpack = f"    {', '.join(c.label for c in self.layout.cells)}, = s"
        names = machine.guard_names
        self.guard_number = {name: i for i, name in enumerate(names)}

    def text(self) -> str:
        lines = ["def successors(s):", self.unpack, "    out = []"]
        for k in range(len(self.machine.instances)):
            lines += self.instance(k)
        lines += ["    return out", ""]
        lines += self.all_properties()
        for k in range(len(self.machine.instances)):
            lines += self.after(k)
        return "\n".join(lines) + "\n"

    # ------------------------------------------------------------------------------------ rules
    def instance(self, k: int) -> list[str]:
        """An if for each guard, in order. Where one is false, it is counted if all the later ones are true."""
        found = self.machine.instances[k]
        numbers = [self.guard_number[f"{found.rule.name}.{g.name}"] for g in found.rule.guards]
        lines = [f"    # {found.text}"]
        tails: list[list[str]] = []
        indent = "    "
        for i, ground in enumerate(found.guards):
            if is_constant(ground) and ground.data:
                continue
            lines.append(f"{indent}if {self.writer.write(ground)}:")
            rest = [self.writer.inside(g) for g in found.guards[i + 1 :] if not (is_constant(g) and g.data)]
            otherwise = f"elif {' and '.join(rest)}:" if rest else "else:"
            tails.append([f"{indent}{otherwise}", f"{indent}    sole[{numbers[i]}] += 1"])
            indent += "    "
        lines += [indent + line for line in self.fire(k, found)]
        for tail in reversed(tails):
            lines += tail
        return lines

    def fire(self, k: int, found: Instance) -> list[str]:
        lines = [f"fired[{self.machine.rule_of[k]}] += 1"]
        for place, value in found.effects:
            lines.append(f"{self.writer.cell(place, Moment.THEN)} = {self.value(value)}")
        inside = [self.bound(place, value) for place, value in found.effects]
        beyond = " and ".join(b for b in inside if b)
        lines.append(f"t = copy(s) if {beyond} else Beyond(s)" if beyond else "t = copy(s)")
        lines += [f"t[{place}] = {self.writer.cell(place, Moment.THEN)}" for place, _ in found.effects]
        # A cell that has left its bounds is a violation, and no reader is needed to see it.
        within = "type(t) is not Beyond and " if beyond else ""
        lines += [line for gone in self.machine.forgettings for line in self.forget(gone, found, within)]
        return lines + self.step_properties(k, found)

    def forget(self, gone: Forgetting, found: Instance, within: str) -> list[str]:
        if not gone.concerns & found.written:
            return []
        unless = _settle(shift(gone.unless, Moment.THEN), found.written)
        cells = [f"    t[{p}] = {self.layout.cells[p].initial}" for p in gone.places]
        return [f"if {within}not ({self.writer.write(unless)}):", *cells]

    def value(self, term: Ground) -> str:
        text = self.writer.write(term)
        return f"int({text})" if term.op in (Op.EQ, Op.LT, Op.LE, Op.NOT, Op.AND, Op.OR) else text

    def bound(self, place: int, value: Ground) -> str:
        low, high = self.layout.cells[place].low, self.layout.cells[place].high
        if is_constant(value):
            return "" if low <= value.data <= high else "False"
        return f"{low} <= {self.writer.cell(place, Moment.THEN)} <= {high}"

    def step_properties(self, k: int, found: Instance) -> list[str]:
        terms = [
            (number, self.writer.write(self.settle(parts, found.written)))
            for number, parts in self.machine.touched_by_step(k)
        ]
        if not terms:
            return [f"out.append(({k}, t, OK))"]
        everything = " and ".join(f"({text})" for _, text in terms)
        blame = ", ".join(f"({number}, {text})" for number, text in terms)
        return [
            f"if {everything}:",
            f"    out.append(({k}, t, OK))",
            "else:",
            f"    out.append(({k}, t, [number for number, holds in ({blame},) if not holds]))",
        ]

    def settle(self, parts: list[Ground], written: frozenset[int]) -> Ground:
        """The conjunction, with the later value of an unwritten cell read as its earlier one."""
        return conjunction([_settle(p, written) for p in parts])

    # ------------------------------------------------------------------------------- properties
    def all_properties(self) -> list[str]:
        lines = ["def violated(s):", self.unpack, "    bad = []"]
        for number, check in enumerate(self.machine.checks):
            for part in check.of_states():
                if part.op is not Op.CONST or not part.data:
                    lines.append(f"    if not ({self.writer.write(part)}): bad.append({number})")
        return [*lines, "    return list(dict.fromkeys(bad))", ""]

    def after(self, k: int) -> list[str]:
        text = " and ".join(self.writer.inside(p) for p in self.machine.touched_after(k)) or "True"
        return [f"def after_{k}(s):", self.unpack, f"    return {text}", ""]


def _settle(term: Ground, written: frozenset[int]) -> Ground:
    if term.op is None:
        place, moment = term.data
        return term if moment is Moment.NOW or place in written else Ground(None, (), (place, Moment.NOW))
    if not term.args:
        return term
    return Ground(term.op, tuple(_settle(a, written) for a in term.args), term.data)
