"""The engine's rules: taking in the results of the oldest step, publishing blocks, and the terminal message."""

from __future__ import annotations

from engine_ref.config import PADDING
from engine_ref.core import Core, Message, Phase, Reason
from engine_ref.window import Step, Work


class Results(Core):
    """Each method is a rule: it checks its guards, raising Refused at the first that is false, and then acts."""

    def retire_chunk(self, r: int) -> None:
        entry = "any" if self.checks.mistaken("stale-chunk-counts") else "live"
        step, work = self._landed("retire_chunk", r, entry)
        self.checks.guard("retire_chunk.chunk", not _samples(work), samples=_samples(work))
        self._settle("retire_chunk", r, step, work)

    def retire_token(self, r: int) -> None:
        step, work = self._landed("retire_token", r, "live")
        self._sampled("retire_token", r, work, last=False)
        self._goes_on("retire_token", r, work)
        self._commit("retire_token", r, work)
        self._settle("retire_token", r, step, work)
        if self.checks.does("retire_token/owed"):
            self.requests[r].owed -= 1

    def retire_stop(self, r: int) -> None:
        step, work = self._landed("retire_stop", r, "live")
        self._sampled("retire_stop", r, work, last=False)
        self._ends("retire_stop", r, work)
        self._finish("retire_stop", r, step, work, Reason.STOP)
        if self.checks.mistaken("freed-by-two-paths"):
            for b in self.memory.table(r):
                self.memory.ref[b] -= 1

    def retire_length(self, r: int) -> None:
        step, work = self._landed("retire_length", r, "live")
        self._sampled("retire_length", r, work, last=True)
        self._finish("retire_length", r, step, work, Reason.LENGTH)

    def retire_stale(self, r: int) -> None:
        step, work = self._landed("retire_stale", r, "stale")
        self.checks.guard("retire_stale.not-due", not self.due(r, work))
        self._take(r, step)

    def retire_late_token(self, r: int) -> None:
        step, work = self._late("retire_late_token", r, last=False)
        self._goes_on("retire_late_token", r, work)
        self._commit("retire_late_token", r, work)
        self._take(r, step)

    def retire_late_stop(self, r: int) -> None:
        step, work = self._late("retire_late_stop", r, last=False)
        self._ends("retire_late_stop", r, work)
        self._finish("retire_late_stop", r, step, work, Reason.STOP)

    def retire_late_length(self, r: int) -> None:
        step, work = self._late("retire_late_length", r, last=True)
        self._finish("retire_late_length", r, step, work, Reason.LENGTH)

    def recycle(self) -> None:
        left = sorted(self.window[0].work) if self.window else []
        self.checks.guard("recycle.something", bool(self.window))
        self.checks.guard("recycle.retired", not left, left=left)
        del self.window[:1]

    def publish(self, r: int, b: int) -> None:
        q, table = self.requests[r], self.memory.table(r)
        position = table.index(b) + 1 if b in table else 0
        tokens = position * self.config.block_size
        prefix = position > 0 and tokens <= self.config.prefix
        settled = q.computed if self.config.publish == "computed" else q.scheduled + q.planned
        self.checks.guard("publish.held", position > 0, table=table)
        self.checks.guard(
            "publish.prefix", self.config.cache == "all" or prefix, tokens=tokens, prefix=self.config.prefix
        )
        self.checks.guard("publish.computed", tokens <= settled, tokens=tokens, computed=settled)
        self.checks.guard("publish.known", tokens <= q.known, tokens=tokens, known=q.known)
        self.need(self.memory.names[b] is None, f"b{b} is cached already")
        self.memory.names[b] = self.name(r, position) if position else None

    def notify(self, r: int) -> None:
        q = self.requests[r]
        drained = q.delivered == len(q.committed) or q.reason is Reason.CANCELLED
        silent = q.reason is Reason.REJECTED and self.checks.mistaken("rejected-not-answered")
        self.checks.guard("notify.finished", q.phase is Phase.FINISHED and not silent, phase=q.phase.name)
        self.checks.guard("notify.once", q.notified == 0, notified=q.notified)
        self.checks.guard("notify.delivered", drained, delivered=q.delivered, committed=len(q.committed))
        if self.checks.does("notify/notified"):
            q.notified += 1
        q.client.messages.append(Message(q.reason, len(q.committed), len(q.client.tokens)))

    # ------------------------------------------------------------------------------------------- checks
    def retirement(self, r: int) -> str | None:
        """Which retiring rule fits the request's result in the oldest step; None if there is none to take in."""
        step, work = self.oldest(r)
        if step is None or work is None or not step.executed:
            return None
        stale, due = self.stale(r, work), self.due(r, work)
        if stale and not due:
            return "retire_stale"
        late = "retire_late" if stale else "retire"
        if not work.samples:
            return f"{late}_chunk"
        q = self.requests[r]
        if len(q.committed) + 1 >= q.limit:
            return f"{late}_length"
        return f"{late}_stop" if work.token in q.asked_for.stop else f"{late}_token"

    def _landed(self, rule: str, r: int, entry: str) -> tuple[Step | None, Work | None]:
        """The oldest step has run on the device and holds such a result for the request."""
        step, work = self.oldest(r)
        found = "none" if work is None else "stale" if self.stale(r, work) else "live"
        self.checks.guard(f"{rule}.executed", step is not None and step.executed)
        if entry == "any":
            self.checks.guard(f"{rule}.live", work is not None, result=found)
        else:
            self.checks.guard(f"{rule}.{entry}", found == entry, result=found)
        return step, work

    def _late(self, rule: str, r: int, last: bool) -> tuple[Step | None, Work | None]:
        step, work = self._landed(rule, r, "stale")
        self.checks.guard(f"{rule}.due", self.due(r, work))
        self._counts(rule, r, last)
        return step, work

    def _sampled(self, rule: str, r: int, work: Work | None, last: bool) -> None:
        self.checks.guard(f"{rule}.samples", _samples(work), samples=_samples(work))
        self._counts(rule, r, last)

    def _counts(self, rule: str, r: int, last: bool) -> None:
        """Whether the token about to be committed is the last the request may have, as the rule wants it."""
        q = self.requests[r]
        is_last = len(q.committed) + 1 >= q.limit
        self.checks.guard(
            f"{rule}.{'last' if last else 'more'}", is_last == last, committed=len(q.committed), limit=q.limit
        )

    def _goes_on(self, rule: str, r: int, work: Work | None) -> None:
        stop = self.requests[r].asked_for.stop
        self.checks.guard(f"{rule}.goes-on", _token(work) not in stop, token=_token(work), stop=sorted(stop))

    def _ends(self, rule: str, r: int, work: Work | None) -> None:
        stop = self.requests[r].asked_for.stop
        self.checks.guard(f"{rule}.ends", _token(work) in stop, token=_token(work), stop=sorted(stop))

    # ------------------------------------------------------------------------------------------ effects
    def _take(self, r: int, step: Step | None) -> None:
        if step is not None:
            step.work.pop(r, None)

    def _settle(self, rule: str, r: int, step: Step | None, work: Work | None) -> None:
        """What the work wrote is settled now, and the work taken out of the step."""
        tokens = work.tokens if work else 0
        self.settle(r, tokens)
        if self.checks.does(f"{rule}/computed"):
            self.requests[r].computed += tokens
        self._take(r, step)

    def _commit(self, rule: str, r: int, work: Work | None) -> None:
        """The token is decided: it becomes part of the text and goes to the client's outbox."""
        if self.checks.does(f"{rule}/committed"):
            self.requests[r].committed.append(_token(work))
            self.requests[r].outbox.append(_token(work))
            self.requests[r].logits.append(work.logits if work else None)

    def _finish(self, rule: str, r: int, step: Step | None, work: Work | None, reason: Reason) -> None:
        q = self.requests[r]
        if work is not None and not self.stale(r, work):
            self.settle(r, work.tokens)
        self._commit(rule, r, work)
        q.phase, q.reason = Phase.FINISHED, reason
        self._take(r, step)
        self.leave(rule, r)


def _samples(work: Work | None) -> bool:
    return work is not None and work.samples


def _token(work: Work | None) -> int:
    """The sampled token; padding if none was."""
    return PADDING if work is None or work.token is None else work.token
