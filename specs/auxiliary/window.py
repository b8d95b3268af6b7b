"""What is in the window of steps in flight."""

from __future__ import annotations

from model.language import Term, exists, forall, implies, prop
from model.lifecycle.dials import Release, Request, Slot, release
from model.lifecycle.state import Lifecycle, Status
from model.lifecycle.terms import held, in_window


@prop(
    reason="recycle looks only at entries; eligibility.launched-is-fixed needs to know that no launched step is without any.",
)
def launched_has_work(s: Lifecycle) -> Term:
    """A launched step holds something for some request."""
    return forall(
        Slot, lambda i: implies(s.status[i] == Status.LAUNCHED, exists(Request, lambda r: in_window(s, i, r)))
    )


@prop(
    needs=release == Release.FENCED,
    reason="admit looks only at the hands; ownership.stale-waits needs that empty hands mean nothing is on the device.",
)
def launched_holds(s: Lifecycle) -> Term:
    """Where releases are fenced, a request with work in a launched step holds blocks."""
    return forall(
        Slot,
        lambda i: forall(
            Request,
            lambda r: implies((s.status[i] == Status.LAUNCHED) & in_window(s, i, r), held(s, r) > 0),
        ),
    )
