"""What a block will hold for a request once the launched steps that use it have run.

A step whose residency has ended may still bring a token that is due. The block table knows it no more, and the counters
of the request are gone. But what a step will find is settled when it is launched: by what the steps launched before it
use and write. So all of this is said by the launched steps alone, and is the same for live work, due and stale. Which
residency a step belongs to is not asked: an older one that happens to use the same block at the same position does as
well, since it writes the same text there.

The next step launched is the next to read. So twice there is a pair: of what a launched step will find, and of what the
request's next step would find.
"""

from __future__ import annotations

from model.language import Term, exists, forall, implies, prop
from model.lifecycle.content import holds_enough
from model.lifecycle.dials import Block, Request, Slot, Worker, block_size
from model.lifecycle.state import Lifecycle
from specs.auxiliary.content import IN_ORDER, UNORDERED
from specs.properties.memory import holds_text_so_far


def writes(s: Lifecycle, k: Slot, q: Request, b: Block) -> Term:
    """The launched step writes the block for the request: it uses it, and starts before the block's end."""
    return (s.uses[k, q, b] > 0) & (s.start[k, q] < s.uses[k, q, b] * block_size)


def goes_on(s: Lifecycle, k: Slot, q: Request, r: Request, b: Block, position: Term, tokens: Term) -> Term:
    """A step that writes the block for q goes on with the text of r there, up to these tokens or the block's end."""
    end = s.start[k, r] + s.tokens[k, r]
    return (q == r) & (s.uses[k, r, b] == position) & ((end >= tokens) | (end >= position * block_size))


@prop(
    needs=IN_ORDER | UNORDERED,
    reason="auxiliary pending.written-last-by-itself needs it: what a step uses and starts in, it writes.",
)
def uses_up_to_its_end(s: Lifecycle) -> Term:
    """A step uses no block for a request that lies behind its last token."""

    def reached(i: Slot, r: Request, b: Block) -> Term:
        return (s.uses[i, r, b] == 0) | ((s.uses[i, r, b] - 1) * block_size < s.start[i, r] + s.tokens[i, r])

    return forall(Slot, lambda i: forall(Request, lambda r: forall(Block, lambda b: reached(i, r, b))))


@prop(
    needs=IN_ORDER | UNORDERED,
    reason="auxiliary pending.reads-its-text needs it: who writes what another reads leaves another text.",
)
def writes_alone(s: Lifecycle) -> Term:
    """No step writes for one request a block that it uses for another."""

    def alone(i: Slot, q: Request, r: Request, b: Block) -> Term:
        return (q == r) | (s.uses[i, r, b] == 0) | ~writes(s, i, q, b)

    return forall(
        Slot, lambda i: forall(Request, lambda q: forall(Request, lambda r: forall(Block, lambda b: alone(i, q, r, b))))
    )


@prop(
    needs=IN_ORDER | UNORDERED,
    reason="auxiliary pending.reads-its-text needs it: what was written last is what is there.",
)
def written_last_by_itself(s: Lifecycle) -> Term:
    """Who writes what a later step uses for a request goes on with its text, or a step between uses it for that request."""

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


@prop(
    needs=IN_ORDER | UNORDERED,
    reason="memory.reads-own-text needs it: when a residency has ended, only its launched steps say what they will read.",
)
def reads_its_text(s: Lifecycle) -> Term:
    """What a launched step uses holds the request's text up to where it starts, unless an older one that uses it has not run."""

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


@prop(
    needs=IN_ORDER | UNORDERED,
    reason="auxiliary pending.written-last-by-itself needs it: the next step launched is the next to read.",
)
def next_written_last_by_itself(s: Lifecycle) -> Term:
    """Who writes a request's block goes on with its text, or a later step uses it for that request."""

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


@prop(
    needs=IN_ORDER | UNORDERED,
    reason="auxiliary pending.reads-its-text needs it: the next step launched is the next to read.",
)
def next_reads_its_text(s: Lifecycle) -> Term:
    """A request's blocks hold what is scheduled of it, unless a launched step that uses them for it has not run."""

    def found(r: Request, b: Block, w: Worker) -> Term:
        return holds_text_so_far(s, r, b, w, s.scheduled[r]) | exists(
            Slot, lambda k: ~s.ran[k, w] & (s.uses[k, r, b] == s.table[r, b])
        )

    return forall(Request, lambda r: forall(Block, lambda b: forall(Worker, lambda w: found(r, b, w))))
