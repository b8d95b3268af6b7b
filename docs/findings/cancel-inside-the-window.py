"""A run of vLLM 0.10.2, fcfs-nocache-depth2. It needs only vLLM; no model runs, the tokens are given."""

from __future__ import annotations

import os

os.environ.update({'PYTHONHASHSEED': '0', 'VLLM_LOGGING_LEVEL': 'ERROR', 'HF_HUB_OFFLINE': '1', 'VLLM_NO_USAGE_STATS': '1'})

import json
from collections import deque
from collections.abc import Iterable, Sequence
from concurrent.futures import Future
from types import SimpleNamespace
from typing import Any

import torch
from vllm.config import CacheConfig, DeviceConfig, ParallelConfig, SchedulerConfig, VllmConfig
from vllm.sampling_params import SamplingParams
from vllm.utils import sha256
from vllm.v1.core.kv_cache_utils import get_block_hash, get_request_block_hasher, init_none_hash
from vllm.v1.core.sched.async_scheduler import AsyncScheduler
from vllm.v1.core.sched.output import SchedulerOutput
from vllm.v1.core.sched.scheduler import Scheduler
from vllm.v1.engine.core import EngineCore
from vllm.v1.kv_cache_interface import FullAttentionSpec, KVCacheConfig, KVCacheGroupSpec
from vllm.v1.outputs import ModelRunnerOutput
from vllm.v1.request import Request, RequestStatus
from vllm.v1.structured_output import StructuredOutputManager

Json = dict[str, Any]
ENDS = 1 << 30  # the token that ends the text of request 0; each request has its own, so that no two texts become equal


def make_scheduler(policy: str, asynchronous: bool, caching: bool, depth: int, world: Json) -> Scheduler:
    """A scheduler as EngineCore makes it (Core 108-138), for a model of one layer.

    Without async scheduling vLLM comes to have several steps in flight by pipeline stages. The longest text is out of
    reach, so that only a request's own limit ends it. The scheduler reads no more of a model than model_config has here.
    """
    limits = SchedulerConfig(
        max_num_seqs=world["seats"],
        max_num_batched_tokens=world["budget"],
        max_model_len=max(len(r["prompt"]) + r["limit"] for r in world["requests"]) + 64,
        enable_chunked_prefill=True,
        policy=policy,
        async_scheduling=asynchronous,
    )
    size = world["block_size"]
    cache = CacheConfig(
        block_size=size,
        gpu_memory_utilization=0.9,
        swap_space=0,
        cache_dtype="auto",
        enable_prefix_caching=caching,
    )
    cache.num_gpu_blocks = world["blocks"] + 1  # the first is the null block, which nobody gets
    stages = 1 if asynchronous else depth
    config = VllmConfig(
        scheduler_config=limits,
        cache_config=cache,
        parallel_config=ParallelConfig(pipeline_parallel_size=stages, distributed_executor_backend="mp"),
        device_config=DeviceConfig("cpu"),
    )
    config.model_config = SimpleNamespace(is_encoder_decoder=False, is_multimodal_model=False, skip_tokenizer_init=True)
    attention = FullAttentionSpec(size, 1, 1, torch.float32, False)
    memory = KVCacheConfig(cache.num_gpu_blocks, [], [KVCacheGroupSpec(["layer"], attention)])
    kind = AsyncScheduler if asynchronous else Scheduler
    return kind(vllm_config=config, kv_cache_config=memory, structured_output_manager=StructuredOutputManager(config))


def make_core(scheduler: Scheduler, executor: Any, depth: int) -> EngineCore:
    """What step_with_batch_queue needs of an EngineCore, whose __init__ would start workers and measure memory."""
    core = EngineCore.__new__(EngineCore)
    core.vllm_config, core.log_stats, core.use_spec_decode = scheduler.vllm_config, False, False
    core.scheduler, core.model_executor = scheduler, executor
    core.batch_queue_size, core.batch_queue = depth, deque(maxlen=depth)
    return core


class Hasher:
    """vLLM's block hasher, as an object: the closure that it is cannot be pickled."""

    def __init__(self, block_size: int) -> None:
        init_none_hash(sha256)
        self.hash = get_request_block_hasher(block_size, sha256)

    def __call__(self, request: Request) -> list[Any]:
        return self.hash(request)


def make_request(r: int, arrival: int, hasher: Hasher | None, world: Json) -> Request:
    """Request r as the front end hands it on. Arrival times differ: the priority queue cannot order equal ones."""
    asked = world["requests"][r]
    return Request(
        request_id=name_of(r, world),
        prompt_token_ids=list(asked["prompt"]),
        sampling_params=SamplingParams(max_tokens=asked["limit"]),
        pooling_params=None,
        eos_token_id=ENDS + r,
        arrival_time=float(arrival),
        priority=asked["priority"],
        block_hasher=hasher,
    )


