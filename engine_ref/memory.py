"""Paged KV memory: the pools of the workers, the block tables, the reference counts, and the names of cached blocks."""

from __future__ import annotations

import torch

from engine_ref.config import Config
from engine_ref.network import DIM, HEADS, LAYERS, Network, Tensor

FREE_ENTRY = -1  # in a block table: no block at this position

# What a cached block is called: (family, position) where only prefixes are cached, else the tokens up to its end.
Name = tuple[int, ...]


class Memory:
    """`pools[w]` is worker w's KV, [layers, 2, slots, groups, heads, dim]; slot = block * size + place in the block.

    Behind the last block there is one more, the null block: where a table has no block, steps write there and read it.
    `tables` is [requests, positions] of block numbers, `ref` the count of table entries for each block, as kept.
    """

    def __init__(self, config: Config, network: Network) -> None:
        self.size, self.blocks = config.block_size, config.blocks
        self.null = config.blocks
        shape = (LAYERS, 2, (config.blocks + 1) * self.size)
        shards = [network.shard(w, config.workers) for w in range(config.workers)]
        self.pools = [torch.zeros(*shape, s.stop - s.start, HEADS, DIM, dtype=torch.float64) for s in shards]
        self.tables = torch.full((0, config.blocks + 1), FREE_ENTRY)
        self.ref = torch.zeros(config.blocks, dtype=torch.int64)
        self.names: list[Name | None] = [None] * config.blocks

    def add_request(self) -> None:
        self.tables = torch.cat([self.tables, torch.full((1, self.tables.shape[1]), FREE_ENTRY)])

    def table(self, r: int) -> list[int]:
        """The request's blocks, in the order of their positions."""
        return [b for b in self.tables[r].tolist() if b != FREE_ENTRY]

    def append(self, r: int, b: int) -> None:
        held = len(self.table(r))
        if held == self.tables.shape[1]:
            self.tables = torch.cat([self.tables, torch.full((len(self.tables), 1), FREE_ENTRY)], 1)
        self.tables[r, held] = b

    def free(self) -> list[int]:
        """The blocks that the counts say nobody holds, those not cached first."""
        unused = [b for b, n in enumerate(self.ref.tolist()) if n == 0]
        return sorted(unused, key=lambda b: self.names[b] is not None)

    def slots(self, table: list[int], first: int, last: int) -> Tensor:
        """Where the KV of tokens first..last-1 lies, by this block table."""
        padded = [*table, *[self.null] * (last // self.size + 1)]
        return torch.tensor([padded[p // self.size] * self.size + p % self.size for p in range(first, last)])
