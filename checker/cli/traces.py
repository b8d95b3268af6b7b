"""Where the traces of a check are written."""

from __future__ import annotations

from pathlib import Path

from checker.check import WorldResult
from checker.replay import itf
from checker.report import picture
from checker.version import VERSION


def save_traces(result: WorldResult, place: Path) -> dict[str, Path]:
    """Write a trace for each violation, and its picture beside it."""
    saved, variation = {}, result.variation
    parts = [
        result.file.name,
        *([variation.policy.name] if variation.policy else []),
        *([variation.fault.name] if variation.fault else []),
        *("without-" + w.replace("/", "-") for w in variation.without),
    ]
    for trace in result.traces:
        path = place / ".".join([*parts, trace.shows, "itf", "json"])
        itf.save(trace, path, VERSION)
        picture.save(trace, result.properties, picture.beside(path))
        saved[trace.shows] = path
    return saved
