"""The Python that an engine lives in: built from the requirements its adapter ships, or the user's own."""

from __future__ import annotations

import contextlib
import os
import subprocess
import sys
import tempfile
import threading
import venv
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from checker.verdict import Unusable

WATCH_SECONDS = 2.0  # between two looks at how an installation goes on


@dataclass(frozen=True)
class Engine:
    """An adapter and where the environment for it is kept. `version`: the one that was asked for, empty if none was."""

    name: str
    adapter: Path
    home: Path
    version: str = ""

    @property
    def python(self) -> Path:
        return self.home / "bin" / "python"


def find_engine(name: str) -> Engine:
    """`vllm`, `vllm==0.10.2`, or the path of an adapter file. Unusable if there is no such adapter."""
    path = Path(name)
    if path.suffix == ".py":
        if not path.is_file():
            raise Unusable(f"there is no adapter {name}; give the path of an adapter's Python file (see docs/port.md).")
        return Engine(path.stem, path, Path(sys.prefix))
    short, pinned, version = name.partition("==")
    if pinned and not version:
        raise Unusable(f"{name} names no version behind ==; give one, or {short} alone.")
    folder = adapters() / short
    if not (folder / "adapter.py").is_file():
        known = ", ".join(sorted(p.parent.name for p in adapters().glob("*/adapter.py"))) or "none here"
        raise Unusable(f"there is no adapter for {name}; there are: {known}, or give the path of an adapter file.")
    return Engine(short, folder / "adapter.py", Path(".engines") / short, version)


def adapters() -> Path:
    """Where adapters are: beside our own packages, in a source tree and in an installation alike."""
    return Path(__file__).resolve().parent.parent.parent / "adapters"


def check_version(engine: Engine, found: str, where: str) -> None:
    """Unusable if a version was asked for, and another is there. `where` begins the sentence: who has it, or would."""
    if engine.version and found != engine.version:
        raise Unusable(
            f"{engine.name} {engine.version} was asked for, but {where} {engine.name} {found}; "
            f"ask for {engine.name}=={found}, or give a Python that has {engine.version} with --python."
        )


def _shipped(engine: Engine) -> str:
    """The version that the adapter's requirements install; that which was asked for if they pin none."""
    lines = (engine.adapter.parent / "engine.txt").read_text().splitlines()
    pins = [line.split()[0].partition("==")[2] for line in lines if line.startswith(f"{engine.name}==")]
    return pins[0] if pins else engine.version


def set_up(engine: Engine, say: Callable[[str], None], watch: Callable[[str], None]) -> None:
    """Build the engine's environment from what its adapter ships, step by step. Unusable if a step fails.

    What the engine imports comes first, with its torch named; the engine itself then brings none of its own. `say` is told
    of each step, `watch` of how a step goes on: what pip does now, and how large the environment has become.
    """
    if engine.version:
        check_version(engine, _shipped(engine), "--setup installs")
    if not engine.python.exists():
        say(f"creating {engine.home}")
        try:
            venv.create(engine.home, with_pip=True)
        except (OSError, subprocess.CalledProcessError) as error:
            raise Unusable(f"{engine.home} cannot be created ({error}); make room there, or give --python.") from None
    for name, options in (("requirements.txt", []), ("engine.txt", ["--no-deps"])):
        listed = engine.adapter.parent / name
        say(f"installing what {listed} names")
        failed = _install(engine, [*options, "-r", str(listed)], watch)
        if failed is not None:
            raise Unusable(
                f"the environment in {engine.home} could not be built ({failed}); see what {listed} says, or give --python."
            )
    say(f"{engine.home} is ready: {_size(engine.home)}")


def _install(engine: Engine, options: list[str], watch: Callable[[str], None]) -> str | None:
    """Run pip, and say what it does while it does it. The error it ended with, or None.

    Its downloads go into the environment's folder too, so that the size shows them as they come in.
    """
    command = [str(engine.python), "-m", "pip", "install", "--disable-pip-version-check", "--progress-bar", "off"]
    with tempfile.TemporaryDirectory(prefix="downloads-", dir=engine.home) as downloads:
        pip = subprocess.Popen(
            [*command, *options],
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            env={**os.environ, "TMPDIR": downloads},
        )
        said: list[str] = []
        reader = threading.Thread(target=_read, args=(pip, said), daemon=True)
        reader.start()
        try:
            while reader.is_alive():
                reader.join(WATCH_SECONDS)
                now = next((line for line in reversed(said) if not line.startswith("WARNING")), "starting pip")
                watch(f"{now[:90]}: {_size(engine.home)} in {engine.home}")
        except BaseException:
            pip.kill()
            raise
        if pip.wait() == 0:
            return None
    return ([line for line in said if line.startswith("ERROR")] or ["pip failed"])[-1]


def _read(pip: subprocess.Popen[str], said: list[str]) -> None:
    """Keep every line that pip says."""
    assert pip.stdout is not None
    for line in pip.stdout:
        if line.strip():
            said.append(line.strip())


def _size(folder: Path) -> str:
    """How large the files in a folder are together. Some may go while they are counted."""
    total = 0
    for place, _, names in os.walk(folder):
        for name in names:
            with contextlib.suppress(OSError):
                total += (Path(place) / name).lstat().st_size
    return f"{total / 1e9:.2f} GB" if total >= 1e8 else f"{total / 1e6:.0f} MB"
