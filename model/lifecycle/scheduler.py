"""The scheduler: decides, between steps, who runs, who is given memory, and what the next step computes."""

from __future__ import annotations

from model.language.build import count, exists, forall, ite, total
from model.language.rules import assume, every, guard, note, rule
from model.lifecycle.dials import (
    Block,
    Request,
    Slot,
    Tokens,
    block_size,
    budget,
    limit,
    mixed,
    overrun,
    preemption,
    seats,
    sharing,
)
from model.lifecycle.residency import hold, leave
from model.lifecycle.sharing import not_leaned_on, published_as, unname_block
from model.lifecycle.state import Actor, Entry, Lifecycle, Phase, Reason, Status, Why, reach
from model.lifecycle.terms import (
    decoding,
    due,
    fits,
    held,
    known,
    room,
    running,
    samples_next,
    short_of_memory,
)


@rule(by=Actor.SCHEDULER, fair=True)
def reject(now: Lifecycle, after: Lifecycle, r: Request) -> None:
    """A request that could not be computed even alone is refused, instead of waiting for ever."""
    guard("waiting", now.phase[r] == Phase.WAITING)
    guard("never-fits", ~fits(r))
    after.phase[r] = Phase.FINISHED
    after.reason[r] = Reason.REJECTED


@rule(by=Actor.SCHEDULER)
def admit(now: Lifecycle, after: Lifecycle, r: Request) -> None:
    """The request gets a seat, for the first time or again after a preemption. It still has no memory."""
    guard("waiting", (now.phase[r] == Phase.WAITING) | (now.phase[r] == Phase.PREEMPTED))
    guard("empty-handed", held(now, r) == 0)
    guard("seat", count(Request, lambda q: running(now, q)) < seats)
    guard("fits", fits(r))
    guard("no-result-due", ~exists(Slot, lambda i: due(now, i, r)))
    after.phase[r] = Phase.RUNNING


@rule(by=Actor.SCHEDULER, needs=sharing)
def hit(now: Lifecycle, after: Lifecycle, r: Request, b: Block) -> None:
    """Take the next block of the request's text from the cache instead of computing it, and hold it in the same moment."""
    guard("running", running(now, r))
    guard("next", published_as(now, b, r, held(now, r) + 1))
    guard("settled", now.computed[r] == room(now, r))
    guard("rest", room(now, r) + block_size < known(now, r))
    hold(now, after, r, b)
    after.computed[r] = now.computed[r] + block_size
    after.scheduled[r] = now.scheduled[r] + block_size


@rule(by=Actor.SCHEDULER)
def acquire(now: Lifecycle, after: Lifecycle, r: Request, b: Block) -> None:
    """A running request takes a free block as the next of its block table. What the block had cached is gone."""
    guard("running", running(now, r))
    guard("free", now.ref[b] == 0)
    guard("wanted", room(now, r) < reach(r))
    hold(now, after, r, b)
    unname_block(after, b)


@rule(by=Actor.SCHEDULER)
def select(now: Lifecycle, after: Lifecycle, r: Request, k: Tokens) -> None:
    """Plan k tokens of a running request for the step being built: a chunk of its context, or one decode."""
    guard("running", running(now, r))
    assume("once", now.planned[r] == 0)
    guard("room", exists(Slot, lambda i: now.status[i] == Status.EMPTY))
    guard("budget", total(Request, lambda q: now.planned[q]) + k <= budget)
    guard("known", now.scheduled[r] + k <= known(now, r) + now.owed[r])
    guard("wanted", overrun | (now.committed[r] + now.owed[r] < limit[r]))
    guard("covered", now.scheduled[r] + k <= room(now, r))
    guard(
        "unmixed",
        mixed | forall(Request, lambda q: (now.planned[q] == 0) | (decoding(now, q) == decoding(now, r))),
    )
    after.planned[r] = k


@rule(by=Actor.SCHEDULER, needs=preemption)
def preempt(now: Lifecycle, after: Lifecycle, r: Request) -> None:
    """Take a running request's residency away. What it has committed stays committed; its KV will be computed again."""
    guard("running", running(now, r))
    guard("not-leaned-on", not_leaned_on(now, r))
    note("reason", ite(short_of_memory(now), Why.MEMORY, Why.CHOICE))
    after.phase[r] = Phase.PREEMPTED
    leave(now, after, r)


@rule(by=Actor.SCHEDULER, fair=True)
def abort(now: Lifecycle, after: Lifecycle, r: Request) -> None:
    """Act on a cancel, wherever the request is. If it finished first, there is nothing left to do."""
    guard("asked", now.asked[r])
    guard("unfinished", now.phase[r] != Phase.FINISHED)
    guard("not-leaned-on", not_leaned_on(now, r))
    after.phase[r] = Phase.FINISHED
    after.reason[r] = Reason.CANCELLED
    leave(now, after, r)


@rule(by=Actor.SCHEDULER, fair=True)
def launch(now: Lifecycle, after: Lifecycle, i: Slot) -> None:
    """Hand the planned step to the device. From here on nothing changes what it does.

    Progress is counted at once, optimistically; a request whose known tokens this step exhausts is owed one more.
    """
    guard("something", total(Request, lambda q: now.planned[q]) > 0)
    assume("next", (now.status[i] == Status.EMPTY) & forall(Slot, lambda j: (j >= i) | (now.status[j] != Status.EMPTY)))
    after.status[i] = Status.LAUNCHED
    for q in every(Request):
        included = now.planned[q] > 0
        last = included & samples_next(now, q, now.planned[q])
        after.entry[i, q] = ite(included, Entry.LIVE, Entry.NONE)
        after.tokens[i, q] = now.planned[q]
        after.samples[i, q] = last
        after.start[i, q] = ite(included, now.scheduled[q], 0)
        for b in every(Block):
            needed = included & (now.table[q, b] > 0)
            within = (now.table[q, b] - 1) * block_size < now.scheduled[q] + now.planned[q]
            after.uses[i, q, b] = ite(needed & within, now.table[q, b], 0)
        after.scheduled[q] = now.scheduled[q] + now.planned[q]
        after.owed[q] = now.owed[q] + ite(last, 1, 0)
        after.planned[q] = 0
