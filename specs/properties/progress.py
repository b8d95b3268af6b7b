"""The counters: what is settled, what is optimistic, what is owed, and that they always agree."""

from __future__ import annotations

from model.language import Term, before, exists, forall, implies, ite, prop, total
from model.lifecycle.dials import Request, Slot, block_size, limit, overrun
from model.lifecycle.state import Entry, Lifecycle, Status, reach
from model.lifecycle.terms import known, room, running
from specs.kinds import COUNTERS, LEAK, SELECTION, SPLICED_OUTPUT, STALE_RESULT, STUCK


def live_tokens(s: Lifecycle, r: Request) -> Term:
    """Tokens of the request's live entries in the window."""
    return total(Slot, lambda i: ite(s.entry[i, r] == Entry.LIVE, s.tokens[i, r], 0))


def live_upto(s: Lifecycle, i: Slot, r: Request) -> Term:
    """Tokens of the request's live entries in the steps before this one."""
    return before(i, lambda j: ite(s.entry[j, r] == Entry.LIVE, s.tokens[j, r], 0))


def executed_tokens(s: Lifecycle, r: Request) -> Term:
    """Tokens of the request's live entries in executed steps."""
    return total(
        Slot, lambda i: ite((s.status[i] == Status.EXECUTED) & (s.entry[i, r] == Entry.LIVE), s.tokens[i, r], 0)
    )


def live_samples(s: Lifecycle, r: Request) -> Term:
    """How many of the request's live entries in the window sample a token."""
    return total(Slot, lambda i: ite((s.entry[i, r] == Entry.LIVE) & s.samples[i, r], 1, 0))


@prop(
    rule="R5",
    reason="KV is written through the block table. Tokens beyond the blocks held are written into a neighbour's block.",
    catches=(COUNTERS,),
    witness=lambda s: exists(Request, lambda r: (s.planned[r] > 0) & (s.scheduled[r] + s.planned[r] == room(s, r))),
)
def covered(s: Lifecycle) -> Term:
    """The blocks a request holds cover all its tokens: settled, in flight and planned."""
    return forall(Request, lambda r: s.scheduled[r] + s.planned[r] <= room(s, r))


@prop(
    rule="R5",
    reason="The optimistic counter is what the next step is planned on. If it comes apart from the window, tokens are "
    "skipped or computed twice.",
    catches=(COUNTERS, STALE_RESULT),
    witness=lambda s: exists(Request, lambda r: (s.computed[r] > 0) & (s.scheduled[r] > s.computed[r])),
)
def scheduled_adds_up(s: Lifecycle) -> Term:
    """Optimistic progress is settled progress plus the live tokens in flight."""
    return forall(Request, lambda r: s.scheduled[r] == s.computed[r] + live_tokens(s, r))


@prop(
    rule="R5",
    reason="An owed token that nothing in flight will bring is waited for; one too few is committed twice.",
    catches=(COUNTERS, STALE_RESULT),
    witness=lambda s: exists(Request, lambda r: s.owed[r] > 0),
)
def owed_adds_up(s: Lifecycle) -> Term:
    """A request is owed as many output tokens as live entries in flight sample for it."""
    return forall(Request, lambda r: s.owed[r] == live_samples(s, r))


@prop(
    rule="R5",
    reason="A token can be computed only if its value is decided, or owed by a step that runs before.",
    catches=(COUNTERS,),
    witness=lambda s: exists(Request, lambda r: (s.planned[r] > 0) & (s.committed[r] > 0)),
)
def known_first(s: Lifecycle) -> Term:
    """No more tokens are scheduled or planned than are known or owed."""
    return forall(Request, lambda r: s.scheduled[r] + s.planned[r] <= known(s, r) + s.owed[r])


@prop(
    rule="R5",
    reason="Counters that survive the residency they counted make the next one start in the middle.",
    catches=(COUNTERS, LEAK, SPLICED_OUTPUT),
    witness=lambda s: exists(Request, lambda r: ~running(s, r) & (s.committed[r] > 0)),
)
def ends_with_residency(s: Lifecycle) -> Term:
    """A request that is not running has nothing planned, owed, scheduled or settled: also when it is finished."""
    return forall(
        Request,
        lambda r: implies(
            ~running(s, r),
            (s.computed[r] == 0) & (s.scheduled[r] == 0) & (s.owed[r] == 0) & (s.planned[r] == 0),
        ),
    )


@prop(
    rule="R5",
    reason="A request that hoards blocks it can never fill starves the others.",
    catches=(LEAK, STUCK),
    witness=lambda s: exists(Request, lambda r: room(s, r) >= reach(r)),
)
def no_hoard(s: Lifecycle) -> Term:
    """A request holds no block that its whole life could not need."""
    return forall(Request, lambda r: room(s, r) < reach(r) + block_size)


@prop(
    rule="R5",
    reason="Work beyond the last token is work for nobody, and its token must not reach the client.",
    catches=(COUNTERS, SELECTION),
    needs=~overrun,
    witness=lambda s: exists(Request, lambda r: (s.owed[r] > 0) & (s.committed[r] + s.owed[r] == limit[r])),
)
def within_limit(s: Lifecycle) -> Term:
    """Committed and owed tokens together stay within the request's limit: nothing is launched beyond its last token."""
    return forall(Request, lambda r: s.committed[r] + s.owed[r] <= limit[r])


@prop(
    rule="R10",
    reason="A running request with nothing to compute and nothing to wait for is never selected again and never ends.",
    catches=(STUCK, COUNTERS),
    witness=lambda s: exists(Request, lambda r: running(s, r) & (s.owed[r] == 0) & (s.computed[r] > 0)),
)
def something_left(s: Lifecycle) -> Term:
    """A running request that is owed no token still has known tokens to compute."""
    return forall(Request, lambda r: implies(running(s, r) & (s.owed[r] == 0), s.scheduled[r] < known(s, r)))
