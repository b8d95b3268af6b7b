"""Rules, properties, worlds and faults as text, Markdown or JSON: what `show` prints."""

from __future__ import annotations

from typing import Any

from model.language.dials import Dial
from model.language.edits import changed
from model.language.properties import Promise, Property
from model.language.rules import Guard, Rule, Update
from model.language.terms import BOOL, Op
from model.lifecycle import LIFECYCLE
from model.readings.prose import words
from model.readings.world import plain
from specs.faults.fault import Fault
from specs.policies.policy import Policy


def rule_data(rule: Rule) -> dict[str, Any]:
    """A rule as plain data, in words."""
    return {
        "rule": rule.name,
        "by": rule.by.value,
        "about": rule.doc,
        "fair": rule.fair,
        "parameters": {v.name: v.domain.__name__ for v in rule.params},
        "needs": words(rule.needs),
        "guards": [guard_data(rule, g) for g in rule.guards],
        "updates": [
            {"name": n, "text": update_text(u)} for n, u in zip(rule.update_names(), rule.updates, strict=True)
        ],
        "reads": sorted(rule.reads()),
        "writes": sorted(rule.writes()),
        "where": rule.where,
    }


def guard_data(rule: Rule, guard: Guard) -> dict[str, Any]:
    return {
        "name": f"{rule.name}.{guard.name}",
        "condition": words(guard.condition),
        "kind": "assumed of the environment" if guard.assumed else "checked by the engine",
        "where": guard.where,
    }


def update_text(update: Update) -> str:
    at = ", ".join(words(i) for i in update.indices)
    cell = f"{update.field.name}[{at}]" if update.indices else update.field.name
    loops = "".join(f" for every {v.domain.__name__} {v.name}" for v in update.bound)
    return f"{cell} becomes {words(update.value)}{loops}"


def rule_lines(rule: Rule, asked: str) -> list[str]:
    """A rule's card; `asked` is the rule, or the part of it to try first."""
    checked = [f"{rule.name}.{g.name}" for g in rule.guards if not g.assumed] or list(rule.update_names())
    tried = asked if asked != rule.name else checked[0]
    parameters = ", ".join(f"{v.name}: {v.domain.__name__}" for v in rule.params)
    fair = "weakly fair" if rule.fair else "not fair: it may be withheld for ever"
    lines = [f"{rule.name}({parameters})", *_indented(rule.doc), f"  by {rule.by.value}; {fair}"]
    if words(rule.needs) != "True":
        lines.append(f"  exists only where {words(rule.needs)}")
    lines.append("  guards:")
    for guard in rule.guards:
        mark = " (assumed of the environment)" if guard.assumed else ""
        lines.append(f"    {rule.name}.{guard.name}{mark}: {words(guard.condition)}")
    lines.append("  updates, all at once:")
    lines += [f"    {n}: {update_text(u)}" for n, u in zip(rule.update_names(), rule.updates, strict=True)]
    return [*lines, f"  declared at {rule.where}", f"  try: schedproof check --without {tried}"]


def _indented(doc: str) -> list[str]:
    return [f"  {line}".rstrip() for line in doc.splitlines()]


def property_data(declared: Property) -> dict[str, Any]:
    """A property as plain data, in words."""
    return {
        "property": declared.name,
        "kind": declared.shape.value,
        "lifecycle_rule": declared.rule,
        "about": declared.doc,
        "reason": declared.reason,
        "catches": list(declared.catches),
        "needs": words(declared.needs),
        "term": words(declared.term),
        "witness": words(declared.witness) if declared.witness is not None else None,
        "apart_from": list(declared.apart_from),
        "promise": _promise_data(declared.promise),
    }


def _promise_data(promise: Promise | None) -> dict[str, Any] | None:
    if promise is None:
        return None
    return {
        "members": {v.name: v.domain.__name__ for v in promise.members},
        "premise": words(promise.premise),
        "goal": words(promise.goal),
        "alone": list(promise.alone),
        "by": list(promise.by),
    }


def _promise_lines(promise: Promise) -> list[str]:
    every = "".join(f"for every {v.domain.__name__} {v.name}: " for v in promise.members)
    goals = [words(promise.goal)] if promise.goal.op is not Op.CONST else []
    goals += [f"{rule} is taken" for rule in promise.by]
    lines = [f"  exactly: {every}wherever {words(promise.premise)}, in the end {' or '.join(goals)}"]
    if promise.alone:
        lines.append(f"  relies on {' and '.join(promise.alone)} for the same members, and on no other rule")
    return [*lines, "  try: schedproof check solo --liveness"]


