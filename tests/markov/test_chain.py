"""The chain: stepping and the closed form agree exactly, and what is no probability is refused with a sentence."""

from __future__ import annotations

from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from model.markov import Chain, NotAProbability, probability
from model.markov.chain import STEPS

unit = st.fractions(min_value=0, max_value=1, max_denominator=1000)


@given(unit, unit, unit, st.integers(0, 30))
def test_the_closed_form_is_what_stepping_gives(p: Fraction, q: Fraction, pending: Fraction, steps: int) -> None:
    chain = Chain(p, q)
    assert chain.run(steps, pending)[-1] == chain.closed(steps, pending)


@given(unit, unit, unit)
def test_a_step_gives_a_probability(p: Fraction, q: Fraction, pending: Fraction) -> None:
    assert 0 <= Chain(p, q).step(pending) <= 1


@given(unit, unit)
def test_what_it_settles_at_is_left_as_it_is(p: Fraction, q: Fraction) -> None:
    chain = Chain(p, q)
    if chain.settled is None:
        assert p == q == 0
    else:
        assert chain.step(chain.settled) == chain.settled


@given(unit, st.integers(1, 30))
def test_absorbing_means_that_pending_never_grows(p: Fraction, steps: int) -> None:
    run = Chain(p, Fraction(0)).run(steps)
    assert Chain(p, Fraction(0)).absorbing
    assert run == sorted(run, reverse=True)


@pytest.mark.parametrize(("p", "q", "pending"), [("1/2", "0", "1/16"), ("1/4", "0", "81/256"), ("1/2", "1/2", "1/2")])
def test_known_values_after_four_steps(p: str, q: str, pending: str) -> None:
    assert Chain(probability(p), probability(q)).run(4)[-1] == Fraction(pending)


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("0.5", Fraction(1, 2)),
        ("1/3", Fraction(1, 3)),
        (" 1 ", Fraction(1)),
        ("0", Fraction(0)),
        (".1", Fraction(1, 10)),
    ],
)
def test_numbers_are_read_exactly(text: str, value: Fraction) -> None:
    assert probability(text) == value


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("1.5", "1.5 is not between 0 and 1; a probability is."),
        ("-1/2", "-1/2 is not between 0 and 1; a probability is."),
        ("1/0", "1/0 divides by zero; write a fraction whose denominator is above 0."),
        ("half", "'half' is no number; write a fraction such as 1/2, or 0.5."),
        ("", "'' is no number; write a fraction such as 1/2, or 0.5."),
        ("1e-3", "'1e-3' is no number; write a fraction such as 1/2, or 0.5."),
        ("1/-2", "'1/-2' is no number; write a fraction such as 1/2, or 0.5."),
        ("\u0661/\u0662", "'\u0661/\u0662' is no number; write a fraction such as 1/2, or 0.5."),
        ("0.1234567890123", "0.1234567890123 is too long; write at most 12 digits."),
    ],
)
def test_what_is_no_probability_is_refused(text: str, said: str) -> None:
    with pytest.raises(NotAProbability) as refused:
        probability(text)
    assert str(refused.value) == said


def test_a_chain_of_other_numbers_is_refused() -> None:
    with pytest.raises(NotAProbability, match="3/2 is not between 0 and 1"):
        Chain(Fraction(3, 2), Fraction(0))


@pytest.mark.parametrize("steps", [-1, STEPS + 1])
def test_steps_have_bounds(steps: int) -> None:
    with pytest.raises(ValueError, match="steps are not between"):
        Chain(Fraction(1), Fraction(0)).run(steps)


def test_the_longest_run_can_be_printed() -> None:
    chain = Chain(probability("0.12345678901"), probability("1/99999999977"))
    assert len(str(chain.run(STEPS)[-1])) < 10_000


@pytest.mark.parametrize(
    ("p", "q", "formula"),
    [
        ("1/2", "0", "pending(n) = (1/2)^n"),
        ("0", "0", "pending(n) = 1"),
        ("1/3", "1/4", "pending(n) = 3/7 + 4/7 * (5/12)^n"),
    ],
)
def test_the_formula_has_the_numbers(p: str, q: str, formula: str) -> None:
    assert Chain(probability(p), probability(q)).formula == formula
