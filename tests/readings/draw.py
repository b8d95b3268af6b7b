"""Random well-sorted terms, states, rules and properties over the small state."""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import Any

from hypothesis import strategies as st

from model.language import (
    Index,
    Model,
    Property,
    Rule,
    Term,
    assume,
    before,
    count,
    every,
    exists,
    forall,
    guard,
    implies,
    ite,
    model,
    prop,
    rule,
    step,
    total,
)
from model.language.terms import BOOL, INT, Moment, Op, Sort, Var, enum_sort, lift
from model.readings.layout import Layout
from model.readings.world import World, world
from tests.language.small import (
    DIALS,
    Amount,
    Colour,
    Job,
    Place,
    Small,
    Who,
    debt,
    height,
    jobs,
    shade,
    strict,
    top,
    weight,
)

COLOUR = enum_sort(Colour)

# Small enough to be quick, and each with something of its own; the last is below zero, so no state of it is bytes.
WORLDS: dict[str, dict[str, Any]] = {
    "one": {"jobs": 1, "places": 1},
    "two": {"jobs": 2, "places": 2, "strict": True, "shade": "green", "weight": [0, 2], "height": [0, 2]},
    "three": {"jobs": 3, "places": 3, "top": 2, "weight": [1, 3, 1]},
    "debt": {"jobs": 2, "places": 2, "debt": 3, "strict": True, "top": 1},
}


SMALL = model("small", Small, DIALS, ())


def made(name: str) -> World:
    return world(SMALL, name, WORLDS[name])


