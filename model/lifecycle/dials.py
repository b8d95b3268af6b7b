"""The dials of the request lifecycle: sizes, what is switched on, and the disciplines in which engines differ.

A discipline is no bug. An engine that frees blocks at once and trusts the order of its device is right as long as
there is that order, and a verdict names the dials it rests on.
"""

from __future__ import annotations

import enum

from model.language.build import forall
from model.language.dials import choice, number, number_per, switch
from model.language.model import Requirement
from model.language.terms import Index, Range

requests = number("requests", "how many requests there are", low=1)
blocks = number("blocks", "KV blocks in the pool", low=1)
block_size = number("block_size", "tokens in a KV block", low=1)
budget = number("budget", "token budget of one step", low=1)
seats = number("seats", "how many requests may run at once", low=1)
depth = number("depth", "how many steps may be in flight", low=1, default=1)

workers = number("workers", "workers that run each step, each in its own time", low=1, default=1)

cancellation = switch("cancellation", "clients may cancel", default=True)
preemption = switch("preemption", "running requests may be preempted", default=True)
mixed = switch("mixed", "prefill and decode may share a step", default=True)


class Release(enum.Enum):
    """When blocks go back to the pool."""

    FENCED = "after every launched step that uses them has executed"
    ORDERED = "at once; the order of the device keeps old writes before new ones"


class Device(enum.Enum):
    """In which order launched steps execute."""

    IN_ORDER = "as launched (one stream)"
    UNORDERED = "in any order that keeps each request's own steps in order (several streams)"


class Publish(enum.Enum):
    """When a block of the prefix becomes visible to others."""

    COMPUTED = "when its tokens are settled"
    ORDERED = "when its tokens are planned; the order of the device writes it before it is read"


class LateResult(enum.Enum):
    """What happens to a token whose request was preempted while the step was in flight."""

    DROP = "it is dropped, and sampled again"
    COMMIT = "it is committed; admission waits for it"


class Cache(enum.Enum):
    """What may be published."""

    PREFIX = "the shared prefix"
    ALL = "every full block of a request, its own prompt and output too"


sharing = switch("sharing", "requests share the KV blocks of a common prefix", default=False)
release = choice("release", "when blocks return to the pool", default=Release.FENCED)
device = choice("device", "in which order steps execute", default=Device.IN_ORDER)
publish = choice("publish", "when a prefix becomes visible", default=Publish.COMPUTED, needs=sharing)
late_result = choice("late_result", "what becomes of a result that arrives after a preemption", default=LateResult.DROP)
cache = choice("cache", "what may be published", default=Cache.PREFIX, needs=sharing)
overrun = switch("overrun", "a step may be planned past a request's last token, its result thrown away", default=False)
families = number("families", "how many different prefixes there are", low=1, default=1, needs=sharing)
prefix = number("prefix", "tokens of the prefix that the requests of a family share", low=0, default=0, needs=sharing)


class Request(Index, size=requests):
    """A request, from submission to its terminal message. It keeps its identity through every preemption."""


class Block(Index, size=blocks):
    """A block of KV memory."""


class Slot(Index, size=depth, ordered=True):
    """A place in the window of in-flight steps. The first holds the oldest step."""


class Worker(Index, size=workers):
    """One of the workers that hold a shard of the model, and run every step."""


class Tokens(Range, low=1, high=budget):
    """How many tokens a step computes for one request."""


prompt = number_per("prompt", Request, "prompt tokens of the request", low=1)
limit = number_per("limit", Request, "the most output tokens the request may get", low=1)
family = number_per("family", Request, "which prefix the request begins with, from 0", default=0, needs=sharing)

# The ghost memory exists where a discipline makes it matter what a block really holds.
memory_matters = (
    (release == Release.ORDERED) | (publish == Publish.ORDERED) | (device == Device.UNORDERED) | (workers > 1)
)

DIALS = (
    requests,
    prompt,
    limit,
    blocks,
    block_size,
    budget,
    seats,
    depth,
    workers,
    cancellation,
    preemption,
    mixed,
    sharing,
    prefix,
    families,
    family,
    release,
    device,
    publish,
    late_result,
    cache,
    overrun,
)

REQUIREMENTS = (
    Requirement(
        forall(Request, lambda r: ~sharing | (prefix <= prompt[r])),
        "prefix is longer than a prompt; the shared prefix is at most every prompt",
    ),
    Requirement(
        forall(Request, lambda r: family[r] < families),
        "family names a prefix that does not exist; families are numbered from 0 to families - 1",
    ),
    Requirement(
        sharing | (publish == Publish.COMPUTED),
        "publish is ordered, but sharing is off, so nothing is published; switch sharing on",
    ),
    Requirement(
        sharing | (cache == Cache.PREFIX),
        "cache is all, but sharing is off, so nothing is cached; switch sharing on",
    ),
)
