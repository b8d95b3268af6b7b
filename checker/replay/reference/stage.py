"""The engine set up for a world: its configuration, its network, and prompts with the ground truth of each request."""

from __future__ import annotations

import random
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache, lru_cache

from checker.verdict import Unusable
from engine_ref import Alone, Config, Engine, Network, Submission, alone
from engine_ref.config import VOCABULARY
from model.readings.world import World, plain

ENDS = {"retire_stop", "retire_late_stop"}
TRIES = 400  # draws of prompts until every request can end where the trace ends it
APART = 80  # of them, in which all tokens are to differ, so that no mistake is right by chance
WEIGHTS = 0  # the seed of the network


@dataclass(frozen=True)
class Stage:
    """A world made concrete. `truth[r]` is request r alone."""

    config: Config
    network: Network
    submissions: tuple[Submission, ...]
    truth: tuple[Alone, ...]

    def engine(self, off: Iterable[str] = ()) -> Engine:
        """A fresh engine with all the world's requests, none of them submitted yet."""
        made = Engine(self.config, self.network, off)
        for asked_for in self.submissions:
            made.add(asked_for)
        return made


def ends(events: Iterable[tuple[str, tuple[int, ...], int]]) -> dict[int, int]:
    """For each request that a run ends with STOP: which of its output tokens, from 0, is the stop token.

    `events` are a rule, its parameters, and how many tokens the request they are about had committed before.
    """
    return {at[0]: committed for rule, at, committed in events if rule in ENDS}


def set_up(world: World, stops: Mapping[int, int]) -> Stage:
    """The stage on which request r's output ends with its token number `stops[r]`, if the world ends it at all.

    The model chooses freely whether a token ends the text; a network does not. So the token that the request alone has at
    that place is made its stop token. Prompts are drawn until it stands nowhere before. Prompts of one family share their
    prefix and differ behind it. Unusable if no such prompts are found.
    """
    config = configuration(world)
    network = _network(max(2, config.workers))
    for seed in range(TRIES):
        asked_for = _draw(world, random.Random(seed))
        truth = tuple(_alone(network.groups, a, a.limit + config.depth + 1) for a in asked_for)
        if _fit(asked_for, truth, stops, apart=seed < APART):
            ended = tuple(
                replace(a, stop=frozenset({truth[r].tokens[stops[r]]})) if r in stops else a
                for r, a in enumerate(asked_for)
            )
            return Stage(config, network, ended, truth)
    raise Unusable(
        f"no prompts were found for which the network ends the requests of {world.name} where the trace ends them; "
        "lower limit, or replay on the model only."
    )


@cache
def _network(groups: int) -> Network:
    return Network(WEIGHTS, groups)


@lru_cache(maxsize=4096)
def _alone(groups: int, asked_for: Submission, length: int) -> Alone:
    """Many traces are of the same world, and begin with the same draws."""
    return alone(_network(groups), asked_for, length)


def configuration(world: World) -> Config:
    names = Config.__dataclass_fields__
    return Config(**{name: plain(value) for name, value in world.values.items() if name in names})


def _draw(world: World, chance: random.Random) -> tuple[Submission, ...]:
    """Random prompts of the world's lengths. A prompt that is only the shared prefix is sampled with a seed of its own."""
    v = world.values
    shared = v["prefix"] if v["sharing"] else 0
    prefixes = [_tokens(chance, shared) for _ in range(v["families"])]
    made = []
    for r in range(v["requests"]):
        prompt = (*prefixes[v["family"][r]], *_tokens(chance, v["prompt"][r] - shared))
        warm = 1.0 if len(prompt) == shared else 0.0
        made.append(Submission(prompt, v["limit"][r], temperature=warm, seed=r, family=v["family"][r]))
    return tuple(made)


def _tokens(chance: random.Random, count: int) -> tuple[int, ...]:
    return tuple(chance.randrange(1, VOCABULARY) for _ in range(count))


def _fit(asked_for: Sequence[Submission], truth: Sequence[Alone], stops: Mapping[int, int], apart: bool) -> bool:
    """Each request can end where it should; and, if `apart`, no two outputs have a token in common."""
    for r, n in stops.items():
        if n >= asked_for[r].limit or truth[r].tokens[n] in truth[r].tokens[:n]:
            return False
    if not apart:
        return True
    outputs = [t for a, alone_ in zip(asked_for, truth, strict=True) for t in alone_.tokens[: a.limit]]
    prompts = [t for a in asked_for for t in set(a.prompt)]
    own = [a.prompt for a in asked_for if a.temperature == 0]
    return len(set(outputs)) == len(outputs) and len(set(own)) == len(own) and not set(outputs) & set(prompts)
