"""What a run has amounted to for each request, at a boundary between iterations.

Some of it is state (phase, committed); some no rule needs and only a reader wants: which residency this is (the
epoch that engines number), and how many tokens were computed again after a preemption.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from model.lifecycle.dials import Block, Request, prompt
from model.lifecycle.state import Lifecycle, Phase
from model.readings.ground import Instance
from model.readings.layout import Layout, member_name


@dataclass(frozen=True)
class Record:
    """One request at a boundary.

    `prompt` says how much of its prompt is resident, of how much, while it runs; `recomputed` counts tokens whose KV was
    computed before, in an earlier residency.
    """

    id: str
    phase: str
    reason: str
    epoch: int
    prompt: str
    committed: int
    delivered: int
    notified: int
    blocks: str
    recomputed: int

    @classmethod
    def heads(cls) -> list[str]:
        return list(cls.__dataclass_fields__)

    def row(self) -> list[str]:
        return [str(getattr(self, head)) for head in self.heads()]


class Ledger:
    """Follows a run of the lifecycle, event by event."""

    def __init__(self, layout: Layout) -> None:
        self.layout = layout
        requests = layout.sizes[Request]
        self.state: tuple[int, ...] = layout.initial
        self.epochs = [0] * requests
        self.ever = [0] * requests  # the most tokens that were ever computed for the request
        self.recomputed = [0] * requests

    def step(self, happened: Instance, then: Sequence[int]) -> None:
        """Take in one event and the state it led to."""
        for r in range(len(self.epochs)):
            before, after = self.cell(self.state, "computed", r), self.cell(then, "computed", r)
            if after > before and happened.rule.name != "hit":
                self.recomputed[r] += max(0, min(after, self.ever[r]) - before)
            self.ever[r] = max(self.ever[r], after)
        if happened.rule.name == "admit":
            self.epochs[happened.at[0]] += 1
        if happened.rule.name in ("retire_stop", "retire_length"):
            self.finish(happened.at[0])
        self.state = tuple(then)

    def finish(self, r: int) -> None:
        """The finishing step settles tokens too, though the residency ends with it and `computed` never shows them."""
        first = self.layout.position[(Lifecycle.tokens, (0, r))]
        before = self.cell(self.state, "computed", r)
        after = before + self.state[first]
        self.recomputed[r] += max(0, min(after, self.ever[r]) - before)
        self.ever[r] = max(self.ever[r], after)

    def cell(self, state: Sequence[int], field: str, *at: int) -> int:
        return state[self.layout.position[(self.layout.model.field(field), at)]]

    def running(self) -> list[str]:
        """The active set: who runs now."""
        return [r.id for r in self.records() if r.phase == Phase.RUNNING.name]

    def records(self) -> list[Record]:
        return [self.record(r) for r in range(len(self.epochs))]

    def record(self, r: int) -> Record:
        held = sorted((self.cell(self.state, "table", r, b), b) for b in range(self.layout.sizes[Block]))
        whole, phase = self.layout.world.of(prompt.dial, r), self.value("phase", r)
        return Record(
            id=member_name(Request, r),
            phase=phase.name,
            reason=self.value("reason", r).name,
            epoch=self.epochs[r],
            prompt=f"{min(whole, self.value('computed', r))}/{whole}" if phase is Phase.RUNNING else "-",
            committed=self.value("committed", r),
            delivered=self.value("delivered", r),
            notified=self.value("notified", r),
            blocks=",".join(member_name(Block, b) for position, b in held if position) or "-",
            recomputed=self.recomputed[r],
        )

    def value(self, field: str, r: int) -> Any:
        return self.layout.value(self.state, self.layout.position[(self.layout.model.field(field), (r,))])


def table(records: list[Record]) -> list[str]:
    """The records as aligned columns."""
    rows = [Record.heads(), *(r.row() for r in records)]
    wide = [max(len(row[i]) for row in rows) for i in range(len(rows[0]))]
    return ["  ".join(f"{c:{w}}" for c, w in zip(row, wide, strict=True)).rstrip() for row in rows]
