"""Fair lassos: the search against networkx on drawn graphs and small worlds, and by hand; nothing reduced away."""

from __future__ import annotations

import sys
from collections.abc import Iterable
from dataclasses import replace
from typing import Any

import networkx as nx
import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from checker.check import Options, check_world, confirm
from checker.replay.lasso import broken, lasso_of, neglected
from checker.search import liveness
from checker.search.explore import Exploration, explore
from checker.search.limits import Limits
from checker.search.liveness import (
    Graph,
    Lasso,
    Unkept,
    choices,
    counts_as_fair,
    fair_lasso,
    graph_of,
    keeps_by,
    unkept,
)
from checker.variation import Variation, vary
from checker.verdict import Disagreement, Unusable, Verdict
from model.language import Term, exists, guard, leads_to
from model.language.edits import Extend, changed
from model.language.properties import Property
from model.lifecycle import LIFECYCLE
from model.lifecycle.dials import Request
from model.lifecycle.state import Lifecycle, Phase, Reason
from model.lifecycle.terms import finished, held, running
from model.readings.python import Machine
from specs.policies import POLICIES, PROMISED
from specs.properties import LIVENESS
from specs.properties.liveness import asked_finishes, finished_is_told, launched_recycles, left_releases
from tests.search.running import changed_by, file_of, world_of

ALONE = tuple(p for p in LIVENESS if p.name not in PROMISED)
SUBMITTED = next(p for p in LIVENESS if p.name in PROMISED)
Edge = tuple[int, int, int]  # from, instance, to


def drawn_graph(states: int, edges: Iterable[Edge]) -> Graph:
    """The edges as the search wants them: grouped by where they begin, no state taking an instance twice."""
    once = sorted({(s, k): (s, k, t) for s, k, t in edges}.values())
    first = np.searchsorted([s for s, _, _ in once], range(states + 1))
    return graph_of(first.tolist(), [t for _, _, t in once], [k for _, k, _ in once])


def mask(size: int, members: Iterable[int]) -> Any:
    found = np.zeros(size, dtype=bool)
    found[list(members)] = True
    return found


# ------------------------------------------------------------------------------------------------- the oracle
def oracle(graph: Graph, fair: Any, opens: Any, keeps: Any, keeping: Any) -> bool:
    """Whether some fair run breaks the promise, by networkx and the definition, component by component."""
    whole, rest = nx.MultiDiGraph(), nx.MultiDiGraph()
    enabled: dict[int, set[int]] = {n: set() for n in range(graph.states)}
    whole.add_nodes_from(range(graph.states))
    rest.add_nodes_from(n for n in range(graph.states) if not keeps[n])
    for source in range(graph.states):
        for edge in range(int(graph.first_edge[source]), int(graph.first_edge[source + 1])):
            k, target = int(graph.taken[edge]), int(graph.targets[edge])
            enabled[source].add(k)
            whole.add_edge(source, target)
            if source in rest and target in rest and not keeping[k]:
                rest.add_edge(source, target, k)
    reached = nx.descendants(whole, 0) | {0}
    made = rest.copy()
    made.add_edges_from(("made", n) for n in reached if opens[n] and not keeps[n])
    after = nx.descendants(made, "made") if "made" in made else set()
    for component in nx.strongly_connected_components(rest):
        inside = {k for _, _, k in rest.subgraph(component).edges(keys=True)}
        always = set.intersection(*(enabled[n] for n in component))
        if component & after and not any(fair[k] and k not in inside for k in always):
            return True
    return False


def is_one(graph: Graph, found: Lasso, fair: Any, opens: Any, keeps: Any, keeping: Any) -> bool:
    """Whether this is a lasso, its loop is fair, and the promise is made and never kept."""
    sources = np.repeat(np.arange(graph.states), np.diff(graph.first_edge)).tolist()
    targets, taken = graph.targets.tolist(), graph.taken.tolist()
    run = [0]
    for edge in (*found.stem, *found.loop):
        if sources[edge] != run[-1]:
            return False
        run.append(targets[edge])
    start = len(found.stem)
    closed = run[start] == run[-1]
    never = [
        n
        for n in range(start + 1)
        if opens[run[n]]
        and not any(keeps[s] for s in run[n:])
        and not any(keeping[taken[e]] for e in (*found.stem, *found.loop)[n:])
    ]
    enabled = [{k for s, k in zip(sources, taken, strict=True) if s == state} for state in run[start:]]
    debts = {k for k in set.intersection(*enabled) if fair[k]} - {taken[e] for e in found.loop}
    return closed and bool(never) and not debts


