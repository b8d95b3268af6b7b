"""What the progress counters of a request say of each other."""

from __future__ import annotations

from model.language import Term, forall, implies, prop
from model.lifecycle.dials import Request, limit, overrun
from model.lifecycle.state import Lifecycle
from model.lifecycle.terms import known


@prop(
    needs=~overrun,
    reason="select checks it when it plans; progress.within-limit needs it still to be so when the step is launched.",
)
def plan_is_wanted(s: Lifecycle) -> Term:
    """What is planned for a request is planned towards a token that it may still have."""
    return forall(Request, lambda r: implies(s.planned[r] > 0, s.committed[r] + s.owed[r] < limit[r]))


@prop(
    reason="progress.something-left needs it: once the last owed token is committed, that very token is still to be computed.",
)
def owed_is_next(s: Lifecycle) -> Term:
    """A request that is owed tokens has all its context computed or in flight, but for the last token owed."""
    return forall(Request, lambda r: implies(s.owed[r] > 0, s.scheduled[r] + 1 == known(s, r) + s.owed[r]))
