"""The two lists that schedulers keep: who waits, and who runs, each in order.

One number a request says it all, since a request is in at most one of the lists: its place, from 1. A new request goes to
the end of the waiting ones, an admitted one to the end of the running ones, a preempted one back to the head of the waiting
ones (as in vLLM). Places close up when one leaves, so that no more orders are told apart than there are.
"""

from __future__ import annotations

from model.language import Term, count, every, field, ite, upto
from model.language.edits import Edit, Extend, Widen
from model.lifecycle.dials import Request, requests
from model.lifecycle.state import Lifecycle, Phase
from model.lifecycle.terms import running


class Listed(Lifecycle):
    """The request lifecycle, with the order of the requests."""

    place = field(
        upto(requests), Request, doc="its place among the waiting or the running requests, from 1; 0 in neither"
    )


def waiting(s: Lifecycle, r: Request) -> Term:
    """Whether the request waits to be admitted, for the first time or again."""
    return (s.phase[r] == Phase.WAITING) | (s.phase[r] == Phase.PREEMPTED)


def _behind(now: Listed, q: Request, r: Request) -> Term:
    """Whether q stands behind r in one list."""
    together = (waiting(now, q) & waiting(now, r)) | (running(now, q) & running(now, r))
    return together & (now.place[q] > now.place[r])


def _closed_up(now: Listed, q: Request, r: Request) -> Term:
    """The place of q when r has left its list."""
    return now.place[q] - ite(_behind(now, q, r), 1, 0)


def _queues(now: Listed, after: Listed, r: Request) -> None:
    after.place[r] = count(Request, lambda q: waiting(now, q)) + 1


def _is_taken_on(now: Listed, after: Listed, r: Request) -> None:
    last = count(Request, lambda q: running(now, q)) + 1
    for q in every(Request):
        after.place[q] = ite(q == r, last, _closed_up(now, q, r))


def _goes_back(now: Listed, after: Listed, r: Request) -> None:
    for q in every(Request):
        moved = now.place[q] + ite(waiting(now, q), 1, 0) - ite(_behind(now, q, r), 1, 0)
        after.place[q] = ite(q == r, 1, moved)


def _is_gone(now: Listed, after: Listed, r: Request) -> None:
    for q in every(Request):
        after.place[q] = ite(q == r, 0, _closed_up(now, q, r))


LISTS: tuple[Edit, ...] = (
    Widen(Listed),
    Extend("submit", _queues),
    Extend("admit", _is_taken_on),
    Extend("preempt", _goes_back),
    *(
        Extend(rule, _is_gone)
        for rule in ("reject", "abort", "retire_stop", "retire_length", "retire_late_stop", "retire_late_length")
    ),
)
