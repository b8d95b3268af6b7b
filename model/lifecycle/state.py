"""What is known of a serving engine at one moment, and the terms that several rules share.

Two counters are kept for progress. `computed` is settled: the tokens whose KV is valid because the step that
wrote them was retired. `scheduled` is optimistic: it also counts what is in flight. Real engines store the
optimistic one too, and lose or double tokens when the two are not brought together exactly once, so it is
stored here, where forgetting it can be seen.
"""

from __future__ import annotations

import enum

from model.language.build import count, exists
from model.language.state import State, field, flag, upto
from model.language.terms import Index, Term
from model.lifecycle.dials import (
    Block,
    Request,
    Slot,
    block_size,
    blocks,
    budget,
    depth,
    limit,
    prompt,
    requests,
)


class Actor(enum.Enum):
    """Whose step a rule is."""

    CLIENT = "the client"
    SCHEDULER = "the scheduler"
    WORKER = "the worker, which runs steps on the device"
    ENGINE = "the engine, which takes in the results of steps"
    MEMORY = "the block manager"


class Phase(enum.Enum):
    """Where a request is in its life."""

    NEW = "not submitted yet"
    WAITING = "accepted, in the queue, holding nothing"
    RUNNING = "admitted; may be given blocks and tokens"
    PREEMPTED = "its KV was taken away; it will be admitted again"
    FINISHED = "nothing will be computed for it any more"


class Reason(enum.Enum):
    """Why a request finished."""

    NONE = "not finished"
    STOP = "the model ended the text"
    LENGTH = "the output limit was reached"
    CANCELLED = "the client asked"
    REJECTED = "it can never fit"


class Status(enum.Enum):
    """The state of a step in the window."""

    EMPTY = "no step here"
    LAUNCHED = "handed to the device; nothing stops it any more"
    EXECUTED = "run; its results wait to be taken in"


class Entry(enum.Enum):
    """What a step in the window holds for a request.

    STALE is what an engine finds out by comparing residency numbers (epochs); that one bit is all it ever asks.
    """

    NONE = "nothing"
    LIVE = "work of the present residency"
    STALE = "work of a residency that has ended"


class Why(enum.Enum):
    """Why a request was preempted. Shown beside the event; no rule depends on it."""

    MEMORY = "no block was free and a running request needed one"
    CHOICE = "the scheduler's choice"


oldest = Slot.first()


def life(r: Request) -> Term:
    """Tokens whose KV the request can ever need: the last output token is never fed back."""
    return prompt[r] + limit[r] - 1


class Lifecycle(State):
    """The fields of the model. All but the first group are zero unless the request is RUNNING."""

    phase = field(Phase, Request, doc="where the request is in its life")
    reason = field(Reason, Request, doc="why it finished")
    asked = field(flag, Request, doc="a cancel is on its way")
    committed = field(upto(lambda r: limit[r]), Request, doc="output tokens decided")
    delivered = field(upto(lambda r: limit[r]), Request, doc="output tokens the client has taken")
    notified = field(upto(1), Request, doc="terminal messages sent")

    computed = field(upto(life), Request, doc="tokens whose KV is valid (settled)")
    scheduled = field(upto(life), Request, doc="tokens computed or in flight (optimistic)")
    owed = field(upto(depth), Request, doc="output tokens promised by steps in flight")
    planned = field(upto(budget), Request, doc="tokens chosen for the step being built")

    table = field(
        upto(blocks), Request, Block, doc="the block's position in the request's block table, from 1; 0 if not held"
    )
    ref = field(upto(requests), Block, doc="the engine's own reference count")

    status = field(Status, Slot, doc="the state of the step in this place of the window")
    entry = field(Entry, Slot, Request, doc="what the step holds for the request")
    tokens = field(upto(budget), Slot, Request, doc="tokens the step computes for the request")
    samples = field(flag, Slot, Request, doc="the step samples an output token for the request")


# ------------------------------------------------------------------------------------- shared terms
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
    """Whether what the request computes next is an ordinary decode: it has output, and only the newest token lacks KV."""
    return (s.committed[r] + s.owed[r] > 0) & (s.scheduled[r] + 1 == known(s, r) + s.owed[r])


def short_of_memory(s: Lifecycle) -> Term:
    """No block is free, and some running request needs one to go on."""
    free = exists(Block, lambda b: s.ref[b] == 0)
    needs = exists(
        Request, lambda q: running(s, q) & (s.scheduled[q] + s.planned[q] == room(s, q)) & (room(s, q) < life(q))
    )
    return ~free & needs


def in_window(s: Lifecycle, i: Slot, r: Index) -> Term:
    """Whether the step in this place holds anything for the request."""
    return s.entry[i, r] != Entry.NONE
