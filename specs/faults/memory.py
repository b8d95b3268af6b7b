"""Faults of memory: blocks released too early, handed out twice, or never returned."""

from __future__ import annotations

from model.language.edits import Drop, Extend
from model.lifecycle.dials import Request
from model.lifecycle.residency import give_back
from model.lifecycle.state import Lifecycle
from specs.faults.fault import Fault


def also_give_back(now: Lifecycle, after: Lifecycle, r: Request) -> None:
    """The blocks go back at once, whatever is in flight."""
    give_back(now, after, r)


MEMORY_FAULTS = (
    Fault(
        "release-while-pinned",
        "Blocks go back to the pool although a launched step still works on them.",
        (Drop("release.unpinned"),),
        "ownership.keeps",
        "pair",
        "vLLM V1, https://github.com/vllm-project/vllm/pull/45357",
    ),
    Fault(
        "abort-releases-at-once",
        "Acting on a cancel also returns the request's blocks, without looking at the window.",
        (Extend("abort", also_give_back),),
        "ownership.keeps",
        "pair",
        "like vLLM V1, https://github.com/vllm-project/vllm/pull/32255 (there the writer is a remote transfer)",
    ),
    Fault(
        "acquire-held-block",
        "A block that somebody holds is handed out again.",
        (Drop("acquire.free"),),
        "ownership.exclusive",
        "pair",
        "Atlas, https://github.com/Avarok-Cybersecurity/atlas/pull/373",
    ),
    Fault(
        "release-forgets-reference",
        "The block table is cleared, but the reference counts stay: the blocks are never free again.",
        (Drop("release/ref"),),
        "ownership.references",
        "pair",
        "like SGLang, https://github.com/sgl-project/sglang/pull/9817 (an abort that frees nothing)",
    ),
)
