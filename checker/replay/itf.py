"""Traces as files: ITF, the Informal Trace Format of Apalache (ADR 015), so that other tools can open them.

What ITF has no place for is under `#meta`: the world with all dials, the change to the rules, the property, and the
events with their parameters. That is enough to run the trace again from the file alone.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from checker.catalogue import SHIPPED, Catalogue
from checker.replay.trace import Event, Trace, event, named_arguments
from checker.variation import Variation, vary
from checker.verdict import Unusable, cause
from model.language.errors import LanguageError
from model.language.model import Model
from model.language.terms import BOOL, INT, Index
from model.readings.effects import after, false_guards
from model.readings.ground import Instance, argument
from model.readings.layout import Cell, Layout, member_name
from model.readings.world import WorldError, members, world

FORMAT = 1  # raised when a file of an older schedproof can no longer be read


class Changed(Unusable):
    """A trace that the rules do not run as its file says: they have changed since, or the file was edited."""


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
                **({"policy": trace.variation.policy.name} if trace.variation.policy else {}),
                "property": trace.shows,
                "events": [_event(trace.model, e) for e in trace.events],
            },
        },
        "vars": [f.name for f in fields],
        **({"loop": trace.loop} if trace.loop is not None else {}),
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
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(written(to_itf(trace, version)))
    except OSError as error:
        raise Unusable(
            f"the trace cannot be written to {path} ({cause(error)}); give another place with --traces DIR."
        ) from None


def written(document: Mapping[str, Any]) -> str:
    """The document as text, with a line for each event and each state, so that two versions can be compared."""

    def dump(value: object) -> str:
        return json.dumps(value, ensure_ascii=False)

    meta = document["#meta"]
    ours = meta["schedproof"]
    rows = [f"   {dump(k)}: {dump(v)}" for k, v in ours.items() if k != "events"]
    events = ",\n".join(f"    {dump(e)}" for e in ours["events"])
    rows.append(f'   "events": [\n{events}\n   ]')
    head = [f"  {dump(k)}: {dump(v)}" for k, v in meta.items() if k != "schedproof"]
    head.append('  "schedproof": {\n' + ",\n".join(rows) + "\n  }")
    states = ",\n".join(f"  {dump(s)}" for s in document["states"])
    parts = [
        '{\n "#meta": {',
        ",\n".join(head),
        f' }},\n "vars": {dump(document["vars"])},',
        *([f' "loop": {document["loop"]},'] if "loop" in document else []),
        f' "states": [\n{states}\n ]\n}}',
    ]
    return "\n".join(parts) + "\n"


# ------------------------------------------------------------------------------------------ loading
def load(path: Path, model: Model, known: Catalogue = SHIPPED) -> Trace:
    """Read a trace and run it again; `known` has the fault it was made with.

    Unusable if the file is no trace, is of another format, or if the rules as they are now do not run as it says.
    """
    document = _document(path)
    try:
        meta = document["#meta"]["schedproof"]
        made_by = meta["format"]
        if made_by != FORMAT:
            raise Unusable(
                f"{path} is of trace format {made_by}, and this is {FORMAT}; make the trace again with check."
            )
        if meta["model"] != model.name:
            raise Unusable(f"{path} is a trace of the model {meta['model']}, and this is {model.name}.")
        if not isinstance(meta["without"], list):
            raise TypeError
        return _Loader(path, document, meta, model, known).trace()
    except KeyError as error:
        raise Unusable(
            f"{path} is no schedproof trace: {error.args[0]} is missing; make it again with check."
        ) from None
    except (TypeError, IndexError, AttributeError):
        raise Unusable(f"{path} is no schedproof trace; make one with check.") from None
    except (WorldError, LanguageError) as error:
        raise Unusable(f"{path} cannot be run: {error}") from None


def meta_of(path: Path) -> dict[str, Any]:
    """What the file says of its world, change, property and events, not held against the rules. Unusable if it is no trace."""
    document = _document(path)
    try:
        meta = document["#meta"]["schedproof"]
        there = {k: meta[k] for k in ("fault", "without", "world", "property", "events", "version")}
        there["policy"] = meta.get("policy")
    except (KeyError, TypeError):
        raise Unusable(f"{path} is no schedproof trace; make one with check.") from None
    return there


def _document(path: Path) -> Any:
    try:
        return json.loads(path.read_text())
    except OSError as error:
        raise Unusable(f"{path} cannot be read ({error.strerror}); give the path of a trace file.") from None
    except ValueError as error:
        raise Unusable(f"{path} is no complete JSON ({error}); make the trace again with check.") from None


class _Loader:
    """Runs the events of a file from the initial state, and holds the states it comes to against those in the file."""

    def __init__(
        self, path: Path, document: Mapping[str, Any], meta: Mapping[str, Any], model: Model, known: Catalogue
    ) -> None:
        self.path, self.document, self.meta, self.known = path, document, meta, known
        self.variation = self.changed(model)
        self.model = self.variation.model
        self.world = world(model, meta["world"]["name"], meta["world"]["dials"])
        self.layout = Layout(self.model, self.world)

    def changed(self, model: Model) -> Variation:
        try:
            return vary(model, self.meta["fault"], tuple(self.meta["without"]), self.known, self.meta.get("policy"))
        except Unusable as error:
            ours = [None, *(f.name for f in self.known.faults), *(p.name for p in self.known.policies)]
            foreign = [what for what in ("fault", "policy") if self.meta.get(what) not in ours]
            hint = f" If it is a {foreign[0]} of your own, name its file with --with FILE.py." if foreign else ""
            raise Unusable(f"{self.path} cannot be run: {error}{hint}") from None

    def trace(self) -> Trace:
        stored, shows = self.document["states"], self.meta["property"]
        events = [self.instance(e) for e in self.meta["events"]]
        if not isinstance(stored, list) or not isinstance(shows, str):
            raise TypeError
        if len(stored) != len(events) + 1:
            raise Unusable(
                f"{self.path} has {len(events)} events but {len(stored)} states; make the trace again with check."
            )
        states = [self.layout.initial]
        if self.differing(states[0], stored[0]):
            raise Changed(f"{self.path} does not begin in the initial state of the model; make it again with check.")
        for number, instance in enumerate(events, 1):
            states.append(self.run(number, instance, states[-1], stored[number]))
        described = tuple(event(self.layout, i, s) for i, s in zip(events, states[:-1], strict=True))
        return Trace(self.model, self.world, shows, described, tuple(states), self.variation, self.loop(states))

    def loop(self, states: Sequence[tuple[int, ...]]) -> int | None:
        """The number of the state that the run comes back to in the end, if it does."""
        loop = self.document.get("loop")
        if loop is None:
            return None
        if isinstance(loop, bool) or not isinstance(loop, int) or not 0 <= loop < len(states):
            raise Unusable(
                f"{self.path} has the loop {loop!r}, which is no number of a state; make it again with check."
            )
        if states[loop] != states[-1]:
            raise Changed(
                f"{self.path}: the last state is not that of number {loop}, to which the file says the run comes back; "
                "the rules have changed since the trace was made, or it was edited."
            )
        return loop

    def run(self, number: int, instance: Instance, before: tuple[int, ...], stored: Any) -> tuple[int, ...]:
        false = false_guards(self.layout, instance.rule, instance.at, before)
        if false:
            raise Changed(
                f"{self.path}: the rules refuse step {number}, {instance.text}, at the guard {instance.rule.name}.{false[0]}; "
                "they have changed since the trace was made, or it was edited."
            )
        then = tuple(after(self.layout, instance.rule, instance.at, before))
        differing = self.differing(then, stored)
        if differing is not None:
            raise Changed(
                f"{self.path}: step {number}, {instance.text}, leads to another {differing.text} than the file says; "
                "the rules have changed since the trace was made, or it was edited."
            )
        return then

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

    def differing(self, state: tuple[int, ...], stored: Any) -> Cell | None:
        """The first cell for which the file does not say what the state has."""
        for place, cell in enumerate(self.layout.cells):
            if _stored(stored, cell) != _value(self.layout, state, place):
                return cell
        return None


def _stored(stored: Any, cell: Cell) -> Any:
    """What a file's state says of a cell; None if it says nothing that could be understood."""
    value = stored.get(cell.field.name) if isinstance(stored, dict) else None
    if not cell.field.indices:
        return value
    pairs = value.get("#map") if isinstance(value, dict) else None
    key = _key(cell.field.indices, cell.at)
    found = (p[1] for p in pairs if isinstance(p, list) and len(p) == 2 and p[0] == key) if pairs else ()
    return next(iter(found), None)
