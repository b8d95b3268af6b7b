"""Where the cells of a world lie, what they are called, and what their numbers stand for."""

from __future__ import annotations

import enum

import pytest

from model.language import Index, LanguageError, State, field, flag, model, number, scalar, upto
from model.language.terms import BOOL, INT, Moment, Sort, enum_sort
from model.readings.interpret import evaluate
from model.readings.layout import Layout, code, decode
from model.readings.world import world
from tests.language.machines import changes, small_layout
from tests.language.small import Colour, Job, Place, Shape, Small
from tests.language.test_rules import start

jobs = number("jobs", "how many jobs there are", low=1)
crews = number("crews", "how many crews there are", low=1)


def texts(layout: Layout) -> list[str]:
    return [c.text for c in layout.cells]


def test_cells_of_the_columns_come_last_member_by_member() -> None:
    """Jobs are the only index without an order, so their cells are put in order by sorting."""
    layout = small_layout(jobs=2, places=2, strict=True)
    assert layout.columns is Job
    assert texts(layout) == [
        *("lit[p0]", "lit[p1]", "paint[p0]", "paint[p1]", "turn", "open", "balance"),
        *("colour[j0]", "busy[j0]", "level[j0]", "load[p0, j0]", "load[p1, j0]", "extra[j0]"),
        *("colour[j1]", "busy[j1]", "level[j1]", "load[p0, j1]", "load[p1, j1]", "extra[j1]"),
    ]
    assert layout.sizes == {Job: 2, Place: 2}
    for place, cell in enumerate(layout.cells):
        assert layout.position[cell.field, cell.at] == place


def test_labels_are_names_of_their_own() -> None:
    """They become variables of generated source, whose own names never end like the label of a single cell."""
    layout = small_layout(jobs=2, places=2)
    labels = [c.label for c in layout.cells]
    assert labels[:7] == ["lit_p0", "lit_p1", "paint_p0", "paint_p1", "turn_", "open_", "balance_"]
    assert labels[7:12] == ["colour_j0", "busy_j0", "level_j0", "load_p0_j0", "load_p1_j0"]
    assert all(label.isidentifier() for label in labels)
    assert len(set(labels)) == len(labels)


def test_bounds_and_initial_values() -> None:
    """The bounds of a field may differ from member to member; those of flags and Enums count their values."""
    layout = small_layout(jobs=1, places=2, top=4, debt=2, height=[0, 3])
    assert {c.text: (c.low, c.high, c.initial) for c in layout.cells} == {
        "lit[p0]": (0, 1, 1),
        "lit[p1]": (0, 1, 1),
        "paint[p0]": (0, 2, 1),
        "paint[p1]": (0, 2, 1),
        "turn": (0, 2, 2),
        "open": (0, 1, 0),
        "balance": (-2, 4, 0),
        "colour[j0]": (0, 2, 0),
        "busy[j0]": (0, 1, 0),
        "level[j0]": (0, 4, 0),
        "load[p0, j0]": (0, 4, 1),
        "load[p1, j0]": (0, 7, 1),
    }
    assert layout.initial == tuple(c.initial for c in layout.cells)


def test_out_of_bounds() -> None:
    layout = small_layout(jobs=1, places=1, debt=1)
    state = list(layout.initial)
    assert layout.out_of_bounds(state) == []
    for text, value in {"balance": -2, "level[j0]": 4, "open": 1}.items():
        state[texts(layout).index(text)] = value
    assert [c.text for c in layout.out_of_bounds(state)] == ["balance", "level[j0]"]


@pytest.mark.parametrize(
    ("sort", "values"),
    [
        (BOOL, {False: 0, True: 1}),
        (INT, {-3: -3, 0: 0, 7: 7}),
        (enum_sort(Colour), {Colour.RED: 0, Colour.GREEN: 1, Colour.BLUE: 2}),
        (enum_sort(Shape), {Shape.ROUND: 0, Shape.SQUARE: 1}),
    ],
)
def test_values_are_stored_as_numbers(sort: Sort, values: dict[object, int]) -> None:
    for value, stored in values.items():
        assert code(sort, value) == stored
        assert type(code(sort, value)) is int
        assert decode(sort, stored) == value
        assert type(decode(sort, stored)) is type(value)


