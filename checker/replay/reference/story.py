"""A story on the engine: the same script, the engine's own record at each boundary, and the tokens behind it."""

from __future__ import annotations

from collections.abc import Iterator

from checker.replay.ledger import Record
from checker.replay.reference.events import differences
from checker.replay.reference.run import Run
from checker.replay.reference.stage import ends, set_up
from checker.replay.story import Boundary, Happened, Story, Told, WasRefused, boundary_lines
from engine_ref import Engine, Refused
from engine_ref.core import Phase
from model.lifecycle.state import Lifecycle
from model.readings.layout import Layout


def tell_on_engine(story: Story, told: Told, layout: Layout) -> Told:
    """Play on the engine what the rules made of a story. At each boundary the engine's records must be the rules' own."""
    before = {id(h): _committed(layout, h) for h in told.happened if isinstance(h, Happened) and h.at}
    stops = ends((h.rule, h.at, before[id(h)]) for h in told.happened if isinstance(h, Happened) and h.at)
    run = Run(set_up(layout.world, stops), layout)
    result = Told()
    for what in told.happened:
        if isinstance(what, Boundary):
            result.lines += _boundary(run.engine, what, result)
        elif not _play(run, what, result):
            break
    result.failures += [f"{story.place}: {s}" for s in run.damage(over=True).sentences] if not result.failures else []
    return result


def _committed(layout: Layout, what: Happened) -> int:
    place = layout.position.get((Lifecycle.committed, (what.at[0],)))
    return 0 if place is None else what.before[place]


def _play(run: Run, what: Happened | WasRefused, result: Told) -> bool:
    """One event, done or refused as it should be; False if the engine cannot follow any further."""
    try:
        run.event(what.rule, what.at)
    except Refused as refused:
        if isinstance(what, WasRefused) and refused.guard in what.guards:
            return True
        result.failures.append(f"{what.place}: the engine refuses {what.text}: {refused}")
        return isinstance(what, WasRefused)
    if isinstance(what, WasRefused):
        result.failures.append(f"{what.place}: the engine does {what.text}, which the rules refuse")
        return False
    result.events += 1
    for cell, engine, model in run.differing(what.then):
        result.failures.append(f"{what.place}: after {what.text}, the engine has {cell.text} = {engine}, not {model}")
        return False
    return True


def _boundary(engine: Engine, what: Boundary, result: Told) -> Iterator[str]:
    own = list(records(engine))
    for mine, theirs in zip(own, what.records, strict=True):
        if mine != theirs:
            result.failures.append(
                f"{what.title}: the engine's record of {mine.id} is {mine.row()}, not {theirs.row()}"
            )
    yield from boundary_lines(what.title, own)
    for r, q in enumerate(engine.requests):
        if q.committed:
            yield f"  tokens of r{r}: {' '.join(map(str, q.committed))}; its client took {len(q.client.tokens)}"


def records(engine: Engine) -> Iterator[Record]:
    """Each request as the engine itself has it."""
    for r, q in enumerate(engine.requests):
        whole = len(q.asked_for.prompt)
        yield Record(
            id=f"r{r}",
            phase=q.phase.name,
            reason=q.reason.name,
            epoch=q.admissions,
            prompt=f"{min(whole, q.computed)}/{whole}" if q.phase is Phase.RUNNING else "-",
            committed=len(q.committed),
            delivered=len(q.client.tokens),
            notified=len(q.client.messages),
            blocks=",".join(f"b{b}" for b in engine.memory.table(r)) or "-",
            recomputed=q.recomputed,
        )
