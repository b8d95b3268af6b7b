"""Traces as files: the ITF they are written in, and that a file alone is enough to run the trace again."""

from __future__ import annotations

import dataclasses
import functools
import json
import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from checker.check import Options, check_world, confirm, violates
from checker.replay import itf
from checker.replay.trace import Trace, refusal
from checker.replay.trace import trace_of as run_behind
from checker.report.trace_text import trace_lines, trace_markdown
from checker.search.explore import explore
from checker.search.limits import Limits
from checker.verdict import Disagreement, Unusable
from model.language.edits import Drop, Extend
from model.language.model import Model
from model.language.properties import Property
from model.lifecycle import LIFECYCLE
from model.readings.python import Machine
from model.readings.world import World
from specs.faults import FAULTS
from specs.properties import PROPERTIES
from tests.search.running import changed_by, checked, file_of

GOLDEN = Path(__file__).parent / "golden"
PINNED = ("release-while-pinned", "ownership.keeps")


@functools.cache
def traces_of(fault: str) -> dict[str, Trace]:
    """All traces found in the fault's world up to the depth at which the fault is caught."""
    return {t.shows: t for t in checked(fault).traces}


def trace_of(fault: str) -> Trace:
    return traces_of(fault)[next(f.caught_by for f in FAULTS if f.name == fault)]


each = pytest.mark.parametrize("fault", [f.name for f in FAULTS])


# ------------------------------------------------------------------------------------------------ round trip
@each
def test_a_saved_trace_is_loaded_as_it_was(fault: str, tmp_path: Path) -> None:
    for number, trace in enumerate(traces_of(fault).values()):
        path = tmp_path / "deep" / f"{number}.itf.json"
        itf.save(trace, path, "1.2.3")
        loaded = itf.load(path, LIFECYCLE)
        assert (loaded.shows, loaded.events, loaded.states) == (trace.shows, trace.events, trace.states)
        assert loaded.world == trace.world
        assert loaded.variation.fault == trace.variation.fault
        assert itf.to_itf(loaded, "1.2.3") == itf.to_itf(trace, "1.2.3")
        assert trace_lines(loaded, PROPERTIES) == trace_lines(trace, PROPERTIES)


def test_guards_taken_away_are_kept_too(tmp_path: Path) -> None:
    variation = changed_by(None, "notify.once", "release.unpinned")
    trace = check_world(file_of("solo"), variation, PROPERTIES).traces[0]
    itf.save(trace, tmp_path / "trace.itf.json", "1")
    assert itf.load(tmp_path / "trace.itf.json", LIFECYCLE).variation == variation


def test_a_trace_of_a_world_with_dials_of_its_own(tmp_path: Path) -> None:
    file = file_of("trio", prompt=[1, 2, 1], blocks=3, cancellation=False)
    trace = check_world(file, changed_by("notify-twice"), PROPERTIES).traces[0]
    itf.save(trace, tmp_path / "trace.itf.json", "1")
    assert itf.load(tmp_path / "trace.itf.json", LIFECYCLE).world.values == file.world.values


# --------------------------------------------------------------------------------------------------- the form
@each
def test_the_form_is_that_of_itf(fault: str) -> None:
    """ADR 015: vars, states that give each of them a value, and values in the few forms there are."""
    for trace in traces_of(fault).values():
        document = itf.to_itf(trace, "1")
        assert list(document) == ["#meta", "vars", "states"]
        assert document["#meta"]["format"] == "ITF"
        assert document["vars"] == [f.name for f in LIFECYCLE.state.fields()]
        assert len(document["states"]) == trace.length + 1
        for number, state in enumerate(document["states"]):
            assert state.pop("#meta") == {"index": number}
            assert list(state) == document["vars"]
            assert all(is_expression(value) for value in state.values())


def is_expression(value: Any) -> bool:
    match value:
        case bool() | str():
            return True
        case {"#bigint": str(digits), **rest}:
            return not rest and digits.removeprefix("-").isdecimal()
        case {"#tup": list(parts), **rest}:
            return not rest and all(is_expression(p) for p in parts)
        case {"#map": list(pairs), **rest}:
            keys = [json.dumps(k) for k, _ in pairs]
            return not rest and len(set(keys)) == len(keys) and all(is_expression(x) for pair in pairs for x in pair)
    return False


