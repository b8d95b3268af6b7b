"""The solver's terms, built with constants folded and with little ado.

A value is a Python constant (bool, int, Enum member) as long as it is known, and a term of Z3 otherwise. Millions of
terms are built in a proof; most of what Z3's own Python operators do for each of them (coercing, comparing sorts) is
settled here already by the language's sorts, so the terms are made directly.
"""

from __future__ import annotations

import enum
from collections.abc import Iterable, Sequence
from typing import Any, ClassVar

import z3
from z3 import z3core

from model.language.terms import BOOL, INT, Sort

Value = Any

_CONTEXT = z3.main_ctx()
_REF = _CONTEXT.ref()


class Terms:
    """What exists once in a process: the solver's sorts of Enums, and its constants by name."""

    enums: ClassVar[dict[type[enum.Enum], tuple[Any, dict[enum.Enum, Any]]]] = {}
    constants: ClassVar[dict[tuple[str, str], Any]] = {}
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
    if z3.is_not(a):
        return a.arg(0)
    return z3.BoolRef(z3core.Z3_mk_not(_REF, a.ast), _CONTEXT)


def conjunction(args: Iterable[Value]) -> Value:
    kept = [a for a in args if a is not True]
    if False in [a for a in kept if a is False]:
        return False
    if len(kept) < 2:
        return kept[0] if kept else True
    return z3.BoolRef(z3core.Z3_mk_and(_REF, len(kept), _array(kept)), _CONTEXT)


def disjunction(args: Iterable[Value]) -> Value:
    kept = [a for a in args if a is not False]
    if any(a is True for a in kept):
        return True
    if len(kept) < 2:
        return kept[0] if kept else False
    return z3.BoolRef(z3core.Z3_mk_or(_REF, len(kept), _array(kept)), _CONTEXT)


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
    kind = z3.ArithRef if isinstance(yes, z3.ArithRef) else type(yes)
    return kind(z3core.Z3_mk_ite(_REF, c.ast, yes.ast, no.ast), _CONTEXT)


def equality(a: Value, b: Value) -> Value:
    if known(a) and known(b):
        return a == b
    if isinstance(a, bool) or isinstance(b, bool):
        constant, other = (a, b) if isinstance(a, bool) else (b, a)
        return other if constant else negation(other)
    a, b = solver_term(a), solver_term(b)
    if identical(a, b):
        return True
    return z3.BoolRef(z3core.Z3_mk_eq(_REF, a.ast, b.ast), _CONTEXT)


def at_most(a: Value, b: Value) -> Value:
    """Whether a <= b."""
    if known(a) and known(b):
        return a <= b
    return z3.BoolRef(z3core.Z3_mk_le(_REF, solver_term(a).ast, solver_term(b).ast), _CONTEXT)


def below(a: Value, b: Value) -> Value:
    """Whether a < b."""
    if known(a) and known(b):
        return a < b
    return z3.BoolRef(z3core.Z3_mk_lt(_REF, solver_term(a).ast, solver_term(b).ast), _CONTEXT)


def sum_of(args: Iterable[Value]) -> Value:
    terms = list(args)
    rest = [t for t in terms if not known(t)]
    constant = sum(t for t in terms if known(t))
    if not rest:
        return constant
    if constant:
        rest.append(solver_term(constant))
    if len(rest) == 1:
        return rest[0]
    return z3.ArithRef(z3core.Z3_mk_add(_REF, len(rest), _array(rest)), _CONTEXT)


def minus(a: Value) -> Value:
    return -a if known(a) else z3.ArithRef(z3core.Z3_mk_unary_minus(_REF, a.ast), _CONTEXT)


def product(a: Value, b: Value) -> Value:
    if known(a) and known(b):
        return a * b
    constant, other = (a, b) if known(a) else (b, a)
    if known(constant) and constant in (0, 1):
        return other if constant else 0
    args = [solver_term(a), solver_term(b)]
    return z3.ArithRef(z3core.Z3_mk_mul(_REF, 2, _array(args)), _CONTEXT)


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
        return z3.BoolSort()
    return z3.IntSort() if sort == INT else enum_terms(sort.of)[0]


def constant_of(name: str, sort: Any) -> Any:
    """The solver's constant of that name and sort."""
    key = (name, str(sort))
    if key not in Terms.constants:
        Terms.constants[key] = z3.Const(name, sort)
    return Terms.constants[key]


class Function:
    """A function of the solver; with no arguments, a constant."""

    def __init__(self, name: str, arguments: Sequence[Any], result: Any) -> None:
        self.constant = None if arguments else constant_of(name, result)
        self.declared = z3.Function(name, *arguments, result) if arguments else None
        is_bool, is_int = result == z3.BoolSort(), result == z3.IntSort()
        self.kind: Any = z3.BoolRef if is_bool else z3.ArithRef if is_int else z3.DatatypeRef

    def __call__(self, *args: Any) -> Any:
        if self.declared is None:
            return self.constant
        return self.kind(z3core.Z3_mk_app(_REF, self.declared.ast, len(args), _array(args)), _CONTEXT)


def assert_all(solver: Any, facts: Iterable[Any]) -> None:
    """Assert values, as they are."""
    for value in facts:
        fact = value if isinstance(value, z3.ExprRef) else solver_term(value)
        z3core.Z3_solver_assert(_REF, solver.solver, fact.ast)
