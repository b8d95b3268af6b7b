"""The ghost memory: what KV the blocks really hold, written when steps execute and by nothing else.

A block's content is a text and how many of its first slots hold the KV of that text. A step first makes all its
writes, also those of stale entries (nothing stops a kernel), and then reads.
"""

from __future__ import annotations

from model.language.build import count, exists, ite, total
from model.language.rules import every
from model.language.terms import Term, lift
from model.lifecycle.dials import Block, Request, Slot, Worker, block_size, family
from model.lifecycle.sharing import in_prefix, is_published
from model.lifecycle.state import Lifecycle, Phase
from model.lifecycle.terms import due


def least(a: Term, b: Term) -> Term:
    return ite(a <= b, a, b)


def most(a: Term, b: Term) -> Term:
    return ite(a >= b, a, b)


def holds_text(s: Lifecycle, b: Block, w: Worker, r: Request, position: Term) -> Term:
    """Whether the block really holds (some of) the text at this position of the request."""
    shared = (s.text_prefix[b, w] == position) & (s.text_family[b, w] == family[r])
    return ite(in_prefix(position), shared, s.text_own[r, b, w] == position)


def holds_enough(s: Lifecycle, b: Block, w: Worker, r: Request, position: Term, tokens: Term) -> Term:
    """Whether the block really holds all of the request's first `tokens` tokens that fall into it at this position."""
    wanted = least(block_size, tokens - (position - 1) * block_size)
    return (wanted <= 0) | (holds_text(s, b, w, r, position) & (s.valid[b, w] >= wanted))


class Span:
    """What the step in a slot writes for one request into one block: slots from `low` up to before `high`."""

    def __init__(self, s: Lifecycle, i: Slot, r: Request, b: Block) -> None:
        self.s, self.r, self.b = s, r, b
        self.position = s.uses[i, r, b]
        offset = (self.position - 1) * block_size
        self.low = most(s.start[i, r] - offset, lift(0))
        self.high = least(s.start[i, r] + s.tokens[i, r] - offset, block_size)

    @property
    def happens(self) -> Term:
        return (self.position > 0) & (self.low < self.high)


class Write(Span):
    """What comes of that on a worker, whose block may hold anything."""

    def __init__(self, s: Lifecycle, i: Slot, w: Worker, r: Request, b: Block) -> None:
        super().__init__(s, i, r, b)
        self.w = w

    @property
    def extends(self) -> Term:
        """It goes on with the very text that is there, without a gap."""
        return holds_text(self.s, self.b, self.w, self.r, self.position) & (self.s.valid[self.b, self.w] >= self.low)

    @property
    def begins(self) -> Term:
        """It writes the block from its first slot on, over whatever was there."""
        return ~self.extends & (self.low == 0)

    @property
    def valid(self) -> Term:
        """How many first slots are good afterwards. Writing into the middle of another text spoils it from there."""
        now = self.s.valid[self.b, self.w]
        return ite(self.extends, most(now, self.high), ite(self.low == 0, self.high, least(now, self.low)))


def write_memory(now: Lifecycle, after: Lifecycle, i: Slot, w: Worker) -> None:
    """All writes of the step. Two requests that write one block leave nothing that either could read."""
    for b in every(Block):
        _write_block(now, after, i, w, b)


def _write_block(now: Lifecycle, after: Lifecycle, i: Slot, w: Worker, b: Block) -> None:
    writers = count(Request, lambda q: Write(now, i, w, q, b).happens)
    begins = exists(Request, lambda q: _begins(now, i, w, q, b))

    def text(kept: Term, begun: Term) -> Term:
        return ite(writers > 1, 0, ite(begins, begun, kept))

    position = total(Request, lambda q: ite(_begins_prefix(now, i, w, q, b), now.uses[i, q, b], 0))
    whose = total(Request, lambda q: ite(_begins_prefix(now, i, w, q, b), family[q], 0))
    valid = total(Request, lambda q: ite(Write(now, i, w, q, b).happens, Write(now, i, w, q, b).valid, 0))
    after.text_prefix[b, w] = text(now.text_prefix[b, w], position)
    after.text_family[b, w] = text(now.text_family[b, w], whose)
    after.valid[b, w] = ite(writers > 1, 0, ite(writers == 1, valid, now.valid[b, w]))
    for q in every(Request):
        own = _begins(now, i, w, q, b) & ~in_prefix(now.uses[i, q, b])
        after.text_own[q, b, w] = text(now.text_own[q, b, w], ite(own, now.uses[i, q, b], 0))


def _begins(now: Lifecycle, i: Slot, w: Worker, q: Request, b: Block) -> Term:
    write = Write(now, i, w, q, b)
    return write.happens & write.begins


def _begins_prefix(now: Lifecycle, i: Slot, w: Worker, q: Request, b: Block) -> Term:
    return _begins(now, i, w, q, b) & in_prefix(now.uses[i, q, b])


def remembered(s: Lifecycle, b: Block, w: Worker) -> Term:
    """Whether anybody may still read what the block holds: a hit, a running holder whose text it is, or a due result."""

    def reads(r: Request) -> Term:
        holds = (s.phase[r] == Phase.RUNNING) & (s.table[r, b] > 0) & holds_text(s, b, w, r, s.table[r, b])
        return holds | exists(Slot, lambda i: due(s, i, r) & (s.uses[i, r, b] > 0))

    return is_published(s, b) | exists(Request, reads)
