"""What must hold, by subject. Each property has its reason, the kinds of fault it is there for, and a witness."""

from __future__ import annotations

from model.language.properties import Property
from specs.properties import delivery, eligibility, liveness, memory, ownership, progress, races, rest, sharing

_SUBJECTS = (ownership, sharing, memory, progress, delivery, eligibility, races, rest)

PROPERTIES: tuple[Property, ...] = tuple(
    value for subject in _SUBJECTS for value in vars(subject).values() if isinstance(value, Property)
)

# Apart from the others: what runs states, steps or single traces has nothing to say of them.
LIVENESS: tuple[Property, ...] = tuple(value for value in vars(liveness).values() if isinstance(value, Property))
