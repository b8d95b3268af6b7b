"""Which hypotheses a proof is tried with first.

A hint says what was enough the last time; with few hypotheses a query is small. One that is wrong costs time, and no
more: what it leaves open is tried with all. `python -m benchmarks.prove --hints` writes the file anew.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path

# Claims that are proved for each value of a dial by itself, since the reasons are others.
BY_CASES: Mapping[tuple[str, str], str] = {
    ("execute", "memory.reads-own-text"): "device",
    ("execute", "pending.reads-its-text"): "device",
    ("execute", "pending.next-reads-its-text"): "device",
    ("execute", "pending.written-last-by-itself"): "device",
    ("execute", "pending.next-written-last-by-itself"): "device",
    ("execute", "memory.settled-is-there"): "device",
    ("execute", "content.own-on-each"): "device",
    ("execute", "content.run-on-each"): "device",
    ("where rules are stuck", "rest.oldest-is-empty"): "device",
}
# They say much, and only proofs with a hint need them: the others are tried without first.
APART: tuple[str, ...] = (
    "pending.reads-its-text",
    "pending.next-reads-its-text",
    "pending.written-last-by-itself",
    "pending.next-written-last-by-itself",
    "pending.writes-alone",
)
FILE = Path(__file__).with_name("hints.json")


def hints() -> Mapping[str, Mapping[str, Mapping[str, tuple[str, ...]]]]:
    """By rule, claim and case ("" where there are no cases), the names of hypotheses."""
    written: dict[str, dict[str, dict[str, list[str]]]] = json.loads(FILE.read_text())
    return {
        rule: {claim: {case: tuple(names) for case, names in by_case.items()} for claim, by_case in of.items()}
        for rule, of in written.items()
    }
