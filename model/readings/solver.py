"""The solver's terms, built with constants folded and with little ado.

A value is a Python constant (bool, int, Enum member) as long as it is known, and a term of Z3 otherwise. Millions of
terms are built in a proof; most of what Z3's own Python operators do for each of them (coercing, comparing sorts) is
settled here already by the language's sorts, so the terms are made directly.
"""

from __future__ import annotations

import ctypes
import enum
from collections.abc import Iterable, Sequence
from typing import Any, ClassVar

import z3
from z3 import z3core

from model.language.terms import BOOL, INT, Sort

Value = Any

_CONTEXT = z3.main_ctx()
_REF = _CONTEXT.ref()
BOOLS, INTS = z3.BoolSort(), z3.IntSort()


def _direct(name: str, *arguments: Any, result: Any = z3.Ast) -> Any:
    """A function of the solver's library, without what its own Python does around each call."""
    checked = getattr(z3core, f"Z3_{name}")
    address = ctypes.cast(checked.__defaults__[-1].f, ctypes.c_void_p).value
    assert address is not None
    return ctypes.PYFUNCTYPE(result, ctypes.c_void_p, *arguments)(address)


_ONE, _TWO, _THREE = ([ctypes.c_void_p] * n for n in (1, 2, 3))
_MANY = (ctypes.c_uint, ctypes.c_void_p)
_NOT, _EQ, _LE, _LT = (_direct(f"mk_{n}", *a) for n, a in (("not", _ONE), ("eq", _TWO), ("le", _TWO), ("lt", _TWO)))
_AND, _OR, _ADD, _MUL = (_direct(f"mk_{n}", *_MANY) for n in ("and", "or", "add", "mul"))
_ITE, _MINUS, _APP = (
    _direct("mk_ite", *_THREE),
    _direct("mk_unary_minus", *_ONE),
    _direct("mk_app", ctypes.c_void_p, *_MANY),
)
_KEEP, _DROP = (_direct(f"{n}_ref", *_ONE, result=None) for n in ("inc", "dec"))
_ASSERT = _direct("solver_assert", *_TWO, result=None)
_INT = _direct("get_numeral_int64", *_TWO, result=ctypes.c_bool)
_EVAL = _direct("model_eval", *_TWO, ctypes.c_bool, ctypes.c_void_p, result=ctypes.c_bool)


class _Made(z3.ExprRef):  # type: ignore[misc]
    """A term made here. `denies`: the term that it is the negation of; `adds`: the terms and the number that it is the sum of."""

    denies: Any = None
    adds: tuple[list[Any], int] | None = None

    def __init__(self, ast: Any) -> None:
        assert ast.value, "the solver made no term"
        self.ast, self.ctx = ast, _CONTEXT
        _KEEP(_REF, ast)

    def __del__(self) -> None:
        if self.ctx.ctx is not None:
            _DROP(_REF, self.ast)


class _Bool(_Made, z3.BoolRef):  # type: ignore[misc]
    pass


class _Int(_Made, z3.ArithRef):  # type: ignore[misc]
    pass


class _Member(_Made, z3.DatatypeRef):  # type: ignore[misc]
    pass


class Terms:
    """What exists once in a process: the solver's sorts of Enums, and its constants by name."""

    enums: ClassVar[dict[type[enum.Enum], tuple[Any, dict[enum.Enum, Any]]]] = {}
    constants: ClassVar[dict[tuple[str, int], Any]] = {}
    numbers: ClassVar[dict[int, Any]] = {}


def known(value: Value) -> bool:
    return not isinstance(value, z3.ExprRef)


def identical(a: Any, b: Any) -> bool:
    """Whether two terms of the solver are one: it keeps each only once."""
    return bool(a.ast.value == b.ast.value)


def _array(args: Sequence[Any]) -> Any:
    return (z3.Ast * len(args))(*[a.ast for a in args])


def negation(a: Value) -> Value:
    if known(a):
        return not a
    if isinstance(a, _Made) and a.denies is not None:
        return a.denies
    made = _Bool(_NOT(_REF, a.ast))
    made.denies = a
    return made


def conjunction(args: Iterable[Value]) -> Value:
    kept = [a for a in args if a is not True]
    if False in [a for a in kept if a is False]:
        return False
    if len(kept) < 2:
        return kept[0] if kept else True
    return _Bool(_AND(_REF, len(kept), _array(kept)))


def disjunction(args: Iterable[Value]) -> Value:
    kept = [a for a in args if a is not False]
    if any(a is True for a in kept):
        return True
    if len(kept) < 2:
        return kept[0] if kept else False
    return _Bool(_OR(_REF, len(kept), _array(kept)))


def implication(a: Value, b: Value) -> Value:
    return disjunction([negation(a), b])


def choice(c: Value, a: Value, b: Value) -> Value:
    if known(c):
        return a if c else b
    if known(a) and known(b) and a == b:
        return a
    if a is True or b is False:
        return disjunction([c, b]) if a is True else conjunction([c, a])
    if a is False or b is True:
        return conjunction([negation(c), b]) if a is False else disjunction([negation(c), a])
    yes, no = solver_term(a), solver_term(b)
    if identical(yes, no):
        return a
    return _kind(yes)(_ITE(_REF, c.ast, yes.ast, no.ast))


def _kind(term: Any) -> Any:
    return _Int if isinstance(term, z3.ArithRef) else _Bool if isinstance(term, z3.BoolRef) else _Member


