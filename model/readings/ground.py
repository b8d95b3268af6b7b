"""Terms in one world: quantifiers written out, dials put in, fields turned into cells, constants folded.

What is left are ground terms over the cells of two states, every value a whole number (False and True are 0
and 1). The readings that work on a sized world start from here. The interpreter does not: it is the oracle.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from model.language.model import Model
from model.language.properties import Property
from model.language.rules import Rule, Update
from model.language.terms import BINDERS, Moment, Op, Term, Var
from model.readings.interpret import evaluate
from model.readings.layout import Cell, Layout, code
from model.readings.operators import MEANING
from model.readings.world import World, members


class Ground(NamedTuple):
    """A ground term. `op` is None for a cell, whose `data` is (place, moment); AND, OR and ADD take many args.

    Only CONST, NOT, AND, OR, ITE, EQ, LT, LE, ADD and MUL (by a constant, its first argument) remain.
    """

    op: Op | None
    args: tuple[Any, ...]
    data: Any = None


def constant(value: int) -> Ground:
    return Ground(Op.CONST, (), int(value))


TRUE, FALSE = constant(1), constant(0)


def cell(place: int, moment: Moment = Moment.NOW) -> Ground:
    return Ground(None, (), (place, moment))


def is_constant(term: Ground) -> bool:
    return term.op is Op.CONST


# --------------------------------------------------------------------------- building, folding constants
def negation(a: Ground) -> Ground:
    if is_constant(a):
        return constant(not a.data)
    return a.args[0] if a.op is Op.NOT else Ground(Op.NOT, (a,))


def conjunction(args: list[Ground]) -> Ground:
    return _junction(Op.AND, args, unit=TRUE, zero=FALSE)


def disjunction(args: list[Ground]) -> Ground:
    return _junction(Op.OR, args, unit=FALSE, zero=TRUE)


def _junction(op: Op, args: list[Ground], unit: Ground, zero: Ground) -> Ground:
    flat = [b for a in args for b in (a.args if a.op is op else (a,))]
    kept = [a for a in dict.fromkeys(flat) if a != unit]
    if zero in kept or _contradict(op, kept):
        return zero
    if len(kept) < 2:
        return kept[0] if kept else unit
    return Ground(op, tuple(kept))


def _contradict(op: Op, args: list[Ground]) -> bool:
    """x and not x; or, under AND, one cell equal to two constants."""
    if any(a.op is Op.NOT and a.args[0] in args for a in args):
        return True
    pinned = [a.args[0] for a in args if a.op is Op.EQ and is_constant(a.args[1])]
    return op is Op.AND and len(set(pinned)) < len(pinned)


def choose(c: Ground, a: Ground, b: Ground) -> Ground:
    if is_constant(c):
        return a if c.data else b
    return a if a == b else Ground(Op.ITE, (c, a, b))


def equal(a: Ground, b: Ground) -> Ground:
    if is_constant(a) and is_constant(b):
        return constant(a.data == b.data)
    if a == b:
        return TRUE
    return Ground(Op.EQ, (b, a) if is_constant(a) else (a, b))


def ordered(op: Op, a: Ground, b: Ground) -> Ground:
    if is_constant(a) and is_constant(b):
        return constant(MEANING[op](a.data, b.data))
    if a == b:
        return constant(op is Op.LE)
    return Ground(op, (a, b))


def addition(args: list[Ground]) -> Ground:
    flat = [b for a in args for b in (a.args if a.op is Op.ADD else (a,))]
    known = sum(a.data for a in flat if is_constant(a))
    rest = [a for a in flat if not is_constant(a)]
    if known or not rest:
        rest.append(constant(known))
    return rest[0] if len(rest) == 1 else Ground(Op.ADD, tuple(rest))


def multiple(factor: int, a: Ground) -> Ground:
    if is_constant(a):
        return constant(factor * a.data)
    if factor in (0, 1):
        return a if factor else FALSE
    if a.op is Op.MUL:
        return multiple(factor * a.args[0].data, a.args[1])
    return Ground(Op.MUL, (constant(factor), a))


def product(a: Ground, b: Ground) -> Ground:
    return multiple(a.data, b) if is_constant(a) else multiple(b.data, a)


def folded(op: Op, args: list[Ground]) -> Ground:
    """The ground term of a plain operator, constants folded."""
    match op:
        case Op.NOT:
            return negation(args[0])
        case Op.AND:
            return conjunction(args)
        case Op.OR:
            return disjunction(args)
        case Op.IMPLIES:
            return disjunction([negation(args[0]), args[1]])
        case Op.ITE:
            return choose(*args)
        case Op.EQ:
            return equal(*args)
        case Op.NE:
            return negation(equal(*args))
        case Op.LT | Op.LE:
            return ordered(op, *args)
        case Op.GT | Op.GE:
            return ordered(Op.LT if op is Op.GT else Op.LE, args[1], args[0])
        case Op.ADD:
            return addition(args)
        case Op.SUB:
            return addition([args[0], multiple(-1, args[1])])
        case Op.MUL:
            return product(*args)
        case Op.NEXT:
            return constant(args[0].data + 1)
    raise NotImplementedError(f"{op} has no ground form")


# --------------------------------------------------------------------------------------------- grounding
class Grounder:
    """Writes terms out for one layout."""

    def __init__(self, layout: Layout) -> None:
        self.layout = layout

    def term(self, term: Term, env: Mapping[Var, int]) -> Ground:
        match term.op:
            case Op.CONST:
                return constant(code(term.sort, term.data))
            case Op.VAR:
                return constant(env[term.data])
            case Op.DIAL:
                at = [self.known(a, env) for a in term.args]
                return constant(code(term.sort, self.layout.world.of(term.data, *at)))
            case Op.FIELD:
                return self.read(term, env)
            case Op.FORALL | Op.EXISTS | Op.COUNT | Op.TOTAL | Op.BEFORE:
                return self.over(term, env)
        return folded(term.op, [self.term(a, env) for a in term.args])

    def known(self, term: Term, env: Mapping[Var, int]) -> int:
        """An index term's position, which never depends on the state."""
        value = self.term(term, env).data
        assert isinstance(value, int)
        return value

    def read(self, term: Term, env: Mapping[Var, int]) -> Ground:
        field, moment = term.data
        place = self.layout.position.get((field, tuple(self.known(a, env) for a in term.args)))
        return constant(code(field.sort, field.initial)) if place is None else cell(place, moment)

    def over(self, term: Term, env: Mapping[Var, int]) -> Ground:
        var = term.data
        reach = members(var.domain, self.layout.world)
        if term.op is Op.BEFORE:
            reach = range(min(len(reach), self.known(term.args[0], env)))
        bodies = [self.term(term.args[-1], {**env, var: m}) for m in reach]
        match term.op:
            case Op.FORALL:
                return conjunction(bodies)
            case Op.EXISTS:
                return disjunction(bodies)
            case Op.COUNT:
                return addition([choose(b, TRUE, FALSE) for b in bodies])
        return addition(bodies)


