"""Ground truth: a request by itself through the same network, without pages, batches, chunks or a cache."""

from __future__ import annotations

from dataclasses import dataclass

import torch

from engine_ref.config import Submission
from engine_ref.network import DIM, LAYERS, Network, Tensor, sample


@dataclass(frozen=True)
class Alone:
    """What a request gives alone: its output `tokens` with the `logits` they were sampled from, [n, V].

    `kv` is the KV of its whole text, [layers, 2, tokens, groups, heads, dim]. Stop tokens do not end it: an engine may plan
    past the end, and what it must find there is known too.
    """

    tokens: tuple[int, ...]
    logits: Tensor
    kv: Tensor


def alone(network: Network, asked: Submission, length: int | None = None) -> Alone:
    """Run a request alone for `length` output tokens (its limit if not given)."""
    text, logits = list(asked.prompt), []
    for _ in range(asked.limit if length is None else length):
        last = forward(network, text)[0][-1]
        logits.append(last)
        text.append(sample(last, asked.temperature, asked.seed, len(text)))
    kv = forward(network, text)[1]
    return Alone(tuple(text[len(asked.prompt) :]), torch.stack(logits), kv)


def forward(network: Network, text: list[int]) -> tuple[Tensor, Tensor]:
    """The logits of every position, [T, V], and the KV of the text: the whole square of attention at once."""
    every, size = slice(None), len(text)
    positions = torch.arange(size)
    x = network.embedding[:, torch.tensor(text)]
    hidden = torch.ones(size, size, dtype=torch.bool).triu(1)
    kept = []
    for layer in range(LAYERS):
        q, k, v = network.project(layer, x, positions, every)
        scores = torch.einsum("gthd,gchd->ghtc", q, k) / DIM**0.5
        weights = scores.masked_fill(hidden, float("-inf")).softmax(-1)
        x = network.mix(layer, x, torch.einsum("ghtc,gchd->gthd", weights, v), every)
        kept.append(torch.stack([k.transpose(0, 1), v.transpose(0, 1)]))
    return network.logits(x, every), torch.stack(kept)
