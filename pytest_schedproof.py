"""A pytest plugin: replays schedproof traces as tests of any project.

    python -m pytest --schedproof-traces DIR

Every *.itf.json and every story (*.txt) in DIR becomes a test. The traces are replayed by the schedproof command in a
process of its own, so that nothing of schedproof is imported beside the project's modules, which may have the same
names. This module needs pytest and nothing else; where schedproof has an environment of its own, the option
--schedproof-command names it there, and the plugin is loaded with `-p pytest_schedproof`.
"""

from __future__ import annotations

import json
import shlex
import subprocess
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest

TIMEOUT = 600  # seconds for all the traces of a directory
ROWS = pytest.StashKey[dict[str, dict[str, Any]]]()


def pytest_addoption(parser: pytest.Parser) -> None:
    group = parser.getgroup("schedproof")
    group.addoption(
        "--schedproof-traces",
        action="append",
        default=[],
        type=Path,
        metavar="DIR",
        help="replay the traces and stories in this directory; may be repeated",
    )
    group.addoption(
        "--schedproof-on",
        choices=("model", "ref", "both"),
        default="model",
        help="replay on the rules (default), on the reference engine (needs torch), or on both",
    )
    group.addoption(
        "--schedproof-with",
        action="append",
        default=[],
        type=Path,
        metavar="FILE.py",
        help="a file with faults and properties of your own that the traces were made with; may be repeated",
    )
    group.addoption(
        "--schedproof-command",
        default=shlex.join([sys.executable, "-I", "-m", "checker"]),
        metavar="COMMAND",
        help="how to run schedproof (default: the one installed beside pytest)",
    )


def pytest_configure(config: pytest.Config) -> None:
    """Look for tests in the directories as well, wherever else pytest is told to look."""
    for place in config.getoption("--schedproof-traces"):
        if not place.is_dir():
            raise pytest.UsageError(f"--schedproof-traces {place}: there is no such directory.")
        if not _traces(place):
            raise pytest.UsageError(f"--schedproof-traces {place}: there is no *.itf.json and no story (*.txt) in it.")
        config.args.append(str(place.resolve()))


def pytest_collect_file(file_path: Path, parent: pytest.Collector) -> pytest.Collector | None:
    """A trace or story of one of the directories; the same files elsewhere are not ours."""
    places = [place.resolve() for place in parent.config.getoption("--schedproof-traces")]
    ours = file_path.parent in places and file_path in _traces(file_path.parent)
    return TraceFile.from_parent(parent, path=file_path) if ours else None


def _traces(place: Path) -> list[Path]:
    return sorted([*place.glob("*.itf.json"), *place.glob("*.txt")])


class Failed(Exception):
    """A trace that does not replay; its sentences are the failure."""


class TraceFile(pytest.File):
    """A trace or a story: one test."""

    def collect(self) -> Iterator[pytest.Item]:
        yield TraceItem.from_parent(self, name="replay")


class TraceItem(pytest.Item):
    """The replay of a file. The first of a directory to run replays them all; starting the command is what costs."""

    def runtest(self) -> None:
        rows = self.config.stash.setdefault(ROWS, {})
        if str(self.path) not in rows:
            rows.update(replay(self.config, _traces(self.path.parent)))
        if str(self.path) not in rows:  # one bad file ends the command; then each is asked alone
            rows.update(replay(self.config, [self.path]))
        row = rows[str(self.path)]
        if row["verdict"] != "holds":
            raise Failed("\n".join(row["failures"]))

    def reportinfo(self) -> tuple[Path, None, str]:
        return self.path, None, f"{self.path.name}: replay"

    def repr_failure(self, excinfo: pytest.ExceptionInfo[BaseException], style: Any = None) -> Any:
        return str(excinfo.value) if isinstance(excinfo.value, Failed) else super().repr_failure(excinfo)


def replay(config: pytest.Config, paths: Sequence[Path]) -> dict[str, dict[str, Any]]:
    """The rows of `schedproof replay`, by file; none if the command could not use one of several files."""
    command = [*shlex.split(config.getoption("--schedproof-command")), "replay", "--json"]
    command += ["--on", config.getoption("--schedproof-on")]
    command += [word for file in config.getoption("--schedproof-with") for word in ("--with", str(file))]
    command += map(str, paths)
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=TIMEOUT, check=False)  # noqa: S603
    except OSError as error:
        raise Failed(f"{command[0]} cannot be run ({error.strerror}); name it with --schedproof-command.") from None
    except subprocess.TimeoutExpired:
        raise Failed(f"the replay took more than {TIMEOUT} s: {shlex.join(command)}") from None
    try:
        rows = json.loads(done.stdout)["files"]
    except (ValueError, KeyError):
        if len(paths) > 1:
            return {}
        raise Failed(done.stderr.strip() or done.stdout.strip() or f"{shlex.join(command)} said nothing") from None
    found: dict[str, dict[str, Any]] = {}
    for row in rows:  # one for the rules and one for the engine, where both were asked for
        known = found.setdefault(row["file"], {"verdict": "holds", "failures": []})
        known["failures"] += row["failures"]
        known["verdict"] = row["verdict"] if row["verdict"] != "holds" else known["verdict"]
    return found