class Drawer:
    """Draws terms; `members` and `amounts` are the variables in scope, `views` the states that may be read."""

    def __init__(self, draw: Callable[..., Any], views: tuple[Small, ...], scope: tuple[Term, ...]) -> None:
        self.draw, self.views, self.scope = draw, views, list(scope)

    def pick(self, *options: Any) -> Any:
        return self.draw(st.sampled_from(options))

    def view(self) -> Small:
        view: Small = self.pick(*self.views)
        return view

    def member(self, index: type[Index]) -> Any:
        """A member: a variable in scope or, of an ordered index, the first or a next one."""
        found = [t for t in self.scope if isinstance(t, index)]
        if index.ordered:
            found = [*found, index.first(), *(t.next for t in found), index.first().next]
        return self.pick(*found)

    def within(self, variable: Term, draw: Callable[[int], Term], depth: int) -> Term:
        self.scope.append(variable)
        drawn = draw(depth)
        self.scope.pop()
        return drawn

    def over(self, word: Callable[..., Term], draw: Callable[[int], Term], depth: int) -> Term:
        """A quantifier or a sum over either index."""
        return word(self.pick(Job, Place), lambda q: self.within(q, draw, depth - 1))

    # --------------------------------------------------------------------------------------- sorts
    def of(self, sort: Sort, depth: int) -> Term:
        return {BOOL: self.truth, INT: self.whole, COLOUR: self.colour}[sort](depth)

    def truth(self, depth: int) -> Term:
        if depth == 0:
            s = self.view()
            return lift(self.pick(True, False, s.open, s.busy[self.member(Job)], s.lit[self.member(Place)], strict))
        deep = depth - 1
        plain = ("not", "and", "or", "implies", "ite", "same", "order", "members", "places", "quantifier")
        kind = self.pick(*plain, "of one cell", "twice")
        match kind:
            case "not":
                return ~self.truth(deep)
            case "and":
                return self.truth(deep) & self.truth(deep)
            case "or":
                return self.truth(deep) | self.truth(deep)
            case "implies":
                return implies(self.truth(deep), self.truth(deep))
            case "ite":
                return ite(self.truth(deep), self.truth(deep), self.truth(deep))
            case "same":
                sort = self.pick(BOOL, INT, COLOUR)
                return self.compared(Op.EQ, Op.NE, self.of(sort, deep), self.of(sort, deep))
            case "order":
                return self.compared(Op.LT, Op.LE, Op.GT, Op.GE, self.whole(deep), self.whole(deep))
            case "members":
                return self.compared(Op.EQ, Op.NE, self.member(Job), self.member(Job))
            case "places":
                operators = (Op.EQ, Op.NE, Op.LT, Op.LE, Op.GT, Op.GE)
                return self.compared(*operators, self.member(Place), self.member(Place))
            case "of one cell":
                return self.of_one_cell()
            case "twice":
                again = self.truth(deep)
                return self.either(again, ~again if self.pick(True, False) else again)
        return self.over(self.pick(forall, exists), self.truth, depth)

    def either(self, a: Term, b: Term) -> Term:
        return a & b if self.pick(True, False) else a | b

    def of_one_cell(self) -> Term:
        """What the writing out simplifies: one cell against two constants, which may be equal."""
        cell, constants = self.pick((self.whole(0), (0, 1, 2)), (self.colour(0), tuple(Colour)))
        one, two = (self.compared(Op.EQ, Op.NE, cell, self.pick(*constants)) for _ in range(2))
        return self.either(one, two)

    def compared(self, *operators_and_sides: Any) -> Term:
        *operators, left, right = operators_and_sides
        signs: dict[Op, Callable[[Any, Any], Any]] = {
            Op.EQ: lambda a, b: a == b,
            Op.NE: lambda a, b: a != b,
            Op.LT: lambda a, b: a < b,
            Op.LE: lambda a, b: a <= b,
            Op.GT: lambda a, b: a > b,
            Op.GE: lambda a, b: a >= b,
        }
        result: Term = signs[self.pick(*operators)](left, right)
        return result

    def whole(self, depth: int) -> Term:
        if depth == 0:
            s, j, p = self.view(), self.member(Job), self.member(Place)
            amounts = [t for t in self.scope if isinstance(t, Amount)]
            fields = (s.balance, s.level[j], s.load[p, j], s.extra[j])
            return lift(self.pick(-1, 0, 1, 2, top, jobs, weight[j], *fields, *amounts))
        deep = depth - 1
        match self.pick("add", "sub", "mul", "ite", "count", "total", "before"):
            case "add":
                return self.whole(deep) + self.whole(deep)
            case "sub":
                return self.whole(deep) - self.whole(deep)
            case "mul":
                sides = [self.factor(), self.whole(deep)]
                left, right = self.pick(sides, sides[::-1])
                return lift(left * right)
            case "ite":
                return ite(self.truth(deep), self.whole(deep), self.whole(deep))
            case "count":
                return self.over(count, self.truth, depth)
            case "total":
                return self.over(total, self.whole, depth)
        return before(self.member(Place), lambda q: self.within(q, self.whole, deep))

    def factor(self) -> Any:
        """A number that the dials decide."""
        several = ite(strict, 2, total(Place, lambda q: height[q]))
        return self.pick(-1, 0, 1, 2, top - 2, debt, weight[self.member(Job)], several)

    def colour(self, depth: int) -> Term:
        if depth == 0:
            s = self.view()
            fields = (s.turn, s.colour[self.member(Job)], s.paint[self.member(Place)])
            return lift(self.pick(*Colour, shade, *fields))
        return ite(self.truth(depth - 1), self.colour(depth - 1), self.colour(depth - 1))


NOW, THEN = Small(Moment.NOW), Small(Moment.THEN)
PARAMS = (Job.variable("j"), Place.variable("p"), Amount.variable("n"))


@st.composite
def terms(draw: Callable[..., Any], views: tuple[Small, ...] = (NOW, THEN), depth: int = 3) -> Term:
    """A term of any sort that a cell can have, whose free variables are PARAMS."""
    return Drawer(draw, views, PARAMS).of(draw(st.sampled_from([BOOL, INT, COLOUR])), depth)


def environment(layout: Layout) -> st.SearchStrategy[dict[Var, int]]:
    """A choice for each of PARAMS."""
    sizes = (layout.sizes[Job] - 1, layout.sizes[Place] - 1, layout.world.values["top"])
    return st.fixed_dictionaries({v.data: st.integers(0, s) for v, s in zip(PARAMS, sizes, strict=True)})


