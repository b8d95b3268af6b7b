"""The bench's parts: one exploration in its own process, and SPIN's model of any of its worlds."""

from __future__ import annotations

import json

from benchmarks.one import explored, machine_of
from benchmarks.run import WORLDS, one
from model.readings.promela import promela


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