def answer(sampled: dict[str, list[int]]) -> ModelRunnerOutput:
    """What the workers answer to a step: for each request in their batch the token it sampled, or none."""
    names = list(sampled)
    return ModelRunnerOutput(names, {n: i for i, n in enumerate(names)}, list(sampled.values()), None, {}, [])


def name_of(r: int, world: Json) -> str:
    """The id that the engine knows request r by: its own, or that of another request whose id its client uses again."""
    return f"r{world['requests'][r].get('id', r)}"


def latest(name: str, requests: Sequence[Request | None]) -> int:
    """The request that an id stands for: of several the one that came last."""
    found = {r: q for r, q in enumerate(requests) if q and q.request_id == name}
    return max(found, key=lambda r: found[r].arrival_time)


def numbers(queue: Iterable[Request], requests: Sequence[Request | None]) -> list[int]:
    return [next(r for r, q in enumerate(requests) if q is each) for each in queue]


PHASES = {
    RequestStatus.WAITING: ("WAITING", "NONE"),
    RequestStatus.RUNNING: ("RUNNING", "NONE"),
    RequestStatus.PREEMPTED: ("PREEMPTED", "NONE"),
    RequestStatus.FINISHED_STOPPED: ("FINISHED", "STOP"),
    RequestStatus.FINISHED_LENGTH_CAPPED: ("FINISHED", "LENGTH"),
    RequestStatus.FINISHED_ABORTED: ("FINISHED", "CANCELLED"),
    RequestStatus.FINISHED_IGNORED: ("FINISHED", "REJECTED"),
}


def life(request: Request | None, scheduler: Scheduler, named: bool) -> Json:
    """One request. Only the async scheduler counts the output tokens that steps in flight owe it.

    `named`: its id stands for this request. Block tables are found by id.
    """
    asynchronous = isinstance(scheduler, AsyncScheduler)
    if request is None:
        owed = 0 if asynchronous else None
        return {"phase": "NEW", "reason": "NONE", "scheduled": 0, "owed": owed, "output": 0, "blocks": []}
    phase, reason = PHASES[request.status]
    tables = scheduler.kv_cache_manager.coordinator.single_type_managers[0].req_to_blocks
    return {
        "phase": phase,
        "reason": reason,
        "scheduled": request.num_computed_tokens,
        "owed": request.num_output_placeholders if asynchronous else None,
        "output": request.num_output_tokens,
        "blocks": [b.block_id - 1 for b in tables.get(request.request_id, ())] if named else [],
    }


def facts(scheduler: Scheduler, requests: Sequence[Request | None]) -> Json:
    """What the engine's own objects say. Its block 0 is the null block; the usable ones are numbered from 0 here.

    The pool names a block by a hash of its text up to its end. The text itself is found among the requests: each keeps the
    hashes of all its full blocks beside its tokens.
    """
    pool = scheduler.kv_cache_manager.block_pool
    size = scheduler.block_size
    texts = {h: q.all_token_ids[: (i + 1) * size] for q in requests if q for i, h in enumerate(q.block_hashes)}
    hashes = [b.block_hash and get_block_hash(b.block_hash) for b in pool.blocks[1:]]
    lives = [life(q, scheduler, q is not None and latest(q.request_id, requests) == r) for r, q in enumerate(requests)]
    return {
        "requests": lives,
        "blocks": [
            {"ref": b.ref_cnt, "published": h and texts[h]} for b, h in zip(pool.blocks[1:], hashes, strict=True)
        ],
        "free": [b.block_id - 1 for b in pool.free_block_queue.get_all_free_blocks()],
        "running": numbers(scheduler.running, requests),
        "waiting": numbers(scheduler.waiting, requests),
        "held_by_finished": [b for each in lives if each["phase"] == "FINISHED" for b in each["blocks"]],
    }


