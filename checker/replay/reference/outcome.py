"""What came of a trace on the reference engine: values that need no torch."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field


@dataclass(frozen=True)
class Refusal:
    """The engine refused the event at `index` (from 0) at a guard; `values` are what the guard looked at."""

    index: int
    event: str
    guard: str
    values: Mapping[str, object]

    def __str__(self) -> str:
        seen = ", ".join(f"{name} = {value}" for name, value in self.values.items())
        return f"the engine refuses {self.event} at step {self.index + 1}, at {self.guard}" + (
            f" ({seen})" if seen else ""
        )


@dataclass(frozen=True)
class Difference:
    """The first cell in which the engine, after the event at `index` (from 0), is not in the state that the trace has."""

    index: int
    event: str
    field: str
    cell: str
    engine: str
    model: str

    def __str__(self) -> str:
        return (
            f"after {self.event} at step {self.index + 1}, the engine has {self.cell} = {self.engine}, "
            f"and the trace {self.model}"
        )


@dataclass(frozen=True)
class Damage:
    """What is wrong with tokens, memory and answers, each as a sentence; empty where all is well.

    `tokens`: committed tokens (or their logits) that are not those of the request alone. `memory`: KV slots of a live request
    that hold other KV. `stream`: what clients took twice, in another order, or not at all. `messages`: no terminal message,
    or several. `leaks`: blocks never returned, or returned twice. `endless`: requests that never end.
    """

    tokens: tuple[str, ...] = ()
    memory: tuple[str, ...] = ()
    stream: tuple[str, ...] = ()
    messages: tuple[str, ...] = ()
    leaks: tuple[str, ...] = ()
    endless: tuple[str, ...] = ()

    @property
    def kinds(self) -> tuple[str, ...]:
        return tuple(kind for kind in self.__dataclass_fields__ if getattr(self, kind))

    @property
    def sentences(self) -> tuple[str, ...]:
        return tuple(sentence for kind in self.kinds for sentence in getattr(self, kind))

    @property
    def seen_by_clients(self) -> bool:
        """A client has wrong tokens or answers, or waits for ever."""
        return bool(self.stream or self.messages or self.endless)

    def __bool__(self) -> bool:
        return bool(self.kinds)


@dataclass(frozen=True)
class EngineReplay:
    """A trace on the engine, with the switches in `off`.

    `events` were performed. Where nothing is off, the replay ends at the first refusal or difference. `damage` is measured
    where it ended, or after it went on: `went_on` says how, in words, or is empty.
    """

    off: tuple[str, ...]
    events: int
    refused: Refusal | None = None
    difference: Difference | None = None
    damage: Damage = field(default_factory=Damage)
    went_on: str = ""
    outputs: Mapping[str, tuple[int, ...]] = field(default_factory=dict)

    @property
    def followed(self) -> bool:
        """Every event was performed, and every state was the trace's."""
        return self.refused is None and self.difference is None


@dataclass(frozen=True)
class Judgement:
    """What both replays of a trace showed: on the sound engine, and with the change made to the engine too.

    `failures` are the expectations that were not met; `says` tells in words what was shown. `flawed` is None where the engine
    cannot be changed in this way (the fault is then in the model only).
    """

    sound: EngineReplay
    flawed: EngineReplay | None
    says: tuple[str, ...]
    failures: tuple[str, ...] = ()

    @property
    def damage(self) -> Damage:
        return (self.flawed or self.sound).damage
