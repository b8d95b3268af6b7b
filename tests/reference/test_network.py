"""The network: what is served together is what is served alone, and what is served depends on the KV memory."""

from __future__ import annotations

import random
from dataclasses import replace

import pytest

from engine_ref import Config, Engine, Fcfs, Network, Submission, alone, generate
from engine_ref.config import VOCABULARY
from engine_ref.core import Reason
from engine_ref.network import TOLERANCE

SEEDS = 100
LENGTH = 16


def prompt(seed: int, length: int = 6) -> tuple[int, ...]:
    chance = random.Random(seed)
    return tuple(chance.randrange(1, VOCABULARY) for _ in range(length))


def solo(seed: int) -> Engine:
    """One request alone on the paged engine, in blocks of four."""
    engine = Engine(Config(blocks=8, block_size=4, budget=8, seats=1), Network(seed))
    engine.add(Submission(prompt(seed), LENGTH))
    engine.submit(0)
    return engine


def served(engine: Engine) -> list[int]:
    assert Fcfs(engine).run(rounds=200)
    return engine.requests[0].client.tokens


def altered(seed: int) -> list[int]:
    """The same, but when its fourth token is there, one KV slot that every later step reads is another request's."""
    engine = solo(seed)
    policy = Fcfs(engine)
    while len(engine.requests[0].committed) < 4:
        policy.round()
    slot = int(engine.memory.slots(engine.memory.table(0), 0, 6)[random.Random(seed).randrange(6)])
    other = alone(engine.network, Submission(prompt(seed + SEEDS), 1)).kv
    engine.memory.pools[0][:, :, slot] = other[:, :, random.Random(seed).randrange(6)]
    return served(engine)


@pytest.mark.slow
def test_one_altered_slot_changes_a_later_token() -> None:
    """Otherwise equal tokens would say nothing of the memory."""
    changed = [seed for seed in range(SEEDS) if altered(seed) != served(solo(seed))]
    assert len(changed) >= SEEDS // 2


@pytest.mark.slow
def test_outputs_are_of_many_tokens() -> None:
    varied = [
        seed for seed in range(SEEDS) if len(set(alone(Network(seed), Submission(prompt(seed), LENGTH)).tokens)) >= 5
    ]
    assert len(varied) >= SEEDS * 9 // 10


# ------------------------------------------------------------------------------- together and alone
SMALL = Config(blocks=8, block_size=4, budget=7, seats=3)
ENGINES = {
    "chunked, mixed and preempted": SMALL,
    "unmixed": replace(SMALL, mixed=False),
    "a window of three": replace(SMALL, depth=3),
    "two workers": replace(SMALL, depth=2, workers=2),
    "blocks returned at once": replace(SMALL, depth=2, release="ordered"),
    "late results committed": replace(SMALL, depth=3, late_result="commit"),
    "a second stream": replace(SMALL, depth=3, device="unordered"),
    "a shared prefix": replace(SMALL, sharing=True, prefix=4, blocks=7),
    "all cached, published when planned": replace(
        SMALL, sharing=True, prefix=4, cache="all", publish="ordered", depth=2, release="ordered"
    ),
}


def submissions(network: Network) -> list[Submission]:
    """Five prompts of different lengths with one beginning; some sampled with a seed; the last ends with a stop token."""
    shared = prompt(1, 4)
    made = [Submission((*shared, *prompt(10 + n, 2 + n)), 6 + n, temperature=n % 2 * 0.8, seed=n) for n in range(5)]
    third = alone(network, made[-1]).tokens[2]
    return [*made[:-1], replace(made[-1], stop=frozenset({third}))]


@pytest.mark.parametrize("name", ENGINES)
@pytest.mark.parametrize("hostile", [False, True], ids=["fair", "hostile"])
def test_served_together_as_alone(name: str, hostile: bool) -> None:
    network = Network(7)
    engine = Engine(ENGINES[name], network)
    asked_for = submissions(network)
    for asked in asked_for:
        engine.submit(engine.add(asked))
    assert Fcfs(engine, hostile=hostile).run(rounds=600)
    for q, asked in zip(engine.requests, asked_for, strict=True):
        truth = alone(network, asked)
        stop = next((n + 1 for n, t in enumerate(truth.tokens) if t in asked.stop), asked.limit)
        assert q.client.tokens == list(truth.tokens[:stop])
        assert [m.reason for m in q.client.messages] == [Reason.STOP if stop < asked.limit else Reason.LENGTH]
        apart = [float((mine - theirs).abs().max()) for mine, theirs in zip(q.logits, truth.logits, strict=False)]
        assert max(apart) < TOLERANCE
    assert engine.memory.ref.tolist() == [0] * ENGINES[name].blocks


def test_what_should_happen_in_these_engines_does() -> None:
    """Preemptions and recomputing, hits in the cache, and steps of prefill and decode together."""
    network = Network(7)
    seen: set[str] = set()
    for config in ENGINES.values():
        engine = Engine(config, network)
        for asked in submissions(network):
            engine.submit(engine.add(asked))
        policy = Fcfs(engine)
        while not policy.quiet:
            policy.round()
            seen |= {"hit" for n in engine.memory.ref.tolist() if n > 1}
            seen |= {"mixed" for s in engine.window if len({w.tokens > 1 for w in s.work.values()}) > 1}
        seen |= {"recomputed" for q in engine.requests if q.recomputed and q.admissions > 1}
    assert seen == {"hit", "mixed", "recomputed"}


def test_generate_serves_a_batch() -> None:
    network = Network(3)
    prompts = [prompt(n, 3 + n) for n in range(4)]
    outputs = generate(prompts, limit=9, network=network)
    assert outputs == [list(alone(network, Submission(p, 9)).tokens) for p in prompts]


def test_generate_refuses_what_cannot_fit() -> None:
    with pytest.raises(ValueError, match="prompt 0 and its output need 21 tokens of KV, more than the pool has"):
        generate([prompt(1)], limit=16, config=replace(SMALL, blocks=5))


def test_a_seeded_position_is_sampled_alike_again() -> None:
    network = Network(5)
    asked = Submission(prompt(2), 8, temperature=1.0, seed=4)
    assert alone(network, asked).tokens == alone(network, asked).tokens
    assert alone(network, asked).tokens != alone(network, replace(asked, seed=5)).tokens
