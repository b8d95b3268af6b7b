"""Counterexamples to induction, explained.

An obligation that stays open is first of all a question: is there a state that satisfies every hypothesis, from which
the rule breaks the claim? It is searched for sized, with everything written out, in the shipped worlds and then in
others, so that what is found is a state and not a gap in the instances. The step is replayed by the interpreter before
anything is said. Then the world is explored: a state that is reached (up to renaming) makes the counterexample real, with
a trace; one that is not shows that an invariant is missing, and what no reached state has together says which.
"""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import Any

import z3

from checker.proof.claims import Claim
from checker.proof.prove import START, Scope
from checker.replay.trace import Trace, trace_of
from checker.search.explore import Exploration, Found, explore
from checker.search.limits import Limits
from checker.search.symmetry import Symmetry
from checker.variation import Variation
from checker.verdict import Disagreement
from model.language.model import Model
from model.language.properties import Property, Shape
from model.language.rules import Rule
from model.language.terms import BOOL, INT, Range, Term, Var
from model.readings.effects import after, false_guards, forgotten
from model.readings.ground import argument
from model.readings.interpret import evaluate
from model.readings.layout import Layout, code
from model.readings.prose import Explanation, explain
from model.readings.python import Machine, TooLarge
from model.readings.sized import NOWHERE, Sized
from model.readings.smt import After, Initial, Symbolic, View
from model.readings.solver import assert_all, at_most, conjunction, equality, known, negation, solver_term
from model.readings.world import World

State = tuple[int, ...]

# Sizes that are tried beyond the shipped worlds; the other dials are left to the solver.
SIZED = ("requests", "blocks", "depth", "workers")
SIZES = (
    (1, 1, 1, 1),
    (2, 2, 1, 1),
    (2, 2, 2, 1),
    (2, 3, 1, 1),
    (3, 2, 1, 1),
    (3, 3, 1, 1),
    (3, 3, 2, 1),
    (4, 2, 1, 1),
    (4, 4, 1, 1),
    (2, 2, 2, 2),
)
SMALL = 4  # what numbers among those dials may be at most


@dataclass(frozen=True)
class Step:
    """A state of a world that satisfies the hypotheses, and the step from it that breaks the claim."""

    world: World
    rule: Rule | None
    at: tuple[int, ...]
    before: State
    then: State
    claim: Claim
    term: Term

    @property
    def text(self) -> str:
        assert self.rule is not None
        names = [argument(v, m) for v, m in zip(self.rule.params, self.at, strict=True)]
        return f"{self.rule.name}({', '.join(names)})" if names else self.rule.name


@dataclass(frozen=True)
class Counterexample:
    """A step that induction cannot exclude, and what exploring its world says of it.

    `trace`: the way to it, if it is real. `states`: how many states the world has (up to renaming); `bound`: what stopped
    the exploration. `apart`: cells of the state that no reached state has together.
    """

    step: Step
    layout: Layout
    why: Explanation | None
    states: int
    bound: str | None
    trace: Trace | None = None
    same_state: bool = False
    apart: tuple[str, ...] = ()

    @property
    def real(self) -> bool:
        return self.trace is not None


