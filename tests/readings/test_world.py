"""A world is refused with the dial that is wrong and what to write instead."""

from __future__ import annotations

import enum
from typing import Any

import pytest

from model.language import (
    Index,
    Model,
    Requirement,
    State,
    choice,
    field,
    flag,
    model,
    number,
    number_per,
    scalar,
    upto,
)
from model.language.dials import dial_of
from model.readings.layout import Layout
from model.readings.world import WorldError, members, world
from tests.language.small import Amount, Colour, height, strict, weight


class Pace(enum.Enum):
    SLOW = 1
    FULL_SPEED = 2


jobs = number("jobs", "how many jobs there are", low=1)
most = number("most", "the most there can be", low=2, default=3)
pace = choice("pace", "how fast it goes", default=Pace.SLOW)


class Item(Index, size=jobs):
    """An item."""


class Side(Index, size=2):
    """Left or right, in any world."""


costs = number_per("costs", Item, "what the item costs", low=1)
width = number_per("width", Side, "how wide the side is", low=1, default=4)


class Kept(State):
    kept = field(upto(most), Item, doc="how many are kept")
    shut = field(flag, Side, doc="the side is shut")
    count = scalar(upto(most))


# costs, which has one value for each item, is listed before the number of items.
KEPT = model(
    "kept",
    Kept,
    (costs, jobs, most, strict, pace, width),
    (),
    (
        Requirement(most >= jobs, "most is less than jobs; give most at least one for each job."),
        Requirement(~strict | (most > 3), "strict items need room; give most at least 4."),
    ),
)

REFUSED: list[tuple[dict[str, Any], str, str]] = [
    # unknown
    ({"jbos": 1}, "jbos", "there is no dial jbos; did you mean jobs."),
    ({"paec": "slow"}, "paec", "there is no dial paec; did you mean pace."),
    ({"zzz": 1}, "zzz", "there is no dial zzz; there are costs, jobs, most, strict, pace, width."),
    # missing
    ({"costs": 1}, "jobs", "the dial jobs is missing; set it: how many jobs there are."),
    ({"jobs": 1}, "costs", "the dial costs is missing; set it: what the item costs."),
    ({"jobs": None, "costs": 1}, "jobs", "the dial jobs is missing; set it: how many jobs there are."),
    # of the wrong kind
    ({"jobs": "two"}, "jobs", "jobs is 'two', but must be a whole number of at least 1."),
    ({"jobs": 2.0}, "jobs", "jobs is 2.0, but must be a whole number of at least 1."),
    ({"jobs": True}, "jobs", "jobs is True, but must be a whole number of at least 1."),
    ({"jobs": [1]}, "jobs", "jobs is [1], but must be a whole number of at least 1."),
    ({"jobs": 1, "costs": "x"}, "costs", "costs is 'x', but must be a whole number of at least 1."),
    ({"jobs": 2, "costs": [1, False]}, "costs", "costs is False, but must be a whole number of at least 1."),
    ({"jobs": 1, "costs": 1, "strict": 1}, "strict", "strict is 1, but is switched with true or false."),
    ({"jobs": 1, "costs": 1, "strict": "on"}, "strict", "strict is 'on', but is switched with true or false."),
    ({"jobs": 1, "costs": 1, "pace": "quick"}, "pace", "pace is 'quick', but must be one of slow, full_speed."),
    ({"jobs": 1, "costs": 1, "pace": 1}, "pace", "pace is 1, but must be one of slow, full_speed."),
    (
        {"jobs": 1, "costs": 1, "pace": Colour.RED},
        "pace",
        f"pace is {Colour.RED!r}, but must be one of slow, full_speed.",
    ),
    # too low
    ({"jobs": 0}, "jobs", "jobs is 0, but must be at least 1: how many jobs there are."),
    ({"jobs": 1, "costs": 0}, "costs", "costs is 0, but must be at least 1: what the item costs."),
    ({"jobs": 2, "costs": [1, -1]}, "costs", "costs is -1, but must be at least 1: what the item costs."),
    ({"jobs": 1, "costs": 1, "most": 1}, "most", "most is 1, but must be at least 2: the most there can be."),
    # lists of the wrong length
    ({"jobs": 2, "costs": [1]}, "costs", "costs lists 1 values for 2 items; give one for each, or one number for all."),
    (
        {"jobs": 2, "costs": [1] * 3},
        "costs",
        "costs lists 3 values for 2 items; give one for each, or one number for all.",
    ),
    ({"jobs": 2, "costs": []}, "costs", "costs lists 0 values for 2 items; give one for each, or one number for all."),
    (
        {"jobs": 1, "costs": 1, "width": [1]},
        "width",
        "width lists 1 values for 2 sides; give one for each, or one number for all.",
    ),
    # dials that do not fit together
    ({"jobs": 4, "costs": 1}, "most", "most is less than jobs; give most at least one for each job."),
    ({"jobs": 1, "costs": 1, "strict": True}, "strict", "strict items need room; give most at least 4."),
]


