"""Results for machines: JSON with stable keys (see checker/report/schemas), and JUnit XML."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from checker.check import CheckResult, WorldResult
from checker.report.check_text import dial_line
from checker.report.drive_text import standing
from checker.report.junit import Case
from checker.report.trace_text import headline, meaning, reasons
from checker.search.limits import INTERRUPT
from checker.search.simulate import Simulation
from checker.verdict import Verdict

Row = dict[str, Any]
Left = dict[str, list[str]]


def check_json(result: CheckResult, version: str, files: dict[str, dict[str, Path]]) -> str:
    """The document of `check --json`."""
    worlds = [_world(r, files.get(r.file.name, {})) for r in result.results]
    return _check(result.verdict, version, worlds, list(result.unreached), list(result.untried), [])


def policies_json(
    verdict: Verdict, version: str, results: Sequence[WorldResult], files: Sequence[dict[str, Path]], rows: list[Row]
) -> str:
    """The document of `check --policies --json`: the worlds under each policy, and what each policy keeps."""
    worlds = [_world(r, f) for r, f in zip(results, files, strict=True)]
    return _check(verdict, version, worlds, [], [], rows)


def _check(
    verdict: Verdict, version: str, worlds: list[Row], unreached: list[str], untried: list[str], policies: list[Row]
) -> str:
    document = {
        "version": version,
        "command": "check",
        "verdict": verdict.word,
        "worlds": worlds,
        "unreached": unreached,
        "untried": untried,
        "policies": policies,
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
        "policy": result.variation.policy.name if result.variation.policy else None,
        "verdict": result.verdict.word,
        "as_expected": result.as_expected,
        "bound": search.bound,
        "seconds": round(search.seconds, 3),
        "transitions": search.transitions,
        "violations": [
            {
                "property": t.shows,
                "length": t.length,
                "loop": None if t.loop is None else t.length - t.loop,
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
        "explored": search.searched or None,
    }


def check_cases(result: CheckResult) -> list[Case]:
    """A test case for each property in each world, and one for what all worlds together should reach."""
    cases = [case for r in result.results for case in _cases(r)]
    if result.whole:
        missing = f"not reached in any world: {', '.join(result.unreached)}" if result.unreached else ""
        cases.append(Case("schedproof", "every rule and witness is reached", error=missing))
    return cases


def _cases(result: WorldResult) -> Iterator[Case]:
    traces = {t.shows: t for t in result.traces}
    names = [p.name for p in result.judged]
    open_ends = {s.partition(" ")[0]: s for s in result.skipped}
    where = f"schedproof.{result.file.name}"
    for name in [*names, *(n for n in traces if n not in names)]:
        if name in result.unexpected:
            declared = next((p for p in result.properties if p.name == name), None)
            events = [f"{n}. {e.text}" for n, e in enumerate(traces[name].events, 1)]
            text = "\n".join([*meaning(traces[name], declared), *events, *reasons(traces[name], declared)])
            yield Case(where, name, failure=headline(traces[name]), text=text)
        elif name in traces:
            yield Case(where, name, note=f"as this world expects: {headline(traces[name])}")
        elif name in result.file.expect and result.verdict is Verdict.VIOLATED:
            yield Case(where, name, failure=f"{name} should be violated in {result.file.name}, and is not")
        elif result.search.bound is not None:
            rests = dial_line(result.variation.model, result.file.world)
            yield Case(where, name, error=f"not determined: the search stopped at {result.search.bound} ({rests})")
        else:
            yield Case(where, name, error=open_ends.get(name, ""))


def drive_json(verdict: Verdict, version: str, described: Mapping[str, Any], rows: list[Row], left: Left) -> str:
    """The document of `drive --json`. `left` names the configurations and loads that were not tried."""
    document = {
        "version": version,
        "command": "drive",
        "verdict": verdict.word,
        "engine": {key: described[key] for key in ("engine", "version", "tested")},
        "assumptions": described["assumptions"],
        "runs": rows,
        "untried": left,
    }
    return json.dumps(document, indent=2)


def drive_cases(rows: list[Row], baseline: bool) -> list[Case]:
    """A test case for each finding that is there, and one for what else a run did.

    `baseline`: only what is new was asked for, so that a bound is noted and is no error. An interrupt still is.
    """
    return [case for row in rows for case in _drive_cases(row, baseline)]


def _drive_cases(row: Row, baseline: bool) -> Iterator[Case]:
    where = f"schedproof.{row['configuration']}.{row['load']}"
    for found in row["findings"]:
        text = f"{found['sentence']}\n{'; '.join(found['moves'])}\nscript: {found['script']}"
        if found["standing"] == "new":
            yield Case(where, found["kind"], failure=found["sentence"], text=text)
        else:
            yield Case(where, found["kind"], note=f"{standing(found)}\n{text}")
    name, stopped = "every other step is a path of the rules", f"the search stopped at {row['bound']}"
    if row["exhausted"]:
        yield Case(where, name)
    elif baseline and row["bound"] != INTERRUPT:
        yield Case(where, name, note=f"no new finding; {stopped}")
    else:
        yield Case(where, name, error=f"not determined: {stopped}")


def error_json(verdict: Verdict, version: str, command: str | None, sentence: str) -> str:
    """What a command with --json prints if it comes to no result."""
    document = {"version": version, "command": command, "verdict": verdict.word, "error": sentence}
    return json.dumps(document, indent=2)
