"""Policies that give memory as it is needed, and preempt when it runs out. They differ in who goes first and who gives way."""

from __future__ import annotations

from model.language import Term, count, exists, forall, guard, scalar
from model.language.edits import Edit, Extend, Widen
from model.language.state import flag
from model.lifecycle.dials import Block, Request, Slot, Tokens, limit, preemption
from model.lifecycle.state import Lifecycle, Status
from model.lifecycle.terms import held, known, needs_block, room, running, short_of_memory
from specs.policies.lists import LISTS, Listed
from specs.policies.policy import DECIDES, Policy
from specs.properties.liveness import submitted_finishes


def for_memory(now: Lifecycle, after: Lifecycle, r: Request) -> None:
    """A request is preempted only where no block is free and a running request needs one."""
    guard("for-memory", short_of_memory(now))


# ----------------------------------------------------------------------------------------- first come, first served
def could_be_planned(s: Lifecycle, r: Request) -> Term:
    """Whether the running request has tokens for the step being built, and room in its blocks for them."""
    something = (s.scheduled[r] < known(s, r) + s.owed[r]) & (s.committed[r] + s.owed[r] < limit[r])
    window = exists(Slot, lambda i: s.status[i] == Status.EMPTY)
    return running(s, r) & (s.planned[r] == 0) & something & (s.scheduled[r] < room(s, r)) & window


def earlier(s: Listed, q: Request, r: Request) -> Term:
    """Whether q runs and was admitted before r, which runs too."""
    return running(s, q) & (s.place[q] < s.place[r])


def _head(now: Listed, after: Listed, r: Request) -> None:
    guard("head", now.place[r] == 1)


def _memory_in_order(now: Listed, after: Listed, r: Request, b: Block) -> None:
    guard("in-order", forall(Request, lambda q: ~(earlier(now, q, r) & needs_block(now, q))))


def _tokens_in_order(now: Listed, after: Listed, r: Request, k: Tokens) -> None:
    guard("in-order", forall(Request, lambda q: ~(earlier(now, q, r) & could_be_planned(now, q))))


def _awaits_memory(now: Lifecycle, after: Lifecycle, r: Request) -> None:
    """Nobody else gives way before the memory of the last who did has come back.

    vLLM returns a victim's blocks in the call that preempts it. Here the two are different steps, and without this guard
    both requests can lose their memory for one block, and begin again.
    """
    guard("none-coming", forall(Request, lambda q: running(now, q) | (held(now, q) == 0)))


def _last_gives_way(now: Listed, after: Listed, r: Request) -> None:
    guard("last", now.place[r] == count(Request, lambda q: running(now, q)))


def _first_gives_way(now: Listed, after: Listed, r: Request) -> None:
    guard("first", now.place[r] == 1)


IN_ORDER: tuple[Edit, ...] = (
    *DECIDES,
    *LISTS,
    Extend("admit", _head),
    Extend("acquire", _memory_in_order),
    Extend("select", _tokens_in_order),
    Extend("preempt", for_memory),
    Extend("preempt", _awaits_memory),
)


# ------------------------------------------------------------------------------------------------------------- vLLM
class Stepwise(Listed):
    """As Listed, and whether the step being built has cost a request its memory."""

    thinned = scalar(flag, doc="a request was preempted for the step being built", needs=preemption)


def _running_first(now: Stepwise, after: Stepwise, r: Request) -> None:
    guard("running-first", ~exists(Request, lambda q: needs_block(now, q) | could_be_planned(now, q)))
    guard("none-preempted", ~now.thinned | ~exists(Request, lambda q: running(now, q)))


def _thins(now: Stepwise, after: Stepwise, r: Request) -> None:
    after.thinned = True


def _next_step(now: Stepwise, after: Stepwise, i: Slot) -> None:
    after.thinned = False


RUNNING_FIRST: tuple[Edit, ...] = (
    *IN_ORDER,
    Widen(Stepwise),
    Extend("admit", _running_first),
    Extend("preempt", _thins),
    Extend("launch", _next_step),
)

ANY = Policy(
    "any",
    "Whoever, in any order; whoever runs may give way when memory runs out.",
    (*DECIDES, Extend("preempt", for_memory)),
    breaks=(submitted_finishes.name,),
)

FCFS = Policy(
    "fcfs",
    "First come, first served: the head of the queue is admitted, who was admitted first gets memory and tokens first, "
    "and who was admitted last gives way, one at a time.",
    (*IN_ORDER, Extend("preempt", _last_gives_way)),
)

VLLM = Policy(
    "vllm",
    "As fcfs; running requests are served before any is admitted, and none is admitted in a step that has preempted.",
    (*RUNNING_FIRST, Extend("preempt", _last_gives_way)),
    source="vLLM 0.10.2, vllm/v1/core/sched/scheduler.py",
)

OLDEST_VICTIM = Policy(
    "oldest-victim",
    "As vllm, but who was admitted first gives way, for requests that came after it.",
    (*RUNNING_FIRST, Extend("preempt", _first_gives_way)),
    breaks=(submitted_finishes.name,),
)
