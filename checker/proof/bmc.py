"""Bounded symbolic checking: every run of a world up to a number of steps, as one formula.

The steps of a run are unknowns (which rule, with which members), and so are the states between. The number of steps
grows by one until the negation of some property can be satisfied, so what is found first is shortest. It says nothing of
longer runs, and is a check of the solver's reading against the explorer rather than a way to explore.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import z3

from checker.proof.claims import Claim
from model.language.model import Model
from model.language.terms import Var
from model.readings.ground import Instance, instances
from model.readings.interpret import evaluate
from model.readings.layout import Layout
from model.readings.sized import Sized
from model.readings.smt import After, Symbolic
from model.readings.solver import (
    assert_all,
    choice,
    disjunction,
    equality,
    negation,
    solver_term,
)
from model.readings.world import World


@dataclass(frozen=True)
class Run:
    """What was found: the claims that are broken at the end of a run of `events`, or nothing within `depth` steps."""

    depth: int
    seconds: float
    events: tuple[Instance, ...] = ()
    broken: tuple[str, ...] = ()
    unknown: bool = False


class Unrolled:
    """The runs of a world, one step longer at a time."""

    def __init__(self, model: Model, world: World, timeout: float) -> None:
        self.model, self.world = model, world
        self.tr, self.layout = Sized(model, world.values), Layout(model, world)
        self.solver = z3.Solver()
        self.solver.set("timeout", int(timeout * 1000))
        self.instances = instances(self.layout)
        self.states = [Symbolic("0:")]
        self.taken: list[Any] = []
        assert_all(
            self.solver,
            [
                solver_term(equality(self.tr.read(self.states[0], c.field, c.at), c.field.initial))
                for c in self.layout.cells
            ],
        )

    def env(self, instance: Instance) -> dict[Var, Any]:
        return dict(zip(instance.rule.params, instance.at, strict=True))

    def grow(self) -> None:
        """Add one step to the runs."""
        now, then = self.states[-1], Symbolic(f"{len(self.states)}:")
        taken = z3.Int(f"step {len(self.states)}")
        views = [After(i.rule, self.env(i), now) for i in self.instances]
        chosen = [equality(taken, k) for k in range(len(self.instances))]
        facts = [disjunction(chosen)]
        for k, instance in enumerate(self.instances):
            facts.append(disjunction([negation(chosen[k]), self.tr.enabled(instance.rule, self.env(instance), now)]))
        for c in self.layout.cells:
            old = self.tr.read(now, c.field, c.at)
            value = old
            for k, view in enumerate(views):
                if c.field in view.updates:
                    value = choice(chosen[k], self.tr.read(view, c.field, c.at), value)
            facts.append(equality(self.tr.read(then, c.field, c.at), value))
        assert_all(self.solver, [solver_term(f) for f in facts if f is not True])
        self.states.append(then)
        self.taken.append(taken)

    def broken(self, claim: Claim) -> Any:
        """Whether the claim is broken at the end of the run."""
        last, before = self.states[-1], self.states[-2] if len(self.states) > 1 else self.states[-1]
        now, then = (before, last) if claim.shape.name == "STEP" else (last, None)
        return negation(self.tr.value(claim.whole, {}, now, then))


def bmc(
    model: Model,
    world: World,
    claims: Sequence[Claim],
    most: int,
    timeout: float,
    observe: Callable[[int], None] = lambda n: None,
) -> Run:
    """Look for a shortest run, of at most so many steps, that breaks a claim; the interpreter runs it again."""
    began = time.monotonic()
    runs = Unrolled(model, world, timeout)
    there = [c for c in claims if evaluate(c.needs, world)]
    for depth in range(most + 1):
        observe(depth)
        if depth:
            runs.grow()
        wanted = {c.name: runs.broken(c) for c in there}
        runs.solver.push()
        assert_all(runs.solver, [solver_term(disjunction(wanted.values()))])
        answer = runs.solver.check()
        if answer == z3.sat:
            found = runs.solver.model()
            events = tuple(runs.instances[found.eval(t).as_long()] for t in runs.taken)
            broken = tuple(
                n for n, v in wanted.items() if v is True or (v is not False and z3.is_true(found.eval(v, True)))
            )
            return Run(depth, time.monotonic() - began, events, broken)
        runs.solver.pop()
        if answer != z3.unsat:
            return Run(depth, time.monotonic() - began, unknown=True)
    return Run(most, time.monotonic() - began)
