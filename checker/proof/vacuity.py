"""That a proof is about something: the hypotheses have states, the rules fire in them, and what is claimed has cases.

For each rule a state that satisfies every invariant and all its guards, for each property one (or a step) that satisfies
its witness. They are found sized, in the smallest shipped world that has them, and evaluated by the interpreter.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import z3

from checker.proof.claims import Claim
from checker.proof.cti import SIZES, plain, sized, small_world, world_of
from checker.proof.prove import Scope
from checker.verdict import Disagreement
from model.language.rules import Rule
from model.language.terms import INT, Moment, Op, Term, walk
from model.readings.effects import after, false_guards
from model.readings.interpret import evaluate
from model.readings.layout import Layout
from model.readings.sized import NOWHERE, Sized
from model.readings.smt import After, Symbolic
from model.readings.solver import assert_all, disjunction, solver_term
from model.readings.world import World


@dataclass(frozen=True)
class Item:
    """What must be possible: that a rule fires, or that a property's witness is met."""

    name: str
    needs: Term
    rule: Rule | None = None
    witness: Term | None = None


def items(scope: Scope) -> list[Item]:
    found = [Item(f"the rule {r.name}", r.needs, rule=r) for r in scope.rules]
    judged = {c.name for c in scope.claims}
    found += [
        Item(f"the witness of {p.name}", p.needs, witness=p.witness)
        for p in scope.properties
        if p.witness is not None and p.name in judged
    ]
    return found


def fits(scope: Scope, world: World) -> bool:
    fixed = all(world.values.get(name) == value for name, value in scope.fixed.items())
    return fixed and bool(evaluate(scope.assumption, world))


def unmet(scope: Scope, worlds: Sequence[World]) -> list[str]:
    """What no state of the worlds meets although the invariants hold in it."""
    left = items(scope)
    for world in (w for w in worlds if fits(scope, w)):
        here = [i for i in left if evaluate(i.needs, world)]
        if here:
            met = {i.name for i in met_in(scope, world.values, here)}
            left = [i for i in left if i.name not in met]
    for sizes in SIZES if left else ():
        met = {i.name for i in met_in(scope, {**sized(scope.model, sizes), **scope.fixed}, left)}
        left = [i for i in left if i.name not in met]
    return [i.name for i in left]


def met_in(scope: Scope, values: Mapping[str, Any], wanted: Sequence[Item]) -> Iterator[Item]:
    """Those that some state meets which satisfies the hypotheses, with these values for some dials or all."""
    tr, now = Sized(scope.model, values), Symbolic()
    solver = z3.Solver()
    facts = [
        *small_world(tr, scope),
        tr.within_bounds(now),
        *(tr.value(part, {}, now) for h in scope.hypotheses for part in h.parts),
    ]
    assert_all(solver, [solver_term(f) for f in facts if f is not True])
    for item in wanted:
        for rule, env, condition in _ways(scope, tr, now, item):
            if condition is False:
                continue
            solver.push()
            assert_all(solver, [solver_term(condition), solver_term(tr.value(item.needs, {}, NOWHERE))])
            found = solver.model() if solver.check() == z3.sat else None
            solver.pop()
            if found is not None:
                layout = Layout(scope.model, world_of(scope.model, tr, found))
                before = tuple(plain(found, tr.cell(now, c.field, c.at), c.field.sort) for c in layout.cells)
                at = tuple(plain(found, tr.number(env[v]), INT) for v in rule.params) if rule else ()
                _confirm(layout, item, rule, at, before, scope.hypotheses)
                yield item
                break


def _ways(scope: Scope, tr: Sized, now: Symbolic, item: Item) -> Iterator[tuple[Rule | None, dict[Any, Any], Any]]:
    """The ways to meet the item: a rule instance to fire (or none), and what must hold."""
    if item.witness is not None and not any(t.op is Op.FIELD and t.data[1] is Moment.THEN for t in walk(item.witness)):
        yield None, {}, tr.value(item.witness, {}, now)
        return
    for rule in [item.rule] if item.rule else scope.rules:
        for env in tr.instances(rule):
            enabled = tr.enabled(rule, env, now)
            if item.witness is None:
                yield rule, env, enabled
            else:
                met = tr.value(item.witness, {}, now, After(rule, env, now))
                yield (
                    rule,
                    env,
                    disjunction([])
                    if met is False or enabled is False
                    else z3.And(solver_term(enabled), solver_term(met)),
                )


def _confirm(
    layout: Layout,
    item: Item,
    rule: Rule | None,
    at: tuple[int, ...],
    before: tuple[int, ...],
    hypotheses: Sequence[Claim],
) -> None:
    """The interpreter must agree."""
    then = after(layout, rule, at, before) if rule else before
    agrees = rule is None or not false_guards(layout, rule, at, before)
    agrees = agrees and all(evaluate(h.whole, layout.world, {}, layout.reader(before)) for h in hypotheses)
    if item.witness is not None:
        agrees = agrees and bool(evaluate(item.witness, layout.world, {}, layout.reader(before, then)))
    if not agrees:
        raise Disagreement(
            f"the solver finds a state for {item.name}, and the interpreter does not agree; please report this."
        )