class Run:
    """The engine's calls one after another, each with what the engine holds after it printed as a line of JSON.

    `finding` is what they lead to, said before the calls, since the last may raise, and by end() beside what is there.
    """

    def __init__(self, world: Json, finding: str, policy: str, asynchronous: bool, caching: bool, depth: int) -> None:
        self.world, self.finding = world, finding
        self.made = 0
        self.scheduler = make_scheduler(policy, asynchronous, caching, depth, world)
        self.hasher = Hasher(world["block_size"]) if caching else None
        self.requests: list[Request | None] = [None] * len(world["requests"])
        self.steps: deque[SchedulerOutput] = deque()  # in flight, the oldest first
        self.say(f"the calls lead to: {finding}\n\na scheduler as it is made")
        self.show()

    def say(self, line: str) -> None:
        print(line, flush=True)  # noqa: T201 - it is what the script is for

    def call(self, text: str) -> None:
        """Name a call before it is made: it may raise."""
        self.made += 1
        self.say(f"\ncall {self.made}: {text}")

    def show(self) -> None:
        self.say(json.dumps(facts(self.scheduler, self.requests)))

    def end(self) -> None:
        """What was found, and what is there after the calls."""
        self.say(f"\nfound: {self.finding}\nthere now:")
        for r, request in enumerate(facts(self.scheduler, self.requests)["requests"]):
            computed, output = request["scheduled"], request["output"]
            held = f"num_computed_tokens {computed}, output tokens {output}, blocks {request['blocks']}"
            gone = request["phase"] == "PREEMPTED" and (computed or request["blocks"])
            self.say(f"  r{r} is {request['phase']}{', yet has' if gone else ':'} {held}")
        for step in self.in_flight():
            self.say(f"  a step in flight has num_scheduled_tokens {step.num_scheduled_tokens}")

    def in_flight(self) -> list[SchedulerOutput]:
        """The oldest first."""
        return list(self.steps)

    def new(self, r: int) -> Request:
        arrival = sum(q is not None for q in self.requests)
        self.requests[r] = request = make_request(r, arrival, self.hasher, self.world)
        return request

    def submit(self, r: int) -> None:
        self.call(f"Scheduler.add_request, request {r} as {name_of(r, self.world)}")
        self.scheduler.add_request(self.new(r))
        self.show()

    def cancel(self, r: int) -> None:
        self.call(f"Scheduler.finish_requests({name_of(r, self.world)!r}, FINISHED_ABORTED)")
        self.scheduler.finish_requests(name_of(r, self.world), RequestStatus.FINISHED_ABORTED)
        self.show()

    def schedule(self) -> None:
        self.call("Scheduler.schedule()")
        step = self.scheduler.schedule()
        if step.total_num_scheduled_tokens:
            self.steps.append(step)
        self.show()

    def result(self, sampled: dict[str, list[int]]) -> None:
        self.call(f"Scheduler.update_from_output, the oldest step with the tokens {sampled}")
        self.scheduler.update_from_output(self.steps.popleft(), answer(sampled))
        self.show()


class LoopRun(Run):
    """The same through EngineCore. Itself it stands where the loop has its executor."""

    def __init__(self, world: Json, finding: str, policy: str, asynchronous: bool, caching: bool, depth: int) -> None:
        super().__init__(world, finding, policy, asynchronous, caching, depth)
        self.core = make_core(self.scheduler, self, depth)
        self.at_once: dict[str, list[int]] | None = None

    def execute_model(self, step: SchedulerOutput) -> Future:
        """A step without work is done at once; and one that is said to be done in the turn that launches it."""
        future: Future = Future()
        if self.at_once is not None or not step.total_num_scheduled_tokens:
            future.set_result(answer(self.at_once or {}))
        return future

    def in_flight(self) -> list[SchedulerOutput]:
        return [step for _, step in reversed(self.core.batch_queue)]

    def submit(self, r: int) -> None:
        self.call(f"EngineCore.add_request, request {r} as {name_of(r, self.world)}")
        self.core.add_request(self.new(r))
        self.show()

    def cancel(self, r: int) -> None:
        self.call(f"EngineCore.abort_requests([{name_of(r, self.world)!r}])")
        self.core.abort_requests([name_of(r, self.world)])
        self.show()

    def loop(self, sampled: dict[str, list[int]] | None = None) -> None:
        """One turn. The oldest step is done, with these tokens; without tokens it is not."""
        done = "is not done" if sampled is None else f"is done with the tokens {sampled}"
        self.call(f"EngineCore.step_with_batch_queue(); the oldest step {done}")
        queue = self.core.batch_queue
        if queue and sampled is not None and not queue[-1][0].done():
            queue[-1][0].set_result(answer(sampled))
        self.at_once = None if queue else sampled
        self.core.step_with_batch_queue()
        self.at_once = None
        self.show()


run = Run({'requests': [{'prompt': [1000, 1001], 'limit': 1, 'priority': 0}, {'prompt': [2000, 2001], 'limit': 1, 'priority': 0}], 'blocks': 2, 'block_size': 1, 'budget': 2, 'seats': 2}, 'blocks of a request cancelled inside the window are free at once: r1 has the blocks of r0 while a step in flight works for r0', **{'policy': 'fcfs', 'caching': False, 'asynchronous': False, 'depth': 2})
run.submit(0)
run.schedule()
run.cancel(0)
run.submit(1)
run.schedule()
run.end()