@st.composite
def problems(draw: st.DrawFn) -> tuple[Graph, Any, Any, Any, Any]:
    states, instances = draw(st.integers(1, 9)), draw(st.integers(1, 5))
    number = st.integers(0, states - 1)
    edges = draw(st.lists(st.tuples(number, st.integers(0, instances - 1), number), max_size=25))
    some, few = st.sets(number), st.sets(st.integers(0, instances - 1))
    return (
        drawn_graph(states, edges),
        mask(instances, draw(few)),
        mask(states, draw(some)),
        mask(states, draw(some)),
        mask(instances, draw(few) if draw(st.booleans()) else ()),
    )


@settings(
    max_examples=600, deadline=None, derandomize=True, database=None, suppress_health_check=[HealthCheck.too_slow]
)
@given(problems())
def test_the_search_finds_a_lasso_exactly_where_networkx_says_there_is_one(problem: Any) -> None:
    found = fair_lasso(*problem)
    assert (found is not None) == oracle(*problem)
    if found is not None:
        graph, *masks = problem
        assert is_one(graph, found, *masks)


# ---------------------------------------------------------------------------------------------------- by hand
def shape(states: int, edges: list[Edge], fair: list[int], keeps: list[int], opens: tuple[int, ...] = (0,)) -> Any:
    instances = max((k for _, k, _ in edges), default=0) + 1
    found = fair_lasso(
        drawn_graph(states, edges), mask(instances, fair), mask(states, opens), mask(states, keeps), mask(instances, ())
    )
    return found and (len(found.stem), len(found.loop))


def test_a_loop_that_withholds_a_fair_instance_is_not_fair() -> None:
    around = [(0, 0, 1), (1, 0, 0)]
    assert shape(3, [*around, (0, 1, 2), (1, 1, 2)], [1], [2]) is None
    assert shape(3, [*around, (0, 1, 2), (1, 1, 2)], [], [2]) == (0, 0)  # nothing must happen: it stands still


def test_an_instance_that_is_disabled_somewhere_in_the_loop_need_not_be_taken() -> None:
    assert shape(3, [(0, 0, 1), (1, 2, 0), (0, 1, 2)], [0, 1, 2], [2]) == (0, 2)


def test_standing_still_is_fair_where_nothing_fair_is_enabled() -> None:
    assert shape(2, [(0, 0, 1)], [], [1]) == (0, 0)
    assert shape(2, [(0, 0, 1)], [0], [1]) is None
    assert shape(3, [(0, 0, 1), (1, 1, 2)], [0], [2]) == (1, 0)


def test_a_step_that_changes_nothing_is_a_loop() -> None:
    assert shape(2, [(0, 0, 0)], [0], [1]) == (0, 1)


def test_the_loop_goes_to_every_debt_and_back() -> None:
    """Instance 1 is enabled in all states, and taken in the farthest only; instance 2 is disabled there."""
    edges = [(0, 0, 1), (1, 0, 2), (2, 0, 0), (0, 1, 3), (1, 1, 3), (2, 1, 2), (0, 2, 3), (1, 2, 3)]
    assert shape(4, edges, [1, 2], [3]) == (2, 1)  # in state 2, instance 1 leads back and 2 is disabled
    without = [e for e in edges if e != (2, 1, 2)]
    assert shape(4, [*without, (2, 1, 0), (2, 2, 3)], [1], [3]) == (0, 3)


def test_the_promise_must_be_made_on_the_way() -> None:
    around = [(0, 0, 1), (1, 0, 0), (0, 1, 2), (2, 1, 2)]
    assert shape(3, around, [0, 1], [2], opens=(1,)) == (1, 2)
    assert shape(4, [*around, (3, 0, 0)], [0, 1], [2], opens=(3,)) is None


def test_a_step_that_keeps_the_promise_is_not_taken_in_the_loop() -> None:
    graph = drawn_graph(2, [(0, 0, 1), (1, 1, 0)])
    both, none = mask(2, (0, 1)), mask(2, ())
    assert fair_lasso(graph, both, mask(2, (0,)), none, none) is not None
    assert fair_lasso(graph, both, mask(2, (0,)), none, mask(2, (1,))) is None


def test_of_two_steps_to_one_state_the_one_that_keeps_the_promise_is_not_taken() -> None:
    graph = drawn_graph(2, [(0, 0, 1), (0, 1, 1)])
    found = fair_lasso(graph, mask(2, (0, 1)), mask(2, (0,)), mask(2, ()), mask(2, (0,)))
    assert found is not None
    assert [int(graph.taken[e]) for e in found.stem] == [1]