class Finder:
    """Looks for steps that break a claim although every hypothesis holds before, in sized models."""

    def __init__(self, scope: Scope) -> None:
        self.scope = scope
        self.prepared: dict[tuple[str, bool], tuple[Sized, Symbolic, Any]] = {}
        self.found = 0  # steps that were found

    def find(self, worlds: Sequence[World], where: str, claim: Claim, timeout: float = 60.0) -> Step | None:
        """The first step found: in the worlds in their order, then in other sizes."""
        if (known := self.among(worlds, where, claim, timeout)) is not None:
            return known
        rule = self._rule(where)
        for sizes in SIZES:
            found = self.in_world({**sized(self.scope.model, sizes), **self.scope.fixed}, where, rule, claim, timeout)
            if found is not None:
                return found
        return None

    def among(
        self, worlds: Sequence[World], where: str, claim: Claim, timeout: float = 60.0, most: int | None = None
    ) -> Step | None:
        """The first step found in the worlds in their order; in those first of them, if there is a `most`, that fit at all."""
        rule = self._rule(where)
        for world in [w for w in worlds if self._fits(w, rule, claim)][:most]:
            found = self.in_world(world.values, where, rule, claim, timeout)
            if found is not None:
                return replace(found, world=world)
        return None

    def _rule(self, where: str) -> Rule | None:
        return next((r for r in self.scope.rules if r.name == where), None)

    def _fits(self, world: World, rule: Rule | None, claim: Claim) -> bool:
        wanted = [self.scope.assumption, claim.needs, *([rule.needs] if rule else [])]
        fixed = all(world.values.get(name) == value for name, value in self.scope.fixed.items())
        return fixed and all(evaluate(t, world) for t in wanted)

    def in_world(
        self, values: Mapping[str, Any], where: str, rule: Rule | None, claim: Claim, timeout: float
    ) -> Step | None:
        tr, now, solver = self._prepare(values, where == START)
        if any(
            v is False
            for v in (tr.value(claim.needs, {}, NOWHERE), tr.value(rule.needs, {}, NOWHERE) if rule else True)
        ):
            return None
        solver.set("timeout", int(timeout * 1000))
        for env in tr.instances(rule) if rule else [{}]:
            for term in claim.parts:
                view = After(rule, env, now) if rule else (Initial() if where == START else now)
                views: tuple[View, View | None] = (now, view) if claim.shape is Shape.STEP else (view, None)
                broken = negation(tr.value(term, {}, *views))
                enabled = tr.enabled(rule, env, now) if rule else self._stuck(tr, now, claim)
                if broken is False or enabled is False:
                    continue
                with aside(solver):
                    assert_all(solver, [solver_term(broken), solver_term(enabled)])
                    if solver.check() == z3.sat and shrink(solver, tr, now, self.scope.model):
                        step = self._step(tr, now, solver.model(), rule, env, claim, term)
                        self.confirm(step, () if where == START else self.scope.hypotheses)
                        self.found += 1
                        return step
        return None

    def _prepare(self, values: Mapping[str, Any], start: bool) -> tuple[Sized, Symbolic, Any]:
        """Everything of these sizes, and a solver that was told what holds of every state, or, at the start, of every world."""
        key = repr(sorted(values.items())), start
        if key not in self.prepared:
            tr, now, solver = Sized(self.scope.model, values), Symbolic(), z3.Solver()
            facts = small_world(tr, self.scope)
            if not start:
                facts.append(tr.within_bounds(now))
                facts += [tr.value(part, {}, now) for h in self.scope.hypotheses for part in h.parts]
            assert_all(solver, [solver_term(f) for f in facts if f is not True])
            self.prepared[key] = tr, now, solver
        return self.prepared[key]

    def _stuck(self, tr: Sized, now: Symbolic, claim: Claim) -> Any:
        """That the claim's rules are stuck, if it is about dead ends; of a number it is enough that the least enables none."""
        if claim.shape is not Shape.REST:
            return True
        rules = [r for r in self.scope.rules if r.name not in claim.apart_from]
        return conjunction(
            negation(tr.enabled(r, {**env, **self._least(tr, r)}, now)) for r in rules for env in tr.instances(r)
        )

    def _least(self, tr: Sized, rule: Rule) -> dict[Var, Any]:
        return {v: tr.value(v.domain.low, {}, NOWHERE) for v in rule.params if issubclass(v.domain, Range)}

    def _step(
        self, tr: Sized, now: Symbolic, found: Any, rule: Rule | None, env: Mapping[Var, Any], claim: Claim, term: Term
    ) -> Step:
        """The solver's model as a world and a state, replayed by the interpreter."""
        world = world_of(self.scope.model, tr, found)
        layout = Layout(self.scope.model, world)
        before = tuple(plain(found, tr.cell(now, c.field, c.at), c.field.sort) for c in layout.cells)
        at = tuple(plain(found, tr.number(env[v]), INT) for v in rule.params) if rule else ()
        then = tuple(after(layout, rule, at, before)) if rule else before
        return Step(world, rule, at, before, then, claim, term)

    def confirm(self, step: Step, hypotheses: Sequence[Claim]) -> None:
        """The interpreter must find the hypotheses true, the rule enabled, and the claim broken by the step."""
        layout = Layout(self.scope.model, step.world)
        said = f"the solver finds a step of {step.text if step.rule else 'no rule'} that breaks {step.claim.name}"
        if step.rule is not None and (bad := false_guards(layout, step.rule, step.at, step.before)):
            raise Disagreement(
                f"{said}, but the interpreter finds its guards {', '.join(bad)} false; please report this."
            )
        for h in hypotheses:
            if not evaluate(h.whole, step.world, {}, layout.reader(step.before)):
                raise Disagreement(f"{said}, but the interpreter finds {h.name} false before it; please report this.")
        states = (step.before, step.then) if step.claim.shape is Shape.STEP else (step.then,)
        if evaluate(step.claim.whole, step.world, {}, layout.reader(*states)):
            raise Disagreement(f"{said}, but the interpreter finds that it holds; please report this.")


