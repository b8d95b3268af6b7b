"""The scheduler's rules: who runs, who is given memory, and what the next step computes."""

from __future__ import annotations

from engine_ref.core import Core, Phase, Reason, Request
from engine_ref.window import Step, Work


class Scheduler(Core):
    """Each method is a rule: it checks its guards, raising Refused at the first that is false, and then acts."""

    def reject(self, r: int) -> None:
        q = self.requests[r]
        self.checks.guard("reject.waiting", q.phase is Phase.WAITING, phase=q.phase.name)
        never = not self.fits(r) and not self.checks.mistaken("never-refused")
        self.checks.guard("reject.never-fits", never, life=q.asked_for.life, blocks=self.config.blocks)
        q.phase, q.reason = Phase.FINISHED, Reason.REJECTED

    def admit(self, r: int) -> None:
        q, running = self.requests[r], self.running()
        waiting = q.phase in (Phase.WAITING, Phase.PREEMPTED)
        due = [i for i, step in enumerate(self.window) if self.due(r, step.work.get(r))]
        self.checks.guard("admit.waiting", waiting, phase=q.phase.name)
        self.checks.guard("admit.empty-handed", not self.held(r), table=self.memory.table(r))
        seat = len(running) < self.config.seats
        if self.checks.mistaken("idle-seats-not-chosen"):
            seat = seat and len(running) > 0
        self.checks.guard("admit.seat", seat, running=running, seats=self.config.seats)
        self.checks.guard("admit.fits", self.fits(r), life=q.asked_for.life, blocks=self.config.blocks)
        self.checks.guard("admit.no-result-due", not due, due_in_slots=due)
        q.phase = Phase.RUNNING
        q.admissions += 1

    def hit(self, r: int, b: int) -> None:
        q, size, room = self.requests[r], self.config.block_size, self.room(r)
        wanted, found = self.name(r, self.held(r) + 1), self.memory.names[b]
        self.checks.guard("hit.running", q.phase is Phase.RUNNING, phase=q.phase.name)
        self.checks.guard("hit.next", found == wanted, wanted=wanted, found=found)
        self.checks.guard("hit.settled", q.computed == room, computed=q.computed, room=room)
        self.checks.guard("hit.rest", room + size < q.known, room=room + size, known=q.known)
        self.hold("hit", r, b)
        if self.checks.does("hit/computed"):
            q.computed += size
        if self.checks.does("hit/scheduled"):
            q.scheduled += size
        q.deepest = max(q.deepest, q.computed)

    def acquire(self, r: int, b: int) -> None:
        q, room = self.requests[r], self.room(r)
        self.checks.guard("acquire.running", q.phase is Phase.RUNNING, phase=q.phase.name)
        self.checks.guard("acquire.free", int(self.memory.ref[b]) == 0, ref=int(self.memory.ref[b]))
        self.checks.guard("acquire.wanted", room < self.reach(r), room=room, reach=self.reach(r))
        self.hold("acquire", r, b)
        name = self.memory.names[b]
        own = name is not None and len(name) > self.config.prefix
        kept = own and self.config.cache == "all" and self.checks.mistaken("acquire-keeps-one-index")
        if self.checks.does("acquire/published") and not kept:
            self.memory.names[b] = None

    def select(self, r: int, k: int) -> None:
        q, planned = self.requests[r], sum(p.planned for p in self.requests)
        guard, allowed = self.checks.guard, [Phase.RUNNING]
        if self.checks.mistaken("select-finished"):
            allowed.append(Phase.FINISHED)
        guard("select.running", q.phase in allowed, phase=q.phase.name)
        self.need(q.planned == 0, f"r{r} is planned already; select it once a step")
        guard("select.room", len(self.window) < self.config.depth, in_flight=len(self.window), depth=self.config.depth)
        guard("select.budget", planned + k <= self.config.budget, planned=planned, more=k, budget=self.config.budget)
        guard(
            "select.known", q.scheduled + k <= q.known + q.owed, scheduled=q.scheduled, more=k, known=q.known + q.owed
        )
        promised = len(q.committed) + q.owed
        guard("select.wanted", self.config.overrun or promised < q.limit, promised=promised, limit=q.limit)
        guard("select.covered", q.scheduled + k <= self.room(r), scheduled=q.scheduled, more=k, room=self.room(r))
        others = [p for p, other in enumerate(self.requests) if other.planned]
        alike = all(self.decoding(p) == self.decoding(r) for p in others)
        guard("select.unmixed", self.config.mixed or alike, decoding=self.decoding(r), planned=others)
        q.planned = k

    def preempt(self, r: int) -> None:
        q, leaned = self.requests[r], self.leaned_on(r)
        running = q.phase is Phase.RUNNING and not self.checks.mistaken("nobody-is-preempted")
        self.checks.guard("preempt.running", running, phase=q.phase.name)
        self.checks.guard("preempt.not-leaned-on", not leaned, blocks=leaned)
        q.phase = Phase.PREEMPTED
        self.leave("preempt", r)
        if self.checks.mistaken("preempt-forgets-output"):
            q.committed.clear()

    def abort(self, r: int) -> None:
        q, leaned = self.requests[r], self.leaned_on(r)
        asked = q.asked or (self.checks.mistaken("cancel-ends-another") and any(p.asked for p in self.requests))
        self.checks.guard("abort.asked", asked)
        self.checks.guard("abort.unfinished", q.phase is not Phase.FINISHED, phase=q.phase.name)
        self.checks.guard("abort.not-leaned-on", not leaned, blocks=leaned)
        q.phase, q.reason = Phase.FINISHED, Reason.CANCELLED
        self.leave("abort", r)
        if self.checks.mistaken("abort-releases-at-once"):
            self.give_back("abort", r)

    def launch(self) -> int:
        """Hand the planned step to the device: record what it will do, and count its progress. Its slot."""
        planned = [r for r, q in enumerate(self.requests) if q.planned > 0]
        self.checks.guard("launch.something", bool(planned))
        self.need(len(self.window) < self.config.depth, "the window is full; recycle the oldest step first")
        step = Step({r: self._work(r, self.requests[r]) for r in planned})
        self.window.append(step)
        for r, work in step.work.items():
            q, does = self.requests[r], self.checks.does
            q.scheduled += q.planned if does("launch/scheduled") else 0
            q.owed += 1 if work.samples and does("launch/owed") else 0
            q.planned = 0 if does("launch/planned") else q.planned
        return len(self.window) - 1

    def _work(self, r: int, q: Request) -> Work:
        start, end = q.scheduled, q.scheduled + q.planned
        size, table = self.config.block_size, self.memory.table(r)
        last = end == q.known + q.owed or self.checks.mistaken("sample-mid-prompt")
        if self.checks.mistaken("resumed-judged-by-prompt"):
            last = end >= len(q.asked_for.prompt)
        used = table[: (end + size - 1) // size]
        return Work(
            epoch=q.epoch,
            start=start,
            tokens=q.planned,
            end=end,
            samples=last,
            known=q.text[start:end],
            sources=tuple(self._source(r, position) for position in range(max(start, q.known), end)),
            blocks=tuple(used),
            slots=self.memory.slots(used, start, end),
            context=self.memory.slots(used, 0, end),
        )

    def _source(self, r: int, position: int) -> Work | None:
        """The work in flight that will sample the token at this position of the request's text."""
        found = (step.work[r] for step in self.window if r in step.work)
        return next((w for w in found if not self.stale(r, w) and w.samples and w.end == position), None)
