"""Traces as files: ITF, the Informal Trace Format of Apalache (ADR 015), so that other tools can open them.

What ITF has no place for is under `#meta`: the world with all dials, the change to the rules, the property, and the
events with their parameters. That is enough to run the trace again from the file alone.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from checker.replay.trace import Event, Trace, event, named_arguments
from checker.variation import Variation, vary
from checker.verdict import Unusable
from model.language.errors import LanguageError
from model.language.model import Model
from model.language.terms import BOOL, INT, Index
from model.readings.effects import after, false_guards
from model.readings.ground import Instance, argument
from model.readings.layout import Layout, code, member_name
from model.readings.world import WorldError, members, world

FORMAT = 1  # raised when a file of an older schedproof can no longer be read


def to_itf(trace: Trace, version: str) -> dict[str, Any]:
    """The trace as an ITF document."""
    fields = trace.model.state.fields()
    return {
        "#meta": {
            "format": "ITF",
            "format-description": "https://apalache-mc.org/docs/adr/015adr-trace.html",
            "description": f"a run of {trace.model.name} in the world {trace.world.name} that shows {trace.shows}",
            "schedproof": {
                "format": FORMAT,
                "version": version,
                "model": trace.model.name,
                "world": {"name": trace.world.name, "dials": trace.world.plain()},
                "fault": trace.variation.fault.name if trace.variation.fault else None,
                "without": list(trace.variation.without),
                "property": trace.shows,
                "events": [_event(trace.model, e) for e in trace.events],
            },
        },
        "vars": [f.name for f in fields],
        "states": [_state(trace.layout, s, i) for i, s in enumerate(trace.states)],
    }


def _event(model: Model, happened: Event) -> dict[str, Any]:
    described: dict[str, Any] = {"rule": happened.rule, "parameters": named_arguments(model, happened)}
    return described | ({"notes": dict(happened.notes)} if happened.notes else {})


def _state(layout: Layout, state: Sequence[int], number: int) -> dict[str, Any]:
    document: dict[str, Any] = {"#meta": {"index": number}}
    for field in layout.model.state.fields():
        cells = [(c.at, p) for p, c in enumerate(layout.cells) if c.field is field]
        if not field.indices and cells:
            document[field.name] = _value(layout, state, cells[0][1])
        else:
            document[field.name] = {
                "#map": [[_key(field.indices, at), _value(layout, state, p)] for at, p in sorted(cells)]
            }
    return document


def _key(indices: tuple[type[Index], ...], at: tuple[int, ...]) -> Any:
    names = [member_name(i, m) for i, m in zip(indices, at, strict=True)]
    return names[0] if len(names) == 1 else {"#tup": names}


def _value(layout: Layout, state: Sequence[int], place: int) -> Any:
    sort = layout.cells[place].field.sort
    if sort == BOOL:
        return bool(state[place])
    if sort == INT:
        return {"#bigint": str(state[place])}
    names = [m.name for m in sort.of]
    return names[state[place]] if 0 <= state[place] < len(names) else f"#{state[place]}"


def save(trace: Trace, path: Path, version: str) -> None:
    """Write the trace; Unusable if the place cannot be written."""
    text = json.dumps(to_itf(trace, version), indent=1)
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text + "\n")
    except OSError as error:
        raise Unusable(
            f"the trace cannot be written to {path} ({error.strerror}); give another place with --traces DIR."
        ) from None


# ------------------------------------------------------------------------------------------ loading
def load(path: Path, model: Model) -> Trace:
    """Read a trace and run it again.

    Unusable if the file is no trace, is of another format, or if the rules as they are now do not run as it says.
    """
    try:
        document = json.loads(path.read_text())
    except OSError as error:
        raise Unusable(f"{path} cannot be read ({error.strerror}); give the path of a trace file.") from None
    except ValueError as error:
        raise Unusable(f"{path} is no complete JSON ({error}); make the trace again with check.") from None
    try:
        meta = document["#meta"]["schedproof"]
        made_by = meta["format"]
        if made_by != FORMAT:
            raise Unusable(
                f"{path} is of trace format {made_by}, and this is {FORMAT}; make the trace again with check."
            )
        return _Loader(path, document, meta, model).trace()
    except (KeyError, TypeError, IndexError, AttributeError) as error:
        raise Unusable(
            f"{path} is no schedproof trace ({error!r} is missing or odd); make it again with check."
        ) from None
    except (WorldError, LanguageError) as error:
        raise Unusable(f"{path} cannot be run: {error}") from None


class _Loader:
    def __init__(self, path: Path, document: Mapping[str, Any], meta: Mapping[str, Any], model: Model) -> None:
        self.path, self.document, self.meta = path, document, meta
        self.variation: Variation = vary(model, meta["fault"], tuple(meta["without"]))
        self.model = self.variation.model
        self.world = world(model, meta["world"]["name"], meta["world"]["dials"])
        self.layout = Layout(self.model, self.world)

    def trace(self) -> Trace:
        states = [self.state(s) for s in self.document["states"]]
        events = [self.instance(e) for e in self.meta["events"]]
        if len(states) != len(events) + 1:
            raise Unusable(
                f"{self.path} has {len(events)} events but {len(states)} states; make the trace again with check."
            )
        if states[0] != self.layout.initial:
            raise Unusable(f"{self.path} does not begin in the initial state of the model; make it again with check.")
        for number, instance in enumerate(events):
            self.run(number + 1, instance, states[number], states[number + 1])
        described = tuple(event(self.layout, i, s) for i, s in zip(events, states[:-1], strict=True))
        return Trace(self.model, self.world, self.meta["property"], described, tuple(states), self.variation)

    def run(self, number: int, instance: Instance, before: tuple[int, ...], then: tuple[int, ...]) -> None:
        false = false_guards(self.layout, instance.rule, instance.at, before)
        if false:
            raise Unusable(
                f"{self.path}: the rules refuse step {number}, {instance.text}, at the guard {instance.rule.name}.{false[0]}; "
                "they have changed since the trace was made, or it was edited."
            )
        got = after(self.layout, instance.rule, instance.at, before)
        for place, cell in enumerate(self.layout.cells):
            if got[place] != then[place]:
                raise Unusable(
                    f"{self.path}: step {number}, {instance.text}, leads to another {cell.text} than the file says; "
                    "the rules have changed since the trace was made, or it was edited."
                )

    def instance(self, entry: Mapping[str, Any]) -> Instance:
        rule = self.model.rule(entry["rule"])
        at = []
        for variable in rule.params:
            wanted = entry["parameters"][variable.name]
            found = [m for m in members(variable.domain, self.world) if argument(variable, m) == wanted]
            if not found:
                raise Unusable(
                    f"{self.path}: {wanted} is no {variable.domain.__name__} of the world; the trace was edited."
                )
            at.append(found[0])
        return Instance(rule, tuple(at), (), ())

    def state(self, entry: Mapping[str, Any]) -> tuple[int, ...]:
        return tuple(self.stored(entry, place) for place in range(len(self.layout.cells)))

    def stored(self, entry: Mapping[str, Any], place: int) -> int:
        cell = self.layout.cells[place]
        value = entry[cell.field.name]
        if cell.field.indices:
            key = _key(cell.field.indices, cell.at)
            value = next((v for k, v in value["#map"] if k == key), None)
        if cell.field.sort == INT:
            return int(value["#bigint"])
        if cell.field.sort == BOOL:
            return int(bool(value))
        if isinstance(value, str) and value.startswith("#"):
            return int(value[1:])
        names = [m.name for m in cell.field.sort.of]
        return code(cell.field.sort, list(cell.field.sort.of)[names.index(value)])
