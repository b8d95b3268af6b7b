"""The picture as HTML: the drawing with a stepper, every step in words, and why the property fails at the end."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from html import escape
from importlib.resources import files
from pathlib import Path

from checker.replay.trace import Event, Trace, parting
from checker.report import alone, trace_text
from checker.report.picture.rules import address, rule_cards
from checker.report.picture.scene import scene
from checker.report.picture.svg import PATTERNS, Marks, drawing, style
from checker.verdict import Unusable, cause
from model.language.properties import Property

Link = Callable[[str, str], str | None]  # kind (rule, guard, property, fault) and name -> address, None without one

LEGEND = (
    ("context", "filled: computed; hatched: in flight; dotted: planned. The upright line is where the prompt ends."),
    ("output", "filled: committed; with a dot: taken by the client; dotted: promised by a step in flight."),
    ("flag, letter", "a cancel is asked; the terminal message is sent."),
    (
        "in flight",
        "a bracket is a step from its launch on, thick while the device runs it. +2 are two tokens, * samples one.",
    ),
    ("blocks", "the owner and the block's position in its table; cached: others can find it; freed: just given back."),
    ("pinned, in use!", "a launched step uses the block; with ! its owner has let go of it all the same."),
    ("ref 1!", "the engine counts 1, and that is not how many hold the block."),
)


def figure(trace: Trace, properties: Sequence[Property], link: Link) -> str:
    """The picture of a trace as a <figure>. Its page must have stylesheet(), patterns() and stepper() in it, once."""
    declared = trace_text.find(trace, properties)
    departs = trace_text.departs(trace)
    parted = parting(trace) if trace.variation and not departs else None
    marks = Marks(parted.step if parted else None, bool(parted and parted.guard), not departs, trace.loop)
    guard = _stopped(parted.guard, link) if parted and parted.guard else ""
    reasons = "".join(f"<p>{escape(line)}</p>" for line in _paragraphs(trace_text.reasons(trace, declared)))
    head = trace_text.headline(trace)
    about = " ".join(trace_text.meaning(trace, declared))
    return _figure(
        trace, head, _headline(trace, head, link), about, marks, f'<div class="why">{reasons}{guard}</div>', link
    )


def run_figure(trace: Trace, title: str, about: str, link: Link) -> str:
    """The picture of a run that shows nothing wrong, such as a story's."""
    return _figure(trace, title, escape(title), about, Marks(), "", link)


def _figure(trace: Trace, title: str, head: str, about: str, marks: Marks, why: str, link: Link) -> str:
    steps = "".join(_step(trace, n, e, marks, link) for n, e in enumerate(trace.events, 1))
    initial = '<li data-step="0"><p><b>Start.</b> Nobody is submitted, and every block is free.</p></li>'
    return (
        f'<figure class="trace" data-trace="{"last" if why else "first"}"{_again(trace)}>'
        f'<figcaption><p class="trace-head">{head}</p><p>{escape(about)}</p></figcaption>{_controls(trace.length)}'
        f'<div class="scroll" tabindex="0" role="group" aria-label="the picture; arrow keys step through it">'
        f"{drawing(scene(trace), marks, title)}</div>"
        f'<ol class="steps" start="0">{initial}{steps}</ol>{why}{_legend()}</figure>'
    )


def _again(trace: Trace) -> str:
    """Where the stepper goes on after the last step of a run that goes round for ever."""
    return "" if trace.loop is None or trace.loop == trace.length else f' data-loop="{trace.loop}"'


def page(trace: Trace, properties: Sequence[Property]) -> str:
    """A whole page with the picture, which needs nothing but itself."""
    return _page(trace.shows, trace_text.headline(trace), figure(trace, properties, address) + rule_cards(trace))


def run_page(trace: Trace, title: str, about: str) -> str:
    """The same for a run that shows nothing wrong."""
    return _page(title, title, run_figure(trace, title, about, address) + rule_cards(trace))


def _page(heading: str, title: str, body: str) -> str:
    made = "Made by schedproof, which runs it again with <code>schedproof replay</code>."
    return alone.page(title, heading, patterns() + body, stylesheet(), stepper(), made)


def still(trace: Trace, violated: bool = True) -> str:
    """The picture as an SVG file that does not step."""
    departs = trace_text.departs(trace)
    parted = parting(trace) if trace.variation and not departs else None
    marks = Marks(parted.step if parted else None, bool(parted and parted.guard), violated and not departs, trace.loop)
    return drawing(scene(trace), marks, trace_text.headline(trace) if violated else trace.shows, alone=True)