def test_the_value_of_a_cell() -> None:
    layout = small_layout(jobs=1, places=1)
    values = {c.text: layout.value(layout.initial, place) for place, c in enumerate(layout.cells)}
    assert values["turn"] is Colour.BLUE
    assert values["lit[p0]"] is True
    assert values["load[p0, j0]"] == 1


def test_the_reader_tells_the_states_apart() -> None:
    layout = small_layout(jobs=1, places=1)
    then = [1 - b if layout.cells[p].text == "open" else b for p, b in enumerate(layout.initial)]
    read = layout.reader(layout.initial, then)
    assert (read(Small.open, Moment.NOW, ()), read(Small.open, Moment.THEN, ())) == (False, True)
    assert read(Small.paint, Moment.NOW, (1,)) is Colour.GREEN  # past the end


# -------------------------------------------------------------------------------- fields that are not there
def test_a_field_whose_needs_are_off_has_no_cells() -> None:
    off, on = small_layout(strict=False), small_layout(strict=True)
    assert [t for t in texts(on) if t not in texts(off)] == ["extra[j0]", "extra[j1]"]
    assert [t for t in texts(off) if t not in texts(on)] == []


def test_a_field_whose_needs_are_off_reads_its_initial_value() -> None:
    layout = small_layout(strict=False)
    j = Job.variable("j")
    term = Small(Moment.NOW).extra[j]
    assert evaluate(term, layout.world, {j.data: 1}, layout.reader(layout.initial)) == 1


def test_a_field_whose_needs_are_off_takes_no_writes() -> None:
    cells = {"balance": 2, "level[j0]": 3}
    assert changes(start, (0, 1), cells, strict=True) == {"busy[j0]": 1, "balance": 1, "extra[j0]": 3}
    assert changes(start, (0, 1), cells, strict=False) == {"busy[j0]": 1, "balance": 1}


# ----------------------------------------------------------------------------------------- other states
class Worker(Index, size=jobs):
    """A worker."""


class Crew(Index, size=crews):
    """A crew."""


class Step(Index, size=crews, ordered=True):
    """A step."""


class Twice(State):
    knows = field(flag, Worker, Worker, doc="the one worker knows the other")
    tired = field(flag, Crew, doc="the crew is tired")
    done = field(flag, Step, doc="the step is done")


class Alone(State):
    knows = field(flag, Worker, Worker, doc="the one worker knows the other")
    done = field(flag, Step, doc="the step is done")


class Low(State):
    count = field(upto(jobs, low=2), Crew, initial=2, doc="how many")


class Wrong(State):
    count = field(upto(jobs, low=2), Crew, doc="how many, though it begins at 0")


def made(state: type[State], jobs_here: int, crews_here: int) -> Layout:
    declared = model("other", state, (jobs, crews), ())
    return Layout(declared, world(declared, "here", {"jobs": jobs_here, "crews": crews_here}))


def test_an_index_that_a_field_has_twice_is_no_column() -> None:
    assert made(Twice, 3, 2).columns is Crew
    assert made(Alone, 3, 2).columns is None


def test_the_larger_index_is_the_column() -> None:
    class Two(State):
        one = field(flag, Worker, doc="")
        other = field(flag, Crew, doc="")

    assert made(Two, 3, 2).columns is Worker
    assert made(Two, 2, 3).columns is Crew


def test_a_field_begins_within_its_bounds() -> None:
    assert made(Low, 3, 2).initial == (2, 2)
    with pytest.raises(LanguageError) as refused:
        made(Wrong, 3, 1)
    assert str(refused.value) == (
        "count[c0] begins at 0, but its bounds in the world here are 2 and 3; "
        "give the field an initial value within them."
    )
    with pytest.raises(
        LanguageError, match=r"\Acount\[c0\] begins at 2, but its bounds in the world here are 2 and 1;"
    ):
        made(Low, 1, 1)


def test_an_enum_has_as_many_values_as_names() -> None:
    class Twin(enum.Enum):
        ONE = 1
        ALSO_ONE = 1  # noqa: PIE796
        TWO = 2

    class State2(State):
        which = scalar(Twin)

    cell = made(State2, 1, 1).cells[0]
    assert (cell.low, cell.high) == (0, 1)
    assert code(enum_sort(Twin), Twin.ALSO_ONE) == 0
