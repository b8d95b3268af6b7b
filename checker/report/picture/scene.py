"""What a picture shows, read off the states of a trace: progress, the window and the blocks at each step."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from checker.replay.trace import Event, Trace
from model.language.state import Field
from model.lifecycle.dials import Block, Request, Slot, limit, prompt
from model.lifecycle.state import Entry, Lifecycle, Phase, Reason, Status
from model.readings.layout import Layout, member_name


@dataclass(frozen=True)
class Progress:
    """A request in one state. Counts are tokens."""

    phase: Phase
    reason: Reason
    asked: bool
    computed: int
    scheduled: int
    planned: int
    committed: int
    owed: int
    delivered: int
    notified: int


@dataclass(frozen=True)
class Row:
    """A request with its progress in every state."""

    name: str
    prompt: int
    limit: int
    at: tuple[Progress, ...]

    @property
    def life(self) -> int:
        """Tokens of context that the request can ever need, or that it has here, if a trace goes beyond."""
        most = max((p.scheduled + p.planned for p in self.at), default=0)
        return max(self.prompt + self.limit - 1, most)


@dataclass
class Work:
    """What a step in flight holds for a request: from the launch on live, perhaps stale later, until it is taken out."""

    request: int
    tokens: int
    samples: bool
    start: int
    blocks: dict[int, int]
    lost: dict[int, int] = field(default_factory=dict)  # blocks that the request let go of, and in which state
    stale: int | None = None
    taken: int | None = None

    def writes(self, size: int) -> list[int]:
        """The blocks into which the step computes the request's tokens."""
        end = self.start + self.tokens
        return [
            b for b, position in self.blocks.items() if (position - 1) * size < end and position * size > self.start
        ]


@dataclass
class Flight:
    """A step in flight: the states in which it was launched, in which it had executed, and in which it was gone."""

    launched: int
    work: list[Work] = field(default_factory=list)
    executed: int | None = None
    gone: int | None = None


@dataclass(frozen=True)
class Owned:
    """A block in one state.

    `holders` have it in their table, and `ref` is the engine's count of them; `pinned` are those for whom a launched step
    still uses it, `lost` those of them who have let go of it since the launch, though they may hold it anew. `freed`: its
    last holder let go with this event; `overwritten`: with this event a step wrote into it for somebody who had lost it.
    """

    holders: tuple[int, ...]
    ref: int
    position: int
    pinned: tuple[int, ...]
    lost: tuple[int, ...]
    published: int
    freed: bool
    overwritten: bool


@dataclass(frozen=True)
class Scene:
    """Everything that is drawn. Each row and block has a value for each state, one more than there are events."""

    events: tuple[Event, ...]
    rows: tuple[Row, ...]
    flights: tuple[Flight, ...]
    blocks: tuple[tuple[Owned, ...], ...]


def scene(trace: Trace) -> Scene:
    """Read a trace of the request lifecycle."""
    reader = _Reader(trace.layout, trace.states)
    flights = _flights(reader, trace.events)
    size = trace.world.values["block_size"]
    rows = tuple(_row(reader, r) for r in range(trace.layout.sizes[Request]))
    blocks = tuple(_block(reader, flights, size, b) for b in range(trace.layout.sizes[Block]))
    return Scene(trace.events, rows, tuple(flights), blocks)


class _Reader:
    """Reads cells of the trace's states. A field that does not exist in the world has its initial value."""

    def __init__(self, layout: Layout, states: Sequence[Sequence[int]]) -> None:
        self.layout, self.states = layout, states
        self.requests = range(layout.sizes[Request])
        self.blocks = range(layout.sizes[Block])
        self.slots = range(layout.sizes[Slot])

    def get(self, number: int, which: Field, *at: int) -> Any:
        place = self.layout.position.get((which, at))
        return which.initial if place is None else self.layout.value(self.states[number], place)

    def holders(self, number: int, b: int) -> tuple[int, ...]:
        return tuple(r for r in self.requests if self.get(number, Lifecycle.table, r, b) > 0)


def _row(reader: _Reader, r: int) -> Row:
    names = Progress.__dataclass_fields__
    fields = {name: getattr(Lifecycle, name) for name in names}
    at = tuple(Progress(**{name: reader.get(n, f, r) for name, f in fields.items()}) for n in range(len(reader.states)))
    world = reader.layout.world
    return Row(member_name(Request, r), world.of(prompt.dial, r), world.of(limit.dial, r), at)


# --------------------------------------------------------------------------------------------- the window
def _flights(reader: _Reader, events: Sequence[Event]) -> list[Flight]:
    """The steps in the order of their launches, followed through the window as it moves up."""
    window: list[Flight | None] = [None for _ in reader.slots]
    flights: list[Flight] = []
    for number, event in enumerate(events, 1):
        if event.rule == "launch":
            launched = _launched(reader, number, event.at[0])
            window[event.at[0]] = launched
            flights.append(launched)
        if event.rule == "recycle":
            if window[0] is not None:
                window[0].gone = number
            window = [*window[1:], None]
        for i, flight in enumerate(window):
            if flight is not None:
                _follow(reader, flight, number, i)
    return flights


def _launched(reader: _Reader, number: int, i: int) -> Flight:
    flight = Flight(number)
    for r in reader.requests:
        if reader.get(number, Lifecycle.entry, i, r) is not Entry.NONE:
            blocks = {b: reader.get(number - 1, Lifecycle.table, r, b) for b in reader.blocks}
            work = Work(
                r,
                reader.get(number, Lifecycle.tokens, i, r),
                reader.get(number, Lifecycle.samples, i, r),
                reader.get(number - 1, Lifecycle.scheduled, r),
                {b: position for b, position in blocks.items() if position},
            )
            flight.work.append(work)
    return flight


def _follow(reader: _Reader, flight: Flight, number: int, i: int) -> None:
    if flight.executed is None and reader.get(number, Lifecycle.status, i) is Status.EXECUTED:
        flight.executed = number
    for work in flight.work:
        for b in work.blocks:
            if _on_device(flight, number) and not reader.get(number, Lifecycle.table, work.request, b):
                work.lost.setdefault(b, number)
        entry = reader.get(number, Lifecycle.entry, i, work.request)
        if entry is Entry.STALE and work.stale is None:
            work.stale = number
        if entry is Entry.NONE and work.taken is None:
            work.taken = number


# ---------------------------------------------------------------------------------------------- the blocks
def _block(reader: _Reader, flights: Sequence[Flight], size: int, b: int) -> tuple[Owned, ...]:
    owned: list[Owned] = []
    for n in range(len(reader.states)):
        holders = reader.holders(n, b)
        using = [w for f in flights if _on_device(f, n) for w in f.work if b in w.blocks]
        written = any(b in w.writes(size) and b in w.lost for f in flights if f.executed == n for w in f.work)
        published = reader.get(n, Lifecycle.published, b)
        owned.append(
            Owned(
                holders,
                reader.get(n, Lifecycle.ref, b),
                reader.get(n, Lifecycle.table, holders[0], b) if holders else 0,
                tuple(dict.fromkeys(w.request for w in using)),
                tuple(dict.fromkeys(w.request for w in using if w.lost.get(b, n + 1) <= n)),
                published,
                freed=bool(owned) and bool(owned[-1].holders) and not holders,
                overwritten=written and bool(holders or published),
            )
        )
    return tuple(owned)


def _on_device(flight: Flight, number: int) -> bool:
    """Whether the step has been launched and has not executed in this state."""
    return flight.launched <= number and (flight.executed is None or number < flight.executed)
