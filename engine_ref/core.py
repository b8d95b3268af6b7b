"""The state of the engine, and what several of its rules ask or do."""

from __future__ import annotations

import enum
from collections import deque
from collections.abc import Iterable
from dataclasses import dataclass, field

from engine_ref.checks import Checks, Misused
from engine_ref.config import Config, Submission
from engine_ref.memory import Memory, Name
from engine_ref.network import Network, Tensor
from engine_ref.window import Step, Work


class Phase(enum.Enum):
    NEW = "not submitted yet"
    WAITING = "in the queue"
    RUNNING = "admitted"
    PREEMPTED = "its memory was taken away; it will be admitted again"
    FINISHED = "nothing is computed for it any more"


class Reason(enum.Enum):
    NONE = "not finished"
    STOP = "a stop token was sampled"
    LENGTH = "the limit was reached"
    CANCELLED = "its client asked"
    REJECTED = "it can never fit"


@dataclass(frozen=True)
class Message:
    """The terminal message: why the request finished, and how many tokens it was (what its client is charged for).

    `taken` is how many tokens the client had taken when the message came.
    """

    reason: Reason
    tokens: int
    taken: int


@dataclass
class Client:
    """Who submitted the request: the tokens it has taken and the terminal messages it was sent."""

    tokens: list[int] = field(default_factory=list)
    messages: list[Message] = field(default_factory=list)


@dataclass
class Request:
    """What the engine keeps of a request.

    `computed` counts tokens whose KV is settled, `scheduled` also those in flight, `owed` the tokens that steps in flight
    will sample, `planned` the tokens of the step being built. `outbox` holds committed tokens that the client has not taken.
    `epoch` counts the residencies that have ended: work of another epoch is stale. The rest is kept for the record.
    """

    asked_for: Submission
    client: Client = field(default_factory=Client)
    phase: Phase = Phase.NEW
    reason: Reason = Reason.NONE
    asked: bool = False
    committed: list[int] = field(default_factory=list)
    outbox: deque[int] = field(default_factory=deque)
    delivered: int = 0
    notified: int = 0
    computed: int = 0
    scheduled: int = 0
    owed: int = 0
    planned: int = 0
    epoch: int = 0
    admissions: int = 0
    deepest: int = 0
    recomputed: int = 0
    logits: list[Tensor] = field(default_factory=list)

    @property
    def text(self) -> tuple[int, ...]:
        return (*self.asked_for.prompt, *self.committed)

    @property
    def known(self) -> int:
        """Tokens whose values are decided."""
        return len(self.asked_for.prompt) + len(self.committed)

    @property
    def limit(self) -> int:
        return self.asked_for.limit


