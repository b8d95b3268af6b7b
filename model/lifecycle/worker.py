"""The worker: runs launched steps on the device, one after the other."""

from __future__ import annotations

from model.language.build import forall
from model.language.rules import guard, rule
from model.lifecycle.dials import Slot
from model.lifecycle.state import Actor, Lifecycle, Status


@rule(by=Actor.WORKER, fair=True)
def execute(now: Lifecycle, after: Lifecycle, i: Slot) -> None:
    """The device finishes a launched step, in the order of launching."""
    guard("launched", now.status[i] == Status.LAUNCHED)
    guard("oldest", forall(Slot, lambda j: (j >= i) | (now.status[j] == Status.EXECUTED)))
    after.status[i] = Status.EXECUTED
