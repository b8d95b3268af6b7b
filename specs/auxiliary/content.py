"""What is known of the ghost memory between the writes: who may still write a block, and what is in it for whom.

Where blocks are freed while steps are in flight, a block may get a new owner before the last write of the old one. That
does no harm as long as the old write comes first, and until then the new owner has nothing in the block.
"""

from __future__ import annotations

from model.language import Term, exists, forall, implies, ite, prop
from model.lifecycle.content import Span
from model.lifecycle.dials import (
    Block,
    Device,
    Publish,
    Release,
    Request,
    Slot,
    Worker,
    block_size,
    device,
    memory_matters,
    publish,
    release,
    sharing,
)
from model.lifecycle.sharing import is_published
from model.lifecycle.state import Entry, Lifecycle, Status
from model.lifecycle.terms import in_window, running
from model.lifecycle.worker import has_run
from specs.properties.memory import holds_text_so_far
from specs.properties.progress import executed_tokens, live_tokens, live_upto

COMPUTED = memory_matters & (publish == Publish.COMPUTED)
IN_ORDER = COMPUTED & (device == Device.IN_ORDER)
UNORDERED = COMPUTED & (device == Device.UNORDERED) & (release == Release.FENCED)


def writes(s: Lifecycle, i: Slot, r: Request, b: Block) -> Term:
    """A launched step has tokens of the request to write into the block."""
    return (s.status[i] == Status.LAUNCHED) & Span(s, i, r, b).happens


def reached(s: Lifecycle, i: Slot, r: Request) -> Term:
    """What the request will have settled when all its live work up to this step, this one included, is taken in."""
    return s.computed[r] + live_upto(s, i, r) + ite(s.entry[i, r] == Entry.LIVE, s.tokens[i, r], 0)


@prop(
    needs=memory_matters,
    reason="memory.settled-is-there needs it: what a step uses is known only from the block table it was launched with.",
)
def uses_its_table(s: Lifecycle) -> Term:
    """Live work in a launched step uses the request's blocks at their places, as far as its tokens reach."""

    def used(i: Slot, r: Request, b: Block) -> Term:
        place = s.table[r, b]
        within = (place > 0) & ((place - 1) * block_size < s.start[i, r] + s.tokens[i, r])
        return s.uses[i, r, b] == ite(within, place, 0)

    return forall(
        Slot,
        lambda i: forall(
            Request,
            lambda r: implies(
                (s.status[i] == Status.LAUNCHED) & (s.entry[i, r] == Entry.LIVE),
                forall(Block, lambda b: used(i, r, b)),
            ),
        ),
    )


@prop(needs=memory_matters, reason="auxiliary content.writes-apart needs it: only launched work will write.")
def used_in_flight(s: Lifecycle) -> Term:
    """Only work in a launched step uses blocks."""
    return forall(
        Slot,
        lambda i: forall(
            Request,
            lambda r: implies(
                (s.status[i] != Status.LAUNCHED) | ~in_window(s, i, r), forall(Block, lambda b: s.uses[i, r, b] == 0)
            ),
        ),
    )


@prop(
    needs=memory_matters & (device == Device.IN_ORDER),
    reason="auxiliary pending.reads-its-text needs it: what a worker has run is the oldest part of the window.",
)
def runs_from_oldest(s: Lifecycle) -> Term:
    """What a worker has run, it has run from the oldest step on."""
    return forall(
        Slot,
        lambda i: forall(
            Worker,
            lambda w: implies(has_run(s, i, w), forall(Slot, lambda j: (j >= i) | has_run(s, j, w))),
        ),
    )


@prop(
    needs=COMPUTED,
    reason="memory.settled-is-there needs it: a block that was freed in flight is still written for its last owner.",
)
def writes_apart(s: Lifecycle) -> Term:
    """Until a block's last owner is done with it, its new owner has nothing in it."""

    def apart(i: Slot, q: Request, r: Request, b: Block) -> Term:
        own = (s.entry[i, q] == Entry.LIVE) & (q == r)
        return own | (reached(s, i, r) <= (s.table[r, b] - 1) * block_size)

    return forall(
        Slot,
        lambda i: forall(
            Request,
            lambda q: forall(
                Request,
                lambda r: forall(
                    Block,
                    lambda b: implies(
                        writes(s, i, q, b) & running(s, r) & (s.table[r, b] > 0),
                        apart(i, q, r, b),
                    ),
                ),
            ),
        ),
    )


