"""Damage: what is wrong with an engine's tokens, streams, answers and blocks, held against the requests alone."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from checker.replay.reference.memory import Overwritten
from checker.replay.reference.outcome import Damage
from checker.replay.reference.stage import Stage
from engine_ref import Engine
from engine_ref.core import Phase, Reason
from engine_ref.network import TOLERANCE


def measure(engine: Engine, stage: Stage, overwritten: Overwritten, over: bool) -> Damage:
    """What is wrong now. Answers, leaks and requests without an end are judged only when the run is `over`."""
    every = range(len(engine.requests))
    return Damage(
        tokens=tuple(s for r in every for s in _tokens(engine, stage, r)),
        memory=overwritten.sentences(),
        stream=tuple(s for r in every for s in _stream(engine, stage, r, over)),
        messages=tuple(s for r in every for s in _messages(engine, stage, r, over)),
        leaks=tuple(_leaks(engine)) if over else (),
        endless=tuple(f"r{r} never ends: {_where(engine, r)}" for r in every if over and _unfinished(engine, r)),
    )


def _tokens(engine: Engine, stage: Stage, r: int) -> list[str]:
    q, truth = engine.requests[r], stage.truth[r]
    right = list(truth.tokens[: len(q.committed)])
    if q.committed != right:
        n = next(n for n, token in enumerate(q.committed) if [token] != right[n : n + 1])
        alone = truth.tokens[n] if n < len(truth.tokens) else "no token"
        return [f"token {n} of r{r} is {q.committed[n]}; alone it is {alone} ({_text(q.committed)} for {_text(right)})"]
    if len(q.committed) > q.limit:
        return [f"r{r} has {len(q.committed)} tokens, and asked for at most {q.limit}"]
    if len(q.logits) != len(q.committed):
        return []
    apart = [float((mine - theirs).abs().max()) for mine, theirs in zip(q.logits, truth.logits, strict=False)]
    if apart and max(apart) > TOLERANCE:
        return [f"the logits of r{r} differ by {max(apart):.3g} from those alone, though its tokens are the same"]
    return []


def _stream(engine: Engine, stage: Stage, r: int, over: bool) -> list[str]:
    """What the client took, held against the text alone: prefixes are fine while the run goes on, and for the cancelled."""
    q = engine.requests[r]
    taken, right = q.client.tokens, list(stage.truth[r].tokens)
    if taken != right[: len(taken)]:
        twice = [t for t, n in Counter(taken).items() if n > 1 and right.count(t) < n]
        what = f", with {_text(twice)} twice" if twice else ""
        return [f"the client of r{r} took {_text(taken)}{what}; alone it is {_text(right[: len(taken)])}"]
    whole = _ended(engine, stage, r)
    if over and q.notified and q.reason in (Reason.STOP, Reason.LENGTH) and taken != right[:whole]:
        return [f"the client of r{r} took {len(taken)} tokens of {whole}, and was told that this is all"]
    return []


def _ended(engine: Engine, stage: Stage, r: int) -> int:
    """How many tokens the request has alone."""
    asked_for = engine.requests[r].asked_for
    tokens = stage.truth[r].tokens[: asked_for.limit]
    return next((n + 1 for n, t in enumerate(tokens) if t in asked_for.stop), len(tokens))


def _messages(engine: Engine, stage: Stage, r: int, over: bool) -> list[str]:
    q = engine.requests[r]
    sent = len(q.client.messages)
    if sent > 1:
        return [f"the client of r{r} was sent {sent} terminal messages"]
    if sent and (more := len(q.client.tokens) - q.client.messages[0].taken):
        return [f"the client of r{r} was sent {more} token{'s' * (more != 1)} after the terminal message"]
    if sent and q.reason is Reason.CANCELLED and not q.asked:
        return [f"the client of r{r} was told CANCELLED, and had not asked"]
    if over and q.reason is Reason.CANCELLED and 0 < _ended(engine, stage, r) <= len(q.committed):
        return [f"the client of r{r} was told CANCELLED, though its text had ended before"]
    if sent and q.reason is Reason.REJECTED and engine.fits(r):
        return [f"the client of r{r} was told REJECTED, though r{r} fits"]
    if over and q.phase is Phase.FINISHED and sent == 0:
        return [f"the client of r{r} was sent no terminal message, though r{r} has finished"]
    if sent and (told := q.client.messages[-1]) and (told.reason, told.tokens) != (q.reason, len(q.committed)):
        now = f"{q.reason.name} with {len(q.committed)}"
        return [f"the client of r{r} was told {told.reason.name} with {told.tokens} tokens, and afterwards it is {now}"]
    return []


def _leaks(engine: Engine) -> list[str]:
    held = [b for r in range(len(engine.requests)) for b in engine.memory.table(r)]
    refs: Sequence[int] = engine.memory.ref.tolist()
    lost = [b for b, n in enumerate(refs) if n > held.count(b)]
    low = [b for b, n in enumerate(refs) if n < held.count(b)]
    kept = {r: engine.memory.table(r) for r, q in enumerate(engine.requests) if q.phase is Phase.FINISHED}
    said = [f"block b{b} is never free again: its count is {refs[b]}, and {held.count(b)} hold it" for b in lost]
    said += [f"block b{b} counts {refs[b]} references, and {held.count(b)} hold it" for b in low]
    return said + [
        f"r{r} has finished and keeps {len(table)} block{'s' * (len(table) != 1)}" for r, table in kept.items() if table
    ]


def _unfinished(engine: Engine, r: int) -> bool:
    return engine.requests[r].phase not in (Phase.NEW, Phase.FINISHED)


def _where(engine: Engine, r: int) -> str:
    q = engine.requests[r]
    return f"it is {q.phase.name} with {len(q.committed)} of {q.limit} tokens when nothing can go on"


def _text(tokens: Sequence[int]) -> str:
    return ", ".join(str(t) for t in tokens)
