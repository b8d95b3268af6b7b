"""The picture as SVG: one column for each state. It says everything in shapes and words; colours only help."""

from __future__ import annotations

from dataclasses import dataclass
from html import escape
from importlib.resources import files

from checker.report.picture.scene import Flight, Owned, Progress, Row, Scene
from model.lifecycle.dials import Block, Request
from model.lifecycle.state import Phase, Reason
from model.readings.layout import member_name

GUTTER = 84  # for the names of rows
NARROW = 70  # the least width of a column
LETTER = 6.7  # width of a letter of an event's name
HEAD = 64  # for the events
BAND = 18  # the phase of a request
BAR = 9  # a bar of tokens
ROW = 66
LINE = 15  # a request's work within a step in flight
CELL = 32  # a block
GAP = 16

BLOCK_WORDS = ("overwritten", "lost", "freed", "pinned", "shared", "held", "free")


@dataclass(frozen=True)
class Marks:
    """Which events are marked: where the unchanged rules part, by a guard or by an effect; and a violation at the end."""

    refused: int | None = None
    by_guard: bool = False
    violated: bool = False
    loop: int | None = None  # the state after which the events are repeated for ever

    def at(self, number: int, last: int) -> str:
        """What is written above an event."""
        parted = ("⊘ guard" if self.by_guard else "≠ effect") if number == self.refused else ""
        if self.loop is not None:
            ends = "stands still" if self.loop == last == number else "for ever" if number == self.loop + 1 else ""
        else:
            ends = ("✗" if parted else "✗ violated") if self.violated and number == last else ""
        return f"{parted} {ends}".strip()


