"""A trace: a run of a model in a world, event by event, with what it shows."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from checker.search.explore import Exploration, Found
from checker.variation import Variation
from checker.verdict import Disagreement
from model.language.model import Model
from model.language.properties import Property, Shape
from model.readings.effects import after, false_guards, forgotten
from model.readings.ground import Instance, argument
from model.readings.interpret import evaluate
from model.readings.layout import Layout
from model.readings.prose import Explanation, explain, shown
from model.readings.python import Beyond, Machine
from model.readings.world import World

DEPARTS = "engine: "  # begins what a trace shows that an engine followed, up to where it departed from the rules


@dataclass(frozen=True)
class Event:
    """A rule that fired, its parameters as positions or numbers, and the notes the rule makes of it."""

    rule: str
    at: tuple[int, ...]
    text: str
    notes: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True)
class Trace:
    """States as stored numbers, one more than events. `variation` says how the rules were changed, if at all.

    Where there is a `loop`, the run goes on for ever: from its last state, which is the state of that number, it takes the
    events after that state again and again; if there are none, it stands still.
    """

    model: Model
    world: World
    shows: str
    events: tuple[Event, ...]
    states: tuple[tuple[int, ...], ...]
    variation: Variation
    loop: int | None = None

    @cached_property
    def layout(self) -> Layout:
        return Layout(self.model, self.world)

    @property
    def length(self) -> int:
        """In steps."""
        return len(self.events)

    def changed(self, step: int) -> list[tuple[str, str, str]]:
        """What a step (from 1) changed: cell, value before, value then."""
        before, then = self.states[step - 1], self.states[step]
        return [
            (cell.text, shown(self.layout, before, p), shown(self.layout, then, p))
            for p, cell in enumerate(self.layout.cells)
            if before[p] != then[p]
        ]


def trace_of(explored: Exploration, found: Found, variation: Variation) -> Trace:
    """The run behind a finding. States were explored up to renaming; this walks them again as one real run."""
    machine = explored.machine
    normal = explored.symmetry.normal if explored.symmetry else machine.pack
    state = machine.initial
    events: list[Instance] = []
    states: list[Any] = [state]
    for number in explored.chain(found.source)[1:]:
        rule = machine.instances[explored.via[number]].rule
        k, state = _step(machine, state, rule.name, lambda t, n=number: normal(t) == explored.states[n])
        events.append(machine.instances[k])
        states.append(state)
    if found.instance is not None:
        rule = machine.instances[found.instance].rule
        k, state = _last(machine, state, rule.name, found.property)
        events.append(machine.instances[k])
        states.append(state)
    _agree(machine, events, states, found.property)
    return build(machine.layout, found.property, events, variation)


def _agree(machine: Machine, events: Sequence[Instance], states: Sequence[Any], name: str) -> None:
    """The interpreter, forgetting what the machine forgets, must come by the machine's own states."""
    layout, state = machine.layout, list(machine.layout.initial)
    for number, (instance, made) in enumerate(zip(events, states[1:], strict=True), 1):
        state = after(layout, instance.rule, instance.at, state)
        if machine.forgettings and not layout.out_of_bounds(state):
            state = forgotten(layout, state)
        if state != list(made):
            raise Disagreement(
                f"in {machine.world.name}, the generated code takes {instance.text} at step {number} of the trace to {name}, "
                "but the interpreter does not; please report this with the command you ran."
            )


def build(layout: Layout, name: str, events: Sequence[Instance], variation: Variation) -> Trace:
    """The trace of these events, run by the interpreter, which forgets nothing that a search may forget."""
    states = [tuple(layout.initial)]
    for instance in events:
        states.append(tuple(after(layout, instance.rule, instance.at, states[-1])))
    described = tuple(event(layout, i, s) for i, s in zip(events, states[:-1], strict=True))
    return Trace(layout.model, layout.world, name, described, tuple(states), variation)


def event(layout: Layout, instance: Instance, state: Sequence[int]) -> Event:
    env = dict(zip(instance.rule.params, instance.at, strict=True))
    read = layout.reader(state)
    values = ((n.name, evaluate(n.value, layout.world, env, read)) for n in instance.rule.notes)
    notes = tuple((name, str(getattr(v, "name", v))) for name, v in values)
    return Event(instance.rule.name, instance.at, instance.text, notes)


def _step(machine: Machine, state: Any, rule: str, wanted: Any) -> tuple[int, Any]:
    for k, then, _ in machine.successors(state):
        if machine.instances[k].rule.name == rule and type(then) is not Beyond and wanted(then):
            return k, machine.pack(then)
    raise Disagreement(f"the explorer took {rule} in {machine.world.name}, but the run cannot take it again.")


def _last(machine: Machine, state: Any, rule: str, name: str) -> tuple[int, Any]:
    for k, then, bad in machine.successors(state):
        if machine.instances[k].rule.name == rule and name in machine.violations(then, bad):
            return k, then
    raise Disagreement(f"the explorer saw {rule} violate {name} in {machine.world.name}, but the run does not.")


# ------------------------------------------------------------------------------------- explaining
def explanation(trace: Trace, declared: Property | None) -> Explanation | None:
    """Why the trace's last state or step violates the property; None for a field's bounds."""
    if declared is None:
        return None
    now: tuple[int, ...] = trace.states[-1]
    then: tuple[int, ...] = ()
    if declared.shape is Shape.STEP and trace.events:
        now, then = trace.states[-2], trace.states[-1]
    return explain(trace.layout, declared.term, now, then)


@dataclass(frozen=True)
class Parting:
    """Where the unchanged rules part from a trace: at which step (from 1), at which `rule.guard` if at one, and a sentence."""

    step: int
    guard: str | None
    said: str


def refusal(trace: Trace) -> str | None:
    """Where the unchanged rules part from the trace, in a sentence."""
    parted = parting(trace)
    return parted.said if parted else None


def parting(trace: Trace) -> Parting | None:
    """The first event that the unchanged rules refuse, or whose effect differs; None if they run the trace too."""
    layout = Layout(trace.variation.unchanged, trace.world)
    for number, happened in enumerate(trace.events):
        before, then = trace.states[number], trace.states[number + 1]
        rule = layout.model.rule(happened.rule)
        for name in false_guards(layout, rule, happened.at, before):
            guard = next(g for g in rule.guards if g.name == name)
            why = explain(layout, guard.condition, before, (), dict(zip(rule.params, happened.at, strict=True)))
            values = "; ".join(str(r) for r in why.readings)
            said = (
                f"The unchanged rules refuse {happened.text} at step {number + 1}: "
                f"the guard {rule.name}.{name} is false ({values})."
            )
            return Parting(number + 1, f"{rule.name}.{name}", said)
        differing = _differing(layout, rule.name, happened, before, then)
        if differing:
            said = f"In the unchanged rules, {happened.text} at step {number + 1} has another effect: {differing}."
            return Parting(number + 1, None, said)
    return None


def _differing(layout: Layout, rule: str, happened: Event, before: Sequence[int], then: Sequence[int]) -> str:
    expected = after(layout, layout.model.rule(rule), happened.at, before)
    cells = [p for p in range(len(then)) if expected[p] != then[p]]
    return ", ".join(f"{layout.cells[p].text} becomes {shown(layout, expected, p)}" for p in cells)


def named_arguments(model: Model, happened: Event) -> dict[str, str]:
    """The event's parameters by name, as text: {'r': 'r0', 'k': '2'}."""
    rule = model.rule(happened.rule)
    return {v.name: argument(v, m) for v, m in zip(rule.params, happened.at, strict=True)}
