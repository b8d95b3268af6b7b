"""Fair cycles: runs that go on for ever, are fair, and never keep a promise. Each is found as a lasso, a stem and a loop.

A promise is broken for ever inside the part of the graph where its goal is false (and no step that would keep it is taken).
Weak fairness is asked of whole strongly connected components of that part: an instance is neglected by every run that stays
in a component if and only if it is enabled in all of the component's states and labels none of the steps inside. Where
nothing is neglected, a loop that takes each enabled instance, or visits a state where it is disabled, is fair. A run may
also stand still, which is fair where no fair instance is enabled: so a single state is a component, too.

The graph must not be reduced by renaming: a loop up to renaming may be the work of another request each time round, which is
as fair to each of them as the renaming says and no fairer. What the model lets a search forget stays forgotten here: nobody
reads it, so the same instances are enabled with it and without it. A real run may then need several rounds before its
forgotten cells recur as well; whoever shows the lasso goes round until they do (checker/replay/lasso.py).

scipy finds the components. It is in the optional group `liveness`.
"""

from __future__ import annotations

import importlib
import itertools
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, cast

from checker.search.explore import Exploration
from checker.verdict import Unusable
from model.language.properties import Promise, Property
from model.language.rules import Rule
from model.readings.python import Machine
from model.readings.world import World, members

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Bools = NDArray[np.bool_]
    Ints = NDArray[np.int64]

ENTRIES = (
    64  # how many states to begin a loop at are tried, the nearest first, before the shortest lasso so far is taken
)


def library(name: str) -> Any:
    """numpy or a part of scipy; Unusable with what to install if it is not there."""
    try:
        return importlib.import_module(name)
    except ImportError:
        raise Unusable(
            "promises are judged with scipy, which is not installed; pip install 'schedproof[liveness]'."
        ) from None


@dataclass(frozen=True)
class Graph:
    """An explored graph. The edges of state n are numbered from first_edge[n] up to first_edge[n + 1]; each takes the
    instance taken[edge] to the state targets[edge]. State 0 is the initial one; no state takes an instance twice."""

    first_edge: Ints
    targets: Ints
    taken: Ints

    @property
    def states(self) -> int:
        return len(self.first_edge) - 1


def graph_of(first_edge: Sequence[int], targets: Sequence[int], taken: Sequence[int]) -> Graph:
    """The arrays of an exploration as a graph."""
    np = library("numpy")
    return Graph(*(np.asarray(a, dtype=np.int64) for a in (first_edge, targets, taken)))


@dataclass(frozen=True)
class Lasso:
    """The edges of a run from state 0, and of the loop that it repeats for ever. An empty loop stands still."""

    stem: tuple[int, ...]
    loop: tuple[int, ...]

    @property
    def length(self) -> int:
        return len(self.stem) + len(self.loop)


def fair_lasso(graph: Graph, fair: Bools, opens: Bools, keeps: Bools, keeping: Bools) -> Lasso | None:
    """A short fair run on which a promise is made and never kept, or None if there is none.

    `fair` says for each instance whether it is fair; `opens` and `keeps` for each state whether it makes and keeps the
    promise; `keeping` for each instance whether taking it keeps the promise. The stem is a shortest one to where the loop
    begins, and of the nearest such places the one with the shortest lasso is taken.
    """
    search = _Search(graph, fair, keeps, keeping)
    return search.lasso(opens & ~keeps)