@contextmanager
def aside(solver: Any) -> Iterator[None]:
    """What the solver is told now, at whatever depth, is taken back at the end."""
    depth = solver.num_scopes()
    solver.push()
    try:
        yield
    finally:
        solver.pop(solver.num_scopes() - depth)


def shrink(solver: Any, tr: Sized, now: Symbolic, model: Model) -> bool:
    """Make what the solver finds simple: as many open dials at their least, and cells as at the start, as can be.

    False if time was up before the solver had found the same once more.
    """
    wishes = [equality(tr.dial(d, at), d.low) for d, at in tr.open_dials() if d.sort == INT]
    wishes += [equality(tr.dial(d, at), d.default) for d, at in tr.open_dials() if d.sort != INT]
    for field in model.state.fields():
        cells = [tr.read(now, field, at) for at in tr.positions(field.indices)]
        wishes += [equality(c, field.initial) for c in cells if not known(c)]
    for wish in wishes:
        solver.push()
        assert_all(solver, [solver_term(wish)])
        if solver.check() != z3.sat:
            solver.pop()
    return bool(solver.check() == z3.sat)


def sized(model: Model, sizes: Sequence[int]) -> dict[str, Any]:
    """Values for the dials that size an index."""
    names = {d.name for d in model.dials}
    return {n: s for n, s in zip(SIZED, sizes, strict=True) if n in names}


def small_world(tr: Sized, scope: Scope) -> list[Any]:
    """The open dials make a world that the scope is about, with small numbers."""
    small = [at_most(tr.dial(d, at), SMALL) for d, at in tr.open_dials() if d.sort == INT]
    return [tr.worldly(), tr.value(scope.assumption, {}, NOWHERE), *small]


def world_of(model: Model, tr: Sized, found: Any) -> World:
    """The world that a model of the solver chose."""
    values = dict(tr.fixed)
    for dial in model.dials:
        if dial.name not in values:
            at = [(m,) for m in range(tr.size(dial.index))] if dial.index else [()]
            made = [plain_value(found, tr.dial(dial, a), dial.sort) for a in at]
            values[dial.name] = tuple(made) if dial.index else made[0]
    sizes = " ".join(f"{n} {values[n]}" for n in SIZED if n in values)
    return World(f"with {sizes}", {d.name: values[d.name] for d in model.dials})


def plain(found: Any, term: Any, sort: Any) -> int:
    return code(sort, plain_value(found, term, sort))


def plain_value(found: Any, term: Any, sort: Any) -> Any:
    """A term's value in the solver's model, as the language has it."""
    if known(term):
        return term
    value = found.eval(term, model_completion=True)
    if sort == BOOL:
        return z3.is_true(value)
    if sort == INT:
        return value.as_long()
    return next(m for m in sort.of if f"{sort.name}.{m.name}" == str(value))


