"""The engine: the scheduler and the results' side, with the client, the device and the memory's way back."""

from __future__ import annotations

from engine_ref.config import PADDING
from engine_ref.core import Phase, Reason
from engine_ref.network import sample
from engine_ref.results import Results
from engine_ref.scheduler import Scheduler
from engine_ref.window import Step


class Engine(Scheduler, Results):
    """A serving engine, one rule at a time. Its public methods are the rules; Fcfs drives them by itself."""

    # ------------------------------------------------------------------------------------------- client
    def submit(self, r: int) -> None:
        q = self.requests[r]
        self.need(q.phase is Phase.NEW, f"r{r} was submitted already")
        q.phase = Phase.WAITING

    def cancel(self, r: int) -> None:
        q = self.requests[r]
        self.need(q.phase is not Phase.NEW and not q.asked and not q.notified, f"r{r} cannot be cancelled now")
        q.asked = True

    def deliver(self, r: int) -> None:
        q = self.requests[r]
        self.checks.guard(
            "deliver.undelivered", q.delivered < len(q.committed), delivered=q.delivered, committed=len(q.committed)
        )
        self.checks.guard("deliver.open", q.notified == 0, notified=q.notified)
        q.client.tokens.append(q.outbox.popleft() if q.outbox else PADDING)
        if self.checks.does("deliver/delivered"):
            q.delivered += 1

    # ------------------------------------------------------------------------------------------- device
    def execute(self, i: int, w: int) -> None:
        """A worker's device runs the launched step in slot i, on the KV memory as it is now."""
        step = self.window[i] if i < len(self.window) else None
        older = [j for j, other in enumerate(self.window[:i]) if not (other.executed or w in other.ran)]
        before = [j for j in older if not (step and self._may_overtake(step, self.window[j]))]
        self.checks.guard("execute.launched", step is not None and not step.executed, slot=i)
        self.checks.guard("execute.once", step is None or w not in step.ran, worker=w)
        self.checks.guard("execute.oldest", not before, slots_not_run_yet=before)
        if step is None and i == len(self.window):
            self.window.append(Step(executed=True))  # the device is given nothing, and runs it
        if step is None or step.executed:
            return
        waiting = [r for r, work in step.launched.items() if any(s and self._elsewhere(s, w) for s in work.sources)]
        self.checks.guard("execute.token-known", not waiting, requests=waiting)
        self._run(step, w)
        if len(step.ran) == self.config.workers or self.checks.mistaken("executed-after-one-worker"):
            self._executed(step)

    def _may_overtake(self, step: Step, older: Step) -> bool:
        """Whether the device may run the step before this older one: no request waits for its own live work."""
        if self.checks.mistaken("overtakes-own-step"):
            return not older.executed
        both = step.work.keys() & older.work.keys()
        apart = all(self.stale(r, older.work[r]) and not self.stale(r, step.work[r]) for r in both)
        return self.config.device == "unordered" and apart

    def _elsewhere(self, source: object, w: int) -> bool:
        """The token is sampled by a step that this worker has run and others have not: nobody knows it yet."""
        steps = [s for s in self.window if source in s.launched.values()]
        return any(w in s.ran and not s.executed for s in steps)

    def _run(self, step: Step, w: int) -> None:
        shard = self.network.shard(w, self.config.workers)
        if step.launched:
            logits = self.network.step(step.batch(), self.memory.pools[w], shard)
            step.logits = logits if step.logits is None else step.logits + logits
        step.ran.add(w)

    def _executed(self, step: Step) -> None:
        """All logits are there: tokens are sampled."""
        for r, row in step.last_rows().items():
            work, asked_for = step.launched[r], self.requests[r].asked_for
            if work.samples:
                work.logits = step.logits[row]
                work.token = sample(work.logits, asked_for.temperature, asked_for.seed, work.end)
        step.executed = True
        if len(step.ran) == self.config.workers:
            self._forget(step)

    def _forget(self, step: Step) -> None:
        """What only the device needed is dropped."""
        step.ran = set()
        for work in step.launched.values():
            work.blocks = ()
            if self.config.late_result == "drop":
                work.start = 0

    # ------------------------------------------------------------------------------------------- memory
    def release(self, r: int) -> None:
        q = self.requests[r]
        left = q.phase in (Phase.PREEMPTED, Phase.FINISHED)
        if self.checks.mistaken("abort-frees-nothing"):
            left = left and q.reason is not Reason.CANCELLED
        pinned = [i for i, step in enumerate(self.window) if not step.executed and self._pins(r, step)]
        self.checks.guard("release.left", left, phase=q.phase.name)
        self.need(self.held(r) > 0, f"r{r} holds nothing")
        self.checks.guard("release.unpinned", self.config.release == "ordered" or not pinned, launched_in_slots=pinned)
        self.give_back("release", r)

    def _pins(self, r: int, step: Step) -> bool:
        """Whether the step still works on the request's blocks: all its work does, also what has turned stale."""
        live_only = self.checks.mistaken("stale-work-pins-nothing")
        return r in step.work and not (live_only and self.stale(r, step.work[r]))
