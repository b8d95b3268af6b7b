"""The model that search tools were compared on, in our language: benchmarks/peers/MODEL.md rule by rule.

It is smaller than ours (one step in flight, preemptions counted and bounded) and has nothing to do with model/lifecycle:
its published counts and its expert's Promela (peers/lifecycle.pml) are what it is for.
"""

from __future__ import annotations

import enum

from model.language import (
    Index,
    Range,
    State,
    Term,
    among,
    count,
    every,
    exists,
    field,
    flag,
    forall,
    guard,
    implies,
    ite,
    model,
    number,
    prop,
    rule,
    scalar,
    total,
    upto,
)
from model.readings.world import World, world

requests = number("requests", "requests", low=1)
blocks = number("blocks", "KV blocks", low=1)
block_size = number("block_size", "tokens in a block", low=1)
budget = number("budget", "tokens in a step", low=1)
seats = number("seats", "the most that may run", low=1)
preemptions = number("preemptions", "the most preemptions of a request")
prompt = number("prompt", "prompt tokens of each request", low=1)
most = number("most", "the most new tokens of each request", low=1)


class Anyone(enum.Enum):
    ANYONE = "anyone"


class Phase(enum.Enum):
    UNSEEN = "unseen"
    WAITING = "waiting"
    RUNNING = "running"
    PREEMPTED = "preempted"
    FINISHED = "finished"


class Reason(enum.Enum):
    NONE = "none"
    EOS = "eos"
    LENGTH = "length"
    CANCELLED = "cancelled"


class Status(enum.Enum):
    IDLE = "idle"
    BUSY = "busy"
    DONE = "done"


class Request(Index, size=requests):
    """A request."""


class Block(Index, size=blocks):
    """A block."""


class Tokens(Range, low=1, high=budget):
    """How many tokens are planned."""


class Peer(State):
    phase = field(Phase, Request, doc="phase")
    reason = field(Reason, Request, doc="reason")
    computed = field(upto(prompt + most), Request, doc="computed")
    committed = field(upto(most), Request, doc="committed")
    delivered = field(upto(most), Request, doc="delivered")
    notified = field(upto(1), Request, doc="notified")
    epoch = field(upto(preemptions), Request, doc="epoch")
    planned = field(upto(budget), Request, doc="planned")
    flight = field(upto(budget), Request, doc="flight")
    flight_epoch = field(upto(preemptions), Request, doc="flight_epoch")
    owns = field(flag, Request, Block, doc="owns")
    pins = field(flag, Request, Block, doc="pins")
    ref = field(upto(requests), Block, doc="ref")
    status = scalar(Status, doc="status")


def held(s: Peer, r: Request) -> Term:
    return count(Block, lambda b: s.owns[r, b])


def known(s: Peer, r: Request) -> Term:
    return prompt + s.committed[r]


def running(s: Peer) -> Term:
    return count(Request, lambda q: s.phase[q] == Phase.RUNNING)


@rule(by=Anyone.ANYONE)
def submit(now: Peer, after: Peer, r: Request) -> None:
    guard("unseen", now.phase[r] == Phase.UNSEEN)
    after.phase[r] = Phase.WAITING


@rule(by=Anyone.ANYONE)
def admit(now: Peer, after: Peer, r: Request) -> None:
    guard("waiting", among(now.phase[r], Phase.WAITING, Phase.PREEMPTED))
    guard("empty-handed", ~exists(Block, lambda b: now.owns[r, b]))
    guard("seat", running(now) < seats)
    after.phase[r] = Phase.RUNNING


@rule(by=Anyone.ANYONE)
def acquire(now: Peer, after: Peer, r: Request, b: Block) -> None:
    guard("running", now.phase[r] == Phase.RUNNING)
    guard("free", now.ref[b] == 0)
    guard("needed", held(now, r) * block_size < known(now, r))
    after.owns[r, b] = True
    after.ref[b] = now.ref[b] + 1


