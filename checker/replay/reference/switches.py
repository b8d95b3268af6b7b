"""Which of the engine's switches makes a change of the rules in the engine."""

from __future__ import annotations

from collections.abc import Sequence

from checker.variation import Variation
from checker.verdict import Unusable
from engine_ref import EFFECTS, GUARDS, MISTAKES
from model.language.edits import Drop
from model.language.model import nearest


def dropped(variation: Variation) -> tuple[str, ...]:
    """The parts of rules that the variation leaves out."""
    changes = variation.fault.changes if variation.fault else ()
    return (*(c.part for c in changes if isinstance(c, Drop)), *variation.without)


# The engine names a block by the tokens that are decided, so without this guard it publishes another name than the rules.
UNLIKE = ("publish.known",)


def switches(variation: Variation) -> tuple[str, ...] | None:
    """What to switch off, or None if the engine cannot be changed in this way: then the change is in the model only."""
    fault, known = variation.fault, [part for part in (*GUARDS, *EFFECTS) if part not in UNLIKE]
    found = dropped(variation)
    leaves_out = fault is None or all(isinstance(c, Drop) for c in fault.changes)
    if leaves_out and all(part in known for part in found):
        return found
    if fault is not None and fault.name in MISTAKES and all(part in known for part in variation.without):
        return (fault.name, *variation.without)
    return None


def check_switches(off: Sequence[str]) -> None:
    """Unusable, with the nearest name, if the engine has no such switch."""
    known = [*GUARDS, *EFFECTS, *MISTAKES]
    for name in off:
        if name not in known:
            raise Unusable(f"the engine has no switch {name}; {nearest(name, known)}.")