class _Search:
    def __init__(self, graph: Graph, fair: Bools, keeps: Bools, keeping: Bools) -> None:
        np = library("numpy")
        self.graph, self.fair = graph, fair
        self.sources = np.repeat(np.arange(graph.states), np.diff(graph.first_edge))
        self.inside = ~keeps
        self.inner = self.inside[self.sources] & self.inside[graph.targets] & ~keeping[graph.taken]
        _, self.component = library("scipy.sparse.csgraph").connected_components(
            self._matrix(self.sources[self.inner], graph.targets[self.inner], graph.states), connection="strong"
        )
        self.within = self.inner & (self.component[self.sources] == self.component[graph.targets])
        self.at_home = self.inside & ~self._neglecting()[self.component]

    def _matrix(self, sources: Ints, targets: Ints, size: int) -> Any:
        np = library("numpy")
        ones = np.ones(len(sources), dtype=np.int8)
        return library("scipy.sparse").csr_matrix((ones, (sources, targets)), shape=(size, size))

    def _neglecting(self) -> Bools:
        """For each component, whether every run that stays in it neglects some fair instance."""
        np = library("numpy")
        taken, instances = self.graph.taken, len(self.fair)
        sizes = np.bincount(self.component, minlength=self.graph.states)
        asked = self.fair[taken] & self.inside[self.sources]
        keys = self.component[self.sources].astype(np.int64) * instances + taken
        enabled, times = np.unique(keys[asked], return_counts=True)
        always = enabled[times == sizes[enabled // instances]]
        neglected = always[~np.isin(always, np.unique(keys[asked & self.within]))]
        result = np.zeros(self.graph.states, dtype=bool)
        result[neglected // instances] = True
        return cast("Bools", result)

    # ------------------------------------------------------------------------------------------- stem
    def lasso(self, opens: Bools) -> Lasso | None:
        """Two copies of the graph: the first as it is, the second after the promise was made, where it is not kept."""
        np = library("numpy")
        states = self.graph.states
        begin = np.flatnonzero(opens)
        sources = np.concatenate([self.sources, begin, self.sources[self.inner] + states])
        targets = np.concatenate([self.graph.targets, begin + states, self.graph.targets[self.inner] + states])
        order, parents = library("scipy.sparse.csgraph").breadth_first_order(
            self._matrix(sources, targets, 2 * states), 0
        )
        entries = order[order >= states]
        entries = entries[self.at_home[entries - states]]
        loops = _Loops(self.graph, self.fair, self.within)
        best: Lasso | None = None
        for entry in entries[:ENTRIES].tolist():
            stem = self._stem(entry, parents)
            if best is not None and len(stem) >= best.length:
                break
            found = Lasso(stem, loops.through(entry - states))
            best = found if best is None or found.length < best.length else best
        return best

    def _stem(self, entry: int, parents: Ints) -> tuple[int, ...]:
        states, edges = self.graph.states, []
        node = entry
        while node != 0:
            before = int(parents[node])
            if not (node >= states and before < states):  # making the promise is no step
                edges.append(self._edge(before % states, node % states, node >= states))
            node = before
        return tuple(reversed(edges))

    def _edge(self, source: int, target: int, made: bool) -> int:
        numbers = range(int(self.graph.first_edge[source]), int(self.graph.first_edge[source + 1]))
        return next(e for e in numbers if self.graph.targets[e] == target and (not made or self.inner[e]))


class _Loops:
    """Short fair loops inside components that neglect nothing."""

    def __init__(self, graph: Graph, fair: Bools, within: Bools) -> None:
        self.graph, self.fair, self.within = graph, fair, within
        self.seen: dict[int, tuple[frozenset[int], list[tuple[int, int, int]]]] = {}

    def at(self, state: int) -> tuple[frozenset[int], list[tuple[int, int, int]]]:
        """The fair instances that are enabled there, and the steps inside its component: edge, instance, target."""
        if state not in self.seen:
            edges = slice(int(self.graph.first_edge[state]), int(self.graph.first_edge[state + 1]))
            taken, targets = self.graph.taken[edges].tolist(), self.graph.targets[edges].tolist()
            enabled = frozenset(k for k in taken if self.fair[k])
            steps = [
                (edge, k, target)
                for edge, (k, target) in enumerate(zip(taken, targets, strict=True), edges.start)
                if self.within[edge]
            ]
            self.seen[state] = enabled, steps
        return self.seen[state]

    def through(self, start: int) -> tuple[int, ...]:
        """A loop from this state that owes nothing to any fair instance: always on to the nearest debt, then back."""
        owed, loop, state = self.at(start)[0], [], start
        while owed:
            way = self._way(state, owed, None)
            for edge in way:
                state = int(self.graph.targets[edge])
                owed = (owed - {int(self.graph.taken[edge])}) & self.at(state)[0]
            loop += way
        return tuple(loop + (self._way(state, frozenset(), start) if loop and state != start else []))

    def _way(self, start: int, owed: frozenset[int], home: int | None) -> list[int]:
        """A shortest way to a step that takes one of the owed instances, a state where one is disabled, or home."""
        came: dict[int, tuple[int, int]] = {}
        level = [start]
        known = {start}
        while level:
            after = []
            for state in level:
                for edge, k, target in self.at(state)[1]:
                    if k in owed or target == home or owed - self.at(target)[0]:
                        return [*self._back(came, start, state), edge]
                    if target not in known:
                        known.add(target)
                        came[target] = state, edge
                        after.append(target)
            level = after
        raise AssertionError("a component that neglects nothing has a way to every debt and back")

    def _back(self, came: dict[int, tuple[int, int]], start: int, state: int) -> list[int]:
        way: list[int] = []
        while state != start:
            state, edge = came[state]
            way.append(edge)
        return way[::-1]


# ------------------------------------------------------------------------------------------ promises of a world
@dataclass(frozen=True)
class Unkept:
    """A promise that was made for these members and never kept, with the instances taken on the way and in the loop."""

    name: str
    members: tuple[int, ...]
    stem: tuple[int, ...]
    loop: tuple[int, ...]

    @property
    def length(self) -> int:
        return len(self.stem) + len(self.loop)


def unkept(explored: Exploration, properties: Sequence[Property]) -> dict[str, Unkept]:
    """The promises that are broken, each by the shortest of the lassos found for the members for which it is.

    The exploration must be complete and must not have joined states by renaming. Every state is looked at once.
    """
    if explored.symmetry is not None or not explored.complete:
        raise ValueError("promises are judged on a complete graph that joins no states by renaming")
    machine, found = explored.machine, list[Unkept]()
    graph = graph_of(explored.first_edge, explored.targets, explored.taken)
    asked = [(p.name, p.promise, at) for p in properties if p.promise for at in choices(p.promise, machine.world)]
    held = _held(explored, [(promise, at) for _, promise, at in asked])
    for (name, promise, at), (opens, keeps) in zip(asked, held, strict=True):
        lasso = fair_lasso(graph, *_counting(machine, promise, at, opens, keeps))
        if lasso is not None:
            stem, loop = ([explored.taken[e] for e in edges] for edges in (lasso.stem, lasso.loop))
            found.append(Unkept(name, at, tuple(stem), tuple(loop)))
    found.sort(key=lambda u: u.length, reverse=True)  # of one name, the shortest is put in last
    return {u.name: u for u in found}


def choices(promise: Promise, made: World) -> Iterator[tuple[int, ...]]:
    """Every choice of the promise's members in a world."""
    return itertools.product(*(members(v.domain, made) for v in promise.members))


def counts_as_fair(promise: Promise, at: tuple[int, ...], rule: Rule, of: tuple[int, ...]) -> bool:
    """Whether the promise, made for the members `at`, relies on the fairness of this rule for the members `of`."""
    return rule.fair and (not promise.alone or (rule.name in promise.alone and of == at))


def keeps_by(promise: Promise, at: tuple[int, ...], rule: str, of: tuple[int, ...]) -> bool:
    """Whether taking this rule keeps the promise."""
    return rule in promise.by and of == at


def _counting(
    machine: Machine, promise: Promise, at: tuple[int, ...], opens: Bools, keeps: Bools
) -> tuple[Bools, Bools, Bools, Bools]:
    """What fair_lasso is to be asked: fair, opens, keeps, keeping."""
    np = library("numpy")
    fair = [counts_as_fair(promise, at, i.rule, i.at) for i in machine.instances]
    keeping = [keeps_by(promise, at, i.rule.name, i.at) for i in machine.instances]
    return np.array(fair, dtype=bool), opens, keeps, np.array(keeping, dtype=bool)


def _held(explored: Exploration, asked: Sequence[tuple[Promise, tuple[int, ...]]]) -> list[tuple[Bools, Bools]]:
    """For each promise and its members, in which states its premise holds and in which its goal."""
    conditions = []
    for promise, at in asked:
        env = dict(zip(promise.members, at, strict=True))
        conditions += [explored.machine.predicate(term, env) for term in (promise.premise, promise.goal)]
    answers = (holds(state) for state in explored.states for holds in conditions)
    states = len(explored.states)
    table = library("numpy").fromiter(answers, dtype=bool, count=states * len(conditions))
    columns = table.reshape(states, len(conditions)).T.copy()
    return list(zip(columns[::2], columns[1::2], strict=True))