class Drawing:
    """Collects the parts. Columns begin at `x`, and the last entry is the right edge."""

    def __init__(self, scene: Scene, marks: Marks) -> None:
        self.scene, self.marks = scene, marks
        self.x = [float(GUTTER)]
        for width in self._widths():
            self.x.append(self.x[-1] + width)
        self.parts: list[str] = []
        self.labels: list[str] = []
        self.y = float(HEAD)

    def _widths(self) -> list[float]:
        last = len(self.scene.events)
        marked = [self.marks.at(n, last) for n in range(1, last + 1)]
        names = [
            ("start",),
            *((*_name(e.rule), _at(e.text), m) for e, m in zip(self.scene.events, marked, strict=True)),
        ]
        return [max(NARROW, max(len(line) for line in lines) * LETTER + 12) for lines in names]

    @property
    def right(self) -> float:
        return self.x[-1]

    def text(self, x: float, y: float, text: str, kind: str) -> None:
        self.parts.append(f'<text x="{x:g}" y="{y:g}" class="{kind}">{escape(text)}</text>')

    def label(self, x: float, y: float, text: str, kind: str) -> None:
        """The name of a row. Names stay in sight when the picture is scrolled."""
        self.labels.append(f'<text x="{x:g}" y="{y:g}" class="{kind}">{escape(text)}</text>')

    def rect(self, x: float, y: float, width: float, height: float, kind: str) -> None:
        self.parts.append(f'<rect x="{x:g}" y="{y:g}" width="{width:g}" height="{height:g}" class="{kind}"/>')

    def path(self, d: str, kind: str) -> None:
        self.parts.append(f'<path d="{d}" class="{kind}"/>')

    # ------------------------------------------------------------------------------------- the parts
    def head(self) -> None:
        """The events; above them, what is to be said of one."""
        self.text(self.x[0] + 6, 38, "start", "t-quiet")
        for number, event in enumerate(self.scene.events, 1):
            x = self.x[number] + 6
            self.text(x, 26, str(number), "t-number")
            for i, line in enumerate(_name(event.rule)):
                self.text(x, 38 + 11 * i, line, "t-event")
            self.text(x, 38 + 11 * len(_name(event.rule)), _at(event.text), "t-event t-at")
            if mark := self.marks.at(number, len(self.scene.events)):
                self.text(x, 11, mark, "t-mark")

        self._repeated()

    def _repeated(self) -> None:
        """A line over the events that are repeated."""
        last = len(self.scene.events)
        if self.marks.loop is not None and self.marks.loop < last:
            x, end = self.x[self.marks.loop + 1] + 2, self.x[-1] - 3
            self.path(f"M{x:g} 19v-4H{end:g}v4", "b-edge")

    def requests(self) -> None:
        for row in self.scene.rows:
            self._request(row)
            self.y += ROW

    def _request(self, row: Row) -> None:
        y = self.y
        self.path(f"M0 {y:g}H{self.right:g}", "l-row")
        self.label(8, y + 19, row.name, "t-row")
        for text, at in (("context", y + 38), ("output", y + 53)):
            self.label(GUTTER - 8, at, text, "t-quiet t-end")
        self._phases(row, y + 6)
        for n, progress in enumerate(row.at):
            if progress.phase is Phase.NEW:
                if n == 0:
                    self.text(self.x[0] + 6, y + 19, "not yet", "t-quiet")
                continue
            seen = n > 0 and row.at[n - 1] == progress
            quiet = " quiet" if seen else ""
            self._context(row, progress, self.x[n] + 6, self.x[n + 1] - self.x[n] - 12, y + 30, quiet)
            self._output(row, progress, self.x[n] + 6, self.x[n + 1] - self.x[n] - 12, y + 46, quiet)

    def _phases(self, row: Row, y: float) -> None:
        """Bands as long as the phase lasts; a flag where a cancel is asked, a letter where the end is told."""
        for first, last in _runs([(p.phase, p.reason) for p in row.at]):
            phase, reason = row.at[first].phase, row.at[first].reason
            if phase is Phase.NEW:
                continue
            x, width = self.x[first] + 3, self.x[last + 1] - self.x[first] - 6
            self.rect(x, y, width, BAND, f"p-{phase.name.lower()}")
            word = phase.name.lower()
            long = f"{word}: {reason.name.lower()}"
            word = long if reason is not Reason.NONE and len(long) * 5.6 < width - 8 else word
            self.text(x + 5, y + 12.5, word, "t-phase")
        for n in range(1, len(row.at)):
            x = self.x[n + 1] - 14
            if row.at[n].asked and not row.at[n - 1].asked:
                self.path(f"M{x:g} {y + BAND - 3:g}v-12l8 3l-8 3", "m-flag")
            if row.at[n].notified > row.at[n - 1].notified:
                self.path(f"M{x - 2:g} {y + 5:g}h11v8h-11zl5.5 4.5l5.5 -4.5", "m-letter")

    def _context(self, row: Row, p: Progress, x: float, width: float, y: float, quiet: str) -> None:
        unit = min(11.0, width / max(row.life, 1))
        ahead = max(p.scheduled, p.computed)
        self._units(x, y, unit, 0, row.life, f"u-track{quiet}")
        self._units(x, y, unit, 0, p.computed, f"u-done{quiet}")
        self._units(x, y, unit, p.computed, ahead, f"u-flight{quiet}")
        self._units(x, y, unit, ahead, ahead + p.planned, f"u-plan{quiet}")
        end = x + unit * row.prompt - 1
        self.path(f"M{end:g} {y - 2:g}v{BAR + 4}", f"l-prompt{quiet}")

    def _output(self, row: Row, p: Progress, x: float, width: float, y: float, quiet: str) -> None:
        unit = min(11.0, width / max(row.limit, p.committed + p.owed, 1))
        self._units(x, y, unit, 0, row.limit, f"u-track{quiet}")
        self._units(x, y, unit, 0, p.committed, f"u-out{quiet}")
        self._units(x, y, unit, p.committed, p.committed + p.owed, f"u-plan{quiet}")
        dots = "".join(
            f"M{x + unit * (i + 0.5) - 1.5:g} {y + BAR / 2 - 1.5:g}h3v3h-3z" for i in range(min(p.delivered, 64))
        )
        if dots:
            self.path(dots, f"u-taken{quiet}")

    def _units(self, x: float, y: float, unit: float, first: int, last: int, kind: str) -> None:
        """Tokens as a row of boxes; as one bar where they would be too small."""
        if last <= first:
            return
        if unit < 4:
            self.rect(x + unit * first, y, unit * (last - first), BAR, kind)
            return
        side = unit - 2
        self.path("".join(f"M{x + unit * i:g} {y:g}h{side:g}v{BAR}h-{side:g}z" for i in range(first, last)), kind)

    # ------------------------------------------------------------------------------------ the window
    def window(self) -> None:
        """Each step in flight as a bracket from its launch to its end: a thick edge while the device runs it."""
        lanes = _lanes(self.scene.flights, len(self.scene.events))
        if not lanes:
            return
        self.y += GAP
        self.label(8, self.y + 14, "in flight", "t-row")
        for lane in lanes:
            for flight in lane:
                self._flight(flight)
            self.y += 10 + LINE * max(len(f.work) for f in lane) + 6

    def _flight(self, flight: Flight) -> None:
        last = len(self.scene.events) + 1
        x, end = self.x[flight.launched] + 4, self.x[flight.gone or last] - 4
        height = 8 + LINE * len(flight.work)
        run = self.x[flight.executed or last] - (2 if flight.executed else 4)
        self.path(f"M{x + 7:g} {self.y:g}h-7v{height:g}h7", "b-edge")
        if flight.gone:
            self.path(f"M{end - 7:g} {self.y:g}h7v{height:g}h-7", "b-edge")
        self.path(f"M{x:g} {self.y:g}H{run:g}", "b-run")
        self.path(f"M{run:g} {self.y:g}H{end:g}", "b-done")
        for i, work in enumerate(flight.work):
            y = self.y + 13 + LINE * i
            until = self.x[work.taken or flight.gone or last] - 6
            turned = self.x[work.stale] + 4 if work.stale else until
            self.path(f"M{x + 6:g} {y + 3:g}H{min(turned, until):g}", "w-live")
            self.text(x + 8, y, f"{member_name(Request, work.request)} +{work.tokens}{'*' * work.samples}", "t-work")
            if work.stale and turned < until:
                self.path(f"M{turned:g} {y + 3:g}H{until:g}", "w-stale")
                self.text(turned + 2, y, "stale", "t-work")

    # ------------------------------------------------------------------------------------ the blocks
    def blocks(self) -> None:
        self.y += GAP
        for b, owned in enumerate(self.scene.blocks):
            self.label(8, self.y + 20, f"block {member_name(Block, b)}", "t-row")
            for first, last in _runs([(o, first_of(o)) for o in owned]):
                self._block(owned[first], self.x[first] + 2, self.x[last + 1] - self.x[first] - 4)
            self.y += CELL + 4

    def _block(self, o: Owned, x: float, width: float) -> None:
        word = first_of(o)
        self.rect(x, self.y, width, CELL, f"k-{word}")
        if word == "shared":
            self.rect(x + 3, self.y + 3, width - 6, CELL - 6, "k-inner")
        names = "+".join(member_name(Request, r) for r in o.holders)
        self.text(x + 6, self.y + 14, f"{names}:{o.position}" if len(o.holders) == 1 else names, "t-holder")
        self.text(x + 6, self.y + 26, _said(o), "t-word")

    def whole(self) -> str:
        """The picture's inside."""
        self.head()
        self.requests()
        self.window()
        self.blocks()
        self.y += 4
        return "".join(self.parts)


