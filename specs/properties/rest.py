"""That everything comes to rest: no dead end, and a way home from everywhere."""

from __future__ import annotations

from model.language import Term, at_rest, exists, forall, home, reachable
from model.lifecycle.client import cancel, submit
from model.lifecycle.dials import Block, Request, Slot
from model.lifecycle.state import Lifecycle, Phase, Reason, Status
from model.lifecycle.terms import finished
from specs.kinds import ABORT, LEAK, STUCK


def quiescent(s: Lifecycle) -> Term:
    """Every submitted request is finished and told so; nothing is held, and nothing is in flight."""
    told = forall(Request, lambda r: (s.phase[r] == Phase.NEW) | (finished(s, r) & (s.notified[r] == 1)))
    nothing_held = forall(Block, lambda b: (s.ref[b] == 0) & forall(Request, lambda r: s.table[r, b] == 0))
    return told & nothing_held & forall(Slot, lambda i: s.status[i] == Status.EMPTY)


@at_rest(
    apart_from=(submit, cancel),
    rule="R10, R16",
    reason="If only new arrivals could move the engine on, requests that were accepted wait for strangers.",
    catches=(STUCK, LEAK, ABORT),
)
def no_dead_end(s: Lifecycle) -> Term:
    """Where nothing can happen but a submit or a cancel, every request is answered and nothing is held or in flight."""
    return quiescent(s)


@home(
    apart_from=(submit, cancel),
    rule="R10, R16",
    reason="A running request can always be preempted, so an engine that only ever preempts has no dead end. "
    "It has no way home either.",
    catches=(STUCK, LEAK),
)
def way_home(s: Lifecycle) -> Term:
    """From every state, one can be reached in which every request is answered and nothing is held or in flight."""
    return quiescent(s)


@reachable(rule="R10", reason="A request that can never fit is answered, too.")
def refuses(s: Lifecycle) -> Term:
    """A request that can never fit was rejected, and its client was told."""
    return exists(Request, lambda r: (s.reason[r] == Reason.REJECTED) & (s.notified[r] > 0))
