"""Terms: the data that guards, effects and properties are made of.

A term is built by ordinary-looking Python (`now.phase[r] == Phase.RUNNING`) and evaluated by none of it:
each reading walks the same tree with a table of its own. So everything in Python that would look at a
term's truth value, order or members is refused here, at the author's line, instead of silently
answering with something else.
"""

from __future__ import annotations

import enum
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, ClassVar, NoReturn, Self

from model.language.errors import LanguageError, Unapplied, refuse


class Op(enum.Enum):
    """Every kind of term there is. A reading has a case for each, or a test fails."""

    CONST = "const"  # data: bool, int, Enum member, or the position of an index
    VAR = "var"  # data: Var
    DIAL = "dial"  # data: Dial; args: its indices
    FIELD = "field"  # data: (Field, Moment); args: its indices
    NEXT = "next"  # the index after this one
    NOT = "not"
    AND = "and"
    OR = "or"
    IMPLIES = "implies"
    ITE = "ite"
    EQ = "eq"
    NE = "ne"
    LT = "lt"
    LE = "le"
    GT = "gt"
    GE = "ge"
    ADD = "add"
    SUB = "sub"
    MUL = "mul"  # one side depends on dials only
    FORALL = "forall"  # data: Var; args: body
    EXISTS = "exists"  # data: Var; args: body
    COUNT = "count"  # data: Var; args: body (Bool)
    TOTAL = "total"  # data: Var; args: body (Int)
    BEFORE = "before"  # data: Var; args: the index it stops before, body (Int)


BINDERS = frozenset({Op.FORALL, Op.EXISTS, Op.COUNT, Op.TOTAL, Op.BEFORE})


class Moment(enum.Enum):
    """Which of the two states around a step a field is read in. A property of one state reads NOW."""

    NOW = "now"
    THEN = "then"


@dataclass(frozen=True)
class Sort:
    """What a term denotes: `Bool`, `Int`, one of an Enum's values, or a member of an index."""

    name: str
    of: Any = None

    def __str__(self) -> str:
        return self.name


BOOL = Sort("Bool")
INT = Sort("Int")

Value = Any  # what an author may write where a term is wanted: a Term, bool, int or Enum member


@dataclass(frozen=True, eq=False)
class Var:
    """A rule's parameter or a quantifier's variable. Two variables are the same only if they are one object."""

    name: str
    domain: Any  # type[Index] or type[Range]


class Term:
    """An expression over fields, dials and variables. Immutable; `unbound` is what `free` found out."""

    __slots__ = ("args", "data", "op", "sort", "unbound")

    def __init__(self, op: Op, args: tuple[Term, ...], sort: Sort, data: Any = None) -> None:
        self.op = op
        self.args = args
        self.sort = sort
        self.data = data
        self.unbound: tuple[Var, ...] | None = None

    # ------------------------------------------------------------------------------- comparison
    def __eq__(self, other: object) -> Term:  # type: ignore[override]
        return _compare(Op.EQ, self, other)

    def __ne__(self, other: object) -> Term:  # type: ignore[override]
        return _compare(Op.NE, self, other)

    def __lt__(self, other: Value) -> Term:
        return _order(Op.LT, self, other)

    def __le__(self, other: Value) -> Term:
        return _order(Op.LE, self, other)

    def __gt__(self, other: Value) -> Term:
        return _order(Op.GT, self, other)

    def __ge__(self, other: Value) -> Term:
        return _order(Op.GE, self, other)

    # ------------------------------------------------------------------------------- arithmetic
    def __add__(self, other: Value) -> Term:
        return _arithmetic(Op.ADD, self, other)

    def __radd__(self, other: Value) -> Term:
        return _arithmetic(Op.ADD, other, self)

    def __sub__(self, other: Value) -> Term:
        return _arithmetic(Op.SUB, self, other)

    def __rsub__(self, other: Value) -> Term:
        return _arithmetic(Op.SUB, other, self)

    def __mul__(self, other: Value) -> Term:
        return _product(self, other)

    def __rmul__(self, other: Value) -> Term:
        return _product(other, self)

    # ------------------------------------------------------------------------------------ logic
    def __and__(self, other: Value) -> Term:
        return _logic(Op.AND, self, other)

    def __rand__(self, other: Value) -> Term:
        return _logic(Op.AND, other, self)

    def __or__(self, other: Value) -> Term:
        return _logic(Op.OR, self, other)

    def __ror__(self, other: Value) -> Term:
        return _logic(Op.OR, other, self)

    def __invert__(self) -> Term:
        return Term(Op.NOT, (want(self, BOOL, "~"),), BOOL)

    # ---------------------------------------------------------------------------------- refused
    __hash__ = None  # type: ignore[assignment]

    def __bool__(self) -> NoReturn:
        raise refuse(
            f"the term ({self}) was asked for a Python truth value (and, or, not, if, while, in or a chained "
            "comparison), but it has none until a state is given; write a & b, a | b, ~a, ite(c, a, b), "
            "among(a, b, c), or (a < b) & (b < c)."
        )

    def __contains__(self, item: object) -> NoReturn:
        raise refuse(f"`in` cannot look into the term ({self}); write among(x, a, b, c).")

    def __iter__(self) -> Iterator[NoReturn]:
        raise refuse(
            f"the term ({self}) cannot be iterated; write forall, exists, count or total over an index, "
            "or `for i in every(Index)` around an update."
        )

    def __index__(self) -> NoReturn:
        raise refuse(f"the term ({self}) is no Python number; write the arithmetic with + - * on terms.")

    __int__ = __index__

    def __floordiv__(self, other: Value) -> NoReturn:
        raise refuse(
            f"division and modulo of ({self}) are not in the language, because solvers and Python differ on "
            "negative numbers; multiply the other side by a dial instead."
        )

    __truediv__ = __rtruediv__ = __rfloordiv__ = __mod__ = __rmod__ = __divmod__ = __rdivmod__ = __floordiv__

    def __neg__(self) -> NoReturn:
        raise refuse(f"the term ({self}) has no sign of its own; write 0 - ({self}).")

    def __getitem__(self, key: object) -> NoReturn:
        raise refuse(f"the term ({self}) is a single value of sort {self.sort}; leave out the index.")

    def __str__(self) -> str:
        from model.language.text import render

        return render(self)

    __repr__ = __str__


