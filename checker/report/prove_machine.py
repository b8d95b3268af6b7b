"""The results of `prove` for machines: JSON and JUnit."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from checker.proof.bmc import Run
from checker.proof.obligation import Obligation
from checker.proof.prove import Scope
from checker.proof.result import Result
from checker.report.junit import Case
from checker.report.prove_text import counterexample_lines, families, run_lines, unique
from model.language.properties import Property
from model.readings.world import plain


def document(result: Result, scope: Scope) -> dict[str, Any]:
    """For --json."""
    return {
        "assumption": str(scope.assumption),
        "fixed": {n: plain(v) for n, v in scope.fixed.items()},
        "dials": [d.name for d in scope.model.dials if d.name not in scope.fixed],
        "seconds": round(result.proof.seconds, 3),
        "framed": result.proof.framed,
        "untried": result.proof.untried,
        "claims": [{"name": n, "proved": n in result.proof.proved} for n in result.asked],
        "obligations": [_row(o) for o in result.proof.obligations],
        "reasons": [_row(o) for o in result.proof.reasons],
        "unused": list(result.proof.unused),
        "vacuous": list(result.vacuous),
        "counterexamples": [
            {
                "rule": c.step.rule.name if c.step.rule else "",
                "claim": c.step.claim.name,
                "world": c.step.world.plain(),
                "event": c.step.text if c.step.rule else "",
                "real": c.real,
                "states": c.states,
                "trace": [e.text for e in c.trace.events] if c.trace else [],
                "apart": list(c.apart),
            }
            for c in result.found
        ],
    }


def _row(o: Obligation) -> dict[str, Any]:
    return {
        "rule": o.rule,
        "claim": o.claim,
        "part": o.part,
        "case": o.case,
        "answer": o.answer,
        "why": o.why,
        "seconds": round(o.seconds, 4),
        "used": list(o.used),
    }


def prove_cases(result: Result, properties: Sequence[Property]) -> Iterator[Case]:
    """A test case for each family of obligations.

    It fails if a counterexample of it is real, and is left open if something of it is not proved.
    """
    proof = result.proof
    for where, family in families(proof):
        left = ", ".join(f"{o.claim} ({o.answer})" for o in unique([o for o in family if o.answer != "proved"]))
        real = [c for c in result.found if c.real and (c.step.rule.name if c.step.rule else "") == where]
        broken = ", ".join(c.step.claim.name for c in real)
        yield Case(
            "schedproof.prove",
            where,
            failure=f"{where} breaks {broken}" if real else "",
            error=f"not proved: {left}" if left and not real else "",
            text="\n".join(line for c in real for line in counterexample_lines(c, properties)),
            note=f"{len(family)} obligations proved" if not left else "",
            seconds=sum(o.seconds for o in family),
        )
    for name in result.vacuous:
        yield Case("schedproof.prove", name, error=f"no state that satisfies all invariants has {name}")


def run_cases(run: Run, world: str, most: int) -> list[Case]:
    """The one test case of bounded checking."""
    (said,) = run_lines(run, world, most)
    failure = f"{', '.join(run.broken)}: {said}" if run.broken else ""
    error = said if run.unknown else ""
    note = "" if failure or error else said
    return [Case("schedproof.prove.bmc", world, failure=failure, error=error, note=note, seconds=run.seconds)]
