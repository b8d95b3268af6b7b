"""What the engine is in, read from its own tensors, tables and queues at the moment of asking."""

from __future__ import annotations

from typing import Any

from engine_ref.core import Core

Observation = dict[str, Any]


def observe(engine: Core) -> Observation:
    """Each field as nested lists: of requests, blocks, slots of the window and workers, in the order the field has them.

    `table[r][b]` is the block's position in the request's block table, from 1, or 0. Of the KV itself nothing is said here.
    """
    config, window, requests = engine.config, engine.window, engine.requests
    every, blocks, slots = range(len(requests)), range(config.blocks), range(config.depth)
    tables = [engine.memory.table(r) for r in every]
    works = [[window[i].work.get(r) if i < len(window) else None for r in every] for i in slots]
    given = [[window[i].launched.get(r) if i < len(window) else None for r in every] for i in slots]
    steps = [window[i] if i < len(window) else None for i in slots]

    def position(table: tuple[int, ...] | list[int], b: int) -> int:
        return max((n for n, c in enumerate(table, 1) if c == b), default=0)

    return {
        "phase": [q.phase.name for q in requests],
        "reason": [q.reason.name for q in requests],
        "asked": [q.asked for q in requests],
        "committed": [len(q.committed) for q in requests],
        "delivered": [q.delivered for q in requests],
        "notified": [q.notified for q in requests],
        "computed": [q.computed for q in requests],
        "scheduled": [q.scheduled for q in requests],
        "owed": [q.owed for q in requests],
        "planned": [q.planned for q in requests],
        "table": [[position(tables[r], b) for b in blocks] for r in every],
        "ref": engine.memory.ref.tolist(),
        **_published(engine),
        "status": ["EMPTY" if s is None else "EXECUTED" if s.executed else "LAUNCHED" for s in steps],
        "entry": [
            ["NONE" if w is None else "STALE" if engine.stale(r, w) else "LIVE" for r, w in enumerate(row)]
            for row in works
        ],
        "tokens": [[w.tokens if w else 0 for w in row] for row in works],
        "samples": [[w.samples if w else False for w in row] for row in works],
        "start": [[w.start if w else 0 for w in row] for row in works],
        "uses": [[[position(w.blocks, b) if w else 0 for b in blocks] for w in row] for row in given],
        "ran": [[s is not None and v in s.ran for v in range(config.workers)] for s in steps],
    }


def _published(engine: Core) -> Observation:
    """The names of the cached blocks: a position in the prefix of a family, or one in the own text of a request."""
    names, requests, config = engine.memory.names, engine.requests, engine.config
    shared, families = [0] * len(names), [0] * len(names)
    own = [[0] * len(names) for _ in requests]
    for b, name in enumerate(names):
        if name is None:
            continue
        if config.cache == "prefix":
            families[b], shared[b] = name
            continue
        position = len(name) // config.block_size
        whose = [r for r, q in enumerate(requests) if q.text[: len(name)] == name]
        if len(name) <= config.prefix:
            shared[b] = position
            families[b] = requests[whose[0]].asked_for.family if whose else 0
        else:
            for r in whose:
                own[r][b] = position
    return {"published": shared, "published_family": families, "published_own": own}
