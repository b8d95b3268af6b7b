"""What several rules do to a request's residency: the time between an admission and the way out of RUNNING."""

from __future__ import annotations

from model.language.build import ite
from model.language.rules import every
from model.lifecycle.dials import Block, Request, Slot
from model.lifecycle.sharing import take_back
from model.lifecycle.state import Entry, Lifecycle, oldest
from model.lifecycle.terms import held


def hold(now: Lifecycle, after: Lifecycle, r: Request, b: Block) -> None:
    """The block becomes the last of the request's block table, and counts one reference more."""
    after.table[r, b] = held(now, r) + 1
    after.ref[b] = now.ref[b] + 1


def give_back(now: Lifecycle, after: Lifecycle, r: Request) -> None:
    """All the request's blocks leave its table, and lose one reference each."""
    for b in every(Block):
        after.ref[b] = now.ref[b] - ite(now.table[r, b] > 0, 1, 0)
        after.table[r, b] = 0


def leave(now: Lifecycle, after: Lifecycle, r: Request, taken: bool = False) -> None:
    """The residency ends: nothing more is planned, owed or settled, and what is in flight turns stale.

    Every way out of RUNNING goes through here, so none can forget a counter. `taken`: the rule also consumes the
    request's result in the oldest step, which is then gone instead of stale.
    """
    take_back(now, after, r)
    after.planned[r] = 0
    after.computed[r] = 0
    after.scheduled[r] = 0
    after.owed[r] = 0
    for i in every(Slot):
        stale = ite(now.entry[i, r] == Entry.LIVE, Entry.STALE, now.entry[i, r])
        after.entry[i, r] = ite(i == oldest, Entry.NONE, stale) if taken else stale
