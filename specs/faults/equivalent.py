"""Parts of rules that change nothing when they are taken away, each with the argument why.

They are kept because a reader expects them there, or because they keep the state space small. What is listed here and
caught after all is an error, and so is a mutant that nothing catches and that is not listed.
"""

from __future__ import annotations

_FORGOTTEN = (
    "where a step began and which blocks it uses is read only until it has run (or its late result is taken); "
    "it is forgotten then to keep the state space small"
)
_NO_FAMILY = "the family of a block that is not published is read by nobody"
_NO_PROMISE = (
    "a step that samples has scheduled every decided token, and only blocks of decided tokens are published, "
    "so the plan that is given up has promised nothing"
)
_NO_PLAN = "a preempted request has nothing planned, so none of its promises is open"
_ZERO = "a preempted request has nothing planned, owed, scheduled or settled already"
_FINISHES = ("retire_stop", "retire_length")
_LATE = ("retire_late_stop", "retire_late_length")
_NAMES = ("published", "published_family", "published_own")
_COUNTERS = ("planned", "computed", "scheduled", "owed")
_RETIRES = ("retire_chunk", "retire_token", *_FINISHES, "retire_stale", "retire_late_token", *_LATE)

EQUIVALENT: dict[str, str] = {
    **{f"{rule}/start": _FORGOTTEN for rule in ("execute", *_RETIRES)},
    "execute/uses": _FORGOTTEN,
    **{f"{rule}/published_family": _NO_FAMILY for rule in ("acquire", "preempt", "abort")},
    **{f"{rule}/{field}": _NO_PROMISE for rule in _FINISHES for field in _NAMES},
    **{f"{rule}/{field}": _NO_PLAN for rule in _LATE for field in _NAMES},
    **{f"{rule}/{field}": _ZERO for rule in _LATE for field in _COUNTERS},
    **{f"{rule}.stale": "the guard due says it too" for rule in ("retire_late_token", *_LATE)},
    "retire_chunk/samples": "by its guard, nothing is sampled",
    "recycle.something": "an empty window that moves up is the same window",
    "publish.held": "a block that is not held has position 0, and published as position 0 is not published",
}
