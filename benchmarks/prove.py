"""How long `schedproof prove` takes from a cold start, and which obligations take longest.

python -m benchmarks.prove [--processes N] [--hints]

`--hints` writes specs/auxiliary/hints.json anew: which hypotheses were enough for the claims that need others.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import time
from dataclasses import replace
from typing import Any

from checker.proof.prove import REST, Proof, Scope, prove
from model.lifecycle import LIFECYCLE
from specs.auxiliary import AUXILIARY
from specs.auxiliary.hints import APART, BY_CASES, FILE, hints
from specs.disciplines import COVERED, LIVELY, SAFE
from specs.properties import PROPERTIES


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--processes", type=int, default=2)
    parser.add_argument("--hints", action="store_true")
    options = parser.parse_args()
    began = time.monotonic()
    command = [sys.executable, "-m", "checker", "prove", "--quiet", "--processes", str(options.processes)]
    subprocess.run(command, check=True)
    sys.stdout.write(f"cold start to verdict, {options.processes} processes: {time.monotonic() - began:.1f} s\n")
    ways: dict[str, Any] = {"hints": hints(), "by_cases": BY_CASES, "apart": APART}
    scope = Scope(LIFECYCLE, PROPERTIES, AUXILIARY, SAFE & COVERED, lively=LIVELY, **ways)
    proof = prove(scope, options.processes)
    whole = (*proof.obligations, *proof.reasons)
    for o in sorted(whole, key=lambda o: -o.seconds)[:10]:
        sys.stdout.write(f"  {o.seconds:6.2f} s  {o.rule}: {o.claim}\n")
    sys.stdout.write(f"  {len(whole)} queries, {sum(o.seconds for o in whole):.1f} s in the solver\n")
    if options.hints:
        proof = prove(replace(scope, cores=True), options.processes)
        FILE.write_text(json.dumps(hinted(proof), indent=1, sort_keys=True) + "\n")
        sys.stdout.write(f"  written: {FILE.name}\n")


def hinted(proof: Proof) -> dict[str, dict[str, dict[str, list[str]]]]:
    """What was enough for the claims that needed more than themselves, or that are tried with a hint already."""
    found: dict[str, dict[str, dict[str, list[str]]]] = {}
    names = {r.name for r in proof.scope.rules} | {REST}
    for where in sorted({o.rule for o in proof.obligations} & names):
        for claim in sorted({o.claim for o in proof.obligations if o.rule == where}):
            parts = [o for o in proof.of(claim) if o.rule == where]
            kept = claim in proof.scope.hints.get(where, {})
            if all(o.answer == "proved" for o in parts) and (kept or not all(o.few for o in parts)):
                by_case = found.setdefault(where, {}).setdefault(claim, {})
                for case in sorted({o.case for o in parts}):
                    by_case[case] = sorted({name for o in parts if o.case == case for name in o.used})
    return found


if __name__ == "__main__":
    main()
