"""C source to a loaded library, compiled once: kept in a cache under the content of all that it was made from.

The cache may be shared by runs at the same time: a file is written beside its place and put there in one move. A file
that is damaged, cut short, or not ours is compiled anew; a directory that others could write to is not used.
"""

from __future__ import annotations

import ctypes
import hashlib
import os
import shutil
import stat
import subprocess
import tempfile
from functools import cache
from pathlib import Path

FLAGS = ("-std=gnu11", "-shared", "-fPIC", "-fwrapv", "-w")
MOST_KEPT = 1000  # files; most are of 20 to 150 KB
SEAL = b"schedproof kernel 1\n"  # with the key and a checksum, the end of every library in the cache


class NoCompiler(Exception):
    """Nothing can be compiled here; the message says why."""


@cache
def compiler() -> tuple[str, str]:
    """The C compiler's path and what it says of its version. NoCompiler if there is none."""
    asked = os.environ.get("CC")
    for name in (asked,) if asked else ("cc", "gcc", "clang"):
        found = shutil.which(name)
        if found:
            said = subprocess.run([found, "--version"], capture_output=True, text=True, check=False)
            if said.returncode == 0:
                return found, said.stdout
    raise NoCompiler(f"there is no C compiler ({asked or 'cc, gcc or clang'})")


def library(source: str, *options: str, include: dict[str, str] | None = None) -> ctypes.CDLL:
    """The compiled source, from the cache if it is there. `include` are header files by name.

    Raises NoCompiler if there is no compiler, or if it refuses.
    """
    path, version = compiler()
    headers = include or {}
    options = (*options, *_native())
    told = "\0".join([SEAL.decode(), path, version, *FLAGS, *options, source, *headers, *headers.values(), _machine()])
    key = hashlib.sha256(told.encode()).hexdigest()
    place = cache_directory()
    with tempfile.TemporaryDirectory(prefix="schedproof-") as work:
        if place is None:
            return _load(_compile(Path(work), path, source, options, headers))
        kept = place / f"{key}.so"
        if _sound(kept, key):
            try:
                os.utime(kept)
                return _load(kept)
            except OSError:  # another run has just cleared it away
                pass
        made = _compile(Path(work), path, source, options, headers)
        _keep(made, kept, key)
        return _load(made)


def _native() -> tuple[str, ...]:
    """The option for code that runs on this processor and perhaps on no other; none where that cannot be told apart."""
    return ("-march=native",) if _processor() else ()


@cache
def _processor() -> str:
    """What this processor can do, as Linux says it; empty if it does not say."""
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="ascii", errors="replace").splitlines()
    except OSError:
        return ""
    said = dict(line.split(":", 1) for line in lines if ":" in line)  # processors are alike: the last one's lines stay
    return "".join(said.get(name, "") for name in said if name.strip() in ("model name", "flags"))


def _machine() -> str:
    """Compiled code is only for machines of which this is the same."""
    system = os.uname()
    return f"{system.sysname} {system.machine} {_processor()}"


def _load(path: Path) -> ctypes.CDLL:
    return ctypes.CDLL(str(path))


def _compile(work: Path, path: str, source: str, options: tuple[str, ...], headers: dict[str, str]) -> Path:
    for name, text in headers.items():
        (work / name).write_text(text)
    (work / "source.c").write_text(source)
    command = [path, *FLAGS, *options, "-o", "library.so", "source.c"]
    ran = subprocess.run(command, cwd=work, capture_output=True, text=True, check=False)
    if ran.returncode:
        said = next((line for line in ran.stderr.splitlines() if "error" in line), ran.stderr[:200]).strip()
        raise NoCompiler(f"the C compiler {path} refuses ({said})")
    return work / "library.so"


# ------------------------------------------------------------------------------------------- the cache
def cache_directory() -> Path | None:
    """Where libraries are kept: SCHEDPROOF_CACHE, or the user's cache. None if it cannot be made or is not ours alone."""
    base = os.environ.get("XDG_CACHE_HOME") or str(Path("~/.cache").expanduser())
    place = Path(os.environ.get("SCHEDPROOF_CACHE") or Path(base) / "schedproof")
    try:
        place.mkdir(mode=0o700, parents=True, exist_ok=True)
        found = place.stat()
    except (OSError, RuntimeError):
        return None
    ours = found.st_uid == os.geteuid() and not found.st_mode & (stat.S_IWGRP | stat.S_IWOTH)
    return place if ours and os.access(place, os.W_OK | os.X_OK) else None


def _seal(content: bytes, key: str) -> bytes:
    return SEAL + hashlib.sha256(key.encode() + content).hexdigest().encode()


def _sound(kept: Path, key: str) -> bool:
    """Whether the file ends with the seal that its name and content ask for."""
    try:
        content = kept.read_bytes()
    except OSError:
        return False
    size = len(_seal(b"", ""))
    return content[-size:] == _seal(content[:-size], key)


def _keep(made: Path, kept: Path, key: str) -> None:
    """Into the cache in one move, so that nobody ever sees half of it. Where there is no room for it, it is not kept."""
    content = made.read_bytes()
    try:
        handle, name = tempfile.mkstemp(dir=kept.parent, prefix="new-")
    except OSError:
        return
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(content + _seal(content, key))
        Path(name).replace(kept)
        _clear(kept.parent)
    except OSError:
        Path(name).unlink(missing_ok=True)


def _clear(place: Path) -> None:
    """Remove what was not used for longest, if there is too much. Another run may do so at the same time."""
    files = [entry for entry in os.scandir(place) if entry.is_file(follow_symlinks=False)]
    if len(files) > MOST_KEPT:
        oldest_first = sorted(files, key=lambda entry: entry.stat().st_mtime)
        for entry in oldest_first[: len(files) - MOST_KEPT // 2]:
            Path(entry.path).unlink(missing_ok=True)
