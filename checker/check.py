"""Checking: a world explored (or walked) under a variation of the rules, and what came of it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from checker.replay.lasso import broken, lasso_of
from checker.replay.trace import Trace, build, trace_of
from checker.search.choose import Explorer
from checker.search.explore import Exploration
from checker.search.home import lost_homes
from checker.search.limits import Limits, Observe, unobserved
from checker.search.liveness import Unkept, unkept
from checker.search.simulate import Simulation, simulate
from checker.variation import Variation
from checker.verdict import Disagreement, Unusable, Verdict, worst
from checker.worlds import WorldFile
from model.language.properties import Property, Shape
from model.readings.effects import after, false_guards, moves
from model.readings.interpret import evaluate
from model.readings.python import Machine, TooLarge


@dataclass(frozen=True)
class Options:
    """How to search. `reduction`: up to renaming, and forgetting what nobody can read any more. `search`: see choose.py."""

    limits: Limits = Limits()
    reduction: bool = True
    search: str = "auto"
    walks: int | None = None
    seed: int = 0


@dataclass(frozen=True)
class WorldResult:
    """What came of one world. `traces` are the violations, the shortest first; `skipped` says what was not judged."""

    file: WorldFile
    variation: Variation
    properties: tuple[Property, ...]
    search: Exploration | Simulation
    traces: tuple[Trace, ...]
    skipped: tuple[str, ...] = ()

    @property
    def judged(self) -> tuple[Property, ...]:
        """The properties that this world can violate; what should be reachable is judged over all worlds together."""
        return tuple(p for p in self.properties if p.shape is not Shape.REACHABLE)

    @property
    def violated(self) -> tuple[str, ...]:
        return tuple(t.shows for t in self.traces)

    @property
    def as_expected(self) -> bool:
        """Exactly the violations that the world is there to show, in a search that went to the end."""
        return bool(self.file.expect) and self.search.bound is None and not (self.unexpected or self.missing)

    @property
    def unexpected(self) -> tuple[str, ...]:
        """Violations that the world is not there to show."""
        return tuple(v for v in self.violated if v not in self.file.expect)

    @property
    def missing(self) -> tuple[str, ...]:
        """Expected violations that were not found."""
        return tuple(e for e in self.file.expect if e not in self.violated)

    @property
    def miscounted(self) -> str | None:
        """What is wrong with the number of states that the world's file states, if it states one and all were visited."""
        search, stated = self.search, self.file.normal_forms
        if stated is None or not isinstance(search, Exploration) or search.symmetry is None or search.bound is not None:
            return None
        found = len(search.states)
        return None if found == stated else f"{self.file.place} says normal_forms = {stated:,}, but there are {found:,}"

    @property
    def verdict(self) -> Verdict:
        if self.unexpected:
            return Verdict.VIOLATED
        if self.search.bound is not None:
            return Verdict.UNDETERMINED
        return Verdict.VIOLATED if self.missing or self.miscounted else Verdict.HOLDS


@dataclass(frozen=True)
class CheckResult:
    """What came of a whole command. `unreached` are rules and witnesses met in no world; judged only if `whole`."""

    results: tuple[WorldResult, ...]
    unreached: tuple[str, ...] = ()
    whole: bool = False
    untried: tuple[str, ...] = ()

    @property
    def verdict(self) -> Verdict:
        coverage = [Verdict.UNDETERMINED] if self.whole and self.unreached else []
        return worst([*(r.verdict for r in self.results), *coverage])


@dataclass
class Coverage:
    """Which rules fired and which witnesses were met, over several worlds. What no world switches on is left out."""

    wanted: dict[str, None] = field(default_factory=dict)
    reached: set[str] = field(default_factory=set)

    def add(self, result: WorldResult) -> None:
        search = result.search
        if isinstance(search, Simulation):
            return
        for rule in search.fired:
            self.wanted.setdefault(f"the rule {rule}")
        for name in (*search.met, *search.unmet):
            self.wanted.setdefault(f"the witness of {name}")
        self.reached |= reached(search)

    @property
    def unreached(self) -> tuple[str, ...]:
        return tuple(name for name in self.wanted if name not in self.reached)


def reached(explored: Exploration) -> frozenset[str]:
    """The rules that fired and the witnesses that were met, in words."""
    fired = (f"the rule {rule}" for rule, times in explored.fired.items() if times)
    return frozenset([*fired, *(f"the witness of {name}" for name in explored.met)])


