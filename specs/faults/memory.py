"""Faults of memory: blocks released too early, handed out twice, or never returned."""

from __future__ import annotations

from model.language import Term, every, forall, ite
from model.language.edits import Drop, Extend, Replace
from model.lifecycle.dials import Block, Request, Slot, block_size
from model.lifecycle.residency import give_back
from model.lifecycle.sharing import is_published
from model.lifecycle.state import Entry, Lifecycle, Phase, Reason, Status
from model.lifecycle.terms import known
from specs.faults.fault import Evidence, Fault
from specs.kinds import EARLY_REUSE, LEAK, OVER_RELEASE


def also_give_back(now: Lifecycle, after: Lifecycle, r: Request) -> None:
    """The blocks go back at once, whatever is in flight."""
    give_back(now, after, r)


def counted_down(now: Lifecycle, after: Lifecycle, r: Request) -> None:
    """The output processor gives the blocks back as well; the table that the block manager reads still has them."""
    for b in every(Block):
        after.ref[b] = now.ref[b] - ite(now.table[r, b] > 0, 1, 0)


def cached_twice(now: Lifecycle, r: Request, b: Block) -> Term:
    """A cached block is counted down by the request and by the cache, although only the request counted it up."""
    held = now.table[r, b] > 0
    return now.ref[b] - ite(held, 1, 0) - ite(held & is_published(now, b), 1, 0)


def known_part(now: Lifecycle, r: Request, b: Block) -> Term:
    """Only blocks that hold tokens whose values are decided are counted down."""
    within = (now.table[r, b] - 1) * block_size < known(now, r)
    return now.ref[b] - ite((now.table[r, b] > 0) & within, 1, 0)


def pinned_by_live_work_only(now: Lifecycle, r: Request) -> Term:
    return forall(Slot, lambda i: (now.status[i] != Status.LAUNCHED) | (now.entry[i, r] != Entry.LIVE))


def left_but_not_cancelled(now: Lifecycle, r: Request) -> Term:
    over = (now.phase[r] == Phase.FINISHED) & (now.reason[r] != Reason.CANCELLED)
    return (now.phase[r] == Phase.PREEMPTED) | over


MEMORY_FAULTS = (
    Fault(
        "release-while-pinned",
        "Blocks go back to the pool although a launched step still works on them.",
        (Drop("release.unpinned"),),
        EARLY_REUSE,
        "ownership.keeps",
        "pair",
        "vLLM V1, https://github.com/vllm-project/vllm/pull/45357",
        Evidence.CONFIRMED,
    ),
    Fault(
        "abort-releases-at-once",
        "Acting on a cancel also returns the request's blocks, without looking at the window.",
        (Extend("abort", also_give_back),),
        EARLY_REUSE,
        "ownership.keeps",
        "pair",
        "like vLLM V1, https://github.com/vllm-project/vllm/pull/32255 (there the writer is a remote transfer)",
        Evidence.LIKE,
    ),
    Fault(
        "acquire-held-block",
        "A block that somebody holds is handed out again.",
        (Drop("acquire.free"),),
        OVER_RELEASE,
        "ownership.exclusive",
        "pair",
        "Atlas, https://github.com/Avarok-Cybersecurity/atlas/pull/373",
        Evidence.STATED,
    ),
    Fault(
        "release-forgets-reference",
        "The block table is cleared, but the reference counts stay: the blocks are never free again.",
        (Drop("release/ref"),),
        LEAK,
        "ownership.references",
        "pair",
        "like SGLang, https://github.com/sgl-project/sglang/pull/9817 (an abort that frees nothing)",
        Evidence.LIKE,
    ),
    Fault(
        "freed-by-two-paths",
        "A finish counts the blocks down, and the release that follows counts them down again.",
        (Extend("retire_stop", counted_down),),
        OVER_RELEASE,
        "ownership.references",
        "solo",
        "SGLang-JAX, https://github.com/sgl-project/sglang-jax/pull/982",
        Evidence.STATED,
    ),
    Fault(
        "cached-block-returned-twice",
        "A block that is cached is returned by its request and by the cache.",
        (Replace("release/ref", cached_twice),),
        OVER_RELEASE,
        "ownership.references",
        "shared-prefix",
        "FastDeploy, https://github.com/PaddlePaddle/FastDeploy/pull/3710",
        Evidence.STATED,
    ),
    Fault(
        "release-only-known-tokens",
        "The release counts back from the tokens that are decided; a block taken ahead of them is lost.",
        (Replace("release/ref", known_part),),
        LEAK,
        "ownership.references",
        "pair",
        "SGLang, https://github.com/sgl-project/sglang/pull/32992",
        Evidence.STATED,
    ),
    Fault(
        "abort-frees-nothing",
        "A cancelled request is taken out of the queue, and its blocks stay with it.",
        (Replace("release.left", left_but_not_cancelled),),
        LEAK,
        "rest.no-dead-end",
        "solo",
        "SGLang, https://github.com/sgl-project/sglang/pull/9817",
        Evidence.STATED,
    ),
    Fault(
        "stale-work-pins-nothing",
        "Blocks go back to the pool although a launched step still writes them for a request that has ended.",
        (Replace("release.unpinned", pinned_by_live_work_only),),
        EARLY_REUSE,
        "ownership.keeps",
        "window",
        "vLLM TPU, https://github.com/vllm-project/tpu-inference/pull/3449",
        Evidence.STATED,
    ),
)
