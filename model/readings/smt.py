"""Terms for a solver: one translation with two ways to treat an index.

*Sized* (`sized.py`): an index has its members 0, 1, ...; quantifiers and sums are written out.
*Any size* (`anysize.py`): an index is a sort nobody knows the size of; fields are functions, a quantified formula is
a name with instances, and a sum is a value of its own that every rule must be shown to change exactly.

What both share is here: what an operator means, how a state after a step reads, and constants folded on the way. A
value is a Python constant (bool, int, Enum member) as long as it is known, and a solver's term otherwise.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from typing import Any

from model.language.dials import Dial
from model.language.errors import LanguageError
from model.language.model import Model
from model.language.rules import Rule, Update
from model.language.state import Field
from model.language.terms import BINDERS, Index, Moment, Op, Range, Sort, Term, Var, free
from model.readings.operators import MEANING
from model.readings.solver import (
    Value,
    at_most,
    below,
    choice,
    conjunction,
    disjunction,
    equality,
    implication,
    known,
    minus,
    negation,
    product,
    sum_of,
)

Member = Any  # a member of an index: a position when sized, a name with an offset otherwise
Env = dict[Var, Member]


class Inexact(LanguageError):
    """What the solver's reading cannot say exactly is refused, never approximated."""


# What a solver means by each plain operator. Python's own arithmetic and order serve; the others fold constants, and
# say with the solver's words what Python's would decide at once.
TABLE: dict[Op, Callable[..., Value]] = {
    **MEANING,
    Op.NOT: negation,
    Op.AND: lambda a, b: conjunction([a, b]),
    Op.OR: lambda a, b: disjunction([a, b]),
    Op.IMPLIES: implication,
    Op.ITE: choice,
    Op.EQ: equality,
    Op.NE: lambda a, b: negation(equality(a, b)),
    Op.LT: below,
    Op.LE: at_most,
    Op.GT: lambda a, b: below(b, a),
    Op.GE: lambda a, b: at_most(b, a),
    Op.ADD: lambda a, b: sum_of([a, b]),
    Op.SUB: lambda a, b: sum_of([a, minus(b)]),
    Op.MUL: product,
}


# ---------------------------------------------------------------------------------------------------- views
class View:
    """One state, as something fields can be read in."""


class Symbolic(View):
    """Any state: its cells are unknowns. `name` tells it from others."""

    def __init__(self, name: str = "") -> None:
        self.name = name


class Initial(View):
    """The state that the declarations begin with."""


class After(View):
    """The state a rule leads to, written in terms of the state before; nothing is copied."""

    def __init__(self, rule: Rule, params: Env, before: View) -> None:
        self.rule, self.params, self.before = rule, params, before
        self.updates: dict[Field, list[Update]] = {}
        for update in rule.updates:
            self.updates.setdefault(update.field, []).append(update)


