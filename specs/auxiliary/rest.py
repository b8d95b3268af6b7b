"""Why there is no dead end, step by step: what follows from some rules being stuck.

Each step says which rules it needs to be stuck (no member enables them), and uses the steps before it that need no others,
and of the rules those that none of them needed. All of them
suppose that running requests may be preempted; without that there are dead ends, as the world crowded-no-preemption shows.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from model.language import Property, Rule, Term, at_rest, count, forall, implies, prop
from model.lifecycle import LIFECYCLE
from model.lifecycle.dials import Block, Request, Slot, preemption
from model.lifecycle.state import Lifecycle, Phase, Status, oldest
from model.lifecycle.terms import finished, fits, held, running

RETIRES = (
    "retire_chunk", "retire_token", "retire_stop", "retire_length",
    "retire_stale", "retire_late_token", "retire_late_stop", "retire_late_length",
)  # fmt: skip
WINDOW = ("execute", *RETIRES, "recycle")


def stuck(*names: str) -> Callable[[Callable[..., Any]], Property]:
    """A step about states in which these rules are stuck, whatever the others are."""
    others: tuple[Rule, ...] = tuple(r for r in LIFECYCLE.rules if r.name not in names)
    return at_rest(apart_from=others, reason="rest.no-dead-end needs it.", needs=preemption)


@prop(reason="rest.no-dead-end needs it: a request that waits with blocks in its hands could never be admitted.")
def waits_empty_handed(s: Lifecycle) -> Term:
    """A request that was never admitted holds nothing."""
    return forall(
        Request,
        lambda r: forall(
            Block, lambda b: implies((s.phase[r] == Phase.NEW) | (s.phase[r] == Phase.WAITING), s.table[r, b] == 0)
        ),
    )


@prop(
    reason="rest.no-dead-end needs it: a preempted request that cannot fit could neither be admitted again nor rejected."
)
def admitted_fits(s: Lifecycle) -> Term:
    """A request that runs, or was preempted, could be computed with the whole pool to itself."""
    return forall(Request, lambda r: implies(running(s, r) | (s.phase[r] == Phase.PREEMPTED), fits(r)))


@stuck("preempt")
def nobody_runs(s: Lifecycle) -> Term:
    """No request runs."""
    return forall(Request, lambda r: ~running(s, r))


@stuck(*WINDOW)
def oldest_is_empty(s: Lifecycle) -> Term:
    """The oldest place of the window holds no step."""
    return s.status[oldest] == Status.EMPTY


@stuck(*WINDOW)
def window_is_empty(s: Lifecycle) -> Term:
    """The window holds no step."""
    return forall(Slot, lambda i: s.status[i] == Status.EMPTY)


@stuck(*WINDOW, "release")
def left_is_released(s: Lifecycle) -> Term:
    """A request that has left holds nothing."""
    return forall(
        Request,
        lambda r: forall(
            Block, lambda b: implies((s.phase[r] == Phase.PREEMPTED) | finished(s, r), s.table[r, b] == 0)
        ),
    )


@stuck(*WINDOW, "preempt", "release")
def nothing_is_held(s: Lifecycle) -> Term:
    """No request holds a block."""
    return forall(Request, lambda r: forall(Block, lambda b: s.table[r, b] == 0))


@stuck(*WINDOW, "preempt", "release")
def hands_are_empty(s: Lifecycle) -> Term:
    """Every block table is empty."""
    return forall(Request, lambda r: held(s, r) == 0)


@stuck(*WINDOW, "preempt", "release")
def nothing_is_counted(s: Lifecycle) -> Term:
    """No block counts a reference."""
    return forall(Block, lambda b: s.ref[b] == 0)


@stuck("preempt")
def seats_are_free(s: Lifecycle) -> Term:
    """No seat is taken."""
    return count(Request, lambda q: running(s, q)) == 0


@stuck(*WINDOW, "preempt", "admit", "reject", "release")
def nobody_waits(s: Lifecycle) -> Term:
    """Every request that was submitted is finished."""
    return forall(Request, lambda r: (s.phase[r] == Phase.NEW) | finished(s, r))
