"""One solver for all goals about a rule: what it is told grows with the members that are spoken of."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence, Set
from contextlib import contextmanager
from typing import Any

import z3

from model.readings.anysize import AnySize
from model.readings.said import Given, Level, Name, Source, Tag
from model.readings.solver import assert_all, check_assuming, identical

# How much one answer may cost, and all answers about one goal, in the solver's own count of its steps: unlike seconds, that
# is the same on every machine. With hints the dearest answer costs 3 million and the dearest goal 11; without, 10 and 40.
STEPS = 20_000_000
STEPS_OF_A_GOAL = 120_000_000
TRIES = 2  # of a query that is left undecided: another order of guesses may decide it
# The older arithmetic of the solver is faster on queries as small as these, and so it is if equalities are split late.
WAYS = {"smt.arith.solver": 2, "smt.arith.eager_eq_axioms": False}


class Budget:
    """What all answers about one goal may cost together. Asking what was spent costs time as well, so it is seldom asked."""

    SELDOM = 10

    def __init__(self, solver: Any) -> None:
        self.solver = solver
        self.asked, self.began = 0, 0

    def spent(self) -> bool:
        self.asked += 1
        if self.asked % self.SELDOM:
            return False
        found = self.solver.statistics()
        count = int(dict(found[n] for n in range(len(found))).get("rlimit count", 0))
        self.began = self.began or count
        return count - self.began > STEPS_OF_A_GOAL


class Query:
    """A solver, what it was told of each level, and the hypotheses by name, which it assumes and may name in a core.

    `given`: what is told is what matters for these claims.
    """

    def __init__(
        self, tr: AnySize, facts: Iterable[Any], hypotheses: dict[str, Any], given: Given, timeout: float
    ) -> None:
        self.tr, self.given = tr, given
        self.solver = z3.SimpleSolver()
        self.solver.set(timeout=int(timeout * 1000), rlimit=STEPS, **WAYS)
        self.hypotheses = hypotheses
        self.told: dict[tuple[int, Source, Tag], int] = {}
        self.facts: list[Any] = []  # as they were said; the solver keeps them in other words
        self.add(facts)

    def add(self, facts: Iterable[Any]) -> None:
        known = len(self.facts)
        self.facts += facts
        assert_all(self.solver, self.facts[known:])

    def tell(self, members: Set[Name], *levels: Level) -> None:
        """All that these levels say of the members, as far as it was not told yet."""
        self.add(self._new(members, levels))

    def _new(self, members: Set[Name], levels: Sequence[Level]) -> list[Any]:
        found = []
        for source in self.tr.relevant(self.given):
            for level in levels:
                for tag, facts in level.facts.get(source, {}).items():
                    if tag <= members:
                        key = id(level), source, tag
                        known = self.told.get(key, 0)
                        self.told[key] = len(facts)
                        found += facts[known:]
        return found

    @contextmanager
    def aside(self) -> Iterator[None]:
        """What is told now is taken back at the end."""
        kept, known = dict(self.told), len(self.facts)
        self.solver.push()
        try:
            yield
        finally:
            self.solver.pop()
            self.told = kept
            del self.facts[known:]

    def budget(self) -> Budget:
        """For the answers about one goal, from now on."""
        return Budget(self.solver)

    def check(self) -> Any:
        answer = check_assuming(self.solver, list(self.hypotheses.values()))
        for seed in range(1, TRIES):
            if answer == z3.unknown:
                self.solver.set("random_seed", seed)
                answer = check_assuming(self.solver, list(self.hypotheses.values()))
                self.solver.set("random_seed", 0)
        return answer

    def used(self) -> list[str]:
        """The hypotheses in the core of what was found contradictory."""
        core = list(self.solver.unsat_core())
        return [name for name, literal in self.hypotheses.items() if any(identical(literal, c) for c in core)]

    def needed(self) -> list[str]:
        """Of the core, hypotheses none of which can be left out of it: each was tried."""
        core = self.used()
        for name in list(core):
            rest = [n for n in core if n != name]
            if check_assuming(self.solver, [self.hypotheses[n] for n in rest]) == z3.unsat:
                core = rest
        return core
