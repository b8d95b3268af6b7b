"""Short stories of the lifecycle, each a script with the record it must give."""

from __future__ import annotations

from importlib.resources import as_file, files
from pathlib import Path


def story_files() -> list[Path]:
    """The shipped stories, by name."""
    with as_file(files(__name__)) as folder:
        return sorted(folder.glob("*.txt"))
