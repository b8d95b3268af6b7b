"""The engine's tables against the rules': the same guards by the same names, and nothing of the rules imported."""

from __future__ import annotations

import inspect
from collections.abc import Iterator

import pytest

from checker.replay.reference.events import METHODS
from engine_ref import EFFECTS, GUARDS, MISTAKES, Config, Engine, Network, Refused, Submission
from engine_ref.checks import Checks, Misused
from model.language.edits import parts
from model.lifecycle import LIFECYCLE
from specs.faults import FAULTS

# Guards that only an engine has, since it works on real tokens.
OWN = {
    "retire_token.goes-on": "the rules choose freely whether a token ends the text; here the token decides",
    "retire_stop.ends": "the same",
    "retire_late_token.goes-on": "the same",
    "retire_late_stop.ends": "the same",
    "execute.token-known": "a worker cannot run a step whose input token others have still to compute their part of",
}


def model_guards() -> Iterator[str]:
    for rule in LIFECYCLE.rules:
        yield from (f"{rule.name}.{g.name}" for g in rule.guards if not g.assumed)


def test_the_engine_has_the_guards_of_the_rules_and_says_which_are_its_own() -> None:
    assert set(GUARDS) - set(OWN) == set(model_guards())
    assert set(OWN) <= set(GUARDS)


def test_every_part_of_an_effect_that_can_be_switched_is_a_part_of_a_rule() -> None:
    assert set(EFFECTS) <= {part for rule in LIFECYCLE.rules for part in parts(rule)}


def test_every_mistake_has_the_name_of_a_fault() -> None:
    assert set(MISTAKES) <= {f.name for f in FAULTS}


def test_every_rule_has_its_method_and_every_method_its_rule() -> None:
    assert set(METHODS) == {r.name for r in LIFECYCLE.rules}
    for name in METHODS:
        assert inspect.isfunction(getattr(Engine, name))


def test_a_switch_that_does_not_exist_is_refused() -> None:
    with pytest.raises(ValueError, match=r"the engine has no switch release\.unpined"):
        Checks(["release.unpined"])


@pytest.fixture
def engine() -> Engine:
    made = Engine(Config(blocks=2, block_size=2, budget=2, seats=1), Network())
    made.add(Submission((5, 6), 2))
    return made


def test_a_false_guard_says_its_name_and_what_it_looked_at(engine: Engine) -> None:
    with pytest.raises(Refused) as refused:
        engine.acquire(0, 1)
    assert (refused.value.guard, refused.value.values) == ("acquire.running", {"phase": "NEW"})
    assert str(refused.value) == "acquire.running is false (phase = NEW)"


def test_what_nobody_may_ask_for_is_no_refusal(engine: Engine) -> None:
    engine.submit(0)
    with pytest.raises(Misused, match="r0 was submitted already"):
        engine.submit(0)


def test_sizes_and_disciplines_are_checked() -> None:
    with pytest.raises(ValueError, match="blocks is 0, but must be at least 1"):
        Config(blocks=0, block_size=1, budget=1, seats=1)
    with pytest.raises(ValueError, match="device is 'random', but must be one of in_order, unordered"):
        Config(blocks=1, block_size=1, budget=1, seats=1, device="random")
    with pytest.raises(ValueError, match="2 head groups cannot be shared out to 3 workers"):
        Engine(Config(blocks=1, block_size=1, budget=1, seats=1, workers=3), Network())
    with pytest.raises(ValueError, match="the prompt is empty"):
        Submission((), 1)
    with pytest.raises(ValueError, match="limit is 0"):
        Submission((1,), 0)
