"""Which hypotheses a proof is tried with first.

A hint says what was enough the last time; with few hypotheses a query is small. One that is wrong costs time, and no
more: what it leaves open is tried with all. `python -m benchmarks.prove --hints` writes the file anew.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path

FILE = Path(__file__).with_name("hints.json")


def hints() -> Mapping[str, Mapping[str, tuple[str, ...]]]:
    """By rule and claim, the names of hypotheses."""
    written: dict[str, dict[str, list[str]]] = json.loads(FILE.read_text())
    return {rule: {claim: tuple(names) for claim, names in of.items()} for rule, of in written.items()}
