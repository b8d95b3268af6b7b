"""The results of `mutate` for machines: JSON and JUnit."""

from __future__ import annotations

import json
from typing import Any

from checker.mutate.campaign import Campaign
from checker.mutate.hunt import Hunted, Shown
from checker.report.junit import Case
from specs.faults.equivalent import EQUIVALENT


def mutate_json(result: Campaign, version: str) -> str:
    """The document of `mutate --json`."""
    document = {
        "version": version,
        "command": "mutate",
        "verdict": result.verdict.word,
        "subjects": [_row(h, result) for h in result.hunted],
        "caught": len(result.caught),
        "caught_beyond_bounds": result.beyond_bounds,
        "protected_by": result.protected_by(),
        "wrong": result.wrong,
    }
    return json.dumps(document, indent=2)


def _row(hunted: Hunted, result: Campaign) -> dict[str, Any]:
    catch = hunted.catch
    caught = None
    if catch is not None:
        caught = {
            "how": catch.how.name.lower(),
            "by": catch.shows,
            "length": catch.length,
            "world": catch.world,
            "also": dict(catch.also),
            "engine": None if catch.engine is None else _shown(catch.engine),
        }
    return {
        "name": hunted.subject.name,
        "kind": hunted.subject.kind.name.lower(),
        "caught": caught,
        "changes_nothing_because": EQUIVALENT.get(hunted.subject.name) if catch is None else None,
        "shown_to_change_nothing": hunted.subject.name in result.nothing,
        "worlds_showing_nothing": list(hunted.tried) if catch is None else [],
        "worlds_left": list(hunted.left),
        "seconds": round(hunted.seconds, 3),
    }


def _shown(shown: Shown) -> dict[str, Any]:
    return {
        "refused_at": shown.refused,
        "has_switch": shown.switch,
        "damage": list(shown.damage),
        "measured": shown.measured,
        "says": list(shown.says),
    }


def mutate_cases(result: Campaign) -> list[Case]:
    """A test case for each subject, and one for each further thing that is wrong."""
    wrong = dict(result.wrong)
    cases = []
    for hunted in result.hunted:
        name = hunted.subject.name
        why = wrong.pop(name, None)
        where = f"schedproof.mutate.{hunted.subject.kind.name.lower()}"
        note = f"changes nothing: {EQUIVALENT[name]}" if hunted.catch is None and name in EQUIVALENT else ""
        said = f"{name} {why}" if why else ""
        cases.append(Case(where, name, failure=said, note="" if why else note, seconds=hunted.seconds))
    return cases + [Case("schedproof.mutate", name, failure=f"{name} {why}") for name, why in wrong.items()]
