"""From the rules' events to the engine's methods, and from the engine's observation to a state of the model."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from engine_ref import Engine, observe
from model.language.terms import BOOL, INT
from model.lifecycle.state import Lifecycle
from model.readings.layout import Cell, Layout

At = tuple[int, ...]
Call = Callable[[Engine, At], object]

# The one table from a rule to the method that performs it.
METHODS: Mapping[str, Call] = {
    "submit": lambda e, at: e.submit(*at),
    "cancel": lambda e, at: e.cancel(*at),
    "deliver": lambda e, at: e.deliver(*at),
    "reject": lambda e, at: e.reject(*at),
    "admit": lambda e, at: e.admit(*at),
    "hit": lambda e, at: e.hit(*at),
    "acquire": lambda e, at: e.acquire(*at),
    "select": lambda e, at: e.select(*at),
    "preempt": lambda e, at: e.preempt(*at),
    "abort": lambda e, at: e.abort(*at),
    "launch": lambda e, at: e.launch(),  # the engine knows which slot is next
    "execute": lambda e, at: e.execute(*at),
    "retire_chunk": lambda e, at: e.retire_chunk(*at),
    "retire_token": lambda e, at: e.retire_token(*at),
    "retire_stop": lambda e, at: e.retire_stop(*at),
    "retire_length": lambda e, at: e.retire_length(*at),
    "retire_stale": lambda e, at: e.retire_stale(*at),
    "retire_late_token": lambda e, at: e.retire_late_token(*at),
    "retire_late_stop": lambda e, at: e.retire_late_stop(*at),
    "retire_late_length": lambda e, at: e.retire_late_length(*at),
    "recycle": lambda e, at: e.recycle(),
    "publish": lambda e, at: e.publish(*at),
    "notify": lambda e, at: e.notify(*at),
    "release": lambda e, at: e.release(*at),
}

# What the memory really holds is asked of the KV itself (memory.py), where the model has it as a ghost.
GHOSTS = (Lifecycle.text_prefix, Lifecycle.text_family, Lifecycle.text_own, Lifecycle.valid)


def perform(engine: Engine, rule: str, at: At) -> None:
    """Do what the event says; Refused if the engine will not."""
    METHODS[rule](engine, at)


class Comparison:
    """Holds the engine as it is now against a state: every cell but the ghosts, in the engine's words."""

    def __init__(self, layout: Layout) -> None:
        cells = [(p, c) for p, c in enumerate(layout.cells) if c.field not in GHOSTS]
        self.cells = [(p, c, c.field.name, c.at, _words(c)) for p, c in cells]

    def differences(self, engine: Engine, state: Sequence[int]) -> Iterator[tuple[Cell, str, str]]:
        """The cells in which the engine is not in this state: the cell, the engine's value, the state's."""
        seen = observe(engine)
        for place, cell, name, at, words in self.cells:
            value: Any = seen[name]
            for i in at:
                value = value[i]
            wanted = words[state[place]] if words and 0 <= state[place] < len(words) else state[place]
            if value != wanted:
                yield cell, str(value), str(wanted)


def _words(cell: Cell) -> tuple[Any, ...]:
    """What the stored numbers of the cell are called; empty where they are numbers."""
    sort = cell.field.sort
    if sort == INT:
        return ()
    return (False, True) if sort == BOOL else tuple(m.name for m in sort.of)
