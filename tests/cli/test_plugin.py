"""The pytest plugin, installed beside a project whose modules have the names of ours."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from specs.regressions import regression_files
from specs.stories import story_files

HOUSE = Path(__file__).resolve().parents[2]
KEPT = {path.name: path for path in regression_files()}

STORY = next(p for p in story_files() if p.stem == "four-on-two-seats")


@pytest.fixture(scope="module")
def python(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The Python of an environment in which schedproof and pytest are installed, as a link to the source tree."""
    place = tmp_path_factory.mktemp("beside") / "venv"
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", place], check=True)
    site = next(place.glob("lib/python*/site-packages"))
    mine = {str(p) for p in map(Path, sys.path) if p.name == "site-packages"}
    (site / "beside.pth").write_text("\n".join([str(HOUSE), *sorted(mine)]) + "\n")
    return place / "bin" / "python"


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """A project with its own model.py, checker/ and specs.py, which must be the ones that its tests import."""
    (tmp_path / "model.py").write_text("NAME = 'mine'\n")
    (tmp_path / "specs.py").write_text("NAME = 'mine'\n")
    (tmp_path / "checker").mkdir()
    (tmp_path / "checker" / "__init__.py").write_text("NAME = 'mine'\n")
    (tmp_path / "test_mine.py").write_text(
        "import checker, model, specs\n\n\ndef test_names():\n"
        "    assert (checker.NAME, model.NAME, specs.NAME) == ('mine', 'mine', 'mine')\n"
    )
    traces = tmp_path / "traces"
    traces.mkdir()
    for path in (KEPT["notify-twice.itf.json"], KEPT["never-refused.itf.json"], STORY):
        (traces / path.name).write_text(path.read_text())
    return tmp_path


def run(python: Path, project: Path, *options: str) -> subprocess.CompletedProcess[str]:
    command = [
        python,
        "-m",
        "pytest",
        "-p",
        "pytest_schedproof",
        "-p",
        "no:cacheprovider",
        "-p",
        "no:randomly",
        *options,
    ]
    clean = {k: v for k, v in os.environ.items() if k in ("PATH", "HOME", "LANG", "TMPDIR")}
    clean["PYTEST_DISABLE_PLUGIN_AUTOLOAD"] = (
        "1"  # where schedproof is installed, pytest finds the plugin by itself as well
    )
    return subprocess.run(
        [str(c) for c in command], cwd=project, env=clean, capture_output=True, text=True, check=False
    )


def test_traces_are_tests_beside_modules_of_the_same_names(python: Path, project: Path) -> None:
    ran = run(python, project, "--schedproof-traces", "traces", "-v")
    assert ran.returncode == 0, ran.stdout + ran.stderr
    assert "test_mine.py::test_names PASSED" in ran.stdout
    assert "traces/notify-twice.itf.json::replay PASSED" in ran.stdout
    assert "traces/four-on-two-seats.txt::replay PASSED" in ran.stdout
    assert "4 passed" in ran.stdout


def test_a_choice_of_tests_chooses_traces_too(python: Path, project: Path) -> None:
    ran = run(python, project, "--schedproof-traces", "traces", "-k", "notify-twice")
    assert "1 passed, 3 deselected" in ran.stdout, ran.stdout + ran.stderr


def test_a_trace_that_fails_is_a_failed_test_with_its_sentence(python: Path, project: Path) -> None:
    path = project / "traces" / "notify-twice.itf.json"
    document = json.loads(path.read_text())
    document["#meta"]["schedproof"]["property"] = "delivery.grows"
    path.write_text(json.dumps(document))
    ran = run(python, project, "--schedproof-traces", "traces")
    assert ran.returncode == 1
    assert "does not violate delivery.grows any more" in ran.stdout
    assert "1 failed, 3 passed" in ran.stdout


def test_a_file_that_is_no_trace_fails_alone(python: Path, project: Path) -> None:
    (project / "traces" / "broken.itf.json").write_text("{")
    ran = run(python, project, "--schedproof-traces", "traces")
    assert "broken.itf.json is no complete JSON" in ran.stdout
    assert "1 failed, 4 passed" in ran.stdout


@pytest.mark.parametrize(("make", "said"), [(False, "there is no such directory"), (True, "there is no *.itf.json")])
def test_a_directory_without_traces_is_refused(python: Path, project: Path, make: bool, said: str) -> None:
    if make:
        (project / "none").mkdir()
    ran = run(python, project, "--schedproof-traces", "none")
    assert ran.returncode == 4
    assert said in ran.stderr + ran.stdout


def test_a_command_that_is_not_there_is_named(python: Path, project: Path) -> None:
    ran = run(python, project, "--schedproof-traces", "traces", "--schedproof-command", "no-such-program")
    assert "no-such-program cannot be run" in ran.stdout
