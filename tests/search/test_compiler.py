"""Compiled code is kept, and nothing is taken for it that is not."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from checker.search.kernel import compiler

SOURCE = "int answer(void) { return 42; }\n"


@pytest.fixture
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    place = tmp_path / "cache"
    monkeypatch.setenv("SCHEDPROOF_CACHE", str(place))
    compiler.compiler.cache_clear()
    yield place
    compiler.compiler.cache_clear()


@pytest.fixture
def compiled(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """What was compiled, and not found in the cache."""
    done: list[str] = []
    real = compiler._compile

    def compile_(work: Path, path: str, source: str, options: tuple[str, ...], headers: dict[str, str]) -> Path:
        done.append(source)
        return real(work, path, source, options, headers)

    monkeypatch.setattr(compiler, "_compile", compile_)
    return done


def answer(source: str = SOURCE, *options: str) -> int:
    return int(compiler.library(source, *options).answer())


def test_the_second_time_nothing_is_compiled(cache: Path, compiled: list[str]) -> None:
    assert [answer(), answer()] == [42, 42]
    assert compiled == [SOURCE]
    (kept,) = cache.iterdir()
    assert kept.suffix == ".so"
    assert cache.stat().st_mode & 0o777 == 0o700


def test_another_source_or_other_options_are_another_file(cache: Path, compiled: list[str]) -> None:
    other = SOURCE.replace("42", "43")
    assert [answer(), answer(other), answer(SOURCE, "-O1"), answer(SOURCE, "-O1")] == [42, 43, 42, 42]
    assert len(compiled) == len(list(cache.iterdir())) == 3


def test_code_for_another_processor_is_another_file(
    cache: Path, compiled: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """A cache may lie in a home that several machines share."""
    answer()
    monkeypatch.setattr(compiler, "_processor", lambda: "one that can do less")
    assert answer() == 42
    assert len(compiled) == len(list(cache.iterdir())) == 2


def test_where_the_processor_is_not_known_code_is_for_any(
    cache: Path, compiled: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    assert compiler._native() == (("-march=native",) if compiler._processor() else ())
    monkeypatch.setattr(compiler, "_processor", lambda: "")
    assert compiler._native() == ()
    assert answer() == 42


@pytest.mark.parametrize("damage", ["empty", "cut", "changed", "foreign", "another's"])
def test_a_file_that_is_not_what_was_kept_is_made_anew(cache: Path, compiled: list[str], damage: str) -> None:
    answer()
    (kept,) = cache.iterdir()
    content = kept.read_bytes()
    answer(SOURCE.replace("42", "43"))
    (other,) = (f for f in cache.iterdir() if f != kept)
    # A loaded library must not be changed where it lies, so each of these is another file under the same name.
    kept.unlink()
    kept.write_bytes(
        {
            "empty": b"",
            "cut": content[:-200],
            "changed": content[:5000] + b"\x00\x01\x02" + content[5003:],
            "foreign": b"#!/bin/sh\necho no library\n" * 100,
            "another's": other.read_bytes(),
        }[damage]
    )
    assert answer() == 42
    assert len(compiled) == 3
    assert kept.read_bytes()[-64:] == content[-64:] or len(kept.read_bytes()) == len(content)
    answer()
    assert len(compiled) == 3


def test_a_directory_that_others_can_write_to_is_not_used(cache: Path, compiled: list[str]) -> None:
    cache.mkdir(mode=0o700)
    cache.chmod(0o777)
    assert [answer(), answer()] == [42, 42]
    assert list(cache.iterdir()) == []
    assert len(compiled) == 2


def test_a_directory_that_cannot_be_made_is_done_without(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, cache: Path
) -> None:
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("SCHEDPROOF_CACHE", str(tmp_path / "file" / "below"))
    assert compiler.cache_directory() is None
    assert answer() == 42


def test_runs_at_the_same_time_do_not_disturb_each_other(cache: Path) -> None:
    """Each finds the cache empty, or a whole file in it."""
    script = (
        "from checker.search.kernel.compiler import library\n"
        "for n in range(6): assert library(f'int answer(void) {{ return {n}; }}').answer() == n\n"
    )
    house = Path(compiler.__file__).parents[3]
    environment = {**os.environ, "PYTHONPATH": str(house), "SCHEDPROOF_CACHE": str(cache)}
    runs = [subprocess.Popen([sys.executable, "-c", script], env=environment) for _ in range(4)]
    assert [r.wait() for r in runs] == [0] * 4
    assert sorted(f.suffix for f in cache.iterdir()) == [".so"] * 6


def test_what_was_not_used_for_longest_goes_first(
    cache: Path, compiled: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(compiler, "MOST_KEPT", 4)
    sources = [SOURCE.replace("42", str(n)) for n in range(5)]
    for age, source in enumerate(sources[:4]):
        answer(source)
        (newest,) = (f for f in cache.iterdir() if f.stat().st_mtime > 10_000)
        os.utime(newest, (age, age))
    answer(sources[0])  # used again, so that it is the second now that goes first
    assert len(list(cache.iterdir())) == 4
    answer(sources[4])
    assert len(list(cache.iterdir())) == 2
    done = len(compiled)
    assert [answer(sources[0]), answer(sources[4])] == [0, 4]
    assert len(compiled) == done
    assert answer(sources[1]) == 1
    assert len(compiled) == done + 1


def test_without_a_compiler_one_sentence_says_so(cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CC", "no-such-compiler")
    with pytest.raises(compiler.NoCompiler) as caught:
        answer()
    assert str(caught.value) == "there is no C compiler (no-such-compiler)"


def test_what_the_compiler_refuses_is_said(cache: Path) -> None:
    with pytest.raises(compiler.NoCompiler, match=r"the C compiler \S+ refuses \(source\.c:1:\S* error: .*\)"):
        answer("int answer(void) { return nothing; }")
    assert list(cache.iterdir()) == []
