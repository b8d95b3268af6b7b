"""What an engine may assume of its surroundings, and what the adversary does once that is taken away.

Three assumptions can be put or taken: the others of an adapter only say what its emulation rests on.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any

from checker.replay.engine_world import EngineRequest, EngineWorld, Observation
from specs.engines import Load, prompts

DEVICE_IN_ORDER = "device-in-order"
UNIQUE_IDS = "unique-ids"
FEASIBLE_REQUESTS = "feasible-requests"

# What each means, and what `drive` does without it.
REMOVABLE = {
    DEVICE_IN_ORDER: "steps execute in launch order; without it, the steps in flight are run in every order",
    UNIQUE_IDS: "no id is used again while the engine refers to it; without it, a client uses the id of r0 once more",
    FEASIBLE_REQUESTS: "every request can fit; without it, a client sends one that needs more blocks than there are",
}


def in_force(stated: Iterable[str], put: Iterable[str], taken: Iterable[str]) -> frozenset[str]:
    """The removable assumptions that a run rests on: those the configuration states, with some put and some taken away."""
    return ((frozenset(stated) & REMOVABLE.keys()) | frozenset(put)) - frozenset(taken)


def dials_under(dials: Mapping[str, Any], stated: Iterable[str], assumed: frozenset[str]) -> dict[str, Any]:
    """The dials of a configuration; its device is another if that assumption was put or taken away."""
    if (DEVICE_IN_ORDER in assumed) == (DEVICE_IN_ORDER in stated):
        return dict(dials)
    return {**dials, "device": "in_order" if DEVICE_IN_ORDER in assumed else "unordered"}


def world_under(load: Load, assumed: frozenset[str] = frozenset(REMOVABLE)) -> EngineWorld:
    """The world of a load, with a request more for each assumption about clients that may not be made."""
    misfit = (load.blocks * load.block_size + 1, 1, 0)
    more = () if FEASIBLE_REQUESTS in assumed else (misfit,)
    again = () if UNIQUE_IDS in assumed else (load.requests[0],)
    load = replace(load, requests=(*load.requests, *more, *again))
    asked = [
        EngineRequest(prompt, limit, priority)
        for prompt, (_, limit, priority) in zip(prompts(load), load.requests, strict=True)
    ]
    if again:
        asked[-1] = replace(asked[-1], same_id=0)
    return EngineWorld(load.name, tuple(asked), load.blocks, load.block_size, load.budget, load.seats)


def leaned_on(engine: EngineWorld, seen: Observation, move: Mapping[str, Any]) -> Iterable[str]:
    """The assumptions about clients that a move breaks, made where this is observed."""
    match move:
        case {"kind": "submit", "request": sent} | {"kind": "event", "rule": "submit", "at": [sent]}:
            if engine.never_fits(sent):
                yield FEASIBLE_REQUESTS
            if any(_refers(seen, r) for r in engine.same_id(sent)):
                yield UNIQUE_IDS


def _refers(seen: Observation, r: int) -> bool:
    """Whether something in the engine still refers to the request: a queue, or a step in flight."""
    alive = seen["requests"][r]["phase"] not in ("NEW", "FINISHED")
    return alive or any(q == r for step in seen["window"] for q, _, _ in step)
