"""The C reading: ground terms as C expressions, and functions of one or two states made of them.

A state is an array of ints, one a cell, read as `s[table_r0_b1]`; truth values are 0 and 1. What differs from Python:
`&` and `|` in place of `and` and `or`, so that a guard has no branches; what occurs twice is computed once; and a
number must fit an int, which is made sure of beforehand (`TooWide`).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from model.language.terms import Moment, Op
from model.readings.ground import Ground
from model.readings.layout import Layout

LARGEST = (1 << 31) - 1

SOURCE: dict[Op, str] = {Op.EQ: "==", Op.LT: "<", Op.LE: "<=", Op.AND: "&", Op.OR: "|", Op.ADD: "+", Op.MUL: "*"}
TRUTHS = frozenset({Op.NOT, Op.AND, Op.OR, Op.EQ, Op.LT, Op.LE})

Span = tuple[int, int]


class TooWide(Exception):
    """A number that may not fit an int; the message says how large it may become."""


@dataclass(frozen=True)
class Node:
    """A ground term whose arguments are numbers of other nodes."""

    op: Op | None
    args: tuple[int, ...]
    data: tuple[int, Moment] | int | None


class Terms:
    """Ground terms with equal ones made one. A term's arguments have smaller numbers than the term."""

    def __init__(self) -> None:
        self.nodes: list[Node] = []
        self._known: dict[Node, int] = {}
        self._seen: dict[int, tuple[Ground, int]] = {}  # by identity; a term that is kept is not replaced by another

    def add(self, term: Ground) -> int:
        """The term's number."""
        seen = self._seen.get(id(term))
        if seen is not None:
            return seen[1]
        node = Node(term.op, tuple(self.add(a) for a in term.args), term.data)
        number = self._known.get(node)
        if number is None:
            number = self._known[node] = len(self.nodes)
            self.nodes.append(node)
        self._seen[id(term)] = term, number
        return number

    def below(self, roots: Iterable[int]) -> list[int]:
        """The roots and everything they are made of, arguments first."""
        seen: set[int] = set()
        todo = list(roots)
        while todo:
            number = todo.pop()
            if number not in seen:
                seen.add(number)
                todo += self.nodes[number].args
        return sorted(seen)


class Spans:
    """The least and the greatest value of a term, from those of the cells. Raises TooWide if one does not fit an int."""

    def __init__(self, terms: Terms, cells: Sequence[Span]) -> None:
        self.terms, self.cells = terms, cells
        self._known: dict[int, Span] = {}

    def of(self, root: int) -> Span:
        for number in self.terms.below([root]):
            if number not in self._known:
                low, high = self._known[number] = self._span(self.terms.nodes[number])
                if low < -LARGEST or high > LARGEST:
                    raise TooWide(f"a number of the rules may become {max(-low, high):,}, and at most {LARGEST:,} fits")
        return self._known[root]

    def _span(self, node: Node) -> Span:
        if node.op is None:
            assert isinstance(node.data, tuple)
            return self.cells[node.data[0]]
        if node.op in TRUTHS:
            return 0, 1
        args = [self._known[a] for a in node.args]
        match node.op:
            case Op.CONST:
                assert isinstance(node.data, int)
                return node.data, node.data
            case Op.ITE:
                return min(args[1][0], args[2][0]), max(args[1][1], args[2][1])
            case Op.ADD:
                return sum(low for low, _ in args), sum(high for _, high in args)
            case Op.MUL:
                ends = [a * b for a in args[0] for b in args[1]]
                return min(ends), max(ends)
        raise NotImplementedError(f"{node.op} has no span")


class CWriter:
    """Writes terms over one layout's cells."""

    def __init__(self, layout: Layout) -> None:
        self.layout, self.terms = layout, Terms()

    @property
    def names(self) -> str:
        """The cells' places under their names."""
        return "enum {" + ", ".join(f"{c.label} = {place}" for place, c in enumerate(self.layout.cells)) + "};"

    def cell(self, place: int, moment: Moment = Moment.NOW) -> str:
        return f"{'s' if moment is Moment.NOW else 't'}[{self.layout.cells[place].label}]"

    def write(self, term: Ground) -> str:
        """One expression."""
        return self.text(self.terms.add(term), {})

    def block(self, terms: Sequence[Ground], local: dict[int, str] | None = None) -> tuple[list[str], list[str]]:
        """Statements that compute what occurs more than once, and an expression for each term.

        `local` are terms, by number, that are known by a name already; it is added to.
        """
        roots = [self.terms.add(t) for t in terms]
        known = {} if local is None else local
        return list(self._locals(roots, known)), [self.text(r, known) for r in roots]

    def _locals(self, roots: list[int], local: dict[int, str]) -> Iterator[str]:
        below = self.terms.below(roots)
        uses = Counter(a for number in below for a in self.terms.nodes[number].args) + Counter(roots)
        for number in below:
            if uses[number] > 1 and number not in local and self.terms.nodes[number].op not in (None, Op.CONST):
                text = self.text(number, local)
                local[number] = f"x{len(local)}"
                yield f"const int {local[number]} = {text};"

    def text(self, number: int, local: dict[int, str]) -> str:
        """The node as an expression that stands by itself: a name, a number, or something in parentheses."""
        if number in local:
            return local[number]
        node = self.terms.nodes[number]
        if node.op is None:
            assert isinstance(node.data, tuple)
            return self.cell(*node.data)
        if node.op is Op.CONST:
            assert isinstance(node.data, int)
            return str(node.data) if node.data >= 0 else f"({node.data})"
        args = [self.text(a, local) for a in node.args]
        match node.op:
            case Op.NOT:
                return f"!{args[0]}"
            case Op.ITE:
                return f"({args[0]} ? {args[1]} : {args[2]})"
        return f"({f' {SOURCE[node.op]} '.join(args)})"


def outside(text: str, low: int, high: int, span: Span) -> str | None:
    """The test that a value is not between the bounds, or None if it always is."""
    if low <= span[0] and span[1] <= high:
        return None
    if span[1] < low or high < span[0]:
        return "1"
    return f"({text} < {low}) | ({text} > {high})"
