"""What the engine checks before it acts, and the switches that take a check, or a part of an effect, away.

A guard is named `rule.guard`, a part of an effect `rule/field`. A mistake is a thing the engine can be told to do wrong
that is not merely something left out. A sound engine has everything on and no mistake.
"""

from __future__ import annotations

from collections.abc import Iterable

GUARDS: tuple[str, ...] = (
    "deliver.undelivered",
    "deliver.open",
    "reject.waiting",
    "reject.never-fits",
    "admit.waiting",
    "admit.empty-handed",
    "admit.seat",
    "admit.fits",
    "admit.no-result-due",
    "hit.running",
    "hit.next",
    "hit.settled",
    "hit.rest",
    "acquire.running",
    "acquire.free",
    "acquire.wanted",
    "select.running",
    "select.room",
    "select.budget",
    "select.known",
    "select.wanted",
    "select.covered",
    "select.unmixed",
    "preempt.running",
    "preempt.not-leaned-on",
    "abort.asked",
    "abort.unfinished",
    "abort.not-leaned-on",
    "launch.something",
    "execute.launched",
    "execute.once",
    "execute.oldest",
    "execute.token-known",
    "retire_chunk.executed",
    "retire_chunk.live",
    "retire_chunk.chunk",
    "retire_token.executed",
    "retire_token.live",
    "retire_token.samples",
    "retire_token.more",
    "retire_token.goes-on",
    "retire_stop.executed",
    "retire_stop.live",
    "retire_stop.samples",
    "retire_stop.more",
    "retire_stop.ends",
    "retire_length.executed",
    "retire_length.live",
    "retire_length.samples",
    "retire_length.last",
    "retire_stale.executed",
    "retire_stale.stale",
    "retire_stale.not-due",
    "retire_late_token.executed",
    "retire_late_token.stale",
    "retire_late_token.due",
    "retire_late_token.more",
    "retire_late_token.goes-on",
    "retire_late_stop.executed",
    "retire_late_stop.stale",
    "retire_late_stop.due",
    "retire_late_stop.more",
    "retire_late_stop.ends",
    "retire_late_length.executed",
    "retire_late_length.stale",
    "retire_late_length.due",
    "retire_late_length.last",
    "recycle.something",
    "recycle.retired",
    "publish.held",
    "publish.prefix",
    "publish.computed",
    "publish.known",
    "notify.finished",
    "notify.once",
    "notify.delivered",
    "release.left",
    "release.unpinned",
)

LEAVING = ("preempt", "abort", "retire_stop", "retire_length", "retire_late_stop", "retire_late_length")
RETIRING = ("retire_chunk", "retire_token")

EFFECTS: tuple[str, ...] = (
    *(f"{rule}/{field}" for rule in LEAVING for field in ("published", "planned", "computed", "scheduled", "owed")),
    *(f"{rule}/entry" for rule in ("preempt", "abort")),
    *(f"{rule}/computed" for rule in RETIRING),
    *(f"{rule}/committed" for rule in ("retire_token", *LEAVING[2:], "retire_late_token")),
    "retire_token/owed",
    "deliver/delivered",
    "hit/table",
    "hit/ref",
    "hit/computed",
    "hit/scheduled",
    "acquire/table",
    "acquire/ref",
    "acquire/published",
    "launch/scheduled",
    "launch/owed",
    "launch/planned",
    "notify/notified",
    "release/ref",
    "release/table",
)

MISTAKES: dict[str, str] = {
    "abort-releases-at-once": "abort also returns the request's blocks, whatever is in flight",
    "select-finished": "a finished request may be planned, too",
    "sample-mid-prompt": "every step samples a token, also one that computes a chunk of the prompt",
    "preempt-forgets-output": "preemption resets the output that was committed",
    "executed-after-one-worker": "a step counts as executed when the first worker has run it",
    "overtakes-own-step": "the device runs launched steps in any order, a request's own too",
    "resumed-judged-by-prompt": "a step samples once past the prompt, though output is still to be computed again",
    "stale-chunk-counts": "a chunk of a residency that has ended counts as progress",
    "cancel-ends-another": "one client's cancel lets any request be aborted",
    "rejected-not-answered": "the client of a rejected request is not told",
    "never-refused": "a request that can never fit is not rejected",
    "idle-seats-not-chosen": "no seat is found when all are idle",
    "nobody-is-preempted": "no running request gives way",
    "freed-by-two-paths": "a stop counts the blocks down, and the release does so again",
    "cached-block-returned-twice": "a release counts a cached block down twice",
    "release-only-known-tokens": "a release counts down only the blocks of decided tokens",
    "abort-frees-nothing": "the blocks of a cancelled request are not released",
    "stale-work-pins-nothing": "launched work of a residency that has ended does not keep blocks from being released",
    "acquire-keeps-one-index": "a block handed out anew can still be found as a request's own text",
}


class Refused(Exception):
    """The engine does not act: a check is false. `values` are what the check looked at."""

    def __init__(self, guard: str, values: dict[str, object]) -> None:
        said = ", ".join(f"{name} = {value}" for name, value in values.items())
        super().__init__(f"{guard} is false" + (f" ({said})" if said else ""))
        self.guard, self.values = guard, values


class Misused(Exception):
    """The caller asked for what the rules assume that nobody asks for, such as to submit a request twice."""


class Checks:
    """The guards, effects and mistakes of one engine. ValueError for a name that is none of them."""

    def __init__(self, off: Iterable[str] = ()) -> None:
        self.off = frozenset(off)
        for name in sorted(self.off):
            if name not in GUARDS and name not in EFFECTS and name not in MISTAKES:
                raise ValueError(f"the engine has no switch {name}")

    def guard(self, name: str, holds: bool, **values: object) -> None:
        """Refused if the check is on and false."""
        assert name in GUARDS, name
        if not holds and name not in self.off:
            raise Refused(name, values)

    def does(self, effect: str) -> bool:
        """Whether this part of an effect is on. Parts that cannot be switched are not asked for."""
        return effect not in self.off

    def mistaken(self, mistake: str) -> bool:
        assert mistake in MISTAKES, mistake
        return mistake in self.off
