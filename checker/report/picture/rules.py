"""The rules of a run as cards below its picture, so that a page that stands alone has what its events lead to."""

from __future__ import annotations

from collections.abc import Mapping
from html import escape

from checker.replay.trace import Trace, parting
from checker.report.cards import rule_data
from model.language.rules import Rule


def address(kind: str, name: str) -> str | None:
    """Where a rule or a guard is on the page; None for what has no card there."""
    return f"#{_id(name)}" if kind in ("rule", "guard") else None


def rule_cards(trace: Trace) -> str:
    """A card for each rule that fires in the run, as it is unchanged, under the run's policy if there is one."""
    fired = {event.rule for event in trace.events}
    parted = parting(trace) if trace.variation else None
    refused = {parted.guard: parted.step} if parted and parted.guard else {}
    rules = [rule for rule in trace.variation.unchanged.rules if rule.name in fired]
    rules.sort(
        key=lambda rule: not any(guard.startswith(f"{rule.name}.") for guard in refused)
    )  # whose guard refuses, first
    cards = "".join(_card(rule, refused) for rule in rules)
    return f'<section class="rules"><h2>The rules of this run, unchanged</h2>{cards}</section>' if cards else ""


def _card(rule: Rule, refused: Mapping[str, int]) -> str:
    data = rule_data(rule)
    guards = "".join(
        f'<li id="{_id(g["name"])}"><code>{escape(g["name"])}</code>{_note(g, refused)}: {escape(g["condition"])}</li>'
        for g in data["guards"]
    )
    effects = "".join(f"<li>{escape(u['text'])}</li>" for u in data["updates"])
    return (
        f'<section class="rule" id="{_id(rule.name)}"><h3>{rule.name}</h3><p>{escape(data["about"].splitlines()[0])} '
        f"By {escape(data['by'])}.</p><p>Guards:</p><ul>{guards}</ul><p>Effects, all at once:</p><ul>{effects}</ul></section>"
    )


def _note(guard: Mapping[str, str], refused: Mapping[str, int]) -> str:
    if guard["name"] in refused:
        return f' <strong class="bad">(refuses step {refused[guard["name"]]} of this run)</strong>'
    return " (assumed of the environment)" if guard["kind"].startswith("assumed") else ""


def _id(name: str) -> str:
    return name.replace(".", "-")
