"""vLLM's own scheduler and engine loop, driven by hand: no device, no model, and nothing of the engine replaced or patched.

Lines are those of the vllm 0.10.2 wheel, under vllm/v1: Core is engine/core.py, Run worker/gpu_model_runner.py.

A state is the scheduler, its requests, the steps in flight and what the workers know; `keeping.py` keeps it.
"""

from __future__ import annotations

import itertools
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future
from dataclasses import dataclass
from typing import Any, NamedTuple

from keeping import freeze, share, thaw
from plain import ENDS, Hasher, Json, answer, facts, latest, make_core, make_request, make_scheduler, name_of
from vllm.v1.core.sched.output import SchedulerOutput
from vllm.v1.core.sched.scheduler import Scheduler
from vllm.v1.engine import EngineCoreOutputs
from vllm.v1.outputs import ModelRunnerOutput
from vllm.v1.request import Request, RequestStatus

SAMPLED = 1 << 20  # the first token that is sampled; those of prompts are smaller
SPAN = 1 << 12  # more positions than a request has
SUBSETS_OF = 3  # of how many requests that could stop all subsets are offered; of more only none, each one, and all


class Refused(Exception):
    """The question cannot be served. It is not the engine's fault."""


class Entry(NamedTuple):
    """What a step in flight holds for one request. `position` is the place in the text of the token it samples, if any."""

    request: int
    name: str
    tokens: int
    position: int | None
    present: bool


Launch = tuple[Entry, ...]


class Worker:
    """What the workers know, and so what they will answer. They get the steps in the order of scheduling.

    A worker keeps its own token lists, batch and progress (Run 491-660). It samples iff the step reaches the end of the
    tokens that *it* has (Run 1886-1901): a position that it has already sampled is discarded, although the scheduler
    may not have heard of it yet. All this is settled when a step is launched; only the token is named later.
    """

    def __init__(self) -> None:
        self.known: dict[str, int] = {}
        self.computed: dict[str, int] = {}
        self.batch: list[str] = []
        self.who: dict[str, int] = {}  # the request that an id stands for

    def launch(self, step: SchedulerOutput) -> Launch:
        """Take a step in. A request that is scheduled but in neither list of the step keeps its old progress."""
        scheduled = step.num_scheduled_tokens
        for name in step.finished_req_ids:
            self.known.pop(name, None)
            self.computed.pop(name, None)
        self.batch = [name for name in self.batch if name in scheduled and name in self.known]
        for new in step.scheduled_new_reqs:
            self.known[new.req_id] = len(new.prompt_token_ids)
            self._include(new.req_id, new.num_computed_tokens)
        again = step.scheduled_cached_reqs
        for name, computed in zip(again.req_ids, again.num_computed_tokens, strict=True):
            self._include(name, computed)
        return tuple(self._entry(name, tokens) for name, tokens in scheduled.items())

    def _include(self, name: str, computed: int) -> None:
        self.computed[name] = computed
        if name not in self.batch:
            self.batch.append(name)

    def _entry(self, name: str, tokens: int) -> Entry:
        if name not in self.batch:
            return Entry(self.who[name], name, tokens, None, False)
        position = self.known[name]
        if self.computed[name] + tokens < position:
            return Entry(self.who[name], name, tokens, None, True)
        self.known[name] = position + 1
        return Entry(self.who[name], name, tokens, position, True)


def sampled(launch: Launch, stop: Iterable[int]) -> dict[str, list[int]]:
    """The tokens of a step. No two requests or positions share one."""

    def tokens(e: Entry) -> list[int]:
        if e.position is None:
            return []
        return [ENDS + e.request if e.request in stop else SAMPLED + e.request * SPAN + e.position]

    return {e.name: tokens(e) for e in launch if e.present}


