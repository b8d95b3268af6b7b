"""Policies: what each keeps and breaks is shown by search, and none allows what the rules forbid."""

from __future__ import annotations

import re
from functools import cache
from typing import Any

import networkx as nx
import pytest

from checker.check import Options, WorldResult, check_world
from checker.replay.lasso import broken
from checker.replay.trace import Trace
from checker.search.explore import Exploration, explore
from checker.search.limits import Limits
from checker.variation import vary
from checker.verdict import Verdict
from model.language import Term, count, every_of, exists, forall, implies, prop
from model.language.edits import changed
from model.language.properties import Shape
from model.language.terms import Moment
from model.lifecycle import LIFECYCLE
from model.lifecycle.dials import Request
from model.lifecycle.state import Lifecycle, Phase
from model.lifecycle.terms import finished, fits, needs_block, running
from model.readings.interpret import evaluate
from model.readings.python import Machine
from specs.policies import FITS, MISFIT, POLICIES, PROMISED, WORLDS
from specs.policies.lists import Listed, waiting
from specs.policies.policy import Policy
from specs.properties import LIVENESS, PROPERTIES
from specs.properties.delivery import answer_waits_for_nobody
from specs.properties.liveness import leaves_early, submitted_finishes
from tests.search.running import file_of, world_of

ENDS, EARLY = submitted_finishes.name, leaves_early.name
REST = tuple(p for p in PROPERTIES if p.shape in (Shape.REST, Shape.HOME))
each = pytest.mark.parametrize("policy", [pytest.param(p, id=p.name) for p in POLICIES])
KEEPING = tuple(p.name for p in POLICIES if ENDS not in p.breaks)


@cache
def judged(name: str, world: str, without: tuple[str, ...] = (), **dials: Any) -> WorldResult:
    """A policy in a world without cancellation: at rest, on the way home, and in the end."""
    variation = vary(LIFECYCLE, policy=name, without=without)
    return check_world(file_of(world, cancellation=False, **dials), variation, (*REST, *LIVENESS))


def lasso(result: WorldResult, name: str) -> Trace:
    return next(t for t in result.traces if t.shows == name)


def fired(result: WorldResult) -> dict[str, int]:
    assert isinstance(result.search, Exploration)
    return result.search.fired


# ---------------------------------------------------------------------------------------- what is to be shown
@each
def test_a_policy_keeps_and_breaks_what_it_says(policy: Policy) -> None:
    violated = {name for world in WORLDS for name in judged(policy.name, world).violated}
    assert violated == set(policy.breaks)
    for world in WORLDS:
        for trace in judged(policy.name, world).traces:
            declared = next(p for p in LIVENESS if p.name == trace.shows)
            assert broken(trace, declared) is not None


def test_every_request_fits_alone_where_policies_are_compared() -> None:
    for name in WORLDS:
        world = world_of(name)
        for r in range(world.values["requests"]):
            variable = Request.variable("r")
            assert evaluate(fits(variable), world, {variable.data: r})


def test_any_livelocks_by_mutual_preemption() -> None:
    """Nobody ever finishes, although each fits alone; and a fair run may take memory from each for the other for ever."""
    trace = lasso(judged("any", "scarce"), ENDS)
    assert trace.loop is not None
    assert "preempt" in {e.rule for e in trace.events[trace.loop :]}
    finishes = ("retire_stop", "retire_length")
    found = explore(
        Machine(vary(LIFECYCLE, policy="any").model, world_of("scarce", cancellation=False)), symmetry=False
    )
    assert nobody_finishes(found, finishes) == {"preempt(r0)", "preempt(r1)"}


def nobody_finishes(found: Exploration, finishes: tuple[str, ...]) -> set[str]:
    """The preemptions inside the fair components of the graph without finishes in which both requests were submitted."""
    graph, machine = nx.MultiDiGraph(), found.machine
    enabled: list[set[int]] = [
        set(found.taken[found.first_edge[n] : found.first_edge[n + 1]]) for n in range(len(found.states))
    ]
    for source in range(len(found.states)):
        for edge in range(found.first_edge[source], found.first_edge[source + 1]):
            if machine.instances[found.taken[edge]].rule.name not in finishes:
                graph.add_edge(source, found.targets[edge], found.taken[edge])
    within: set[str] = set()
    for component in nx.strongly_connected_components(graph):
        taken = {k for _, _, k in graph.subgraph(component).edges(keys=True)}
        always = set.intersection(*(enabled[n] for n in component))
        if taken and not any(machine.instances[k].rule.fair for k in always - taken):
            both = {machine.instances[k].text for k in taken if machine.instances[k].rule.name == "preempt"}
            within = max(within, both, key=len)
    return within


