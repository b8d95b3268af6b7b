"""A small world's state graph, to walk by hand: choose one of the events that may happen, and see the next state."""

from __future__ import annotations

from checker.report.walk.page import page, script, section, stylesheet
from checker.report.walk.states import MOST, graph

__all__ = ["MOST", "graph", "page", "script", "section", "stylesheet"]
