"""The C reading: ground terms as C expressions over many states at once, and functions of one or two such groups.

A cell of all the states is one vector, read as `s[table_r0_b1]`; the states are its lanes. A truth value is -1 or 0 in
each lane, as comparisons of vectors give it, except in a cell, which stores 1 or 0. So nothing branches, and what occurs
twice is computed once. The header lanes.h has the type V, K(number) and pick(). A number must fit a lane, which is made
sure of beforehand (`Spans`, `TooWide`).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass

from model.language.terms import Moment, Op
from model.readings.ground import Ground
from model.readings.layout import Layout

LARGEST = (1 << 31) - 1

SOURCE: dict[Op, str] = {Op.EQ: "==", Op.LT: "<", Op.LE: "<=", Op.AND: "&", Op.OR: "|", Op.ADD: "+", Op.MUL: "*"}
TRUTHS = frozenset({Op.NOT, Op.AND, Op.OR, Op.EQ, Op.LT, Op.LE})

Span = tuple[int, int]


class TooWide(Exception):
    """A number that may not fit a lane of 32 bits; the message says how large it may become."""


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
    """The least and the greatest value of a term, from those of the cells. Raises TooWide if one fits no lane."""

    def __init__(self, terms: Terms, cells: Sequence[Span]) -> None:
        self.terms, self.cells = terms, cells
        self.hull = -1, 1  # of all terms so far
        self._known: dict[int, Span] = {}

    def of(self, root: int) -> Span:
        for number in self.terms.below([root]):
            if number not in self._known:
                low, high = self._known[number] = self._span(self.terms.nodes[number])
                if low < -LARGEST or high > LARGEST:
                    raise TooWide(f"a number of the rules may become {max(-low, high):,}, and at most {LARGEST:,} fits")
                self.hull = min(self.hull[0], low), max(self.hull[1], high)
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

    def numbers(self, terms: Sequence[Ground], local: dict[int, str] | None = None) -> tuple[list[str], list[str]]:
        """Statements that compute what occurs more than once, and a vector of numbers for each term.

        `local` are terms, by number, that are known by a name already; it is added to.
        """
        return self._block(terms, local, self.number)

    def truths(self, terms: Sequence[Ground], local: dict[int, str] | None = None) -> tuple[list[str], list[str]]:
        """As `numbers`, with a truth value in each lane."""
        return self._block(terms, local, self.truth)

    def _block(
        self, terms: Sequence[Ground], local: dict[int, str] | None, write: Callable[[int, dict[int, str]], str]
    ) -> tuple[list[str], list[str]]:
        roots = [self.terms.add(t) for t in terms]
        known = {} if local is None else local
        return list(self._locals(roots, known)), [write(r, known) for r in roots]

    def _locals(self, roots: list[int], local: dict[int, str]) -> Iterator[str]:
        below = self.terms.below(roots)
        uses = Counter(a for number in below for a in self.terms.nodes[number].args) + Counter(roots)
        for number in below:
            if uses[number] > 1 and number not in local and self.terms.nodes[number].op not in (None, Op.CONST):
                text = self.text(number, local)
                local[number] = f"x{len(local)}"
                yield f"const V {local[number]} = {text};"

    def is_truth(self, number: int) -> bool:
        """Whether the node's text is a truth value, and no number."""
        node = self.terms.nodes[number]
        if node.op is Op.ITE:
            return all(self.is_truth(a) for a in node.args[1:])
        return node.op in TRUTHS

    def number(self, number: int, local: dict[int, str]) -> str:
        text = self.text(number, local)
        return f"(-{text})" if self.is_truth(number) else text

    def truth(self, number: int, local: dict[int, str]) -> str:
        text = self.text(number, local)
        return text if self.is_truth(number) else f"({text} != K(0))"

    def text(self, number: int, local: dict[int, str]) -> str:
        """The node as an expression that stands by itself: a name, a number, or something in parentheses."""
        if number in local:
            return local[number]
        node = self.terms.nodes[number]
        if node.op is None:
            assert isinstance(node.data, tuple)
            return self.cell(*node.data)
        match node.op:
            case Op.CONST:
                return f"K({node.data})"
            case Op.NOT:
                return f"(~{self.truth(node.args[0], local)})"
            case Op.AND | Op.OR:
                write = self.truth
            case Op.ITE:
                write = self.text if self.is_truth(number) else self.number
                condition, *chosen = self.truth(node.args[0], local), *(write(a, local) for a in node.args[1:])
                return f"pick({', '.join([condition, *chosen])})"
            case _:
                same = node.op is Op.EQ and all(self.is_truth(a) for a in node.args)
                write = self.text if same else self.number
        return f"({f' {SOURCE[node.op]} '.join(write(a, local) for a in node.args)})"


def lane(*hulls: Span) -> str:
    """The smallest type of a lane that all these numbers fit. Sums on the way may overflow; they come back."""
    low, high = min(low for low, _ in hulls), max(high for _, high in hulls)
    return next(f"int{bits}_t" for bits in (8, 16, 32) if -(1 << bits - 1) <= low and high < 1 << bits - 1)


def outside(text: str, low: int, high: int, span: Span) -> str | None:
    """The truth value that a number is not between the bounds, or None if it always is."""
    if low <= span[0] and span[1] <= high:
        return None
    if span[1] < low or high < span[0]:
        return "K(-1)"
    return f"(({text} < K({low})) | ({text} > K({high})))"
