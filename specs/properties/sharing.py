"""Blocks shared through the prefix cache: what they are published as, and when that is true."""

from __future__ import annotations

from model.language import Term, exists, forall, implies, ite, prop, step
from model.lifecycle.content import holds_enough
from model.lifecycle.dials import (
    Block,
    Cache,
    Publish,
    Request,
    Slot,
    Worker,
    block_size,
    cache,
    family,
    memory_matters,
    prefix,
    prompt,
    publish,
    sharing,
)
from model.lifecycle.sharing import in_prefix, is_published, promised, published_as
from model.lifecycle.state import Lifecycle, Status
from model.lifecycle.terms import known, running
from specs.kinds import EARLY_REUSE, OVER_RELEASE, VISIBILITY


@prop(
    rule="R3",
    reason="A hit takes a block by its name. Under a wrong name it brings another text's KV.",
    catches=(VISIBILITY,),
    needs=sharing,
    witness=lambda s: exists(Block, lambda b: is_published(s, b) & (s.ref[b] > 1)),
)
def named_rightly(s: Lifecycle) -> Term:
    """A published block in a block table is published as the text at its position there."""
    return forall(
        Request,
        lambda r: forall(
            Block,
            lambda b: implies(is_published(s, b) & (s.table[r, b] > 0), published_as(s, b, r, s.table[r, b])),
        ),
    )


@prop(
    rule="R3",
    reason="A block that is visible before it is computed is read by others as if it were.",
    catches=(VISIBILITY,),
    needs=sharing,
    witness=lambda s: exists(Request, lambda r: exists(Block, lambda b: is_published(s, b) & (s.table[r, b] > 0))),
)
def computed_first(s: Lifecycle) -> Term:
    """A published block in a running request's table is computed (or, if publishing is ordered, at least planned)."""

    def tokens(r: Request) -> Term:
        return ite(publish == Publish.COMPUTED, s.computed[r], s.scheduled[r] + s.planned[r])

    return forall(
        Request,
        lambda r: forall(
            Block,
            lambda b: implies(
                is_published(s, b) & (s.table[r, b] > 0) & running(s, r), s.table[r, b] * block_size <= tokens(r)
            ),
        ),
    )


@prop(
    rule="R3",
    reason="Behind the prefix every request's text is its own; shared, it would be another's.",
    catches=(VISIBILITY,),
    needs=sharing,
    witness=lambda s: exists(Block, lambda b: s.published[b] > 0),
)
def within_prefix(s: Lifecycle) -> Term:
    """What is published for a family lies within its shared prefix."""
    return forall(Block, lambda b: s.published[b] * block_size <= prefix)


@prop(
    rule="R3",
    reason="The cache is a promise about memory. A block that does not hold what it is published as is silent corruption.",
    catches=(VISIBILITY, EARLY_REUSE),
    needs=sharing & memory_matters,
    witness=lambda s: exists(
        Block, lambda b: exists(Worker, lambda w: is_published(s, b) & (s.valid[b, w] == block_size))
    ),
)
def holds_what_it_claims(s: Lifecycle) -> Term:
    """A published block really holds all of that text, or a step planned or in flight will write it."""

    def coming(r: Request, q: Request, b: Block, w: Worker, position: Term) -> Term:
        """The text of r at this position, which is q's text there too, is planned or in flight for q."""
        same_text = ite(in_prefix(position), family[q] == family[r], q == r)
        in_flight = exists(
            Slot,
            lambda i: (
                (s.status[i] == Status.LAUNCHED)
                & ~s.ran[i, w]
                & (s.uses[i, q, b] == position)
                & (s.start[i, q] + s.tokens[i, q] >= position * block_size)
            ),
        )
        return (publish == Publish.ORDERED) & same_text & (in_flight | promised(s, q, b))

    def true_for(r: Request, b: Block, w: Worker, position: Term) -> Term:
        return implies(
            (position > 0) & published_as(s, b, r, position),
            holds_enough(s, b, w, r, position, position * block_size)
            | exists(Request, lambda q: coming(r, q, b, w, position)),
        )

    def true_on(w: Worker) -> Term:
        return forall(
            Request,
            lambda r: forall(
                Block, lambda b: true_for(r, b, w, s.published[b]) & true_for(r, b, w, s.published_own[r, b])
            ),
        )

    return forall(Worker, true_on)


@step(
    rule="R3",
    reason="Between finding a cached block and holding it, an allocation could take it away.",
    catches=(VISIBILITY, OVER_RELEASE),
    needs=sharing,
    witness=lambda before, then: exists(Block, lambda b: is_published(before, b) & (then.ref[b] > before.ref[b])),
)
def hit_is_pinned(before: Lifecycle, then: Lifecycle) -> Term:
    """A block that enters a block table counts one reference more in the same moment."""
    return forall(
        Request,
        lambda r: forall(
            Block,
            lambda b: implies((before.table[r, b] == 0) & (then.table[r, b] > 0), then.ref[b] == before.ref[b] + 1),
        ),
    )


@step(
    rule="R3",
    reason="Evicting a block that somebody holds hands it to a second owner, or hides what is still shared.",
    catches=(VISIBILITY, OVER_RELEASE),
    needs=sharing,
    witness=lambda before, then: exists(Block, lambda b: is_published(before, b) & ~is_published(then, b)),
)
def evicts_unheld(before: Lifecycle, then: Lifecycle) -> Term:
    """A block leaves the cache only when nobody holds it, or when a promise to write it is taken back."""

    def given_up(b: Block) -> Term:
        return exists(Request, lambda r: promised(before, r, b) & (before.ref[b] == 1))

    return forall(
        Block,
        lambda b: implies(is_published(before, b) & ~is_published(then, b), (before.ref[b] == 0) | given_up(b)),
    )


@prop(
    rule="R3",
    reason="A block under two names would be a hit for two texts, and can hold only one.",
    catches=(VISIBILITY,),
    needs=cache == Cache.ALL,
    witness=lambda s: exists(Request, lambda r: exists(Block, lambda b: s.published_own[r, b] > 0)),
)
def one_name(s: Lifecycle) -> Term:
    """A block is published under one name only."""
    return forall(
        Block,
        lambda b: forall(
            Request,
            lambda r: implies(
                s.published_own[r, b] > 0,
                (s.published[b] == 0) & forall(Request, lambda q: (q == r) | (s.published_own[q, b] == 0)),
            ),
        ),
    )


@prop(
    rule="R3",
    reason="A name made of tokens that are not decided yet is the name of a text that may never be.",
    catches=(VISIBILITY,),
    needs=cache == Cache.ALL,
    witness=lambda s: exists(
        Request, lambda r: exists(Block, lambda b: s.published_own[r, b] * block_size > prompt[r])
    ),
)
def decided_first(s: Lifecycle) -> Term:
    """What is published of a request's own text lies within the tokens that are decided."""
    return forall(Request, lambda r: forall(Block, lambda b: s.published_own[r, b] * block_size <= known(s, r)))
