"""Shipped worlds, made ready to run."""

from __future__ import annotations

from typing import Any

from checker.variation import Variation, vary
from checker.worlds import WorldFile, find, with_dials
from model.lifecycle import LIFECYCLE
from model.readings.python import Machine
from model.readings.world import World
from specs.properties import PROPERTIES


def file_of(name: str, **dials: Any) -> WorldFile:
    """The world's file, with some dials set otherwise."""
    return with_dials(LIFECYCLE, find(LIFECYCLE, name), dials)


def world_of(name: str, **dials: Any) -> World:
    return file_of(name, **dials).world


def machine_of(name: str, fault: str | None = None, **dials: Any) -> Machine:
    """The generated reading of the rules in a shipped world, with a fault if one is named."""
    return Machine(changed_by(fault).model, world_of(name, **dials), PROPERTIES)


def changed_by(fault: str | None = None, *without: str) -> Variation:
    return vary(LIFECYCLE, fault, without)
