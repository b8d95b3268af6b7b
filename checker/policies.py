"""Policies compared: which promise is kept under which, where memory is scarce and where it is not.

Each promise of liveness is judged in each world; it is kept if no world breaks it. The promise that only a policy can make is
judged once more without the admission condition, in a world with a request that does not fit even alone.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from checker.catalogue import Catalogue
from checker.check import Options, WorldResult, check_world
from checker.search.explore import Exploration
from checker.variation import vary
from checker.verdict import Verdict, worst
from checker.worlds import WorldFile, find
from model.language.model import Model
from specs.policies import FITS, MISFIT, PROMISED
from specs.policies.policy import Policy


@dataclass(frozen=True)
class Compared:
    """What came of one policy: `results` in the worlds asked for, `unfit` without the admission condition.

    `shipped`: in the worlds that the policies' own claims are about, where what a policy is said to break must break.
    """

    policy: Policy
    results: tuple[WorldResult, ...]
    unfit: WorldResult
    shipped: bool

    @property
    def broken(self) -> tuple[str, ...]:
        """What is violated in some of the worlds."""
        return tuple(dict.fromkeys(name for r in self.results for name in r.violated))

    @property
    def preempts(self) -> bool:
        """Whether anybody is ever preempted."""
        return any(isinstance(r.search, Exploration) and r.search.fired.get("preempt") for r in self.results)

    @property
    def relies_on_fits(self) -> bool:
        """Whether the policy's own promise is lost where requests are admitted that do not fit alone."""
        return any(name in self.unfit.violated for name in PROMISED)

    @property
    def verdict(self) -> Verdict:
        """Whether exactly that is broken which the policy is said to break; in a user's own worlds, nothing else."""
        results = (*self.results, self.unfit)
        unknown = [Verdict.UNDETERMINED] if any(r.search.bound is not None or r.skipped for r in results) else []
        missing = self.shipped and set(self.policy.breaks) - set(self.broken)
        amiss = (
            set(self.broken) - set(self.policy.breaks) or missing or self.relies_on_fits != self.policy.relies_on_fits
        )
        return worst([Verdict.VIOLATED if amiss and not unknown else Verdict.HOLDS, *unknown])


def compare(
    model: Model,
    known: Catalogue,
    files: Sequence[WorldFile],
    shipped: bool,
    options: Options,
    watch: Callable[[str], None],
) -> list[Compared]:
    """Every policy in every world. `watch` is told what is tried next."""
    found = []
    for policy in known.policies:
        variation = vary(model, known=known, policy=policy.name)
        results = []
        for file in files:
            watch(f"{policy.name} in {file.name}")
            plain = replace(file, expect=(), normal_forms=None)
            results.append(check_world(plain, variation, (*known.properties, *known.promises(policy)), options))
        watch(f"{policy.name} without {FITS}")
        loose = vary(model, without=(FITS,), known=known, policy=policy.name)
        asked = [p for p in known.liveness if p.name in PROMISED]
        unfit = check_world(replace(find(model, MISFIT), normal_forms=None), loose, asked, options)
        found.append(Compared(policy, tuple(results), unfit, shipped))
    return found