class StepFuture(Future):
    """The result of a step on the workers. It can be copied, and nobody waits for it."""

    def __init__(self, launch: Launch, done: ModelRunnerOutput | None = None) -> None:
        super().__init__()
        self.launch = launch
        if done is not None:
            self.set_result(done)

    def __reduce__(self) -> tuple[Any, ...]:
        return StepFuture, (self.launch, self.result() if self.done() else None)

    def end(self, stop: Iterable[int]) -> None:
        if not self.done():
            self.set_result(answer(sampled(self.launch, stop)))

    def result(self, timeout: float | None = None) -> ModelRunnerOutput:
        if not self.done():
            raise Refused("the loop waits here for a step that the move leaves undone")
        return super().result(timeout)


class Executor:
    """Stands where the loop has its workers. A step without work is done at once (Run 2006-2010)."""

    def __init__(self, worker: Worker) -> None:
        self.worker = worker
        self.at_once: list[int] | None = None  # set: the next step is done when it is launched, and these requests stop
        self.watch: Callable[[Launch], None] | None = None  # told of each launch, for what a turn of the loop passes

    def execute_model(self, step: SchedulerOutput) -> StepFuture:
        future = StepFuture(self.worker.launch(step))
        if self.watch is not None:
            self.watch(future.launch)
        if self.at_once is not None or not future.launch:
            future.end(self.at_once or ())
        return future


@dataclass(frozen=True)
class Setup:
    """What does not change in a run."""

    policy: str
    caching: bool
    asynchronous: bool
    loop: bool
    depth: int
    world: Json
    hasher: Hasher | None


def check_world(world: Json) -> None:
    """Refuse what vLLM refuses."""
    if world["budget"] < world["seats"]:
        raise Refused("vLLM takes no budget smaller than the number of seats (config/scheduler.py 262)")
    for r, asked in enumerate(world["requests"]):
        if not asked["prompt"] or asked["limit"] < 1 or max(asked["prompt"]) >= SAMPLED:
            raise Refused(f"request {r} needs a limit of at least 1, and a prompt of tokens below {SAMPLED}")
        if asked.get("id", r) not in range(len(world["requests"])):
            raise Refused(f"the id of request {r} must be that of a request of this world")


def begin(configuration: Json, world: Json) -> Driven:
    """A fresh engine. Its copies share what is built here; only the scheduler changes, and what hangs on it."""
    check_world(world)
    hasher = Hasher(world["block_size"]) if configuration["caching"] else None
    setup = Setup(**configuration, world=world, hasher=hasher)
    scheduler = make_scheduler(setup.policy, setup.asynchronous, setup.caching, setup.depth, world)
    config, memory = scheduler.vllm_config, scheduler.kv_cache_config
    share(setup, config, config.scheduler_config, config.cache_config, config.parallel_config)
    share(memory, memory.kv_cache_groups[0].kv_cache_spec)
    share(scheduler.structured_output_manager, scheduler.kv_event_publisher)
    if hasher:
        share(hasher)
    return (Loop if setup.loop else Direct)(setup, scheduler)


def flight(launch: Launch) -> Json:
    """A step as an observation shows it."""
    return [[e.request, e.tokens, e.position is not None] for e in launch]