@rule(by=Anyone.ANYONE)
def select(now: Peer, after: Peer, r: Request, k: Tokens) -> None:
    guard("running", now.phase[r] == Phase.RUNNING)
    guard("idle", (now.planned[r] == 0) & (now.flight[r] == 0))
    guard("known", k <= known(now, r) - now.computed[r])
    guard("room", now.computed[r] + k <= held(now, r) * block_size)
    guard("budget", total(Request, lambda q: now.planned[q]) + k <= budget)
    after.planned[r] = k


@rule(by=Anyone.ANYONE)
def dispatch(now: Peer, after: Peer) -> None:
    guard("idle", now.status == Status.IDLE)
    guard("planned", exists(Request, lambda q: now.planned[q] > 0))
    after.status = Status.BUSY
    for r in every(Request):
        after.flight[r] = now.planned[r]
        after.flight_epoch[r] = ite(now.planned[r] > 0, now.epoch[r], 0)
        for b in every(Block):
            after.pins[r, b] = (now.planned[r] > 0) & now.owns[r, b]
        after.planned[r] = 0


@rule(by=Anyone.ANYONE)
def complete(now: Peer, after: Peer) -> None:
    guard("busy", now.status == Status.BUSY)
    after.status = Status.DONE
    for r in every(Request):
        for b in every(Block):
            after.pins[r, b] = False


def live(now: Peer, r: Request) -> Term:
    return (now.phase[r] == Phase.RUNNING) & (now.flight_epoch[r] == now.epoch[r])


def take(now: Peer, after: Peer, r: Request) -> None:
    guard("done", now.status == Status.DONE)
    guard("in-flight", now.flight[r] > 0)
    after.flight[r] = 0
    after.flight_epoch[r] = 0


def take_live(now: Peer, after: Peer, r: Request) -> None:
    take(now, after, r)
    guard("live", live(now, r))
    after.computed[r] = now.computed[r] + now.flight[r]


def take_last(now: Peer, after: Peer, r: Request) -> None:
    take_live(now, after, r)
    guard("last", now.computed[r] + now.flight[r] == known(now, r))
    after.committed[r] = now.committed[r] + 1


def finish(after: Peer, r: Request, reason: Reason) -> None:
    after.phase[r] = Phase.FINISHED
    after.reason[r] = reason


@rule(by=Anyone.ANYONE)
def retire_stale(now: Peer, after: Peer, r: Request) -> None:
    take(now, after, r)
    guard("stale", ~live(now, r))


@rule(by=Anyone.ANYONE)
def retire_chunk(now: Peer, after: Peer, r: Request) -> None:
    take_live(now, after, r)
    guard("more-to-come", now.computed[r] + now.flight[r] < known(now, r))


@rule(by=Anyone.ANYONE)
def retire_token(now: Peer, after: Peer, r: Request) -> None:
    take_last(now, after, r)
    guard("not-the-last", now.committed[r] + 1 < most)


@rule(by=Anyone.ANYONE)
def retire_eos(now: Peer, after: Peer, r: Request) -> None:
    take_last(now, after, r)
    finish(after, r, Reason.EOS)


@rule(by=Anyone.ANYONE)
def retire_length(now: Peer, after: Peer, r: Request) -> None:
    take_last(now, after, r)
    guard("the-last", now.committed[r] + 1 == most)
    finish(after, r, Reason.LENGTH)


@rule(by=Anyone.ANYONE)
def recycle(now: Peer, after: Peer) -> None:
    guard("done", now.status == Status.DONE)
    guard("taken", forall(Request, lambda q: now.flight[q] == 0))
    after.status = Status.IDLE


@rule(by=Anyone.ANYONE)
def preempt(now: Peer, after: Peer, r: Request) -> None:
    guard("running", now.phase[r] == Phase.RUNNING)
    guard("counted", now.epoch[r] < preemptions)
    after.phase[r] = Phase.PREEMPTED
    after.epoch[r] = now.epoch[r] + 1
    after.computed[r] = 0
    after.planned[r] = 0