# ------------------------------------------------------------------------------------------------ is it real?
class Judge:
    """Explores the worlds of counterexamples, each once."""

    def __init__(self, variation: Variation, properties: Sequence[Property], states: int = 300_000) -> None:
        self.variation, self.properties = variation, {p.name: p for p in properties}
        self.limits = Limits(states=states)
        self.explored: dict[tuple[str, str, int | None], Exploration] = {}

    def judge(self, step: Step, most: int | None = None) -> Counterexample:
        """What exploring the world, or so many of its states, says of the step."""
        layout = Layout(self.variation.model, step.world)
        states = (step.before, step.then) if step.claim.shape is Shape.STEP else (step.then,)
        why = explain(layout, step.term, *states)
        try:
            explored = self.explore(step, most)
        except TooLarge as error:
            return Counterexample(step, layout, why, 0, f"the world is too large to explore: {error}")
        number = self.number(explored, layout, step.before)
        seen, bound = len(explored.states), explored.bound
        if number is not None:
            found = self.found(explored, step, number)
            return Counterexample(step, layout, why, seen, bound, trace_of(explored, found, self.variation), True)
        elsewhere = explored.violations.get(step.claim.name)
        if elsewhere is not None:
            return Counterexample(step, layout, why, seen, bound, trace_of(explored, elsewhere, self.variation))
        places = never_together(explored, layout, step.before) if bound is None else []
        apart = tuple(f"{layout.cells[p].text} = {word(layout.value(step.before, p))}" for p in places)
        return Counterexample(step, layout, why, seen, bound, apart=apart)

    def explore(self, step: Step, most: int | None = None) -> Exploration:
        limits = self.limits if most is None else Limits(states=most)
        key = repr(sorted(step.world.plain().items())), step.claim.name, most
        if key not in self.explored:
            declared = self.properties.get(step.claim.name)
            machine = Machine(self.variation.model, step.world, [declared] if declared else [])
            self.explored[key] = explore(machine, True, replace(limits, after_violation=20_000))
        return self.explored[key]

    def number(self, explored: Exploration, layout: Layout, state: State) -> int | None:
        """The state's number among those explored, up to renaming and what is forgotten; None if it is not reached."""
        kept = forgotten(layout, state) if explored.machine.forgettings else state
        packed = explored.machine.pack(kept)
        normal = explored.symmetry.normal(packed) if explored.symmetry else packed
        return next((n for n, s in enumerate(explored.states) if s == normal), None)

    def found(self, explored: Exploration, step: Step, number: int) -> Found:
        depth = len(explored.chain(number))
        if step.rule is None:
            return Found(step.claim.name, depth - 1, number, None)
        k = next(n for n, i in enumerate(explored.machine.instances) if i.rule.name == step.rule.name)
        return Found(step.claim.name, depth, number, k)


def never_together(explored: Exploration, layout: Layout, state: State) -> list[int]:
    """Few cells of a state that no reached state has together, under any renaming: what an invariant should exclude.

    Without any one of them, some reached state has the others.
    """
    differing: set[frozenset[int]] = set()
    for places in renamings(explored, layout):
        for reached in explored.states:
            differing.add(frozenset(p for p, to in enumerate(places) if reached[to] != state[p]))
    chosen: set[int] = set()
    while left := minimal([cells for cells in differing if chosen.isdisjoint(cells)]):
        while left:
            counts = Counter(p for cells in left for p in cells)
            best = max(counts, key=lambda p: (counts[p], -p))
            chosen.add(best)
            left = [cells for cells in left if best not in cells]
    for p in sorted(chosen):
        if not any(cells & chosen == {p} for cells in differing):
            chosen.remove(p)
    return sorted(chosen)


def word(value: Any) -> str:
    return str(getattr(value, "name", value))


def minimal(sets: Sequence[frozenset[int]]) -> list[frozenset[int]]:
    """Some of the smallest sets; to meet these is nearly to meet all."""
    kept: list[frozenset[int]] = []
    for candidate in sorted(sets, key=len):
        if not any(k <= candidate for k in kept):
            kept.append(candidate)
        if len(kept) >= 1000:
            break
    return kept


def renamings(explored: Exploration, layout: Layout) -> Iterator[list[int]]:
    """For each renaming of members that can be told apart by nothing but the state: where each cell's place goes."""
    symmetry = explored.symmetry or Symmetry(layout, explored.machine.pack)
    free = list(symmetry.classes)
    for orders in itertools.product(*(itertools.permutations(range(layout.sizes[i])) for i in free)):
        if all(
            symmetry.classes[i][m] == symmetry.classes[i][o]
            for i, order in zip(free, orders, strict=True)
            for m, o in enumerate(order)
        ):
            to = dict(zip(free, orders, strict=True))
            yield [
                layout.position[
                    c.field, tuple(to[i][m] if i in to else m for i, m in zip(c.field.indices, c.at, strict=True))
                ]
                for c in layout.cells
            ]
