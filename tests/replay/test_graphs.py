"""Graphs are read off the explored states: exact sizes, and the life of a request as the rules have it."""

from __future__ import annotations

import xml.etree.ElementTree as ET
from typing import Any

import networkx
import pytest

from checker.cli.main import run
from checker.report import graphs
from checker.search.explore import explore
from checker.verdict import Unusable, Verdict
from checker.worlds import find
from model.language.edits import Drop, changed
from model.language.model import Model
from model.lifecycle import LIFECYCLE
from model.readings.python import Machine


def explored(name: str, model: Model = LIFECYCLE) -> Any:
    return explore(Machine(model, find(LIFECYCLE, name).world))


def test_state_graph_is_the_explored_graph() -> None:
    found = explored("solo")
    graph = graphs.state_graph(found)
    assert (graph.number_of_nodes(), graph.number_of_edges()) == (len(found.states), found.transitions) == (621, 1952)
    assert [n for n, d in graph.nodes(data=True) if d["initial"]] == [0]
    assert set(networkx.descendants(graph, 0)) | {0} == set(graph.nodes)


def test_longest_shortest_path_is_the_explored_depth() -> None:
    found = explored("solo")
    lengths = networkx.single_source_shortest_path_length(graphs.state_graph(found), 0)
    assert max(lengths.values()) == found.depth


def test_life_of_a_request_is_projected_from_the_states() -> None:
    graph = graphs.lifecycle_graph(explored("misfit"))
    edges = {
        (a.replace("\n", " "), b.replace("\n", " ")): set(d["label"].split("\n")) for a, b, d in graph.edges(data=True)
    }
    assert edges[("NEW", "WAITING")] == {"submit"}
    assert edges[("WAITING", "FINISHED REJECTED")] == {"reject"}
    assert edges[("RUNNING", "PREEMPTED")] == {"preempt"}
    assert edges[("PREEMPTED", "RUNNING")] == {"admit"}
    assert edges[("RUNNING", "FINISHED LENGTH")] == {"retire_length"}
    assert not any(a.startswith("FINISHED") and not b.startswith("FINISHED") for a, b in edges)


def test_life_follows_the_rules_it_is_read_off() -> None:
    """Let finished requests be aborted, and the picture has the edge that should not be there."""
    broken = graphs.lifecycle_graph(explored("solo", changed(LIFECYCLE, Drop("abort.unfinished"))))
    assert broken.has_edge("FINISHED\nSTOP", "FINISHED\nCANCELLED")
    assert not graphs.lifecycle_graph(explored("solo")).has_edge("FINISHED\nSTOP", "FINISHED\nCANCELLED")


def test_svg_is_drawn_and_names_every_phase(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["show", "solo", "--format", "svg"]) is Verdict.HOLDS
    root = ET.fromstring(capsys.readouterr().out)
    text = " ".join(t.text or "" for t in root.iter("{http://www.w3.org/2000/svg}text"))
    for phase in ("NEW", "WAITING", "RUNNING", "PREEMPTED", "FINISHED", "retire_length", "preempt"):
        assert phase in text


def test_graphml_can_be_read_back(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["show", "solo", "--format", "graphml"]) is Verdict.HOLDS
    graph = networkx.parse_graphml(capsys.readouterr().out)
    assert (graph.number_of_nodes(), graph.number_of_edges()) == (621, 1952)


def test_dot_names_the_edges(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["show", "solo", "--format", "dot", "--set", "preemption=off"]) is Verdict.HOLDS
    text = capsys.readouterr().out
    assert text.startswith("digraph")
    assert "submit" in text
    assert "preempt" not in text


def test_too_many_states_to_draw_is_one_sentence(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["show", "solo", "--format", "svg", "--graph", "states"]) is Verdict.ERROR
    assert capsys.readouterr().err == (
        "error: the graph has 621 states, too many to draw; ask for --graph lifecycle, for --format graphml, "
        "or make the world smaller with --set.\n"
    )


def test_a_missing_library_is_one_sentence() -> None:
    with pytest.raises(Unusable) as refused:
        graphs.library("no_such_library")
    assert str(refused.value) == (
        "graphs need no_such_library, which is not installed; run pip install '.[graphs]' in schedproof's checkout."
    )


def test_only_a_world_has_a_graph(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["show", "rules", "--format", "svg"]) is Verdict.ERROR
    assert capsys.readouterr().err.startswith("error: --format svg draws a world, not rules; name one of ")
