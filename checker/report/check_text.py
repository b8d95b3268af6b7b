"""The results of `check` as text."""

from __future__ import annotations

from pathlib import Path

from checker.check import CheckResult, WorldResult
from checker.replay.trace import Trace
from checker.report.trace_text import steps, trace_lines
from checker.search.simulate import Simulation
from checker.verdict import Verdict
from model.language.model import Model
from model.readings.interpret import evaluate
from model.readings.world import World


def dial_line(model: Model, world: World) -> str:
    """Every dial that makes a difference, with its value: what a verdict rests on."""
    matter = [d for d in model.dials if d.needs is None or evaluate(d.needs, world)]
    return ", ".join(f"{d.name} {_dial(world.values[d.name])}" for d in matter)


def _dial(value: object) -> str:
    if isinstance(value, bool):
        return "on" if value else "off"
    if isinstance(value, tuple):
        return _dial(value[0]) if len(set(value)) == 1 else "(" + ", ".join(_dial(v) for v in value) + ")"
    return str(getattr(value, "name", value)).lower()


def world_lines(result: WorldResult) -> list[str]:
    """One line that sums a world up, then what was not judged."""
    search = result.search
    under = f" {result.variation.words}:" if result.variation.words else ""
    lines = [
        f"{result.file.name}:{under} {_outcome(result)}",
        f"  rests on {dial_line(result.variation.model, result.file.world)}",
    ]
    rate = (search.distinct if isinstance(search, Simulation) else len(search.states)) / max(search.seconds, 1e-9)
    if isinstance(search, Simulation):
        lines.append(
            f"  {search.walks:,} random walks, the longest of {steps(search.longest)}; {search.transitions:,} steps, "
            f"{search.distinct:,} distinct states, {search.seconds:.1f} s"
        )
    else:
        kind = "states up to renaming" if search.symmetry else "states"
        lines.append(
            f"  {len(search.states):,} {kind}, {search.transitions:,} transitions, depth {search.depth}, "
            f"{search.seconds:.1f} s ({rate:,.0f} states/s)"
        )
        lines += [f"  explored {search.searched}"] if search.searched else []
    return lines + [f"  {s}" for s in result.skipped]


def _outcome(result: WorldResult) -> str:
    bound = result.search.bound
    if result.as_expected:
        return f"violated as this world expects ({', '.join(result.violated)})"
    if result.unexpected:
        more = f"; the search stopped at {bound}" if bound else ""
        return f"VIOLATED: {', '.join(result.unexpected[:3])}{' and others' * (len(result.unexpected) > 3)}{more}"
    if bound is not None:
        known = f"only what this world expects ({', '.join(result.violated)}) is" if result.violated else "nothing"
        return f"undetermined: {known} violated within {bound}"
    if result.miscounted:
        return f"FAILED: {result.miscounted}"
    if result.missing:
        return f"FAILED: {', '.join(result.missing)} should be violated here, and is not"
    return f"holds: {len(result.judged)} properties in every interleaving"


def violation_lines(result: WorldResult, files: dict[str, Path]) -> list[str]:
    """Each violated property with the length of its shortest trace and where the trace was written."""
    if not result.traces:
        return []
    wide = max(len(t.shows) for t in result.traces)
    kind = "walk" if isinstance(result.search, Simulation) else "shortest trace"
    lines = [f"  violated, each with its {kind}:"]
    return lines + [
        f"    {t.shows:{wide}}  {steps(t.length):>9}  {files.get(t.shows, '')}{_repeats(t)}".rstrip()
        for t in result.traces
    ]


def _repeats(trace: Trace) -> str:
    """How much of a lasso is its loop."""
    if trace.loop is None:
        return ""
    repeated = trace.length - trace.loop
    return f"  (the last {repeated} of them for ever)" if repeated else "  (and then it stands still for ever)"


def chosen(result: WorldResult) -> Trace:
    """The trace that says most: the property the fault is known to break, else the shortest that is not about bounds."""
    fault = result.variation.fault

    def rank(trace: Trace) -> tuple[bool, bool, bool, bool, int]:
        meant = fault is not None and trace.shows == fault.caught_by
        return (
            trace.shows in result.file.expect,
            not meant,
            trace.loop is not None and bool(result.variation),
            trace.shows.startswith("bounds."),
            trace.length,
        )

    return min(result.traces, key=rank)


def shown_trace(result: WorldResult) -> list[str]:
    return trace_lines(chosen(result), result.properties)


def guard_lines(result: WorldResult) -> list[str]:
    """How often each rule fired, and how often each of its guards alone kept it from firing."""
    if isinstance(result.search, Simulation):
        return []
    unmet = result.search.unmet
    lines = [f"  witnesses not met: {', '.join(unmet) or 'none'}"]
    lines += ["  rule, times fired; guard, times it alone was false:"]
    for rule, times in result.search.fired.items():
        alone = [(g.partition(".")[2], n) for g, n in result.search.sole.items() if g.partition(".")[0] == rule]
        lines.append(f"    {rule:14} {times:>10,}   " + ", ".join(f"{g} {n:,}" for g, n in alone))
    return lines


def summary_lines(result: CheckResult) -> list[str]:
    """The last lines: coverage, then the verdict in a sentence."""
    lines = []
    if result.unreached and result.whole:
        lines += ["not reached in any world, although it should be:", *(f"  {u}" for u in result.unreached)]
    elif result.unreached and result.verdict is Verdict.HOLDS:
        rules = [u.removeprefix("the rule ") for u in result.unreached if u.startswith("the rule ")]
        silent = len(result.unreached) - len(rules)
        never = f"rules that never fire here: {', '.join(rules)}; " if rules else ""
        lines.append(
            f"{never}witnesses not met, so that these properties say little here: {silent} (--guards names them)"
        )
    if result.untried:
        lines.append(f"{len(result.untried)} worlds were not tried any more; name one to explore it")
    return [*lines, f"{result.verdict.word}: {_sentence(result)}"]


def _sentence(result: CheckResult) -> str:
    worlds = len(result.results)
    named = result.results[0].file.name if worlds == 1 else f"{worlds} worlds"
    match result.verdict:
        case Verdict.HOLDS:
            expected = sum(r.as_expected for r in result.results)
            whom = f"{expected} of them " if worlds > 1 else ""
            also = f", {whom}violated as expected" if expected else ""
            return f"{named} explored to the end{also}"
        case Verdict.VIOLATED:
            bad = [r.file.name for r in result.results if r.verdict is Verdict.VIOLATED]
            return f"in {', '.join(bad)}"
    open_worlds = [f"{r.file.name} ({r.search.bound})" for r in result.results if r.verdict is Verdict.UNDETERMINED]
    return f"bounds met in {', '.join(open_worlds)}" if open_worlds else "some rules or witnesses were not reached"