def test_a_state_says_what_each_cell_has() -> None:
    trace = trace_of("release-while-pinned")
    launched = itf.to_itf(trace, "1")["states"][5]
    assert launched["phase"] == {"#map": [["r0", "RUNNING"], ["r1", "NEW"]]}
    assert launched["table"]["#map"][:2] == [
        [{"#tup": ["r0", "b0"]}, {"#bigint": "1"}],
        [{"#tup": ["r0", "b1"]}, {"#bigint": "0"}],
    ]
    assert launched["entry"]["#map"] == [[{"#tup": ["s0", "r0"]}, "LIVE"], [{"#tup": ["s0", "r1"]}, "NONE"]]
    assert launched["asked"] == {"#map": [["r0", False], ["r1", False]]}


def test_a_number_below_its_bounds_is_written_as_it_is() -> None:
    last = itf.to_itf(traces_of("retire-stale-token")["bounds.owed"], "1")["states"][-1]
    assert last["owed"] == {"#map": [["r0", {"#bigint": "-1"}], ["r1", {"#bigint": "0"}]]}


def test_what_the_form_has_no_place_for_is_under_meta() -> None:
    trace = trace_of("release-while-pinned")
    meta = itf.to_itf(trace, "1.2.3")["#meta"]["schedproof"]
    assert meta["format"] == itf.FORMAT == 1
    assert meta["version"] == "1.2.3"
    assert meta["world"] == {"name": "pair", "dials": file_of("pair").world.plain()}
    assert (meta["fault"], meta["without"], meta["property"]) == ("release-while-pinned", [], "ownership.keeps")
    assert meta["events"][3] == {"rule": "select", "parameters": {"r": "r0", "k": "1"}}
    assert meta["events"][5] == {"rule": "preempt", "parameters": {"r": "r0"}, "notes": {"reason": "CHOICE"}}


# ------------------------------------------------------------------------------- where the unchanged rules part
# A stricter guard only leaves steps out: the unchanged rules can take the whole run, and go on from its end.
STRICTER = (
    "abort-frees-nothing",
    "rejected-not-answered",
    "never-refused",
    "idle-seats-not-chosen",
    "nobody-is-preempted",
)


@pytest.mark.parametrize("fault", STRICTER)
def test_where_a_step_is_left_out_the_unchanged_rules_follow(fault: str) -> None:
    assert refusal(trace_of(fault)) is None
    said = "\n".join(trace_lines(trace_of(fault), PROPERTIES))
    assert "The unchanged rules can take all these steps as well; what is missing is a step" in said


@pytest.mark.parametrize("fault", [f.name for f in FAULTS if f.name not in STRICTER])
def test_the_refusal_names_the_part_that_the_fault_changed(fault: str) -> None:
    seeded = next(f for f in FAULTS if f.name == fault)
    said = refusal(trace_of(fault))
    assert said is not None
    change = seeded.changes[0]
    if not isinstance(change, Extend) and "." in change.part:
        rule = change.part.partition(".")[0]
        steps = [f"{e.text} at step {n}: " for n, e in enumerate(trace_of(fault).events, 1) if e.rule == rule]
        assert any(said.startswith(f"The unchanged rules refuse {step}") for step in steps)
        assert f"the guard {change.part} is false (" in said
    else:
        rule = change.rule if isinstance(change, Extend) else change.part.partition("/")[0]
        assert f"In the unchanged rules, {rule}(" in said
        assert "has another effect: " in said
    if isinstance(change, Drop) and "/" in change.part:
        assert f" {change.part.partition('/')[2]}[" in said


def test_the_refusal_says_what_the_effect_would_have_been() -> None:
    assert refusal(trace_of("preempt-forgets-output")) == (
        "In the unchanged rules, preempt(r0) at step 8 has another effect: committed[r0] becomes 1."
    )
    assert refusal(trace_of("release-forgets-reference")) == (
        "In the unchanged rules, release(r0) at step 5 has another effect: ref[b0] becomes 0."
    )


def test_a_trace_of_the_unchanged_rules_has_no_refusal() -> None:
    result = check_world(file_of("crowded-no-preemption", limit=2), changed_by(), PROPERTIES)
    assert [refusal(t) for t in result.traces] == [None, None]


# --------------------------------------------------------------------------------------------------- as text
@pytest.mark.parametrize(("name", "write"), [("trace.txt", trace_lines), ("trace.md", trace_markdown)])
def test_golden_text(name: str, write: Any) -> None:
    fault, shows = PINNED
    lines: Sequence[str] = write(traces_of(fault)[shows], PROPERTIES)
    same_as_golden(name, "\n".join(lines) + "\n")


def test_golden_file() -> None:
    fault, shows = PINNED
    document = itf.to_itf(traces_of(fault)[shows], "the version")
    same_as_golden("trace.itf.json", json.dumps(document, indent=1) + "\n")


