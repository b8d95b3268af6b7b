"""Faults of the request's life: admitted, selected, answered or left waiting when it must not be."""

from __future__ import annotations

from model.language import Term, count, exists
from model.language.edits import Drop, Replace
from model.lifecycle.dials import Request, Tokens, seats
from model.lifecycle.state import Lifecycle, Reason
from model.lifecycle.terms import finished, running
from specs.faults.fault import Evidence, Fault
from specs.kinds import ABORT, COUNTERS, SELECTION, STUCK, TERMINAL_MESSAGE


def running_or_finished(now: Lifecycle, r: Request, k: Tokens) -> Term:
    return running(now, r) | finished(now, r)


def anybody_asked(now: Lifecycle, r: Request) -> Term:
    return exists(Request, lambda q: now.asked[q])


def finished_but_not_rejected(now: Lifecycle, r: Request) -> Term:
    return finished(now, r) & (now.reason[r] != Reason.REJECTED)


def beside_another(now: Lifecycle, r: Request) -> Term:
    """A seat is found only by comparing it with one in use."""
    taken = count(Request, lambda q: running(now, q))
    return (taken > 0) & (taken < seats)


def never(now: Lifecycle, r: Request) -> bool:
    return False


LIFE_FAULTS = (
    Fault(
        "notify-twice",
        "The terminal message is sent again.",
        (Drop("notify.once"),),
        TERMINAL_MESSAGE,
        "delivery.message-once",
        "pair",
        "no public report known; the duty of every engine to end a stream once",
    ),
    Fault(
        "select-finished",
        "A finished request that still has blocks is planned into a step.",
        (Replace("select.running", running_or_finished),),
        SELECTION,
        "eligibility.only-running",
        "pair",
        "TGI v3, https://github.com/huggingface/text-generation-inference/pull/2754",
        Evidence.CONFIRMED,
    ),
    Fault(
        "admit-beyond-seats",
        "A request is admitted although every seat is taken.",
        (Drop("admit.seat"),),
        SELECTION,
        "eligibility.within-seats",
        "trio",
        "no public report known; the limit is max_num_seqs in vLLM V1",
    ),
    Fault(
        "admit-what-never-fits",
        "A request that can never be computed is admitted instead of rejected, and is preempted for ever.",
        (Drop("admit.fits"),),
        STUCK,
        "rest.way-home",
        "misfit",
        "no public report known; vLLM V1 relies on a check at start-up that one longest request fits",
    ),
    Fault(
        "planned-request-preempted",
        "The victim of a preemption stays in the step that is being built.",
        (Drop("preempt/planned"),),
        COUNTERS,
        "eligibility.only-running",
        "solo",
        "vLLM V1, https://github.com/vllm-project/vllm/pull/28558",
        Evidence.CONFIRMED,
    ),
    Fault(
        "cancel-ends-another",
        "The signal to stop is one for all: a cancel ends whoever is running.",
        (Replace("abort.asked", anybody_asked),),
        ABORT,
        "delivery.end-was-asked",
        "misfit",
        "ik_llama.cpp, https://github.com/ikawrakow/ik_llama.cpp/issues/1929",
        Evidence.STATED,
    ),
    Fault(
        "abort-after-finish",
        "A cancel that arrives after the finish runs the way out a second time, and the reason changes.",
        (Drop("abort.unfinished"),),
        ABORT,
        "delivery.first-wins",
        "solo",
        "vLLM V1, https://github.com/vllm-project/vllm/pull/25067",
        Evidence.CONFIRMED,
    ),
    Fault(
        "rejected-not-answered",
        "A request that can never fit is refused inside the engine, and its client is not told.",
        (Replace("notify.finished", finished_but_not_rejected),),
        TERMINAL_MESSAGE,
        "rest.no-dead-end",
        "misfit",
        "SGLang, https://github.com/sgl-project/sglang/pull/3951",
        Evidence.STATED,
    ),
    Fault(
        "never-refused",
        "A request that can never fit is neither admitted nor refused; it is tried again for ever.",
        (Replace("reject.never-fits", never),),
        STUCK,
        "rest.no-dead-end",
        "misfit",
        "llama.cpp server, https://github.com/ggml-org/llama.cpp/issues/6617",
        Evidence.STATED,
    ),
    Fault(
        "idle-seats-not-chosen",
        "A waiting request finds no seat when all are idle, since none is less used than another.",
        (Replace("admit.seat", beside_another),),
        STUCK,
        "rest.no-dead-end",
        "misfit",
        "llama.cpp server, https://github.com/ggml-org/llama.cpp/pull/14079",
        Evidence.CONFIRMED,
    ),
    Fault(
        "nobody-is-preempted",
        "When every running request needs a block and none is free, nobody gives way.",
        (Replace("preempt.running", never),),
        STUCK,
        "rest.no-dead-end",
        "crowded",
        "transformers CB, https://github.com/huggingface/transformers/pull/43150",
        Evidence.CONFIRMED,
    ),
)