@prop(
    needs=COMPUTED & sharing,
    reason="sharing.holds-what-it-claims needs it: what others may read is written no more.",
)
def cached_is_written(s: Lifecycle) -> Term:
    """No launched step has anything to write into a published block."""
    return forall(
        Block,
        lambda b: implies(is_published(s, b), ~exists(Slot, lambda i: exists(Request, lambda r: writes(s, i, r, b)))),
    )


@prop(
    needs=COMPUTED,
    reason="memory.settled-is-there needs it: the next step goes on where what is settled ends.",
)
def settled_on_each(s: Lifecycle) -> Term:
    """On every worker, a running request's blocks hold its settled tokens."""
    return forall(
        Request,
        lambda r: implies(
            running(s, r),
            forall(Block, lambda b: forall(Worker, lambda w: holds_text_so_far(s, r, b, w, s.computed[r]))),
        ),
    )


@prop(
    needs=IN_ORDER,
    reason="memory.settled-is-there needs it: a worker may be ahead of what is settled.",
)
def run_on_each(s: Lifecycle) -> Term:
    """A worker that has run a step holds a running request's tokens up to that step's."""

    def there(i: Slot, w: Worker, r: Request, b: Block) -> Term:
        return holds_text_so_far(s, r, b, w, reached(s, i, r))

    return forall(
        Slot,
        lambda i: forall(
            Worker,
            lambda w: implies(
                has_run(s, i, w),
                forall(Request, lambda r: implies(running(s, r), forall(Block, lambda b: there(i, w, r, b)))),
            ),
        ),
    )


@prop(
    needs=UNORDERED,
    reason="memory.settled-is-there needs it: where steps may overtake each other, nobody writes what another holds.",
)
def uses_what_it_holds(s: Lifecycle) -> Term:
    """Where releases are fenced, what a launched step uses is still in the request's hands."""
    return forall(
        Slot,
        lambda i: forall(
            Request, lambda r: forall(Block, lambda b: (s.uses[i, r, b] == 0) | (s.uses[i, r, b] == s.table[r, b]))
        ),
    )


@prop(
    needs=UNORDERED,
    reason="auxiliary pending.reads-its-text needs it: an unordered device still runs each request's own work in its order.",
)
def own_work_in_order(s: Lifecycle) -> Term:
    """Of a request's work, a worker has run the older first."""

    def ordered(j: Slot, i: Slot, r: Request) -> Term:
        both = in_window(s, j, r) & in_window(s, i, r)
        return implies(both, forall(Worker, lambda w: implies(has_run(s, i, w), has_run(s, j, w))))

    return forall(Slot, lambda i: forall(Slot, lambda j: (j >= i) | forall(Request, lambda r: ordered(j, i, r))))


@prop(
    needs=UNORDERED,
    reason="memory.settled-is-there needs it: the next step goes on where the request's own work before it ends.",
)
def own_on_each(s: Lifecycle) -> Term:
    """A worker that has run a request's live work holds its tokens up to there."""

    def there(i: Slot, w: Worker, r: Request, b: Block) -> Term:
        return holds_text_so_far(s, r, b, w, reached(s, i, r))

    def ran(i: Slot, w: Worker, r: Request) -> Term:
        return (s.entry[i, r] == Entry.LIVE) & has_run(s, i, w)

    return forall(
        Slot,
        lambda i: forall(
            Worker,
            lambda w: forall(Request, lambda r: implies(ran(i, w, r), forall(Block, lambda b: there(i, w, r, b)))),
        ),
    )


@prop(
    needs=COMPUTED,
    reason="memory.settled-is-there needs it: what is executed is what the steps before the first unexecuted one hold.",
)
def executed_before(s: Lifecycle) -> Term:
    """A request's live tokens that are executed are all in steps before any of its own (in order: any) that is not."""

    def later(i: Slot, r: Request) -> Term:
        waits = (device == Device.IN_ORDER) | (s.entry[i, r] == Entry.LIVE)
        return implies(waits, executed_tokens(s, r) <= live_upto(s, i, r))

    return forall(Request, lambda r: executed_tokens(s, r) <= live_tokens(s, r)) & forall(
        Slot,
        lambda i: implies(s.status[i] != Status.EXECUTED, forall(Request, lambda r: later(i, r))),
    )
