"""The wheel: built, installed into an environment of its own, and run from an empty directory without a network."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

from specs.worlds import world_files
from tests.cli.conftest import validate

HOUSE = Path(__file__).resolve().parents[2]

pytestmark = pytest.mark.slow


def run(*command: str | Path, cwd: Path, **environment: str) -> subprocess.CompletedProcess[str]:
    """Run a command that sees nothing of this source tree, and no proxy or index to reach a network through."""
    clean = {k: v for k, v in os.environ.items() if k in ("PATH", "HOME", "LANG", "TMPDIR")}
    nowhere = {"PIP_NO_INDEX": "1", "http_proxy": "http://127.0.0.1:9", "https_proxy": "http://127.0.0.1:9"}
    return subprocess.run(
        [str(c) for c in command],
        cwd=cwd,
        env=clean | nowhere | environment,
        capture_output=True,
        text=True,
        check=False,
    )


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The wheel, built from a copy, so that nothing is left in the source tree."""
    place = tmp_path_factory.mktemp("wheel")
    copy = place / "source"
    copy.mkdir()
    listed = run("git", "ls-files", "--cached", "--others", "--exclude-standard", cwd=HOUSE).stdout.split("\n")
    for name in filter(None, listed):
        if (HOUSE / name).is_file():
            (copy / name).parent.mkdir(parents=True, exist_ok=True)
            (copy / name).write_bytes((HOUSE / name).read_bytes())
    built = run(sys.executable, "-m", "build", "--wheel", "--no-isolation", "--outdir", place, cwd=copy)
    assert built.returncode == 0, built.stderr
    (found,) = place.glob("*.whl")
    return found


@pytest.fixture(scope="module")
def program(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """`schedproof`, installed without a dependency into a fresh environment."""
    place = tmp_path_factory.mktemp("installed") / "venv"
    made = run(sys.executable, "-m", "venv", place, cwd=wheel.parent)
    assert made.returncode == 0, made.stderr
    installed = run(place / "bin" / "python", "-m", "pip", "install", "--no-deps", wheel, cwd=wheel.parent)
    assert installed.returncode == 0, installed.stderr
    return place / "bin" / "schedproof"


def test_the_wheel_holds_the_worlds_and_the_schemas_and_no_tests(wheel: Path) -> None:
    names = zipfile.ZipFile(wheel).namelist()
    assert {f"specs/worlds/{w}.toml" for w in world_files()} <= set(names)
    assert {"checker/report/schemas/check.schema.json", "checker/report/schemas/show.schema.json"} <= set(names)
    sources = ("problem.h", "normal.h", "search.c")
    assert {f"checker/search/kernel/c/{source}" for source in sources} <= set(names)
    assert {f"{package}/py.typed" for package in ("model", "specs", "checker")} <= set(names)
    tops = {n.partition("/")[0] for n in names if not n.startswith("schedproof-")}
    assert tops == {"model", "specs", "checker", "adapters", "engine_ref", "pytest_schedproof.py"}


def test_it_needs_nothing_else(wheel: Path) -> None:
    archive = zipfile.ZipFile(wheel)
    (metadata,) = (n for n in archive.namelist() if n.endswith("/METADATA"))
    required = [line for line in archive.read(metadata).decode().splitlines() if line.startswith("Requires-Dist: ")]
    needed = [line.removeprefix("Requires-Dist: ") for line in required if "extra ==" not in line]
    assert [re.split(r"[<>=]", line)[0] for line in needed] == ["z3-solver"]  # which only `prove` loads


def test_check_finds_its_worlds(program: Path, tmp_path: Path) -> None:
    ran = run(program, "check", "misfit", cwd=tmp_path)
    assert (ran.returncode, ran.stderr) == (0, "")
    assert "  657 states up to renaming, " in ran.stdout
    assert ran.stdout.endswith("holds: misfit explored to the end\n")
    assert list(tmp_path.iterdir()) == []


def test_show_lists_its_worlds(program: Path, tmp_path: Path) -> None:
    ran = run(program, "show", "worlds", "--format", "json", cwd=tmp_path)
    assert (ran.returncode, ran.stderr) == (0, "")
    document = json.loads(ran.stdout)
    validate(document, "show")
    assert sorted(w["world"] for w in document["worlds"]) == sorted(world_files())


def test_a_trace_is_written_and_shown_with_the_version(program: Path, wheel: Path, tmp_path: Path) -> None:
    ran = run(program, "check", "solo", "--without", "notify.once", cwd=tmp_path)
    assert ran.returncode == 1
    path = tmp_path / "schedproof-traces" / "solo.without-notify.once.delivery.message-once.itf.json"
    assert run(program, "show", path, cwd=tmp_path).returncode == 0
    version = wheel.name.split("-")[1]
    assert json.loads(path.read_text())["#meta"]["schedproof"]["version"] == version
    assert run(program, "--version", cwd=tmp_path).stdout == f"schedproof {version}\n"


def test_as_a_module_too(program: Path, tmp_path: Path) -> None:
    ran = run(program.parent / "python", "-m", "checker", "check", "nowhere", cwd=tmp_path)
    assert ran.returncode == 2
    assert ran.stderr.startswith("error: there is no world nowhere; there are ")


def test_pytest_finds_the_plugin(program: Path, tmp_path: Path) -> None:
    """Installed, it needs no option of pytest's to be there; the traces it replays are those of the wheel."""
    site = next(program.parents[1].glob("lib/python*/site-packages"))
    ours = sorted({str(p) for p in map(Path, sys.path) if p.name == "site-packages"})
    (site / "pytest.pth").write_text("\n".join(ours) + "\n")
    traces = site / "specs" / "regressions"
    ran = run(program.parent / "python", "-m", "pytest", "--schedproof-traces", traces, "-k", "notify", cwd=tmp_path)
    assert (ran.returncode, "1 passed" in ran.stdout) == (0, True), ran.stdout + ran.stderr