# --------------------------------------------------------------------------------------------- instances
@dataclass(frozen=True)
class Instance:
    """A rule with its parameters chosen: what can happen in a world."""

    rule: Rule
    at: tuple[int, ...]
    guards: tuple[Ground, ...]
    effects: tuple[tuple[int, Ground], ...]

    @property
    def written(self) -> frozenset[int]:
        return frozenset(place for place, _ in self.effects)

    @property
    def text(self) -> str:
        """As a trace shows it: acquire(r0, b1)."""
        return f"{self.rule.name}({', '.join(self.names())})" if self.at else self.rule.name

    def names(self) -> list[str]:
        return [argument(v, m) for v, m in zip(self.rule.params, self.at, strict=True)]


def argument(var: Var, member: int) -> str:
    """A parameter's value as text: r0 for a member of an index, 2 for a number."""
    return f"{var.domain.short}{member}" if hasattr(var.domain, "short") else str(member)


def instances(layout: Layout, known: Sequence[Instance] = ()) -> list[Instance]:
    """Every instance of every rule that exists in the world, in the order of the model.

    `known` are instances of the same world; those of rules that are the same ones are taken over.
    """
    grounder = Grounder(layout)
    found: list[Instance] = []
    for rule in layout.model.rules:
        if not grounder.term(rule.needs, {}).data:
            continue
        if same := [i for i in known if i.rule is rule]:
            found += same
            continue
        for at in itertools.product(*(members(v.domain, layout.world) for v in rule.params)):
            env = dict(zip(rule.params, at, strict=True))
            guards = tuple(grounder.term(g.condition, env) for g in rule.guards)
            found.append(Instance(rule, at, guards, tuple(_effects(grounder, rule, env))))
    return found


