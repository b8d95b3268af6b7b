"""The functions that a world's rules and properties become, each once, whoever uses it; and their C source.

A guard, what an instance writes, a conjunct of a property: which instance uses which function is a table beside the code.
If what instances write is cut in `parts`, by the field that is written, the code is slower and serves also the rules with
any guards or updates taken away.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeVar

from checker.search.kernel.packing import Packing
from model.language.terms import Moment
from model.readings.c import CWriter, Spans, outside
from model.readings.ground import Ground

K = TypeVar("K")
V = TypeVar("V")

Group = tuple[tuple[int, Ground], ...]  # cells and what is written into them

HEAD = """\
/* Generated: the functions of one world. s is the state before, t the state after; a cell is an int. */
#include <stdint.h>
"""


class Missing(Exception):
    """A function that the code, which is compiled already, does not have."""


class Functions:
    """Numbers functions as they are asked for. Once `closed`, asking for a new one raises Missing."""

    def __init__(self, packing: Packing, parts: bool = False) -> None:
        self.packing, self.parts = packing, parts
        self.writer = CWriter(packing.layout)
        self.closed = False
        self.guards: dict[int, int] = {}
        self.conditions: dict[int, int] = {}
        self.effects: dict[tuple[tuple[int, int], ...], int] = {}
        self._fires: list[tuple[Group, list[Ground]] | None] = []
        self._terms: list[list[Ground]] = [[], []]
        self._groups: list[Group] = []

    # ------------------------------------------------------------------------------------- asking
    def guard(self, term: Ground) -> int:
        """The number of the bit that says whether the guard holds."""
        return self._number(self.guards, term, self._terms[0])

    def condition(self, term: Ground) -> int:
        """The number of the function of one state or two."""
        return self._number(self.conditions, term, self._terms[1])

    def effect(self, group: Group) -> int:
        """The number of the function that writes the cells."""
        key = tuple((place, self.writer.terms.add(value)) for place, value in group)
        return self._entry(self.effects, key, group, self._groups)

    def fire(self, group: Group, judged: list[Ground] | None) -> None:
        """The next instance writes the group, and the step must satisfy the terms; None if it takes more than that."""
        if not self.closed:
            self._fires.append(None if judged is None or self.parts else (group, judged))

    def _number(self, known: dict[int, int], term: Ground, kept: list[Ground]) -> int:
        return self._entry(known, self.writer.terms.add(term), term, kept)

    def _entry(self, known: dict[K, int], key: K, value: V, kept: list[V]) -> int:
        if key not in known:
            if self.closed:
                raise Missing
            known[key] = len(kept)
            kept.append(value)
        return known[key]

    # ------------------------------------------------------------------------------------- source
    def source(self) -> str:
        """One C file. Raises TooWide if a number in it may not fit an int."""
        self._fits()
        lines = [HEAD, self.writer.names, "", *self._unpack(), "", *self._holds(), ""]
        for number, group in enumerate(self._groups):
            lines += self._effect(number, group)
        for number, term in enumerate(self._terms[1]):
            lines += self._condition(number, term)
        for number, fire in enumerate(self._fires):
            lines += self._fire(number, *fire) if fire else []
        fires = ", ".join(f"fire{n}" if fire else "0" for n, fire in enumerate(self._fires))
        lines.append(f"int (*const fires[])(const int *, uint64_t *) = {{{fires or 0}}};")
        lines += self._table("int (*const effects[])(const int *, int *, uint64_t *)", "effect", len(self._groups))
        lines += self._table("int (*const conditions[])(const int *, const int *)", "condition", len(self._terms[1]))
        return "\n".join(lines) + "\n"

    def _fits(self) -> None:
        """Also in a state out of bounds, which is judged, every number fits."""
        cells = self.packing.layout.cells
        self.spans = Spans(self.writer.terms, [(c.low, c.high) for c in cells])
        reach = [(c.low, c.high) for c in cells]
        for group in self._groups:
            for place, value in group:
                low, high = self.spans.of(self.writer.terms.add(value))
                reach[place] = min(reach[place][0], low), max(reach[place][1], high)
        for term in self._terms[0]:
            self.spans.of(self.writer.terms.add(term))
        beyond = Spans(self.writer.terms, reach)
        for term in self._terms[1]:
            beyond.of(self.writer.terms.add(term))

    def _unpack(self) -> list[str]:
        packing = self.packing
        lines = ["void unpack(const uint64_t *w, int *s) {"]
        for place, cell in enumerate(packing.layout.cells):
            taken = f"(w[{packing.word[place]}] >> {packing.shift[place]} & {(1 << packing.width[place]) - 1}u)"
            value = f"(int){taken}" if packing.width[place] else "0"
            lines.append(f"  {self.writer.cell(place)} = {value}{f' + ({cell.low})' if cell.low else ''};")
        return [*lines, "}"]

    def _holds(self) -> list[str]:
        """All guards at once, a bit each. Bits that stand for nothing are set: nothing is kept from firing by them."""
        locals_, texts = self.writer.block(self._terms[0])
        lines = ["void holds(const int *s, uint64_t *bits) {", *(f"  {line}" for line in locals_)]
        for word in range(0, max(1, len(texts)), 64):
            bits = [f"(uint64_t){text} << {n}" for n, text in enumerate(texts[word : word + 64])]
            bits += [f"~(uint64_t)0 << {len(bits)}"] if len(bits) < 64 else []
            lines.append(f"  bits[{word // 64}] = " + "\n    | ".join(bits) + ";")
        return [*lines, "}"]

    def _effect(self, number: int, group: Group) -> list[str]:
        locals_, texts = self.writer.block([value for _, value in group])
        lines = [f"static int effect{number}(const int *s, int *t, uint64_t *w) {{", *(f"  {line}" for line in locals_)]
        tests = []
        for (place, value), text in zip(group, texts, strict=True):
            here, cell = self.writer.cell(place, Moment.THEN), self.packing.layout.cells[place]
            lines.append(f"  {here} = {text};")
            if self.packing.width[place]:
                lines.append(self._packed(place, here))
            test = outside(here, cell.low, cell.high, self.spans.of(self.writer.terms.add(value)))
            tests += [test] if test else []
        return [*lines, f"  return {' | '.join(f'({t})' for t in tests) or '0'};", "}"]

    def _packed(self, place: int, then: str) -> str:
        """The change of a cell in the packed state."""
        low = self.packing.layout.cells[place].low
        minus = f" - ({low})" if low else ""
        change = f"({self.writer.cell(place)}{minus}) ^ ({then}{minus})"
        return f"  w[{self.packing.word[place]}] ^= (uint64_t)({change}) << {self.packing.shift[place]};"

    def _fire(self, number: int, group: Group, judged: list[Ground]) -> list[str]:
        """A step at once, if nothing has to be said about it: true if a bound is left or a term is false."""
        local: dict[int, str] = {}
        lines, texts = self.writer.block([value for _, value in group], local)
        tests = []
        for (place, value), text in zip(group, texts, strict=True):
            cell = self.packing.layout.cells[place]
            lines.append(f"const int n{place} = {text};")
            test = outside(f"n{place}", cell.low, cell.high, self.spans.of(self.writer.terms.add(value)))
            tests += [f"({test})"] if test else []
        written = {place for place, _ in group}
        for place in range(len(self.packing.layout.cells)):
            later = self.writer.terms.add(Ground(None, (), (place, Moment.THEN)))
            local[later] = f"n{place}" if place in written else self.writer.cell(place)
        more, texts = self.writer.block(judged, local)
        tests += [f"!{text}" for text in texts]
        packed = [self._packed(place, f"n{place}") for place, _ in group if self.packing.width[place]]
        stop = [f"  if ({' | '.join(tests)}) return 1;"] if tests else []
        body = [*(f"  {line}" for line in (*lines, *more)), *stop, *packed]
        return [f"static int fire{number}(const int *s, uint64_t *w) {{", *body, "  return 0;", "}"]

    def _condition(self, number: int, term: Ground) -> list[str]:
        locals_, (text,) = self.writer.block([term])
        return [
            f"static int condition{number}(const int *s, const int *t) {{",
            "  (void)s, (void)t;",
            *(f"  {line}" for line in locals_),
            f"  return {text};",
            "}",
        ]

    def _table(self, declared: str, name: str, count: int) -> Sequence[str]:
        entries = ", ".join(f"{name}{n}" for n in range(count)) or "0"
        return [f"{declared} = {{{entries}}};"]