@rule(by=Anyone.ANYONE)
def cancel(now: Peer, after: Peer, r: Request) -> None:
    guard("alive", among(now.phase[r], Phase.WAITING, Phase.RUNNING, Phase.PREEMPTED))
    finish(after, r, Reason.CANCELLED)
    after.planned[r] = 0


@rule(by=Anyone.ANYONE)
def release(now: Peer, after: Peer, r: Request) -> None:
    guard("left", among(now.phase[r], Phase.PREEMPTED, Phase.FINISHED))
    guard("holding", exists(Block, lambda b: now.owns[r, b]))
    guard("unpinned", ~exists(Block, lambda b: now.pins[r, b]))
    for b in every(Block):
        after.ref[b] = now.ref[b] - ite(now.owns[r, b], 1, 0)
        after.owns[r, b] = False


@rule(by=Anyone.ANYONE)
def deliver(now: Peer, after: Peer, r: Request) -> None:
    guard("undelivered", now.delivered[r] < now.committed[r])
    after.delivered[r] = now.delivered[r] + 1


@rule(by=Anyone.ANYONE)
def notify(now: Peer, after: Peer, r: Request) -> None:
    guard("finished", now.phase[r] == Phase.FINISHED)
    guard("delivered", now.delivered[r] == now.committed[r])
    guard("once", now.notified[r] == 0)
    after.notified[r] = 1


@prop()
def references(s: Peer) -> Term:
    """The reference count is the number of holders, and at most one."""
    return forall(Block, lambda b: (s.ref[b] == count(Request, lambda r: s.owns[r, b])) & (s.ref[b] <= 1))


@prop()
def pinned_is_owned(s: Peer) -> Term:
    return forall(
        Request, lambda r: forall(Block, lambda b: implies(s.pins[r, b] & (s.status == Status.BUSY), s.owns[r, b]))
    )


@prop()
def computed_fits(s: Peer) -> Term:
    """What is computed lies in blocks that are owned, and belongs to somebody who runs or has finished."""
    return forall(
        Request,
        lambda r: (
            ((s.phase[r] == Phase.FINISHED) | (s.computed[r] <= held(s, r) * block_size))
            & ((s.computed[r] == 0) | among(s.phase[r], Phase.RUNNING, Phase.FINISHED))
        ),
    )


@prop()
def planned_runs(s: Peer) -> Term:
    runs = forall(Request, lambda r: (s.planned[r] == 0) | (s.phase[r] == Phase.RUNNING))
    return runs & (total(Request, lambda r: s.planned[r]) <= budget) & (running(s) <= seats)


@prop()
def told_the_truth(s: Peer) -> Term:
    return forall(
        Request,
        lambda r: (
            (s.delivered[r] <= s.committed[r])
            & implies(s.notified[r] == 1, (s.phase[r] == Phase.FINISHED) & (s.delivered[r] == s.committed[r]))
            & ((s.phase[r] == Phase.FINISHED) == (s.reason[r] != Reason.NONE))
            & implies(s.reason[r] == Reason.LENGTH, s.committed[r] == most)
        ),
    )


PEER = model(
    "peer",
    Peer,
    (requests, blocks, block_size, budget, seats, preemptions, prompt, most),
    (
        submit,
        admit,
        acquire,
        select,
        dispatch,
        complete,
        retire_stale,
        retire_chunk,
        retire_token,
        retire_eos,
        retire_length,
        recycle,
        preempt,
        cancel,
        release,
        deliver,
        notify,
    ),
)

INVARIANTS = (references, pinned_is_owned, computed_fits, planned_runs, told_the_truth)


# N, B, Z, T, S, E, P, M of the sizes whose counts are published.
SIZES = {
    "tiny": (2, 2, 2, 2, 2, 1, 2, 2),
    "small": (2, 4, 2, 3, 2, 1, 3, 2),
    "medium": (3, 3, 2, 3, 2, 1, 2, 2),
}


def peer_world(name: str, *sizes: int) -> World:
    """A world of N requests, B blocks of Z tokens, T tokens a step, S seats, E preemptions, P prompt and M new tokens."""
    return world(PEER, name, dict(zip((d.name for d in PEER.dials), sizes, strict=True)))
