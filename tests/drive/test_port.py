"""The port: an adapter that crashes, hangs or babbles is noticed, named and bounded in time; an engine's error is a finding."""

from __future__ import annotations

import json
import sys
import time
from pathlib import Path

import pytest

from checker.replay.port import AdapterLost, EngineError, Port
from checker.verdict import Unusable

ADAPTER = Path(__file__).with_name("model_adapter.py")
WORLD = {"requests": [{"prompt": [1, 2], "limit": 1}], "blocks": 2, "block_size": 2, "budget": 2, "seats": 1}
SUBMIT = {"kind": "event", "rule": "submit", "at": [0]}


def adapter(misbehave: str = "", seconds: float = 30.0) -> Port:
    return Port([sys.executable, str(ADAPTER), "", json.dumps({"depth": 1}), misbehave], step_seconds=seconds)


def test_a_step_leaves_the_state_it_started_from_usable() -> None:
    with adapter() as port:
        assert port.describe()["engine"] == "model"
        start = port.ask("reset", configuration="rules", world=WORLD)
        first = port.ask("step", state=start["state"], move=SUBMIT)
        again = port.ask("step", state=start["state"], move=SUBMIT)
        assert first == again
        assert first["observation"]["requests"][0]["phase"] == "WAITING"
        assert start["observation"]["requests"][0]["phase"] == "NEW"


def test_an_exception_of_the_engine_is_a_finding_and_the_adapter_lives_on() -> None:
    with adapter("raise") as port:
        start = port.ask("reset", configuration="rules", world=WORLD)
        with pytest.raises(EngineError) as raised:
            port.ask("step", state=start["state"], move=SUBMIT)
        assert (raised.value.type, str(raised.value)) == ("KeyError", "KeyError: 'r0'")
        assert port.ask("reset", configuration="rules", world=WORLD)["state"] == start["state"]


@pytest.mark.parametrize(
    ("misbehave", "sentence"),
    [
        ("crash", "the adapter ended with exit code 7"),
        ("hang", "the adapter gave no answer within 0.5 s and was ended"),
        ("babble", "the adapter wrote a line that is no JSON: b'this is no JSON'"),
    ],
)
def test_an_adapter_that_misbehaves_is_named_and_bounded(misbehave: str, sentence: str) -> None:
    began = time.monotonic()
    with adapter(misbehave) as port:
        start = port.ask("reset", configuration="rules", world=WORLD)
        with pytest.raises(AdapterLost) as lost:
            port.ask("step", seconds=0.5 if misbehave == "hang" else None, state=start["state"], move=SUBMIT)
        assert str(lost.value) == sentence
    assert time.monotonic() - began < 20


def test_what_a_dying_adapter_wrote_is_quoted(tmp_path: Path) -> None:
    broken = tmp_path / "broken.py"
    broken.write_text("import no_such_engine\n")
    with Port([sys.executable, str(broken)]) as port, pytest.raises(AdapterLost) as lost:
        port.describe()
    assert "it wrote: " in str(lost.value)
    assert "No module named 'no_such_engine'" in str(lost.value)


def test_a_long_wait_is_told_while_it_lasts() -> None:
    told: list[str] = []
    silent = [sys.executable, "-c", "import time; time.sleep(60)"]
    with Port(silent, watch=told.append) as port, pytest.raises(AdapterLost, match=r"no answer within 2\.5 s"):
        port.ask("describe", seconds=2.5)
    assert len(told) >= 2
    assert all(line.endswith(" of 2.5 s for the adapter to answer describe") for line in told)


def test_an_adapter_that_talks_and_ends_is_told_with_its_exit_code(tmp_path: Path) -> None:
    broken = tmp_path / "broken.py"
    broken.write_text("import sys\nprint('hi', flush=True)\nsys.exit('no licence')\n")
    with Port([sys.executable, str(broken)]) as port, pytest.raises(AdapterLost) as lost:
        port.describe()
    assert str(lost.value) == (
        "the adapter wrote a line that is no JSON: b'hi', and ended with exit code 1; it wrote: no licence"
    )


def test_a_python_that_is_not_there_is_one_sentence() -> None:
    with pytest.raises(Unusable) as refused:
        Port(["/no/such/python", "adapter.py"])
    assert str(refused.value) == (
        "/no/such/python cannot be started (No such file or directory); give a Python with --python."
    )
