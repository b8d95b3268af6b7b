"""The KV memory held against ground truth: what the blocks really hold, and what live requests find there."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from checker.replay.reference.stage import Stage
from engine_ref import Engine
from engine_ref.core import Phase
from engine_ref.network import TOLERANCE
from model.lifecycle.dials import Block, Request, Worker
from model.readings.layout import Cell, Layout


@dataclass(frozen=True)
class Claim:
    """The state says that this block, on this worker, holds `valid` tokens of a request's text from `position` (from 1) on."""

    cell: Cell
    block: int
    worker: int
    request: int
    position: int
    valid: int


def claims(layout: Layout, state: Sequence[int]) -> Iterator[Claim]:
    """What the ghost memory of a state says of the blocks; nothing where the world has no such ghost."""
    values = {(c.field.name, c.at): state[p] for p, c in enumerate(layout.cells)}
    cells = {(c.field.name, c.at): c for c in layout.cells}
    families = layout.world.values["family"]
    for b in range(layout.sizes[Block]):
        for w in range(layout.sizes[Worker]):
            valid = values.get(("valid", (b, w)), 0)
            shared = values.get(("text_prefix", (b, w)), 0)
            family = values.get(("text_family", (b, w)), 0)
            for r in range(layout.sizes[Request]):
                position = values.get(("text_own", (r, b, w)), 0) or (shared if families[r] == family else 0)
                if position and valid:
                    yield Claim(cells[("valid", (b, w))], b, w, r, position, valid)


def unfounded(engine: Engine, stage: Stage, layout: Layout, state: Sequence[int]) -> Iterator[tuple[Cell, str, str]]:
    """The claims that the KV memory does not bear out: the cell, how many first slots hold that text, how many should.

    Only the first layer is asked: its KV depends on a token and its position, and on nothing that was read. That more is in
    the memory than a state claims is no difference: the model says what may be relied on.
    """
    size = stage.config.block_size
    for claim in claims(layout, state):
        first = (claim.position - 1) * size
        shard = stage.network.shard(claim.worker, stage.config.workers)
        truth = stage.truth[claim.request].kv[0, :, first : first + claim.valid, shard]
        slots = slice(claim.block * size, claim.block * size + truth.shape[1])
        apart = (engine.memory.pools[claim.worker][0, :, slots] - truth).abs().amax((0, 2, 3, 4)) > TOLERANCE
        right = apart.tolist().index(True) if bool(apart.any()) else claim.valid
        if right < claim.valid:
            yield claim.cell, str(right), str(claim.valid)


@dataclass
class Overwritten:
    """KV slots of a live request that hold other KV than the request alone has there; the worst that was seen."""

    slots: dict[int, int]
    largest: dict[int, float]

    @classmethod
    def none(cls) -> Overwritten:
        return cls({}, {})

    def look(self, engine: Engine, stage: Stage) -> None:
        """Look at all that running requests believe settled, as far as their text is that of the ground truth.

        Where blocks are published before they are written, what is believed is there only when every promise is kept.
        """
        if stage.config.publish == "ordered" and pending(engine):
            return
        for r, q in enumerate(engine.requests):
            if q.phase is not Phase.RUNNING:
                continue
            tokens = min(settled(engine, r), right_text(stage, r, q.committed))
            slots, difference = apart(engine, stage, r, tokens)
            if slots:
                self.slots[r] = max(slots, self.slots.get(r, 0))
                self.largest[r] = max(difference, self.largest.get(r, 0.0))

    def sentences(self) -> tuple[str, ...]:
        return tuple(
            f"{count} KV slot{'s' * (count > 1)} of r{r}, while it ran, held other KV than r{r} alone has there "
            f"(largest difference {self.largest[r]:.3g})"
            for r, count in sorted(self.slots.items())
        )


def pending(engine: Engine) -> bool:
    """Something is planned or launched that has not been written yet."""
    return any(q.planned for q in engine.requests) or not all(s.executed for s in engine.window)


def settled(engine: Engine, r: int) -> int:
    """Tokens of a running request whose KV should be in memory: what is settled, and what executed since."""
    works = [s.work[r] for s in engine.window if s.executed and r in s.work]
    return engine.requests[r].computed + sum(w.tokens for w in works if not engine.stale(r, w))


def right_text(stage: Stage, r: int, committed: Sequence[int]) -> int:
    """How many first tokens of the text are those of the ground truth; the whole text known alone, if none is wrong."""
    truth = stage.truth[r].tokens
    wrong = next((n for n, token in enumerate(committed) if n >= len(truth) or token != truth[n]), len(truth))
    return min(len(stage.submissions[r].prompt) + wrong, int(stage.truth[r].kv.shape[2]))


def apart(engine: Engine, stage: Stage, r: int, tokens: int) -> tuple[int, float]:
    """How many of the first KV slots of the request differ from the ground truth on some worker, and by how much at most."""
    if tokens <= 0:
        return 0, 0.0
    slots = engine.memory.slots(engine.memory.table(r), 0, tokens)
    found = [False] * tokens
    largest = 0.0
    for w, pool in enumerate(engine.memory.pools):
        shard = stage.network.shard(w, stage.config.workers)
        difference = (pool[:, :, slots] - stage.truth[r].kv[:, :, :tokens, shard]).abs().amax((0, 1, 3, 4, 5))
        found = [f or d > TOLERANCE for f, d in zip(found, difference.tolist(), strict=True)]
        largest = max(largest, float(difference.max()))
    return sum(found), largest