def beside(trace: Path) -> Path:
    """Where the picture of a trace file lies."""
    return trace.with_name(trace.name.removesuffix(".itf.json") + ".html")


def save(trace: Trace, properties: Sequence[Property], path: Path) -> None:
    """Write the page; Unusable if the place cannot be written."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(page(trace, properties), encoding="utf-8")
    except OSError as error:
        raise Unusable(f"the picture cannot be written to {path} ({cause(error)}); free that place.") from None


def stylesheet() -> str:
    """The style of pictures."""
    return style() + _asset("picture.css")


def stepper() -> str:
    """The script that makes pictures step."""
    return _asset("picture.js")


def patterns() -> str:
    """The hatchings that all drawings of a page share, for its body."""
    return f'<svg width="0" height="0" class="patterns sp" aria-hidden="true"><defs>{PATTERNS}</defs></svg>'


def _asset(name: str) -> str:
    return files(__package__).joinpath("assets", name).read_text()


# ------------------------------------------------------------------------------------------ the parts
def _headline(trace: Trace, head: str, link: Link) -> str:
    text = escape(head)
    where = link("property", trace.shows)
    if where:
        name = escape(trace.shows)
        text = text.replace(name, f'<a href="{escape(where)}">{name}</a>', 1)
    return text


def _controls(length: int) -> str:
    return (
        '<div class="controls" hidden><button type="button" data-go="first">first</button>'
        '<button type="button" data-go="back">back</button>'
        f'<output aria-live="polite">step 0 of {length}</output>'
        '<button type="button" data-go="next">next</button><button type="button" data-go="last">last</button>'
        '<span class="keys">or the keys <kbd>←</kbd> <kbd>→</kbd></span></div>'
    )


def _step(trace: Trace, number: int, event: Event, marks: Marks, link: Link) -> str:
    where = link("rule", event.rule)
    name = escape(event.text)
    if where:
        name = name.replace(event.rule, f'<a href="{escape(where)}">{event.rule}</a>', 1)
    notes = "".join(f" ({escape(key)}: {escape(value.lower())})" for key, value in event.notes)
    changes = "".join(
        f"<li><code>{escape(cell)}</code> {escape(before)} → {escape(then)}</li>"
        for cell, before, then in trace.changed(number)
    )
    mark = (
        ' <strong class="bad">Here the unchanged rules part from this run.</strong>' if marks.refused == number else ""
    )
    done = f'<ul class="changes">{changes}</ul>' if changes else "<p>Nothing changes.</p>"
    return f'<li data-step="{number}"><p><b>{name}</b>{notes}{mark}{_repeats(trace, number)}</p>{done}</li>'


def _repeats(trace: Trace, number: int) -> str:
    """At which steps a run that goes on for ever comes round."""
    if trace.loop is None:
        return ""
    if trace.loop == trace.length:
        return " <em>Here it stands still for ever.</em>" if number == trace.length else ""
    if number == trace.loop + 1 == trace.length:
        return " <em>This step is repeated for ever: all is as it was before it.</em>"
    said = " <em>This and what follows is repeated for ever.</em>" if number == trace.loop + 1 else ""
    back = f" <em>All is as it was after step {trace.loop}, and step {trace.loop + 1} comes again.</em>"
    return said + (back if number == trace.length else "")


def _stopped(guard: str, link: Link) -> str:
    where = link("guard", guard)
    rule = guard.partition(".")[0]
    name = f'<a href="{escape(where)}"><code>{guard}</code></a>' if where else f"<code>{guard}</code>"
    card = link("rule", rule)
    more = f' The rule is <a href="{escape(card)}">{rule}</a>.' if card else ""
    return f'<p class="stopped">The guard that would have stopped it: {name}.{more}</p>'


def _paragraphs(lines: Sequence[str]) -> list[str]:
    """A sentence with the readings that follow it in one paragraph."""
    joined: list[str] = []
    for line in lines:
        if line.startswith(" ") and joined:
            joined[-1] += ("; " if not joined[-1].endswith(":") else " ") + line.strip()
        else:
            joined.append(line)
    return joined


def _legend() -> str:
    rows = "".join(f"<dt>{escape(name)}</dt><dd>{escape(said)}</dd>" for name, said in LEGEND)
    return f'<details class="legend"><summary>how to read it</summary><dl>{rows}</dl></details>'
