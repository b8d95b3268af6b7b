"""What must happen, in the end: promises that hold in every run that is fair to the rules that are declared fair.

Fair are the rules by which an engine works off what it has begun. Nobody promises that clients submit or cancel, and
without a policy nobody promises that the scheduler admits, plans or preempts: it may stand still with requests waiting.
So that a submitted request ends is the promise of a policy (specs/policies), and asked of one only.

These are no properties of single states or steps. They are judged on the whole graph of a world by a search of their own
(checker/search/liveness.py); what runs single traces, stories or engines has nothing to say of them.
"""

from __future__ import annotations

from model.language import Term, leads_to
from model.language.terms import lift
from model.lifecycle.client import deliver
from model.lifecycle.dials import Publish, Request, publish
from model.lifecycle.engine import notify, recycle
from model.lifecycle.state import Lifecycle, Phase, Status, oldest
from model.lifecycle.terms import finished, held
from specs.kinds import ABORT, LEAK, STUCK, TERMINAL_MESSAGE


@leads_to(
    rule="R7",
    reason="A client that has gone away cannot ask twice; what it asked must not depend on luck.",
    catches=(ABORT, STUCK),
    needs=publish == Publish.COMPUTED,
)
def asked_finishes(s: Lifecycle, r: Request) -> tuple[Term, Term]:
    """A request whose client has asked for its end is finished in the end, for that reason or another.

    Not so where a prefix is published as soon as it is planned: a request is not aborted while others lean on its plan, and
    a scheduler that may preempt as it likes can renew that for ever.
    """
    return s.asked[r], finished(s, r)


@leads_to(
    rule="R6",
    reason="A client that is never told waits for ever, and keeps its connection.",
    catches=(TERMINAL_MESSAGE, STUCK),
)
def finished_is_told(s: Lifecycle, r: Request) -> tuple[Term, Term]:
    """A finished request has its one terminal message in the end."""
    return finished(s, r), s.notified[r] == 1


@leads_to(
    rule="R7, R16",
    reason="Memory that a request leaves behind is missing to all that come after it.",
    catches=(LEAK, STUCK),
)
def left_releases(s: Lifecycle, r: Request) -> tuple[Term, Term]:
    """A request that was preempted or is finished gives its blocks back in the end."""
    return (s.phase[r] == Phase.PREEMPTED) | finished(s, r), held(s, r) == 0


@leads_to(
    by=(recycle,),
    rule="R16",
    reason="A step that stays in the window takes its place from all later ones.",
    catches=(STUCK, LEAK),
)
def launched_recycles(s: Lifecycle) -> tuple[Term, Term]:
    """The oldest step of the window is recycled in the end, and so is every step, since the window moves up then."""
    return s.status[oldest] != Status.EMPTY, lift(False)


@leads_to(
    alone=(deliver, notify),
    rule="R6",
    reason="In a static batch a short answer waits for the longest one. Iteration-level scheduling exists to end that.",
    catches=(STUCK, TERMINAL_MESSAGE),
)
def leaves_early(s: Lifecycle, r: Request) -> tuple[Term, Term]:
    """A finished response is told of by its own steps alone, even if nothing else ever moves again."""
    return finished(s, r), s.notified[r] == 1


@leads_to(
    rule="R10",
    reason="Preemption must make progress: who is preempted for others, and they for him, may all compute for ever.",
    catches=(STUCK,),
)
def submitted_finishes(s: Lifecycle, r: Request) -> tuple[Term, Term]:
    """A submitted request is finished in the end. Only a policy can promise it."""
    return s.phase[r] != Phase.NEW, finished(s, r)
