"""The prose reading: terms in words, and why a term is false in a state."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from model.language.terms import BINDERS, Index, Moment, Op, Term, Var, walk
from model.language.text import SYMBOLS, render
from model.readings.interpret import Interpreter
from model.readings.layout import Layout, member_name
from model.readings.world import members

WORDS: dict[Op, str] = SYMBOLS | {
    Op.AND: "and",
    Op.OR: "or",
    Op.NOT: "not {0}",
    Op.EQ: "is",
    Op.NE: "is not",
    Op.FORALL: "(for every {index} {name}: {0})",
    Op.EXISTS: "(for some {index} {name}: {0})",
    Op.COUNT: "(the number of {index}s {name} with {0})",
    Op.TOTAL: "(the sum over {index}s {name} of {0})",
    Op.BEFORE: "(the sum over {name} before {0} of {1})",
    Op.ITE: "({1} if {0}, else {2})",
}

# In words, comparisons bind tighter than `and` and `or`, as a reader expects.
_BINDS = {
    Op.IMPLIES: 0,
    Op.OR: 1,
    Op.AND: 2,
    Op.EQ: 3,
    Op.NE: 3,
    Op.LT: 3,
    Op.LE: 3,
    Op.GT: 3,
    Op.GE: 3,
    Op.ADD: 4,
    Op.SUB: 4,
    Op.MUL: 5,
}


def words(term: Term, names: dict[Var, str] | None = None) -> str:
    """The term in words, with variables under other names if given."""
    return render(term, WORDS, names, binds=_BINDS)


@dataclass(frozen=True)
class Reading:
    """A cell that an explanation rests on, with its value before and, if both states matter, then."""

    cell: str
    value: str
    then: str | None

    def __str__(self) -> str:
        return f"{self.cell} = {self.value}" + (f", then {self.then}" if self.then is not None else "")


@dataclass(frozen=True)
class Explanation:
    """The part of a term that is false: for which members, which premises hold, what fails, and the cells read."""

    members: tuple[str, ...]
    premises: tuple[str, ...]
    failing: str
    readings: tuple[Reading, ...]

    def __str__(self) -> str:
        whom = f"for {', '.join(self.members)}: " if self.members else ""
        given = f"although {' and '.join(self.premises)}, " if self.premises else ""
        return f"{whom}{given}it is not so that {self.failing}"


def explain(layout: Layout, term: Term, now: Any, then: Any = (), env: dict[Var, int] | None = None) -> Explanation:
    """Find the part of a false term that makes it false. `now` and `then` are states as stored numbers."""
    return _Explainer(layout, now, then).explain(term, dict(env or {}))


class _Explainer:
    def __init__(self, layout: Layout, now: Any, then: Any) -> None:
        self.layout, self.now, self.then = layout, now, then
        self.interpreter = Interpreter(layout.world, layout.reader(now, then))

    def explain(self, term: Term, env: dict[Var, int]) -> Explanation:
        premises: list[Term] = []
        bound: list[Var] = []
        while (found := self.inside(term, env)) is not None:
            if term.op is Op.FORALL:
                bound.append(term.data)
            if term.op is Op.IMPLIES:
                premises.append(term.args[0])
            term, env = found
        names = {v: self.member(v, m) for v, m in env.items()}
        return Explanation(
            tuple(f"{v.name} = {names[v]}" if names[v] != v.name else v.name for v in bound),
            tuple(words(p, names) for p in premises),
            words(term, names),
            tuple(self.readings([*premises, term], env)),
        )

    def inside(self, term: Term, env: dict[Var, int]) -> tuple[Term, dict[Var, int]] | None:
        """The narrower false term within a false one, if it has such a part."""
        if term.op is Op.AND:
            return next((a, env) for a in term.args if not self.interpreter.value(a, env))
        if term.op is Op.IMPLIES:
            return term.args[1], env
        if term.op is Op.FORALL:
            for member in members(term.data.domain, self.layout.world):
                inner = {**env, term.data: member}
                if not self.interpreter.value(term.args[0], inner):
                    return term.args[0], inner
        return None

    def member(self, var: Var, position: int) -> str:
        return member_name(var.domain, position) if issubclass(var.domain, Index) else str(position)

    def readings(self, terms: list[Term], env: dict[Var, int]) -> list[Reading]:
        """Each cell that the terms read, once; both values where the later state matters."""
        places: dict[int, bool] = {}
        for term in terms:
            for place, moment in self.cells(term, env):
                places[place] = places.get(place, False) or moment is Moment.THEN
        return [
            Reading(
                self.layout.cells[p].text,
                shown(self.layout, self.now, p),
                shown(self.layout, self.then, p) if later and self.then else None,
            )
            for p, later in places.items()
        ] + self.dials(terms, env)

    def dials(self, terms: list[Term], env: dict[Var, int]) -> list[Reading]:
        """Each dial that the terms read outside of quantifiers' own members, once."""
        found: dict[str, Reading] = {}
        for term in (t for root in terms for t in walk(root)):
            if term.op is Op.DIAL and all(v.data in env for a in term.args for v in walk(a) if v.op is Op.VAR):
                text = words(term, {v: self.member(v, m) for v, m in env.items()})
                value = self.interpreter.value(term, env)
                found[text] = Reading(text, str(getattr(value, "name", value)), None)
        return list(found.values())

    def cells(self, term: Term, env: dict[Var, int]) -> list[tuple[int, Moment]]:
        if term.op in BINDERS:
            reach = members(term.data.domain, self.layout.world)
            return [c for m in reach for c in self.cells(term.args[-1], {**env, term.data: m})]
        if term.op is Op.FIELD:
            field, moment = term.data
            place = self.layout.position.get((field, tuple(self.interpreter.value(a, env) for a in term.args)))
            return [] if place is None else [(place, moment)]
        return [c for a in term.args for c in self.cells(a, env)]


def shown(layout: Layout, state: Any, place: int) -> str:
    """A cell's value as a trace shows it. A number outside an Enum is shown as the number it is."""
    try:
        value = layout.value(state, place)
    except IndexError:
        return str(state[place])
    return str(getattr(value, "name", value))
