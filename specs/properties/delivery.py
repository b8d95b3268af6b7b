"""What the client sees: every token once and in order, and exactly one terminal message."""

from __future__ import annotations

from model.language import Term, enabled, exists, forall, implies, prop, reachable, step
from model.lifecycle.client import deliver
from model.lifecycle.dials import Request, limit
from model.lifecycle.engine import notify
from model.lifecycle.state import Entry, Lifecycle, Phase, Reason, Status, oldest
from model.lifecycle.terms import due, finished, fits, held, known, running
from specs.kinds import ABORT, COUNTERS, SPLICED_OUTPUT, STALE_RESULT, STUCK, TERMINAL_MESSAGE


@prop(
    rule="R4",
    reason="A client that was given a token cannot be asked to forget it.",
    catches=(SPLICED_OUTPUT,),
    witness=lambda s: exists(Request, lambda r: (s.delivered[r] > 0) & (s.delivered[r] < s.committed[r])),
)
def prefix(s: Lifecycle) -> Term:
    """What is delivered is a prefix of what is committed, and that stays within the limit."""
    return forall(Request, lambda r: (s.delivered[r] <= s.committed[r]) & (s.committed[r] <= limit[r]))


@step(
    rule="R4",
    reason="Preemption takes KV away, never output: recomputing must continue the text, not restart it.",
    catches=(SPLICED_OUTPUT,),
    witness=lambda s: exists(Request, lambda r: (s.phase[r] == Phase.PREEMPTED) & (s.committed[r] > 0)),
)
def grows(before: Lifecycle, then: Lifecycle) -> Term:
    """Committed output grows by one token at a time and never shrinks, and neither does what is delivered."""
    return forall(
        Request,
        lambda r: (
            (before.committed[r] <= then.committed[r])
            & (then.committed[r] <= before.committed[r] + 1)
            & (before.delivered[r] <= then.delivered[r])
        ),
    )


@step(
    rule="R4",
    reason="A token sampled before its context is computed, or from a residency that has ended, is not the text's next token.",
    catches=(SPLICED_OUTPUT, STALE_RESULT),
    witness=lambda before, then: exists(
        Request, lambda r: (then.committed[r] > before.committed[r]) & (before.committed[r] > 0)
    ),
)
def context_first(before: Lifecycle, then: Lifecycle) -> Term:
    """A token is committed only from an executed result that completes all of its context, live or due, and only once."""

    def complete(r: Request) -> Term:
        tokens = before.tokens[oldest, r]
        live = (before.entry[oldest, r] == Entry.LIVE) & (before.computed[r] + tokens == known(before, r))
        return live | (due(before, oldest, r) & (before.start[oldest, r] + tokens == known(before, r)))

    return forall(
        Request,
        lambda r: implies(
            then.committed[r] > before.committed[r],
            (before.status[oldest] == Status.EXECUTED) & complete(r) & (then.entry[oldest, r] == Entry.NONE),
        ),
    )


@step(
    rule="R4",
    reason="A sampled token that is taken out of the window and not committed is lost to the client.",
    catches=(SPLICED_OUTPUT, COUNTERS),
    witness=lambda s: exists(Request, lambda r: (s.entry[oldest, r] == Entry.LIVE) & s.samples[oldest, r]),
)
def no_loss(before: Lifecycle, then: Lifecycle) -> Term:
    """A live (or due) result that sampled a token leaves the window only by committing it."""

    def counts(r: Request) -> Term:
        return ((before.entry[oldest, r] == Entry.LIVE) & before.samples[oldest, r]) | due(before, oldest, r)

    return forall(
        Request,
        lambda r: implies(
            counts(r) & (then.entry[oldest, r] == Entry.NONE), then.committed[r] == before.committed[r] + 1
        ),
    )


@prop(
    rule="R4",
    reason="Clients bill and branch on the reason. STOP at the limit, or LENGTH before it, is a wrong answer.",
    catches=(TERMINAL_MESSAGE,),
    witness=lambda s: exists(Request, lambda r: s.reason[r] == Reason.LENGTH),
)
def length_means_limit(s: Lifecycle) -> Term:
    """The reason is LENGTH exactly when the request has all the tokens it may have."""
    return forall(Request, lambda r: (s.reason[r] == Reason.LENGTH) == (s.committed[r] == limit[r]))


@prop(
    rule="R6",
    reason="The terminal message says that all is delivered; sent early, the client hangs up on the rest.",
    catches=(TERMINAL_MESSAGE,),
    witness=lambda s: exists(Request, lambda r: (s.notified[r] > 0) & (s.delivered[r] > 0)),
)
def message_last(s: Lifecycle) -> Term:
    """The terminal message is sent after the finish and the last token; a cancelled client need not take the tokens."""
    return forall(
        Request,
        lambda r: implies(
            s.notified[r] > 0,
            finished(s, r) & ((s.delivered[r] == s.committed[r]) | (s.reason[r] == Reason.CANCELLED)),
        ),
    )


