"""The built handbook, and Chromium to open it in. What is missing is said, and its tests are skipped."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from checker.cli.main import run

ROOT = Path(__file__).resolve().parents[2]

# Chromium's own connections are switched off, so that any request that is seen is the page's.
QUIET = (
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
)


@pytest.fixture(scope="session")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The handbook: the one that SCHEDPROOF_HANDBOOK names, or one that is built now."""
    made = os.environ.get("SCHEDPROOF_HANDBOOK")
    if made:
        return (ROOT / made).resolve()
    place = tmp_path_factory.mktemp("handbook")
    assert run(["handbook", "--out", str(place), "--quiet"]).value == 0
    return place


@pytest.fixture(scope="session")
def browser() -> Iterator[Any]:
    """Chromium from the system, driven by Playwright."""
    playwright = pytest.importorskip("playwright.sync_api", reason="playwright is not installed: make test-handbook")
    program = shutil.which("chromium")
    if program is None:
        pytest.skip("chromium is not installed: apt-get install chromium")
    with playwright.sync_playwright() as driver:
        opened = driver.chromium.launch(executable_path=program, args=list(QUIET))
        yield opened
        opened.close()


@pytest.fixture(scope="session")
def axe() -> str:
    """The source of axe-core, which checks pages for accessibility."""
    path = ROOT / ".browser" / "node_modules" / "axe-core" / "axe.min.js"
    if not path.is_file():
        pytest.skip("axe-core is not installed: npm install --prefix .browser axe-core")
    return path.read_text()
