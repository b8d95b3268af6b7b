"""The window of launched steps. What a step will do is fixed at its launch; it is done to the memory when it executes."""

from __future__ import annotations

from dataclasses import dataclass, field

import torch

from engine_ref.config import PADDING
from engine_ref.network import Batch, Span, Tensor


@dataclass
class Work:
    """A request's part of a step: `tokens` tokens of its text, from position `start` on.

    `end` is the position behind them, whose token it samples if it `samples`. `epoch` says for which residency it was
    launched. `known` are the values of its tokens, as far as they were decided at the launch; what follows are
    placeholders, for what the work in `sources` will have sampled. `slots` is where the KV of its tokens goes, `context`
    all that it reads, `blocks` the beginning of the block table that both are made from.
    """

    epoch: int
    start: int
    tokens: int
    end: int
    samples: bool
    known: tuple[int, ...]
    sources: tuple[Work | None, ...]
    blocks: tuple[int, ...]
    slots: Tensor
    context: Tensor
    token: int | None = None
    logits: Tensor = None

    def inputs(self) -> list[int]:
        """The values of its tokens as they are now; padding where what should have been sampled was not."""
        placeholders = [PADDING if s is None or s.token is None else s.token for s in self.sources]
        return [*self.known, *placeholders]


@dataclass
class Step:
    """A launched step: `launched` is what the device was given, which nothing changes any more.

    `work` are the results that are still to be taken in. `ran` are the workers that have run it, `logits` what they gave,
    added up, [T, V].
    """

    launched: dict[int, Work] = field(default_factory=dict)
    work: dict[int, Work] = field(init=False)
    ran: set[int] = field(default_factory=set)
    logits: Tensor = None
    executed: bool = False

    def __post_init__(self) -> None:
        self.work = dict(self.launched)

    def batch(self) -> Batch:
        """What the device is given: all requests' tokens one after another."""
        tokens: list[int] = []
        positions: list[int] = []
        spans: list[Span] = []
        for work in self.launched.values():
            spans.append(Span(len(tokens), len(tokens) + work.tokens, work.context))
            tokens += work.inputs()
            positions += range(work.start, work.start + work.tokens)
        slots = torch.cat([w.slots for w in self.launched.values()])
        return Batch(torch.tensor(tokens), torch.tensor(positions), slots, tuple(spans))

    def last_rows(self) -> dict[int, int]:
        """The row of the batch that holds each request's last token."""
        rows, end = {}, 0
        for r, work in self.launched.items():
            end += work.tokens
            rows[r] = end - 1
        return rows
