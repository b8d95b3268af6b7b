"""Results that arrive after a preemption and are committed all the same."""

from __future__ import annotations

from model.language import Term, before, forall, implies, ite, prop
from model.lifecycle.dials import LateResult, Request, Slot, late_result
from model.lifecycle.state import Entry, Lifecycle
from model.lifecycle.terms import due, known, running


def late(s: Lifecycle, i: Slot, r: Request) -> Term:
    """The step holds a sampled token of a residency that has ended."""
    return (s.entry[i, r] == Entry.STALE) & s.samples[i, r]


@prop(
    needs=late_result == LateResult.COMMIT,
    reason="admit waits for what is due; every counter of a running request needs that nothing is committed behind its back.",
)
def waited_for(s: Lifecycle) -> Term:
    """No request runs while a token of an earlier residency may still be committed for it."""
    return forall(Slot, lambda i: forall(Request, lambda r: implies(late(s, i, r), ~running(s, r))))


@prop(
    needs=late_result == LateResult.COMMIT,
    reason="delivery.context-first needs it: when the residency ended, only the entry itself still knows where it started.",
)
def follows_on(s: Lifecycle) -> Term:
    """A token that is due follows on what is committed and on the tokens due before it."""
    return forall(
        Slot,
        lambda i: forall(
            Request,
            lambda r: implies(
                due(s, i, r),
                s.start[i, r] + s.tokens[i, r] == known(s, r) + before(i, lambda j: ite(late(s, j, r), 1, 0)),
            ),
        ),
    )
