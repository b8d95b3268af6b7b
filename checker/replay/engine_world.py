"""A world as an engine sees it (prompts with tokens), the world of the rules that fits it, and how the two compare."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from model.language.model import Model
from model.lifecycle.dials import Request, Slot
from model.lifecycle.state import Entry, Phase, Reason
from model.readings.layout import Layout
from model.readings.world import World, world

Observation = Mapping[str, Any]
HELD = "held at rest"  # kinds of findings at rest
TERMINAL = "terminal message"
WINDOW = "window"  # what differs if it is the steps in flight; every other name is that of a field
Name = tuple[Any, ...]  # ("prefix", position), ("own", request, position), or () for not published


@dataclass(frozen=True)
class EngineRequest:
    """What a client will ask for: its prompt as tokens, the most output tokens, and a priority (lower goes first).

    `same_id`: the number of another request whose id this one has, or None if its id is its own.
    """

    prompt: tuple[int, ...]
    limit: int
    priority: int = 0
    same_id: int | None = None

    def document(self) -> dict[str, Any]:
        """As the port sends it."""
        named = {} if self.same_id is None else {"id": self.same_id}
        return {"prompt": list(self.prompt), "limit": self.limit, "priority": self.priority, **named}


@dataclass(frozen=True)
class EngineWorld:
    """Sizes of an engine and the requests it will meet. Two prompts have equal tokens only in their shared prefix."""

    name: str
    requests: tuple[EngineRequest, ...]
    blocks: int
    block_size: int
    budget: int
    seats: int

    @property
    def shared(self) -> int:
        """Tokens that all prompts begin with."""
        if len(self.requests) < 2:
            return 0
        columns = zip(*(r.prompt for r in self.requests), strict=False)
        return next((i for i, c in enumerate(columns) if len(set(c)) > 1), min(len(r.prompt) for r in self.requests))

    def never_fits(self, r: int) -> bool:
        """Whether request r needs more blocks than there are, if it runs to its limit."""
        asked = self.requests[r]
        return len(asked.prompt) + asked.limit - 1 > self.blocks * self.block_size

    def same_id(self, r: int) -> list[int]:
        """The other requests that have the id of request r."""
        ids = [i if q.same_id is None else q.same_id for i, q in enumerate(self.requests)]
        return [i for i, each in enumerate(ids) if each == ids[r] and i != r]

    def document(self) -> dict[str, Any]:
        """As the port sends it."""
        return {
            "requests": [r.document() for r in self.requests],
            "blocks": self.blocks,
            "block_size": self.block_size,
            "budget": self.budget,
            "seats": self.seats,
        }

    def for_rules(self, model: Model, dials: Mapping[str, Any]) -> World:
        """The world of the rules with the engine's disciplines."""
        caching = dials.get("cache") == "all"
        return world(
            model,
            self.name,
            {
                "requests": len(self.requests),
                "prompt": [len(r.prompt) for r in self.requests],
                "limit": [r.limit for r in self.requests],
                "blocks": self.blocks,
                "block_size": self.block_size,
                "budget": self.budget,
                "seats": self.seats,
                "sharing": caching,
                "prefix": self.shared if caching else 0,
                **dials,
            },
        )


