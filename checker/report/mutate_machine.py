"""The results of `mutate` for machines: JSON and JUnit."""

from __future__ import annotations

import json
import xml.etree.ElementTree as ET
from pathlib import Path
from typing import Any

from checker.mutate.campaign import Campaign
from checker.mutate.hunt import Hunted
from checker.report.machine_text import write_suite
from specs.faults.equivalent import EQUIVALENT


def mutate_json(result: Campaign, version: str) -> str:
    """The document of `mutate --json`."""
    document = {
        "version": version,
        "command": "mutate",
        "verdict": result.verdict.word,
        "subjects": [_row(h) for h in result.hunted],
        "caught": len(result.caught),
        "caught_beyond_bounds": result.beyond_bounds,
        "protected_by": result.protected_by(),
        "wrong": result.wrong,
    }
    return json.dumps(document, indent=2)


def _row(hunted: Hunted) -> dict[str, Any]:
    catch = hunted.catch
    caught = None
    if catch is not None:
        caught = {
            "how": catch.how.name.lower(),
            "by": catch.shows,
            "length": catch.length,
            "world": catch.world,
            "also": dict(catch.also),
        }
    return {
        "name": hunted.subject.name,
        "kind": hunted.subject.kind.name.lower(),
        "caught": caught,
        "changes_nothing_because": EQUIVALENT.get(hunted.subject.name) if catch is None else None,
        "worlds_showing_nothing": list(hunted.tried) if catch is None else [],
        "worlds_left": list(hunted.left),
        "seconds": round(hunted.seconds, 3),
    }


def write_mutate_junit(result: Campaign, path: Path) -> None:
    """A test case for each subject; Unusable if the file cannot be written."""
    suite = ET.Element("testsuite", name="schedproof mutate")
    wrong = dict(result.wrong)
    for hunted in result.hunted:
        case = ET.SubElement(
            suite,
            "testcase",
            classname=f"schedproof.mutate.{hunted.subject.kind.name.lower()}",
            name=hunted.subject.name,
            time=f"{hunted.seconds:.3f}",
        )
        if (why := wrong.pop(hunted.subject.name, None)) is not None:
            ET.SubElement(case, "failure", message=f"{hunted.subject.name} {why}")
    for name, why in wrong.items():
        case = ET.SubElement(suite, "testcase", classname="schedproof.mutate", name=name)
        ET.SubElement(case, "failure", message=f"{name} {why}")
    write_suite(suite, path)
