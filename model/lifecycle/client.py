"""The client: submits, takes tokens, and may change its mind."""

from __future__ import annotations

from model.language.rules import assume, guard, rule
from model.lifecycle.dials import Request, cancellation
from model.lifecycle.state import Actor, Lifecycle, Phase


@rule(by=Actor.CLIENT)
def submit(now: Lifecycle, after: Lifecycle, r: Request) -> None:
    """The request is accepted into the queue. It owns nothing yet."""
    assume("new", now.phase[r] == Phase.NEW)
    after.phase[r] = Phase.WAITING


@rule(by=Actor.CLIENT, needs=cancellation)
def cancel(now: Lifecycle, after: Lifecycle, r: Request) -> None:
    """The client asks for an end. The engine acts later (abort); a completion may come first, and then nothing follows."""
    assume("submitted", now.phase[r] != Phase.NEW)
    assume("once", ~now.asked[r])
    assume("still-talking", now.notified[r] == 0)
    after.asked[r] = True


@rule(by=Actor.CLIENT, fair=True)
def deliver(now: Lifecycle, after: Lifecycle, r: Request) -> None:
    """The client takes the next committed token. After the terminal message it takes no more."""
    guard("undelivered", now.delivered[r] < now.committed[r])
    guard("open", now.notified[r] == 0)
    after.delivered[r] = now.delivered[r] + 1
