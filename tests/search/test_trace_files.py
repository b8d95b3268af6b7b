"""Trace files that cannot be used: each is refused with one sentence that says where and what to do, and none crashes."""

from __future__ import annotations

import copy
import functools
import json
import random
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from checker.check import violates
from checker.replay import itf
from checker.verdict import Unusable
from model.lifecycle import LIFECYCLE
from specs.properties import PROPERTIES
from tests.search.running import checked

AGAIN = "the rules have changed since the trace was made, or it was edited."


@functools.cache
def genuine() -> str:
    trace = next(t for t in checked("release-while-pinned").traces if t.shows == "ownership.keeps")
    return json.dumps(itf.to_itf(trace, "1"))


def load(tmp_path: Path, content: str | bytes) -> str:
    """The sentence with which a file of this content is refused, its path written as TRACE."""
    path = tmp_path / "trace.itf.json"
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    with pytest.raises(Unusable) as caught:
        itf.load(path, LIFECYCLE)
    return str(caught.value).replace(str(path), "TRACE")


Edit = Callable[[dict[str, Any], dict[str, Any]], Any]


def edited(edit: Edit) -> str:
    """The file after an edit of the document and of our own part of it."""
    document = json.loads(genuine())
    edit(document, document["#meta"]["schedproof"])
    return json.dumps(document)


