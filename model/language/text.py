"""Terms as text, in the notation they were written in. Readings that want other words overlay the table.

An infix operator has a sign; the others have a template with their arguments as {0}, {1}, {2} and, for those that
bind a variable, its {index} and {name}.
"""

from __future__ import annotations

import enum
from collections.abc import Callable, Mapping

from model.language.terms import BINDERS, Index, Moment, Op, Term, Var

SYMBOLS: dict[Op, str] = {
    Op.AND: "&",
    Op.OR: "|",
    Op.IMPLIES: "implies",
    Op.EQ: "==",
    Op.NE: "!=",
    Op.LT: "<",
    Op.LE: "<=",
    Op.GT: ">",
    Op.GE: ">=",
    Op.ADD: "+",
    Op.SUB: "-",
    Op.MUL: "*",
    Op.NOT: "~{0}",
    Op.NEXT: "{0}.next",
    Op.ITE: "ite({0}, {1}, {2})",
    Op.FORALL: "forall({index} {name}: {0})",
    Op.EXISTS: "exists({index} {name}: {0})",
    Op.COUNT: "count({index} {name}: {0})",
    Op.TOTAL: "total({index} {name}: {0})",
    Op.BEFORE: "before({0}, {name}: {1})",
    Op.CONST: "",
    Op.VAR: "",
    Op.DIAL: "",
    Op.FIELD: "",
}

# Python's own precedence, loosest first, so that a printed term reads as it was written.
_BINDS = {
    Op.IMPLIES: 0,
    Op.EQ: 1,
    Op.NE: 1,
    Op.LT: 1,
    Op.LE: 1,
    Op.GT: 1,
    Op.GE: 1,
    Op.OR: 2,
    Op.AND: 3,
    Op.ADD: 4,
    Op.SUB: 4,
    Op.MUL: 5,
}

FieldText = Callable[[str, Moment], str]


def plain_field(name: str, moment: Moment) -> str:
    return name if moment is Moment.NOW else f"{moment.value}.{name}"


def render(
    term: Term,
    symbols: Mapping[Op, str] = SYMBOLS,
    names: Mapping[Var, str] | None = None,
    field: FieldText = plain_field,
    binds: Mapping[Op, int] = _BINDS,
) -> str:
    """The term as one line. `names` gives variables another name (an element of a world, say)."""
    return _Printer(symbols, names or {}, field, binds).show(term, -1)


class _Printer:
    def __init__(
        self, symbols: Mapping[Op, str], names: Mapping[Var, str], field: FieldText, binds: Mapping[Op, int]
    ) -> None:
        self.symbols, self.names, self.field, self.binds = symbols, names, field, binds

    def show(self, term: Term, outer: int) -> str:
        op = term.op
        if op in self.binds:
            inner = self.binds[op]
            # Comparisons do not chain, and a - (b - c) is not a - b - c: the right side binds one tighter.
            left = self.show(term.args[0], inner if op not in (Op.EQ, Op.NE) else inner + 1)
            text = f"{left} {self.symbols[op]} {self.show(term.args[1], inner + 1)}"
            return f"({text})" if inner < outer else text
        return self.atom(term)

    def atom(self, term: Term) -> str:
        match term.op:
            case Op.CONST:
                return self.constant(term)
            case Op.VAR:
                return self.names.get(term.data, term.data.name)
            case Op.DIAL:
                return self.indexed(term.data.name, term)
            case Op.FIELD:
                field, moment = term.data
                return self.indexed(self.field(field.name, moment), term)
        # Only what is written in front or behind needs its argument to hold together.
        inner = 9 if term.op in (Op.NOT, Op.NEXT) else -1
        args = [self.show(a, inner) for a in term.args]
        if term.op not in BINDERS:
            return self.symbols[term.op].format(*args)
        var = term.data
        name = self.names.get(var, var.name)
        return self.symbols[term.op].format(*args, index=var.domain.__name__, name=name)

    def constant(self, term: Term) -> str:
        if isinstance(term.data, enum.Enum):
            return term.data.name
        if isinstance(term.sort.of, type) and issubclass(term.sort.of, Index):
            return f"{term.sort.of.short}{term.data}"
        return str(term.data)

    def indexed(self, name: str, term: Term) -> str:
        return f"{name}[{', '.join(self.show(a, -1) for a in term.args)}]" if term.args else name
