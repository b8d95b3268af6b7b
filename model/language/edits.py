"""Changes to a model, named by the part they change: how faults are seeded and guards are taken away.

A part is `rule.guard` or `rule/field`. A change never touches the model it is given; it makes another.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

from model.language.errors import LanguageError
from model.language.model import Model, nearest
from model.language.rules import Guard, Rule, Update, record
from model.language.state import State
from model.language.terms import Index, Moment, Range, Term, Value, Var, want


@dataclass(frozen=True)
class Drop:
    """Leave a guard or an update out."""

    part: str

    def __str__(self) -> str:
        return f"without {self.part}"


@dataclass(frozen=True)
class Replace:
    """Give a guard another condition, or an update another value.

    `by` is called with the state before, the rule's parameters and, for an update that ranges over indices, their
    variables in the order of their loops.
    """

    part: str
    by: Callable[..., Value]

    def __str__(self) -> str:
        return f"{self.part} replaced"


@dataclass(frozen=True)
class Extend:
    """Let a rule do more: `effect(now, after, *parameters)` adds guards and updates to it."""

    rule: str
    effect: Callable[..., None]

    def __str__(self) -> str:
        return f"{self.rule} extended"


@dataclass(frozen=True)
class Fair:
    """Let a rule be weakly fair: no instance of it is withheld for ever while it stays enabled."""

    rule: str

    def __str__(self) -> str:
        return f"{self.rule} made fair"


@dataclass(frozen=True)
class Widen:
    """Let a state hold more: `state` is a subclass of the model's state, with fields of its own.

    What is said of the model's own fields stays as it is. An Extend after it may read and write the new fields.
    """

    state: type[State]

    def __str__(self) -> str:
        return f"{self.state.__name__} for a state"


Change = Drop | Replace | Extend
Edit = Change | Fair | Widen


def changed(model: Model, *changes: Edit) -> Model:
    """The model with the changes made, in order. LanguageError if a part does not exist."""
    for change in changes:
        if isinstance(change, Widen):
            model = _widened(model, change.state)
            continue
        name = changed_rule(change)
        old = model.rule(name)
        new = _apply(old, change)
        model = replace(model, rules=tuple(new if r is old else r for r in model.rules))
    return model


def changed_rule(change: Change | Fair) -> str:
    """The name of the rule that the change is to."""
    return change.rule if isinstance(change, Extend | Fair) else rule_name(change.part)


def rule_name(part: str) -> str:
    """The rule of `rule.guard` or `rule/field`."""
    cut = min((part.index(c) for c in "./" if c in part), default=-1)
    if cut < 0:
        raise LanguageError(f"{part} names no part of a rule; write RULE.GUARD or RULE/FIELD.")
    return part[:cut]


def parts(rule: Rule) -> tuple[str, ...]:
    """The names of everything in a rule that a change can drop or replace."""
    return (*(f"{rule.name}.{g.name}" for g in rule.guards), *rule.update_names())


def _widened(model: Model, state: type[State]) -> Model:
    if not issubclass(state, model.state):
        raise LanguageError(f"{state.__name__} is no {model.state.__name__}; declare it as a subclass of that.")
    return replace(model, state=state, rules=tuple(replace(r, state=state) for r in model.rules))


def _apply(rule: Rule, change: Change | Fair) -> Rule:
    if isinstance(change, Fair):
        return replace(rule, fair=True)
    if isinstance(change, Extend):
        recorder = record(rule.name, change.effect, rule.state, [_term(v) for v in rule.params], rule)
        return replace(
            rule, guards=tuple(recorder.guards), updates=tuple(recorder.updates), notes=tuple(recorder.notes)
        )
    if change.part not in parts(rule):
        raise LanguageError(f"{rule.name} has no part {change.part}; {nearest(change.part, list(parts(rule)))}.")
    guards = [_guard(rule, g, change) for g in rule.guards]
    updates = [_update(rule, u, n, change) for u, n in zip(rule.updates, rule.update_names(), strict=True)]
    return replace(
        rule,
        guards=tuple(g for g in guards if g is not None),
        updates=tuple(u for u in updates if u is not None),
    )


def _guard(rule: Rule, guard: Guard, change: Drop | Replace) -> Guard | None:
    if change.part != f"{rule.name}.{guard.name}":
        return guard
    if isinstance(change, Drop):
        return None
    value = change.by(rule.state(Moment.NOW), *(_term(v) for v in rule.params))
    return replace(guard, condition=want(value, guard.condition.sort, change.part))


def _update(rule: Rule, update: Update, name: str, change: Drop | Replace) -> Update | None:
    if change.part != name:
        return update
    if isinstance(change, Drop):
        return None
    variables = (*rule.params, *update.bound)
    value = change.by(rule.state(Moment.NOW), *(_term(v) for v in variables))
    return replace(update, value=want(value, update.value.sort, change.part))


def _term(variable: Var) -> Term:
    """The term of a variable that is there already."""
    domain: type[Index] | type[Range] = variable.domain
    fresh = domain.variable(variable.name)
    return type(fresh)(fresh.op, (), fresh.sort, variable)