def _said(o: Owned) -> str:
    """The word in a block's cell."""
    word = first_of(o)
    if o.ref != len(o.holders) and word not in ("overwritten", "lost"):
        return f"ref {o.ref}!"
    if o.published and word in ("held", "free"):
        return f"cached {o.published}"
    return {"held": "", "lost": "in use!"}.get(word, word)


def first_of(o: Owned) -> str:
    """What matters most about a block, as one of BLOCK_WORDS."""
    facts = (o.overwritten, bool(o.lost), o.freed, bool(o.pinned), len(o.holders) > 1, bool(o.holders), True)
    return BLOCK_WORDS[facts.index(True)]


def _name(rule: str) -> tuple[str, ...]:
    """A rule's name in short lines: retire_ token."""
    first, underscore, rest = rule.partition("_")
    return (f"{first}_", rest) if underscore else (first,)


def _at(text: str) -> str:
    """What an event is done to: r0, b1."""
    return text.partition("(")[2].removesuffix(")")


def _runs(values: list[object]) -> list[tuple[int, int]]:
    """First and last index of each run of equal values."""
    runs: list[tuple[int, int]] = []
    for n, value in enumerate(values):
        if runs and values[runs[-1][0]] == value:
            runs[-1] = (runs[-1][0], n)
        else:
            runs.append((n, n))
    return runs


def _lanes(flights: tuple[Flight, ...], end: int) -> list[list[Flight]]:
    """Steps that overlap in time are drawn beneath each other."""
    lanes: list[list[Flight]] = []
    for flight in flights:
        free = (lane for lane in lanes if (lane[-1].gone or end + 1) <= flight.launched)
        lane = next(free, None)
        if lane is None:
            lanes.append([flight])
        else:
            lane.append(flight)
    return lanes


PATTERNS = (
    '<pattern id="sp-hatch" width="6" height="6" patternUnits="userSpaceOnUse" patternTransform="rotate(45)">'
    '<path d="M0 0V6" class="pat"/></pattern>'
    '<pattern id="sp-cross" width="7" height="7" patternUnits="userSpaceOnUse">'
    '<path d="M0 0L7 7M7 0L0 7" class="pat"/></pattern>'
)


def drawing(scene: Scene, marks: Marks = Marks(), title: str = "", alone: bool = False) -> str:
    """The SVG element. `alone`: with its own style and patterns, to stand as a file; else the page has them."""
    made = Drawing(scene, marks)
    inside = made.whole()
    places = ",".join(f"{x:g}" for x in made.x)
    own = f"<style>{style()}</style><defs>{PATTERNS}</defs>" if alone else ""
    paper = f'<rect width="{made.right:g}" height="{made.y:g}" class="paper"/>' if alone else ""
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" class="sp" viewBox="0 0 {made.right:g} {made.y:g}" '
        f'width="{made.right:g}" height="{made.y:g}" data-x="{places}" role="img" aria-label="{escape(title)}">'
        f'{own}{paper}<rect class="cursor" x="0" y="0" width="0" height="{made.y:g}"/>{inside}'
        f'<rect class="veil" x="0" y="0" width="0" height="{made.y:g}"/>'
        f'<g class="labels"><rect width="{GUTTER - 2}" height="{made.y:g}" class="paper"/>{"".join(made.labels)}</g></svg>'
    )


def style() -> str:
    """The style of the drawing alone."""
    return files(__package__).joinpath("assets", "drawing.css").read_text()
