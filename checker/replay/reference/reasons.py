"""Why a change does no damage on the engine, where none can be: by the part of the rules that is changed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

HARMLESS: Mapping[str, str] = {
    "admit.seat": "a seat limits how many share a step; no memory belongs to it, so tokens stay right",
}


def reason(off: Sequence[str]) -> str | None:
    """The reason, if each of the changes has one."""
    found = [HARMLESS[name] for name in off if name in HARMLESS]
    return "; ".join(found) if found and len(found) == len(off) else None