# ----------------------------------------------------------------------------------------------- translating
class Translator(ABC):
    """Translates terms. Subclasses say what a member, a cell, a quantifier and a sum are."""

    def __init__(self, model: Model, fixed: Mapping[str, Any]) -> None:
        self.model, self.fixed = model, fixed
        self.memo: dict[Any, Value] = {}
        self.kept: dict[int, Term] = {}  # so that the identity of a term that is remembered stays its own

    # ------------------------------------------------------------------------------- what an index is
    @abstractmethod
    def first(self, index: type[Index]) -> Member: ...

    @abstractmethod
    def moved(self, member: Member, places: int) -> Member:
        """The member so many places on (or back)."""

    @abstractmethod
    def same(self, a: Member, b: Member) -> Value: ...

    @abstractmethod
    def at_least(self, member: Member, places: int) -> Value:
        """Whether a member of an ordered index has so many before it."""

    @abstractmethod
    def number(self, member: Member) -> Value:
        """A member of an ordered index, or a parameter's number, as an Int."""

    # ------------------------------------------------------------------------------- what a state is
    @abstractmethod
    def exists(self, field: Field, at: tuple[Member, ...]) -> Value:
        """Whether the field has this cell; where not, it reads its initial value and writes do nothing."""

    @abstractmethod
    def cell(self, view: Symbolic, field: Field, at: tuple[Member, ...]) -> Value: ...

    @abstractmethod
    def dial(self, dial: Dial, at: tuple[Member, ...]) -> Value: ...

    @abstractmethod
    def over(self, term: Term, env: Env, now: View, then: View | None, sign: int) -> Value:
        """A quantifier or a sum. `sign`: 1 where the formula is asserted, -1 where it is denied, 0 where both."""

    # ---------------------------------------------------------------------------------------- terms
    def value(self, term: Term, env: Env, now: View, then: View | None = None, sign: int = 0) -> Value:
        """The term's value; `now` and `then` are the states that its moments mean."""
        if not term.args and term.op is not Op.FIELD and term.op is not Op.DIAL:
            return self.leaf(term, env)
        key = (id(term), now, then, sign, *(env[v] for v in free(term)))
        found = self.memo.get(key)
        if found is None:
            self.kept[id(term)] = term
            found = self.memo[key] = self.compound(term, env, now, then, sign)
        return found

    def leaf(self, term: Term, env: Env) -> Value:
        if term.op is Op.VAR:
            member = env[term.data]
            return self.number(member) if issubclass(term.data.domain, Range) else member
        if is_index(term.sort):
            return self.moved(self.first(term.sort.of), term.data)
        return term.data

    def compound(self, term: Term, env: Env, now: View, then: View | None, sign: int) -> Value:
        op, args = term.op, term.args
        if op in BINDERS:
            return self.over(term, env, now, then, sign)
        if op is Op.FIELD:
            field, moment = term.data
            view = now if moment is Moment.NOW else then
            assert view is not None
            return self.read(view, field, tuple(self.value(a, env, now, then) for a in args))
        if op is Op.DIAL:
            return self.dial(term.data, tuple(self.value(a, env, now, then) for a in args))
        if op is Op.NEXT:
            return self.moved(self.value(args[0], env, now, then), 1)
        if args and is_index(args[0].sort):
            return self.compare(op, *(self.value(a, env, now, then) for a in args))
        signs = self.signs(op, sign, args)
        if op in (Op.AND, Op.OR, Op.IMPLIES):
            left = self.value(args[0], env, now, then, signs[0])
            if known(left) and left is (op is Op.OR):
                return op is not Op.AND
            return TABLE[op](left, self.value(args[1], env, now, then, signs[1]))
        if op is Op.ITE:
            c = self.value(args[0], env, now, then, 0)
            if known(c):
                return self.value(args[1 if c else 2], env, now, then, sign)
        if op is Op.MUL:
            return self.times(term, env, now, then)
        return TABLE[op](*(self.value(a, env, now, then, s) for a, s in zip(args, signs, strict=True)))

    def times(self, term: Term, env: Env, now: View, then: View | None) -> Value:
        return product(*(self.value(a, env, now, then) for a in term.args))

    def signs(self, op: Op, sign: int, args: tuple[Term, ...]) -> tuple[int, ...]:
        """Whether each argument is asserted, denied, or both, where the whole is."""
        match op:
            case Op.NOT:
                return (-sign,)
            case Op.AND | Op.OR:
                return sign, sign
            case Op.IMPLIES:
                return -sign, sign
            case Op.ITE:
                return 0, sign, sign
        return (0,) * len(args)

    def compare(self, op: Op, a: Member, b: Member) -> Value:
        if op is Op.EQ:
            return self.same(a, b)
        if op is Op.NE:
            return negation(self.same(a, b))
        return TABLE[op](self.number(a), self.number(b))

    # --------------------------------------------------------------------------------------- states
    def read(self, view: View, field: Field, at: tuple[Member, ...]) -> Value:
        """One cell of a state; a cell that does not exist reads its initial value."""
        if isinstance(view, Initial):
            return field.initial
        key = (field, view, at)
        if key not in self.memo:
            self.memo[key] = self.fresh_read(view, field, at)
        return self.memo[key]

    def fresh_read(self, view: View, field: Field, at: tuple[Member, ...]) -> Value:
        there = self.exists(field, at)
        if there is False:
            return field.initial
        if isinstance(view, After):
            return self.read_after(view, field, at, there)
        assert isinstance(view, Symbolic)
        return self.cell(view, field, at)

    def read_after(self, view: After, field: Field, at: tuple[Member, ...], there: Value) -> Value:
        result = self.read(view.before, field, at)
        for update in view.updates.get(field, ()):
            env, conditions = self.match(view, update, at)
            written = conjunction([there, *conditions])
            if written is not False:
                result = choice(written, self.value(update.value, env, view.before), result)
        return result

    def match(self, view: After, update: Update, at: tuple[Member, ...]) -> tuple[Env, list[Value]]:
        """What the update's own variables are for this cell, and when it is this cell that is written."""
        env, conditions = dict(view.params), []
        bound: set[Var] = set()
        for index, member in zip(update.indices, at, strict=True):
            places, root = 0, index
            while root.op is Op.NEXT:
                root, places = root.args[0], places + 1
            if root.op is Op.VAR and root.data in update.bound and root.data not in bound:
                bound.add(root.data)
                env[root.data] = self.moved(member, -places) if places else member
                if places:
                    conditions.append(self.at_least(member, places))
                continue
            conditions.append(self.same(self.value(index, env, view.before), member))
        return env, conditions


def is_index(sort: Sort) -> bool:
    return isinstance(sort.of, type) and issubclass(sort.of, Index)
