"""The Python that an engine lives in: built from the requirements its adapter ships, or the user's own."""

from __future__ import annotations

import subprocess
import sys
import venv
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from checker.verdict import Unusable


@dataclass(frozen=True)
class Engine:
    """An adapter and where the environment for it is kept."""

    name: str
    adapter: Path
    home: Path

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
    short = name.partition("==")[0]
    folder = adapters() / short
    if not (folder / "adapter.py").is_file():
        known = ", ".join(sorted(p.parent.name for p in adapters().glob("*/adapter.py"))) or "none here"
        raise Unusable(f"there is no adapter for {name}; there are: {known}, or give the path of an adapter file.")
    return Engine(short, folder / "adapter.py", Path(".engines") / short)


def adapters() -> Path:
    """Where adapters are: beside our own packages, in a source tree and in an installation alike."""
    return Path(__file__).resolve().parent.parent.parent / "adapters"


def set_up(engine: Engine, say: Callable[[str], None]) -> None:
    """Build the engine's environment from what its adapter ships, step by step. Unusable if a step fails.

    What the engine imports comes first, with its torch named; the engine itself then brings none of its own.
    """
    if not engine.python.exists():
        say(f"creating {engine.home}")
        venv.create(engine.home, with_pip=True)
    for name, options in (("requirements.txt", []), ("engine.txt", ["--no-deps"])):
        listed = engine.adapter.parent / name
        say(f"installing {', '.join(packages(listed))}")
        command = [str(engine.python), "-m", "pip", "install", "--disable-pip-version-check", "--quiet", *options]
        done = subprocess.run([*command, "-r", str(listed)], capture_output=True, text=True, check=False)
        if done.returncode:
            last = [line for line in done.stderr.splitlines() if line.startswith("ERROR")][-1:] or ["pip failed"]
            raise Unusable(
                f"the environment in {engine.home} could not be built ({last[0]}); try --setup again, or --python."
            )
    size = sum(f.stat().st_size for f in engine.home.rglob("*") if f.is_file())
    say(f"{engine.home} is ready: {size / 1e9:.1f} GB")


def packages(listed: Path) -> list[str]:
    """The packages that a requirements file names."""
    lines = (line.partition("#")[0].strip() for line in listed.read_text().splitlines())
    return [line for line in lines if line]