class Core:
    """An engine's requests, memory and window. `off` names the checks, effects and mistakes that are switched."""

    def __init__(self, config: Config, network: Network, off: Iterable[str] = ()) -> None:
        if network.groups % config.workers:
            raise ValueError(f"{network.groups} head groups cannot be shared out to {config.workers} workers")
        self.config, self.network, self.checks = config, network, Checks(off)
        self.memory = Memory(config, network)
        self.requests: list[Request] = []
        self.window: list[Step] = []

    def add(self, asked_for: Submission) -> int:
        """A client comes with a request, and submits it later. The request's number."""
        self.requests.append(Request(asked_for))
        self.memory.add_request()
        return len(self.requests) - 1

    # ---------------------------------------------------------------------------------------- asked often
    def held(self, r: int) -> int:
        return len(self.memory.table(r))

    def room(self, r: int) -> int:
        """Tokens that fit into the blocks the request holds."""
        return self.held(r) * self.config.block_size

    def fits(self, r: int) -> bool:
        return self.requests[r].asked_for.life <= self.config.blocks * self.config.block_size

    def reach(self, r: int) -> int:
        """Tokens that may be scheduled: its life and, with overrun, what is planned past its end."""
        return self.requests[r].asked_for.life + (self.config.depth if self.config.overrun else 0)

    def running(self) -> list[int]:
        return [r for r, q in enumerate(self.requests) if q.phase is Phase.RUNNING]

    def decoding(self, r: int) -> bool:
        """Its next token is an ordinary decode: only the newest token lacks KV."""
        q = self.requests[r]
        return len(q.committed) + q.owed > 0 and q.scheduled + 1 == q.known + q.owed

    def oldest(self, r: int) -> tuple[Step | None, Work | None]:
        """The oldest step, and the request's work in it."""
        step = self.window[0] if self.window else None
        return step, step.work.get(r) if step else None

    def stale(self, r: int, work: Work) -> bool:
        """The residency that the work was launched for has ended."""
        return work.epoch != self.requests[r].epoch

    def due(self, r: int, work: Work | None) -> bool:
        """A token of an ended residency that will be committed all the same."""
        late = self.config.late_result == "commit" and work is not None and work.samples
        return late and work is not None and self.stale(r, work) and self.requests[r].phase is not Phase.FINISHED

    # ------------------------------------------------------------------------------------ names of blocks
    def name(self, r: int, position: int) -> Name:
        """What the block at this position (from 1) of the request is called in the cache."""
        if self.config.cache == "prefix":
            return (self.requests[r].asked_for.family, position)
        return self.requests[r].text[: position * self.config.block_size]

    def promised(self, r: int) -> list[int]:
        """Cached blocks that only the request's plan, not launched yet, will write."""
        q, table = self.requests[r], self.memory.table(r)
        if self.config.publish != "ordered" or q.planned == 0:
            return []
        beyond = [b for n, b in enumerate(table, 1) if n * self.config.block_size > q.scheduled]
        return [b for b in beyond if self.memory.names[b] is not None]

    def leaned_on(self, r: int) -> list[int]:
        """Promised blocks that others hold already."""
        return [b for b in self.promised(r) if int(self.memory.ref[b]) != 1]

    # --------------------------------------------------------------------------------------- done often
    def leave(self, rule: str, r: int) -> None:
        """The residency ends: what is planned or in flight for it counts no more. Every way out of RUNNING comes here."""
        q, does = self.requests[r], self.checks.does
        if does(f"{rule}/published"):
            for b in self.promised(r):
                self.memory.names[b] = None
        for counter in ("planned", "computed", "scheduled", "owed"):
            if does(f"{rule}/{counter}"):
                setattr(q, counter, 0)
        if does(f"{rule}/entry"):
            q.epoch += 1

    def hold(self, rule: str, r: int, b: int) -> None:
        """The block becomes the last of the request's block table."""
        if self.checks.does(f"{rule}/table"):
            self.memory.append(r, b)
        if self.checks.does(f"{rule}/ref"):
            self.memory.ref[b] += 1

    def give_back(self, rule: str, r: int) -> None:
        """All the request's blocks leave its table."""
        for position, b in enumerate(self.memory.table(r)):
            if self.checks.does(f"{rule}/ref"):
                self.memory.ref[b] -= self._counted_down(r, position, b)
        if self.checks.does(f"{rule}/table"):
            self.memory.tables[r] = -1

    def _counted_down(self, r: int, position: int, b: int) -> int:
        """How far a block's count goes down when the request gives it back: by one, in a sound engine."""
        if self.checks.mistaken("release-only-known-tokens"):
            return int(position * self.config.block_size < self.requests[r].known)
        twice = self.checks.mistaken("cached-block-returned-twice") and self.memory.names[b] is not None
        return 2 if twice else 1

    def settle(self, r: int, tokens: int) -> None:
        """For the record: how many of these tokens were computed in an earlier residency already."""
        q = self.requests[r]
        end = q.computed + tokens
        q.recomputed += max(0, min(end, q.deepest) - q.computed)
        q.deepest = max(q.deepest, end)

    @staticmethod
    def need(holds: bool, sentence: str) -> None:
        """Misused if the caller does what the rules assume that nobody does."""
        if not holds:
            raise Misused(sentence)
