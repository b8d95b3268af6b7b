"""The functions that a world's rules and properties become, each once, whoever uses it; and their C source.

Each is a function of many states at once: whether a guard holds, what an instance writes, a conjunct of a property. Which
instance uses which function is a table beside the code. `fire` functions take all steps of an instance at once, packed
states and all; if what instances write is cut in `parts`, by the field that is written, there are none, and the code is
slower and serves also the rules with any guards or updates taken away.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from typing import TypeVar

from checker.search.kernel.packing import Packing
from model.language.terms import Moment
from model.readings.c import CWriter, Spans, lane, outside
from model.readings.ground import Forgetting, Ground, shift
from model.readings.ground import cell as cell_of

K = TypeVar("K")
V = TypeVar("V")

Group = tuple[tuple[int, Ground], ...]  # cells and what is written into them
Fire = tuple[
    Group, list[Ground], list[Forgetting]
]  # what is written, what the step must satisfy, what may be forgotten

HEAD = """\
/* Generated: the functions of one world. s has the states before, t those after; a cell of all of them is a vector. */
#include "lanes.h"
"""
BYTE = 8


class Missing(Exception):
    """A function that the code, which is compiled already, does not have."""


class Functions:
    """Numbers functions as they are asked for. Once `closed`, asking for a new one raises Missing."""

    def __init__(self, packing: Packing, parts: bool = False) -> None:
        self.packing, self.parts = packing, parts
        self.cells = packing.layout.cells
        self.writer = CWriter(packing.layout)
        self.closed = False
        self.guards: dict[int, int] = {}
        self.conditions: dict[int, int] = {}
        self.effects: dict[tuple[tuple[int, int], ...], int] = {}
        self._fires: list[Fire] = []
        self._terms: list[list[Ground]] = [[], []]
        self._groups: list[Group] = []

    # ------------------------------------------------------------------------------------- asking
    def guard(self, term: Ground) -> int:
        """The number of the word that says in which states the guard holds."""
        return self._number(self.guards, term, self._terms[0])

    def condition(self, term: Ground) -> int:
        """The number of the function of states, or of states before and after."""
        return self._number(self.conditions, term, self._terms[1])

    def effect(self, group: Group) -> int:
        """The number of the function that writes the cells."""
        key = tuple((place, self.writer.terms.add(value)) for place, value in group)
        return self._entry(self.effects, key, group, self._groups)

    def fire(self, group: Group, judged: list[Ground], forgotten: list[Forgetting]) -> None:
        """The next instance writes the group, the step must satisfy the terms, and what may be forgotten then is."""
        if not self.closed and not self.parts:
            self._fires.append((group, judged, forgotten))

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
        """One C file, to be compiled with LANE as `lane` says. Raises TooWide if a number in it may not fit."""
        self._fits()
        lines = [HEAD, self.writer.names, "", *self._spread(), "", *self._holds(), ""]
        for number, group in enumerate(self._groups):
            lines += self._effect(number, group)
        for number, term in enumerate(self._terms[1]):
            lines += self._condition(number, term)
        for number, fire in enumerate(self._fires):
            lines += self._fire(number, *fire)
        of_steps = "const V *, const State *, uint64_t, Entry *, uint32_t *"
        lines += self._table(f"uint64_t (*const fires[])({of_steps})", "fire", len(self._fires))
        lines += self._table("uint64_t (*const effects[])(const V *, V *)", "effect", len(self._groups))
        lines += self._table("uint64_t (*const conditions[])(const V *, const V *)", "condition", len(self._terms[1]))
        return "\n".join(lines) + "\n"

    def _fits(self) -> None:
        """Also in a state out of bounds, which is judged, every number fits."""
        self.spans = Spans(self.writer.terms, [(c.low, c.high) for c in self.cells])
        reach = [(c.low, c.high) for c in self.cells]
        for group in self._groups:
            for place, value in group:
                low, high = self.spans.of(self.writer.terms.add(value))
                reach[place] = min(reach[place][0], low), max(reach[place][1], high)
        for term in self._terms[0]:
            self.spans.of(self.writer.terms.add(term))
        beyond = Spans(self.writer.terms, reach)
        for term in self._terms[1]:
            beyond.of(self.writer.terms.add(term))
        self.lane = lane(self.spans.hull, beyond.hull, *reach)

    # --------------------------------------------------------------------------- states to vectors
    def _spread(self) -> list[str]:
        lines = ["void spread(const State *x, V *s) {"]
        bytes_ = self.lane == "int8_t"
        if bytes_:
            lines += [f"  U b[{BYTE} * WORDS];", "  planes(x, b);"]
        for place, cell in enumerate(self.cells):
            low = f" + K({cell.low})" if cell.low else ""
            here, width = self.writer.cell(place), self.packing.width[place]
            if not width:
                lines.append(f"  {here} = K({cell.low});")
            elif bytes_:
                lines.append(f"  {here} = (V)({self._bits(place)}){low};")
            else:
                word, shift_ = self.packing.word[place], self.packing.shift[place]
                lines.append(
                    f"  for (int i = 0; i < LANES; i++) {here}[i] = x[i].w[{word}] >> {shift_} & {_ones(width)};"
                )
                lines += [f"  {here} += K({cell.low});"] if low else []
        return [*lines, "}"]

    def _bits(self, place: int) -> str:
        """A cell from the bytes of the packed state, of which it takes part of one or of two."""
        word, shift_, width = self.packing.word[place], self.packing.shift[place], self.packing.width[place]
        first, from_ = BYTE * word + shift_ // BYTE, shift_ % BYTE
        text = f"b[{first}] >> {from_}" if from_ else f"b[{first}]"
        if from_ + width > BYTE:
            text = f"({text} | b[{first + 1}] << {BYTE - from_})"
        return text if from_ + width == BYTE else f"{text} & {_ones(width)}"

    # ------------------------------------------------------------------------------------- functions
    def _holds(self) -> list[str]:
        """All guards at once, a word each."""
        locals_, texts = self.writer.truths(self._terms[0])
        lines = ["void holds(const V *s, uint64_t *guard) {", *(f"  {line}" for line in locals_)]
        return [*lines, *(f"  guard[{n}] = bits({text});" for n, text in enumerate(texts)), "}"]

    def _effect(self, number: int, group: Group) -> list[str]:
        locals_, texts = self.writer.numbers([value for _, value in group])
        lines = [f"static uint64_t effect{number}(const V *s, V *t) {{", *(f"  {line}" for line in locals_)]
        for (place, _), text in zip(group, texts, strict=True):
            lines.append(f"  {self.writer.cell(place, Moment.THEN)} = {text};")
        tests = self._outside(group, [self.writer.cell(place, Moment.THEN) for place, _ in group])
        return [*lines, f"  return {_any(tests)};", "}"]

    def _outside(self, group: Group, names: list[str]) -> list[str]:
        """Where a value that is written is not within its bounds."""
        tests = []
        for (place, value), name in zip(group, names, strict=True):
            cell = self.cells[place]
            test = outside(name, cell.low, cell.high, self.spans.of(self.writer.terms.add(value)))
            tests += [test] if test else []
        return tests

    def _condition(self, number: int, term: Ground) -> list[str]:
        locals_, (text,) = self.writer.truths([term])
        head = f"static uint64_t condition{number}(const V *s, const V *t) {{"
        return [head, *(f"  {line}" for line in locals_), f"  return bits({text});", "}"]

    def _fire(self, number: int, group: Group, judged: list[Ground], forgotten: list[Forgetting]) -> list[str]:
        """All steps of an instance: it returns those that leave a bound or break a term, which must be looked at."""
        local: dict[int, str] = {}
        lines, texts = self.writer.numbers([value for _, value in group], local)
        names = {place: f"n{place}" for place, _ in group}
        lines += [f"const V n{place} = {text};" for (place, _), text in zip(group, texts, strict=True)]
        more, texts = self.writer.truths(judged, local | self._later(names))
        tests = [*self._outside(group, list(names.values())), *(f"~{text}" for text in texts)]
        lines += [*more, f"const uint64_t look = {_any(tests)};"]
        for n, gone in enumerate(forgotten):
            lines += self._forget(n, gone, local, names)
        declared, changes = self._changes(names)
        loop = [
            "for (uint64_t left = on; left; left &= left - 1) {",
            "  const int i = __builtin_ctzll(left);",
            "  Entry *e = &out[next[i]++];",
            *(f"  e->x.w[{w}] = {' ^ '.join([f'x[i].w[{w}]', *changes[w]])};" for w in range(self.packing.words)),
            f"  e->instance = {number}, e->lane = i, e->is = IS_KNOWN;",
            "}",
        ]
        head = f"static uint64_t fire{number}(const V *s, const State *x, uint64_t on, Entry *out, uint32_t *next) {{"
        return [head, *(f"  {line}" for line in (*lines, *declared, *loop)), "  return look & on;", "}"]

    def _later(self, names: dict[int, str]) -> dict[int, str]:
        """The cells after a step under the names of their new values; where there is none, they are as before."""
        known = {}
        for place in range(len(self.cells)):
            later = self.writer.terms.add(cell_of(place, Moment.THEN))
            known[later] = names.get(place, self.writer.cell(place))
        return known

    def _forget(self, n: int, gone: Forgetting, local: dict[int, str], names: dict[int, str]) -> list[str]:
        """The values of what may be forgotten after the step, and their names from then on."""
        inner, (text,) = self.writer.truths([shift(gone.unless, Moment.THEN)], local | self._later(names))
        lines = [f"V u{n};", "{", *(f"  {line}" for line in inner), f"  u{n} = {text};", "}"]
        for place in gone.places:
            now = names.get(place, self.writer.cell(place))
            names[place] = f"n{place}_{n}"
            lines.append(f"const V {names[place]} = pick(u{n}, {now}, K({self.cells[place].initial}));")
        return lines

    def _changes(self, names: dict[int, str]) -> tuple[list[str], list[list[str]]]:
        """By word what is to be changed in the packed state i, and the vectors that these texts read, as arrays."""
        together: dict[tuple[int, int], list[str]] = defaultdict(list)  # by word and shift
        for place in (p for p in names if self.packing.width[p]):
            low = self.cells[place].low
            minus = f" - K({low})" if low else ""
            change = f"(({self.writer.cell(place)}{minus}) ^ ({names[place]}{minus}))"
            word, shift_ = self.packing.word[place], self.packing.shift[place]
            within = shift_ % BYTE
            if self.lane == "int8_t" and within + self.packing.width[place] <= BYTE:
                together[word, shift_ - within].append(f"(U){change} << {within}" if within else f"(U){change}")
            else:
                together[word, shift_].append(f"(U){change}")
        declared, changes = [], [list[str]() for _ in range(self.packing.words)]
        for n, ((word, shift_), texts) in enumerate(together.items()):
            # Several cells in one byte, or one cell at its own place.
            declared.append(f"const Array d{n} = {{{' | '.join(texts)}}};")
            changes[word].append(f"(uint64_t)d{n}.each[i] << {shift_}" if shift_ else f"(uint64_t)d{n}.each[i]")
        return declared, changes

    def _table(self, declared: str, name: str, count: int) -> Sequence[str]:
        entries = ", ".join(f"{name}{n}" for n in range(count)) or "0"
        return [f"{declared} = {{{entries}}};"]


def _ones(width: int) -> str:
    return str((1 << width) - 1)


def _any(tests: list[str]) -> str:
    """The lanes in which any of the truth values is true."""
    return f"bits({' | '.join(tests)})" if tests else "0"
