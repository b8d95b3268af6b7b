"""The command line, run in this process from an empty directory."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path
from typing import Any

import jsonschema  # type: ignore[import-untyped]
import pytest

from checker.cli.main import run
from model.language.properties import Shape
from model.readings.interpret import evaluate
from specs.properties import PROPERTIES
from tests.search.running import file_of


@dataclass(frozen=True)
class Ran:
    """What a command left: its exit code, and what it printed."""

    code: int
    out: str
    err: str

    @property
    def last(self) -> str:
        return self.out.rstrip("\n").rpartition("\n")[2]

    def line(self, start: str) -> str:
        """The rest of the line that begins like this."""
        return next(line for line in self.out.splitlines() if line.startswith(start)).removeprefix(start).strip()

    def document(self, command: str) -> dict[str, Any]:
        """The JSON document that was printed, which must be of the command's schema."""
        found: dict[str, Any] = json.loads(self.out)
        validate(found, command)
        return found


Cli = Callable[..., Ran]


@pytest.fixture
def cli(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Cli:
    monkeypatch.chdir(tmp_path)

    def call(*arguments: str) -> Ran:
        capsys.readouterr()
        code = run(arguments).value
        out, err = capsys.readouterr()
        return Ran(code, out, err)

    return call


def judged_in(name: str) -> list[str]:
    """The properties that this world can violate."""
    world = file_of(name).world
    return [p.name for p in PROPERTIES if p.shape is not Shape.REACHABLE and evaluate(p.needs, world)]


def schema(command: str) -> dict[str, Any]:
    text = files("checker.report").joinpath("schemas", f"{command}.schema.json").read_text()
    found: dict[str, Any] = json.loads(text)
    return found


def validate(document: Any, command: str) -> None:
    jsonschema.Draft202012Validator(schema(command)).validate(document)
