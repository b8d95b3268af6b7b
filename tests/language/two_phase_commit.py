"""Two-phase commit, declared in the language alone: the transaction manager (tm) and its resource managers (rm).

After Lamport's TwoPhase.tla; stateright counts its states in examples/2pc.rs.
"""

from __future__ import annotations

import enum

from model.language import Index, State, Term, exists, field, flag, forall, guard, model, number, prop, rule, scalar


class Who(enum.Enum):
    MANAGER = "the transaction manager"
    RESOURCE = "a resource manager"


class Local(enum.Enum):
    WORKING = "still deciding"
    PREPARED = "ready to commit"
    COMMITTED = "committed"
    ABORTED = "aborted"


class Global(enum.Enum):
    INIT = "collecting"
    COMMITTED = "committed"
    ABORTED = "aborted"


managers = number("managers", "resource managers", low=1)


class Rm(Index, size=managers):
    """A resource manager."""


class TwoPhase(State):
    rm = field(Local, Rm, doc="what the resource manager has decided")
    tm = scalar(Global, doc="what the transaction manager has decided")
    tm_prepared = field(flag, Rm, doc="the transaction manager knows that it is prepared")
    sent_prepared = field(flag, Rm, doc="its message Prepared was sent")
    sent_commit = scalar(flag, doc="the message Commit was sent")
    sent_abort = scalar(flag, doc="the message Abort was sent")


@rule(by=Who.MANAGER)
def tm_rcv_prepared(now: TwoPhase, after: TwoPhase, r: Rm) -> None:
    guard("undecided", now.tm == Global.INIT)
    guard("sent", now.sent_prepared[r])
    after.tm_prepared[r] = True


@rule(by=Who.MANAGER)
def tm_commit(now: TwoPhase, after: TwoPhase) -> None:
    guard("undecided", now.tm == Global.INIT)
    guard("all-prepared", forall(Rm, lambda r: now.tm_prepared[r]))
    after.tm = Global.COMMITTED
    after.sent_commit = True


@rule(by=Who.MANAGER)
def tm_abort(now: TwoPhase, after: TwoPhase) -> None:
    guard("undecided", now.tm == Global.INIT)
    after.tm = Global.ABORTED
    after.sent_abort = True


@rule(by=Who.RESOURCE)
def rm_prepare(now: TwoPhase, after: TwoPhase, r: Rm) -> None:
    guard("working", now.rm[r] == Local.WORKING)
    after.rm[r] = Local.PREPARED
    after.sent_prepared[r] = True


@rule(by=Who.RESOURCE)
def rm_choose_to_abort(now: TwoPhase, after: TwoPhase, r: Rm) -> None:
    guard("working", now.rm[r] == Local.WORKING)
    after.rm[r] = Local.ABORTED


@rule(by=Who.RESOURCE)
def rm_rcv_commit(now: TwoPhase, after: TwoPhase, r: Rm) -> None:
    guard("sent", now.sent_commit)
    after.rm[r] = Local.COMMITTED


@rule(by=Who.RESOURCE)
def rm_rcv_abort(now: TwoPhase, after: TwoPhase, r: Rm) -> None:
    guard("sent", now.sent_abort)
    after.rm[r] = Local.ABORTED


@prop(witness=lambda s: exists(Rm, lambda r: s.rm[r] == Local.COMMITTED))
def consistent(s: TwoPhase) -> Term:
    """No resource manager has committed while another has aborted."""
    committed = exists(Rm, lambda r: s.rm[r] == Local.COMMITTED)
    return ~(committed & exists(Rm, lambda r: s.rm[r] == Local.ABORTED))


TWO_PHASE = model(
    "two-phase commit",
    TwoPhase,
    (managers,),
    (tm_rcv_prepared, tm_commit, tm_abort, rm_prepare, rm_choose_to_abort, rm_rcv_commit, rm_rcv_abort),
)
