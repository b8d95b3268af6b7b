"""The bench's parts: one exploration in its own process, and SPIN's model of any of its worlds."""

from __future__ import annotations

import json
import xml.etree.ElementTree as ET
from pathlib import Path

import pytest

from benchmarks.one import explored, has_minicheck, machine_of
from benchmarks.run import WORLDS, one
from benchmarks.shown import drawn, every_row, picture, wanted
from model.readings.promela import promela

ROOT = Path(__file__).parents[2]
LATEST = json.loads((ROOT / "benchmarks" / "results" / "latest.json").read_text(encoding="utf-8"))


def test_both_searches_count_alike() -> None:
    found = [explored("solo", tool, reduced, None) for tool in ("kernel", "python") for reduced in (True, False)]
    assert [f["states"] for f in found] == [621, 1109, 621, 1109]
    assert [f["transitions"] for f in found] == [1952, 3520, 1952, 3520]


def test_a_process_of_its_own_says_what_it_found() -> None:
    assert json.loads(one("kernel", "solo", "full"))["states"] == 1109
    assert one("promela", "solo") == promela(machine_of("solo"))


def test_every_world_of_the_bench_is_there() -> None:
    for world in WORLDS:
        assert machine_of(world).instances


@pytest.mark.skipif(not has_minicheck(), reason="minicheck is not installed; pip install 'schedproof[bench]'")
def test_minicheck_counts_alike() -> None:
    found = explored("solo", "minicheck", False, None)
    assert (found["states"], found["transitions"], found["bound"], found["violated"]) == (1109, 3520, None, [])


# ------------------------------------------------------------------------------------------------- what is shown of it
def test_readme_note_and_picture_are_those_of_the_last_run() -> None:
    for path, text in wanted(ROOT, LATEST).items():
        assert path.read_text(encoding="utf-8") == text, f"{path.name}: python -m benchmarks.shown"


def test_another_result_is_another_table_and_picture() -> None:
    rows = [dict(r) for r in LATEST["rows"]]
    for row in rows:
        row["states"] += 1_000_000
    assert every_row(rows) != every_row(LATEST["rows"])
    assert picture(rows) != picture(LATEST["rows"])


def test_the_picture_has_a_bar_for_every_full_search_on_one_processor() -> None:
    svg = ET.fromstring(picture(LATEST["rows"]))
    bars = [e for e in svg.iter("{http://www.w3.org/2000/svg}rect") if e.get("fill") != "#fff"]
    assert len(bars) == len(drawn(LATEST["rows"])) > 12


def test_every_world_was_measured_against_spin() -> None:
    """The numbers that the texts show are of one run, on every world, with equal counts."""
    for world in WORLDS:
        here = [r for r in LATEST["rows"] if r["world"] == world and not r["reduced"]]
        assert {"kernel", "spin"} <= {r["tool"] for r in here}
        assert len({(r["states"], r["transitions"]) for r in here}) == 1
