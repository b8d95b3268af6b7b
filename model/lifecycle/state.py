"""What is known of a serving engine at one moment.

Two counters are kept for progress. `computed` is settled: the tokens whose KV is valid because the step that
wrote them was retired. `scheduled` is optimistic: it also counts what is in flight. Real engines store the
optimistic one too, and lose or double tokens when the two are not brought together exactly once, so it is
stored here, where forgetting it can be seen.

What the engine believes of memory (`computed`, `published`) and what is true of it (`text_*`, `valid`: a ghost that
no rule's guard reads) are different fields, so that a belief can turn out wrong.
"""

from __future__ import annotations

import enum

from model.language.build import ite
from model.language.state import State, field, flag, upto
from model.language.terms import Term
from model.lifecycle.dials import (
    Block,
    Cache,
    LateResult,
    Request,
    Slot,
    Worker,
    block_size,
    blocks,
    budget,
    cache,
    depth,
    families,
    late_result,
    limit,
    memory_matters,
    overrun,
    prompt,
    requests,
    sharing,
    workers,
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


def reach(r: Request) -> Term:
    """Tokens that may be scheduled for the request: its life and, with overrun, what is planned past its end."""
    return life(r) + ite(overrun, depth, 0)


class Lifecycle(State):
    """The fields of the model. Those on progress are zero unless the request is RUNNING."""

    phase = field(Phase, Request, doc="where the request is in its life")
    reason = field(Reason, Request, doc="why it finished")
    asked = field(flag, Request, doc="a cancel is on its way")
    committed = field(upto(lambda r: limit[r]), Request, doc="output tokens decided")
    delivered = field(upto(lambda r: limit[r]), Request, doc="output tokens the client has taken")
    notified = field(upto(1), Request, doc="terminal messages sent")

    computed = field(upto(reach), Request, doc="tokens whose KV is valid (settled)")
    scheduled = field(upto(reach), Request, doc="tokens computed or in flight (optimistic)")
    owed = field(upto(depth), Request, doc="output tokens promised by steps in flight")
    planned = field(upto(budget), Request, doc="tokens chosen for the step being built")

    table = field(
        upto(blocks), Request, Block, doc="the block's position in the request's block table, from 1; 0 if not held"
    )
    ref = field(upto(requests), Block, doc="the engine's own reference count")
    published = field(
        upto(blocks), Block, needs=sharing, doc="the position in its prefix that the block is published as; 0 if not"
    )
    published_family = field(
        upto(families - 1), Block, needs=sharing & (families > 1), doc="the family whose prefix that is"
    )
    published_own = field(
        upto(blocks),
        Request,
        Block,
        needs=cache == Cache.ALL,
        doc="the position in the request's own text (behind the prefix) that the block is published as; 0 if not",
    )

    status = field(Status, Slot, doc="the state of the step in this place of the window")
    entry = field(Entry, Slot, Request, doc="what the step holds for the request")
    tokens = field(upto(budget), Slot, Request, doc="tokens the step computes for the request")
    samples = field(flag, Slot, Request, doc="the step samples an output token for the request")
    start = field(
        upto(lambda i, r: reach(r)),
        Slot,
        Request,
        needs=memory_matters | (late_result == LateResult.COMMIT),
        doc="the request's scheduled tokens when the step was launched",
    )
    uses = field(
        upto(blocks), Slot, Request, Block, needs=memory_matters, doc="the block's position in the table when launched"
    )
    ran = field(flag, Slot, Worker, needs=workers > 1, doc="the worker has run the step, and others have not yet")

    text_prefix = field(
        upto(blocks),
        Block,
        Worker,
        needs=memory_matters & sharing,
        doc="ghost: the position in the shared prefix whose KV the block really holds; 0 if none",
    )
    text_family = field(
        upto(families - 1),
        Block,
        Worker,
        needs=memory_matters & sharing & (families > 1),
        doc="ghost: the family whose prefix that is",
    )
    text_own = field(
        upto(blocks),
        Request,
        Block,
        Worker,
        needs=memory_matters,
        doc="ghost: the position in the request's own text whose KV the block really holds; 0 if none",
    )
    valid = field(
        upto(block_size),
        Block,
        Worker,
        needs=memory_matters,
        doc="ghost: how many of the block's first slots hold that KV",
    )
