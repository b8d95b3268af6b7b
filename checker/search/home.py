"""The home check: from every explored state, a state at rest can be reached without the excepted rules.

It finds what dead ends cannot: when some rule is always enabled (a running request can always be preempted), no
state is a dead end, although nothing may ever get done. It needs the complete graph; the renaming of members does
not change its answer.
"""

from __future__ import annotations

from array import array

from checker.search.explore import Exploration, Found
from checker.search.kernel.search import Compiled
from model.language.properties import Property, Shape


def lost_homes(explored: Exploration) -> dict[str, Found]:
    """What is lost of each property of the way home; nothing is judged where the graph is not complete."""
    if explored.bound is not None or explored.beyond:
        return {}
    homes = [p for p in explored.machine.properties if p.shape is Shape.HOME]
    return {p.name: nowhere for p in homes if (nowhere := lost(explored, p)) is not None}


def lost(explored: Exploration, declared: Property) -> Found | None:
    """The first state (a nearest one) from which no state satisfying the property's term can be reached, if any."""
    if isinstance(explored, Compiled):
        return explored.lost(declared)
    machine = explored.machine
    at_home = machine.predicate(declared.term)
    apart = {k for k, i in enumerate(machine.instances) if i.rule.name in declared.apart_from}
    starts, sources = _backwards(explored, apart)
    reached = bytearray(len(explored.states))
    todo = [number for number, state in enumerate(explored.states) if at_home(state)]
    for number in todo:
        reached[number] = 1
    while todo:
        target = todo.pop()
        for source in sources[starts[target] : starts[target + 1]]:
            if not reached[source]:
                reached[source] = 1
                todo.append(source)
    missing = reached.find(0)
    if missing < 0:
        return None
    return Found(declared.name, len(explored.chain(missing)) - 1, missing, None)


def _backwards(explored: Exploration, apart: set[int]) -> tuple[array[int], array[int]]:
    """The reversed edges, grouped by target: sources[starts[t]:starts[t + 1]] lead to t."""
    count = len(explored.states)
    starts = array("q", bytes(8 * (count + 1)))
    kept = [k not in apart for k in range(len(explored.machine.instances))]
    for target, k in zip(explored.targets, explored.taken, strict=True):
        if kept[k]:
            starts[target + 1] += 1
    for number in range(count):
        starts[number + 1] += starts[number]
    place = array("q", starts)
    sources = array("l", [0]) * starts[count]
    for source in range(count):
        for edge in range(explored.first_edge[source], explored.first_edge[source + 1]):
            if kept[explored.taken[edge]]:
                target = explored.targets[edge]
                sources[place[target]] = source
                place[target] += 1
    return starts, sources
