"""What `prove` comes to: the proof, whether it is about something, and what is behind that which stays open."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

from checker.proof.claims import Claim
from checker.proof.cti import Counterexample, Finder, Judge
from checker.proof.obligation import Obligation
from checker.proof.prove import REST, Proof, Scope, again, prove
from checker.proof.vacuity import unmet
from checker.variation import Variation
from checker.verdict import Verdict, worst
from model.readings.world import World

EXPLAINED = 3  # claims whose open obligations are looked into; the others are named
# Of changed rules it is likely that they break a claim: in so many worlds (or three times as many, as long as none is found) a
# step that does is looked for, for so many seconds, before much is tried to prove it.
PROBED, PROBING = 4, 10.0
BRIEFLY = 30_000  # states explored where another counterexample is real already


@dataclass(frozen=True)
class Result:
    """`asked`: the claims that the command is about. `vacuous`: what no state meets that satisfies the invariants.

    `found`: counterexamples to induction. `stateless`: open obligations for which no state was found in any size tried;
    `expanded`: those of them that were proved then with more instances.
    """

    proof: Proof
    asked: tuple[str, ...]
    vacuous: tuple[str, ...]
    found: tuple[Counterexample, ...]
    stateless: tuple[Obligation, ...]
    expanded: tuple[Obligation, ...] = ()

    @cached_property
    def unproved(self) -> tuple[str, ...]:
        """Claims asked for that are not proved."""
        return tuple(name for name in self.asked if name not in self.proof.proved)

    @cached_property
    def real(self) -> tuple[str, ...]:
        """Claims of which a counterexample is real; also those that others rest on."""
        return tuple(c.step.claim.name for c in self.found if c.real)

    @property
    def verdict(self) -> Verdict:
        if set(self.real) & set(self.asked):
            return Verdict.VIOLATED
        return worst([Verdict.UNDETERMINED] if self.unproved or self.vacuous else [])


def result(
    scope: Scope,
    variation: Variation,
    worlds: Sequence[World],
    asked: Sequence[str],
    processes: int | None = None,
    observe: Callable[[str], None] = lambda line: None,
) -> Result:
    """Prove a scope, and explain what stays open. `asked`: names of claims, or nothing for all."""

    def lacking() -> list[str]:
        # Of a changed model the invariants need not hold, so it is no question whether their states have all it takes.
        return [] if variation else unmet(scope, worlds)

    claims = {c.name: c for c in scope.claims}
    finder, judge = Finder(scope), Judge(variation, (*scope.properties, *scope.auxiliary))
    first = [variation.fault.world] if variation.fault else []
    tried = sorted(worlds, key=lambda w: w.name not in first)

    def breaks(where: str, claim: str) -> bool:
        most = PROBED if finder.found else 3 * PROBED
        return finder.among(tried, where, claims[claim], PROBING, most) is not None

    heard: Callable[[Obligation], None] = lambda o: observe(f"{o.rule}: {o.claim}")
    proof = prove(scope, processes, heard, asked, lacking, variation.rules, breaks if variation else None)
    names = tuple(asked) or tuple(claims)
    meant = variation.fault.caught_by if variation.fault else ""
    found: list[Counterexample] = []
    stateless: list[Obligation] = []
    expanded: list[Obligation] = []
    for obligation in looked_into(proof, claims, names, meant):
        observe(f"looking for a state in which {obligation.rule or 'the start'} breaks {obligation.claim}")
        step = finder.find(tried, obligation.rule, claims[obligation.claim])
        if step is None:
            observe(f"no state found, so an instance is missing: trying {obligation.claim} again with more")
            proof = proof.proved_after_all(again(scope, proof, obligation.claim))
            left = [o for o in proof.open if o.claim == obligation.claim]
            (stateless if left else expanded).append(obligation)
        else:
            observe(f"exploring the world {step.world.name}")
            # Beside what is real, only what is soon found to be real, too, says anything more.
            real = any(c.real for c in found)
            judged = judge.judge(step, BRIEFLY if real else None)
            found += [judged] if judged.real or not real else []
    return Result(proof, names, tuple(proof.beside), tuple(found), tuple(stateless), tuple(expanded))


def looked_into(proof: Proof, claims: Mapping[str, Claim], asked: Sequence[str], meant: str) -> list[Obligation]:
    """One open obligation of each of a few claims: the one a fault is meant to break, and then those that say most.

    What is asked comes before what that rests on. If some are known to be broken, only those; and a claim about rest that was
    shown from the others about rest: where one of these is broken, a dead end is what there is to be seen.
    """
    firsts: dict[str, Obligation] = {}
    broken = [o for o in proof.open if o.broken]
    for o in broken or [o for o in proof.open if o.answer in ("open", "unknown")]:
        firsts.setdefault(o.claim, o)
    if any(o.rule == REST for o in firsts.values()):
        firsts.update((o.claim, o) for o in proof.obligations if o.rule == REST and not claims[o.claim].auxiliary)

    def rank(o: Obligation) -> tuple[bool, ...]:
        return o.claim not in asked, o.claim != meant, claims[o.claim].auxiliary, o.claim.startswith("bounds.")

    return sorted(firsts.values(), key=rank)[:EXPLAINED]
