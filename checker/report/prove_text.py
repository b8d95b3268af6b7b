"""The results of `prove` as text."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from checker.proof.bmc import Run
from checker.proof.cti import Counterexample
from checker.proof.obligation import Obligation
from checker.proof.prove import Proof, Scope
from checker.proof.result import Result
from checker.report.trace_text import steps, trace_lines
from checker.verdict import Verdict
from model.language.properties import Property, Shape
from model.language.terms import Op
from model.readings.prose import shown, words
from model.readings.world import plain

ASSUMED = (
    "rules are atomic and interleave; what an engine does in between is not seen",
    "a request that is new stays itself: there are finitely many requests, but any number of them",
    "the client, the device and the order of asking are as the rules' assumptions say (show rules)",
    "the rules are a model: whether an engine keeps to them, drive and conform find out",
)


MOST_OF_A_SUM = 80  # letters


def family_lines(proof: Proof) -> list[str]:
    """A line for each family of obligations."""
    lines = [f"  {'obligations about':24} {'number':>6}  {'proved':>6}  {'time':>8}  slowest"]
    for where, family in families(proof):
        slowest = max(family, key=lambda o: o.seconds)
        proved = sum(o.answer == "proved" for o in family)
        named = f"{slowest.rule}: {short(slowest)}" if slowest.reason else slowest.claim
        lines.append(
            f"  {where:24} {len(family):>6}  {proved:>6}  {sum(o.seconds for o in family):>6.2f} s  "
            f"{named} ({slowest.seconds:.2f} s)"
        )
    queries = len(proof.obligations) + len(proof.reasons)
    lines.append(
        f"  {queries:,} queries in {proof.seconds:.1f} s; {proof.framed:,} more obligations are none, "
        "since the rule writes nothing that the property reads"
    )
    if proof.untried:
        lines.append(f"  not tried: {proof.untried:,} families of obligations about rules that are as they were")
    return lines


def families(proof: Proof) -> Iterator[tuple[str, list[Obligation]]]:
    """Obligations about one rule, about the start, and about every state; and those that others rest on, about sums."""
    for where in dict.fromkeys(o.rule for o in proof.obligations):
        yield where, [o for o in proof.obligations if o.rule == where]
    if proof.reasons:
        yield "how sums change", list(proof.reasons)


def short(reason: Obligation) -> str:
    """What a reason is about, on a line: of a sum that is too long for that, the beginning."""
    name, colon, says = reason.claim.rpartition(": ")
    return (name if len(name) <= MOST_OF_A_SUM else f"{name[:MOST_OF_A_SUM]} ...") + colon + says


def open_lines(result: Result) -> list[str]:
    """The obligations that were not proved, and the claims that fall with them."""
    proof = result.proof
    shown = {c.step.claim.name for c in result.found}
    lines = [
        f"  not proved: {o.rule or 'start'} preserves {o.claim}: {o.answer}"
        f"{': ' + o.why if o.why and o.claim not in shown else ''}"
        for o in unique(proof.open)
    ]
    broken = {o.claim for o in proof.open}
    fallen = [n for n in result.unproved if n not in broken]
    if fallen and proof.open and (not proof.untried or len(result.asked) < len(proof.scope.claims)):
        lines.append(f"  and with these, since their proofs use them: {', '.join(fallen)}")
    lines += [
        f"  no state found in any size tried, and no proof with more instances: {o.rule}, {o.claim}"
        for o in result.stateless
    ]
    lines += [
        f"  no state found in any size tried, and proved with more instances: {o.rule}, {o.claim}"
        for o in result.expanded
    ]
    lines += [f"  no state that satisfies all invariants has {name}" for name in result.vacuous]
    return lines


def unique(obligations: Sequence[Obligation]) -> list[Obligation]:
    """One for each rule and claim."""
    return list({(o.rule, o.claim): o for o in obligations}.values())


def counterexample_lines(found: Counterexample, properties: Sequence[Property]) -> Iterator[str]:
    """A counterexample to induction: the state, the step, what fails, and whether the world reaches it."""
    step, layout = found.step, found.layout
    does = f"{step.text} breaks" if step.rule else "nothing keeps"
    where = "in a state of the world {} that satisfies every hypothesis" if step.rule else "in the world {}"
    yield f"{does} {step.claim.name} {where.format(step.world.name)}:"
    cells = [p for p, c in enumerate(layout.cells) if step.before[p] != c.initial]
    yield from _wrapped(
        [f"{layout.cells[p].text} = {shown(layout, step.before, p)}" for p in cells] or ["the initial state"]
    )
    changed = [p for p in range(len(step.before)) if step.before[p] != step.then[p]]
    if step.rule:
        yield f"  {step.text}:"
        yield from _wrapped(
            [
                f"{layout.cells[p].text}: {shown(layout, step.before, p)} -> {shown(layout, step.then, p)}"
                for p in changed
            ]
        )
    if found.why is not None:
        yield f"  {str(found.why)[0].upper()}{str(found.why)[1:]}:"
        yield from (f"    {reading}" for reading in found.why.readings)
    if found.trace is not None:
        same = "this state is reached" if found.same_state else "the world reaches another such state"
        yield f"  real: {same}. The trace:"
        yield ""
        yield from trace_lines(found.trace, properties)
        return
    if found.bound is not None:
        yield f"  not reached in {step.world.name} within {found.bound}; whether it is at all, that does not say"
        return
    yield f"  not reached in {step.world.name} ({found.states:,} states up to renaming): an auxiliary invariant is missing."
    yield "  No reached state has all of these together, under any renaming (but all of them save any one):"
    yield from _wrapped(list(found.apart))


def _wrapped(parts: Sequence[str], width: int = 100) -> Iterator[str]:
    line = ""
    for part in parts:
        if line and len(line) + len(part) > width:
            yield f"    {line},"
            line = ""
        line = f"{line}, {part}" if line else part
    yield f"    {line}"


def core_lines(proof: Proof) -> list[str]:
    """Which hypotheses each obligation needed; and the auxiliary invariants that nobody did."""
    lines = [
        "  what each proof uses besides the claim itself; no hypothesis can be left out of it "
        "(where rules are stuck, all steps before are taken):"
    ]
    for o in (*proof.obligations, *proof.reasons):
        if o.answer == "proved":
            others = [n for n in o.used if n != o.claim]
            which = ", ".join([f"part {o.part + 1}"] * bool(o.part) + [o.case] * bool(o.case))
            claim = short(o) if o.reason else o.claim
            lines.append(f"  {o.rule}, {claim}{f' ({which})' if which else ''}: {', '.join(others) or 'nothing else'}")
    return lines + unused_lines(proof)


def unused_lines(proof: Proof) -> list[str]:
    return [f"  no proof needs the auxiliary invariant {name}" for name in proof.unused]


def statement(result: Result, scope: Scope, worlds: int) -> list[str]:
    """What was proved, for which values of which dials, and under which assumptions.

    `worlds`: in how many shipped worlds exploring finds the same; 0 if something was changed or set, which none of them is.
    """
    claims = {c.name: c for c in scope.claims}
    asked = [claims[n] for n in result.asked]
    proved = [c for c in asked if c.name in result.proof.proved]
    kinds = (
        (sum(not c.auxiliary and not c.name.startswith("bounds.") for c in proved), "property", "properties"),
        (sum(c.name.startswith("bounds.") for c in proved), "bound of a field", "bounds of fields"),
        (sum(c.auxiliary for c in proved), "auxiliary invariant", "auxiliary invariants"),
    )
    said = [f"{n} {one if n == 1 else more}" for n, one, more in kinds if n]
    numbers = [d for d in scope.model.dials if d.name not in scope.fixed]
    lines = [f"proved by induction: {', '.join(said)}", "  for every value of"]
    lines += _wrapped([d.name for d in numbers], 96)
    lines.append(
        "  whatever the discipline" if scope.assumption.op is Op.CONST else f"  such that {words(scope.assumption)}"
    )
    if any(c.shape is Shape.REST and not c.auxiliary for c in proved):
        lines.append(f"  and that there is no dead end such that, besides, {words(scope.lively)}")
    if scope.fixed:
        fixed = ", ".join(f"{n} {plain(v)}" for n, v in scope.fixed.items())
        lines.append(f"  with {fixed}")
    if scope.model.requirements:
        lines.append("  in every world that is one, which is where")
        lines += [f"    - {words(r.condition)}" for r in scope.model.requirements]
    lines += ["  assuming that", *(f"    - {a}" for a in ASSUMED)]
    if worlds:
        lines.append(
            f"  together with `schedproof check`, if that holds: exhausted in {worlds} worlds, proved for all;"
        )
        lines.append("  what induction does not show (a way home, what can be reached) rests on the worlds alone")
    else:
        lines.append("  what induction does not show (a way home, what can be reached), `schedproof check` explores,")
        lines.append("  given the same change")
    return lines


def left_out(scope: Scope, properties: Sequence[Property]) -> list[str]:
    """Safety properties that the dials of the scope switch off, and those that are not for induction."""
    judged = {c.name for c in scope.claims}
    off = [p.name for p in properties if p.shape in (Shape.STATE, Shape.STEP) and p.name not in judged]
    lines = [f"  not judged, since these dials switch them off: {', '.join(off)}"] if off else []
    home = [p.name for p in properties if p.shape in (Shape.HOME, Shape.REST) and p.name not in judged]
    return lines + ([f"  not for induction, explored only: {', '.join(home)}"] if home else [])


def last_line(result: Result) -> str:
    match result.verdict:
        case Verdict.HOLDS:
            count = len(result.asked)
            return f"holds: {count} claim{'s' * (count != 1)} proved for every size"
        case Verdict.VIOLATED:
            return f"violated: {', '.join(result.real)}, with a trace"
    named = ", ".join(result.unproved[:6]) + (
        f" and {len(result.unproved) - 6} more" if len(result.unproved) > 6 else ""
    )
    rests = f", whose proof rests on what is violated: {', '.join(result.real)}" if result.real else ""
    return (
        f"undetermined: not proved: {named}{rests}"
        if result.unproved
        else f"undetermined: vacuous: {', '.join(result.vacuous)}"
    )


def gave_up(run: Run) -> str:
    return f"the solver gave up at {steps(run.depth)}; give it longer with --timeout"


def run_lines(run: Run, world: str, most: int) -> list[str]:
    """What bounded checking found."""
    if run.unknown:
        return [f"{world}: {gave_up(run)}, after {run.seconds:.1f} s"]
    if not run.broken:
        return [
            f"{world}: nothing is violated within {steps(most)} ({run.seconds:.1f} s); of longer runs this says nothing"
        ]
    return [f"{world}: violated after {steps(run.depth)}, and not after fewer ({run.seconds:.1f} s)"]
