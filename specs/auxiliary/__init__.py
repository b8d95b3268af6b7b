"""Auxiliary invariants: true in every reachable state, of no interest to a user, and needed to prove what is.

Induction knows of the state before a step only what is stated. Each of these says something that the properties take
for granted, and its reason names who needs it. The tests hold them against explored worlds, too.
"""

from __future__ import annotations

from model.language.properties import Property
from specs.auxiliary import content, counters, late, pending, rest, window

AUXILIARY: tuple[Property, ...] = tuple(
    value
    for subject in (counters, late, window, content, pending, rest)
    for value in vars(subject).values()
    if isinstance(value, Property)
)
