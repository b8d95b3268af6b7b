"""The small worlds that are shipped, one TOML file each."""

from __future__ import annotations

from importlib.resources import files
from importlib.resources.abc import Traversable


def world_files() -> dict[str, Traversable]:
    """The shipped world files by name."""
    found = (f for f in files(__name__).iterdir() if f.name.endswith(".toml"))
    return {f.name.removesuffix(".toml"): f for f in sorted(found, key=lambda f: f.name)}
