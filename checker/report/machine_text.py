"""Results for machines: JSON with stable keys (see checker/report/schemas), and JUnit XML."""

from __future__ import annotations

import json
import xml.etree.ElementTree as ET
from pathlib import Path
from typing import Any

from checker.check import CheckResult, WorldResult
from checker.report.check_text import dial_line
from checker.report.trace_text import headline, meaning, reasons
from checker.search.simulate import Simulation
from checker.verdict import Unusable, Verdict, cause


def check_json(result: CheckResult, version: str, files: dict[str, dict[str, Path]]) -> str:
    """The document of `check --json`."""
    document = {
        "version": version,
        "command": "check",
        "verdict": result.verdict.word,
        "worlds": [_world(r, files.get(r.file.name, {})) for r in result.results],
        "unreached": list(result.unreached),
        "untried": list(result.untried),
    }
    return json.dumps(document, indent=2)


def _world(result: WorldResult, files: dict[str, Path]) -> dict[str, Any]:
    search = result.search
    fault = result.variation.fault
    row: dict[str, Any] = {
        "world": result.file.name,
        "dials": result.file.world.plain(),
        "fault": fault.name if fault else None,
        "without": list(result.variation.without),
        "verdict": result.verdict.word,
        "as_expected": result.as_expected,
        "bound": search.bound,
        "seconds": round(search.seconds, 3),
        "transitions": search.transitions,
        "violations": [
            {
                "property": t.shows,
                "length": t.length,
                "trace": str(files[t.shows]) if t.shows in files else None,
            }
            for t in result.traces
        ],
        "not_judged": list(result.skipped),
    }
    if isinstance(search, Simulation):
        return row | {"kind": "simulation", "walks": search.walks, "states": search.distinct, "depth": search.longest}
    return row | {
        "kind": "exploration",
        "states": len(search.states),
        "up_to_renaming": search.symmetry is not None,
        "depth": search.depth,
        "rules": search.fired,
        "guards_alone_false": search.sole,
        "witnesses_unmet": list(search.unmet),
    }


def write_junit(result: CheckResult, path: Path) -> None:
    """A test case for each property in each world; Unusable if the file cannot be written."""
    suite = ET.Element("testsuite", name="schedproof check")
    for r in result.results:
        _cases(suite, r)
    if result.whole:
        case = ET.SubElement(suite, "testcase", classname="schedproof", name="every rule and witness is reached")
        if result.unreached:
            ET.SubElement(case, "error", message=f"not reached in any world: {', '.join(result.unreached)}")
    write_suite(suite, path)


def write_suite(suite: ET.Element, path: Path) -> None:
    """Count the cases and write the file; Unusable if it cannot be written."""
    cases = list(suite)
    suite.set("tests", str(len(cases)))
    suite.set("failures", str(sum(c.find("failure") is not None for c in cases)))
    suite.set("errors", str(sum(c.find("error") is not None for c in cases)))
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        ET.ElementTree(suite).write(path, encoding="utf-8", xml_declaration=True)
    except OSError as error:
        raise Unusable(
            f"the JUnit file cannot be written to {path} ({cause(error)}); give another --junit FILE."
        ) from None


def _cases(suite: ET.Element, result: WorldResult) -> None:
    traces = {t.shows: t for t in result.traces}
    names = [p.name for p in result.judged]
    open_ends = {s.partition(" ")[0]: s for s in result.skipped}
    for name in [*names, *(n for n in traces if n not in names)]:
        case = ET.SubElement(suite, "testcase", classname=f"schedproof.{result.file.name}", name=name)
        if name in result.unexpected:
            failure = ET.SubElement(case, "failure", message=headline(traces[name]))
            declared = next((p for p in result.properties if p.name == name), None)
            events = [f"{n}. {e.text}" for n, e in enumerate(traces[name].events, 1)]
            failure.text = "\n".join([*meaning(traces[name], declared), *events, *reasons(traces[name], declared)])
        elif name not in traces and name in result.file.expect and result.verdict is Verdict.VIOLATED:
            ET.SubElement(case, "failure", message=f"{name} should be violated in {result.file.name}, and is not")
        elif result.search.bound is not None and name not in traces:
            rests = dial_line(result.variation.model, result.file.world)
            message = f"not determined: the search stopped at {result.search.bound} ({rests})"
            ET.SubElement(case, "error", message=message)
        elif name in open_ends:
            ET.SubElement(case, "error", message=open_ends[name])