def states(layout: Layout, count: int) -> st.SearchStrategy[list[tuple[int, ...]]]:
    """Any states within their bounds, whether they can be reached or not."""

    def draw(seed: int) -> list[tuple[int, ...]]:
        chance = random.Random(seed)
        return [tuple(chance.randint(c.low, c.high) for c in layout.cells) for _ in range(count)]

    return st.integers(0, 1 << 30).map(draw)


# ---------------------------------------------------------------------------------- rules and properties
def some_rules(draw: Callable[..., Any]) -> tuple[Rule, ...]:
    """A rule with guards of its parameters and updates here and there, and one that writes everything at once."""

    def here(now: Small, after: Small, j: Job, p: Place, n: Amount) -> None:
        drawn = Drawer(draw, (now,), (j, p, n))
        for number in range(drawn.pick(1, 2, 3)):
            (assume if number == 1 else guard)(f"guard-{number}", drawn.truth(2))
        after.colour[j] = drawn.colour(1)
        after.balance = drawn.whole(2)
        after.load[drawn.pick(p, p.next, Place.first()), j] = settled(drawn, n)
        after.extra[j] = settled(drawn, now.extra[j])
        if drawn.pick(True, False):
            after.open = drawn.truth(2)

    def everywhere(now: Small, after: Small) -> None:
        drawn = Drawer(draw, (now,), ())
        for q in every(Job):
            drawn.scope = [q, Place.first()]
            after.busy[q] = drawn.truth(1)
            after.level[q] = settled(drawn, now.level[q])
        for i in every(Place):
            drawn.scope = [i]
            after.lit[i] = now.lit[i.next]
            after.paint[i.next] = ite(now.open, now.paint[i], Colour.RED)
            for q in every(Job):
                drawn.scope = [i, q]
                after.load[i, q] = settled(drawn, now.load[i.next, q])

    return rule(by=Who.WORKER)(here), rule(by=Who.WORKER)(everywhere)


def settled(drawn: Drawer, otherwise: Term) -> Term:
    """A number that mostly lies within the bounds, so that not every step leaves them."""
    value = drawn.whole(1)
    return ite((value >= 0) & (value <= top), value, otherwise)


def some_properties(draw: Callable[..., Any]) -> tuple[Property, ...]:
    """Of states and of steps; some are conjunctions, so that only a part of them may have to be looked at."""

    def of_states(s: Small) -> Term:
        drawn = Drawer(draw, (s,), ())
        return forall(Job, lambda j: forall(Place, lambda p: with_members(drawn, j, p)))

    def of_levels(s: Small) -> Term:
        """Often so in a random state, and often not after a step."""
        drawn = Drawer(draw, (s,), ())
        return forall(Job, lambda j: (s.level[j] <= 1) & (s.balance <= 1) | with_members(drawn, j, Place.first()))

    def of_steps(before: Small, then: Small) -> Term:
        drawn = Drawer(draw, (before, then), ())
        return forall(Job, lambda j: with_members(drawn, j, Place.first()))

    def of_changes(before: Small, then: Small) -> Term:
        """Always so where nothing changes, so that it is steps that break it."""
        drawn = Drawer(draw, (before, then), ())
        same = (then.balance == before.balance) & (then.open == before.open)
        return forall(
            Job, lambda j: (same & (then.level[j] == before.level[j])) | with_members(drawn, j, Place.first())
        )

    return prop()(of_states), prop()(of_levels), step()(of_steps), step()(of_changes)


def with_members(drawn: Drawer, *members: Term) -> Term:
    drawn.scope = list(members)
    return drawn.truth(2) | drawn.truth(1)


@st.composite
def models(draw: Callable[..., Any]) -> tuple[Model, tuple[Property, ...]]:
    return model("small", Small, DIALS, some_rules(draw)), some_properties(draw)
