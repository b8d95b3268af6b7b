"""Faults of the window and of several workers: late results, owed tokens, and steps that overtake each other."""

from __future__ import annotations

from model.language import Term, among
from model.language.edits import Drop, Replace
from model.lifecycle.dials import Slot, Worker
from model.lifecycle.state import Lifecycle, Status
from specs.faults.fault import Evidence, Fault
from specs.kinds import COUNTERS, EARLY_REUSE, STALE_RESULT


def executed_at_once(now: Lifecycle, i: Slot, w: Worker) -> Status:
    return Status.EXECUTED


def launched_is_enough(now: Lifecycle, i: Slot, w: Worker) -> Term:
    return among(now.status[i], Status.LAUNCHED)


WINDOW_FAULTS = (
    Fault(
        "owed-kept-at-preempt",
        "Preemption forgets to undo the placeholders of steps in flight.",
        (Drop("preempt/owed"),),
        COUNTERS,
        "progress.owed-adds-up",
        "window",
        "vLLM V1, https://github.com/vllm-project/vllm/issues/30142",
        Evidence.CONFIRMED,
    ),
    Fault(
        "admit-with-result-due",
        "A preempted request is admitted while a token that will be committed for it is still in flight.",
        (Drop("admit.no-result-due"),),
        STALE_RESULT,
        "eligibility.samples-at-end",
        "late-commit",
        "vLLM V1, https://github.com/vllm-project/vllm/pull/48245",
        Evidence.CONFIRMED,
    ),
    Fault(
        "executed-after-one-worker",
        "A step counts as executed when the first worker has run it; the others never do.",
        (Replace("execute/status", executed_at_once),),
        EARLY_REUSE,
        "memory.settled-is-there",
        "two-workers",
        "no public report known; the mirror rule (R12) for workers",
    ),
    Fault(
        "overtakes-own-step",
        "An unordered device runs a request's later step before its earlier one.",
        (Replace("execute.oldest", launched_is_enough),),
        EARLY_REUSE,
        "memory.reads-own-text",
        "unordered-device",
        "no public report known; the order that every second stream must keep",
    ),
)
