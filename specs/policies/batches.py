"""Policies that reserve a request's whole memory when they admit it, and so never need to preempt."""

from __future__ import annotations

from model.language import Term, count, exists, forall, guard
from model.language.edits import Edit, Extend
from model.lifecycle.dials import Block, Request, block_size
from model.lifecycle.state import Lifecycle, reach
from model.lifecycle.terms import finished, room, running
from specs.policies.orders import for_memory
from specs.policies.policy import DECIDES, Policy
from specs.properties.liveness import leaves_early


def _reserved(now: Lifecycle, after: Lifecycle, r: Request) -> None:
    """Whoever runs has taken all that was reserved for it, and what is free is enough for the whole life of this request.

    Until it has taken that, nobody else is admitted: so what is free is reserved for it, and nothing needs to say so.
    """
    guard("all-taken", forall(Request, lambda q: ~running(now, q) | (room(now, q) >= reach(q))))
    guard("reserved", reach(r) <= count(Block, lambda b: now.ref[b] == 0) * block_size)


RESERVES: tuple[Edit, ...] = (*DECIDES, Extend("preempt", for_memory), Extend("admit", _reserved))


def batch_runs(s: Lifecycle) -> Term:
    """Whether some request of the batch is not finished yet."""
    return exists(Request, lambda q: running(s, q))


def _new_batch(now: Lifecycle, after: Lifecycle, r: Request) -> None:
    """A batch is closed once it has begun to compute; the next opens when all answers of the last are out."""
    begun = exists(Request, lambda q: running(now, q) & (now.scheduled[q] + now.planned[q] > 0))
    guard("batch-open", ~begun & forall(Request, lambda q: ~finished(now, q) | (now.notified[q] == 1)))


def _batch_done(now: Lifecycle, after: Lifecycle, r: Request) -> None:
    guard("batch-done", ~batch_runs(now))


ORCA = Policy(
    "orca",
    "All the memory that a request can ever need is reserved when it is admitted; steps are planned one by one.",
    RESERVES,
    relies_on_fits=False,
    source="Orca: A Distributed Serving System for Transformer-Based Generative Models, OSDI 2022",
)

STATIC = Policy(
    "static",
    "Request-level batching: as orca, but a batch is admitted together, nobody joins it, and its answers leave together.",
    (
        *RESERVES,
        Extend("admit", _new_batch),
        *(Extend(rule, _batch_done) for rule in ("deliver", "notify")),
    ),
    breaks=(leaves_early.name,),
    relies_on_fits=False,
)
