"""`prove`: all obligations of a scope, in parallel, and what follows from them together.

A claim is proved if each of its obligations is, and if all hypotheses that those used are proved themselves. The
claims stand and fall together (each may be used in the proof of the others, for the state before the step), so what is
proved is the largest set of claims that needs nothing outside of itself.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from pathlib import Path
from typing import Any

from checker.proof.claims import Claim, claims, stuck
from checker.proof.forks import done, processors
from checker.proof.induction import Theory, Work
from checker.proof.obligation import Key, Obligation
from model.language.model import Model
from model.language.properties import Property, Shape
from model.language.rules import Rule
from model.language.terms import Term, lift
from model.readings.sums import When

START, ALWAYS, REST = When.START.value, When.ALWAYS.value, "where rules are stuck"
ROUNDS = 3  # of bringing in members that are spoken of only through others
Hints = Mapping[
    str, Mapping[str, Mapping[str, tuple[str, ...]]]
]  # by rule, claim and case; "" where there are no cases
Case = tuple[tuple[str, Any], ...]  # the values of some dials
Job = Callable[[], Any]
MOST_CLAIMS = 40  # claims in one task; more are shared between processes


@dataclass(frozen=True)
class Scope:
    """What is to be proved of which model, for which dials. `fixed` dials have one value, the others any that fit.

    `assumption` is over the dials: which of them are declared safe together. `cores`: let no obligation name a hypothesis
    that can be left out of its proof, which takes longer. `hints`: with which hypotheses alone to try a rule's claim
    first; `by_cases`: for each value of which dial by itself; `apart`: hypotheses that only hints name, so that what has no
    hint is tried without them first.
    """

    model: Model
    properties: tuple[Property, ...]
    auxiliary: tuple[Property, ...]
    assumption: Term
    fixed: Mapping[str, Any] = field(default_factory=dict)
    timeout: float = 60.0
    smt2: Path | None = None
    lively: Term = field(default_factory=lambda: lift(True))
    cores: bool = False
    hints: Hints = field(default_factory=dict)
    by_cases: Mapping[tuple[str, str], str] = field(default_factory=dict)
    apart: Collection[str] = ()

    @cached_property
    def claims(self) -> tuple[Claim, ...]:
        """Everything that induction is about and that exists for some of the dials in question."""
        empty = Theory(self.model, self.fixed, self.assumption, ())
        found = claims(self.model, self.properties, self.auxiliary, self.lively)
        return tuple(c for c in found if empty.exists(c.needs))

    @cached_property
    def rules(self) -> tuple[Rule, ...]:
        """The rules that exist for some of the dials in question."""
        empty = Theory(self.model, self.fixed, self.assumption, ())
        return tuple(r for r in self.model.rules if empty.exists(r.needs))

    @cached_property
    def hypotheses(self) -> tuple[Claim, ...]:
        return tuple(c for c in self.claims if c.shape is Shape.STATE)

    def theory(self, only: Collection[str] | None = None, case: Mapping[str, Any] = {}) -> Theory:
        """With the claims about states as hypotheses, or with some of them; in the case that a dial has a value."""
        hypotheses = [c for c in self.hypotheses if only is None or c.name in only]
        return Theory(self.model, {**self.fixed, **case}, self.assumption, hypotheses, self.timeout)


@dataclass(frozen=True)
class Task:
    """Some of the obligations about one rule (or about the start, or every state), by the names of their claims.

    `rounds`: how often members that came in bring in others. `case`: for which values of dials. `again`: without hints.
    """

    where: str
    names: tuple[str, ...]
    rounds: int = 1
    case: Case = ()
    again: bool = False


@dataclass(frozen=True)
class Proof:
    """What came of a scope. `framed`: obligations that hold because the rule writes nothing that the claim reads.

    `reasons`: those about the members of sums; what does not hold is no reason, and what needs it is refused. `beside`:
    what came of the job that was done beside it. `untried`: obligations about rules that are as they were, which were not
    tried when those of changed rules stayed open; nothing is called proved then.
    """

    scope: Scope
    obligations: tuple[Obligation, ...]
    framed: int
    seconds: float
    reasons: tuple[Obligation, ...] = ()
    beside: Any = None
    untried: int = 0

    def of(self, claim: str) -> list[Obligation]:
        return [o for o in self.obligations if o.claim == claim]

    def proved_after_all(self, found: Sequence[Obligation]) -> Proof:
        """With these in the place of the same obligations."""
        better = {o.key: o for o in found if not o.reason}
        rows = tuple(better.get(o.key, o) for o in self.obligations)
        reasons = {o.key: o for o in (*found, *self.reasons) if o.reason}
        return replace(self, obligations=rows, reasons=tuple(reasons.values()))

    @cached_property
    def proved(self) -> frozenset[str]:
        """The names of the claims that are proved, together."""
        if self.untried:
            return frozenset()
        whole = {o.claim for o in self.obligations}
        needs: dict[str, set[str]] = {name: set() for name in whole}
        for o in self.obligations:
            if o.answer != "proved":
                whole.discard(o.claim)
            needs[o.claim].update(o.used)
        while lost := {name for name in whole if not needs[name] <= whole}:
            whole -= lost
        return frozenset(whole)

    @property
    def open(self) -> tuple[Obligation, ...]:
        """Obligations that were not proved."""
        return tuple(o for o in self.obligations if o.answer != "proved")

    @property
    def unused(self) -> tuple[str, ...]:
        """Auxiliary invariants that no proof of another claim used."""
        if self.untried:
            return ()
        used = {name for o in self.obligations for name in o.used if name != o.claim}
        tried = {o.claim for o in self.obligations}
        return tuple(c.name for c in self.scope.claims if c.auxiliary and c.name in tried and c.name not in used)


def tasks(scope: Scope, names: Collection[str] | None = None) -> tuple[list[Task], int]:
    """The work there is (for some claims), the largest first; and how many obligations are none.

    A rule that writes nothing of what a claim reads preserves it.
    """
    inductive = [c for c in scope.claims if names is None or c.name in names]
    found = [
        Task(REST, (c.name,), case=case) for c in inductive if c.shape is Shape.REST for case in cases(scope, REST, c)
    ]
    inductive = [c for c in inductive if c.shape is not Shape.REST]
    framed = 0
    for rule in scope.rules:
        touched = [c for c in inductive if c.reads & rule.writes()]
        framed += len(inductive) - len(touched)
        whole = [c for c in touched if cases(scope, rule.name, c) == [()]]
        found += [
            Task(rule.name, (c.name,), case=x) for c in touched if c not in whole for x in cases(scope, rule.name, c)
        ]
        pieces = -(-len(whole) // MOST_CLAIMS)
        found += [Task(rule.name, tuple(c.name for c in whole[n::pieces])) for n in range(pieces)]
    found += [
        Task(START, tuple(c.name for c in inductive if c.shape is Shape.STATE)),
        Task(ALWAYS, tuple(c.name for c in inductive if c.shape is Shape.STEP)),
    ]
    order = {name: n for n, name in enumerate(("execute", "launch", "recycle"))}
    hard_first = sorted(
        (t for t in found if t.names), key=lambda t: (not t.case, order.get(t.where, len(order)), -len(t.names))
    )
    return hard_first, framed


def cases(scope: Scope, where: str, claim: Claim) -> list[Case]:
    """The cases in which a claim is proved, one after another; often there is only one."""
    dial = next((d for d in scope.model.dials if d.name == scope.by_cases.get((where, claim.name))), None)
    if dial is None:
        return [()]
    values = [scope.fixed[dial.name]] if dial.name in scope.fixed else list(dial.sort.of)
    return [((dial.name, value),) for value in values]


def work(scope: Scope, theory: Theory, task: Task) -> Work:
    """The obligations of a task, translated and ready to be proved."""
    by_name = {c.name: c for c in scope.claims}
    rule = next((r for r in scope.rules if r.name == task.where), None)
    if task.where == REST:
        claim = by_name[task.names[0]]
        made = Work(theory, None, REST, resting(scope, claim))
        made.taken = tuple(c.name for c in before(scope, claim))
    else:
        made = Work(theory, rule, task.where)
    made.case, made.smt2, made.rounds, made.cores = case_text(task.case), scope.smt2, task.rounds, scope.cores
    if not task.again:
        made.keep_apart(scope.apart)
    if task.where == START:
        made.assume_nothing()
    made.hints = {} if task.again else hinted(scope, task)
    for name in task.names:
        made.add(by_name[name], initial=task.where == START)
    return made


def hinted(scope: Scope, task: Task) -> dict[str, tuple[str, ...]]:
    """The hints there are for the claims of a task."""
    by_claim = scope.hints.get(task.where, {})
    case = case_text(task.case)
    return {name: by_claim[name][case] for name in task.names if case in by_claim.get(name, {})}


def case_text(case: Case) -> str:
    return ", ".join(f"{name} = {getattr(value, 'name', value)}" for name, value in case)


def tried(scope: Scope, theory: Theory, task: Task, breaks: Breaks | None = None) -> list[Obligation]:
    """What comes of a task: with the few hypotheses of hints, or with all; in a case, with those of a hint alone first.

    And, before that, the reasons for all that is known of sums. A claim that `breaks` says is broken is not tried for long.
    """
    case, few = dict(task.case), hinted(scope, task)
    if case:
        theory = scope.theory(few.get(task.names[0]), case)
        if not theory.possible:
            return []
    made = work(scope, theory, task)
    made.breaks = None if breaks is None else partial(breaks, task.where)
    results = made.prove()
    lost = {o.claim for o in results if o.answer != "proved"}
    if lost and not made.broken and (scope.apart or len(theory.literals) < len(scope.hypotheses)):
        names = tuple(name for name in task.names if name in lost)
        wider = scope.theory(case=case)
        more = work(scope, wider, replace(task, names=names, again=True)).prove()
        results = [*wider.reasons.values(), *(o for o in results if o.claim not in lost), *more]
    return [*theory.reasons.values(), *results]


def before(scope: Scope, claim: Claim) -> list[Claim]:
    """The claims about stuck rules that come before this one and need no other rules to be stuck."""
    resting = [c for c in scope.claims if c.shape is Shape.REST and c.auxiliary and c is not claim]
    earlier = resting[: [c.name for c in scope.claims if c.shape is Shape.REST].index(claim.name)]
    if not claim.auxiliary:
        earlier = resting
    return [c for c in earlier if set(c.apart_from) >= set(claim.apart_from)]


def resting(scope: Scope, claim: Claim) -> list[Term]:
    """What is known where the claim's rules are stuck: the claims before it.

    And that those of its rules are stuck which none of these needs: what the others say by being stuck, the claims say.
    """
    every = {r.name for r in scope.rules}
    left = every - set(claim.apart_from)
    for earlier in before(scope, claim):
        left -= every - set(earlier.apart_from)
    known = [c.whole for c in before(scope, claim)]
    return [claim.needs, *known, *(stuck(r) for r in scope.rules if r.name in left)]


Observe = Callable[[Obligation], None]
Breaks = Callable[[str, str], bool]  # whether a rule, by its name, is known to break a claim


def prove(
    scope: Scope,
    processes: int | None = None,
    observe: Observe = lambda o: None,
    asked: Collection[str] = (),
    beside: Job = lambda: None,
    changed: Collection[str] = (),
    breaks: Breaks | None = None,
) -> Proof:
    """Try every obligation of the scope; `observe` hears of each when its task is done.

    `asked`: only these claims, and what their proofs use. `beside`: a job that is done meanwhile. `changed`: the rules that
    are not as they were, if only some are not: those are tried first, and alone if something about them stays open.
    `breaks`: whether a rule is known to break a claim; asked when little does not prove it.
    """
    began = time.monotonic()
    found: list[Obligation] = []
    reasons: dict[Key, Obligation] = {}
    framed, untried, over, result = 0, 0, set[str](), None
    left = set(asked) or {c.name for c in scope.claims}
    while left:
        planned, more = tasks(scope, left)
        framed += more
        for stage in _stages(planned, changed):
            if untried or (changed and any(o.answer != "proved" for o in found)):
                untried += sum(len(task.names) for task in stage)
                continue
            for number, results in _all(scope, stage, processes or processors(), [beside], breaks):
                if number == 0:
                    result, beside = result if results is None else results, lambda: None
                    continue
                reasons.update((o.key, o) for o in results if o.reason and o.key not in reasons)
                found += (tried := [o for o in results if not o.reason])
                for obligation in tried:
                    observe(obligation)
        over |= left
        left = {name for o in (*found, *reasons.values()) for name in o.used} - over
    order = {t.where: n for n, t in enumerate(tasks(scope)[0])}
    names = {c.name: n for n, c in enumerate(scope.claims)}
    found.sort(key=lambda o: (order[o.rule], names[o.claim], o.case, o.part))
    why = tuple(sorted(reasons.values(), key=lambda o: (order.get(o.rule, -1), o.key)))
    return Proof(scope, tuple(found), framed, time.monotonic() - began, why, result, untried)


def _stages(planned: Sequence[Task], changed: Collection[str]) -> list[list[Task]]:
    """What is about changed rules, and then the rest; all at once if nothing is said of changes."""
    first = [t for t in planned if not changed or t.where in changed or t.where == REST]
    return [stage for stage in (first, [t for t in planned if t not in first]) if stage]


def again(scope: Scope, proof: Proof, claim: str) -> list[Obligation]:
    """Try what is open of a claim again with more instances: the members that came in bring in others, a few times over."""
    lost = {(o.rule, o.case) for o in proof.open if o.claim == claim}
    planned = [
        Task(where, (claim,), ROUNDS, case, again=True)
        for where in dict.fromkeys(rule for rule, _ in lost)
        for case in cases(scope, where, next(c for c in scope.claims if c.name == claim))
        if (where, case_text(case)) in lost
    ]
    return [o for _, results in _all(scope, planned, processors()) for o in results]


def _all(
    scope: Scope, planned: Sequence[Task], processes: int, beside: Sequence[Job] = (), breaks: Breaks | None = None
) -> Iterator[tuple[int, Any]]:
    """What comes of each task, and before them of the jobs beside them; each has a solver that was asked nothing before."""
    theory = scope.theory()
    first = Work(theory, None)
    first.smt2, first.cores = scope.smt2, scope.cores
    first.keep_apart(scope.apart)
    first.prepare(scope.rules)
    jobs: list[Job] = [*beside, *(partial(tried, scope, theory, task, breaks) for task in planned)]
    yield from done(jobs, processes)