def same_as_golden(name: str, text: str) -> None:
    path = GOLDEN / name
    if os.environ.get("GOLDEN") == "write":
        path.write_text(text)
    assert text == path.read_text(), (
        f"if {name} is meant to change, run the tests once with GOLDEN=write and read the diff"
    )


# ------------------------------------------------------------------------------------------- the second check
def tamper(monkeypatch: pytest.MonkeyPatch, fault: str | None, violated: bool = False) -> None:
    """The generated code is that of other rules than those the interpreter is given, or finds fault with everything."""

    def machine(model: Model, world: World, properties: Sequence[Property], forgetful: bool) -> Machine:
        made = Machine(changed_by(fault).model, world, properties, forgetful)
        made.model = made.layout.model = model
        if violated:
            made.violated = lambda s: [0]
        return made

    monkeypatch.setattr("checker.check.Machine", machine)


def test_a_step_that_the_interpreter_refuses_is_a_disagreement(monkeypatch: pytest.MonkeyPatch) -> None:
    tamper(monkeypatch, "release-while-pinned")
    with pytest.raises(Disagreement) as caught:
        check_world(file_of("pair"), changed_by(), PROPERTIES, Options(Limits(depth=7)))
    assert str(caught.value) == (
        "in pair, the generated code takes release(r0) at step 7 of the trace to ownership.keeps, "
        "but the interpreter does not; please report this with the command you ran."
    )


def test_a_step_with_another_effect_is_a_disagreement(monkeypatch: pytest.MonkeyPatch) -> None:
    tamper(monkeypatch, "release-forgets-reference")
    with pytest.raises(Disagreement) as caught:
        check_world(file_of("pair"), changed_by(), PROPERTIES, Options(Limits(depth=5)))
    assert str(caught.value) == (
        "in pair, the generated code takes release(r0) at step 5 of the trace to ownership.references, "
        "but the interpreter does not; please report this with the command you ran."
    )


def test_a_property_that_the_interpreter_finds_true_is_a_disagreement(monkeypatch: pytest.MonkeyPatch) -> None:
    tamper(monkeypatch, None, violated=True)
    with pytest.raises(Disagreement) as caught:
        check_world(file_of("solo"), changed_by(), PROPERTIES, Options(search="python"))
    assert str(caught.value) == (
        "in solo, the generated code finds ownership.references violated, but the interpreter does not; "
        "please report this with the command you ran."
    )


def test_without_tampering_nothing_disagrees(monkeypatch: pytest.MonkeyPatch) -> None:
    tamper(monkeypatch, None)
    assert check_world(file_of("solo"), changed_by(), PROPERTIES).violated == ()


def test_confirm_accepts_what_is_so_and_refuses_each_part_that_is_not() -> None:
    trace = trace_of("release-while-pinned")
    confirm(trace, PROPERTIES)
    other = dataclasses.replace(trace, shows="delivery.grows")
    shorter = dataclasses.replace(trace, events=trace.events[:-1], states=trace.states[:-1])
    swapped = dataclasses.replace(trace, states=(*trace.states[:-1], trace.states[-2]))
    for wrong in (other, shorter, swapped):
        with pytest.raises(Disagreement):
            confirm(wrong, PROPERTIES)


def test_a_dead_end_is_confirmed_by_asking_what_is_enabled() -> None:
    traces = {t.shows: t for t in check_world(file_of("crowded-no-preemption"), changed_by(), PROPERTIES).traces}
    dead = traces["rest.no-dead-end"]
    assert violates(dead, PROPERTIES)
    alive = dataclasses.replace(dead, events=dead.events[:-1], states=dead.states[:-1])
    assert not violates(alive, PROPERTIES)


def test_a_state_that_cannot_be_reached_again_is_a_disagreement(monkeypatch: pytest.MonkeyPatch) -> None:
    """The explorer's books are wrong: the run behind a finding is walked again, and gets lost."""
    found = explore(Machine(changed_by("notify-twice").model, file_of("solo").world, PROPERTIES))
    number = found.chain(found.violations["delivery.message-once"].source)[2]
    states = found.states
    assert isinstance(states, list)
    states[number] = states[0]
    with pytest.raises(Disagreement, match=r"the explorer took \w+ in solo, but the run cannot take it again\."):
        run_behind(found, found.violations["delivery.message-once"], changed_by("notify-twice"))


def test_a_file_that_cannot_be_written_is_one_sentence(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(Unusable) as caught:
        itf.save(trace_of("notify-twice"), tmp_path / "file" / "trace.itf.json", "1")
    assert str(caught.value) == (
        f"the trace cannot be written to {tmp_path}/file/trace.itf.json (Not a directory); "
        "give another place with --traces DIR."
    )
