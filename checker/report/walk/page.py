"""The state graph as HTML: a section of a page whose script walks it, or a whole page of its own."""

from __future__ import annotations

import json
from html import escape
from importlib.resources import files
from typing import Any

from checker.report import alone
from checker.report.walk.states import graph
from checker.worlds import WorldFile


def section(data: dict[str, Any], cards: str | None = None, heading: str = "h3") -> str:
    """The graph with its place. Its page must have stylesheet() and script() in it, once.

    `cards`: the way from the page to the folder of the rules' cards; without it guards are named, and not linked. `heading`:
    the element of its title.
    """
    text = json.dumps(data | {"cards": cards, "heading": heading}, separators=(",", ":")).replace("<", "\\u003c")
    return (
        f'<section class="walk" data-walk aria-label="{escape(data["title"])}">'
        f'<script type="application/json">{text}</script><noscript><p>Walking needs JavaScript.</p></noscript></section>'
    )


def page(file: WorldFile) -> str:
    """A whole page that needs nothing but itself. Unusable if the world is too large to walk."""
    data = graph(file, "Walk through its states")
    made = "Made by <code>schedproof show WORLD --format html</code> from the rules and this world's dials."
    body = f"<p>{escape(file.about)}</p>{section(data, heading='h2')}"
    return alone.page(f"The world {file.name}", f"The world {file.name}", body, stylesheet(), script(), made)


def stylesheet() -> str:
    return _asset("walk.css")


def script() -> str:
    """Walks the graphs of a page."""
    return _asset("walk.js")


def _asset(name: str) -> str:
    return files(__package__).joinpath("assets", name).read_text()
