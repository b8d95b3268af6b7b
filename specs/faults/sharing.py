"""Faults of the prefix cache: blocks visible too early, under a wrong name, or not held by those who use them."""

from __future__ import annotations

from model.language.edits import Drop
from specs.faults.fault import Fault

SHARING_FAULTS = (
    Fault(
        "hit-without-reference",
        "A cached block enters the block table, but its reference count stays.",
        (Drop("hit/ref"),),
        "sharing.hit-is-pinned",
        "shared-prefix",
        "like vLLM V1, https://github.com/vllm-project/vllm/issues/37076 (its explanation is not proven)",
    ),
    Fault(
        "publish-before-computed",
        "A block becomes a cache hit although its tokens are not computed.",
        (Drop("publish.computed"),),
        "sharing.computed-first",
        "shared-prefix",
        "TGI v3, https://github.com/huggingface/text-generation-inference/pull/2489",
    ),
    Fault(
        "publish-beyond-prefix",
        "A block behind the shared prefix is published as if all had the same text there.",
        (Drop("publish.prefix"),),
        "sharing.within-prefix",
        "solo-prefix",
        "no public report known; the key of every prefix cache",
    ),
    Fault(
        "acquire-keeps-cache-entry",
        "A cached block is handed out anew, and can still be found under its old name.",
        (Drop("acquire/published"),),
        "sharing.computed-first",
        "shared-prefix",
        "vLLM V0, https://github.com/vllm-project/vllm/pull/5364",
    ),
    Fault(
        "promise-kept-at-preempt",
        "A prefix published when planned stays visible although its request was preempted before the launch.",
        (Drop("preempt/published"),),
        "memory.reads-own-text",
        "ordered-publish",
        "like vLLM V1, https://github.com/vllm-project/vllm/pull/56525 (there by a client abort)",
    ),
    Fault(
        "promise-kept-at-abort",
        "A prefix published when planned stays visible although its request was cancelled before the launch.",
        (Drop("abort/published"),),
        "memory.reads-own-text",
        "ordered-publish",
        "vLLM V1, https://github.com/vllm-project/vllm/pull/56525",
    ),
    Fault(
        "preempt-leaned-on",
        "A request is preempted although others already hold a block that its plan has promised to write.",
        (Drop("preempt.not-leaned-on"),),
        "ownership.exclusive",
        "ordered-publish",
        "like vLLM V1, https://github.com/vllm-project/vllm/pull/56525 (there by a client abort)",
    ),
    Fault(
        "abort-leaned-on",
        "A request is aborted although others already hold a block that its plan has promised to write.",
        (Drop("abort.not-leaned-on"),),
        "ownership.exclusive",
        "ordered-publish",
        "like vLLM V1, https://github.com/vllm-project/vllm/pull/56525 (there by a client abort)",
    ),
)
