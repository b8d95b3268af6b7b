"""Guards and updates that cannot be meant are refused while the rule is recorded, at the line that is wrong."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from model.language import (
    LanguageError,
    assume,
    every,
    guard,
    note,
    number,
    rule,
)
from model.language.terms import Moment
from tests.language.refusal import first_line, refused
from tests.language.small import Amount, Colour, Job, Place, Small, Who

elsewhere = Small(Moment.NOW)
unlisted = number("unlisted", "a dial that no model lists")


# ------------------------------------------------------------------------------------------------ writes
def test_writing_a_cell_twice() -> None:
    def wrong() -> None:
        @rule(by=Who.WORKER)
        def paint(now: Small, after: Small, j: Job) -> None:
            after.colour[j] = Colour.RED
            after.level[j] = 1
            after.colour[j] = Colour.BLUE

    first = first_line(wrong) + 3
    assert refused(wrong) == (
        "paint may write the same cell of colour twice, here and at "
        f"tests/language/test_misuse_recorded.py:{first}; "
        "updates are simultaneous, so join the two into one with ite(condition, a, b).",
        5,
    )


def test_writing_a_cell_that_two_parameters_may_name() -> None:
    def wrong() -> None:
        @rule(by=Who.WORKER)
        def exchange(now: Small, after: Small, j: Job, k: Job) -> None:
            after.colour[j] = now.colour[k]
            after.colour[k] = now.colour[j]

    sentence, line = refused(wrong)
    assert sentence.startswith("exchange may write the same cell of colour twice, here and at ")
    assert line == 4


def test_writing_a_cell_that_a_loop_writes() -> None:
    def wrong() -> None:
        @rule(by=Who.WORKER)
        def clear(now: Small, after: Small, j: Job) -> None:
            after.level[j] = 1
            for k in every(Job):
                after.level[k] = 0

    sentence, line = refused(wrong)
    assert sentence.startswith("clear may write the same cell of level twice, here and at ")
    assert line == 5


def test_writing_a_place_and_the_next() -> None:
    def wrong() -> None:
        @rule(by=Who.WORKER)
        def move(now: Small, after: Small) -> None:
            for p in every(Place):
                after.lit[p] = True
                after.lit[p.next] = False

    sentence, line = refused(wrong)
    assert sentence.startswith("move may write the same cell of lit twice, here and at ")
    assert line == 5


def test_writing_one_cell_for_every_member() -> None:
    def wrong() -> None:
        @rule(by=Who.WORKER)
        def last(now: Small, after: Small) -> None:
            for j in every(Job):
                after.balance = now.level[j]

    assert refused(wrong) == (
        "last writes one cell of balance for every j and another value each time; "
        "put j among its indices, or join the values with forall, exists, count or total.",
        4,
    )


def test_two_constants_and_two_fields_may_be_written() -> None:
    @rule(by=Who.WORKER)
    def fine(now: Small, after: Small, j: Job, k: Job) -> None:
        after.level[j] = now.level[k]
        after.extra[k] = now.level[j]
        after.load[Place.first(), j] = 0
        after.balance = 0

    assert fine.writes() == {"level", "extra", "load", "balance"}


@pytest.mark.parametrize(
    ("body", "sentence"),
    [
        (lambda now, after, j: now.level[j] + after.level[j], "`after` is only written; read now.level[...]"),
        (lambda now, after, j: guard("a", after.busy[j]), "`after` is only written; read now.busy[...]"),
        (lambda now, after, j: guard("a", after.open), "`after` is only written; read now.open"),
    ],
)
def test_reading_the_state_after(body: Callable[..., None], sentence: str) -> None:
    def wrong() -> None:
        @rule(by=Who.WORKER)
        def peek(now: Small, after: Small, j: Job) -> None:
            body(now, after, j)

    with pytest.raises(LanguageError) as error:
        wrong()
    line = body.__code__.co_firstlineno
    assert str(error.value) == f"tests/language/test_misuse_recorded.py:{line}: {sentence}, the state before the step."


@pytest.mark.parametrize(
    ("body", "sentence"),
    [
        (
            lambda now, after, j: now.level.__setitem__(j, 1),
            "this state is only read; write after.level[...] = value in a rule.",
        ),
        (
            lambda now, after, j: setattr(now, "open", True),
            "this state is only read; write after.open = value in a rule.",
        ),
        (
            lambda now, after, j: setattr(after, "level", 1),
            "level is a function of its indices; write after.level[...] = value.",
        ),
        (lambda now, after, j: setattr(after, "levle", 1), "Small has no field levle; did you mean level?"),
        (
            lambda now, after, j: after.colour.__setitem__(j, 1),
            "colour takes Colour, but (1) is Int; give it a term of sort Colour.",
        ),
        (
            lambda now, after, j: after.level.__setitem__(j, now.busy[j]),
            "level takes Int, but (busy[j]) is Bool; write ite(condition, 1, 0), or count(Index, ...).",
        ),
        (
            lambda now, after, j: after.lit.__setitem__(j, True),
            "lit is a function of [Place], but was given (j) of sort Job; write lit[Place].",
        ),
    ],
)
def test_writing_what_cannot_be_written(body: Callable[..., None], sentence: str) -> None:
    def wrong() -> None:
        @rule(by=Who.WORKER)
        def write(now: Small, after: Small, j: Job) -> None:
            body(now, after, j)

    with pytest.raises(LanguageError) as error:
        wrong()
    line = body.__code__.co_firstlineno
    assert str(error.value) == f"tests/language/test_misuse_recorded.py:{line}: {sentence}"


# ------------------------------------------------------------------------------------------------ guards
@pytest.mark.parametrize("name", ["", "Two", "two words", "-a", "a-", "a_b", 3, elsewhere.open])
def test_a_guard_needs_a_name(name: object) -> None:
    def wrong() -> None:
        @rule(by=Who.WORKER)
        def act(now: Small, after: Small) -> None:
            guard(name, now.open)  # type: ignore[arg-type]

    assert refused(wrong) == (f"the guard name {name!r} of act is no name; write lower-case words joined by -.", 3)


def test_two_guards_of_one_name() -> None:
    def wrong() -> None:
        @rule(by=Who.WORKER)
        def act(now: Small, after: Small) -> None:
            guard("open", now.open)
            assume("open", now.balance > 0)

    assert refused(wrong) == ("act has two guards named open; give the second a name of its own.", 4)


def test_a_guard_that_is_no_condition() -> None:
    def wrong() -> None:
        @rule(by=Who.WORKER)
        def act(now: Small, after: Small) -> None:
            guard("rich", now.balance)

    assert refused(wrong) == ("the guard act.rich takes Bool, but (balance) is Int; give it a term of sort Bool.", 3)


@pytest.mark.parametrize(
    ("word", "use"),
    [
        ("guard", lambda: guard("open", elsewhere.open)),
        ("assume", lambda: assume("open", elsewhere.open)),
        ("note", lambda: note("open", elsewhere.open)),
        ("every", lambda: next(every(Job))),
    ],
)
def test_words_that_belong_into_a_rule(word: str, use: Callable[[], object]) -> None:
    assert refused(use) == (f"{word} belongs inside a rule; put it in a function decorated with @rule.", 0)


def outside(rule: str, variable: str) -> str:
    return (
        f"{rule} uses {variable} outside of an update in its own `for {variable} in every(Job)`; "
        "quantify over it with forall, exists, count or total."
    )


def test_a_guard_inside_a_loop() -> None:
    def wrong() -> None:
        @rule(by=Who.WORKER)
        def act(now: Small, after: Small) -> None:
            for j in every(Job):
                guard("busy", now.busy[j])

    assert refused(wrong) == (outside("act", "j"), 4)


def test_an_update_after_its_loop() -> None:
    def wrong() -> None:
        @rule(by=Who.WORKER)
        def act(now: Small, after: Small) -> None:
            for j in every(Job):
                after.level[j] = 0
                break
            after.busy[j] = True

    assert refused(wrong) == (outside("act", "j"), 6)


def test_a_note_inside_a_loop() -> None:
    def wrong() -> None:
        @rule(by=Who.WORKER)
        def act(now: Small, after: Small) -> None:
            for j in every(Job):
                note("which", now.level[j])

    assert refused(wrong) == (outside("act", "j"), 4)


def test_every_over_numbers() -> None:
    def wrong() -> None:
        @rule(by=Who.WORKER)
        def act(now: Small, after: Small) -> None:
            for n in every(Amount):  # type: ignore[type-var]
                after.balance = n

    assert refused(wrong) == ("every cannot range over Amount, which is no index; give it a subclass of Index.", 3)
