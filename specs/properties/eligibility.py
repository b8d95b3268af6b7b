"""What a step may contain, and that nothing changes it once it is launched."""

from __future__ import annotations

from model.language import (
    Term,
    count,
    every_of,
    exists,
    forall,
    implies,
    ite,
    prop,
    reachable,
    step,
    total,
)
from model.language import (
    before as before_slot,
)
from model.lifecycle.dials import (
    Block,
    Device,
    LateResult,
    Request,
    Slot,
    Worker,
    budget,
    depth,
    device,
    late_result,
    memory_matters,
    mixed,
    seats,
    workers,
)
from model.lifecycle.state import Entry, Lifecycle, Status, oldest
from model.lifecycle.terms import decoding, finished, in_window, known, running
from specs.kinds import COUNTERS, EARLY_REUSE, SELECTION, SPLICED_OUTPUT, STALE_RESULT
from specs.properties.progress import live_upto


@prop(
    rule="R8",
    reason="The budget bounds the time of a step and the size of its tensors.",
    catches=(SELECTION,),
    witness=lambda s: total(Request, lambda r: s.planned[r]) == budget,
)
def within_budget(s: Lifecycle) -> Term:
    """The tokens planned for a step stay within the token budget."""
    return total(Request, lambda r: s.planned[r]) <= budget


@prop(
    rule="R8",
    reason="Seats stand for what the engine has one of for each running request: rows of the batch, sampling states.",
    catches=(SELECTION,),
    witness=lambda s: count(Request, lambda r: running(s, r)) == seats,
)
def within_seats(s: Lifecycle) -> Term:
    """No more requests run than there are seats."""
    return count(Request, lambda r: running(s, r)) <= seats


@prop(
    rule="R8",
    reason="Tokens planned when the window is full belong to a step that cannot be launched.",
    catches=(SELECTION,),
    witness=lambda s: total(Request, lambda r: s.planned[r]) > 0,
)
def room_for_plan(s: Lifecycle) -> Term:
    """If anything is planned, the window has room for the step."""
    return implies(total(Request, lambda r: s.planned[r]) > 0, exists(Slot, lambda i: s.status[i] == Status.EMPTY))


@prop(
    rule="R8",
    reason="A finished request computes nothing more; anything planned for it is work and memory for nobody.",
    catches=(SELECTION,),
    witness=lambda s: exists(
        Request, lambda r: finished(s, r) & exists(Request, lambda q: (q != r) & (s.planned[q] > 0))
    ),
)
def only_running(s: Lifecycle) -> Term:
    """Tokens are planned for running requests only: never for one that is finished or preempted."""
    return forall(Request, lambda r: implies(s.planned[r] > 0, running(s, r)))


@prop(
    rule="R8",
    reason="Prefill is long and decode is short; an engine without chunked mixing keeps them in steps of their own.",
    catches=(SELECTION,),
    needs=~mixed,
    witness=lambda s: exists(
        Request, lambda r: exists(Request, lambda q: (r != q) & (s.planned[r] > 0) & (s.planned[q] > 0))
    ),
)
def unmixed(s: Lifecycle) -> Term:
    """Where mixing is off, no step is planned with both prefill and decode."""
    return forall(
        Request,
        lambda r: forall(
            Request,
            lambda q: implies((s.planned[r] > 0) & (s.planned[q] > 0), decoding(s, r) == decoding(s, q)),
        ),
    )


@reachable(
    rule="R8",
    needs=mixed,
    reason="Mixing is what iteration-level scheduling is for: a prompt joins a batch that decodes.",
)
def mixes(s: Lifecycle) -> Term:
    """A step is planned with prefill of one request and decode of another."""
    return exists(
        Request,
        lambda r: exists(Request, lambda q: (s.planned[r] > 0) & (s.planned[q] > 0) & decoding(s, r) & ~decoding(s, q)),
    )


@prop(
    rule="R8",
    reason="The window is first in, first out: results are taken in launch order, and places are reused in order.",
    catches=(SELECTION, COUNTERS),
    witness=lambda s: s.status[oldest] == Status.EXECUTED,
)
def window(s: Lifecycle) -> Term:
    """The window is filled (and, in order, executed) from the oldest on.

    An entry has tokens exactly where it has work, and samples only there.
    """

    def filled(i: Slot) -> Term:
        return (s.status[i] == Status.EMPTY) | forall(Slot, lambda j: (j >= i) | (s.status[j] != Status.EMPTY))

    def in_order(i: Slot) -> Term:
        older = forall(Slot, lambda j: (j >= i) | (s.status[j] == Status.EXECUTED))
        return (device == Device.UNORDERED) | (s.status[i] != Status.EXECUTED) | older

    def entries(i: Slot, r: Request) -> Term:
        empty = implies(s.status[i] == Status.EMPTY, ~in_window(s, i, r))
        work = (in_window(s, i, r) == (s.tokens[i, r] > 0)) & implies(s.samples[i, r], in_window(s, i, r))
        return work & empty

    return forall(Slot, lambda i: filled(i) & in_order(i) & forall(Request, lambda r: entries(i, r)))