class Index(Term):
    """A member of a finite set of interchangeable or ordered things: `class Request(Index, size=requests)`.

    `ordered=True` gives its members a next one and an order; reading a field past the last gives the field's
    initial value. Members of an index that is not ordered can be told apart by nothing but what the fields
    and dials say of them, which is what makes renaming them an exact reduction.
    """

    __slots__ = ()
    size: ClassVar[Term]
    ordered: ClassVar[bool] = False
    short: ClassVar[str]

    def __init_subclass__(cls, size: Value = None, ordered: bool = False, short: str = "", **rest: Any) -> None:
        super().__init_subclass__(**rest)
        if size is None:
            raise refuse(f"the index {cls.__name__} needs a size; write class {cls.__name__}(Index, size=DIAL).")
        cls.size = want(size, INT, f"the size of {cls.__name__}")
        cls.ordered = ordered
        cls.short = short or cls.__name__[0].lower()

    @classmethod
    def variable(cls, name: str) -> Self:
        return cls(Op.VAR, (), index_sort(cls), Var(name, cls))

    @classmethod
    def first(cls) -> Self:
        """The first member of an ordered index."""
        if not cls.ordered:
            raise refuse(f"{cls.__name__} has no first member; declare it with ordered=True or quantify over it.")
        return cls(Op.CONST, (), index_sort(cls), 0)

    @property
    def next(self) -> Self:
        """The member after this one. Past the last, fields read their initial value and writes do nothing."""
        if not type(self).ordered:
            raise refuse(f"{type(self).__name__} has no next member; declare it with ordered=True.")
        return type(self)(Op.NEXT, (self,), self.sort)


class Range(Term):
    """A bounded integer as a rule's parameter: `class Tokens(Range, low=1, high=budget)`; bounds are dial terms."""

    __slots__ = ()
    low: ClassVar[Term]
    high: ClassVar[Term]

    def __init_subclass__(cls, low: Value = None, high: Value = None, **rest: Any) -> None:
        super().__init_subclass__(**rest)
        if low is None or high is None:
            raise refuse(f"the range {cls.__name__} needs bounds; write class {cls.__name__}(Range, low=, high=).")
        cls.low = want(low, INT, f"the low bound of {cls.__name__}")
        cls.high = want(high, INT, f"the high bound of {cls.__name__}")

    @classmethod
    def variable(cls, name: str) -> Self:
        return cls(Op.VAR, (), INT, Var(name, cls))


# ---------------------------------------------------------------------------------------- building
def index_sort(cls: type[Index]) -> Sort:
    return Sort(cls.__name__, cls)


def enum_sort(cls: type[enum.Enum]) -> Sort:
    return Sort(cls.__name__, cls)


