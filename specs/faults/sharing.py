"""Faults of the prefix cache: blocks visible too early, under a wrong name, or not held by those who use them."""

from __future__ import annotations

from model.language import Term, ite
from model.language.edits import Drop, Replace
from model.lifecycle.dials import Block, Request
from model.lifecycle.state import Lifecycle
from specs.faults.fault import Evidence, Fault
from specs.kinds import VISIBILITY


def own_name_always(now: Lifecycle, r: Request, b: Block, q: Request) -> Term:
    return ite(q == r, now.table[r, b], 0)


SHARING_FAULTS = (
    Fault(
        "hit-without-reference",
        "A cached block enters the block table, but its reference count stays.",
        (Drop("hit/ref"),),
        VISIBILITY,
        "sharing.hit-is-pinned",
        "shared-prefix",
        "like vLLM V1, https://github.com/vllm-project/vllm/issues/37076 (its explanation is not proven)",
        Evidence.LIKE,
    ),
    Fault(
        "publish-before-computed",
        "A block becomes a cache hit although its tokens are not computed.",
        (Drop("publish.computed"),),
        VISIBILITY,
        "sharing.computed-first",
        "shared-prefix",
        "TGI v3, https://github.com/huggingface/text-generation-inference/pull/2489",
        Evidence.CONFIRMED,
    ),
    Fault(
        "publish-beyond-prefix",
        "A block behind the shared prefix is published as if all had the same text there.",
        (Drop("publish.prefix"),),
        VISIBILITY,
        "sharing.within-prefix",
        "solo-prefix",
        "no public report known; the key of every prefix cache",
    ),
    Fault(
        "acquire-keeps-cache-entry",
        "A cached block is handed out anew, and can still be found under its old name.",
        (Drop("acquire/published"),),
        VISIBILITY,
        "sharing.computed-first",
        "shared-prefix",
        "vLLM V0, https://github.com/vllm-project/vllm/pull/5364",
        Evidence.CONFIRMED,
    ),
    Fault(
        "promise-kept-at-preempt",
        "A prefix published when planned stays visible although its request was preempted before the launch.",
        (Drop("preempt/published"),),
        VISIBILITY,
        "memory.reads-own-text",
        "ordered-publish",
        "like vLLM V1, https://github.com/vllm-project/vllm/pull/56525 (there by a client abort)",
        Evidence.LIKE,
    ),
    Fault(
        "promise-kept-at-abort",
        "A prefix published when planned stays visible although its request was cancelled before the launch.",
        (Drop("abort/published"),),
        VISIBILITY,
        "memory.reads-own-text",
        "ordered-publish",
        "vLLM V1, https://github.com/vllm-project/vllm/pull/56525",
        Evidence.STATED,
    ),
    Fault(
        "preempt-leaned-on",
        "A request is preempted although others already hold a block that its plan has promised to write.",
        (Drop("preempt.not-leaned-on"),),
        VISIBILITY,
        "ownership.exclusive",
        "ordered-publish",
        "like vLLM V1, https://github.com/vllm-project/vllm/pull/56525 (there by a client abort)",
        Evidence.LIKE,
    ),
    Fault(
        "abort-leaned-on",
        "A request is aborted although others already hold a block that its plan has promised to write.",
        (Drop("abort.not-leaned-on"),),
        VISIBILITY,
        "ownership.exclusive",
        "ordered-publish",
        "like vLLM V1, https://github.com/vllm-project/vllm/pull/56525 (there by a client abort)",
        Evidence.LIKE,
    ),
    Fault(
        "acquire-keeps-one-index",
        "A block handed out anew is gone from the index of prefixes, and can still be found as a request's own text.",
        (Drop("acquire/published_own"),),
        VISIBILITY,
        "sharing.computed-first",
        "cache-all",
        "kvcached, https://github.com/ovg-project/kvcached/issues/362",
        Evidence.STATED,
    ),
    Fault(
        "published-under-two-names",
        "A block of the shared prefix is published as its request's own text, too.",
        (Replace("publish/published_own", own_name_always),),
        VISIBILITY,
        "sharing.one-name",
        "cache-all",
        "no public report known; a block has one hash in every prefix cache",
    ),
)
