"""For each promise a run that goes on for ever and breaks it: under a policy that does not keep it, or with a changed rule."""

from __future__ import annotations

import shlex
from collections.abc import Mapping
from dataclasses import dataclass

from checker.catalogue import Catalogue
from checker.check import check_world
from checker.handbook.run import Drift
from checker.replay.trace import Trace
from checker.settings import parse_settings
from checker.variation import vary
from checker.worlds import find, with_dials
from model.lifecycle import LIFECYCLE


@dataclass(frozen=True)
class Broken:
    """How a promise is broken: in a world, under a policy, or with a fault or without parts of rules."""

    world: str
    policy: str | None = None
    fault: str | None = None
    without: tuple[str, ...] = ()
    settings: tuple[str, ...] = ()


@dataclass(frozen=True)
class Lasso:
    """The run, and the command that finds it."""

    trace: Trace
    command: str


# What shows best why the promise matters. That it is really broken so is found out anew by every build.
BREAKS: Mapping[str, Broken] = {
    "liveness.asked-finishes": Broken("solo", without=("abort/phase",)),
    "liveness.finished-is-told": Broken("misfit", fault="rejected-not-answered"),
    "liveness.left-releases": Broken("solo", fault="abort-frees-nothing"),
    "liveness.launched-recycles": Broken("solo", without=("retire_stale/entry",)),
    "liveness.leaves-early": Broken("ample", policy="static", settings=("cancellation=off",)),
    "liveness.submitted-finishes": Broken("scarce", policy="any", settings=("cancellation=off",)),
}


def lassos(known: Catalogue) -> dict[str, Lasso]:
    """The run for each promise. Drift if what should break it does not any more."""
    return {name: _lasso(known, name, broken) for name, broken in BREAKS.items()}


def _lasso(known: Catalogue, name: str, how: Broken) -> Lasso:
    variation = vary(LIFECYCLE, how.fault, how.without, known, how.policy)
    file = with_dials(LIFECYCLE, find(LIFECYCLE, how.world), parse_settings(how.settings))
    promise = next(p for p in known.liveness if p.name == name)
    result = check_world(file, variation, (promise,))
    trace = next((t for t in result.traces if t.shows == name), None)
    if trace is None:
        raise Drift(f"{name} is not broken in {how.world} any more, {variation.words}; show another run on its card.")
    said = ["schedproof", "check", how.world, *variation.options]
    said += [part for setting in how.settings for part in ("--set", setting)]
    return Lasso(trace, shlex.join([*said, *([] if how.policy else ["--liveness"])]))
