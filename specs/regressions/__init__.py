"""One shortest trace for each fault, replayed for ever: on the rules, and on the reference engine."""

from __future__ import annotations

from importlib.resources import as_file, files
from pathlib import Path


def regression_files() -> list[Path]:
    """The kept traces, by name."""
    with as_file(files(__name__)) as folder:
        return sorted(folder.glob("*.itf.json"))
