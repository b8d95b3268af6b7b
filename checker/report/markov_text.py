"""The Markov lab as text and JSON."""

from __future__ import annotations

import json
from collections.abc import Sequence
from fractions import Fraction

from model.markov import Chain

ABSORBING = "The terminal state is absorbing: q = 0, so what has ended stays ended."
NOT_ABSORBING = (
    "The terminal state is left again: q is above 0. In the lifecycle this would break delivery.first-wins, by which a "
    "finished request stays finished."
)
LACKS = (
    "This is a hypothetical chain of one declared transition. It has no arrivals, no token dependencies, no batch "
    "membership and no cache blocks, and it samples no trajectories: it does not simulate continuous batching."
)


def said_of_terminal(chain: Chain) -> str:
    return ABSORBING if chain.absorbing else NOT_ABSORBING


def lines(chain: Chain, pending: Sequence[Fraction]) -> list[str]:
    """The chain, step by step, with its closed form."""
    rows = [("step", "pending", "terminal"), *((str(n), str(x), str(1 - x)) for n, x in enumerate(pending))]
    wide = [max(len(row[i]) for row in rows) for i in range(2)]
    table = [f"  {n:>{wide[0]}}  {x:{wide[1]}}  {y}" for n, x, y in rows]
    last = len(pending) - 1
    return [
        f"two states, 0 pending and 1 terminal: 0 to 1 with p = {chain.p}, 1 to 0 with q = {chain.q}",
        *table,
        f"closed form: {chain.formula}, so pending({last}) = {chain.closed(last)}",
        said_of_terminal(chain),
        LACKS,
    ]


def summary(pending: Sequence[Fraction]) -> str:
    """The last line."""
    steps = len(pending) - 1
    return f"holds: after {steps} step{'s' * (steps != 1)} the request is pending with probability {pending[-1]}"


def document(chain: Chain, pending: Sequence[Fraction], version: str) -> str:
    """The document of `markov --json`. Probabilities are fractions as text, since a float would not be exact."""
    return json.dumps(
        {
            "version": version,
            "command": "markov",
            "verdict": "holds",
            "p": str(chain.p),
            "q": str(chain.q),
            "absorbing": chain.absorbing,
            "closed_form": chain.formula,
            "rows": [{"step": n, "pending": str(x), "terminal": str(1 - x)} for n, x in enumerate(pending)],
        },
        indent=2,
    )
