"""A trace as text or Markdown: what happened, what it changed, and why the property is violated at the end."""

from __future__ import annotations

from collections.abc import Sequence

from checker.replay.lasso import broken
from checker.replay.trace import DEPARTS, Event, Trace, explanation, refusal
from model.language.properties import Promise, Property, Shape
from model.language.terms import Op
from model.readings.layout import member_name
from model.readings.prose import Explanation, words


def trace_lines(trace: Trace, properties: Sequence[Property]) -> list[str]:
    """The trace for a terminal: one line an event, with only what changed."""
    declared = find(trace, properties)
    rows = [(str(n), _event(e), _changes(trace, n)) for n, e in enumerate(trace.events, 1)]
    wide = max((len(text) for _, text, _ in rows), default=0)
    lines = [headline(trace), *(f"  {line}" for line in meaning(trace, declared)), ""]
    for number, text, changes in rows:
        if trace.loop is not None and number == str(trace.loop + 1):
            lines.append("       for ever:")
        head = f"  {number:>3}  {text:{wide}}  "
        lines += [(head if i == 0 else " " * len(head)) + part for i, part in enumerate(_wrap(changes, 96))]
    return [*lines, "", *(f"  {line}" for line in reasons(trace, declared))]


def trace_markdown(trace: Trace, properties: Sequence[Property]) -> list[str]:
    """The trace for a review comment: a table of events."""
    declared = find(trace, properties)
    lines = [f"**{headline(trace)}**", "", *meaning(trace, declared), ""]
    lines += ["| step | event | changes |", "|---:|---|---|"]
    for number, event in enumerate(trace.events, 1):
        if trace.loop is not None and number == trace.loop + 1:
            lines.append("| | for ever: | |")
        changes = ", ".join(f"`{c}`" for c in _changes(trace, number)) or "nothing"
        lines.append(f"| {number} | `{event.text}`{_notes(event)} | {changes} |")
    for reason in reasons(trace, declared):
        # A reading is an item of a list, and what follows a list needs a blank line to be outside of it.
        lines += [f"- `{reason.strip()}`"] if reason.startswith(" ") else ["", reason]
    return lines


def find(trace: Trace, properties: Sequence[Property]) -> Property | None:
    """The property's declaration; None for a field's bounds."""
    return next((p for p in properties if p.name == trace.shows), None)


def departs(trace: Trace) -> bool:
    """Whether the trace is an engine's, up to where it departed from the rules, rather than one to a violation."""
    return trace.shows.startswith(DEPARTS)


def headline(trace: Trace) -> str:
    under = f", {trace.variation.words}" if trace.variation.words else ""
    if trace.loop is not None:
        repeated = trace.length - trace.loop
        how = f"{steps(repeated)} for ever" if repeated else "standing still for ever"
        return f"{trace.shows} is violated by {steps(trace.loop)} and then {how} in the world {trace.world.name}{under}"
    what = f"{trace.shows} is violated after"
    if departs(trace):
        what = f"an engine departs from the rules ({trace.shows.removeprefix(DEPARTS)}) after"
    return f"{what} {steps(trace.length)} in the world {trace.world.name}{under}"


def steps(length: int) -> str:
    return f"{length} step" + ("" if length == 1 else "s")


def meaning(trace: Trace, declared: Property | None) -> list[str]:
    if departs(trace):
        return ["An engine followed the rules so far. What it did next, no rule allows."]
    if declared is None:
        field = trace.model.field(trace.shows.partition(".")[2])
        return [f"The field {field.name} leaves its declared bounds: {field.doc}."]
    return [declared.doc]


def reasons(trace: Trace, declared: Property | None) -> list[str]:
    """Why the property fails there, in words with values; and where the unchanged rules would have parted."""
    lines: list[str] = []
    if departs(trace):
        return lines
    if declared is not None and declared.promise is not None:
        return [*_never(trace, declared, declared.promise), *_parted(trace)]
    why = explanation(trace, declared)
    if declared is not None and declared.shape is Shape.REST:
        lines.append("No rule but " + " and ".join(declared.apart_from) + " is enabled here, and something is left:")
    if declared is not None and declared.shape is Shape.HOME:
        lines.append("From here no state at rest can be reached any more. What is left:")
    if why is not None:
        lines += [_sentence(why), *(f"  {reading}" for reading in why.readings)]
    else:
        lines += _bounds(trace)
    return [*lines, *_parted(trace)]


def _parted(trace: Trace) -> list[str]:
    """Where the unchanged rules part from the trace, if they were changed."""
    if not trace.variation:
        return []
    follows = "The unchanged rules can take all these steps as well; what is missing is a step that they would take from here on."
    return [refusal(trace) or follows]


def _never(trace: Trace, declared: Property, promise: Promise) -> list[str]:
    """Who was promised what, and why the run that withholds it is fair."""
    found = broken(trace, declared)
    if found is None:
        return []
    names = {v: member_name(v.domain, m) for v, m in zip(promise.members, found.members, strict=True)}
    whom = f"For {', '.join(f'{v.name} = {n}' for v, n in names.items())}: from" if names else "From"
    when = f"step {found.since} on" if found.since else "the beginning"
    keeps = [words(promise.goal, names)] if promise.goal.op is not Op.CONST else []
    keeps += [f"{rule} is taken" for rule in promise.by]
    lines = [
        f"{whom} {when} it is promised ({words(promise.premise, names)}), and never comes, that {' or '.join(keeps)}."
    ]
    fair = (
        f"{' and '.join(promise.alone)} for the same members"
        if promise.alone
        else "every rule that must not wait for ever"
    )
    if trace.loop == trace.length:
        return [*lines, f"This is a fair run: where it stands still, {fair} cannot be taken."]
    return [
        *lines,
        f"This is a fair run: in the steps that are repeated, {fair} is taken, or is not possible somewhere.",
    ]


def _bounds(trace: Trace) -> list[str]:
    cells = trace.layout.out_of_bounds(trace.states[-1])
    place = {cell: p for p, cell in enumerate(trace.layout.cells)}
    return [f"{c.text} = {trace.states[-1][place[c]]}, but its bounds are {c.low} to {c.high}." for c in cells]


def _sentence(why: Explanation) -> str:
    text = str(why)
    return text[0].upper() + text[1:] + (":" if why.readings else ".")


def _event(event: Event) -> str:
    return event.text + _notes(event)


def _notes(event: Event) -> str:
    return "".join(f" ({name}: {value})" for name, value in event.notes)


def _changes(trace: Trace, number: int) -> list[str]:
    return [f"{cell}: {before} -> {then}" for cell, before, then in trace.changed(number)]


def _wrap(parts: list[str], width: int) -> list[str]:
    lines = [""]
    for part in parts:
        joined = f"{lines[-1]}, {part}" if lines[-1] else part
        if len(joined) > width and lines[-1]:
            lines[-1] += ","
            lines.append(part)
        else:
            lines[-1] = joined
    return lines