def test_memory_that_is_reserved_never_needs_preemption() -> None:
    for name in ("orca", "static"):
        for world in (*WORLDS, "crowded"):
            assert fired(judged(name, world))["preempt"] == 0
            result = judged(name, world, preemption=False)
            assert "preempt" not in fired(result)
            assert set(result.violated) <= {EARLY}
    assert "rest.no-dead-end" in judged("any", "scarce", preemption=False).violated


def test_a_victim_older_than_who_gains_by_it_can_starve() -> None:
    """Only the victim differs from vllm. In the loop each takes the memory of the one admitted before it, in turn."""
    assert ENDS not in judged("vllm", "scarce").violated
    trace = lasso(judged("oldest-victim", "scarce"), ENDS)
    assert trace.loop is not None
    victims = []
    for number in range(trace.loop, trace.length):
        event, state = trace.events[number], trace.states[number]
        if event.rule == "preempt":
            (victim,) = event.at
            read = trace.layout.reader(state)
            gains = Request.variable("q")
            assert evaluate(needs_block(Listed(Moment.NOW), gains), trace.world, {gains.data: 1 - victim}, read)
            assert place(trace, number, victim) < place(trace, number, 1 - victim)
            victims.append(victim)
    assert set(victims) == {0, 1}
    committed = [p for p, c in enumerate(trace.layout.cells) if c.field.name == "committed"]
    assert all(state[p] == 0 for state in trace.states for p in committed)


def place(trace: Trace, number: int, r: int) -> int:
    return trace.states[number][trace.layout.position[(Listed.place, (r,))]]


def test_an_answer_of_a_static_batch_waits_for_the_longest_and_of_no_other_policy() -> None:
    result = judged("static", "ample")
    trace = lasso(result, EARLY)
    assert trace.loop == trace.length
    last = trace.layout.reader(trace.states[-1])
    r, state = Request.variable("r"), Lifecycle(Moment.NOW)
    assert evaluate(finished(state, r), trace.world, {r.data: 0}, last)
    assert evaluate(running(state, r), trace.world, {r.data: 1}, last)
    assert trace.events[-1].rule == "retire_length"
    for policy in POLICIES:
        if policy.name != "static":
            assert all(EARLY not in judged(policy.name, world).violated for world in WORLDS)


def test_the_promise_of_a_policy_needs_the_admission_condition() -> None:
    for policy in POLICIES:
        variation = vary(LIFECYCLE, policy=policy.name, without=(FITS,))
        result = check_world(file_of(MISFIT), variation, [submitted_finishes])
        assert (result.violated == (ENDS,)) == policy.relies_on_fits
        kept = check_world(file_of(MISFIT), vary(LIFECYCLE, policy=policy.name), [submitted_finishes])
        assert kept.violated == ()


NEEDED = {
    "fcfs": ("acquire.in-order", "select.in-order", "preempt.for-memory", "preempt.last", "preempt.none-coming"),
    "vllm": ("preempt.for-memory", "preempt.last"),
    "orca": ("admit.all-taken", "admit.reserved", "preempt.for-memory"),
    "static": ("admit.all-taken", "admit.reserved", "preempt.for-memory"),
}


@pytest.mark.parametrize("policy, guard", [(policy, guard) for policy, guards in NEEDED.items() for guard in guards])
def test_the_promise_rests_on_guards_of_the_policy(policy: str, guard: str) -> None:
    assert ENDS not in judged(policy, "scarce").violated
    assert ENDS in judged(policy, "scarce", (guard,)).violated


@pytest.mark.slow
def test_who_gives_way_while_memory_is_coming_back_can_livelock_under_vllm_too() -> None:
    """With one token more than in scarce. vLLM itself gives back a victim's blocks in the call that preempts it."""
    assert judged("vllm", "scarce", limit=3, blocks=3).violated == ()
    trace = lasso(judged("vllm", "scarce", ("preempt.none-coming",), limit=3, blocks=3), ENDS)
    assert trace.loop is not None
    repeated = [e.text for e in trace.events[trace.loop :]]
    assert {"preempt(r0)", "preempt(r1)", "launch(s0)"} <= set(repeated)


@pytest.mark.slow
@pytest.mark.parametrize("name", ["fcfs", "vllm"])
def test_the_promise_is_kept_by_three_requests_on_two_seats_and_with_two_steps_in_flight(name: str) -> None:
    for dials in ({"requests": 3}, {"depth": 2}):
        result = judged(name, "scarce", **dials)
        assert (result.violated, result.search.bound) == ((), None)
        assert fired(result)["preempt"] > 0


