"""Faults of output: tokens lost, doubled, sampled too early, or taken from a residency that has ended."""

from __future__ import annotations

from model.language import Term, ite
from model.language.edits import Drop, Extend, Replace
from model.lifecycle.dials import Request, Slot, prompt
from model.lifecycle.state import Entry, Lifecycle, oldest
from specs.faults.fault import Evidence, Fault
from specs.kinds import ABORT, COUNTERS, SPLICED_OUTPUT, STALE_RESULT


def forget_output(now: Lifecycle, after: Lifecycle, r: Request) -> None:
    """Preemption clears the output together with the KV."""
    after.committed[r] = 0


def any_planned(now: Lifecycle, i: Slot, q: Request) -> Term:
    return now.planned[q] > 0


def owed_for_any(now: Lifecycle, i: Slot, q: Request) -> Term:
    return now.owed[q] + ite(now.planned[q] > 0, 1, 0)


def past_the_prompt(now: Lifecycle, i: Slot, q: Request) -> Term:
    """Whether the step reaches the end of the prompt, whatever was committed behind it before a preemption."""
    return (now.planned[q] > 0) & (now.scheduled[q] + now.planned[q] >= prompt[q])


def owed_past_the_prompt(now: Lifecycle, i: Slot, q: Request) -> Term:
    return now.owed[q] + ite(past_the_prompt(now, i, q), 1, 0)


def in_any_entry(now: Lifecycle, r: Request) -> Term:
    return now.entry[oldest, r] != Entry.NONE


OUTPUT_FAULTS = (
    Fault(
        "retire-stale-token",
        "A sampled token is committed although the residency that asked for it has ended.",
        (Drop("retire_token.live"),),
        STALE_RESULT,
        "delivery.context-first",
        "pair",
        "vLLM V1, https://github.com/vllm-project/vllm/pull/48245 (stale output after a preemption)",
        Evidence.CONFIRMED,
    ),
    Fault(
        "sample-mid-prompt",
        "Every step samples a token, also one that computes only a chunk of the prompt.",
        (Replace("launch/samples", any_planned), Replace("launch/owed", owed_for_any)),
        COUNTERS,
        "eligibility.samples-at-end",
        "pair",
        "like vLLM-Ascend, https://github.com/vllm-project/vllm-ascend/pull/11334 (there only after a resume)",
        Evidence.LIKE,
    ),
    Fault(
        "preempt-forgets-output",
        "Preemption resets the output that was already committed; the text starts again.",
        (Extend("preempt", forget_output),),
        SPLICED_OUTPUT,
        "delivery.grows",
        "pair",
        "SGLang, https://github.com/sgl-project/sglang/issues/39645",
        Evidence.CONFIRMED,
    ),
    Fault(
        "commit-after-cancel",
        "Aborting leaves what is in flight live, so its token is committed to a cancelled request.",
        (Drop("abort/entry"),),
        ABORT,
        "eligibility.live-is-running",
        "pair",
        "SGLang, https://github.com/sgl-project/sglang/issues/34149",
        Evidence.CONFIRMED,
    ),
    Fault(
        "resumed-judged-by-prompt",
        "A resumed request counts as decoding once past its prompt, although its output must be computed again first.",
        (Replace("launch/samples", past_the_prompt), Replace("launch/owed", owed_past_the_prompt)),
        SPLICED_OUTPUT,
        "eligibility.samples-at-end",
        "solo",
        "vLLM Gaudi, https://github.com/vllm-project/vllm-gaudi/pull/524",
        Evidence.CONFIRMED,
    ),
    Fault(
        "stale-chunk-counts",
        "A chunk computed before a preemption counts as progress after it.",
        (Replace("retire_chunk.live", in_any_entry),),
        STALE_RESULT,
        "progress.ends-with-residency",
        "solo",
        "FastDeploy, https://github.com/PaddlePaddle/FastDeploy/pull/3292",
        Evidence.STATED,
    ),
)
