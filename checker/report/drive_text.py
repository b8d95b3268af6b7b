"""The results of `drive` as text and rows."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from checker.replay.drive import UNORDERED, Driven, Finding
from checker.verdict import Verdict

# Kinds of findings that are no bug where the engine may assume something.
RESTS_ON = {UNORDERED: "device-in-order", "admit.fits": "feasible-requests", "stuck: never fits": "feasible-requests"}


def engine_lines(described: Mapping[str, Any]) -> list[str]:
    """What is driven, and on what assumptions."""
    tested = "" if described["tested"] else " (untested version)"
    lines = [f"{described['engine']} {described['version']}{tested}; it rests on:"]
    return lines + [f"  {name}: {sentence}" for name, sentence in described["assumptions"].items()]


def progress_line(name: str, load: str, driven: Driven, how: str) -> str:
    return (
        f"{name}, {load}: {how}, {driven.states:,} states, {driven.steps:,} steps, depth {driven.depth}, "
        f"{driven.walks:,} walks, {len(driven.findings)} findings"
    )


def row(
    name: str, load: str, driven: Driven, findings: Sequence[Finding], files: Mapping[str, Path], known: Sequence[str]
) -> dict[str, Any]:
    """One configuration's result, as JSON has it."""
    return {
        "configuration": name,
        "load": load,
        "states": driven.states,
        "steps": driven.steps,
        "depth": driven.depth,
        "exhausted": driven.exhausted,
        "bound": driven.bound,
        "walks": driven.walks,
        "fair_runs": driven.fair_runs,
        "seconds": round(driven.seconds, 1),
        "events": driven.events,
        "findings": [
            {
                "kind": f.kind,
                "sentence": f.sentence,
                "moves": len(f.moves),
                "script": str(files[f.kind]),
                "vanishes_under": RESTS_ON.get(f.kind),
            }
            for f in findings
        ],
        "new": [f.kind for f in findings if f.kind not in known and f.kind not in RESTS_ON],
    }


def configuration_lines(row: Mapping[str, Any], findings: Sequence[Finding]) -> list[str]:
    """One configuration: how far the search went, then each finding with its moves."""
    events = sum(row["events"].values())
    extent = "all of them" if row["exhausted"] else f"to depth {row['depth']}"
    lines = [
        f"{row['configuration']}, {row['load']}: {len(findings)} findings in {row['states']:,} states ({extent}), "
        f"{row['steps']:,} steps made of {events:,} events of the rules, {row['walks']:,} walks, "
        f"{row['fair_runs']:,} fair runs, {row['seconds']:.0f} s"
    ]
    for found, shown in zip(findings, row["findings"], strict=True):
        lines.append(f"  {found.kind}, after {len(found.moves)} moves: {found.sentence}")
        lines.append("    " + "; ".join(move_text(m) for m in found.moves))
        if shown["vanishes_under"]:
            lines.append(f"    no bug where the engine may assume {shown['vanishes_under']}; not counted")
        lines.append(f"    script: {shown['script']}")
    return lines


def move_text(move: Mapping[str, Any]) -> str:
    """A move as a reader would say it."""
    match move["kind"]:
        case "submit" | "cancel":
            return f"{move['kind']} r{move['request']}"
        case "result" | "loop":
            stops = ", ".join(f"r{r}" for r in move.get("stop", []))
            ready = "" if move.get("ready", True) else " (not ready)"
            return f"{move['kind']}{ready}" + (f" ({stops} stop)" if stops else "")
        case "event":
            return f"{move['rule']}{tuple(move['at'])}"
    return str(move["kind"])


def last_line(verdict: Verdict, rows: Sequence[Mapping[str, Any]]) -> str:
    fresh = sorted({kind for r in rows for kind in r["new"]})
    states = sum(r["states"] for r in rows)
    if fresh:
        return f"{verdict.word}: {len(fresh)} kinds of findings that are not known: {'; '.join(fresh)}"
    extent = "all their states" if verdict is Verdict.HOLDS else f"{states:,} states and random walks, which is not all"
    return f"{verdict.word}: no new finding in {len(rows)} configurations, {extent}"
