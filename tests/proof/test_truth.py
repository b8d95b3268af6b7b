"""Whatever a proof is told is true: a law that is false of one reached state could prove anything.

Each rule's proofs are run as the command runs them, and all that was said on the way, of whichever members, is kept. Then a
reached state is stated to the solver in full (cells, dials, sums up to every place, products), with the proof's names for
members of the world, and all of it must be possible together.
"""

from __future__ import annotations

import itertools
import random
from collections.abc import Iterator
from typing import Any

import pytest
import z3

from checker.proof.attempt import Attempt
from checker.proof.induction import Goal, Work
from checker.proof.prove import Scope, Task, work
from checker.search.explore import Exploration, explore
from checker.search.limits import Limits
from model.language.properties import Shape
from model.language.state import Field
from model.language.terms import Index, Range
from model.lifecycle import LIFECYCLE
from model.readings.effects import false_guards
from model.readings.interpret import Interpreter
from model.readings.layout import Layout
from model.readings.python import Machine
from model.readings.said import Level, Name
from model.readings.solver import solver_term
from model.readings.world import World
from tests.proof.scopes import WHOLE
from tests.search.running import world_of

SOME = 3  # so many goals are spoken of to the end
ASSIGNMENTS = 4  # of names to members, for each state


class Spoken:
    """A rule's proofs, when they are done, and what was said in them."""

    def __init__(self, scope: Scope, rule: str) -> None:
        # What has a hint takes long without; it is told more of the same, and left out here.
        hinted = WHOLE.hints.get(rule, {})
        inductive = [c for c in scope.claims if c.shape is not Shape.REST and c.name not in hinted]
        theory = scope.theory({c.name for c in scope.hypotheses} - set(scope.apart))
        touched = [c.name for c in inductive if c.reads & LIFECYCLE.rule(rule).writes()]
        self.work: Work = work(scope, theory, Task(rule, tuple(touched)))
        self.answers = {o.answer for o in self.work.prove()}
        self.tr = self.work.tr
        for goal in self.work.goals[:: -(-len(self.work.goals) // SOME)]:
            self.to_the_end(goal)
        self.levels: list[Level] = [self.tr.ground, self.work.level, *(g.level for g in self.work.goals)]

    def to_the_end(self, goal: Goal) -> None:
        """All that would be said if nothing less proved the goal."""
        attempt = Attempt(self.work, self.work.query(self.work.common, self.work.usual), goal, set())
        for step in attempt.widening():
            step()
            attempt.state()

    def said(self) -> Iterator[Any]:
        for level in self.levels:
            for by_tag in level.facts.values():
                for facts in by_tag.values():
                    yield from facts
        yield from self.work.theory.base
        yield from self.work.theory.literals.values()
        yield from self.work.guards

    def bases(self) -> list[Name]:
        """The members that are named by themselves; a hidden one is whatever it must be."""
        names = {n._replace(offset=0): None for n in self.tr.names if isinstance(n, Name)}
        return [n for n in names if n.base and "~" not in n.base]


class Reached:
    """A state of a world, and what the solver's symbols are in it."""

    def __init__(self, spoken: Spoken, world: World, state: tuple[int, ...], at: tuple[int, ...]) -> None:
        self.spoken, self.tr, self.layout = spoken, spoken.tr, Layout(LIFECYCLE, world)
        self.state, self.at = state, at
        self.interpreter = Interpreter(world, self.layout.reader(state, state))
        self.members = {i: [self.member(i, m) for m in range(size)] for i, size in self.layout.sizes.items()}

    def member(self, index: type[Index], number: int) -> Any:
        if index.ordered:
            return z3.IntVal(number)
        return z3.Const(f"the {index.short}{number}", self.tr.index_sort(index))

    def facts(self) -> Iterator[Any]:
        for index, members in self.members.items():
            if not index.ordered:
                yield z3.Distinct(*members) if len(members) > 1 else z3.BoolVal(True)
        yield from self.dials()
        yield from self.cells()
        yield from self.sums()
        for level in self.spoken.levels:
            for p in level.products.values():
                yield solver_term(p.value) == self.number(p.dial) * solver_term(p.factor)

    def number(self, dial: Any) -> int:
        return int(self.layout.world.values[str(dial)])

    def dials(self) -> Iterator[Any]:
        for dial in LIFECYCLE.dials:
            value = self.layout.world.values[dial.name]
            if dial.index is None:
                yield solver_term(self.tr.dial(dial, ())) == solver_term(value)
            elif dial in self.tr.names:
                function = self.tr.names[dial]
                yield from (function(m) == solver_term(value[n]) for n, m in enumerate(self.members[dial.index]))

    def cells(self) -> Iterator[Any]:
        for key, function in self.tr.names.items():
            if isinstance(key, tuple) and isinstance(key[-1], Field):
                field = key[-1]
                for at in itertools.product(*(range(self.layout.sizes[i]) for i in field.indices)):
                    place = self.layout.position.get((field, at))
                    value = field.initial if place is None else self.layout.value(self.state, place)
                    yield function(*self.named(field.indices, at)) == solver_term(value)

    def sums(self) -> Iterator[Any]:
        for kind in self.tr.sums.values():
            domains = [v.domain for v in kind.parameters]
            size = self.layout.sizes[kind.index]
            for at in itertools.product(*(range(self.layout.sizes[d]) for d in domains)):
                env = dict(zip(kind.parameters, at, strict=True))
                values = [int(self.interpreter.value(kind.body, {**env, kind.variable: m})) for m in range(size)]
                named = self.named(domains, at)
                if not kind.index.ordered:
                    yield kind.function(*named) == sum(values)
                else:
                    yield from (
                        kind.function(*named, z3.IntVal(stop)) == sum(values[:stop]) for stop in range(size + 1)
                    )

    def named(self, indices: Any, at: tuple[int, ...]) -> list[Any]:
        return [self.members[i][m] for i, m in zip(indices, at, strict=True)]

    def names(self, choose: random.Random) -> Iterator[Any]:
        """The rule's parameters are what they are; any other name may be of any member."""
        assert self.spoken.work.after is not None
        chosen: dict[Any, int] = {}
        for variable, number in zip(self.spoken.work.after.params, self.at, strict=True):
            parameter: Any = self.spoken.work.after.params[variable]
            if issubclass(variable.domain, Range):
                yield solver_term(self.tr.number(parameter)) == number
            else:
                chosen[parameter] = number
        for name in self.spoken.bases():
            number = chosen.get(name, choose.randrange(self.layout.sizes[name.of]))
            yield self.tr.term_of(name) == self.members[name.of][number]
        for name in self.tr.names:
            if isinstance(name, Name) and "~" in name.base and not name.of.ordered:
                yield z3.Or(*(self.tr.term_of(name) == m for m in self.members[name.of]))


@pytest.fixture(scope="module")
def explored() -> list[Exploration]:
    """The first states of some worlds, with nothing forgotten."""
    worlds = [world_of(w) for w in ("solo-window", "shared-prefix-window", "ordered-release")]
    return [explore(Machine(LIFECYCLE, w, [], forgetful=False), limits=Limits(states=6000)) for w in worlds]


def runs(world: Exploration, rule: str) -> list[tuple[tuple[int, ...], tuple[int, ...]]]:
    """States in which the rule may fire, with the members that it may fire for; a few of the last."""
    layout = world.machine.layout
    instances = [i for i in world.machine.instances if i.rule.name == rule]
    fires = ((tuple(s), i.at) for s in reversed(world.states) for i in instances)
    found = ((s, at) for s, at in fires if not false_guards(layout, LIFECYCLE.rule(rule), at, s))
    return list(itertools.islice(found, 0, 200, 100))


@pytest.mark.parametrize("rule", ["launch", "recycle", "execute", "retire_token", "hit", "preempt"])
def test_all_that_a_proof_is_told_is_true_of_reached_states(rule: str, explored: list[Exploration]) -> None:
    spoken = Spoken(WHOLE, rule)
    assert spoken.answers == {"proved"}
    tried = 0
    for world in explored:
        for state, at in runs(world, rule):
            reached = Reached(spoken, world.machine.layout.world, state, at)
            solver = z3.Solver()
            solver.add(*spoken.said(), *reached.facts())
            for seed in range(ASSIGNMENTS):
                solver.push()
                solver.add(*reached.names(random.Random(seed)))
                assert solver.check() == z3.sat, f"{rule} from {state} in {reached.layout.world.name}, names {seed}"
                solver.pop()
                tried += 1
    assert tried >= ASSIGNMENTS
