"""Imports run one way: language <- readings, language <- lifecycle <- specs <- checker; readings know no lifecycle.

The reference engine is an independent witness: it knows nothing of ours, and only its replay knows it.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

import model

ROOT = Path(model.__file__).parent.parent

# What a part of the house may not import; each stands for everything below it.
FORBIDDEN = {
    "model/language": ("model.readings", "model.lifecycle", "specs", "checker", "tests"),
    "model/readings": ("model.lifecycle", "specs", "checker", "tests"),
    "model/lifecycle": ("model.readings", "specs", "checker", "tests"),
    "model/markov": ("model.language", "model.readings", "model.lifecycle", "specs", "checker", "tests"),
    "specs": ("checker", "engine_ref", "tests"),
    "checker": ("tests",),
    "engine_ref": ("model", "specs", "checker", "adapters", "tests"),
    "model": ("engine_ref",),
    "checker/search": ("engine_ref",),
    "checker/report": ("engine_ref",),
    "checker/cli": ("engine_ref",),
}


def imported(source: str) -> Iterator[str]:
    """Every module that the source names in an import, wherever it stands; for `from a import b` also a.b."""
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, "relative imports hide where they go"
            assert node.module is not None
            yield node.module
            yield from (f"{node.module}.{alias.name}" for alias in node.names)


def offences(source: str, forbidden: tuple[str, ...]) -> list[str]:
    return [name for name in imported(source) for part in forbidden if f"{name}.".startswith(f"{part}.")]


@pytest.mark.parametrize("folder", FORBIDDEN)
def test_imports_run_one_way(folder: str) -> None:
    files = sorted((ROOT / folder).rglob("*.py"))
    assert len(files) > 1
    found = {f.relative_to(ROOT).as_posix(): offences(f.read_text(), FORBIDDEN[folder]) for f in files}
    assert {name: names for name, names in found.items() if names} == {}


def test_a_model_outside_serving_knows_nothing_of_serving() -> None:
    source = (ROOT / "tests/language/two_phase_commit.py").read_text()
    assert set(imported(source)) & {"model.language"}
    assert offences(source, ("model.lifecycle", "model.readings", "specs", "checker")) == []


@pytest.mark.parametrize(
    "line",
    [
        "import checker.search.explore",
        "from checker import verdict",
        "import specs",
        "from model import lifecycle",
        "from model.lifecycle.state import Phase",
        "def f():\n    from model.lifecycle import LIFECYCLE",
    ],
)
def test_every_way_to_import_is_seen(line: str) -> None:
    assert offences(line, ("model.lifecycle", "specs", "checker")) != []


def test_names_that_only_begin_alike_are_no_offence() -> None:
    assert offences("import checkers\nfrom model.lifecycles import x", ("checker", "model.lifecycle")) == []
