"""A machine held against the interpreter, in states of the caller's choice."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Any

from model.language import Shape, Term
from model.readings.effects import after, false_guards, forgotten
from model.readings.interpret import evaluate
from model.readings.layout import Layout, code
from model.readings.python import Beyond, Machine


def by_interpreter(layout: Layout, term: Term, now: Sequence[int], then: Sequence[int] = (), env: Any = None) -> int:
    return code(term.sort, evaluate(term, layout.world, env, layout.reader(now, then)))


def compare(machine: Machine, at: Sequence[Any]) -> Counter[str]:
    """Run the machine in the states and hold everything it says against the interpreter; counts what was met."""
    seen: Counter[str] = Counter()
    fired: Counter[str] = Counter()
    sole: Counter[str] = Counter()
    for now in at:
        expected, raw = [], []
        for k, instance in enumerate(machine.instances):
            wrong = false_guards(machine.layout, instance.rule, instance.at, now)
            if not wrong:
                raw.append(after(machine.layout, instance.rule, instance.at, now))
                whole = not machine.forgettings or machine.layout.out_of_bounds(raw[-1])
                expected.append((k, raw[-1] if whole else forgotten(machine.layout, raw[-1])))
                fired[instance.rule.name] += 1
            elif len(wrong) == 1:
                sole[f"{instance.rule.name}.{wrong[0]}"] += 1
        found = machine.successors(now)
        assert [(k, list(then)) for k, then, _ in found] == expected
        broken = machine.violated(now)
        assert set(broken) == violated(machine, now)
        seen["sound state"] += not broken
        for (k, then, bad), entire in zip(found, raw, strict=True):
            seen["forgetful step"] += list(then) != entire
            compare_step(machine, now, k, then, entire, bad, seen)
    assert Counter(dict(zip((r.name for r in machine.model.rules), machine.fired, strict=True))) == fired
    assert Counter(dict(zip(machine.guard_names, machine.sole, strict=True))) == sole
    seen["alone"] = sole.total()
    return seen


def compare_step(
    machine: Machine, now: Any, k: int, then: Any, entire: list[int], bad: Sequence[int], seen: Counter[str]
) -> None:
    """A step's own checks are exact where the state before it is sound; elsewhere they say nothing that is not so.

    `entire` is the state after with nothing forgotten, which is what properties of steps are about.
    """
    outside = machine.layout.out_of_bounds(then)
    assert (type(then) is Beyond) == bool(outside)
    exact = {n for n in steps(machine) if not holds(machine, n, now, entire)}
    assert set(bad) <= exact
    seen["step"] += 1
    if outside:
        seen["beyond"] += 1
        names = {machine.properties[n].name for n in {*bad, *violated(machine, then)}}
        assert machine.violations(then, bad) == names | {f"bounds.{c.field.name}" for c in outside}
    elif not machine.violated(now):
        assert set(bad) == exact
        assert machine.holds_after[k](then) == (not machine.violated(then))
        seen["broken step"] += bool(bad)
        seen["broken state after a sound one"] += not machine.holds_after[k](then)


def steps(machine: Machine) -> list[int]:
    return [n for n, p in enumerate(machine.properties) if p.shape is Shape.STEP]


def holds(machine: Machine, number: int, now: Any, then: Any) -> bool:
    return bool(by_interpreter(machine.layout, machine.properties[number].term, now, then))


def violated(machine: Machine, state: Any) -> set[int]:
    """What is violated in a state by itself: properties of steps must allow the step that changes nothing."""
    judged = (Shape.STATE, Shape.STEP)
    return {n for n, p in enumerate(machine.properties) if p.shape in judged and not holds(machine, n, state, state)}