def test_of_two_loops_the_shorter_lasso_is_taken() -> None:
    long = [(0, 0, 1), (1, 0, 2), (2, 0, 3), (3, 0, 0)]
    assert shape(6, [*long, (0, 1, 4), (4, 0, 4)], [0], [5]) == (1, 1)


def test_without_scipy_it_is_said_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "scipy.sparse.csgraph", None)
    with pytest.raises(Unusable, match=r"scipy, which is not installed; pip install 'schedproof\[liveness\]'\.\Z"):
        check_world(file_of("solo"), changed_by(), LIVENESS)


# ------------------------------------------------------------------------------------------------- small worlds
def explored(model: Any, world: Any, properties: Iterable[Property] = LIVENESS, forgetful: bool = True) -> Exploration:
    return explore(Machine(model, world, tuple(properties), forgetful=forgetful), symmetry=False)


def never_kept(found: Exploration, declared: Property) -> Unkept | None:
    return unkept(found, [declared]).get(declared.name)


def by_oracle(found: Exploration, declared: Property) -> bool:
    """Whether networkx finds the promise broken for some members, in a graph whose masks are made by hand."""
    machine, promise = found.machine, declared.promise
    assert promise is not None
    graph = graph_of(found.first_edge, found.targets, found.taken)
    for at in choices(promise, machine.world):
        env = dict(zip(promise.members, at, strict=True))
        opens, keeps = (
            [machine.predicate(term, env)(s) for s in found.states] for term in (promise.premise, promise.goal)
        )
        fair = [counts_as_fair(promise, at, i.rule, i.at) for i in machine.instances]
        keeping = [keeps_by(promise, at, i.rule.name, i.at) for i in machine.instances]
        if oracle(graph, fair, opens, keeps, keeping):
            return True
    return False


@pytest.mark.parametrize("policy", [None, *(p.name for p in POLICIES)])
@pytest.mark.parametrize("name", ["solo", "misfit"])
def test_the_search_agrees_with_networkx_on_small_worlds(name: str, policy: str | None) -> None:
    found = explored(vary(LIFECYCLE, policy=policy).model, world_of(name))
    assert found.machine.properties == LIVENESS
    for declared in LIVENESS:
        assert (never_kept(found, declared) is not None) == by_oracle(found, declared), declared.name


def test_a_livelock_is_one_for_networkx_too() -> None:
    world = world_of("scarce", cancellation=False)
    for policy, broken_there in (("any", True), ("vllm", False)):
        found = explored(vary(LIFECYCLE, policy=policy).model, world)
        assert (never_kept(found, SUBMITTED) is not None) == by_oracle(found, SUBMITTED) == broken_there


@pytest.mark.parametrize(
    "name",
    [
        *("solo", "misfit", "solo-late", "solo-spare", "solo-prefix", "solo-overrun", "two-workers-ordered"),
        *(pytest.param(n, marks=pytest.mark.slow) for n in ("crowded-no-preemption", "two-families", "vllm-sync")),
        *(pytest.param(n, marks=pytest.mark.slow) for n in ("late-commit-unordered", "ample", "solo-window")),
    ],
)
def test_what_is_begun_comes_to_its_end_under_the_rules_alone(name: str) -> None:
    """The four promises that need no policy, and that a finished response waits for nobody."""
    found = explored(LIFECYCLE, world_of(name), ALONE)
    assert {p.name: never_kept(found, p) for p in found.machine.properties} == {
        p.name: None for p in ALONE if p in found.machine.properties
    }


def test_only_a_policy_promises_that_a_submitted_request_ends() -> None:
    result = check_world(file_of("solo"), changed_by(), LIVENESS)
    assert [(t.shows, t.length, t.loop) for t in result.traces] == [(SUBMITTED.name, 1, 1)]
    assert [e.text for e in result.traces[0].events] == ["submit(r0)"]


def test_a_cancel_may_wait_for_ever_where_prefixes_are_published_as_planned() -> None:
    """Why asked-finishes is not asked there: who leans on the plan comes and goes, as long as preemption is free to choose."""
    asked = leads_to(reason="For the tests.")(asked_function)
    found = explored(LIFECYCLE, world_of("vllm-sync"), [asked])
    never = never_kept(found, asked)
    assert never is not None
    rules = [found.machine.instances[k].rule.name for k in never.loop]
    assert {"publish", "hit", "preempt", "release", "admit"} <= set(rules)
    assert confirmed(lasso_of(found.machine, never, changed_by()), [asked])
    for policy in ("fcfs", "vllm"):
        assert never_kept(explored(vary(LIFECYCLE, policy=policy).model, world_of("vllm-sync"), [asked]), asked) is None


