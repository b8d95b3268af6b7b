"""Chapters are filled in from the product, and fall with it: what their text rests on is checked when they are built."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import pytest

from checker.catalogue import SHIPPED
from checker.handbook import facts, lassos
from checker.handbook.chapters import Chapter, write
from checker.handbook.facts import Facts, said_of
from checker.handbook.induction import counterexample
from checker.handbook.run import Drift, Ran, Shell, expected, timeless
from checker.mutate.campaign import Campaign
from checker.mutate.hunt import Hunted
from checker.mutate.subjects import Kind, Subject
from checker.replay.reference import EngineReplay, Judgement
from checker.search.explore import explore
from checker.worlds import find
from model.language.terms import BOOL, INT
from model.lifecycle import LIFECYCLE
from model.readings.effects import after, false_guards, moves
from model.readings.interpret import evaluate
from model.readings.layout import Layout
from model.readings.python import Machine
from specs.properties import PROPERTIES
from tests.reference.traces import fault_trace

FACTS = Facts(
    SHIPPED, {}, {}, {"notify-twice": fault_trace("notify-twice")}, {"delivery.message-once": ["notify.once"]}
)


def printing(text: str, code: int = 0) -> Shell:
    def shell(arguments: Sequence[str]) -> tuple[int, str]:
        return code, text

    return shell


def written(source: str, prints: str = "", code: int = 0) -> str:
    return write(Chapter("a", "A", "a", source), FACTS, printing(prints, code)).html


def test_a_command_that_no_longer_prints_what_the_text_rests_on_is_drift() -> None:
    source = '``` run says="621 states"\nschedproof check solo\n```\n'
    assert "<samp>621 states</samp>" in written(source, "621 states\n")
    with pytest.raises(Drift, match="no longer prints '621 states'"):
        written(source, "622 states\n")


def test_another_exit_code_is_drift() -> None:
    with pytest.raises(Drift, match="ends with 1, and the text rests on 0"):
        written("``` run\nschedproof check solo\n```\n", "", 1)


def test_another_property_of_a_trace_is_drift() -> None:
    good = '``` trace shows="{}"\nfault notify-twice\n```\n'
    assert "<figure" in written(good.format(fault_trace("notify-twice").shows))
    with pytest.raises(Drift, match=r"notify-twice shows delivery\.message-once now, not ownership\.keeps"):
        written(good.format("ownership.keeps"))


def test_a_trace_that_is_not_there_is_drift() -> None:
    with pytest.raises(Drift, match=r"shows the trace of guard notify\.twice, and there is none"):
        written("``` trace\nguard notify.twice\n```\n")


def test_what_a_run_did_on_the_engine_is_shown_and_held_to_the_text() -> None:
    source = '``` engine says="{}"\nnotify-twice\n```\n'
    said = {"notify-twice": ("The engine refuses.", "Damage:", "  told <twice>", "And more.")}
    with_engine = replace(FACTS, engine=said)

    def made(text: str) -> str:
        return write(Chapter("a", "A", "a", source.format(text)), with_engine, printing("")).html

    assert "<p>Damage:</p><ul><li>told &lt;twice&gt;</li></ul><p>And more.</p>" in made("Damage:")
    with pytest.raises(Drift, match="notify-twice on the engine no longer says 'all is well'"):
        made("all is well")
    assert "torch, which is not installed" in written(source.format("Damage:"))


def test_an_engine_that_does_otherwise_than_the_rules_say_is_drift() -> None:
    good = Judgement(EngineReplay((), 5), None, ("The engine refuses.",))
    assert said_of({"notify-twice": good}) == {"notify-twice": ("The engine refuses.",)}
    with pytest.raises(Drift, match=r"the fault notify-twice on the reference engine: it follows the trace\."):
        said_of({"notify-twice": replace(good, failures=("it follows the trace",))})


def test_a_guard_that_nobody_misses_is_drift(monkeypatch: pytest.MonkeyPatch) -> None:
    missed = Hunted(Subject("notify.once", Kind.GUARD), None, (), (), 0.0)
    monkeypatch.setattr(facts, "campaign", lambda *_: Campaign(SHIPPED, (missed,), False))
    with pytest.raises(Drift, match=r"the card of notify\.once cannot be written: it survives"):
        facts.gather(1, lambda _: None)


def test_a_promise_that_is_no_longer_broken_so_is_drift(monkeypatch: pytest.MonkeyPatch) -> None:
    kept = {"liveness.left-releases": lassos.Broken("solo", fault="notify-twice", settings=("cancellation=off",))}
    monkeypatch.setattr(lassos, "BREAKS", kept)
    with pytest.raises(Drift, match=r"left-releases is not broken in solo any more, with the fault notify-twice"):
        lassos.lassos(SHIPPED)


def test_only_the_product_is_run() -> None:
    with pytest.raises(Drift, match="can only run schedproof"):
        written("``` run\nls /\n```\n")


def test_a_counterexample_that_is_repaired_otherwise_is_drift() -> None:
    with pytest.raises(Drift, match=r"is not repaired by ownership\.keeps in solo any more"):
        written('``` induction repaired_by="ownership.keeps"\nsolo eligibility.live-is-running\n```\n')


def test_names_are_linked_and_values_filled_in() -> None:
    made = written(
        "`release` has `release.unpinned`; {{ states('solo') }} states; {{ guards('delivery.message-once') }}"
    )
    assert '<a href="rules/release.html"><code>release</code></a>' in made
    assert '<a href="rules/release.html#release-unpinned">' in made
    assert f"{len(explore(Machine(LIFECYCLE, find(LIFECYCLE, 'solo').world)).states):,} states" in made
    assert '<a href="rules/notify.html#notify-once">' in made


def test_a_value_that_there_is_not_is_an_error() -> None:
    with pytest.raises(Exception, match="'nothing' is undefined"):
        written("{{ nothing }}")


def test_times_are_left_out_and_nothing_else() -> None:
    text = "  621 states up to renaming, 1,952 transitions, depth 29, 0.3 s (2,183 states/s)\n3 steps"
    assert timeless(text) == "  621 states up to renaming, 1,952 transitions, depth 29, … s\n3 steps"


def test_expectations_are_parts_of_what_is_printed() -> None:
    expected(Ran("schedproof check", 0, ("a", "b")), ["a\nb"], 0, "here")
    expected(Ran("schedproof check", 0, ("a     5 steps",)), ["a 5 steps"], 0, "here")
    with pytest.raises(Drift, match="here: "):
        expected(Ran("schedproof check", 0, ("a",)), ["b"], 0, "here")


# ------------------------------------------------------------------------------------------------ induction
@pytest.mark.parametrize("name", ["delivery.message-last", "eligibility.live-is-running"])
def test_a_counterexample_to_induction_is_one(name: str) -> None:
    """By the interpreter: the property holds in the state, the step is allowed there, and it is false after it."""
    found = counterexample(SHIPPED, "solo", name)
    assert found is not None
    machine = Machine(LIFECYCLE, find(LIFECYCLE, "solo").world, forgetful=False)
    layout = machine.layout
    declared = next(p for p in PROPERTIES if p.name == name)
    states = {tuple(s) for s in explore(machine, symmetry=False).states}
    text = dict(found.cells)
    state = tuple(_stored(layout, p, text) for p in range(len(layout.cells)))
    assert state not in states
    assert evaluate(declared.term, layout.world, {}, layout.reader(state))
    rule, at = next((r, a) for r, a in moves(layout) if _text(machine, r.name, a) == found.step)
    assert false_guards(layout, rule, at, state) == []
    assert not evaluate(declared.term, layout.world, {}, layout.reader(after(layout, rule, at, state)))
    for other in PROPERTIES:
        if other.name in (*found.excluded, *found.silent):
            holds = evaluate(other.term, layout.world, {}, layout.reader(state))
            assert holds == (other.name in found.silent), other.name


def _stored(layout: Layout, place: int, text: dict[str, str]) -> int:
    cell = layout.cells[place]
    shown = text.get(cell.text)
    if shown is None:
        return cell.initial
    if cell.field.sort == INT:
        return int(shown)
    return int(shown == "True") if cell.field.sort == BOOL else [m.name for m in cell.field.sort.of].index(shown)


def _text(machine: Machine, rule: str, at: tuple[int, ...]) -> str:
    return next((i.text for i in machine.instances if (i.rule.name, i.at) == (rule, at)), "")


def test_a_property_that_is_inductive_here_has_none() -> None:
    assert counterexample(SHIPPED, "solo", "eligibility.only-running") is None
