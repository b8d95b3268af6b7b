"""The results of `drive` as rows, and as text."""

from __future__ import annotations

import argparse
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from checker.replay.drive import Driven, Finding
from checker.replay.path import DIFFERS, NO_EVENT
from checker.verdict import Verdict
from model.lifecycle import LIFECYCLE
from model.readings.prose import words

Row = Mapping[str, Any]


# ----------------------------------------------------------------------------------------------------- rows
def finding_row(
    finding: Finding, script: Path, known: Sequence[str], stated: Sequence[str], described: Row
) -> dict[str, Any]:
    """A finding as JSON has it. `standing` says whether it counts: `new`, or `known`, or `assumption`.

    `stated`: the assumptions of the configuration. What rests on one that the engine never made counts as any other.
    """
    excused = any(name in stated for name in finding.rests_on)
    standing = "assumption" if excused else "known" if finding.label in known else "new"
    return {
        "kind": finding.label,
        "sentence": finding.sentence,
        "meaning": meaning(finding.kind, described),
        "length": len(finding.moves),
        "moves": [move_text(m) for m in finding.moves],
        "traceback": finding.traceback or None,
        "rests_on": list(finding.rests_on),
        "standing": standing,
        "script": str(script),
        "trace": str(script.with_suffix(".itf.json")),
    }


def meaning(kind: str, described: Row) -> list[str]:
    """What the rule or field in a kind of finding is, in the rules and in the engine; empty if it names neither."""
    field = next((f for f in LIFECYCLE.state.fields() if kind == DIFFERS + f.name), None)
    if field is not None:
        return [f"{field.name}: {field.doc}"]
    name, _, part = kind.removeprefix(NO_EVENT).partition(".")
    rule = next((r for r in LIFECYCLE.rules if r.name == name), None)
    if rule is None:
        return []
    guard = next((g for g in rule.guards if g.name == part), None)
    engine, known = described["engine"], described["names"].get(name, {}).get("event")
    return [
        f"{name}: {' '.join(rule.doc.split())}",
        *([f"{kind} asks: {words(guard.condition)} (schedproof show {kind})"] if guard else []),
        *([f"in {engine}: {known} (schedproof show --names {engine})"] if known else []),
    ]


def row(
    name: str, load: str, assumed: Sequence[str], dials: Mapping[str, Any], driven: Driven, told: list[dict[str, Any]]
) -> dict[str, Any]:
    """One run's result, as JSON has it."""
    return {
        "configuration": name,
        "load": load,
        "dials": dict(dials),
        "assumed": list(assumed),
        "states": driven.states,
        "steps": driven.steps,
        "depth": driven.depth,
        "exhausted": driven.exhausted,
        "bound": driven.bound or None,
        "walks": driven.walks,
        "fair_runs": driven.fair_runs,
        "seconds": round(driven.seconds, 1),
        "events": driven.events,
        "findings": told,
    }


# ----------------------------------------------------------------------------------------------------- text
def engine_lines(described: Row, put: Sequence[str], taken: Sequence[str]) -> list[str]:
    """What is driven, and on what assumptions."""
    tested = "" if described["tested"] else " (untested version)"
    lines = [f"{described['engine']} {described['version']}{tested}; it rests on:"]
    said = {**dict.fromkeys(put, "put here"), **dict.fromkeys(taken, "taken away here")}
    every = {**described["assumptions"], **{name: "" for name in said if name not in described["assumptions"]}}
    return lines + [
        f"  {name}{f' ({said[name]})' if name in said else ''}: {sentence}" for name, sentence in every.items()
    ]


def plan_line(configurations: Sequence[str], loads: Sequence[str], options: argparse.Namespace) -> str:
    """What will be tried."""
    runs = f"{', '.join(configurations)}; loads {', '.join(loads)}" if len(configurations) <= 5 else "all of them"
    return f"trying {count(len(configurations), 'configuration')} under {count(len(loads), 'load')}: {runs}"


def legend_lines(configurations: Sequence[str]) -> list[str]:
    """What the words below stand for, for who reads them for the first time."""
    lines = [
        "below: a state is what is observed of the engine after a move; a step, a move that was made and judged; a walk, moves",
        "  at random from the start; a fair run: the adversary stops, and the engine must end every request. States are tried",
        "  breadth first; to depth N: all that N moves reach were gone on from",
    ]
    if any("loop" in name for name in configurations):
        lines.append(
            "  loop: a turn of the engine's own loop, with its oldest step done; loop (not ready): with it not done"
        )
    return lines


def untried_lines(untried: Mapping[str, Sequence[str]]) -> list[str]:
    """What was not tried, and how to."""
    left = [count(len(names), what.removesuffix("s")) for what, names in untried.items() if names]
    return [f"not tried: {' and '.join(left)}; --minutes N tries all, N minutes each"] if left else []


def progress_line(name: str, load: str, driven: Driven, how: str) -> str:
    return (
        f"{name}, {load}: {how}, {driven.states:,} states, {driven.steps:,} steps, depth {driven.depth}, "
        f"{driven.walks:,} walks, {count(len(driven.findings), 'finding')}"
    )


def run_lines(row: Row) -> list[str]:
    """One run: how far the search went, then each finding with its moves."""
    events = sum(row["events"].values())
    extent = "all of them" if row["exhausted"] else f"breadth first to depth {row['depth']}"
    lines = [
        f"{row['configuration']}, {row['load']}: {count(len(row['findings']), 'finding')} in {row['states']:,} states "
        f"({extent}), {row['steps']:,} steps made of {events:,} events of the rules, {count(row['walks'], 'walk')}, "
        f"{count(row['fair_runs'], 'fair run')}, {row['seconds']:.0f} s"
    ]
    for found in row["findings"]:
        lines.append(f"  {found['kind']}, after {count(found['length'], 'move')}: {found['sentence']}")
        lines += [f"    {line}" for line in found["meaning"]]
        lines.append("    moves: " + "; ".join(found["moves"]))
        lines += [f"    | {line}" for line in (found["traceback"] or "").rstrip().splitlines()]
        lines += [f"    {standing(found)}"] if found["standing"] != "new" else []
        lines.append(f"    script: {found['script']}")
    return lines


def standing(found: Row) -> str:
    """Why a finding is not counted."""
    if found["standing"] == "known":
        return "known; not counted"
    return f"no bug where the engine may assume {' and '.join(found['rests_on'])}; not counted"


def count(number: int, what: str) -> str:
    return f"{number:,} {what}" + "s" * (number != 1)


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


def unmet_lines(known: Sequence[str], rows: Sequence[Row]) -> list[str]:
    """What the baseline lists and these runs did not meet: gone, or out of their reach."""
    met = {f["kind"] for r in rows for f in r["findings"]}
    return [f"known, but not met here: {label}" for label in dict.fromkeys(known) if label not in met]


def last_line(verdict: Verdict, rows: Sequence[Row], baseline: Path | None) -> str:
    fresh = sorted({f["kind"] for r in rows for f in r["findings"] if f["standing"] == "new"})
    states = sum(r["states"] for r in rows)
    if fresh:
        return f"{verdict.word}: new findings of {count(len(fresh), 'kind')}: {'; '.join(fresh)}"
    whole = all(r["exhausted"] for r in rows)
    extent = "all their states" if whole else f"{states:,} states and random walks, which is not all"
    beside = f" beside those of {baseline}" if baseline else ""
    return f"{verdict.word}: no new finding{beside} in {count(len(rows), 'run')}, {extent}"
