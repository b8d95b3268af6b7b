"""What must hold, by subject. Each property has its reason, the kinds of fault it is there for, and a witness."""

from __future__ import annotations

from model.language.properties import Property
from specs.properties import delivery, eligibility, memory, ownership, progress, races, rest, sharing

_SUBJECTS = (ownership, sharing, memory, progress, delivery, eligibility, races, rest)

PROPERTIES: tuple[Property, ...] = tuple(
    value for subject in _SUBJECTS for value in vars(subject).values() if isinstance(value, Property)
)