@dataclass(frozen=True)
class Forgetting:
    """Cells that a search may set to their initial values in a state where `unless` is false."""

    places: tuple[int, ...]
    unless: Ground

    @property
    def concerns(self) -> frozenset[int]:
        """The cells whose change can make a difference."""
        return frozenset(self.places) | places(self.unless, Moment.NOW)


def forgettings(layout: Layout) -> list[Forgetting]:
    """What the model lets a search forget, for each choice of members."""
    grounder = Grounder(layout)
    found = []
    for declared in layout.model.forgets:
        for at in itertools.product(*(members(v.domain, layout.world) for v in declared.members)):
            env = dict(zip(declared.members, at, strict=True))
            cells = tuple(p for p, c in enumerate(layout.cells) if c.field in declared.fields and belongs(c, env))
            if cells:
                found.append(Forgetting(cells, grounder.term(declared.unless, env)))
    return found


def belongs(cell: Cell, env: Mapping[Var, int]) -> bool:
    """Whether the cell is at these members, in those of its indices that they are members of."""
    return all(cell.at[cell.field.indices.index(v.domain)] == m for v, m in env.items())


def _effects(grounder: Grounder, rule: Rule, env: Mapping[Var, int]) -> Iterator[tuple[int, Ground]]:
    for update in rule.updates:
        for inner in _ranging(grounder, update, env):
            at = tuple(grounder.known(i, inner) for i in update.indices)
            place = grounder.layout.position.get((update.field, at))
            if place is None:
                continue
            value = grounder.term(update.value, inner)
            if value != cell(place):
                yield place, value


def _ranging(grounder: Grounder, update: Update, env: Mapping[Var, int]) -> Iterator[dict[Var, int]]:
    for at in itertools.product(*(members(v.domain, grounder.layout.world) for v in update.bound)):
        yield {**env, **dict(zip(update.bound, at, strict=True))}


def places(term: Ground, moment: Moment) -> frozenset[int]:
    """The cells that a ground term reads in one moment."""
    if term.op is None:
        return frozenset([term.data[0]]) if term.data[1] is moment else frozenset()
    return frozenset().union(*(places(a, moment) for a in term.args))


def shift(term: Ground, moment: Moment) -> Ground:
    """The term with every cell read in this one moment, folded again."""
    if term.op is None:
        return cell(term.data[0], moment)
    if term.op is Op.CONST:
        return term
    args = [shift(a, moment) for a in term.args]
    return folded(term.op, args)


def conjuncts(term: Ground) -> tuple[Ground, ...]:
    return term.args if term.op is Op.AND else (term,)


# ------------------------------------------------------------------------------------------------- size
LARGEST = 400_000  # ground terms; the largest shipped world has a seventh


def written_out(model: Model, world: World, properties: Sequence[Property]) -> int:
    """About how many ground terms the rules and properties become in a world, without writing them out."""
    rules = (_rule_size(rule, world) for rule in model.rules if evaluate(rule.needs, world))
    stated = (_size(p.term, world) for p in properties if evaluate(p.needs, world))
    return sum(rules) + sum(stated)


def _rule_size(rule: Rule, world: World) -> int:
    guards = sum(_size(g.condition, world) for g in rule.guards)
    updates = sum(
        _size(u.value, world) * math.prod(len(members(v.domain, world)) for v in u.bound) for u in rule.updates
    )
    return (guards + updates) * math.prod(len(members(v.domain, world)) for v in rule.params)


def _size(term: Term, world: World) -> int:
    inner = 1 + sum(_size(a, world) for a in term.args)
    return inner * len(members(term.data.domain, world)) if term.op in BINDERS else inner
