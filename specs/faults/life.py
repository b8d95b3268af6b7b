"""Faults of the request's life: admitted, selected, answered or left waiting when it must not be."""

from __future__ import annotations

from model.language import Term
from model.language.edits import Drop, Replace
from model.lifecycle.dials import Request, Tokens
from model.lifecycle.state import Lifecycle
from model.lifecycle.terms import finished, running
from specs.faults.fault import Fault


def running_or_finished(now: Lifecycle, r: Request, k: Tokens) -> Term:
    return running(now, r) | finished(now, r)


LIFE_FAULTS = (
    Fault(
        "notify-twice",
        "The terminal message is sent again.",
        (Drop("notify.once"),),
        "delivery.message-once",
        "pair",
        "no public report known; the duty of every engine to end a stream once",
    ),
    Fault(
        "select-finished",
        "A finished request that still has blocks is planned into a step.",
        (Replace("select.running", running_or_finished),),
        "eligibility.only-running",
        "pair",
        "TGI v3, https://github.com/huggingface/text-generation-inference/pull/2754",
    ),
    Fault(
        "admit-beyond-seats",
        "A request is admitted although every seat is taken.",
        (Drop("admit.seat"),),
        "eligibility.within-seats",
        "trio",
        "no public report known; the limit is max_num_seqs in vLLM V1",
    ),
    Fault(
        "admit-what-never-fits",
        "A request that can never be computed is admitted instead of rejected, and is preempted for ever.",
        (Drop("admit.fits"),),
        "rest.way-home",
        "misfit",
        "no public report known; vLLM V1 relies on a check at start-up that one longest request fits",
    ),
)
