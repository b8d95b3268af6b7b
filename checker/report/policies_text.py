"""The comparison of policies as a table, as rows for machines, and as test cases."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from checker.catalogue import Catalogue
from checker.policies import Compared
from checker.replay.trace import Trace
from checker.report.junit import Case
from checker.verdict import Verdict, worst
from specs.policies import FITS, PROMISED

KEPT = "kept"


def row(compared: Compared, known: Catalogue) -> dict[str, Any]:
    """One policy as plain data: for each promise, whether it is kept, broken or was not judged."""
    return {
        "policy": compared.policy.name,
        "verdict": compared.verdict.word,
        "promises": {p.name: _outcome(compared, p.name) for p in known.promises(compared.policy)},
        "without_fits": {name: _without_fits(compared, name) for name in PROMISED},
        "preempts": compared.preempts,
        "breaks": list(compared.policy.breaks),
    }


def _outcome(compared: Compared, name: str) -> str:
    if name in compared.broken:
        return "broken"
    return KEPT if all(r.search.bound is None and not r.skipped for r in compared.results) else "not judged"


def _without_fits(compared: Compared, name: str) -> str:
    if name in compared.unfit.violated:
        return "broken"
    return KEPT if compared.unfit.search.bound is None and not compared.unfit.skipped else "not judged"


def lines(found: Sequence[Compared], known: Catalogue, place: Path) -> list[str]:
    """The table: promises down, policies across, since the names of promises are the longer ones."""
    promises = [p.name for p in known.promises(found[0].policy)]
    heads = ["", *(c.policy.name for c in found)]
    rows = [[name, *(_cell(c, name) for c in found)] for name in promises]
    rows += [[f"{name} without {FITS}", *(_without_fits(c, name) for c in found)] for name in PROMISED]
    rows.append(["preempts", *("yes" if c.preempts else "never" for c in found)])
    rows.append(["as its policy says", *("yes" if c.verdict is Verdict.HOLDS else c.verdict.word for c in found)])
    wide = [max(len(r[n]) for r in [heads, *rows]) for n in range(len(heads))]
    table = ["  ".join(f"{c:{w}}" for c, w in zip(r, wide, strict=True)).rstrip() for r in [heads, *rows]]
    worlds = ", ".join(r.file.name for r in found[0].results)
    verdict = worst(c.verdict for c in found)
    return [
        f"promises kept in {worlds}; broken A+B: by A steps and then B that are repeated for ever",
        "",
        *table,
        "",
        *_others(found, promises),
        f"the runs that break a promise are in {place}; schedproof show FILE tells them",
        f"{verdict.word}: {_sentence(found, verdict)}",
    ]


def _cell(compared: Compared, name: str) -> str:
    outcome = _outcome(compared, name)
    shortest = min((t for r in compared.results for t in r.traces if t.shows == name), key=_length, default=None)
    return outcome if shortest is None or shortest.loop is None else f"{outcome} {_shape(shortest)}"


def _length(trace: Trace) -> int:
    return trace.length


def _shape(trace: Trace) -> str:
    assert trace.loop is not None
    return f"{trace.loop}+{trace.length - trace.loop}"


def _others(found: Sequence[Compared], promises: Sequence[str]) -> list[str]:
    """What is violated beside promises: nothing, since a policy only restrains the rules, unless it stops them altogether."""
    said = [(c.policy.name, name) for c in found for name in c.broken if name not in promises]
    return [f"under {policy}, {name} is violated" for policy, name in said]


def _sentence(found: Sequence[Compared], verdict: Verdict) -> str:
    amiss = [c.policy.name for c in found if c.verdict is verdict]
    if verdict is Verdict.HOLDS:
        return f"{len(found)} policies keep and break what they are said to"
    what = "not what it is said to keep and break" if verdict is Verdict.VIOLATED else "a bound was met"
    return f"{what}: {', '.join(amiss)}"


def cases(found: Sequence[Compared]) -> list[Case]:
    """A test case for each policy."""
    result = []
    for c in found:
        about = (
            f"breaks {', '.join(c.broken) or 'nothing'}, and is said to break {', '.join(c.policy.breaks) or 'nothing'}"
        )
        failure = about if c.verdict is Verdict.VIOLATED else ""
        error = "not determined: a bound was met" if c.verdict is Verdict.UNDETERMINED else ""
        result.append(Case("schedproof.policies", c.policy.name, failure=failure, error=error, note=about))
    return result