@pytest.mark.parametrize(("given", "key", "sentence"), REFUSED)
def test_one_sentence_and_the_dial(given: dict[str, Any], key: str, sentence: str) -> None:
    with pytest.raises(WorldError) as refused:
        world(KEPT, "here", given)
    assert str(refused.value) == sentence
    assert refused.value.key == key


def test_values() -> None:
    """Numbers for all members are spread, words name choices, and what is left out has its default."""
    made = world(KEPT, "here", {"jobs": 3, "costs": 2, "pace": "Full_Speed", "width": (5, 6)})
    assert made.name == "here"
    assert list(made.values.items()) == [
        ("costs", (2, 2, 2)),
        ("jobs", 3),
        ("most", 3),
        ("strict", False),
        ("pace", Pace.FULL_SPEED),
        ("width", (5, 6)),
    ]
    assert made.of(dial_of(costs), 1) == 2
    assert made.of(dial_of(width), 1) == 6
    assert made.of(dial_of(pace)) is Pace.FULL_SPEED


def test_a_choice_may_be_given_as_itself() -> None:
    assert world(KEPT, "here", {"jobs": 1, "costs": 1, "pace": Pace.FULL_SPEED}).values["pace"] is Pace.FULL_SPEED


def test_plain_values_make_the_same_world() -> None:
    made = world(KEPT, "here", {"jobs": 2, "costs": [1, 2], "pace": "full_speed", "strict": True, "most": 4})
    assert made.plain() == {
        "costs": [1, 2],
        "jobs": 2,
        "most": 4,
        "strict": True,
        "pace": "full_speed",
        "width": [4, 4],
    }
    assert world(KEPT, "here", made.plain()) == made


def test_members() -> None:
    """An index has as many as its size says, a range its numbers with both ends."""
    small = Model("small", Kept, tuple(dial_of(d) for d in (jobs, number("top", "the top"))), ())
    made = world(small, "here", {"jobs": 3, "top": 2})
    assert members(Item, made) == range(3)
    assert members(Side, made) == range(2)
    assert members(Amount, made) == range(3)


def test_a_dial_that_the_world_does_not_have() -> None:
    made = world(KEPT, "here", {"jobs": 1, "costs": 1})
    for dial in (weight, height):
        with pytest.raises(WorldError) as refused:
            made.of(dial_of(dial), 0)
        name = dial.dial.name
        assert str(refused.value) == f"the world here has no dial {name}; list it in the model."
        assert refused.value.key == name


def test_an_index_of_a_fixed_size_has_its_cells_in_every_world() -> None:
    layout = Layout(KEPT, world(KEPT, "here", {"jobs": 1, "costs": 1}))
    assert [c.text for c in layout.cells if c.field.name == "shut"] == ["shut[s0]", "shut[s1]"]
