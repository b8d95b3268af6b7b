"""The dials of the request lifecycle: sizes, and the parts that a world switches on or off."""

from __future__ import annotations

from model.language.dials import number, number_per, switch
from model.language.terms import Index, Range

requests = number("requests", "how many requests there are", low=1)
blocks = number("blocks", "KV blocks in the pool", low=1)
block_size = number("block_size", "tokens in a KV block", low=1)
budget = number("budget", "token budget of one step", low=1)
seats = number("seats", "how many requests may run at once", low=1)
depth = number("depth", "how many steps may be in flight", low=1, default=1)

cancellation = switch("cancellation", "clients may cancel", default=True)
preemption = switch("preemption", "running requests may be preempted", default=True)
mixed = switch("mixed", "prefill and decode may share a step", default=True)


class Request(Index, size=requests):
    """A request, from submission to its terminal message. It keeps its identity through every preemption."""


class Block(Index, size=blocks):
    """A block of KV memory."""


class Slot(Index, size=depth, ordered=True):
    """A place in the window of in-flight steps. The first holds the oldest step."""


class Tokens(Range, low=1, high=budget):
    """How many tokens a step computes for one request."""


prompt = number_per("prompt", Request, "prompt tokens of the request", low=1)
limit = number_per("limit", Request, "the most output tokens the request may get", low=1)

DIALS = (
    requests,
    prompt,
    limit,
    blocks,
    block_size,
    budget,
    seats,
    depth,
    cancellation,
    preemption,
    mixed,
)