class Driven:
    """One state of an engine. Subclasses differ in who decides when a step is launched and when its result is taken in."""

    def __init__(self, setup: Setup, scheduler: Scheduler) -> None:
        self.setup = setup
        self.scheduler = scheduler
        self.worker = Worker()
        self.requests: list[Request | None] = [None] * len(setup.world["requests"])
        self.cancelled = [False] * len(self.requests)
        self.ended = [0] * len(self.requests)

    def observe(self) -> Json:
        """What the engine says, and what left it or is with the workers. Who is aborted gets its end from the front end."""
        seen = facts(self.scheduler, self.requests)
        for each, cancelled, ended in zip(seen["requests"], self.cancelled, self.ended, strict=True):
            each.update(terminal=ended + cancelled, terminal_assumed=cancelled)
        seen["window"] = [flight(launch) for launch in self.launches()]
        return seen

    def moves(self) -> list[Json]:
        numbers = range(len(self.requests))
        client: list[Json] = [{"kind": "submit", "request": r} for r in numbers if self.may_submit(r)]
        client += [{"kind": "cancel", "request": r} for r in numbers if self.may_cancel(r)]
        return client + self.turns()

    def may_submit(self, r: int) -> bool:
        """Once, and with the id of another only when that has ended for its client (engine/output_processor.py 346-348)."""
        name = name_of(r, self.setup.world)
        same = [i for i, q in enumerate(self.requests) if q and q.request_id == name]
        return self.requests[r] is None and all(self.cancelled[i] or self.ended[i] for i in same)

    def may_cancel(self, r: int) -> bool:
        return self.requests[r] is not None and not self.cancelled[r] and not self.ended[r]

    def make(self, move: Json) -> None:
        """Make the move, or let through what the engine raises."""
        match move:
            case {"kind": "submit", "request": r} if self.may_submit(r):
                arrival = sum(q is not None for q in self.requests)
                self.requests[r] = make_request(r, arrival, self.setup.hasher, self.setup.world)
                self.worker.who[self.requests[r].request_id] = r
                self.submit(self.requests[r])
            case {"kind": "cancel", "request": r} if self.may_cancel(r):
                self.cancelled[r] = True
                self.abort(name_of(r, self.setup.world))
            case _:
                self.turn(move)

    def call(self, move: Json) -> str:
        """The move as a line of a reproduction script. Ask before the move is made, which may fail."""
        if move["kind"] in ("submit", "cancel"):
            return f"{move['kind']}({move['request']})"
        return self.turn_call(move)

    def take(self, outputs: dict[int, EngineCoreOutputs] | None) -> None:
        """Count the terminal messages, as they leave the engine for the front end."""
        for client in (outputs or {}).values():
            for output in client.outputs:
                self.ended[latest(output.request_id, self.requests)] += output.finish_reason is not None

    def stops(self, launch: Launch) -> Iterator[list[int]]:
        """Who may stop with this step, where that makes a difference: not at the limit, and not if the request is gone."""
        can = []
        for e in launch:
            request = self.requests[e.request]
            open_ = not request.is_finished() and request.num_output_tokens + 1 < request.max_tokens
            can += [e.request] if open_ and e.position is not None else []
        if len(can) > SUBSETS_OF:
            yield from ([], *([r] for r in can), can)
        else:
            yield from (list(s) for n in range(len(can) + 1) for s in itertools.combinations(can, n))

    def submit(self, request: Request) -> None:
        self.scheduler.add_request(request)

    def abort(self, name: str) -> None:
        self.scheduler.finish_requests(name, RequestStatus.FINISHED_ABORTED)

    def launches(self) -> Iterable[Launch]:
        """The steps in flight that compute something, the oldest first."""
        raise NotImplementedError

    def turns(self) -> list[Json]:
        """The moves that are the engine's own."""
        raise NotImplementedError

    def turn(self, move: Json) -> None:
        raise NotImplementedError

    def turn_call(self, move: Json) -> str:
        raise NotImplementedError


class Direct(Driven):
    """schedule() and update_from_output() called by hand, with up to `depth` steps in flight."""

    def __init__(self, setup: Setup, scheduler: Scheduler) -> None:
        super().__init__(setup, scheduler)
        self.window: deque[tuple[SchedulerOutput, Launch]] = deque()
        self.idle = False  # the last schedule() found nothing to do

    def launches(self) -> Iterable[Launch]:
        return [launch for _, launch in self.window]

    def may_schedule(self) -> bool:
        """As in the loop: only with requests (Core 331), and after an empty step first the oldest result (Core 339-353)."""
        waits = self.idle and self.window
        return len(self.window) < self.setup.depth and self.scheduler.has_requests() and not waits

    def turns(self) -> list[Json]:
        possible: list[Json] = [{"kind": "schedule"}] if self.may_schedule() else []
        if self.window:
            possible += [{"kind": "result", "stop": stop} for stop in self.stops(self.window[0][1])]
        return possible

    def turn(self, move: Json) -> None:
        match move:
            case {"kind": "schedule"} if self.may_schedule():
                step = self.scheduler.schedule()
                launch = self.worker.launch(step)
                self.idle = not launch
                if launch:
                    self.window.append((step, launch))
            case {"kind": "result", "stop": stop} if self.window:
                self.idle = False
                step, launch = self.window.popleft()
                self.take(self.scheduler.update_from_output(step, answer(sampled(launch, stop))))
            case _:
                raise Refused(f"not possible here: {move}")

    def turn_call(self, move: Json) -> str:
        if move["kind"] == "schedule" or not self.window:
            return "schedule()"
        return f"result({sampled(self.window[0][1], move['stop'])})"