class Comparison:
    """Reads the states of the rules as an engine's observation would show them, and lists what differs."""

    def __init__(self, layout: Layout, engine: EngineWorld) -> None:
        self.layout, self.engine = layout, engine
        self.fields = {f.name: f for f in layout.model.state.fields()}

    def cell(self, state: Sequence[int], name: str, *at: int) -> Any:
        """A field's value; its initial value where the world has no such cell."""
        field = self.fields[name]
        place = self.layout.position.get((field, at))
        return field.initial if place is None else self.layout.value(state, place)

    def table(self, state: Sequence[int], r: int) -> list[int]:
        """The request's blocks in the order of its block table."""
        held = sorted((p, b) for b in range(self.engine.blocks) if (p := self.cell(state, "table", r, b)) > 0)
        return [b for _, b in held]

    def name(self, state: Sequence[int], b: int) -> Name:
        """What the block is published as."""
        position = self.cell(state, "published", b)
        if position:
            return ("prefix", position)
        for r in range(len(self.engine.requests)):
            own = self.cell(state, "published_own", r, b)
            if own:
                return ("own", r, own)
        return ()

    def observed_name(self, tokens: Sequence[int] | None) -> Name:
        """The name of a block that an engine has published for these tokens, from the start of the text."""
        if tokens is None:
            return ()
        position = len(tokens) // self.engine.block_size
        if len(tokens) <= self.engine.shared:
            return ("prefix", position)
        prompts = [r.prompt for r in self.engine.requests]
        fitting = [r for r, p in enumerate(prompts) if tuple(tokens[: len(p)]) == p[: len(tokens)]]
        return ("own", max(fitting, key=lambda r: len(prompts[r])), position) if fitting else ("unknown", tuple(tokens))

    # ---------------------------------------------------------------------------------- comparing
    def differences(self, state: Sequence[int], seen: Observation) -> Iterator[tuple[str, str]]:
        """Each difference as the field's name and a sentence."""
        for r, observed in enumerate(seen["requests"]):
            yield from self._request(state, r, observed)
        for b, observed in enumerate(seen["blocks"]):
            if self.cell(state, "ref", b) != observed["ref"]:
                yield "ref", f"ref[b{b}] is {observed['ref']} in the engine, {self.cell(state, 'ref', b)} by the rules"
            ours, theirs = self.name(state, b), self.observed_name(observed["published"])
            if ours != theirs:
                yield (
                    "published",
                    f"b{b} is published as {theirs or 'nothing'} in the engine, {ours or 'nothing'} by the rules",
                )
        free = sorted(b for b in range(self.engine.blocks) if self.cell(state, "ref", b) == 0)
        if sorted(seen["free"]) != free:
            yield "ref", f"the free blocks are {sorted(seen['free'])} in the engine, {free} by the rules"
        yield from self._window(state, seen["window"])

    def _request(self, state: Sequence[int], r: int, seen: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
        phase = self.cell(state, "phase", r)
        wanted: dict[str, Any] = {
            "phase": phase.name,
            "reason": self.cell(state, "reason", r).name,
            "committed": self.cell(state, "committed", r),
            "notified": self.cell(state, "notified", r),
            "table": self.table(state, r),
        }
        got = {
            "phase": seen["phase"],
            "reason": seen["reason"],
            "committed": seen["output"],
            "notified": seen["terminal"],
            "table": seen["blocks"],
        }
        if phase is Phase.RUNNING:
            # Engines leave old numbers behind in what they no longer run; only a residency's progress means something.
            wanted["scheduled"], got["scheduled"] = self.cell(state, "scheduled", r), seen["scheduled"]
            if seen["owed"] is not None:
                wanted["owed"], got["owed"] = self.cell(state, "owed", r), seen["owed"]
        for name, value in wanted.items():
            if got[name] != value:
                yield name, f"{name}[r{r}] is {got[name]} in the engine, {value} by the rules"

    def _window(self, state: Sequence[int], seen: Sequence[Sequence[Any]]) -> Iterator[tuple[str, str]]:
        ours = []
        for i in range(self.layout.sizes[Slot]):
            step = {
                r: (self.cell(state, "tokens", i, r), self.cell(state, "samples", i, r))
                for r in range(self.layout.sizes[Request])
                if self.cell(state, "entry", i, r) is not Entry.NONE
            }
            if self.cell(state, "status", i).name != "EMPTY":
                ours.append(step)
        theirs = [{r: (k, bool(samples)) for r, k, samples in step} for step in seen]
        if ours != theirs:
            yield WINDOW, f"the steps in flight are {theirs} in the engine, {ours} by the rules"


def at_rest(seen: Observation) -> bool:
    """Whether every request that was submitted has ended and nothing is in flight."""
    phases = {r["phase"] for r in seen["requests"]}
    return not seen["window"] and phases <= {Phase.NEW.name, Phase.FINISHED.name}


def left_behind(seen: Observation) -> Iterator[tuple[str, str]]:
    """What a state at rest should not have: blocks held, no terminal message or two."""
    for b, block in enumerate(seen["blocks"]):
        if block["ref"]:
            yield HELD, f"b{b} has {block['ref']} references although no request is alive"
    if seen["held_by_finished"]:
        yield HELD, f"finished requests still hold {seen['held_by_finished']}"
    for r, request in enumerate(seen["requests"]):
        if request["phase"] == Phase.FINISHED.name and request["terminal"] != 1:
            yield TERMINAL, f"r{r} ended with {request['terminal']} terminal messages"
        if request["phase"] == Phase.FINISHED.name and request["reason"] == Reason.NONE.name:
            yield TERMINAL, f"r{r} ended without a reason"
