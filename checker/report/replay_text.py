"""The results of `replay`: as text, for machines, and as test cases."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

from checker.replay.again import ENGINE, Replayed
from checker.report.junit import Case
from checker.report.trace_text import departs, headline
from checker.verdict import Verdict


def lines(replayed: Replayed) -> list[str]:
    """What a file gave, and what is not as it should be."""
    where = " on the engine" if replayed.on == ENGINE else ""
    what = [f"  {headline(replayed.trace)}:"] if replayed.trace is not None else []
    indent = "    " if what else "  "
    told = [indent + line for line in replayed.lines]
    return [f"{place(replayed.path)}{where}:", *what, *told, *(f"  FAILED {f}" for f in replayed.failures)]


def place(path: Path) -> str:
    """The path as short as it can be: from here, if it is below."""
    return str(path.relative_to(Path.cwd())) if path.is_absolute() and path.is_relative_to(Path.cwd()) else str(path)


def absent(replayed: Sequence[Replayed]) -> str:
    """What is to be said if the engine would have been asked as well, and is not there."""
    return "" if any(r.on == ENGINE for r in replayed) else "; not on the engine, since torch is not installed"


def summary(replayed: Sequence[Replayed]) -> str:
    """How many replayed as they should, and what the engine showed."""
    good = sum(not r.failures for r in replayed)
    found = sum(r.trace is not None and departs(r.trace) for r in replayed)
    findings = f"; {found} of them told of a finding in an engine, which was not asked again" if found else ""
    return f"{good} of {len(replayed)} replayed as they should{findings}{engine_summary(replayed)}"


def engine_summary(replayed: Sequence[Replayed]) -> str:
    """What the traces showed on the engine; empty if there were none."""
    judged = [r.judgement for r in replayed if r.judgement is not None]
    if not judged:
        return ""
    refused = sum(j.sound.refused is not None for j in judged)
    differs = sum(j.sound.difference is not None for j in judged)
    damaged = sum(bool(j.damage) for j in judged)
    alone = sum(j.flawed is None for j in judged)
    return (
        f"; of {len(judged)} traces the sound engine refuses {refused} at their guard, differs in a field in {differs}, and "
        f"follows {len(judged) - refused - differs} unharmed; changed in the same way, {damaged} do measured damage, and "
        f"{alone} {'is' if alone == 1 else 'are'} in the model only"
    )


def replay_json(verdict: Verdict, version: str, replayed: Sequence[Replayed]) -> str:
    """The document of `replay --json`."""
    rows = [
        {
            "file": str(r.path),
            "on": r.on,
            "verdict": r.verdict.word,
            "shows": r.trace.shows if r.trace is not None else None,
            "says": list(r.lines),
            "failures": list(r.failures),
        }
        for r in replayed
    ]
    return json.dumps({"version": version, "command": "replay", "verdict": verdict.word, "files": rows}, indent=2)


def replay_cases(replayed: Sequence[Replayed]) -> list[Case]:
    """A case for each file and what it ran on."""
    cases = []
    for r in replayed:
        text = "\n".join(r.failures)
        cases.append(Case(f"schedproof.replay.{r.on}", str(r.path), failure=text.partition("\n")[0], text=text))
    return cases
