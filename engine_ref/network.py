"""The network: a small decoder-only transformer with seeded weights, and its step over paged KV memory.

The heads come in groups, each with its own residual stream, and their logits are added at the end. So a worker that holds
some groups can run a step in its own time. (Tensor-parallel networks exchange after every layer; that would only restrict
in which order workers may run.) Numbers are float64: batched and alone, logits differ by rounding of about 1e-12.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import torch

from engine_ref.config import LONGEST, PADDING, VOCABULARY

LAYERS = 3
HEADS = 2  # in a group
DIM = 8  # of a head
WIDTH = HEADS * DIM
TOLERANCE = 1e-8  # of logits and KV, against the same request alone; what is overwritten differs by about 1

Tensor = Any  # torch is an optional dependency, and its types are not checked


@dataclass(frozen=True)
class Span:
    """A request's part of a step: its rows in the batch, and the KV slots of all its tokens up to its last row."""

    first: int
    last: int
    context: Tensor


@dataclass(frozen=True)
class Batch:
    """The tokens of a step, all requests one after another: shapes [T]. `slots` is where each token's KV goes."""

    tokens: Tensor
    positions: Tensor
    slots: Tensor
    spans: tuple[Span, ...]


class Network:
    """Weights of `groups` head groups, drawn from `seed`. Nothing in it changes after construction."""

    def __init__(self, seed: int = 0, groups: int = 2) -> None:
        torch.set_num_threads(1)  # for repeatable sums; the tensors are too small to share out
        self.groups = groups
        angles = torch.arange(LONGEST)[:, None, None] * 10.0 ** -torch.arange(DIM // 2, dtype=torch.float64)
        self.cos, self.sin = angles.cos(), angles.sin()
        draw = torch.Generator().manual_seed(seed)

        def weights(*shape: int, gain: float = 1.0) -> Tensor:
            made = torch.randn(*shape, generator=draw, dtype=torch.float64)
            return made * (gain / shape[-2] ** 0.5)

        self.embedding = weights(groups, VOCABULARY, WIDTH, gain=VOCABULARY**0.5)
        self.qkv = [weights(groups, WIDTH, 3 * WIDTH, gain=3.0) for _ in range(LAYERS)]
        self.out = [weights(groups, WIDTH, WIDTH, gain=2.0) for _ in range(LAYERS)]
        self.up = [weights(groups, WIDTH, 2 * WIDTH) for _ in range(LAYERS)]
        self.down = [weights(groups, 2 * WIDTH, WIDTH) for _ in range(LAYERS)]
        self.head = weights(groups, WIDTH, VOCABULARY)
        self.head[..., PADDING] = 0.0

    def shard(self, worker: int, workers: int) -> slice:
        """The head groups that a worker holds."""
        each = self.groups // workers
        return slice(worker * each, (worker + 1) * each)

    def step(self, batch: Batch, pool: Tensor, shard: slice) -> Tensor:
        """Run a batch for some head groups on their KV pool; the logits of every row that those groups give, [T, V].

        `pool` has the shape [layers, 2, slots, groups, heads, dim]. In every layer all writes come before all reads.
        """
        x = self.embedding[shard][:, batch.tokens]
        for layer in range(LAYERS):
            q, k, v = self.project(layer, x, batch.positions, shard)
            pool[layer, 0, batch.slots] = k.transpose(0, 1)
            pool[layer, 1, batch.slots] = v.transpose(0, 1)
            mixed = torch.cat([_read(q, pool[layer], span, batch.positions) for span in batch.spans], dim=1)
            x = self.mix(layer, x, mixed, shard)
        return self.logits(x, shard)

    # ------------------------------------------------------------------------- what alone.py uses too
    def project(self, layer: int, x: Tensor, positions: Tensor, shard: slice) -> tuple[Tensor, Tensor, Tensor]:
        """Queries, keys and values of the rows, [G, T, heads, dim], rotated to their positions."""
        rows = (normal(x) @ self.qkv[layer][shard]).unflatten(-1, (3, HEADS, DIM))
        q, k, v = rows.unbind(-3)
        cos, sin = self.cos[positions], self.sin[positions]
        return rotate(q, cos, sin), rotate(k, cos, sin), v

    def mix(self, layer: int, x: Tensor, attended: Tensor, shard: slice) -> Tensor:
        """The residual stream after a layer, given what its attention read, [G, T, heads, dim]."""
        x = x + attended.flatten(-2) @ self.out[layer][shard]
        return x + torch.tanh(normal(x) @ self.up[layer][shard]) @ self.down[layer][shard]

    def logits(self, x: Tensor, shard: slice) -> Tensor:
        return (normal(x) @ self.head[shard]).sum(0)


def _read(q: Tensor, kv: Tensor, span: Span, positions: Tensor) -> Tensor:
    """Attention of one request's rows over its context, as the KV memory is now."""
    keys, values = kv[0, span.context], kv[1, span.context]
    rows = q[:, span.first : span.last]
    scores = torch.einsum("gthd,cghd->ghtc", rows, keys) / DIM**0.5
    later = torch.arange(len(span.context)) > positions[span.first : span.last, None]
    weights = scores.masked_fill(later, float("-inf")).softmax(-1)
    return torch.einsum("ghtc,cghd->gthd", weights, values)


def normal(x: Tensor) -> Tensor:
    return x / (x.square().mean(-1, keepdim=True) + 1e-6).sqrt()


def rotate(x: Tensor, cos: Tensor, sin: Tensor) -> Tensor:
    """Rotary positions: each pair of numbers of a head is turned by an angle that grows with the position."""
    a, b = x.chunk(2, -1)
    return torch.cat([a * cos - b * sin, a * sin + b * cos], -1)


def sample(logits: Tensor, temperature: float, seed: int, position: int) -> int:
    """The next token: the likeliest, or one drawn by the seed and the position and by nothing else."""
    logits = logits.clone()
    logits[PADDING] = float("-inf")
    if temperature == 0:
        return int(logits.argmax())
    draw = torch.Generator().manual_seed(seed * 1_000_003 + position)
    noise = -torch.empty(VOCABULARY, dtype=torch.float64).exponential_(generator=draw).log()
    return int((logits / temperature + noise).argmax())