def property_lines(declared: Property) -> list[str]:
    data = property_data(declared)
    lines = [
        f"{declared.name}  ({declared.rule or 'for proofs'}, of every {declared.shape.value})"
        if declared.shape.value in ("state", "step")
        else f"{declared.name}  ({declared.rule or 'for proofs'}, {declared.shape.value})"
    ]
    lines += [*_indented(declared.doc), f"  why: {declared.reason}"]
    lines += [f"  catches {kind}" for kind in declared.catches]
    if data["needs"] != "True":
        lines.append(f"  where {data['needs']}")
    if declared.promise is not None:
        return lines + _promise_lines(declared.promise)
    lines.append(f"  exactly: {data['term']}")
    if data["witness"]:
        lines.append(f"  it says something because this is reached: {data['witness']}")
    return lines


def policy_data(policy: Policy) -> dict[str, Any]:
    """A policy as plain data: the guards it adds to the rules, in words."""
    before = {r.name: [g.name for g in r.guards] for r in LIFECYCLE.rules}
    model = changed(LIFECYCLE, *policy.changes)
    added = [(r, g) for r in model.rules for g in r.guards if g.name not in before[r.name]]
    return {
        "policy": policy.name,
        "about": policy.about,
        "guards": [guard_data(r, g) for r, g in added],
        "fields": [f.name for f in model.state.fields() if f not in LIFECYCLE.state.fields()],
        "breaks": list(policy.breaks),
        "source": policy.source,
    }


def policy_lines(policy: Policy) -> list[str]:
    data = policy_data(policy)
    lines = [policy.name, f"  {policy.about}", "  guards, beside those of the rules:"]
    lines += [f"    {g['name']}: {g['condition']}" for g in data["guards"]]
    lines += [f"  knows of the requests: {', '.join(data['fields'])}"] if data["fields"] else []
    lines += [f"  does not keep {name}" for name in policy.breaks]
    lines += [f"  as in {policy.source}"] if policy.source else []
    return [*lines, f"  try: schedproof check --policy {policy.name}"]


def fault_data(fault: Fault) -> dict[str, Any]:
    """A fault as plain data."""
    return {
        "fault": fault.name,
        "about": fault.about,
        "changes": [str(c) for c in fault.changes],
        "kind": fault.kind,
        "caught_by": fault.caught_by,
        "world": fault.world,
        "source": fault.source,
        "evidence": fault.evidence.value,
    }


def fault_lines(fault: Fault) -> list[str]:
    return [
        fault.name,
        f"  {fault.about}",
        f"  change: {', '.join(str(c) for c in fault.changes)}",
        f"  must be caught by {fault.caught_by}, in the world {fault.world} for example",
        f"  kind: {fault.kind}",
        f"  source: {fault.source}",
        f"  evidence: {fault.evidence.value}",
        f"  try: schedproof check --fault {fault.name}",
    ]


def markdown(lines: list[str]) -> list[str]:
    """A card as Markdown: the head in bold, the rest as a list."""
    head, *rest = lines
    return [
        f"**{head}**",
        "",
        *(f"{' ' * (max(0, len(r) - len(r.lstrip()) - 2))}- {r.lstrip()}" for r in rest if r.strip()),
    ]


def dial_data(dial: Dial) -> dict[str, Any]:
    """A dial as plain data; `values` are those of a choice with what each means."""
    choices: tuple[Any, ...] = tuple(dial.sort.of) if dial.sort.of is not None else ()
    values = {v.name.lower(): v.value for v in choices} if dial.sort != BOOL else {"on": "", "off": ""}
    return {"dial": dial.name, "about": dial.doc, "default": plain(dial.default), "least": dial.low, "values": values}


def dial_lines(dial: Dial) -> list[str]:
    data = dial_data(dial)
    lines = [
        dial.name,
        f"  {dial.doc}",
        f"  default: {'none, a world must set it' if dial.default is None else data['default']}",
    ]
    lines += [f"  {name}{': ' if meaning else ''}{meaning}" for name, meaning in data["values"].items()]
    lines += [] if data["values"] else [f"  a whole number of at least {dial.low}"]
    return lines + ([f"  makes a difference where {words(dial.needs)}"] if dial.needs is not None else [])
