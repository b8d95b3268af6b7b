"""Random legal sequences of events, on the rules' python reading and on the engine side by side.

After every event the engine must be in the rules' state and the KV memory hold what they say; at the end all must come
to rest with every token, and its logits, as the request alone has them.
"""

from __future__ import annotations

from collections import Counter
from functools import cache
from typing import Any

import hypothesis.strategies as st
import pytest
from hypothesis import HealthCheck, settings
from hypothesis.stateful import RuleBasedStateMachine, initialize, rule, run_state_machine_as_test

from checker.replay.reference.run import Run
from checker.replay.reference.stage import ENDS, set_up
from checker.worlds import find
from model.lifecycle import LIFECYCLE
from model.lifecycle.dials import Slot
from model.lifecycle.state import Lifecycle, Status
from model.readings.python import Machine
from model.readings.world import World, world

THREE = {"requests": 3, "prompt": 2, "family": 0, "blocks": 4}

# Sound worlds in which together every rule and every discipline is at home.
WORLDS: dict[str, dict[str, Any]] = {
    "misfit": {"late_result": "commit", "depth": 2, "requests": 4, "prompt": [5, 6, 7, 1], "limit": 2, "family": 0},
    "pair": {"depth": 2},
    "shared-prefix": {},
    "ordered-publish": {"release": "ordered"},
    "late-commit": {"depth": 3, "limit": [3, 2, 1], **THREE},
    "unordered-device": {"limit": 2, "blocks": 3},
    "two-workers": {},
    "cache-all": {"limit": 3, "blocks": 4, "late_result": "commit", "cancellation": True},
    "two-families": {"limit": 2, "late_result": "commit", **THREE, "family": [0, 1, 0]},
    "overrun": {"late_result": "commit", "limit": 3, **THREE},
    "unmixed": {"late_result": "commit", "depth": 2, "limit": 3, **THREE},
    "whole-prompt-shared": {"depth": 2},
    "vllm-window": {"limit": [1, 2, 3], **THREE},
}
EXAMPLES = 34  # random sequences in each world, but for these
MORE = {"misfit": 50, "late-commit": 50}
ENOUGH = 100  # times that each rule must have fired over all of them

SETBACKS = {"preempt": 3, "cancel": 20}  # what ends work counts as if it had fired so often


@cache
def machine_of(name: str) -> Machine:
    given = dict(find(LIFECYCLE, name).world.plain()) | WORLDS[name]
    made: World = world(LIFECYCLE, name, given)
    return Machine(LIFECYCLE, made, forgetful=False)


@cache
def stage_of(name: str, stops: tuple[int, ...]) -> Any:
    """A stage whose request r ends at its output token stops[r], if that is below its limit."""
    limits = machine_of(name).world.values["limit"]
    return set_up(
        machine_of(name).world, {r: n for r, (n, limit) in enumerate(zip(stops, limits, strict=False)) if n < limit}
    )


class SideBySide(RuleBasedStateMachine):
    """In one world; `fired` counts the rules over all runs."""

    world: str
    fired: Counter[str]

    @initialize(stops=st.tuples(*[st.sampled_from([0, 0, 0, 1, 1, 9])] * 4))
    def begin(self, stops: tuple[int, ...]) -> None:
        self.here: Counter[str] = Counter()
        self.machine = machine_of(self.world)
        self.stops = stops
        self.run = Run(stage_of(self.world, stops), self.machine.layout)
        self.state = self.machine.initial

    def enabled(self) -> list[tuple[str, tuple[int, ...], Any]]:
        """What the rules allow now, and the text: whether a token ends it is not free on an engine."""
        found = []
        for k, then, _ in self.machine.successors(self.state):
            instance = self.machine.instances[k]
            if self.text_allows(instance.rule.name, instance.at):
                found.append((instance.rule.name, instance.at, then))
        return found

    def text_allows(self, name: str, at: tuple[int, ...]) -> bool:
        if name not in ENDS and name not in ("retire_token", "retire_late_token"):
            return True
        r = at[0]
        place = self.machine.layout.position[(Lifecycle.committed, (r,))]
        return (self.state[place] == self.stops[r]) == (name in ENDS)

    @rule(rank=st.sampled_from([0] * 12 + [1, 1, 2]), which=st.integers(0, 5))
    def happen(self, rank: int, which: int) -> None:
        """One of the rules that may fire and have fired least in this run, so that all have their moments."""
        costs: dict[tuple[int, str], list[tuple[str, tuple[int, ...], Any]]] = {}
        for event in self.enabled():
            costs.setdefault((self.cost(*event[:2]), event[0]), []).append(event)
        if not costs:
            return
        cheapest = sorted(costs)
        some = costs[cheapest[min(rank, len(cheapest) - 1)]]
        name, at, then = some[which % len(some) if which % 2 else -1]  # the last of select is the largest chunk
        self.run.event(name, at)
        self.state = self.machine.pack(then)
        self.here[name] += 1
        self.fired[name] += 1
        assert list(self.run.differing(self.state)) == []

    def cost(self, name: str, at: tuple[int, ...]) -> int:
        """How often its rule has fired. What sets the work back counts for more, unless it comes between a launch and
        the token that is then late."""
        fired = self.here[name] + 1
        return fired * (1 if name == "preempt" and self.sampling(at[0]) else SETBACKS.get(name, 1))

    def sampling(self, r: int) -> bool:
        place, slots = self.machine.layout.position, self.machine.layout.sizes[Slot]
        cells = [(place[(Lifecycle.samples, (i, r))], place[(Lifecycle.status, (i,))]) for i in range(slots)]
        launched = list(Status).index(Status.LAUNCHED)
        return any(self.state[samples] and self.state[status] == launched for samples, status in cells)

    def teardown(self) -> None:
        if hasattr(self, "run"):
            self.run.rest()
            assert self.run.damage(over=True).sentences == ()


@pytest.mark.slow
def test_engine_and_rules_take_every_step_alike() -> None:
    fired: Counter[str] = Counter()
    for name in WORLDS:
        run_state_machine_as_test(
            type(f"SideBySideIn_{name}", (SideBySide,), {"fired": fired, "world": name}),
            settings=settings(
                max_examples=MORE.get(name, EXAMPLES),
                stateful_step_count=120,
                deadline=None,
                derandomize=True,
                database=None,
                suppress_health_check=list(HealthCheck),
            ),
        )
    assert {r.name: fired[r.name] for r in LIFECYCLE.rules if fired[r.name] < ENOUGH} == {}
