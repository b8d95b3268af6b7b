"""The engine: takes in the results of the oldest step, and sends the terminal message."""

from __future__ import annotations

from model.language.build import forall, ite
from model.language.rules import assume, every, guard, rule
from model.language.terms import Term
from model.lifecycle.dials import (
    Block,
    Cache,
    LateResult,
    Publish,
    Request,
    Slot,
    Worker,
    block_size,
    cache,
    late_result,
    limit,
    sharing,
)
from model.lifecycle.dials import publish as discipline
from model.lifecycle.residency import leave
from model.lifecycle.sharing import in_prefix, is_published, name_block
from model.lifecycle.state import Actor, Entry, Lifecycle, Phase, Reason, Status, oldest
from model.lifecycle.terms import due, finished, in_window, known


def take_result(now: Lifecycle, after: Lifecycle, r: Request, name: str, entry: Entry) -> None:
    """The oldest step has run and holds such a result for the request; the result is taken out of it."""
    guard("executed", now.status[oldest] == Status.EXECUTED)
    guard(name, now.entry[oldest, r] == entry)
    after.tokens[oldest, r] = 0
    after.samples[oldest, r] = False
    after.start[oldest, r] = 0


def take_live(now: Lifecycle, after: Lifecycle, r: Request) -> None:
    """As take_result, for work of the present residency: the KV it wrote is settled now."""
    take_result(now, after, r, "live", Entry.LIVE)
    after.entry[oldest, r] = Entry.NONE
    after.computed[r] = now.computed[r] + now.tokens[oldest, r]


def more(now: Lifecycle, r: Request) -> Term:
    """The token about to be committed is not the last the request may have."""
    return now.committed[r] + 1 < limit[r]


@rule(by=Actor.ENGINE, fair=True)
def retire_chunk(now: Lifecycle, after: Lifecycle, r: Request) -> None:
    """A chunk of context was computed. Nothing was sampled, since more context is to come."""
    take_live(now, after, r)
    guard("chunk", ~now.samples[oldest, r])


@rule(by=Actor.ENGINE, fair=True)
def retire_token(now: Lifecycle, after: Lifecycle, r: Request) -> None:
    """A token was sampled and is committed; the request goes on."""
    take_live(now, after, r)
    guard("samples", now.samples[oldest, r])
    guard("more", more(now, r))
    after.committed[r] = now.committed[r] + 1
    after.owed[r] = now.owed[r] - 1


def finish(now: Lifecycle, after: Lifecycle, r: Request, why: Reason) -> None:
    """The last token is committed and the request is over. Its memory and its client hear of it later."""
    after.committed[r] = now.committed[r] + 1
    after.phase[r] = Phase.FINISHED
    after.reason[r] = why
    leave(now, after, r, taken=True)


@rule(by=Actor.ENGINE, fair=True)
def retire_stop(now: Lifecycle, after: Lifecycle, r: Request) -> None:
    """The sampled token ends the text. At the limit the reason is LENGTH instead."""
    take_result(now, after, r, "live", Entry.LIVE)
    guard("samples", now.samples[oldest, r])
    guard("more", more(now, r))
    finish(now, after, r, Reason.STOP)


@rule(by=Actor.ENGINE, fair=True)
def retire_length(now: Lifecycle, after: Lifecycle, r: Request) -> None:
    """The sampled token is the last that the request may have."""
    take_result(now, after, r, "live", Entry.LIVE)
    guard("samples", now.samples[oldest, r])
    guard("last", ~more(now, r))
    finish(now, after, r, Reason.LENGTH)


@rule(by=Actor.ENGINE, fair=True)
def retire_stale(now: Lifecycle, after: Lifecycle, r: Request) -> None:
    """A result of a residency that has ended is dropped: nothing is settled or committed for it."""
    take_result(now, after, r, "stale", Entry.STALE)
    guard("not-due", ~due(now, oldest, r))
    after.entry[oldest, r] = Entry.NONE


def take_late(now: Lifecycle, after: Lifecycle, r: Request) -> None:
    """As take_result, for a token that is due to a preempted request. Its KV is gone; nothing is settled."""
    take_result(now, after, r, "stale", Entry.STALE)
    guard("due", due(now, oldest, r))


@rule(by=Actor.ENGINE, fair=True, needs=late_result == LateResult.COMMIT)
def retire_late_token(now: Lifecycle, after: Lifecycle, r: Request) -> None:
    """A token arrives for a request that was preempted meanwhile, and is committed all the same."""
    take_late(now, after, r)
    guard("more", more(now, r))
    after.entry[oldest, r] = Entry.NONE
    after.committed[r] = now.committed[r] + 1


@rule(by=Actor.ENGINE, fair=True, needs=late_result == LateResult.COMMIT)
def retire_late_stop(now: Lifecycle, after: Lifecycle, r: Request) -> None:
    """The token that arrives for a preempted request ends its text."""
    take_late(now, after, r)
    guard("more", more(now, r))
    finish(now, after, r, Reason.STOP)


@rule(by=Actor.ENGINE, fair=True, needs=late_result == LateResult.COMMIT)
def retire_late_length(now: Lifecycle, after: Lifecycle, r: Request) -> None:
    """The token that arrives for a preempted request is the last it may have."""
    take_late(now, after, r)
    guard("last", ~more(now, r))
    finish(now, after, r, Reason.LENGTH)


@rule(by=Actor.ENGINE, fair=True)
def recycle(now: Lifecycle, after: Lifecycle) -> None:
    """The oldest step is done with, and the window moves up."""
    guard("something", now.status[oldest] != Status.EMPTY)
    guard("retired", forall(Request, lambda q: ~in_window(now, oldest, q)))
    for i in every(Slot):
        after.status[i] = now.status[i.next]
        for q in every(Request):
            after.entry[i, q] = now.entry[i.next, q]
            after.tokens[i, q] = now.tokens[i.next, q]
            after.samples[i, q] = now.samples[i.next, q]
            after.start[i, q] = now.start[i.next, q]
            for b in every(Block):
                after.uses[i, q, b] = now.uses[i.next, q, b]
        for w in every(Worker):
            after.ran[i, w] = now.ran[i.next, w]


@rule(by=Actor.ENGINE, needs=sharing)
def publish(now: Lifecycle, after: Lifecycle, r: Request, b: Block) -> None:
    """A block becomes visible in the cache, as the text that the request has or will have in it."""
    tokens = now.table[r, b] * block_size
    guard("held", now.table[r, b] > 0)
    guard("prefix", (cache == Cache.ALL) | in_prefix(now.table[r, b]))
    guard(
        "computed",
        ite(discipline == Publish.COMPUTED, tokens <= now.computed[r], tokens <= now.scheduled[r] + now.planned[r]),
    )
    guard("known", tokens <= known(now, r))
    assume("unpublished", ~is_published(now, b))
    name_block(after, r, b, now.table[r, b])


@rule(by=Actor.ENGINE, fair=True)
def notify(now: Lifecycle, after: Lifecycle, r: Request) -> None:
    """Send the terminal message, after the last token. A cancelled client is not made to drain tokens it will not take."""
    guard("finished", finished(now, r))
    guard("once", now.notified[r] == 0)
    guard("delivered", (now.delivered[r] == now.committed[r]) | (now.reason[r] == Reason.CANCELLED))
    after.notified[r] = now.notified[r] + 1