@step(
    rule="R6",
    reason="After the terminal message the client has hung up, or has given the identity to another request.",
    catches=(TERMINAL_MESSAGE,),
    witness=lambda s: exists(Request, lambda r: s.notified[r] > 0),
)
def message_once(before: Lifecycle, then: Lifecycle) -> Term:
    """After the terminal message there is no second one, and no token."""
    return forall(
        Request,
        lambda r: implies(
            before.notified[r] > 0,
            (then.notified[r] == before.notified[r]) & (then.delivered[r] == before.delivered[r]),
        ),
    )


@prop(
    rule="R7",
    reason="A finish without a reason cannot be answered; a reason without a finish is answered too early.",
    catches=(TERMINAL_MESSAGE, ABORT),
    witness=lambda s: exists(Request, lambda r: s.reason[r] == Reason.STOP),
)
def finish_has_reason(s: Lifecycle) -> Term:
    """A request has a reason exactly when it is finished."""
    return forall(Request, lambda r: finished(s, r) == (s.reason[r] != Reason.NONE))


@step(
    rule="R7",
    reason="Cancel and completion race. Whichever is first decides, and the other must find nothing left to do.",
    catches=(ABORT, STALE_RESULT, TERMINAL_MESSAGE),
    witness=lambda s: exists(Request, lambda r: s.asked[r] & finished(s, r) & (s.reason[r] != Reason.CANCELLED)),
)
def first_wins(before: Lifecycle, then: Lifecycle) -> Term:
    """A finished request stays finished, for the same reason and with the same output."""
    return forall(
        Request,
        lambda r: implies(
            finished(before, r),
            finished(then, r) & (then.reason[r] == before.reason[r]) & (then.committed[r] == before.committed[r]),
        ),
    )


@step(
    rule="R7",
    reason="Nobody's request may end because somebody else's was cancelled or refused.",
    catches=(ABORT,),
    witness=lambda s: exists(Request, lambda r: s.reason[r] == Reason.CANCELLED),
)
def end_was_asked(before: Lifecycle, then: Lifecycle) -> Term:
    """A request ends as CANCELLED only if its client asked, and as REJECTED only if it can never fit."""

    def becomes(r: Request, why: Reason) -> Term:
        return (before.reason[r] != then.reason[r]) & (then.reason[r] == why)

    return forall(
        Request,
        lambda r: (
            implies(becomes(r, Reason.CANCELLED), before.asked[r]) & implies(becomes(r, Reason.REJECTED), ~fits(r))
        ),
    )


@prop(
    rule="R6",
    reason="In a static batch a short answer waits for the longest one. Iteration-level scheduling exists to end that.",
    catches=(STUCK, TERMINAL_MESSAGE),
    witness=lambda s: exists(
        Request,
        lambda r: finished(s, r) & (s.notified[r] == 0) & exists(Request, lambda q: (q != r) & running(s, q)),
    ),
)
def answer_waits_for_nobody(s: Lifecycle) -> Term:
    """A finished response can always be taken further, by a token or its terminal message, whatever others do."""
    return forall(
        Request, lambda r: implies(finished(s, r) & (s.notified[r] == 0), enabled(deliver, r) | enabled(notify, r))
    )


@reachable(rule="R6", reason="The message does not wait for the memory: a client hears of the end at once.")
def message_before_release(s: Lifecycle) -> Term:
    """A request has had its terminal message and still holds blocks."""
    return exists(Request, lambda r: (s.notified[r] > 0) & (held(s, r) > 0))


@reachable(rule="R6", reason="The memory does not wait for the message: a slow client keeps no block from others.")
def release_before_message(s: Lifecycle) -> Term:
    """A request that produced output has finished and given its blocks back, and its client has not heard yet."""
    return exists(Request, lambda r: finished(s, r) & (s.committed[r] > 0) & (s.notified[r] == 0) & (held(s, r) == 0))


@reachable(rule="R7", reason="A cancel can win the race against a completion that is already on the device.")
def cancel_wins(s: Lifecycle) -> Term:
    """A request is CANCELLED when a step that has run holds a sampled token for it, not taken in yet."""
    return exists(
        Request,
        lambda r: (
            (s.reason[r] == Reason.CANCELLED)
            & (s.status[oldest] == Status.EXECUTED)
            & (s.entry[oldest, r] == Entry.STALE)
            & s.samples[oldest, r]
        ),
    )