# ------------------------------------------------------------------------------------------------- no trace
def test_a_file_cut_in_half(tmp_path: Path) -> None:
    said = load(tmp_path, genuine()[: len(genuine()) // 2])
    assert said.startswith("TRACE is no complete JSON (")
    assert said.endswith("); make the trace again with check.")


def test_an_empty_file(tmp_path: Path) -> None:
    assert load(tmp_path, "") == (
        "TRACE is no complete JSON (Expecting value: line 1 column 1 (char 0)); make the trace again with check."
    )


def test_a_file_that_is_no_text(tmp_path: Path) -> None:
    assert load(tmp_path, b"\xff\xfe\x00").startswith("TRACE is no complete JSON ('utf-8' codec can't decode")


def test_a_file_that_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(Unusable) as caught:
        itf.load(tmp_path / "none.json", LIFECYCLE)
    assert str(caught.value) == (
        f"{tmp_path}/none.json cannot be read (No such file or directory); give the path of a trace file."
    )


def test_a_directory(tmp_path: Path) -> None:
    with pytest.raises(Unusable) as caught:
        itf.load(tmp_path, LIFECYCLE)
    assert str(caught.value) == f"{tmp_path} cannot be read (Is a directory); give the path of a trace file."


@pytest.mark.parametrize(
    ("content", "said"),
    [
        ("[]", "TRACE is no schedproof trace; make one with check."),
        ("3", "TRACE is no schedproof trace; make one with check."),
        ("{}", "TRACE is no schedproof trace: #meta is missing; make it again with check."),
        ('{"#meta": {}}', "TRACE is no schedproof trace: schedproof is missing; make it again with check."),
        ('{"#meta": {"schedproof": 1}}', "TRACE is no schedproof trace; make one with check."),
    ],
)
def test_json_that_is_no_trace(tmp_path: Path, content: str, said: str) -> None:
    assert load(tmp_path, content) == said


# -------------------------------------------------------------------------------------------- an edited trace
EDITS: dict[str, tuple[Edit, str]] = {
    "another format": (
        lambda d, m: m.update(format=2),
        "TRACE is of trace format 2, and this is 1; make the trace again with check.",
    ),
    "no events": (
        lambda d, m: m.pop("events"),
        "TRACE is no schedproof trace: events is missing; make it again with check.",
    ),
    "an event less": (
        lambda d, m: m["events"].pop(),
        "TRACE has 6 events but 8 states; make the trace again with check.",
    ),
    "a state less": (
        lambda d, m: d["states"].pop(),
        "TRACE has 7 events but 7 states; make the trace again with check.",
    ),
    "another beginning": (
        lambda d, m: d["states"][0]["phase"]["#map"][0].__setitem__(1, "WAITING"),
        "TRACE does not begin in the initial state of the model; make it again with check.",
    ),
    "another state": (
        lambda d, m: d["states"][3]["ref"]["#map"][0].__setitem__(1, {"#bigint": "2"}),
        f"TRACE: step 3, acquire(r0, b0), leads to another ref[b0] than the file says; {AGAIN}",
    ),
    "a word that is no phase": (
        lambda d, m: d["states"][3]["phase"]["#map"][1].__setitem__(1, "ASLEEP"),
        f"TRACE: step 3, acquire(r0, b0), leads to another phase[r1] than the file says; {AGAIN}",
    ),
    "a flag left out": (
        lambda d, m: d["states"][4]["asked"]["#map"].pop(0),
        f"TRACE: step 4, select(r0, 1), leads to another asked[r0] than the file says; {AGAIN}",
    ),
    "a field left out": (
        lambda d, m: d["states"][5].pop("tokens"),
        f"TRACE: step 5, launch(s0), leads to another tokens[s0, r0] than the file says; {AGAIN}",
    ),
    "a state that is none": (
        lambda d, m: d["states"].__setitem__(6, "x"),
        f"TRACE: step 6, preempt(r0), leads to another phase[r0] than the file says; {AGAIN}",
    ),
    "events in another order": (
        lambda d, m: m["events"].__setitem__(slice(1, 3), m["events"][2:0:-1]),
        "TRACE: the rules refuse step 2, acquire(r0, b0), at the guard acquire.running; "
        "they have changed since the trace was made, or it was edited.",
    ),
    "no fault": (
        lambda d, m: m.update(fault=None),
        "TRACE: the rules refuse step 7, release(r0), at the guard release.unpinned; "
        "they have changed since the trace was made, or it was edited.",
    ),
    "another parameter": (
        lambda d, m: m["events"][2]["parameters"].update(b="b7"),
        "TRACE: b7 is no Block of the world; the trace was edited.",
    ),
    "a parameter left out": (
        lambda d, m: m["events"][2]["parameters"].pop("b"),
        "TRACE is no schedproof trace: b is missing; make it again with check.",
    ),
    "an unknown rule": (
        lambda d, m: m["events"][2].update(rule="aquire"),
        "TRACE cannot be run: there is no rule aquire; did you mean acquire.",
    ),
    "an unknown fault": (
        lambda d, m: m.update(fault="release-pinned"),
        "TRACE cannot be run: there is no fault release-pinned; did you mean release-while-pinned. "
        "If it is a fault of your own, name its file with --with FILE.py.",
    ),
    "an unknown guard": (
        lambda d, m: m.update(without=["notify.onec"]),
        "TRACE cannot be run: --without notify.onec: there is no such part; did you mean notify.once.",
    ),
    "an unknown dial": (
        lambda d, m: m["world"]["dials"].update(blokcs=3),
        "TRACE cannot be run: there is no dial blokcs; did you mean blocks.",
    ),
    "a dial left out": (
        lambda d, m: m["world"]["dials"].pop("blocks"),
        "TRACE cannot be run: the dial blocks is missing; set it: KV blocks in the pool.",
    ),
    "a property that is no text": (
        lambda d, m: m.update(property=None),
        "TRACE is no schedproof trace; make one with check.",
    ),
}


@pytest.mark.parametrize("what", EDITS)
def test_an_edited_trace(tmp_path: Path, what: str) -> None:
    edit, said = EDITS[what]
    assert load(tmp_path, edited(edit)) == said


def test_without_an_edit_it_loads(tmp_path: Path) -> None:
    path = tmp_path / "trace.itf.json"
    path.write_text(edited(lambda d, m: None))
    assert itf.load(path, LIFECYCLE).length == 7


# ---------------------------------------------------------------------------------------------- edits at random
ODD: tuple[Any, ...] = (None, {}, [], "x", 3, -1, True, 1.5, "r9", ["r0"], {"#bigint": "x"}, "#7")


def places(document: Any, way: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    keys = document if isinstance(document, dict) else range(len(document)) if isinstance(document, list) else ()
    for key in keys:
        yield (*way, key)
        yield from places(document[key], (*way, key))


@pytest.mark.parametrize("seed", range(4))
def test_no_edit_makes_it_crash(tmp_path: Path, seed: int) -> None:
    """What still loads is the same run: nothing that matters can be edited unnoticed."""
    chance = random.Random(seed)
    document = json.loads(genuine())
    ways = list(places(document))
    path = tmp_path / "trace.itf.json"
    path.write_text(genuine())
    expected = itf.load(path, LIFECYCLE)
    refused = 0
    for _ in range(150):
        spoilt = copy.deepcopy(document)
        *way, last = chance.choice(ways)
        inner = functools.reduce(lambda inside, key: inside[key], way, spoilt)
        if chance.random() < 0.3:
            del inner[last]
        else:
            inner[last] = chance.choice(ODD)
        path.write_text(json.dumps(spoilt))
        try:
            loaded = itf.load(path, LIFECYCLE)
        except Unusable as error:
            refused += 1
            assert str(error).startswith(str(path))
            assert str(error).endswith(".")
        else:
            assert [e.text for e in loaded.events] == [e.text for e in expected.events]
            assert loaded.states == expected.states
            if loaded.shows != expected.shows:
                assert not violates(loaded, PROPERTIES)
    assert refused > 100
