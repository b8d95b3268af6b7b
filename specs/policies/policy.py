"""What a policy is."""

from __future__ import annotations

from dataclasses import dataclass

from model.language.edits import Edit, Fair

# The decisions of the scheduler. A policy says when each is due, so that it can promise not to put it off for ever.
DECIDES = tuple(Fair(rule) for rule in ("admit", "acquire", "select", "preempt"))


@dataclass(frozen=True)
class Policy:
    """Who is chosen: a named set of guards on top of the rules, and nothing that the rules forbid.

    `changes` add the guards (and what of the order of requests they need to know). Under every policy the scheduler's own
    decisions are fair: where its guards let it decide something for ever, it does not stand still. `breaks` names the
    properties that the policy is known not to keep; all others it claims to. `relies_on_fits`: what it promises, it promises
    only where every request that is admitted fits alone (admit.fits).
    """

    name: str
    about: str
    changes: tuple[Edit, ...]
    breaks: tuple[str, ...] = ()
    relies_on_fits: bool = True
    source: str = ""
