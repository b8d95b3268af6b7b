"""Building an engine's environment: what is said while it goes on, and when it fails."""

from __future__ import annotations

from pathlib import Path

import pytest

from checker.replay import environment
from checker.replay.environment import Engine, check_version, find_engine, set_up
from checker.verdict import Unusable

PIP = """#!/bin/sh
echo "Collecting torch==2.13.0"
head -c 3000000 /dev/zero > "$TMPDIR/torch.whl"
echo "WARNING: this index has none"
sleep 0.5
echo "Installing collected packages: torch"
cp "$TMPDIR/torch.whl" "{home}/torch"
sleep 0.5
"""


def engine_with(tmp_path: Path, pip: str) -> Engine:
    """An engine whose Python is a script that does what pip would."""
    engine = Engine("toy", tmp_path / "adapter.py", tmp_path / "home")
    engine.python.parent.mkdir(parents=True)
    engine.python.write_text(pip.replace("{home}", str(engine.home)))
    engine.python.chmod(0o755)
    (tmp_path / "requirements.txt").write_text("# what it imports\ntorch==2.13.0  # for the CPU\n")
    (tmp_path / "engine.txt").write_text("toy==1\n")
    return engine


def test_progress_and_size_are_shown_while_it_installs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(environment, "WATCH_SECONDS", 0.05)
    engine, steps, watched = engine_with(tmp_path, PIP), [], []  # type: ignore[var-annotated]
    set_up(engine, steps.append, watched.append)
    lists = [f"installing what {tmp_path / name} names" for name in ("requirements.txt", "engine.txt")]
    assert steps == [*lists, f"{engine.home} is ready: 3 MB"]
    assert f"Collecting torch==2.13.0: 3 MB in {engine.home}" in watched, "the download counts"
    assert f"Installing collected packages: torch: 6 MB in {engine.home}" in watched
    assert sorted(p.name for p in engine.home.iterdir()) == ["bin", "torch"], "and it is gone in the end"


def test_what_pip_refuses_is_one_sentence(tmp_path: Path) -> None:
    engine = engine_with(
        tmp_path, "#!/bin/sh\necho Collecting toy\necho 'ERROR: No matching distribution' >&2\nexit 1\n"
    )
    with pytest.raises(Unusable) as refused:
        set_up(engine, lambda line: None, lambda line: None)
    assert str(refused.value) == (
        f"the environment in {engine.home} could not be built (ERROR: No matching distribution); "
        f"see what {tmp_path / 'requirements.txt'} says, or give --python."
    )


def test_another_version_than_the_shipped_one_is_not_built() -> None:
    with pytest.raises(Unusable) as refused:
        set_up(find_engine("vllm==0.11.0"), print, print)
    assert str(refused.value) == (
        "vllm 0.11.0 was asked for, but --setup installs vllm 0.10.2; "
        "ask for vllm==0.10.2, or give a Python that has 0.11.0 with --python."
    )


def test_a_python_with_another_version_is_refused() -> None:
    engine = find_engine("vllm==0.11.0")
    with pytest.raises(Unusable, match=r"^vllm 0\.11\.0 was asked for, but that Python has vllm 0\.10\.2; "):
        check_version(engine, "0.10.2", "that Python has")
    check_version(engine, "0.11.0", "that Python has")
    check_version(find_engine("vllm"), "0.10.2", "that Python has")


def test_a_version_that_is_not_named_is_refused() -> None:
    with pytest.raises(Unusable, match=r"^vllm== names no version behind ==; give one, or vllm alone\.$"):
        find_engine("vllm==")
