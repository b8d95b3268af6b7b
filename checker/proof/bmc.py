"""Bounded symbolic checking: every run of a world up to a number of steps, as one formula.

The steps of a run are unknowns (which rule, with which members), and so are the states between. The number of steps
grows by one until the negation of some property can be satisfied, so what is found first is shortest; that nothing is
broken after fewer is kept, which is what makes longer runs bearable. It says nothing of longer runs, and is a check of the
solver's reading against the explorer rather than a way to explore.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import z3

from checker.proof.claims import Claim, stuck
from checker.proof.query import WAYS
from model.language.model import Model
from model.language.properties import Shape
from model.language.terms import Var
from model.readings.ground import Instance, instances
from model.readings.interpret import evaluate
from model.readings.layout import Layout
from model.readings.sized import Sized
from model.readings.smt import After, Symbolic
from model.readings.solver import (
    BOOLS,
    assert_all,
    check_assuming,
    conjunction,
    constant_of,
    disjunction,
    equality,
    implication,
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
        self.solver = z3.SimpleSolver()
        # All that is asserted matters here, so to find out what does is time lost.
        self.solver.set(timeout=int(timeout * 1000), **WAYS, **{"smt.relevancy": 0})
        self.instances = instances(self.layout)
        self.states = [Symbolic("0:")]
        self.taken: list[list[Any]] = []  # of each step and instance, whether it is the one
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
        views = [After(i.rule, self.env(i), now) for i in self.instances]
        chosen = [constant_of(f"step {len(self.states)} is {i.text}", BOOLS) for i in self.instances]
        facts = [disjunction(chosen), z3.AtMost(*chosen, 1)]
        for taken, instance in zip(chosen, self.instances, strict=True):
            facts.append(implication(taken, self.tr.enabled(instance.rule, self.env(instance), now)))
        for c in self.layout.cells:
            old, new = (self.tr.read(view, c.field, c.at) for view in (now, then))
            writers = []
            for taken, view in zip(chosen, views, strict=True):
                written = self.tr.read(view, c.field, c.at) if c.field in view.updates else old
                if equality(written, old) is not True:
                    writers.append(taken)
                    facts.append(implication(taken, equality(new, written)))
            facts.append(disjunction([*writers, equality(new, old)]))
        assert_all(self.solver, facts)
        self.states.append(then)
        self.taken.append(chosen)

    def broken(self, claim: Claim) -> Any:
        """Whether the claim is broken at the end of the run; one about rest, where no other rule is enabled."""
        last = self.states[-1]
        now, then = (self.states[-2], last) if claim.shape is Shape.STEP else (last, None)
        wrong = negation(self.tr.value(claim.whole, {}, now, then))
        if claim.shape is not Shape.REST:
            return wrong
        others = [r for r in self.model.rules if r.name not in claim.apart_from]
        return conjunction([wrong, *(self.tr.value(stuck(r), {}, last) for r in others)])

    def events(self, found: Any) -> tuple[Instance, ...]:
        """The steps of the run that was found."""
        return tuple(i for step in self.taken for t, i in zip(step, self.instances, strict=True) if found.eval(t))


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
        wanted = {c.name: runs.broken(c) for c in there if depth or c.shape is not Shape.STEP}
        some = constant_of(f"broken after {depth}", BOOLS)
        assert_all(runs.solver, [equality(some, disjunction(wanted.values()))])
        answer = check_assuming(runs.solver, [some])
        if answer == z3.sat:
            found = runs.solver.model()
            broken = tuple(n for n, v in wanted.items() if v is not False and found.eval(solver_term(v), True))
            return Run(depth, time.monotonic() - began, runs.events(found), broken)
        if answer != z3.unsat:
            return Run(depth, time.monotonic() - began, unknown=True)
        assert_all(runs.solver, [negation(some)])
    return Run(most, time.monotonic() - began)