@prop(
    rule="R8",
    reason="An ordinary decode needs all context before it. Sampling earlier gives a token of another text.",
    catches=(SPLICED_OUTPUT, COUNTERS),
    witness=lambda s: exists(
        Slot, lambda i: exists(Request, lambda r: (s.entry[i, r] == Entry.LIVE) & ~s.samples[i, r])
    ),
)
def samples_at_end(s: Lifecycle) -> Term:
    """A live entry samples exactly if it completes the context known by then: an earlier chunk never does."""

    def end(i: Slot, r: Request) -> Term:
        return s.computed[r] + live_upto(s, i, r) + s.tokens[i, r]

    def wanted(i: Slot, r: Request) -> Term:
        return known(s, r) + before_slot(i, lambda j: ite((s.entry[j, r] == Entry.LIVE) & s.samples[j, r], 1, 0))

    return forall(
        Slot,
        lambda i: forall(
            Request, lambda r: implies(s.entry[i, r] == Entry.LIVE, s.samples[i, r] == (end(i, r) == wanted(i, r)))
        ),
    )


@prop(
    rule="R5",
    reason="A gap between two chunks is KV that nobody computes; an overlap is work done twice.",
    catches=(COUNTERS, SPLICED_OUTPUT),
    needs=memory_matters | (late_result == LateResult.COMMIT),
    witness=lambda s: exists(
        Slot, lambda i: exists(Request, lambda r: (s.entry[i, r] == Entry.LIVE) & (s.start[i, r] > s.computed[r]))
    ),
)
def contiguous(s: Lifecycle) -> Term:
    """A request's live entries in launched steps follow one another without gap or overlap, from what is settled on.

    Where late results are committed, this is so of executed steps too, which still know where they started.
    """

    def begins(i: Slot, r: Request) -> Term:
        return s.computed[r] + live_upto(s, i, r)

    needed = late_result == LateResult.COMMIT
    return forall(
        Slot,
        lambda i: forall(
            Request,
            lambda r: implies(
                (s.entry[i, r] == Entry.LIVE) & (needed | (s.status[i] == Status.LAUNCHED)),
                s.start[i, r] == begins(i, r),
            ),
        ),
    )


@prop(
    rule="R8",
    reason="A step whose results are taken before every worker has run it is read by workers that lag behind.",
    catches=(EARLY_REUSE, COUNTERS),
    needs=workers > 1,
    witness=lambda s: exists(Slot, lambda i: exists(Worker, lambda w: s.ran[i, w])),
)
def run_by_all(s: Lifecycle) -> Term:
    """A step that some workers have run, and others not, is still launched."""
    return forall(
        Slot,
        lambda i: (
            forall(Worker, lambda w: implies(s.ran[i, w], s.status[i] == Status.LAUNCHED))
            & ~forall(Worker, lambda w: s.ran[i, w])
        ),
    )


@reachable(rule="R8", needs=depth > 1, reason="A window of two is there to plan a step while another runs.")
def runs_ahead(s: Lifecycle) -> Term:
    """A request has work in two launched steps at once, the later for a token that the earlier will sample."""
    return exists(
        Request,
        lambda r: (
            (s.entry[oldest, r] == Entry.LIVE)
            & (s.status[oldest.next] == Status.LAUNCHED)
            & (s.entry[oldest.next, r] == Entry.LIVE)
            & s.samples[oldest, r]
        ),
    )


@prop(
    rule="R9",
    reason="A result counts only for the residency that asked for it: after a preemption or a cancel it is stale.",
    catches=(STALE_RESULT,),
    witness=lambda s: exists(Slot, lambda i: exists(Request, lambda r: s.entry[i, r] == Entry.LIVE)),
)
def live_is_running(s: Lifecycle) -> Term:
    """Live work in the window belongs to a running request; of one that left, it is stale."""
    return forall(Slot, lambda i: forall(Request, lambda r: implies(s.entry[i, r] == Entry.LIVE, running(s, r))))


@step(
    rule="R2",
    reason="Nothing interrupts a running kernel: what was launched is what will be computed, for the same requests.",
    catches=(EARLY_REUSE, SELECTION),
    witness=lambda s: s.status[oldest] == Status.LAUNCHED,
)
def launched_is_fixed(before: Lifecycle, then: Lifecycle) -> Term:
    """A launched step keeps its requests, tokens and samples until it has executed, also when the window moves up."""

    def same_place(i: Slot, j: Slot, r: Request) -> Term:
        uses = forall(Block, lambda b: then.uses[j, r, b] == before.uses[i, r, b])
        return (then.start[j, r] == before.start[i, r]) & uses

    def same(i: Slot, j: Slot) -> Term:
        """What was in place i before is in place j then; live work may have turned stale, stale never live."""
        return forall(
            Request,
            lambda r: every_of(
                in_window(before, i, r) == in_window(then, j, r),
                (before.entry[i, r] != Entry.STALE) | (then.entry[j, r] == Entry.STALE),
                then.tokens[j, r] == before.tokens[i, r],
                then.samples[j, r] == before.samples[i, r],
                implies(then.status[j] == Status.LAUNCHED, same_place(i, j, r)),
            ),
        )

    return implies(before.status[oldest] == Status.LAUNCHED, same(oldest, oldest)) & forall(
        Slot,
        lambda i: implies(before.status[i.next] == Status.LAUNCHED, same(i.next, i.next) | same(i.next, i)),
    )
