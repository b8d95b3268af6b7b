"""`prove`: all obligations of a scope, in parallel, and what follows from them together.

A claim is proved if each of its obligations is, and if all hypotheses that those used are proved themselves. The
claims stand and fall together (each may be used in the proof of the others, for the state before the step), so what is
proved is the largest set of claims that needs nothing outside of itself.
"""

from __future__ import annotations

import multiprocessing
import os
import time
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from multiprocessing.connection import wait
from pathlib import Path
from typing import Any

from checker.proof.claims import Claim, claims, stuck
from checker.proof.induction import Obligation, Theory, Work
from checker.verdict import Unusable
from model.language.model import Model
from model.language.properties import Property, Shape
from model.language.rules import Rule
from model.language.terms import Term, lift

START, ALWAYS, REST = "at the start", "in every state", "where rules are stuck"
ROUNDS = 3  # of bringing in members that are spoken of only through others
Hints = Mapping[str, Mapping[str, tuple[str, ...]]]  # by rule and claim; what they leave out is tried afterwards
MOST_CLAIMS = 16  # claims in one task; more are shared between processes


@dataclass(frozen=True)
class Scope:
    """What is to be proved of which model, for which dials. `fixed` dials have one value, the others any that fit.

    `assumption` is over the dials: which of them are declared safe together. `cores`: let no obligation name a hypothesis
    that can be left out of its proof, which takes longer. `hints`: with which hypotheses alone to try a rule's claim
    first; `by_cases`: for each value of which dial by itself.
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

    def theory(self, only: Collection[str] | None = None, case: Mapping[str, Any] = {}) -> Theory:
        """With the claims about states as hypotheses, or with some of them; in the case that a dial has a value."""
        hypotheses = [c for c in self.claims if c.shape is Shape.STATE and (only is None or c.name in only)]
        return Theory(self.model, {**self.fixed, **case}, self.assumption, hypotheses, self.timeout)


@dataclass(frozen=True)
class Task:
    """Some of the obligations about one rule (or about the start, or every state), by the names of their claims.

    `rounds`: how often members that came in bring in others. `first`: hypotheses that are tried alone first.
    """

    where: str
    names: tuple[str, ...]
    rounds: int = 0
    first: tuple[str, ...] = ()


@dataclass(frozen=True)
class Proof:
    """What came of a scope. `framed`: obligations that hold because the rule writes nothing that the claim reads."""

    scope: Scope
    obligations: tuple[Obligation, ...]
    framed: int
    seconds: float

    def of(self, claim: str) -> list[Obligation]:
        return [o for o in self.obligations if o.claim == claim]

    def proved_after_all(self, found: Sequence[Obligation]) -> Proof:
        """With these in the place of the same obligations."""
        better = {(o.rule, o.claim, o.part): o for o in found}
        rows = tuple(better.get((o.rule, o.claim, o.part), o) for o in self.obligations)
        return replace(self, obligations=rows)

    @cached_property
    def proved(self) -> frozenset[str]:
        """The names of the claims that are proved, together."""
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
        used = {name for o in self.obligations for name in o.used if name != o.claim}
        tried = {o.claim for o in self.obligations}
        return tuple(c.name for c in self.scope.claims if c.auxiliary and c.name in tried and c.name not in used)


def tasks(scope: Scope, names: Collection[str] | None = None) -> tuple[list[Task], int]:
    """The work there is (for some claims), the largest first; and how many obligations are none.

    A rule that writes nothing of what a claim reads preserves it.
    """
    inductive = [c for c in scope.claims if names is None or c.name in names]
    found = [
        Task(START, tuple(c.name for c in inductive if c.shape is Shape.STATE)),
        Task(ALWAYS, tuple(c.name for c in inductive if c.shape is Shape.STEP)),
    ]
    stuck_hints = scope.hints.get(REST, {})
    found += [
        Task(REST, (c.name,), int(c.name in stuck_hints), stuck_hints.get(c.name, ()))
        for c in inductive
        if c.shape is Shape.REST
    ]
    inductive = [c for c in inductive if c.shape is not Shape.REST]
    framed = 0
    for rule in scope.rules:
        touched = [c.name for c in inductive if c.reads & rule.writes()]
        framed += len(inductive) - len(touched)
        hinted = scope.hints.get(rule.name, {})
        found += [Task(rule.name, (name,), 1, hinted[name]) for name in touched if name in hinted]
        touched = [name for name in touched if name not in hinted]
        pieces = -(-len(touched) // MOST_CLAIMS)
        found += [Task(rule.name, tuple(touched[n::pieces])) for n in range(pieces)]
    order = {name: n for n, name in enumerate(("recycle", "launch", "execute"))}
    hard_first = sorted(
        (t for t in found if t.names), key=lambda t: (not t.first, order.get(t.where, len(order)), -len(t.names))
    )
    return hard_first, framed


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
    made.smt2, made.rounds, made.cores = scope.smt2, task.rounds, scope.cores
    for name in task.names:
        made.add(by_name[name], initial=task.where == START)
    return made


def tried(scope: Scope, theory: Theory, task: Task) -> list[Obligation]:
    """What comes of a task: with the few hypotheses of a hint, if that is enough, or with all."""
    if task.first:
        results = in_cases(scope, task)
        if all(o.answer == "proved" for o in results):
            return results
    return work(scope, theory, task).prove()


def in_cases(scope: Scope, task: Task) -> list[Obligation]:
    """A task with a hint, in every case there is. What is open in one is open; what was used in one was used."""
    found: dict[int, Obligation] = {}
    name = scope.by_cases.get((task.where, task.names[0]))
    dial = next((d for d in scope.model.dials if d.name == name and name not in scope.fixed), None)
    for case in [{dial.name: value} for value in dial.sort.of] if dial is not None else [{}]:
        theory = scope.theory(task.first, case)
        for o in work(scope, theory, task).prove() if theory.possible else ():
            former = found.get(o.part, o)
            answer = o.answer if former.answer == "proved" else former.answer
            used = tuple(dict.fromkeys([*former.used, *o.used]))
            seconds = o.seconds + (former.seconds if former is not o else 0.0)
            found[o.part] = replace(o, answer=answer, used=used, seconds=seconds)
    return list(found.values())


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


def prove(
    scope: Scope, processes: int | None = None, observe: Observe = lambda o: None, asked: Collection[str] = ()
) -> Proof:
    """Try every obligation of the scope; `observe` hears of each when its task is done.

    `asked`: only these claims, and what their proofs use.
    """
    began = time.monotonic()
    found: list[Obligation] = []
    framed, done = 0, set[str]()
    left = set(asked) or {c.name for c in scope.claims}
    while left:
        planned, more = tasks(scope, left)
        framed += more
        for results in _all(scope, planned, processes or processors()):
            found += results
            for obligation in results:
                observe(obligation)
        done |= left
        left = {name for o in found for name in o.used} - done
    order = {t.where: n for n, t in enumerate(tasks(scope)[0])}
    names = {c.name: n for n, c in enumerate(scope.claims)}
    found.sort(key=lambda o: (order[o.rule], names[o.claim], o.part))
    return Proof(scope, tuple(found), framed, time.monotonic() - began)


def again(scope: Scope, proof: Proof, claim: str) -> list[Obligation]:
    """Try what is open of a claim again with more instances: the members that came in bring in others, a few times over."""
    wheres = dict.fromkeys(o.rule for o in proof.open if o.claim == claim)
    planned = [Task(where, (claim,), ROUNDS) for where in wheres]
    return [o for results in _all(scope, planned, processors()) for o in results]


def processors() -> int:
    """How many processes this one may run at once."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def _all(scope: Scope, planned: Sequence[Task], processes: int) -> Iterator[list[Obligation]]:
    """Each task begins anew, so that no answer depends on what was tried before it."""
    if "fork" not in multiprocessing.get_all_start_methods():
        yield from (tried(scope, scope.theory(), task) for task in planned)
        return
    theory, left = scope.theory(), list(reversed(planned))
    Work(theory, None).prepare(scope.rules)
    context = multiprocessing.get_context("fork")
    running: dict[Any, Any] = {}
    try:
        while left or running:
            while left and len(running) < processes:
                ours, theirs = context.Pipe(duplex=False)
                running[ours] = context.Process(target=_one, args=(scope, theory, left.pop(), theirs))
                running[ours].start()
                theirs.close()
            for ready in wait(list(running)):
                yield _received(ready)
                running.pop(ready).join()
    finally:
        for process in running.values():
            process.terminate()
            process.join()


def _one(scope: Scope, theory: Theory, task: Task, to: Any) -> None:
    try:
        to.send(tried(scope, theory, task))
    except Exception as error:
        to.send(error)


def _received(ready: Any) -> list[Obligation]:
    try:
        results: list[Obligation] | Exception = ready.recv()
    except EOFError:
        raise Unusable(
            "a process of the proof was ended from outside, perhaps for want of memory; use fewer --processes."
        ) from None
    if isinstance(results, Exception):
        raise results
    return results
