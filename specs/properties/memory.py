"""What is really in the KV memory when a step reads it."""

from __future__ import annotations

from model.language import Term, count, exists, forall, implies, prop, step
from model.lifecycle.content import holds_enough
from model.lifecycle.dials import Block, Publish, Request, Slot, Worker, memory_matters, publish
from model.lifecycle.state import Entry, Lifecycle, Status
from model.lifecycle.terms import due, running
from specs.kinds import EARLY_REUSE, STALE_RESULT, VISIBILITY
from specs.properties.progress import executed_tokens


@step(
    rule="R2, R3",
    reason="This is the damage itself: attention over KV of another text gives wrong tokens, and no counter shows it.",
    catches=(EARLY_REUSE, VISIBILITY, STALE_RESULT),
    needs=memory_matters,
    witness=lambda before, then: exists(
        Slot,
        lambda i: exists(
            Request, lambda r: exists(Block, lambda b: (before.uses[i, r, b] > 1) & (then.uses[i, r, b] == 0))
        ),
    ),
)
def reads_own_text(before: Lifecycle, then: Lifecycle) -> Term:
    """When a step executes, each live (or due) entry finds the KV of its own text in every block it uses."""

    def executed(s: Lifecycle) -> Term:
        return count(Slot, lambda i: s.status[i] == Status.EXECUTED)

    def runs(i: Slot, w: Worker) -> Term:
        """The step is run by the worker now. (When the window moves up instead, there is an executed step less.)"""
        newly = (before.status[i] == Status.LAUNCHED) & ~before.ran[i, w]
        done = (then.status[i] == Status.EXECUTED) | then.ran[i, w]
        return newly & done & (executed(then) >= executed(before))

    def finds(i: Slot, w: Worker, r: Request, b: Block) -> Term:
        end = before.start[i, r] + before.tokens[i, r]
        return implies(before.uses[i, r, b] > 0, holds_enough(then, b, w, r, before.uses[i, r, b], end))

    def reads(i: Slot, w: Worker) -> Term:
        return forall(
            Request,
            lambda r: implies(
                (before.entry[i, r] == Entry.LIVE) | due(before, i, r), forall(Block, lambda b: finds(i, w, r, b))
            ),
        )

    return forall(Slot, lambda i: forall(Worker, lambda w: implies(runs(i, w), reads(i, w))))


def holds_text_so_far(s: Lifecycle, r: Request, b: Block, w: Worker, tokens: Term) -> Term:
    """A block in the request's table holds all of its first `tokens` tokens that belong there."""
    return implies(s.table[r, b] > 0, holds_enough(s, b, w, r, s.table[r, b], tokens))


@prop(
    rule="R2, R3",
    reason="What the engine believes settled must be in memory, or a later step reads what is not there. "
    "This breaks several steps before the wrong read.",
    catches=(EARLY_REUSE, VISIBILITY),
    needs=memory_matters & (publish == Publish.COMPUTED),
    witness=lambda s: exists(Request, lambda r: running(s, r) & (s.computed[r] > 0)),
)
def settled_is_there(s: Lifecycle) -> Term:
    """A running request's blocks really hold its settled tokens, and those of its executed steps, on every worker."""

    def there(r: Request, b: Block, w: Worker) -> Term:
        return holds_text_so_far(s, r, b, w, s.computed[r] + executed_tokens(s, r))

    return forall(
        Request,
        lambda r: implies(running(s, r), forall(Block, lambda b: forall(Worker, lambda w: there(r, b, w)))),
    )