def lift(value: Value) -> Term:
    """The term an author's value stands for."""
    if isinstance(value, Term):
        return value
    if isinstance(value, bool):
        return Term(Op.CONST, (), BOOL, value)
    if isinstance(value, int):
        return Term(Op.CONST, (), INT, value)
    if isinstance(value, enum.Enum):
        return Term(Op.CONST, (), enum_sort(type(value)), value)
    if isinstance(value, Unapplied):
        raise value.refusal()
    raise refuse(f"{value!r} is no term; write a term, True or False, a whole number, or a member of an Enum.")


def want(value: Value, sort: Sort, where: str) -> Term:
    """The value as a term of this sort, or the sentence that says what it is instead."""
    term = lift(value)
    if term.sort != sort:
        hint = ""
        if sort == BOOL and where in ("&", "|", "~"):
            hint = "put each comparison in parentheses, since &, | and ~ bind tighter than =="
        elif sort == INT and term.sort == BOOL:
            hint = "write ite(condition, 1, 0), or count(Index, ...)"
        raise refuse(f"{where} takes {sort}, but ({term}) is {term.sort}; {hint or f'give it a term of sort {sort}'}.")
    return term


def _compare(op: Op, left: Value, right: Value) -> Term:
    a, b = lift(left), lift(right)
    if a.sort != b.sort:
        raise refuse(f"({a}) is {a.sort} and ({b}) is {b.sort}, which are never equal; compare terms of one sort.")
    return Term(op, (a, b), BOOL)


def _order(op: Op, left: Value, right: Value) -> Term:
    a, b = lift(left), lift(right)
    ordered = a.sort == INT or (isinstance(a.sort.of, type) and issubclass(a.sort.of, Index) and a.sort.of.ordered)
    if a.sort != b.sort or not ordered:
        raise refuse(
            f"({a}) is {a.sort} and ({b}) is {b.sort}, which have no order; "
            "compare two Ints or two members of one ordered index."
        )
    return Term(op, (a, b), BOOL)


def _arithmetic(op: Op, left: Value, right: Value) -> Term:
    sign = "+" if op is Op.ADD else "-"
    return Term(op, (want(left, INT, sign), want(right, INT, sign)), INT)


def _product(left: Value, right: Value) -> Term:
    a, b = want(left, INT, "*"), want(right, INT, "*")
    if reads_state(a) and reads_state(b):
        raise refuse(
            f"the product ({a}) * ({b}) depends on the state on both sides; "
            "only a product by a dial or a number is in the language."
        )
    return Term(Op.MUL, (a, b), INT)


def _logic(op: Op, left: Value, right: Value) -> Term:
    sign = "&" if op is Op.AND else "|"
    return Term(op, (want(left, BOOL, sign), want(right, BOOL, sign)), BOOL)


# ----------------------------------------------------------------------------------------- walking
def walk(term: Term) -> Iterator[Term]:
    """Every subterm, the term itself first."""
    stack = [term]
    while stack:
        top = stack.pop()
        yield top
        stack.extend(reversed(top.args))


def reads_state(term: Term) -> bool:
    """Whether the term's value depends on a field or a parameter, and not on dials alone."""
    return any(t.op is Op.FIELD or (t.op is Op.VAR and issubclass(t.data.domain, Range)) for t in walk(term))


def free(term: Term) -> tuple[Var, ...]:
    """The variables that the term itself does not bind, in the order they are met."""
    if term.unbound is None:
        found = {term.data: None} if term.op is Op.VAR else {v: None for a in term.args for v in free(a)}
        if term.op in BINDERS:
            found.pop(term.data, None)
        term.unbound = tuple(found)
    return term.unbound


def same(a: Term, b: Term) -> bool:
    """Structural equality, up to the names of bound variables."""
    return _same(a, b, {})


def _same(a: Term, b: Term, bound: dict[int, Var]) -> bool:
    if a.op is not b.op or a.sort != b.sort or len(a.args) != len(b.args):
        return False
    if a.op is Op.VAR:
        return bound.get(id(a.data), a.data) is b.data
    if a.op in BINDERS:
        if a.data.domain is not b.data.domain:
            return False
        bound = {**bound, id(a.data): b.data}
    elif a.data != b.data or type(a.data) is not type(b.data):
        return False
    return all(_same(x, y, bound) for x, y in zip(a.args, b.args, strict=True))


def substitute(term: Term, values: dict[Var, Term]) -> Term:
    """The term with variables replaced; bound variables are objects of their own, so none is captured."""
    if term.op is Op.VAR:
        return values.get(term.data, term)
    if not term.args:
        return term
    return type(term)(term.op, tuple(substitute(a, values) for a in term.args), term.sort, term.data)


def constant(term: Term) -> Any:
    if term.op is not Op.CONST:
        raise LanguageError(f"({term}) is no constant")
    return term.data
