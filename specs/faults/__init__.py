"""Seeded faults: one small change to a rule each, what public report it is like, and which property must notice it."""

from __future__ import annotations

from specs.faults.fault import Fault
from specs.faults.life import LIFE_FAULTS
from specs.faults.memory import MEMORY_FAULTS
from specs.faults.output import OUTPUT_FAULTS
from specs.faults.sharing import SHARING_FAULTS
from specs.faults.window import WINDOW_FAULTS

FAULTS: tuple[Fault, ...] = (*MEMORY_FAULTS, *OUTPUT_FAULTS, *LIFE_FAULTS, *SHARING_FAULTS, *WINDOW_FAULTS)
