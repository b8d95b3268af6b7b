"""How long `schedproof prove` takes from a cold start, and which obligations take longest.

python -m benchmarks.prove [--processes N]
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import time

from checker.proof.prove import Scope, prove
from model.lifecycle import LIFECYCLE
from specs.auxiliary import AUXILIARY
from specs.disciplines import LIVELY, PLAIN, SAFE
from specs.properties import PROPERTIES


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--processes", type=int, default=2)
    options = parser.parse_args()
    began = time.monotonic()
    command = [sys.executable, "-m", "checker", "prove", "--quiet", "--processes", str(options.processes)]
    subprocess.run(command, check=True)
    sys.stdout.write(f"cold start to verdict, {options.processes} processes: {time.monotonic() - began:.1f} s\n")
    proof = prove(Scope(LIFECYCLE, PROPERTIES, AUXILIARY, SAFE & PLAIN, lively=LIVELY), options.processes)
    for o in sorted(proof.obligations, key=lambda o: -o.seconds)[:10]:
        sys.stdout.write(f"  {o.seconds:6.2f} s  {o.rule}: {o.claim}\n")
    sys.stdout.write(
        f"  {len(proof.obligations)} queries, {sum(o.seconds for o in proof.obligations):.1f} s in the solver\n"
    )


if __name__ == "__main__":
    main()
