"""Terms that several rules and properties share."""

from __future__ import annotations

from model.language.build import count, exists
from model.language.terms import Term
from model.lifecycle.dials import Block, LateResult, Request, Slot, block_size, blocks, late_result, prompt
from model.lifecycle.state import Entry, Lifecycle, Phase, life, reach


def known(s: Lifecycle, r: Request) -> Term:
    """Tokens of the request whose values are decided: its prompt and what is committed."""
    return prompt[r] + s.committed[r]


def held(s: Lifecycle, r: Request) -> Term:
    """Blocks in the request's block table."""
    return count(Block, lambda b: s.table[r, b] > 0)


def room(s: Lifecycle, r: Request) -> Term:
    """Tokens that fit into the blocks the request holds."""
    return held(s, r) * block_size


def fits(r: Request) -> Term:
    """Whether the request could ever be computed with the whole pool to itself."""
    return life(r) <= blocks * block_size


def running(s: Lifecycle, r: Request) -> Term:
    return s.phase[r] == Phase.RUNNING


def finished(s: Lifecycle, r: Request) -> Term:
    return s.phase[r] == Phase.FINISHED


def samples_next(s: Lifecycle, r: Request, tokens: Term) -> Term:
    """Whether computing this many more tokens reaches the end of what is known, so that a token is sampled."""
    return s.scheduled[r] + tokens == known(s, r) + s.owed[r]


def decoding(s: Lifecycle, r: Request) -> Term:
    """Whether the request's next token is an ordinary decode: it has output, and only the newest token lacks KV."""
    return (s.committed[r] + s.owed[r] > 0) & (s.scheduled[r] + 1 == known(s, r) + s.owed[r])


def needs_block(s: Lifecycle, r: Request) -> Term:
    """The request is running, and its blocks are full before its life is over."""
    return running(s, r) & (s.scheduled[r] + s.planned[r] == room(s, r)) & (room(s, r) < reach(r))


def short_of_memory(s: Lifecycle) -> Term:
    """No block is free, and some running request needs one to go on."""
    return ~exists(Block, lambda b: s.ref[b] == 0) & exists(Request, lambda q: needs_block(s, q))


def in_window(s: Lifecycle, i: Slot, r: Request) -> Term:
    """Whether the step in this place holds anything for the request."""
    return s.entry[i, r] != Entry.NONE


def due(s: Lifecycle, i: Slot, r: Request) -> Term:
    """Whether the step holds a token that will be committed although its residency has ended.

    The request is PREEMPTED then, because admission waits for what is due; a fault may let it run again.
    """
    return (
        (late_result == LateResult.COMMIT)
        & (s.entry[i, r] == Entry.STALE)
        & s.samples[i, r]
        & (s.phase[r] != Phase.FINISHED)
    )
