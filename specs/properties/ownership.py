"""Who owns which block of KV memory, and for how long."""

from __future__ import annotations

from model.language import Term, count, exists, forall, implies, prop, step
from model.lifecycle.dials import Block, Release, Request, Slot, release
from model.lifecycle.sharing import is_published
from model.lifecycle.state import Entry, Lifecycle, Status
from model.lifecycle.terms import held, in_window, running
from specs.kinds import EARLY_REUSE, LEAK, OVER_RELEASE


@prop(
    rule="R1",
    reason="The count decides when a block is free. Below the truth a block is handed out while somebody still uses it; "
    "above it the block is never handed out again.",
    catches=(OVER_RELEASE, LEAK),
    witness=lambda s: exists(Block, lambda b: s.ref[b] > 0),
)
def references(s: Lifecycle) -> Term:
    """A block's reference count is the number of requests whose block table holds it, so free means held by nobody."""
    return forall(Block, lambda b: s.ref[b] == count(Request, lambda r: s.table[r, b] > 0))


@prop(
    rule="R1",
    reason="Two requests that write one block overwrite each other's KV.",
    catches=(OVER_RELEASE, EARLY_REUSE),
    witness=lambda s: exists(
        Request, lambda r: exists(Request, lambda q: (r != q) & (held(s, r) > 0) & (held(s, q) > 0))
    ),
)
def exclusive(s: Lifecycle) -> Term:
    """A block in the block tables of two requests is one that the cache shared between them."""
    return forall(
        Request,
        lambda r: forall(
            Request,
            lambda q: forall(
                Block, lambda b: implies((r != q) & (s.table[r, b] > 0) & (s.table[q, b] > 0), is_published(s, b))
            ),
        ),
    )


@prop(
    rule="R1",
    reason="The position says which tokens' KV a block holds. A gap or a double makes attention read the wrong block.",
    catches=(OVER_RELEASE,),
    witness=lambda s: exists(Request, lambda r: held(s, r) > 1),
)
def positions(s: Lifecycle) -> Term:
    """The positions in a block table are 1, 2, ... up to the number of blocks held, each once."""
    return forall(
        Request,
        lambda r: forall(
            Block,
            lambda b: (
                (s.table[r, b] <= held(s, r))
                & forall(Block, lambda c: implies((b != c) & (s.table[r, b] > 0), s.table[r, b] != s.table[r, c]))
            ),
        ),
    )


@step(
    rule="R2",
    reason="A kernel in flight cannot be stopped. A block that changes hands before it has run is written by two owners.",
    catches=(EARLY_REUSE,),
    needs=release == Release.FENCED,
    witness=lambda s: exists(
        Slot,
        lambda i: exists(
            Request, lambda r: (s.status[i] == Status.LAUNCHED) & (s.entry[i, r] == Entry.STALE) & (held(s, r) > 0)
        ),
    ),
)
def keeps(before: Lifecycle, then: Lifecycle) -> Term:
    """What a launched step works for keeps its blocks, at their positions, until the step has executed."""
    return forall(
        Slot,
        lambda i: forall(
            Request,
            lambda r: forall(
                Block,
                lambda b: implies(
                    (before.status[i] == Status.LAUNCHED) & in_window(before, i, r) & (before.table[r, b] > 0),
                    then.table[r, b] == before.table[r, b],
                ),
            ),
        ),
    )


@prop(
    rule="R2",
    reason="A request that runs again while a step of its last residency is on the device would share its blocks with it.",
    catches=(EARLY_REUSE,),
    needs=release == Release.FENCED,
    witness=lambda s: exists(
        Slot, lambda i: exists(Request, lambda r: (s.status[i] == Status.LAUNCHED) & (s.entry[i, r] == Entry.STALE))
    ),
)
def stale_waits(s: Lifecycle) -> Term:
    """While a launched step still holds stale work of a request, the request is not running again."""
    return forall(
        Slot,
        lambda i: forall(
            Request,
            lambda r: implies((s.status[i] == Status.LAUNCHED) & (s.entry[i, r] == Entry.STALE), ~running(s, r)),
        ),
    )


@prop(
    rule="R2",
    reason="Attention reads every block of the request from the first token on. A block that somebody else holds too, or "
    "that is free, holds somebody else's KV by the time it is read.",
    catches=(EARLY_REUSE, OVER_RELEASE),
    witness=lambda s: exists(
        Slot, lambda i: exists(Request, lambda r: (s.status[i] == Status.LAUNCHED) & in_window(s, i, r))
    ),
)
def reads_own(s: Lifecycle) -> Term:
    """Live work in a launched step finds the request's blocks in its hands: its alone, or shared through the cache."""

    def own(r: Request, b: Block) -> Term:
        alone = (s.ref[b] == 1) & (count(Request, lambda q: s.table[q, b] > 0) == 1)
        return implies(s.table[r, b] > 0, alone | (is_published(s, b) & (s.ref[b] > 0)))

    return forall(
        Slot,
        lambda i: forall(
            Request,
            lambda r: implies(
                (s.status[i] == Status.LAUNCHED) & (s.entry[i, r] == Entry.LIVE),
                (held(s, r) > 0) & forall(Block, lambda b: own(r, b)),
            ),
        ),
    )
