"""Models small enough to count by hand: lamps that are switched and burn out, and a graph whose edges name two nodes."""

from __future__ import annotations

import enum

from model.language import (
    Index,
    State,
    Term,
    at_rest,
    exists,
    field,
    flag,
    forall,
    guard,
    home,
    model,
    number,
    number_per,
    prop,
    reachable,
    rule,
    step,
    upto,
)
from model.readings.world import World, world


class Anyone(enum.Enum):
    ANYONE = "anyone"


# -------------------------------------------------------------------------------------------------- lamps
count_of_lamps = number("lamps", "how many lamps there are", low=1)


class Lamp(Index, size=count_of_lamps):
    """A lamp."""


class Light(enum.Enum):
    OFF = "off"
    ON = "on"
    BURNT = "burnt"


class Room(State):
    light = field(Light, Lamp, doc="the lamp's light")


@rule(by=Anyone.ANYONE)
def switch_on(now: Room, after: Room, a: Lamp) -> None:
    """Switch a lamp on."""
    guard("off", now.light[a] == Light.OFF)
    after.light[a] = Light.ON


@rule(by=Anyone.ANYONE)
def switch_off(now: Room, after: Room, a: Lamp) -> None:
    """Switch a lamp off."""
    guard("on", now.light[a] == Light.ON)
    after.light[a] = Light.OFF


@rule(by=Anyone.ANYONE)
def burn(now: Room, after: Room, a: Lamp) -> None:
    """A lamp that is on burns out."""
    guard("on", now.light[a] == Light.ON)
    guard("whole", now.light[a] != Light.BURNT)
    after.light[a] = Light.BURNT


@prop(reason="For the tests.", witness=lambda s: exists(Lamp, lambda a: s.light[a] == Light.ON))
def some_light(s: Room) -> Term:
    """Not all lamps are burnt."""
    return exists(Lamp, lambda a: s.light[a] != Light.BURNT)


@step(reason="For the tests.", witness=lambda before, then: exists(Lamp, lambda a: then.light[a] == Light.OFF))
def stays_burnt(before: Room, then: Room) -> Term:
    """A burnt lamp is never whole again."""
    return forall(Lamp, lambda a: (before.light[a] != Light.BURNT) | (then.light[a] == Light.BURNT))


@at_rest(apart_from=(), reason="For the tests.")
def rests_lit(s: Room) -> Term:
    """Where nothing can happen, some lamp is on."""
    return exists(Lamp, lambda a: s.light[a] == Light.ON)


@home(apart_from=(burn,), reason="For the tests.")
def can_be_dark(s: Room) -> Term:
    """All lamps can be switched off."""
    return forall(Lamp, lambda a: s.light[a] == Light.OFF)


@home(apart_from=(switch_on,), reason="For the tests.")
def can_be_lit(s: Room) -> Term:
    """Some lamp can come to be on, without being switched on: not even in the beginning."""
    return exists(Lamp, lambda a: s.light[a] == Light.ON)


@reachable(reason="For the tests.")
def all_lit(s: Room) -> Term:
    """All lamps are on at once."""
    return forall(Lamp, lambda a: s.light[a] == Light.ON)


TOY = model("lamps", Room, (count_of_lamps,), (switch_on, switch_off, burn))


def lamps(count: int) -> World:
    return world(TOY, f"{count}-lamps", {"lamps": count})


# -------------------------------------------------------------------------------------------------- graphs
count_of_nodes = number("nodes", "how many nodes there are", low=1)
count_of_colours = number("colours", "how many colours there are", low=1)


class Node(Index, size=count_of_nodes):
    """A node."""


class Colour(Index, size=count_of_colours):
    """A colour a node may have."""


weight = number_per("weight", Node, "what tells nodes apart", default=0)


class Graph(State):
    mark = field(upto(1), Node, doc="the node's mark")
    edge = field(flag, Node, Node, doc="an edge from the first to the second")


@rule(by=Anyone.ANYONE)
def join(now: Graph, after: Graph, a: Node, b: Node) -> None:
    """Draw an edge from a node whose mark is not set."""
    guard("unmarked", now.mark[a] == 0)
    guard("missing", ~now.edge[a, b])
    after.edge[a, b] = True
    after.mark[b] = 1


GRAPH = model("graph", Graph, (count_of_nodes, weight), (join,))


class Painted(State):
    edge = field(flag, Node, Node, doc="an edge from the first to the second")
    paint = field(flag, Node, Colour, doc="the node has the colour")


@rule(by=Anyone.ANYONE)
def draw(now: Painted, after: Painted, a: Node, b: Node, c: Colour) -> None:
    """Draw an edge and paint its end."""
    guard("missing", ~now.edge[a, b])
    after.edge[a, b] = True
    after.paint[b, c] = True


PAINTED = model("painted", Painted, (count_of_nodes, count_of_colours, weight), (draw,))