def check_world(
    file: WorldFile,
    variation: Variation,
    properties: Sequence[Property],
    options: Options = Options(),
    observe: Observe = unobserved,
) -> WorldResult:
    """Explore a world, or walk it if `options.walks` is set.

    Every violation is confirmed by the interpreter, step by step, before it is reported; Disagreement if it is not.
    """
    try:
        machine = Machine(variation.model, file.world, properties, forgetful=options.reduction)
    except TooLarge as error:
        raise Unusable(f"the world {file.name} is too large: {error}; lower requests or blocks.") from None
    if options.walks is not None:
        walked = simulate(machine, options.walks, options.seed, options.limits, observe)
        traces = [build(machine.layout, name, events, variation) for name, events in walked.found.items()]
        result = WorldResult(
            file, variation, machine.properties, walked, tuple(sorted(traces, key=lambda t: len(t.events)))
        )
    else:
        result = _explored(file, variation, machine, options, observe)
    for trace in result.traces:
        confirm(trace, properties)
    return result


def _explored(
    file: WorldFile, variation: Variation, machine: Machine, options: Options, observe: Observe
) -> WorldResult:
    watch: Observe = lambda progress: observe(replace(progress, expected=file.normal_forms))
    lively = any(p.shape is Shape.LEADS for p in machine.properties)  # for which nothing may be renamed
    explored = Explorer(options.search).explore(machine, options.reduction and not lively, options.limits, watch)
    found, skipped = explored.violations | lost_homes(explored), []
    whole = [p for p in machine.properties if p.shape in (Shape.HOME, Shape.LEADS)]  # judged on complete graphs only
    never: dict[str, Unkept] = {}
    if lively and explored.bound is None and not explored.beyond:
        never = unkept(explored, whole)
    for declared in whole:
        if explored.bound is not None or explored.beyond:
            why = f"the search stopped at {explored.bound}" if explored.bound else "some states are out of bounds"
            skipped.append(f"{declared.name} was not judged: {why}")
    lassos = [lasso_of(machine, one, variation) for one in never.values()]
    finite = [trace_of(explored, f, variation) for f in found.values()]
    traces = sorted([*finite, *lassos], key=lambda t: len(t.events))
    return WorldResult(file, variation, machine.properties, explored, tuple(traces), tuple(skipped))


def confirm(trace: Trace, properties: Sequence[Property]) -> None:
    """Run the trace with the interpreter: each event is allowed, leads where it says, and the property is false."""
    layout = trace.layout
    for number, event in enumerate(trace.events):
        rule = trace.model.rule(event.rule)
        before, then = trace.states[number], trace.states[number + 1]
        if false_guards(layout, rule, event.at, before) or tuple(after(layout, rule, event.at, before)) != then:
            raise Disagreement(
                f"in {trace.world.name}, the generated code takes {event.text} at step {number + 1} of the trace to "
                f"{trace.shows}, but the interpreter does not; please report this with the command you ran."
            )
    if not violates(trace, properties):
        raise Disagreement(
            f"in {trace.world.name}, the generated code finds {trace.shows} violated, but the interpreter does not; "
            "please report this with the command you ran."
        )


def violates(trace: Trace, properties: Sequence[Property]) -> bool:
    """Whether the interpreter finds the property violated where the trace ends. (It cannot judge a way home.)"""
    layout, last = trace.layout, trace.states[-1]
    declared = next((p for p in properties if p.name == trace.shows), None)
    if declared is None:
        return trace.shows in [f"bounds.{c.field.name}" for c in layout.out_of_bounds(last)]
    if declared.shape is Shape.LEADS:
        return broken(trace, declared) is not None
    if declared.shape is Shape.REST and any(
        rule.name not in declared.apart_from and not false_guards(layout, rule, at, last) for rule, at in moves(layout)
    ):
        return False
    # A property of steps must allow a step that changes nothing, too.
    steps = [(last, last), *([trace.states[-2:]] if trace.events else [])]
    judged = steps if declared.shape is Shape.STEP else [(last,)]
    return any(not evaluate(declared.term, trace.world, {}, layout.reader(*states)) for states in judged)


def unreached(results: Sequence[WorldResult]) -> tuple[str, ...]:
    """What was reached in none of the worlds."""
    coverage = Coverage()
    for result in results:
        coverage.add(result)
    return coverage.unreached
