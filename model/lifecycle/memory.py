"""The block manager: takes memory back when no step can touch it any more."""

from __future__ import annotations

from model.language.build import forall
from model.language.rules import assume, guard, rule
from model.lifecycle.dials import Release, Request, Slot
from model.lifecycle.dials import release as discipline
from model.lifecycle.residency import give_back
from model.lifecycle.state import Actor, Lifecycle, Phase, Status
from model.lifecycle.terms import held, in_window


@rule(by=Actor.MEMORY, fair=True)
def release(now: Lifecycle, after: Lifecycle, r: Request) -> None:
    """A request that has left gives its blocks back, once no launched step still uses them (or at once, if ordered).

    This is neither the finish nor the terminal message: it may come before or after the message.
    """
    guard("left", (now.phase[r] == Phase.PREEMPTED) | (now.phase[r] == Phase.FINISHED))
    assume("holding", held(now, r) > 0)
    unpinned = forall(Slot, lambda i: (now.status[i] != Status.LAUNCHED) | ~in_window(now, i, r))
    guard("unpinned", (discipline == Release.ORDERED) | unpinned)
    give_back(now, after, r)
