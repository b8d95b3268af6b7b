"""Single events of a world, by compiled ground terms: which guards are false, and the state that follows.

The machine of `python.py` gives all successors of a state; this runs one event that somebody names.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from model.readings.ground import Instance, instances, is_constant
from model.readings.layout import Layout
from model.readings.python import Writer

State = tuple[int, ...]


class Stepper:
    """Runs named events in one world. Guards and effects are compiled when an event is first asked for."""

    def __init__(self, layout: Layout) -> None:
        self.layout = layout
        self.instances = {(i.rule.name, i.at): i for i in instances(layout)}
        self.writer = Writer(layout, indexed=True)
        self.compiled: dict[tuple[str, tuple[int, ...]], tuple[Any, Any]] = {}

    def instance(self, rule: str, at: tuple[int, ...]) -> Instance | None:
        """The event, or None if there is none such in this world."""
        return self.instances.get((rule, at))

    def false_guards(self, rule: str, at: tuple[int, ...], state: State) -> list[str]:
        """The names of the guards that are false here; empty means that the event may happen."""
        guards, _ = self._compile(rule, at)
        return [name for name, holds in guards if not holds(state)]

    def after(self, rule: str, at: tuple[int, ...], state: State) -> State:
        """The state that the event leads to; its guards are not asked."""
        _, effects = self._compile(rule, at)
        result = list(state)
        for place, value in effects:
            result[place] = int(value(state))
        return tuple(result)

    def _compile(self, rule: str, at: tuple[int, ...]) -> tuple[Any, Any]:
        key = (rule, at)
        if key not in self.compiled:
            found = self.instances[key]
            guards = [
                (g.name, self._function(ground))
                for g, ground in zip(found.rule.guards, found.guards, strict=True)
                if not (is_constant(ground) and ground.data)
            ]
            self.compiled[key] = guards, [(place, self._function(value)) for place, value in found.effects]
        return self.compiled[key]

    def _function(self, ground: Any) -> Callable[[Sequence[int]], Any]:
        function: Callable[[Sequence[int]], Any] = eval(f"lambda s: {self.writer.write(ground)}")  # noqa: S307
        return function
