"""Why a change does no damage on the engine, where none can be: by the part of the rules that is changed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

HARMLESS: Mapping[str, str] = {
    "admit.seat": "a seat limits how many share a step; no memory belongs to it, so tokens stay right",
    "acquire.wanted": "a block too many is held for nothing, and returned with the others",
    "select.budget": "a step above its budget takes longer, and computes every token in it rightly",
    "select.unmixed": "a mixed step computes every token in it rightly; that kernels exist for it is not modelled",
    "launch.something": "an empty step computes nothing",
}


def reason(off: Sequence[str]) -> str | None:
    """The reason, if each of the changes has one."""
    found = [HARMLESS[name] for name in off if name in HARMLESS]
    return "; ".join(found) if found and len(found) == len(off) else None
