"""Graphs of a world: its states, or the life of one request as explored. Read off the explored graph, never drawn by hand.

networkx holds the graphs; pygraphviz (whose wheel brings Graphviz along) lays them out. Both are in the optional group
`graphs`, and asking for a graph without them is answered with what to install.
"""

from __future__ import annotations

import importlib
import io
from collections.abc import Iterator
from typing import Any

from checker.search.explore import Exploration
from checker.verdict import Unusable
from model.lifecycle.dials import Request
from model.lifecycle.state import Lifecycle, Phase, Reason
from model.readings.layout import Layout
from model.readings.prose import shown

DRAWABLE = 250  # states; a drawing of more shows nothing

PHASE_COLOURS = {
    Phase.NEW: "#ffffff",
    Phase.WAITING: "#fdf3d0",
    Phase.RUNNING: "#d5e8d4",
    Phase.PREEMPTED: "#f8d7c4",
    Phase.FINISHED: "#dae3f3",
}


def library(name: str, group: str = "graphs") -> Any:
    """An optional library of a group in pyproject.toml, or the sentence that says how to get it."""
    try:
        return importlib.import_module(name)
    except ImportError:
        what = "the handbook needs" if group == "handbook" else "graphs need"
        raise Unusable(
            f"{what} {name}, which is not installed; run pip install '.[{group}]' in schedproof's checkout."
        ) from None


def state_graph(explored: Exploration) -> Any:
    """The explored states and steps as a networkx MultiDiGraph; node 0 is the initial state."""
    graph = library("networkx").MultiDiGraph(world=explored.machine.world.name)
    layout = explored.machine.layout
    for number, state in enumerate(explored.states):
        graph.add_node(number, label=_state_label(layout, state), initial=number == 0)
    for source in range(len(explored.first_edge) - 1):
        for edge in range(explored.first_edge[source], explored.first_edge[source + 1]):
            instance = explored.machine.instances[explored.taken[edge]]
            graph.add_edge(source, explored.targets[edge], label=instance.text, by=instance.rule.by.name.lower())
    return graph


def _state_label(layout: Layout, state: Any) -> str:
    """The cells that differ from the initial state."""
    cells = enumerate(layout.cells)
    return "\n".join(f"{c.text} = {shown(layout, state, p)}" for p, c in cells if state[p] != c.initial) or "initial"


def lifecycle_graph(explored: Exploration) -> Any:
    """What one request goes through in the explored graph: its phases (and reasons) and the rules between them."""
    graph = library("networkx").DiGraph(world=explored.machine.world.name)
    for before, then, rule in sorted(_phase_steps(explored)):
        for node in (before, then):
            graph.add_node(node, phase=node.partition("\n")[0])
        rules = graph.edges[before, then]["label"].split("\n") if graph.has_edge(before, then) else []
        graph.add_edge(before, then, label="\n".join([*rules, rule]))
    return graph


def _phase_steps(explored: Exploration) -> set[tuple[str, str, str]]:
    """Each (phase before, phase then, rule) that some request goes through, or takes part in without leaving its phase."""
    machine, steps = explored.machine, set()
    for state in explored.states:
        for k, then, _ in machine.successors(state):
            instance = machine.instances[k]
            for r in range(machine.layout.sizes[Request]):
                before, after = _phase(machine.layout, state, r), _phase(machine.layout, then, r)
                if before != after or r in _requests(instance.rule.params, instance.at):
                    steps.add((before, after, instance.rule.name))
    return steps


def _requests(params: Any, at: tuple[int, ...]) -> Iterator[int]:
    return (m for v, m in zip(params, at, strict=True) if v.domain is Request)


def _phase(layout: Layout, state: Any, r: int) -> str:
    phase = layout.value(state, layout.position[(Lifecycle.phase, (r,))])
    reason = layout.value(state, layout.position[(Lifecycle.reason, (r,))])
    return str(phase.name) if reason is Reason.NONE else f"{phase.name}\n{reason.name}"


# ------------------------------------------------------------------------------------------ formats
def graphml(graph: Any) -> str:
    """The graph for yEd, Gephi and others."""
    out = io.BytesIO()
    library("networkx").write_graphml(graph, out)
    return out.getvalue().decode()


def dot(graph: Any) -> str:
    """The graph in the language of Graphviz."""
    return str(_drawing(graph).to_string())


def svg(graph: Any) -> str:
    """The graph laid out and drawn."""
    return bytes(_drawing(graph).draw(format="svg", prog="dot")).decode()


def _drawing(graph: Any) -> Any:
    if graph.number_of_nodes() > DRAWABLE:
        raise Unusable(
            f"the graph has {graph.number_of_nodes():,} states, too many to draw; ask for --graph lifecycle, for "
            "--format graphml, or make the world smaller with --set."
        )
    drawing = library("pygraphviz").AGraph(directed=True, strict=False, rankdir="TB", nodesep="0.35", ranksep="0.7")
    drawing.node_attr.update(
        shape="box", style="rounded,filled", fillcolor="#ffffff", fontname="Helvetica", fontsize="11"
    )
    drawing.edge_attr.update(fontname="Helvetica", fontsize="10", color="#555555")
    for node, data in graph.nodes(data=True):
        phase = data.get("phase")
        fill = PHASE_COLOURS[Phase[phase]] if phase else "#e8e8e8" if data.get("initial") else "#ffffff"
        label = data.get("label", str(node))
        if phase and graph.has_edge(node, node):
            label += "\n\n" + graph.edges[node, node]["label"]  # what leaves the phase as it is stands in its box
        drawing.add_node(str(node), label=label, fillcolor=fill)
    for source, target, data in graph.edges(data=True):
        if source == target and "phase" in graph.nodes[source]:
            continue
        drawing.add_edge(str(source), str(target), label=f" {data['label']} ".replace("\n", " \n "))
    return drawing