class Loop(Driven):
    """EngineCore.step_with_batch_queue (Core 308-359), the real one; requests come and are aborted between its turns."""

    def __init__(self, setup: Setup, scheduler: Scheduler) -> None:
        super().__init__(setup, scheduler)
        self.core = make_core(scheduler, Executor(self.worker), setup.depth)

    def launches(self) -> Iterable[Launch]:
        return [future.launch for future, _ in reversed(self.core.batch_queue) if future.launch]

    def submit(self, request: Request) -> None:
        self.core.add_request(request)

    def abort(self, name: str) -> None:
        self.core.abort_requests([name])

    def oldest(self) -> Launch:
        """The step that a turn takes in, if it does. If none is in flight it is the one that the turn itself launches."""
        queue = self.core.batch_queue
        if queue:
            return queue[-1][0].launch
        ahead = thaw(freeze(self))
        try:
            step = ahead.scheduler.schedule()
        except Exception:  # the turn itself will raise it, where it counts
            return ()
        return ahead.worker.launch(step)

    def turns(self) -> list[Json]:
        """An empty step is done at once, so there is no choice whether it is."""
        if not self.may_turn(True):
            return []
        launch = self.oldest()
        undone = [{"kind": "loop", "stop": [], "ready": False}] if launch and self.may_turn(False) else []
        return undone + [{"kind": "loop", "stop": stop, "ready": True} for stop in self.stops(launch)]

    def may_turn(self, ready: bool) -> bool:
        """The loop turns with work only (Core 744). With a step in flight another makes two, and it waits (Core 339-353)."""
        queue = self.core.batch_queue
        return (ready and bool(queue)) or (not queue and self.scheduler.has_requests())

    def turn(self, move: Json) -> None:
        queue, executor = self.core.batch_queue, self.core.model_executor
        match move:
            case {"kind": "loop", "stop": stop, "ready": ready} if self.may_turn(ready):
                if ready and queue:
                    queue[-1][0].end(stop)
                executor.at_once = stop if ready and not queue else None
                self.passed = []
                executor.watch = self.planned
                futures = [future for future, _ in queue]
                try:
                    outputs, _ = self.core.step_with_batch_queue()
                finally:
                    executor.at_once = executor.watch = None
                self.take(outputs)
                self.settle(futures, stop)
            case _:
                raise Refused(f"not possible here: {move}")

    def planned(self, launch: Launch) -> None:
        """The scheduler has planned, and the loop has not taken in a result yet."""
        seen = self.observe()
        if launch:
            seen["window"].append(flight(launch))
        self.passed.append([{"kind": "schedule"}, seen])

    def settle(self, futures: list[StepFuture], stop: list[int]) -> None:
        """Say whether the turn took in the result of a step, and of one that computed something."""
        seen, left = self.observe(), [future for future, _ in self.core.batch_queue]
        oldest = futures[-1].launch if futures else (self.passed and self.passed[-1][1]["window"])
        if len(left) < len(futures) + len(self.passed) and oldest:
            self.passed.append([{"kind": "result", "stop": stop}, seen])
        elif self.passed:
            self.passed[-1][1] = seen

    def turn_call(self, move: Json) -> str:
        return f"loop({sampled(self.oldest(), move['stop'])})" if move["ready"] else "loop()"