def equality(a: Value, b: Value) -> Value:
    if known(a) and known(b):
        return a == b
    if isinstance(a, bool) or isinstance(b, bool):
        constant, other = (a, b) if isinstance(a, bool) else (b, a)
        return other if constant else negation(other)
    a, b = solver_term(a), solver_term(b)
    if identical(a, b):
        return True
    return _Bool(_EQ(_REF, a.ast, b.ast))


def at_most(a: Value, b: Value) -> Value:
    """Whether a <= b."""
    if known(a) and known(b):
        return a <= b
    return _Bool(_LE(_REF, solver_term(a).ast, solver_term(b).ast))


def below(a: Value, b: Value) -> Value:
    """Whether a < b."""
    if known(a) and known(b):
        return a < b
    return _Bool(_LT(_REF, solver_term(a).ast, solver_term(b).ast))


def sum_of(args: Iterable[Value]) -> Value:
    terms = list(args)
    rest = [t for t in terms if not known(t)]
    constant = sum(t for t in terms if known(t))
    if not rest:
        return constant
    if not constant and len(rest) == 1:
        return rest[0]
    added = [*rest, solver_term(constant)] if constant else rest
    made = _Int(_ADD(_REF, len(added), _array(added)))
    made.adds = rest, constant
    return made


def offset(term: Any) -> tuple[Any, int]:
    """A term as another plus a number."""
    if not isinstance(term, _Made) or term.adds is None:
        return term, 0
    rest, constant = term.adds
    if len(rest) > 1:
        return (sum_of(rest) if constant else term), constant
    inner, more = offset(rest[0])
    return inner, constant + more


def minus(a: Value) -> Value:
    return -a if known(a) else _Int(_MINUS(_REF, a.ast))


def product(a: Value, b: Value) -> Value:
    if known(a) and known(b):
        return a * b
    constant, other = (a, b) if known(a) else (b, a)
    if known(constant) and constant in (0, 1):
        return other if constant else 0
    args = [solver_term(a), solver_term(b)]
    return _Int(_MUL(_REF, 2, _array(args)))


# ------------------------------------------------------------------------------------ constants and functions
def solver_term(value: Value) -> Any:
    if isinstance(value, z3.ExprRef):
        return value
    if isinstance(value, bool):
        return z3.BoolVal(value)
    if isinstance(value, int):
        if value not in Terms.numbers:
            Terms.numbers[value] = z3.IntVal(value)
        return Terms.numbers[value]
    assert isinstance(value, enum.Enum)
    return enum_terms(type(value))[1][value]


def enum_terms(of: type[enum.Enum]) -> tuple[Any, dict[enum.Enum, Any]]:
    """The solver's sort of an Enum, and its value for each member."""
    if of not in Terms.enums:
        sort, values = z3.EnumSort(of.__name__, [f"{of.__name__}.{m.name}" for m in of])
        Terms.enums[of] = sort, dict(zip(of, values, strict=True))
    return Terms.enums[of]


def value_sort(sort: Sort) -> Any:
    if sort == BOOL:
        return BOOLS
    return INTS if sort == INT else enum_terms(sort.of)[0]


def constant_of(name: str, sort: Any) -> Any:
    """The solver's constant of that name and sort."""
    key = (name, sort.ast.value)  # a sort that a constant has is there for good
    if key not in Terms.constants:
        Terms.constants[key] = z3.Const(name, sort)
    return Terms.constants[key]


class Function:
    """A function of the solver; with no arguments, a constant."""

    def __init__(self, name: str, arguments: Sequence[Any], result: Any) -> None:
        self.constant = None if arguments else constant_of(name, result)
        self.declared = z3.Function(name, *arguments, result) if arguments else None
        is_bool, is_int = result == BOOLS, result == INTS
        self.kind: Any = _Bool if is_bool else _Int if is_int else _Member

    def __call__(self, *args: Any) -> Any:
        if self.declared is None:
            return self.constant
        return self.kind(_APP(_REF, self.declared.ast, len(args), _array(args)))


def assert_all(solver: Any, facts: Iterable[Any]) -> None:
    """Assert values, as they are."""
    for value in facts:
        fact = value if isinstance(value, z3.ExprRef) else solver_term(value)
        _ASSERT(_REF, solver.solver, fact.ast)
        # A call made directly raises nothing, and what was not asserted would be missing without a word.
        if z3core.Z3_get_error_code(_REF):
            raise z3.Z3Exception(z3core.Z3_get_error_msg(_REF, z3core.Z3_get_error_code(_REF)))


def check_assuming(solver: Any, literals: Sequence[Any]) -> Any:
    """Whether what was asserted can be true with all the literals: sat, unsat or unknown."""
    answer = z3core.Z3_solver_check_assumptions(_REF, solver.solver, len(literals), _array(literals))
    return z3.CheckSatResult(answer)


def numbers_in(found: Any, terms: Iterable[Any]) -> list[int]:
    """What whole numbers the terms are in a model of the solver."""
    value, number, numbers = z3.Ast(None), ctypes.c_int64(), list[int]()
    for term in terms:
        if known(term):
            numbers.append(int(term))
        elif _EVAL(_REF, found.model, term.ast, True, ctypes.byref(value)) and _INT(_REF, value, ctypes.byref(number)):
            numbers.append(number.value)
        else:
            numbers.append(int(found.eval(term, True).as_long()))  # too large for a machine's number
    return numbers