# --------------------------------------------------------------------------------------------- only restraints
@each
def test_a_policy_allows_nothing_that_the_rules_forbid(policy: Policy) -> None:
    """It adds guards, and updates of its own fields; what the rules say stays word for word."""
    model = changed(LIFECYCLE, *policy.changes)
    own = {f.name for f in model.state.fields()} - {f.name for f in LIFECYCLE.state.fields()}
    for before, now in zip(LIFECYCLE.rules, model.rules, strict=True):
        assert now.guards[: len(before.guards)] == before.guards
        assert now.updates[: len(before.updates)] == before.updates
        assert {u.field.name for u in now.updates[len(before.updates) :]} <= own
        assert (now.needs, now.params, now.by) == (before.needs, before.params, before.by)
        assert now.fair == (before.fair or now.name in ("admit", "acquire", "select", "preempt"))


@each
def test_whatever_holds_of_states_and_steps_holds_under_a_policy(policy: Policy) -> None:
    result = check_world(file_of("solo"), vary(LIFECYCLE, policy=policy.name), PROPERTIES)
    assert result.violated == ()
    assert answer_waits_for_nobody in result.properties


@prop(rule="R14", reason="For the tests.", witness=lambda s: exists(Request, lambda r: s.place[r] == 2))
def places_are_in_order(s: Listed) -> Term:
    """The waiting, and the running, stand at 1, 2, 3, ...; whoever is neither has no place."""

    def stands(r: Request, listed: Any) -> Term:
        alone = forall(Request, lambda q: ~listed(s, q) | (q == r) | (s.place[q] != s.place[r]))
        return implies(
            listed(s, r), every_of(s.place[r] > 0, s.place[r] <= count(Request, lambda q: listed(s, q)), alone)
        )

    return forall(
        Request,
        lambda r: every_of(stands(r, waiting), stands(r, running), waiting(s, r) | running(s, r) | (s.place[r] == 0)),
    )


@pytest.mark.parametrize("name", ["fcfs", "vllm"])
def test_the_lists_are_lists(name: str) -> None:
    variation = vary(LIFECYCLE, policy=name)
    three: dict[str, Any] = {"requests": 3, "cancellation": False}
    for world, dials in (("scarce", three), ("misfit", {}), ("solo-late", {"requests": 2, "seats": 2})):
        limits = Limits(states=100_000)
        result = check_world(file_of(world, **dials), variation, [places_are_in_order], Options(limits))
        assert result.violated == ()
        assert isinstance(result.search, Exploration)
        assert result.search.unmet == ()


def test_a_preempted_request_goes_to_the_head_and_a_new_one_to_the_end() -> None:
    trace = lasso(judged("oldest-victim", "scarce"), ENDS)
    for number, event in enumerate(trace.events):
        if event.rule == "preempt":
            assert place(trace, number + 1, event.at[0]) == 1
        if event.rule == "submit":
            others = sum(trace.states[number][trace.layout.position[(Listed.phase, (r,))]] in queued() for r in (0, 1))
            assert place(trace, number + 1, event.at[0]) == others + 1


def queued() -> tuple[int, ...]:
    return tuple(n for n, phase in enumerate(Phase) if phase in (Phase.WAITING, Phase.PREEMPTED))


# ------------------------------------------------------------------------------------------------ well formed
@each
def test_a_policy_says_what_it_is(policy: Policy) -> None:
    assert re.match(r"[a-z]+(-[a-z]+)*\Z", policy.name)
    assert policy.about[0].isupper()
    assert policy.about.endswith(".")
    assert set(policy.breaks) <= {p.name for p in LIVENESS}


def test_names_are_there_once_and_promises_exist() -> None:
    names = [p.name for p in POLICIES]
    assert len(set(names)) == len(names)
    assert set(PROMISED) <= {p.name for p in LIVENESS}
    assert set(KEEPING) == {"fcfs", "vllm", "orca", "static"}


def test_a_policy_and_a_change_go_together() -> None:
    variation = vary(LIFECYCLE, policy="vllm", fault="notify-twice")
    assert variation.words == "under the policy vllm, with the fault notify-twice"
    assert variation.options == ["--policy", "vllm", "--fault", "notify-twice"]
    assert "delivery.message-once" in check_world(file_of("solo"), variation, PROPERTIES).violated
    assert variation
    assert not vary(LIFECYCLE, policy="vllm")
    assert check_world(file_of("misfit"), vary(LIFECYCLE, policy="vllm"), LIVENESS).verdict is Verdict.HOLDS
