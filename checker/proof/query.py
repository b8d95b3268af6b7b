"""One solver for all goals about a rule: what it is told grows with the members that are spoken of."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Set
from contextlib import contextmanager
from typing import Any

import z3

from model.readings.anysize import Level, Name, Tag
from model.readings.solver import assert_all, check_assuming

# How much a query may cost, in the solver's own count of its steps: unlike seconds, the same on every machine.
STEPS = 50_000_000


class Query:
    """A solver, what it was told of each level, and the hypotheses by name, which it assumes and may name in a core."""

    def __init__(self, facts: Iterable[Any], hypotheses: dict[str, Any], timeout: float) -> None:
        self.solver = z3.Solver()
        self.solver.set("timeout", int(timeout * 1000))
        self.solver.set("rlimit", STEPS)
        self.hypotheses = hypotheses
        self.told: dict[tuple[int, Tag], int] = {}
        self.add(facts)

    def add(self, facts: Iterable[Any]) -> None:
        assert_all(self.solver, facts)

    def tell(self, members: Set[Name], *levels: Level) -> None:
        """All that these levels say of the members, as far as it was not told yet."""
        for level in levels:
            for tag, facts in level.facts.items():
                key = id(level), tag
                known = self.told.get(key, 0)
                if known < len(facts) and tag <= members:
                    self.told[key] = len(facts)
                    assert_all(self.solver, facts[known:])

    @contextmanager
    def aside(self) -> Iterator[None]:
        """What is told now is taken back at the end."""
        kept = dict(self.told)
        self.solver.push()
        try:
            yield
        finally:
            self.solver.pop()
            self.told = kept

    def check(self) -> Any:
        return check_assuming(self.solver, list(self.hypotheses.values()))

    def used(self) -> list[str]:
        """The hypotheses in the core of what was found contradictory."""
        core = {c.get_id() for c in self.solver.unsat_core()}
        return [name for name, literal in self.hypotheses.items() if literal.get_id() in core]
