"""Names of cached blocks: what text a block is published as.

A block is named by the text it holds, not by who computed it: recomputing a text gives the same KV. The first
`prefix` tokens of a request are its family's; what follows is its own.
"""

from __future__ import annotations

from model.language.build import forall, ite
from model.language.rules import every
from model.language.terms import Term
from model.lifecycle.dials import Block, Cache, Publish, Request, block_size, cache, family, prefix, publish, sharing
from model.lifecycle.state import Lifecycle


def in_prefix(position: Term) -> Term:
    """Whether the block at this position of a request's table holds only tokens of the shared prefix."""
    return sharing & (position * block_size <= prefix)


def is_published(s: Lifecycle, b: Block) -> Term:
    """Whether the block can be found in the cache."""
    return (s.published[b] > 0) | ~forall(Request, lambda q: s.published_own[q, b] == 0)


def published_as(s: Lifecycle, b: Block, r: Request, position: Term) -> Term:
    """Whether the cache's name for the block is that of the text at this position (from 1) of the request.

    Where only the prefix is cached every name is taken for one of the prefix, rightly or not, as in name_block.
    """
    shared = (s.published[b] == position) & (s.published_family[b] == family[r])
    return ite((cache == Cache.PREFIX) | in_prefix(position), shared, s.published_own[r, b] == position)


def name_block(after: Lifecycle, r: Request, b: Block, position: Term) -> None:
    """The block is published as the text at this position of the request.

    Where only the prefix is cached every name is taken for one of the prefix; that it is, is for the guard to see to.
    """
    shared = (cache == Cache.PREFIX) | in_prefix(position)
    after.published[b] = ite(shared, position, 0)
    after.published_family[b] = ite(shared, family[r], 0)
    for q in every(Request):
        after.published_own[q, b] = ite((q == r) & ~shared, position, 0)


def unname_block(after: Lifecycle, b: Block) -> None:
    """The block is in the cache no more."""
    after.published[b] = 0
    after.published_family[b] = 0
    for q in every(Request):
        after.published_own[q, b] = 0


def promised(s: Lifecycle, r: Request, b: Block) -> Term:
    """Whether the block is published, and it is the request's plan, not launched yet, that will make it true."""
    beyond = s.table[r, b] * block_size > s.scheduled[r]
    return (publish == Publish.ORDERED) & (s.planned[r] > 0) & (s.table[r, b] > 0) & beyond & is_published(s, b)


def not_leaned_on(s: Lifecycle, r: Request) -> Term:
    """Nobody else holds a block that the request's plan has promised to write."""
    return forall(Block, lambda b: ~promised(s, r, b) | (s.ref[b] == 1))


def take_back(now: Lifecycle, after: Lifecycle, r: Request) -> None:
    """What the request's plan promised is published no more, since the plan is given up."""
    for b in every(Block):
        gone = promised(now, r, b)
        after.published[b] = ite(gone, 0, now.published[b])
        after.published_family[b] = ite(gone, 0, now.published_family[b])
        for q in every(Request):
            after.published_own[q, b] = ite(gone, 0, now.published_own[q, b])