def asked_function(s: Lifecycle, r: Request) -> tuple[Term, Term]:
    """A request whose client has asked for its end is finished in the end."""
    return s.asked[r], finished(s, r)


def confirmed(trace: Any, properties: Iterable[Property]) -> bool:
    confirm(trace, tuple(properties))
    return True


# --------------------------------------------------------------------------------------- every promise can fail
def only_who_runs(now: Lifecycle, after: Lifecycle, r: Request) -> None:
    guard("runs", running(now, r))


def not_rejected(now: Lifecycle, after: Lifecycle, r: Request) -> None:
    guard("not-rejected", now.reason[r] != Reason.REJECTED)


def only_finished(now: Lifecycle, after: Lifecycle, r: Request) -> None:
    guard("over", finished(now, r))


def nobody_waits(now: Lifecycle, after: Lifecycle) -> None:
    guard("nobody-waits", ~exists(Request, lambda q: now.phase[q] == Phase.PREEMPTED))


def nobody_holds(now: Lifecycle, after: Lifecycle, r: Request) -> None:
    guard("nobody-holds", ~exists(Request, lambda q: running(now, q) & (held(now, q) > 0)))


BREAK = {
    "liveness.asked-finishes": ("solo", Extend("abort", only_who_runs)),
    "liveness.finished-is-told": ("misfit", Extend("notify", not_rejected)),
    "liveness.left-releases": ("solo", Extend("release", only_finished)),
    "liveness.launched-recycles": ("solo", Extend("recycle", nobody_waits)),
    "liveness.leaves-early": ("misfit", Extend("notify", nobody_holds)),
}


@pytest.mark.parametrize("name", BREAK)
def test_every_promise_is_broken_by_a_change_and_by_no_more_than_that(name: str) -> None:
    world, change = BREAK[name]
    model = changed(LIFECYCLE, change)
    result = check_world(file_of(world), Variation(LIFECYCLE, model), ALONE)
    assert name in result.violated
    assert result.verdict is Verdict.VIOLATED
    for trace in result.traces:
        declared = next(p for p in ALONE if p.name == trace.shows)
        assert broken(trace, declared) is not None
    assert name not in check_world(file_of(world), changed_by(), ALONE).violated


def others_served(now: Lifecycle, after: Lifecycle, r: Request) -> None:
    waits = exists(Request, lambda q: (q != r) & (now.delivered[q] < now.committed[q]) & (now.notified[q] == 0))
    guard("others-served", ~waits)


def test_who_must_keep_a_promise_alone_cannot_rely_on_the_same_rule_for_others() -> None:
    """The message waits until another client has taken its tokens, which it must do in the end, but not for this one."""
    variation = Variation(LIFECYCLE, changed(LIFECYCLE, Extend("notify", others_served)))
    result = check_world(file_of("misfit"), variation, ALONE)
    assert result.violated == ("liveness.leaves-early",)


def test_every_promise_is_here() -> None:
    assert set(BREAK) == {p.name for p in ALONE}


# ------------------------------------------------------------------------------------------- nothing reduced away
@pytest.mark.parametrize("policy", [None, "any"])
@pytest.mark.parametrize("name", ["solo-late", "two-workers-ordered"])
def test_what_may_be_forgotten_changes_no_answer(name: str, policy: str | None) -> None:
    model, world = vary(LIFECYCLE, policy=policy).model, world_of(name)
    with_all, without = (explored(model, world, forgetful=forgetful) for forgetful in (False, True))
    assert {p.name: never_kept(with_all, p) is None for p in with_all.machine.properties} == {
        p.name: never_kept(without, p) is None for p in without.machine.properties
    }


def test_where_something_is_forgotten_the_lasso_closes_on_the_whole_state() -> None:
    """Under ordered release blocks keep old text. The search forgets it; the real run needs one round before all recurs."""
    variation = vary(LIFECYCLE, policy="oldest-victim")
    found = explored(variation.model, world_of("scarce", cancellation=False, release="ordered"))
    assert found.machine.forgettings
    never = never_kept(found, SUBMITTED)
    assert never is not None
    trace = lasso_of(found.machine, never, variation)
    assert trace.loop == len(never.stem) + len(never.loop)
    assert trace.length == len(never.stem) + 2 * len(never.loop)
    assert trace.states[trace.loop] == trace.states[-1] != trace.states[len(never.stem)]
    assert confirmed(trace, [SUBMITTED])


