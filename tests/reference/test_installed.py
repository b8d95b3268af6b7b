"""Whether the engine's tests run here at all."""

from __future__ import annotations

import pytest

from checker.replay.reference import available


def test_torch_is_installed() -> None:
    if not available():
        pytest.skip(
            "torch is not installed (pip install -e '.[engine]'): the tests of the reference engine are left out"
        )
    __import__("engine_ref")
