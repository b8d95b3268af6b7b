"""The workers: each runs the launched steps on its device, writing and reading its shard of the KV memory."""

from __future__ import annotations

from model.language.build import forall, ite
from model.language.rules import every, guard, rule
from model.language.terms import Term
from model.lifecycle.content import write_memory
from model.lifecycle.dials import Block, Device, LateResult, Request, Slot, Worker, device, late_result
from model.lifecycle.state import Actor, Entry, Lifecycle, Status
from model.lifecycle.terms import in_window


def has_run(s: Lifecycle, i: Slot, w: Worker) -> Term:
    """Whether the worker is done with the step."""
    return (s.status[i] == Status.EXECUTED) | s.ran[i, w]


def may_overtake(s: Lifecycle, i: Slot, j: Slot) -> Term:
    """Whether an unordered device may run the step i before the older step j: no request has to wait for its own work."""
    return forall(
        Request,
        lambda r: (
            ~in_window(s, j, r) | ~in_window(s, i, r) | ((s.entry[j, r] == Entry.STALE) & (s.entry[i, r] == Entry.LIVE))
        ),
    )


@rule(by=Actor.WORKER, fair=True)
def execute(now: Lifecycle, after: Lifecycle, i: Slot, w: Worker) -> None:
    """A worker's device finishes a launched step. The step is executed when every worker has run it."""
    guard("launched", now.status[i] == Status.LAUNCHED)
    guard("once", ~now.ran[i, w])
    guard(
        "oldest",
        forall(
            Slot,
            lambda j: (j >= i) | has_run(now, j, w) | ((device == Device.UNORDERED) & may_overtake(now, i, j)),
        ),
    )
    others = forall(Worker, lambda v: (v == w) | now.ran[i, v])
    after.status[i] = ite(others, Status.EXECUTED, Status.LAUNCHED)
    for v in every(Worker):
        after.ran[i, v] = ~others & (now.ran[i, v] | (v == w))
    write_memory(now, after, i, w)
    for q in every(Request):
        after.start[i, q] = ite(others & (late_result == LateResult.DROP), 0, now.start[i, q])
        for b in every(Block):
            after.uses[i, q, b] = ite(others, 0, now.uses[i, q, b])