def test_a_graph_that_joins_states_by_renaming_is_refused() -> None:
    machine = Machine(LIFECYCLE, world_of("misfit"), LIVENESS)
    with pytest.raises(ValueError, match="joins no states"):
        never_kept(explore(machine), LIVENESS[0])
    with pytest.raises(ValueError, match="complete"):
        never_kept(explore(machine, symmetry=False, limits=Limits(states=10)), LIVENESS[0])


def test_a_check_of_promises_joins_nothing_and_says_what_it_could_not_judge() -> None:
    result = check_world(file_of("misfit"), changed_by(), LIVENESS)
    assert isinstance(result.search, Exploration)
    assert (result.search.symmetry, len(result.search.states)) == (None, 1_017)
    stopped = check_world(file_of("misfit"), changed_by(), LIVENESS, Options(Limits(states=50)))
    assert stopped.skipped == tuple(f"{p.name} was not judged: the search stopped at 50 states" for p in LIVENESS)
    assert stopped.verdict is Verdict.UNDETERMINED


# ------------------------------------------------------------------------------------------------ believed by nobody
def livelock() -> Any:
    variation = vary(LIFECYCLE, policy="any")
    found = explored(variation.model, world_of("scarce", cancellation=False))
    never = never_kept(found, SUBMITTED)
    assert never is not None
    return found, never, variation


def test_the_interpreter_refuses_a_loop_that_is_not_fair() -> None:
    """The run stands still where its loop began: there, the scheduler could give memory, and under a policy it must."""
    found, never, variation = livelock()
    trace = lasso_of(found.machine, never, variation)
    loop = trace.loop
    assert loop is not None
    still = replace(trace, events=trace.events[:loop], states=trace.states[: loop + 1])
    assert broken(trace, SUBMITTED) is not None
    assert broken(still, SUBMITTED) is None
    assert SUBMITTED.promise is not None
    assert "acquire" in neglected(still, SUBMITTED.promise, (0,))
    with pytest.raises(
        Disagreement, match=r"finds liveness\.submitted-finishes violated, but the interpreter does not"
    ):
        confirm(still, LIVENESS)
    # Of the rules alone nobody must be given memory, and the same run is a fair one.
    alone = replace(still, model=LIFECYCLE, variation=vary(LIFECYCLE))
    assert broken(alone, SUBMITTED) is not None


def test_the_interpreter_refuses_a_loop_that_does_not_close_and_a_promise_that_is_kept() -> None:
    found, never, variation = livelock()
    trace = lasso_of(found.machine, never, variation)
    assert trace.loop is not None
    assert broken(replace(trace, loop=trace.loop + 1), SUBMITTED) is None
    assert broken(replace(trace, loop=None), SUBMITTED) is None
    preempted = leads_to(reason="For the tests.")(comes_to_run)
    assert broken(trace, preempted) is None  # r0 comes to run in every round, and r1 runs all the time


def comes_to_run(s: Lifecycle, r: Request) -> tuple[Term, Term]:
    """A submitted request runs at some time."""
    return s.phase[r] != Phase.NEW, running(s, r)


def test_a_search_that_is_wrong_is_found_out(monkeypatch: pytest.MonkeyPatch) -> None:
    """The first instances that there are, called a lasso: the interpreter says no, and the command ends with exit 4."""
    made = liveness.Unkept(finished_is_told.name, (0,), (0,), ())
    monkeypatch.setattr("checker.check.unkept", lambda found, properties: {made.name: made})
    with pytest.raises(Disagreement, match="please report this"):
        check_world(file_of("solo"), changed_by(), LIVENESS)


def test_a_loop_that_never_closes_is_found_out() -> None:
    machine = Machine(LIFECYCLE, world_of("solo"), [SUBMITTED])
    number = {i.text: k for k, i in enumerate(machine.instances)}
    # Taken again and again without a look at its guard, a token is delivered for ever.
    endless = liveness.Unkept(SUBMITTED.name, (0,), (number["submit(r0)"],), (number["deliver(r0)"],))
    with pytest.raises(Disagreement, match="does not close"):
        lasso_of(machine, endless, vary(LIFECYCLE))


def test_who_is_meant_and_since_when_is_told_by_the_interpreter() -> None:
    found, never, variation = livelock()
    trace = lasso_of(found.machine, never, variation)
    judged = broken(trace, SUBMITTED)
    assert judged is not None
    assert (judged.members, judged.since) == ((0,), 1)
    for other in (asked_finishes, left_releases, launched_recycles):
        assert broken(trace, other) is None
