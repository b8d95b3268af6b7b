"""A state graph to walk is the explored graph, on a page that needs nothing but itself; one that is too large is refused."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

from checker.report import walk
from checker.report.walk import graph, states
from checker.search.explore import Exploration, explore
from checker.verdict import Unusable
from checker.worlds import WorldFile, find, with_dials
from model.lifecycle import LIFECYCLE
from model.readings.prose import words
from tests.cli.conftest import Cli, cli

__all__ = ["cli"]


def world(name: str, **settings: Any) -> WorldFile:
    return with_dials(LIFECYCLE, find(LIFECYCLE, name), settings)


def test_a_walk_is_the_explored_graph() -> None:
    data = graph(world("solo", cancellation=False), "One request")
    assert len(data["states"]) == 434
    assert data["transitions"] == sum(len(taken) for _, taken, _ in data["states"])
    first = data["states"][0]
    assert [data["events"][k] for k in first[1]] == ["submit(r0)"]
    cells = {c: data["values"][v] for c, v in zip(data["cells"], data["states"][first[1][0]][0], strict=True)}
    assert cells["phase[r0]"] == "WAITING"


def test_what_a_walk_calls_refused_is_refused_by_that_guard_alone() -> None:
    data = graph(world("solo", cancellation=False), "One request")
    for _, taken, refused in data["states"]:
        assert not set(taken) & set(refused)
    _, _, refused = data["states"][1]
    assert {data["events"][k]: data["guards"][g][0] for k, g in refused.items()}["acquire(r0, b0)"] == "acquire.running"


def test_a_graph_that_is_too_large_is_refused() -> None:
    with pytest.raises(Unusable, match="too many to walk"):
        graph(world("solo-prefix"), "too large")


def test_a_large_world_is_refused_before_it_is_explored(monkeypatch: pytest.MonkeyPatch) -> None:
    """No more states are visited than the refusal needs."""
    visited: list[int] = []

    def counted(*given: Any, **named: Any) -> Exploration:
        explored = explore(*given, **named)
        visited.append(len(explored.states))
        return explored

    monkeypatch.setattr(states, "explore", counted)
    with pytest.raises(Unusable, match=r"the world pair has more than 1,500 states .* make it smaller with --set"):
        graph(world("pair"), "too large")
    assert visited[0] < walk.MOST + 20


def test_a_refusal_says_what_the_guard_asks() -> None:
    data = graph(world("solo", cancellation=False), "One request")
    for name, says in data["guards"]:
        rule, _, guard = name.partition(".")
        assert says == words(next(g for g in LIFECYCLE.rule(rule).guards if g.name == guard).condition)


# ----------------------------------------------------------------------------------------------- show
def data_of(page: str) -> dict[str, Any]:
    found = re.search(r'<script type="application/json">(.*?)</script>', page)
    assert found is not None
    data: dict[str, Any] = json.loads(found[1])
    return data


def test_show_makes_the_page_of_a_world(cli: Cli) -> None:
    ran = cli("show", "solo", "--format", "html", "--set", "cancellation=off")
    assert ran.code == 0
    assert ran.out.startswith("<!doctype html>")
    data = data_of(ran.out)
    assert (len(data["states"]), data["cards"]) == (434, None)
    assert re.findall(r'(?:src|href)="', ran.out) == []


def test_a_world_of_ones_own_can_be_walked(cli: Cli) -> None:
    ones = "".join(
        f"{dial} = 1\n" for dial in ("requests", "prompt", "limit", "blocks", "block_size", "budget", "seats")
    )
    Path("mine.toml").write_text(f'about = "One request."\n[dials]\n{ones}')
    ran = cli("show", "mine.toml", "--format", "html")
    assert (ran.code, "The world mine" in ran.out) == (0, True)


def test_show_refuses_what_cannot_be_walked(cli: Cli) -> None:
    ran = cli("show", "pair", "--format", "html")
    assert ran.code == 2
    assert "too many to walk by hand" in ran.err
    assert cli("show", "rules", "--format", "html").code == 2
