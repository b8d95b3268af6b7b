"""The picture of a trace: requests as rows, events across, steps in flight as brackets, and who owns which block."""

from __future__ import annotations

from checker.report.picture.page import (
    beside,
    figure,
    page,
    patterns,
    run_figure,
    run_page,
    save,
    stepper,
    still,
    stylesheet,
)
from checker.report.picture.scene import Scene, scene
from checker.report.picture.svg import drawing

__all__ = [
    "Scene",
    "beside",
    "drawing",
    "figure",
    "page",
    "patterns",
    "run_figure",
    "run_page",
    "save",
    "scene",
    "stepper",
    "still",
    "stylesheet",
]
