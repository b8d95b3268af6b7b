"""Tables of the book, each read off the product."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from html import escape

from checker.handbook.facts import Facts, guard_subjects
from checker.handbook.induction import Counterexample
from checker.handbook.places import Places, anchor
from checker.handbook.run import Shell
from checker.replay.ledger import Record
from checker.replay.story import Boundary, Told
from checker.report import check_text
from checker.worlds import shipped
from model.language.properties import Shape
from model.lifecycle import LIFECYCLE
from specs.faults.equivalent import EQUIVALENT


def table(heads: Sequence[str], rows: Sequence[Sequence[str]], about: str) -> str:
    """A table of cells that are HTML already; it scrolls by itself where it is too wide."""
    head = "".join(f'<th scope="col">{escape(h)}</th>' for h in heads)
    body = "".join(f"<tr>{''.join(f'<td>{cell}</td>' for cell in row)}</tr>" for row in rows)
    return (
        f'<div class="scroll" tabindex="0" role="group" aria-label="{escape(about)}"><table>'
        f"<thead><tr>{head}</tr></thead><tbody>{body}</tbody></table></div>"
    )


def waiting(told: Mapping[str, Told]) -> str:
    """For each request of some stories, the steps after which it was finished and answered."""
    heads = ["request"]
    rows: dict[str, list[str]] = {}
    for name, one in told.items():
        heads += [f"{name}: over after step", "answered after step"]
        boundaries = [h for h in one.happened if isinstance(h, Boundary)]
        for r, record in enumerate(boundaries[-1].records):
            over = next(n for n, b in enumerate(boundaries, 1) if b.records[r].phase == "FINISHED")
            rows.setdefault(record.id, [f"<b>{record.id}</b>"]).extend([str(over), str(_answered(one, r))])
    totals = [len([h for h in one.happened if isinstance(h, Boundary)]) - 1 for one in told.values()]
    last = ["<b>steps in all</b>", *(cell for total in totals for cell in (f"<b>{total}</b>", ""))]
    return table(heads, [*rows.values(), last], "when each request is over, and when its client hears of it")


def boundaries(told: Mapping[str, Told]) -> str:
    """Boundary by boundary, stories beside each other: who runs, who waits, and who is over."""
    steps = {name: [h for h in one.happened if isinstance(h, Boundary)][:-1] for name, one in told.items()}
    rows = [
        [str(n + 1), *(_who(s[n].records) if n < len(s) else "all is over" for s in steps.values())]
        for n in range(max(map(len, steps.values())))
    ]
    return table(["after step", *told], rows, "who runs, waits and is over at each boundary")


def _who(records: Sequence[Record]) -> str:
    """The requests at a boundary, by what has become of them."""
    said = {
        "running": [r.id for r in records if r.phase == "RUNNING"],
        "waiting": [r.id for r in records if r.phase in ("WAITING", "PREEMPTED")],
        "over, not told": [r.id for r in records if r.phase == "FINISHED" and not r.notified],
        "answered": [r.id for r in records if r.phase == "FINISHED" and r.notified],
    }
    return "; ".join(f"{what}: <b>{', '.join(who)}</b>" for what, who in said.items() if who)


def _answered(told: Told, r: int) -> int:
    """After how many steps the terminal message was sent."""
    steps = 0
    for happened in told.happened:
        if isinstance(happened, Boundary):
            steps += 1
        elif happened.rule == "notify" and happened.at == (r,):
            return steps
    raise ValueError(f"request {r} is never answered")


def names(facts: Facts, places: Places, shell: Shell) -> str:
    """What each rule is in vLLM, as its adapter has it."""
    _, printed = shell(["show", "--names", "vllm", "--format", "md"])
    rows = [line.strip("|").split("|") for line in printed.splitlines() if line.startswith("|")]
    head, _, *body = [[cell.strip() for cell in row] for row in rows]
    cells = [[places.code(row[0]), *(escape(c) for c in row[1:])] for row in body]
    return table(head, cells, "what each rule is in vLLM 0.10.2")


def protects(facts: Facts, places: Places, shell: Shell) -> str:
    """Each property with the guards that alone protect it."""
    rows = []
    for declared in facts.known.properties:
        if declared.shape is not Shape.REACHABLE:
            guards = dict.fromkeys(facts.protects.get(declared.name, []))
            rows.append([places.code(declared.name), ", ".join(places.code(g) for g in guards) or "no guard by itself"])
    return table(["property", "guards without which it is violated"], rows, "which guards protect which property")


def removed(facts: Facts, places: Places, shell: Shell) -> str:
    """Each guard with who catches its absence."""
    rows = []
    for subject in guard_subjects():
        catch = facts.catches.get(subject.name)
        if catch is None:
            found = ["nothing", f'<div class="why-it">{escape(EQUIVALENT.get(subject.name, ""))}</div>', "", ""]
        else:
            noticed = facts.property(catch.shows)
            why = f'<div class="why-it">{escape(noticed.reason) if noticed else ""}</div>'
            found = [places.code(catch.shows), why, str(catch.length), places.code(catch.world)]
        rows.append([places.code(subject.name), *found])
    return table(["without", "violated", "why it matters", "steps", "world"], rows, "what happens without each guard")


def worlds(facts: Facts, places: Places, shell: Shell) -> str:
    """The shipped worlds."""
    rows = [
        [
            f'<code id="{anchor(w.name)}">{escape(w.name)}</code>',
            escape(w.about) + (" Violates " + ", ".join(places.code(e) for e in w.expect) + "." if w.expect else ""),
            f"{w.normal_forms:,}" if w.normal_forms else "",
            f'<div class="long">{escape(check_text.dial_line(LIFECYCLE, w.world))}</div>',
        ]
        for w in shipped(LIFECYCLE)
    ]
    return table(["world", "what it is for", "states", "dials"], rows, "the shipped worlds")


def dials(facts: Facts, places: Places, shell: Shell) -> str:
    """The dials that are choices: disciplines in which engines differ."""
    rows = []
    for dial in LIFECYCLE.dials:
        for choice in dial.sort.of or ():
            rows.append([f"<code>{dial.name}</code>", f"<code>{choice.name.lower()}</code>", escape(choice.value)])
    return table(["dial", "value", "meaning"], rows, "disciplines")


def unasserted(facts: Facts, places: Places, shell: Shell) -> str:
    """Rules that are not fair: nothing in the model makes them happen."""
    rows = [
        [places.code(r.name), escape(r.by.value), escape(r.doc.splitlines()[0])] for r in LIFECYCLE.rules if not r.fair
    ]
    return table(["rule", "who acts", "what it does"], rows, "rules that may be withheld for ever")


def policies(facts: Facts, places: Places, shell: Shell) -> str:
    """The policies, and which promise each breaks."""
    rows = [
        [
            places.code(p.name),
            escape(p.about),
            ", ".join(places.code(name) for name in p.breaks) or "none that it makes",
        ]
        for p in facts.known.policies
    ]
    return table(["policy", "who is chosen", "breaks"], rows, "policies and the promises they break")


TABLES: dict[str, Callable[[Facts, Places, Shell], str]] = {
    "names": names,
    "protects": protects,
    "removed": removed,
    "worlds": worlds,
    "dials": dials,
    "not-fair": unasserted,
    "policies": policies,
}


def engine(facts: Facts, name: str) -> str:
    """What the run without this guard, or with this fault, did on the reference engine; empty where it was not played."""
    parts, points = [], False
    for line in facts.engine.get(name, ()):
        point = line.startswith(" ")
        parts.append("<ul>" if point and not points else "</ul>" if points and not point else "")
        parts.append(f"<li>{escape(line.strip())}</li>" if point else f"<p>{escape(line)}</p>")
        points = point
    inside = "".join(parts) + "</ul>" * points
    return f'<div class="engine"><p><b>On the reference engine</b></p>{inside}</div>' if parts else ""


def induction(found: Counterexample, places: Places) -> str:
    """The state and the step, and what each other property says of the state."""
    cell, was, now = found.changed
    state = "".join(f"<li><code>{escape(c)}</code> = {escape(v)}</li>" for c, v in found.cells)
    effects = "; ".join(f"<code>{escape(c)}</code> {escape(b)} → {escape(t)}" for c, b, t in found.effects)
    out = set(found.excluded)
    choices = "".join(
        f'<li><button type="button" data-out="{int(name in out)}" aria-pressed="false">{escape(name)}</button> '
        f'<span class="said">{_verdict(places, name, name in out)}</span></li>'
        for name in sorted((*found.excluded, *found.silent))
    )
    return (
        f'<section class="induction" data-induction><p>{places.code(found.property)} holds in this state, which is none of '
        f"the {found.reachable:,} that runs reach: it is one of them with <code>{escape(cell)}</code> = {escape(now)} instead "
        f'of {escape(was)}. What is not as at the start:</p><ul class="changes">{state}</ul>'
        f"<p>The rules allow the step <b>{escape(found.step)}</b> here: {effects}. "
        f"Then {places.code(found.property)} is false.</p>"
        f"<p>Choose a property to assume as well. Those that are false in the state rule it out:</p>"
        f'<ul class="choices">{choices}</ul></section>'
    )


def _verdict(places: Places, name: str, out: bool) -> str:
    said = "is false in this state, so it rules it out" if out else "holds in this state too, so the step remains"
    return f"{places.code(name)} {said}."
