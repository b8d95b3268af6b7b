"""Where a cancel can fall: every cell of (phase) x (window) that the rules can reach.

Most leaks and missing answers in public reports are a cancel in a cell that nobody tried. None of these is a
requirement on the rules; each says that exploring a world really tries that cell.
"""

from __future__ import annotations

from model.language import Term, exists, reachable
from model.lifecycle.dials import Request, Slot, cancellation, depth, preemption
from model.lifecycle.state import Entry, Lifecycle, Phase, Reason, Status, oldest
from model.lifecycle.terms import finished, held, in_window, running

_WHY = "A cancel must be tried in this cell of (phase) x (window)."


@reachable(rule="R7", needs=cancellation, reason=_WHY)
def cancel_waiting(s: Lifecycle) -> Term:
    """Cancelled while it waits, received but never admitted."""
    return exists(Request, lambda r: s.asked[r] & (s.phase[r] == Phase.WAITING))


@reachable(rule="R7", needs=cancellation, reason=_WHY)
def cancel_admitted(s: Lifecycle) -> Term:
    """Cancelled when admitted, with no block yet."""
    return exists(Request, lambda r: s.asked[r] & running(s, r) & (held(s, r) == 0))


@reachable(rule="R7", needs=cancellation, reason=_WHY)
def cancel_planned(s: Lifecycle) -> Term:
    """Cancelled between planning and launch."""
    return exists(Request, lambda r: s.asked[r] & (s.planned[r] > 0))


@reachable(rule="R7", needs=cancellation, reason=_WHY)
def cancel_launched(s: Lifecycle) -> Term:
    """Cancelled while its step is on the device."""
    return exists(
        Request,
        lambda r: s.asked[r] & (s.status[oldest] == Status.LAUNCHED) & (s.entry[oldest, r] == Entry.LIVE),
    )


@reachable(rule="R7", needs=cancellation, reason=_WHY)
def cancel_executed(s: Lifecycle) -> Term:
    """Cancelled when its step has run and the result is not taken in yet."""
    return exists(
        Request,
        lambda r: s.asked[r] & (s.status[oldest] == Status.EXECUTED) & (s.entry[oldest, r] == Entry.LIVE),
    )


@reachable(rule="R7", needs=cancellation & preemption, reason=_WHY)
def cancel_preempted_holding(s: Lifecycle) -> Term:
    """Cancelled while preempted, its blocks not released yet and its step on the device."""
    return exists(
        Request,
        lambda r: (
            s.asked[r]
            & (s.phase[r] == Phase.PREEMPTED)
            & (held(s, r) > 0)
            & (s.status[oldest] == Status.LAUNCHED)
            & (s.entry[oldest, r] == Entry.STALE)
        ),
    )


@reachable(rule="R7", needs=cancellation & preemption, reason=_WHY)
def cancel_preempted_executed(s: Lifecycle) -> Term:
    """Cancelled while preempted, when its step has run and the stale result is not taken in yet."""
    return exists(
        Request,
        lambda r: (
            s.asked[r]
            & (s.phase[r] == Phase.PREEMPTED)
            & (s.status[oldest] == Status.EXECUTED)
            & (s.entry[oldest, r] == Entry.STALE)
        ),
    )


@reachable(rule="R7", needs=cancellation & preemption, reason=_WHY)
def cancel_preempted_empty(s: Lifecycle) -> Term:
    """Cancelled while preempted and empty-handed, waiting to be admitted again with output behind it."""
    return exists(
        Request,
        lambda r: s.asked[r] & (s.phase[r] == Phase.PREEMPTED) & (held(s, r) == 0) & (s.committed[r] > 0),
    )


@reachable(rule="R7", needs=cancellation, reason=_WHY)
def cancel_finished(s: Lifecycle) -> Term:
    """Cancelled when it has finished already, still holding its blocks and not told yet."""
    return exists(
        Request,
        lambda r: (
            s.asked[r] & finished(s, r) & (s.reason[r] != Reason.CANCELLED) & (s.notified[r] == 0) & (held(s, r) > 0)
        ),
    )


@reachable(rule="R7", needs=cancellation & (depth > 1), reason=_WHY)
def cancel_between_steps(s: Lifecycle) -> Term:
    """Cancelled when its older step has run and its newer one is on the device."""
    return exists(
        Request,
        lambda r: (
            s.asked[r]
            & (s.status[oldest] == Status.EXECUTED)
            & (s.entry[oldest, r] == Entry.LIVE)
            & (s.status[oldest.next] == Status.LAUNCHED)
            & (s.entry[oldest.next, r] == Entry.LIVE)
        ),
    )


@reachable(rule="R7", needs=cancellation & (depth > 1), reason=_WHY)
def cancel_after_finish_in_flight(s: Lifecycle) -> Term:
    """Cancelled when it has finished and a later step that still holds work for it is on the device."""
    return exists(
        Request,
        lambda r: (
            s.asked[r]
            & finished(s, r)
            & (s.reason[r] != Reason.CANCELLED)
            & exists(Slot, lambda i: (s.status[i] == Status.LAUNCHED) & in_window(s, i, r))
        ),
    )
