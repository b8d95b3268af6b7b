"""A policy, so that the engine serves by itself: first come, first served, the latest admitted makes room."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from engine_ref.checks import Misused, Refused
from engine_ref.config import Config, Submission
from engine_ref.core import Phase
from engine_ref.engine import Engine
from engine_ref.network import Network


class Fcfs:
    """Drives an engine through its rules, round by round. What the engine refuses it does not do.

    A sound engine serves every request rightly whoever drives it. So a policy may also be `hostile`, to let show what an
    unsound one does: the newest request is admitted first, the device runs the youngest step that it may, and, if
    `cancels`, a client gives up when its first token is on the way.
    """

    def __init__(self, engine: Engine, hostile: bool = False, cancels: bool = False) -> None:
        self.engine, self.hostile, self.cancels = engine, hostile, cancels
        self.acted = False

    def run(self, rounds: int) -> bool:
        """Go on until nothing is left to do, for at most so many rounds. Whether everything came to its end."""
        for _ in range(rounds):
            if self.quiet or not self.round():
                break
        return self.quiet

    def take_in(self) -> None:
        """Everything in flight lands, before anything new is planned."""
        for _ in range(len(self.engine.window)):
            self._land()

    @property
    def quiet(self) -> bool:
        """Every submitted request is finished and its client told; nothing is held or in flight."""
        told = all(q.phase is Phase.NEW or (q.phase is Phase.FINISHED and q.notified) for q in self.engine.requests)
        return told and not self.engine.window and not any(self.engine.held(r) for r in self._every())

    def round(self) -> bool:
        """One iteration: answer, clean up, admit, plan, launch; if nothing could be launched, take a result in."""
        self.acted = False
        for r in self._every():
            self._answer(r)
        self._admit()
        for r in self._in_order():
            self._plan(r)
        launched = any(q.planned for q in self.engine.requests) and self._try(self.engine.launch)
        if self.cancels:
            self._cancel()
        if not launched or len(self.engine.window) == self.engine.config.depth:
            self._land()
        return self.acted

    # -------------------------------------------------------------------------------------------- steps
    def _answer(self, r: int) -> None:
        q = self.engine.requests[r]
        if q.phase is Phase.WAITING and not self.engine.fits(r):
            self._try(self.engine.reject, r)
        if q.asked and q.phase is not Phase.FINISHED:
            self._try(self.engine.abort, r)
        while q.outbox and self._try(self.engine.deliver, r):
            pass
        if q.phase is Phase.FINISHED and not q.notified:
            self._try(self.engine.notify, r)
        if q.phase in (Phase.PREEMPTED, Phase.FINISHED) and self.engine.held(r):
            self._try(self.engine.release, r)

    def _admit(self) -> None:
        for r in reversed(self._every()) if self.hostile else self._every():
            waiting = self.engine.requests[r].phase in (Phase.WAITING, Phase.PREEMPTED)
            if waiting and not self._try(self.engine.admit, r):
                break  # nobody overtakes

    def _plan(self, r: int) -> None:
        """As many tokens as the budget and the memory allow."""
        engine, q = self.engine, self.engine.requests[r]
        if q.planned or q.phase is not Phase.RUNNING:
            return
        self._share(r)
        left = engine.config.budget - sum(p.planned for p in engine.requests)
        wanted = min(left, q.known + q.owed - q.scheduled)
        promised = len(q.committed) + q.owed
        if wanted < 1 or promised >= q.limit or len(engine.window) >= engine.config.depth:
            return
        for _ in range(engine.config.blocks):
            if engine.room(r) >= q.scheduled + wanted or not (engine.memory.free() or self._make_room(r)):
                break
            self._try(engine.acquire, r, engine.memory.free()[0])
        tokens = min(wanted, engine.room(r) - q.scheduled)
        if tokens > 0:
            self._try(engine.select, r, tokens)

    def _share(self, r: int) -> None:
        """Publish what may be, and take from the cache what is there."""
        engine = self.engine
        if not engine.config.sharing:
            return
        for b in engine.memory.table(r):
            if engine.memory.names[b] is None:
                self._try(engine.publish, r, b)
        for _ in range(engine.config.blocks):
            cached = [b for b, name in enumerate(engine.memory.names) if name is not None]
            if not any(self._try(engine.hit, r, b) for b in cached):
                break

    def _make_room(self, r: int) -> bool:
        """Preempt the latest admitted request behind this one. Whether a block is free now."""
        engine = self.engine
        order = self._in_order()
        for victim in reversed(order[order.index(r) + 1 :]):
            if self._try(engine.preempt, victim):
                if engine.held(victim):
                    self._try(engine.release, victim)
                return bool(engine.memory.free())
        return False

    def _land(self) -> None:
        """The oldest step runs to its end, its results are taken in, and the window moves up."""
        engine = self.engine
        if not engine.window:
            return
        for i in reversed(range(len(engine.window))) if self.hostile else (0,):
            for w in range(engine.config.workers):
                if not engine.window[i].executed and w not in engine.window[i].ran:
                    self._try(engine.execute, i, w)
        if not engine.window[0].executed:
            for w in range(engine.config.workers):
                self._try(engine.execute, 0, w)
        for r in self._every():
            rule = engine.retirement(r)
            if rule is not None:
                self._try(getattr(engine, rule), r)
        self._try(engine.recycle)

    def _cancel(self) -> None:
        for r, q in enumerate(self.engine.requests):
            sampling = any(r in step.work and step.work[r].samples for step in self.engine.window)
            if q.phase is Phase.RUNNING and not q.committed and not q.asked and sampling:
                self._try(self.engine.cancel, r)
                self._answer(r)

    # ------------------------------------------------------------------------------------------ helpers
    def _every(self) -> range:
        return range(len(self.engine.requests))

    def _in_order(self) -> list[int]:
        """Running requests in the order in which they are served."""
        running = self.engine.running()
        return running[::-1] if self.hostile else running

    def _try(self, rule: Callable[..., object], *at: int) -> bool:
        try:
            rule(*at)
        except (Refused, Misused):
            return False
        self.acted = True
        return True


def generate(
    prompts: Sequence[Sequence[int]], limit: int = 16, config: Config | None = None, network: Network | None = None
) -> list[list[int]]:
    """Serve the prompts together, greedily, and give each its `limit` tokens. ValueError if one cannot fit the pool.

    Without a `config`, the pool is just large enough for the longest two, so that requests wait and are preempted.
    """
    asked_for = [Submission(tuple(prompt), limit) for prompt in prompts]
    longest = max((a.life for a in asked_for), default=1)
    size = 4
    config = config or Config(blocks=2 * (longest // size + 1), block_size=size, budget=16, seats=8, depth=2)
    engine = Engine(config, network or Network())
    for asked in asked_for:
        r = engine.add(asked)
        engine.submit(r)
        if not engine.fits(r):
            raise ValueError(f"prompt {r} and its output need {asked.life} tokens of KV, more than the pool has")
    if not Fcfs(engine).run(rounds=1 + 4 * sum(a.life for a in asked_for) * len(asked_for)):
        raise RuntimeError("the engine did not come to rest; this is a fault of its own")
    return [q.client.tokens for q in engine.requests]
