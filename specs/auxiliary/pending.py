"""What a block will hold for a request once the steps in flight that write it have run.

A due result is read by a step whose residency has ended: the block table knows it no more, and the counters of the
request are gone. What such a step will find is said by the launched steps alone: what they use, and what they write.
That is the same for all of them, live, due or stale, since nothing changes what a launched step does.
"""

from __future__ import annotations

from model.language import Term, exists, forall, implies, prop
from model.lifecycle.content import holds_enough
from model.lifecycle.dials import Block, Request, Slot, Worker, block_size
from model.lifecycle.state import Lifecycle
from specs.auxiliary.content import COMPUTED
from specs.properties.memory import holds_text_so_far

def writes(s: Lifecycle, k: Slot, q: Request, b: Block) -> Term:
    """The launched step writes the block for the request: it uses it, and starts before the block's end."""
    return (s.uses[k, q, b] > 0) & (s.start[k, q] < s.uses[k, q, b] * block_size)


def goes_on(s: Lifecycle, k: Slot, q: Request, r: Request, b: Block, position: Term, tokens: Term) -> Term:
    """The step k, which writes the block for q, leaves there the request's first `tokens` tokens, if it found those before."""
    end = s.start[k, r] + s.tokens[k, r]
    return (q == r) & (s.uses[k, r, b] == position) & ((end >= tokens) | (end >= position * block_size))


@prop(needs=COMPUTED, reason="auxiliary pending.written-last-by-itself needs it: what a step uses and starts in, it writes.")
def uses_up_to_its_end(s: Lifecycle) -> Term:
    """A step uses no block for a request that lies behind its last token."""

    def reached(i: Slot, r: Request, b: Block) -> Term:
        return (s.uses[i, r, b] == 0) | ((s.uses[i, r, b] - 1) * block_size < s.start[i, r] + s.tokens[i, r])

    return forall(Slot, lambda i: forall(Request, lambda r: forall(Block, lambda b: reached(i, r, b))))


@prop(needs=COMPUTED, reason="auxiliary pending.reads-its-text needs it: who writes what another reads leaves another text.")
def writes_alone(s: Lifecycle) -> Term:
    """No step writes for one request a block that it uses for another."""

    def alone(i: Slot, q: Request, r: Request, b: Block) -> Term:
        return (q == r) | (s.uses[i, r, b] == 0) | ~writes(s, i, q, b)

    return forall(
        Slot, lambda i: forall(Request, lambda q: forall(Request, lambda r: forall(Block, lambda b: alone(i, q, r, b))))
    )


@prop(needs=COMPUTED, reason="auxiliary pending.reads-its-text needs it: so is what is launched last before a step reads it.")
def written_last_by_itself(s: Lifecycle) -> Term:
    """Of the steps that write what a later one uses for a request, the last goes on with the request's text."""

    def last(k: Slot, i: Slot, r: Request, b: Block) -> Term:
        position = s.uses[i, r, b]
        return implies(
            (position > 0) & (s.start[i, r] > (position - 1) * block_size),
            exists(Slot, lambda j: (j > k) & (j < i) & (s.uses[j, r, b] == position))
            | forall(
                Request,
                lambda q: implies(writes(s, k, q, b), goes_on(s, k, q, r, b, position, s.start[i, r])),
            ),
        )

    return forall(
        Slot,
        lambda k: forall(
            Slot,
            lambda i: (k >= i) | forall(Request, lambda r: forall(Block, lambda b: last(k, i, r, b))),
        ),
    )


@prop(needs=COMPUTED, reason="memory.reads-own-text needs it: a due result is read when its residency has ended.")
def reads_its_text(s: Lifecycle) -> Term:
    """What a worker's step uses holds the request's text so far, or will when the request's own older steps have run."""

    def found(i: Slot, w: Worker, r: Request, b: Block) -> Term:
        position = s.uses[i, r, b]
        return implies(
            (position > 0) & ~s.ran[i, w],
            holds_enough(s, b, w, r, position, s.start[i, r])
            | exists(Slot, lambda k: (k < i) & ~s.ran[k, w] & (s.uses[k, r, b] == position)),
        )

    return forall(
        Slot, lambda i: forall(Worker, lambda w: forall(Request, lambda r: forall(Block, lambda b: found(i, w, r, b))))
    )


@prop(needs=COMPUTED, reason="auxiliary pending.written-last-by-itself needs it: the next step launched is the next to read.")
def next_written_last_by_itself(s: Lifecycle) -> Term:
    """Of the launched steps that write a request's block, the last goes on with the request's text."""

    def last(k: Slot, r: Request, b: Block) -> Term:
        position = s.table[r, b]
        return implies(
            (position > 0) & (s.scheduled[r] > (position - 1) * block_size),
            exists(Slot, lambda j: (j > k) & (s.uses[j, r, b] == position))
            | forall(
                Request,
                lambda q: implies(writes(s, k, q, b), goes_on(s, k, q, r, b, position, s.scheduled[r])),
            ),
        )

    return forall(Slot, lambda k: forall(Request, lambda r: forall(Block, lambda b: last(k, r, b))))


@prop(needs=COMPUTED, reason="auxiliary pending.reads-its-text needs it: the next step launched is the next to read.")
def next_reads_its_text(s: Lifecycle) -> Term:
    """A request's blocks hold what is scheduled of it, or will when its launched steps have run."""

    def found(r: Request, b: Block, w: Worker) -> Term:
        return holds_text_so_far(s, r, b, w, s.scheduled[r]) | exists(
            Slot, lambda k: ~s.ran[k, w] & (s.uses[k, r, b] == s.table[r, b])
        )

    return forall(Request, lambda r: forall(Block, lambda b: forall(Worker, lambda w: found(r, b, w))))
