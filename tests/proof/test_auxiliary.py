"""What only proofs need is true of explored worlds, too: of every state of them, with nothing forgotten or renamed."""

from __future__ import annotations

import pytest

from checker.check import Options, check_world
from model.language.properties import Shape
from model.readings.interpret import evaluate
from specs.auxiliary import AUXILIARY
from specs.disciplines import COVERED, SAFE
from tests.search.running import changed_by, file_of

INVARIANTS = [p for p in AUXILIARY if p.shape is Shape.STATE]

# Two chunks of one request behind a step of another, all of them in flight, for one block.
CHUNKS = {"depth": 3, "block_size": 2, "blocks": 1, "prompt": 2, "limit": 1, "budget": 1, "seats": 1}
# Where results come late, on devices with and without order; workers apart; memory freed at once, and prefixes shared.
WORLDS = [
    ("late-commit", {}),
    ("late-commit", {"release": "ordered", "device": "in_order", "block_size": 2}),
    ("late-commit", {**CHUNKS, "release": "ordered", "device": "in_order"}),
    ("late-commit", {"workers": 2, "limit": 1, "blocks": 1}),
    ("late-commit-ordered", {}),
    ("unordered-device", {}),
    ("ordered-release", {}),
    ("two-workers", {}),
    ("shared-prefix-window", {}),
]


@pytest.mark.parametrize(("name", "dials"), WORLDS, ids=lambda v: v if isinstance(v, str) else "-".join(map(str, v)))
def test_an_invariant_that_proofs_need_holds_in_explored_worlds(name: str, dials: dict[str, object]) -> None:
    file = file_of(name, **dials)
    assert evaluate(SAFE & COVERED, file.world)
    found = check_world(file, changed_by(), INVARIANTS, Options(reduction=False))
    assert found.search.bound is None
    assert [t.shows for t in found.traces] == []
