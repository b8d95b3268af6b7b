"""The results of `mutate` as text."""

from __future__ import annotations

import shlex
from collections.abc import Sequence

from checker.mutate.campaign import Campaign
from checker.mutate.hunt import How, Hunted, Shown
from checker.mutate.subjects import Kind
from checker.replay.reference import available
from checker.report.trace_text import steps
from specs.faults.equivalent import EQUIVALENT

HEADS = {
    Kind.FAULT: "faults",
    Kind.GUARD: "guards taken away",
    Kind.UPDATE: "updates taken away",
}


def table_lines(result: Campaign) -> list[str]:
    """Each subject with who caught it, after how many steps, and where."""
    lines: list[str] = []
    wide = max((len(h.subject.name) for h in result.hunted), default=0)
    for kind, head in HEADS.items():
        rows = [h for h in result.hunted if h.subject.kind is kind]
        if rows:
            lines += [
                "",
                f"{head}:",
                *(f"  {h.subject.name:{wide}}  {caught_by(h, h.subject.name in result.nothing)}" for h in rows),
            ]
    return lines[1:]


def caught_by(hunted: Hunted, shown: bool = False) -> str:
    """Who caught it. `shown`: whether the solver showed that it changes nothing."""
    catch = hunted.catch
    if catch is None:
        return (
            "changes nothing"
            if hunted.subject.name in EQUIVALENT
            else "survives, of no effect"
            if shown
            else "SURVIVED"
        )
    if catch.how is How.COVERAGE:
        return f"{catch.shows} in {catch.world}"
    return f"{catch.shows} after {steps(catch.length)} in {catch.world}{on_engine(catch.engine)}"


def on_engine(shown: Shown | None) -> str:
    """What the trace showed on the reference engine, if it was replayed there."""
    if shown is None:
        return ""
    if not shown.switch:
        return "; engine: model only"
    where = " (in a wider world)" if shown.wider else ""
    return f"; engine: {', '.join(shown.damage)}{where}" if shown.damage else "; engine: no damage found"


def engine_lines(hunted: Hunted) -> list[str]:
    """What the engine did with the trace, in words."""
    shown = hunted.catch.engine if hunted.catch is not None else None
    return ["", "on the reference engine:", *(f"  {line}" for line in shown.says)] if shown is not None else []


def survivor_lines(result: Campaign) -> list[str]:
    """What nothing caught: why that is right, or how far it was tried."""
    lines = ["", "changing nothing, and why:"] if any(h.subject.name in EQUIVALENT for h in result.survivors) else []
    for why in dict.fromkeys(EQUIVALENT[h.subject.name] for h in result.survivors if h.subject.name in EQUIVALENT):
        parts = [h.subject.name for h in result.survivors if EQUIVALENT.get(h.subject.name) == why]
        lines.append(f"  {', '.join(parts)}: {why}")
    lines += _shown_lines(result)
    if result.unasked:
        lines += ["", result.unasked]
    for h in result.survivors:
        if h.subject.name not in EQUIVALENT and h.subject.name not in result.nothing:
            tried = f"{len(h.tried)} worlds show nothing" if h.tried else "it makes no difference in any shipped world"
            lines += [
                "",
                f"{h.subject.name} survived: {tried}; {len(h.left)} larger ones were left (--states N tries more)",
            ]
    return lines


def _shown_lines(result: Campaign) -> list[str]:
    names = [h.subject.name for h in result.survivors if h.subject.name in result.nothing]
    if not names:
        return []
    return [
        "",
        "no change, as the solver shows at every size for the dials that prove is about: guards and invariants imply",
        "that the rule may fire in the same states and writes what it would have written:",
        f"  {', '.join(names)}",
    ]


def reverse_lines(result: Campaign) -> list[str]:
    """For each property, the guards that protect it."""
    lines = ["", "which guards protect which property:"]
    for name, guards in result.protected_by().items():
        lines.append(f"  {name}: {', '.join(dict.fromkeys(guards)) or 'no guard by itself'}")
    return lines


def wrong_lines(result: Campaign) -> list[str]:
    return ["", *(f"{name} {why}" for name, why in result.wrong.items())] if result.wrong else []


def again(hunted: Hunted, options: Sequence[str]) -> str:
    """The command that shows the trace."""
    world = [hunted.catch.world] if hunted.catch is not None else []
    return shlex.join(["schedproof", "check", *world, *hunted.subject.option, *options])


def summary(result: Campaign) -> str:
    """The last line."""
    counted = {kind: [h for h in result.hunted if h.subject.kind is kind] for kind in Kind}
    said = []
    for kind, name in ((Kind.FAULT, "faults"), (Kind.GUARD, "guards"), (Kind.UPDATE, "updates")):
        if counted[kind]:
            caught = sum(h.catch is not None for h in counted[kind])
            same = sum(h.catch is None and h.subject.name in EQUIVALENT for h in counted[kind])
            said.append(
                f"{caught} of {len(counted[kind])} {name} caught" + (f" ({same} change nothing)" if same else "")
            )
    engine = [h.catch.engine for h in result.caught if h.catch is not None and h.catch.engine is not None]
    damaged = sum(bool(e.damage) for e in engine)
    wider = sum(bool(e.damage) and e.wider for e in engine)
    measured = (
        f"; {damaged} of {sum(e.switch for e in engine)} that the engine can be given do damage there"
        f" ({wider} of them in a wider world)"
        if engine
        else ""
    )
    if not engine and not available():
        measured = "; not on the engine, since torch is not installed"
    share = 100 * result.beyond_bounds / len(result.caught) if result.caught else 0.0
    return f"{result.verdict.word}: {', '.join(said)}; {share:.0f} % of those caught by more than the bounds of a field{measured}"
