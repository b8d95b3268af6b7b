"""`export`, and the choice of the search."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from checker.search.kernel import binding, compiler
from tests.cli.conftest import Cli


def test_a_world_is_printed_as_a_model(cli: Cli) -> None:
    ran = cli("export", "solo", "--to", "promela")
    assert (ran.code, ran.err) == (0, "")
    assert ran.out.startswith("/* The request lifecycle in the world solo\n")
    assert "  /* acquire(r0, b1) */\n  :: d_step { can_acquire_r0_b1 ->\n" in ran.out
    assert "#define holds_ownership_exclusive " in ran.out
    assert ran.out.endswith("  od\n}\n")


def test_a_change_is_in_it_and_said(cli: Cli, tmp_path: Path) -> None:
    path = tmp_path / "solo.pml"
    ran = cli("export", "solo", "--without", "notify.once", "--set", "blocks=3", "--output", str(path))
    assert (ran.code, ran.out, ran.err) == (0, "", "")
    text = path.read_text()
    assert text.startswith("/* The request lifecycle in the world solo without notify.once\n")
    assert "table_r0_b2" in text
    (guard,) = (line for line in text.splitlines() if line.startswith("#define can_notify_r0 "))
    assert "notified_r0" not in guard


def test_a_fault_is_in_it(cli: Cli) -> None:
    plain, faulty = cli("export", "pair"), cli("export", "pair", "--fault", "notify-twice")
    assert (plain.code, faulty.code) == (0, 0)
    assert faulty.out.splitlines()[0] == "/* The request lifecycle in the world pair with the fault notify-twice"
    assert faulty.out.splitlines()[1:] != plain.out.splitlines()[1:]


def test_a_place_that_cannot_be_written_to(cli: Cli, tmp_path: Path) -> None:
    ran = cli("export", "solo", "--output", str(tmp_path / "none" / "solo.pml"))
    assert (ran.code, ran.out) == (2, "")
    assert ran.err == (
        f"error: {tmp_path}/none/solo.pml cannot be written (No such file or directory); give another --output FILE.\n"
    )


def test_an_unknown_world(cli: Cli) -> None:
    ran = cli("export", "sola")
    assert ran.code == 2
    assert ran.err.startswith("error: there is no world sola; did you mean solo")


# ------------------------------------------------------------------------------------------------ --search
@pytest.fixture
def no_compiler(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setenv("CC", "no-such-compiler")
    compiler.compiler.cache_clear()
    binding.engine.cache_clear()
    yield
    compiler.compiler.cache_clear()


@pytest.mark.usefixtures("no_compiler")
def test_without_a_compiler_python_explores_and_says_why(cli: Cli) -> None:
    ran = cli("check", "solo")
    assert (ran.code, ran.err) == (0, "")
    assert "  explored by python, since there is no C compiler (no-such-compiler)\n" in ran.out


@pytest.mark.usefixtures("no_compiler")
def test_without_a_compiler_a_machine_is_told_too(cli: Cli) -> None:
    (world,) = cli("check", "solo", "--json").document("check")["worlds"]
    assert world["explored"] == "by python, since there is no C compiler (no-such-compiler)"


@pytest.mark.usefixtures("no_compiler")
def test_without_a_compiler_the_kernel_cannot_be_asked_for(cli: Cli) -> None:
    ran = cli("check", "solo", "--search", "kernel")
    assert (ran.code, ran.out) == (2, "")
    assert ran.err == "error: --search kernel cannot be used for solo: there is no C compiler (no-such-compiler).\n"


@pytest.mark.parametrize("chosen", ["kernel", "python"])
def test_either_search_can_be_asked_for(cli: Cli, chosen: str) -> None:
    ran = cli("check", "solo", "--search", chosen)
    assert ran.code == 0
    assert "  621 states up to renaming, 1,952 transitions, depth 29, " in ran.out
    assert "explored by" not in ran.out


def test_the_search_is_in_the_command_that_reproduces_a_result(cli: Cli) -> None:
    ran = cli("check", "solo", "--without", "notify.once", "--search", "python")
    assert ran.line("again:").endswith("--without notify.once --search python")
