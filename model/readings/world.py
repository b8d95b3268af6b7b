"""A world sets every dial of a model: the sizes and disciplines that a sized reading works with."""

from __future__ import annotations

import enum
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from model.language.dials import Dial
from model.language.model import Model, nearest
from model.language.terms import BOOL, Op, Range, walk
from model.readings.interpret import evaluate

MOST = 1_000_000  # no dial is larger; a world that is written out is far smaller


@dataclass(frozen=True)
class World:
    """A value for every dial: a bool, an Enum member or an int, and a tuple of ints for a dial with an index."""

    name: str
    values: Mapping[str, Any]

    def of(self, dial: Dial, *members: int) -> Any:
        try:
            value = self.values[dial.name]
        except KeyError:
            sentence = f"the world {self.name} has no dial {dial.name}; list it in the model."
            raise WorldError(dial.name, sentence) from None
        return value[members[0]] if dial.index is not None else value

    def plain(self) -> dict[str, Any]:
        """The values as a file would hold them: numbers, booleans, lists, and choices as lower-case words."""
        return {name: plain(value) for name, value in self.values.items()}


def plain(value: Any) -> Any:
    """A dial's value as a file would hold it."""
    if isinstance(value, tuple):
        return [plain(v) for v in value]
    return value.name.lower() if isinstance(value, enum.Enum) else value


class WorldError(Exception):
    """A world that cannot be: `key` says which dial, the message what to write instead."""

    def __init__(self, key: str, message: str) -> None:
        super().__init__(message)
        self.key = key


def world(declared: Model, name: str, given: Mapping[str, Any]) -> World:
    """A world from plain values (ints, bools, strings for choices, lists for dials with an index).

    Raises WorldError for an unknown dial, a missing one, a value of the wrong kind or out of range, a list of the
    wrong length, and for dials that do not fit together.
    """
    for key in given:
        if key not in [d.name for d in declared.dials]:
            raise WorldError(key, f"there is no dial {key}; {nearest(key, [d.name for d in declared.dials])}.")
    values: dict[str, Any] = {}
    # The size of an index is known before its members' values are spread.
    for dial in sorted(declared.dials, key=lambda d: d.index is not None):
        raw = given.get(dial.name, dial.default)
        if raw is None:
            raise WorldError(dial.name, f"the dial {dial.name} is missing; set it: {dial.doc}.")
        if dial.index is not None:
            size = evaluate(dial.index.size, World(name, values))
            values[dial.name] = _spread(dial, raw, size)
        else:
            values[dial.name] = read_value(dial, raw)
    made = World(name, {d.name: values[d.name] for d in declared.dials})
    _check_requirements(declared, made)
    return made


def _spread(dial: Dial, raw: Any, size: int) -> tuple[Any, ...]:
    assert dial.index is not None
    if not isinstance(raw, list | tuple):
        return (read_value(dial, raw),) * size
    if len(raw) != size:
        of = dial.index.__name__.lower()
        raise WorldError(
            dial.name,
            f"{dial.name} lists {len(raw)} values for {size} {of}s; give one for each, or one number for all.",
        )
    return tuple(read_value(dial, r) for r in raw)


def read_value(dial: Dial, raw: Any) -> Any:
    """A dial's value from a plain one; WorldError if it is of the wrong kind or out of range."""
    if isinstance(dial.sort.of, type) and issubclass(dial.sort.of, enum.Enum):
        options = {m.name.lower(): m for m in dial.sort.of}
        if isinstance(raw, dial.sort.of):
            return raw
        if not isinstance(raw, str) or raw.lower() not in options:
            raise WorldError(dial.name, f"{dial.name} is {raw!r}, but must be one of {', '.join(options)}.")
        return options[raw.lower()]
    if dial.sort == BOOL:
        if not isinstance(raw, bool):
            raise WorldError(dial.name, f"{dial.name} is {raw!r}, but is switched with true or false.")
        return raw
    if not isinstance(raw, int) or isinstance(raw, bool):
        raise WorldError(dial.name, f"{dial.name} is {raw!r}, but must be a whole number of at least {dial.low}.")
    if raw > MOST:
        raise WorldError(dial.name, f"{dial.name} is {raw}, but must be at most {MOST:,}: {dial.doc}.")
    if raw < dial.low:
        raise WorldError(dial.name, f"{dial.name} is {raw}, but must be at least {dial.low}: {dial.doc}.")
    return raw


def _check_requirements(declared: Model, made: World) -> None:
    for requirement in declared.requirements:
        if not evaluate(requirement.condition, made):
            named = [t.data.name for t in walk(requirement.condition) if t.op is Op.DIAL]
            raise WorldError(named[0], requirement.sentence)


def members(domain: Any, made: World) -> range:
    """The values a parameter or variable ranges over in a world: positions of an index, or the numbers of a range."""
    if issubclass(domain, Range):
        return range(evaluate(domain.low, made), evaluate(domain.high, made) + 1)
    return range(evaluate(domain.size, made))
