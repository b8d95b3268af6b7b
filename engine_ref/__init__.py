"""A small serving engine that really runs: a transformer, paged KV memory, a window of launched steps, a scheduler.

It is written from the meaning of the lifecycle's rules and imports nothing of `model`, `specs` or `checker`: an
independent witness of what happens to tokens when a rule is broken. It needs torch (the optional group `engine`).
"""

from __future__ import annotations

import warnings

warnings.filterwarnings("ignore", message="Failed to initialize NumPy")  # torch works without it, and so do we

from engine_ref.alone import Alone, alone  # noqa: E402
from engine_ref.checks import EFFECTS, GUARDS, MISTAKES, Refused  # noqa: E402
from engine_ref.config import Config, Submission  # noqa: E402
from engine_ref.engine import Engine  # noqa: E402
from engine_ref.network import Network  # noqa: E402
from engine_ref.observe import observe  # noqa: E402
from engine_ref.serve import Fcfs, generate  # noqa: E402

__all__ = [
    "EFFECTS",
    "GUARDS",
    "MISTAKES",
    "Alone",
    "Config",
    "Engine",
    "Fcfs",
    "Network",
    "Refused",
    "Submission",
    "alone",
    "generate",
    "observe",
]
