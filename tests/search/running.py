"""Shipped worlds and seeded faults, made ready to run."""

from __future__ import annotations

from typing import Any

from checker.check import Options, WorldResult, check_world
from checker.search.limits import Limits
from checker.variation import Variation, vary
from checker.worlds import WorldFile, find, with_dials
from model.lifecycle import LIFECYCLE
from model.readings.python import Machine
from model.readings.world import World
from specs.faults import FAULTS
from specs.faults.fault import Fault
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


# What each fault must be caught by, and the length of the shortest way there in the fault's world.
CAUGHT = {
    "release-while-pinned": ("ownership.keeps", 7),
    "abort-releases-at-once": ("ownership.keeps", 7),
    "acquire-held-block": ("ownership.exclusive", 6),
    "release-forgets-reference": ("ownership.references", 5),
    "retire-stale-token": ("delivery.context-first", 8),
    "sample-mid-prompt": ("eligibility.samples-at-end", 5),
    "preempt-forgets-output": ("delivery.grows", 8),
    "commit-after-cancel": ("eligibility.live-is-running", 7),
    "notify-twice": ("delivery.message-once", 5),
    "select-finished": ("eligibility.only-running", 6),
    "admit-beyond-seats": ("eligibility.within-seats", 6),
    "admit-what-never-fits": ("rest.way-home", 2),
    "hit-without-reference": ("sharing.hit-is-pinned", 11),
    "publish-before-computed": ("sharing.computed-first", 4),
    "publish-beyond-prefix": ("sharing.within-prefix", 9),
    "acquire-keeps-cache-entry": ("sharing.computed-first", 12),
    "promise-kept-at-preempt": ("memory.reads-own-text", 13),
    "promise-kept-at-abort": ("memory.reads-own-text", 14),
    "preempt-leaned-on": ("ownership.exclusive", 9),
    "abort-leaned-on": ("ownership.exclusive", 10),
    "owed-kept-at-preempt": ("progress.owed-adds-up", 6),
    "admit-with-result-due": ("eligibility.samples-at-end", 13),
    "executed-after-one-worker": ("memory.settled-is-there", 6),
    "overtakes-own-step": ("memory.reads-own-text", 9),
    "freed-by-two-paths": ("ownership.references", 7),
    "cached-block-returned-twice": ("ownership.references", 10),
    "release-only-known-tokens": ("ownership.references", 6),
    "abort-frees-nothing": ("rest.no-dead-end", 6),
    "stale-work-pins-nothing": ("ownership.keeps", 7),
    "resumed-judged-by-prompt": ("eligibility.samples-at-end", 14),
    "stale-chunk-counts": ("progress.ends-with-residency", 8),
    "planned-request-preempted": ("eligibility.only-running", 5),
    "cancel-ends-another": ("delivery.end-was-asked", 3),
    "abort-after-finish": ("delivery.first-wins", 9),
    "rejected-not-answered": ("rest.no-dead-end", 2),
    "never-refused": ("rest.no-dead-end", 1),
    "idle-seats-not-chosen": ("rest.no-dead-end", 1),
    "nobody-is-preempted": ("rest.no-dead-end", 18),
    "acquire-keeps-one-index": ("sharing.computed-first", 13),
    "published-under-two-names": ("sharing.one-name", 8),
}


def fault_named(name: str) -> Fault:
    return next(f for f in FAULTS if f.name == name)


def checked(fault: str, less: int = 0) -> WorldResult:
    """The fault's world, explored as deep as it takes to catch the fault (or less), and to the end for a home check."""
    caught_by, length = CAUGHT[fault]
    depth = None if caught_by == "rest.way-home" else length - less
    return check_world(file_of(fault_named(fault).world), changed_by(fault), PROPERTIES, Options(Limits(depth=depth)))
