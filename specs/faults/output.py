"""Faults of output: tokens lost, doubled, sampled too early, or taken from a residency that has ended."""

from __future__ import annotations

from model.language import Term, ite
from model.language.edits import Drop, Extend, Replace
from model.lifecycle.dials import Request, Slot
from model.lifecycle.state import Lifecycle
from specs.faults.fault import Fault


def forget_output(now: Lifecycle, after: Lifecycle, r: Request) -> None:
    """Preemption clears the output together with the KV."""
    after.committed[r] = 0


def any_planned(now: Lifecycle, i: Slot, q: Request) -> Term:
    return now.planned[q] > 0


def owed_for_any(now: Lifecycle, i: Slot, q: Request) -> Term:
    return now.owed[q] + ite(now.planned[q] > 0, 1, 0)


OUTPUT_FAULTS = (
    Fault(
        "retire-stale-token",
        "A sampled token is committed although the residency that asked for it has ended.",
        (Drop("retire_token.live"),),
        "delivery.context-first",
        "pair",
        "vLLM V1, https://github.com/vllm-project/vllm/pull/48245 (stale output after a preemption)",
    ),
    Fault(
        "sample-mid-prompt",
        "Every step samples a token, also one that computes only a chunk of the prompt.",
        (Replace("launch/samples", any_planned), Replace("launch/owed", owed_for_any)),
        "eligibility.samples-at-end",
        "pair",
        "vLLM-Ascend, https://github.com/vllm-project/vllm-ascend/pull/11334",
    ),
    Fault(
        "preempt-forgets-output",
        "Preemption resets the output that was already committed; the text starts again.",
        (Extend("preempt", forget_output),),
        "delivery.grows",
        "pair",
        "SGLang, https://github.com/sgl-project/sglang/issues/39645",
    ),
    Fault(
        "commit-after-cancel",
        "Aborting leaves what is in flight live, so its token is committed to a cancelled request.",
        (Drop("abort/entry"),),
        "eligibility.live-is-running",
        "pair",
        "SGLang, https://github.com/sgl-project/sglang/issues/34149",
    ),
)
