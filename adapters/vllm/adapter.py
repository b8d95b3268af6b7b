"""Drives the scheduler of vLLM for schedproof: JSON lines in, JSON lines out (docs/port.md). Runs in vLLM's own Python.

    python adapter.py               answers the questions on its standard input
    python adapter.py --self-test   tries itself on the installed version, and exits with 0 or 1

`plain.py` makes and reads vLLM's objects, `driven.py` keeps states and makes moves; both load vLLM, so they are imported
when the first question needs them.
"""

from __future__ import annotations

import itertools
import json
import os
import sys
import traceback
from collections.abc import Callable
from importlib.metadata import version
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any, TextIO

if TYPE_CHECKING:
    from driven import Driven

Json = dict[str, Any]
HERE = Path(__file__).resolve().parent
TESTED = "0.10.2"
ENVIRONMENT = {
    "PYTHONHASHSEED": "0",  # vLLM seeds its block hashes with it (core/kv_cache_utils.py 79-93)
    "VLLM_LOGGING_LEVEL": "ERROR",
    "HF_HUB_OFFLINE": "1",
    "VLLM_NO_USAGE_STATS": "1",
}

ASSUMPTIONS = {
    "device-in-order": "The device executes steps in the order in which they were launched, on one stream.",
    "unique-ids": "No request has the id of another to which something in the engine still refers.",
    "feasible-requests": "A request that can never fit is refused before it reaches the scheduler, which would let it wait.",
    "abort-message-by-front-end": "The terminal message of an aborted request is made by the front end "
    "(engine/output_processor.py 314-336), and not seen here.",
    "worker-keeps-own-batch": "The worker, which is emulated, works and answers for the requests of its own batch, made from "
    "the lists of new and cached requests of each step (worker/gpu_model_runner.py 491-660).",
    "worker-discards-known-positions": "The worker, which is emulated, discards a token at a position of which it has one "
    "already (worker/gpu_model_runner.py 1886-1901). The scheduler relies on it.",
    "distinct-arrivals": "No two requests of one priority arrive at the same time. The priority queue cannot order them.",
}

# How steps come and go: steps in flight, async scheduling, whether the engine's own loop decides; and in words.
KINDS = {
    "depth1": (1, False, False, "schedule() and update_from_output() in turn, as EngineCore.step has them"),
    "depth2": (2, False, False, "up to two steps in flight, as with two pipeline stages, but called in any order"),
    "async": (2, True, False, "AsyncScheduler with up to two steps in flight, called in any order"),
    "loop": (2, False, True, "EngineCore.step_with_batch_queue, the engine's own loop, as with two pipeline stages"),
    "loop-async": (2, True, True, "EngineCore.step_with_batch_queue with AsyncScheduler"),
}

# For a short look: what `vllm serve` runs without options, then with async scheduling, with pipeline stages (the loop with
# both), and with the other policy.
PRESET = ("fcfs-cache-depth1", "fcfs-cache-loop", "fcfs-cache-loop-async", "priority-cache-depth1")

# What a rule is in vLLM 0.10.2: the rule | what is seen of it | what it does to counters | the Prometheus metric, by its
# name in metrics/loggers.py (Prometheus shows a counter with `_total` behind it).
NAMES = """
submit | Scheduler.add_request; event QUEUED | requests and waiting + 1 | vllm:num_requests_waiting
cancel | AsyncLLM.abort; an ABORT message to EngineCore | |
deliver | RequestOutputCollector.put, .get | |
reject | never: FINISHED_IGNORED is not set by V1 | |
admit | in scheduled_new_reqs, or resumed_from_preemption; event SCHEDULED | waiting - 1, running + 1 | vllm:num_requests_running
hit | get_computed_blocks, BlockPool.touch | ref_cnt + 1; num_computed_tokens, num_cached_tokens | vllm:prefix_cache_hits
acquire | BlockPool.get_new_blocks; KV event BlockRemoved if it was cached | ref_cnt = 1 | vllm:kv_cache_usage_perc
select | in SchedulerOutput.num_scheduled_tokens | token_budget - n |
preempt | status PREEMPTED; event PREEMPTED | num_computed_tokens = 0; running - 1, waiting + 1 | vllm:num_preemptions
abort | Scheduler.finish_requests; status FINISHED_ABORTED | running or waiting - 1 |
launch | SchedulerOutput into batch_queue | num_computed_tokens + n; num_output_placeholders + 1 if it samples (async) |
execute | the step's Future is done | |
retire_chunk | update_from_output without a token; no EngineCoreOutput | |
retire_token | EngineCoreOutput.new_token_ids | num_tokens + 1, num_output_placeholders - 1 (async) | vllm:generation_tokens
retire_stop | EngineCoreOutput.finish_reason STOP | running - 1 | vllm:request_success{finished_reason="stop"}
retire_length | EngineCoreOutput.finish_reason LENGTH | running - 1 | vllm:request_success{finished_reason="length"}
retire_stale | update_from_output finds no request of that id | |
retire_late_token | new_token_ids for a PREEMPTED request | as retire_token | vllm:generation_tokens
retire_late_stop | finish_reason STOP for a PREEMPTED request | waiting - 1 | vllm:request_success{finished_reason="stop"}
retire_late_length | finish_reason LENGTH for a PREEMPTED request | waiting - 1 | vllm:request_success{finished_reason="length"}
recycle | update_from_output returns; batch_queue.pop | |
publish | BlockPool.cache_full_blocks; KV event BlockStored | KVCacheBlock.block_hash, num_cached_block |
notify | finish_reason on an EngineCoreOutput; after an abort OutputProcessor.abort_requests | |
release | KVCacheManager.free, BlockPool.free_blocks | ref_cnt - 1 | vllm:kv_cache_usage_perc
"""


def settings() -> dict[str, Json]:
    """What each configuration is for the engine."""
    found: dict[str, Json] = {}
    for policy, caching, kind in itertools.product(("fcfs", "priority"), (True, False), KINDS):
        depth, asynchronous, loop, _ = KINDS[kind]
        chosen = {"policy": policy, "caching": caching, "asynchronous": asynchronous, "loop": loop, "depth": depth}
        found[f"{policy}-{'cache' if caching else 'nocache'}-{kind}"] = chosen
    return found


SETTINGS = settings()


def configuration(name: str) -> Json:
    """What a configuration is for the rules."""
    chosen = SETTINGS[name]
    dials = {"depth": chosen["depth"], "release": "ordered", "device": "in_order", "late_result": "commit"}
    dials |= {"sharing": chosen["caching"], "overrun": chosen["asynchronous"]}
    dials |= {"publish": "ordered", "cache": "all"} if chosen["caching"] else {}
    needed = {
        "worker-discards-known-positions": chosen["depth"] > 1,
        "distinct-arrivals": chosen["policy"] == "priority",
    }
    kind, caching = name.split("-", 2)[2], "with" if chosen["caching"] else "without"
    about = f"{KINDS[kind][3]}; {chosen['policy']}, {caching} prefix caching"
    return {"dials": dials, "assumed": [a for a in ASSUMPTIONS if needed.get(a, True)], "about": about}


def names() -> dict[str, Json]:
    """What the rules are called in the engine."""
    rows = [[part.strip() or None for part in line.split("|")] for line in NAMES.strip().splitlines()]
    return {str(rule): {"event": event, "counter": counter, "metric": metric} for rule, event, counter, metric in rows}


class Adapter:
    """Answers questions. States are kept under numbers; equal states share one, until it is forgotten as often as given."""

    def __init__(self) -> None:
        self.fresh: dict[str, bytes] = {}  # by configuration and world
        self.numbers: dict[bytes, int] = {}
        self.kept: dict[int, bytes] = {}
        self.given: dict[int, int] = {}
        self.last = 0

    def describe(self) -> Json:
        installed = version("vllm") if find_spec("vllm") else None
        return {
            "protocol": 1,
            "engine": "vllm",
            "version": installed,
            "tested": installed == TESTED,
            "configurations": {name: configuration(name) for name in SETTINGS},
            "preset": PRESET,
            "snapshot": "copy",
            "assumptions": ASSUMPTIONS,
            "names": names(),
        }

    def reset(self, configuration: str, world: Json) -> Json:
        return self.keep(self.begin(configuration, world))

    def step(self, state: int, move: Json) -> Json:
        from keeping import thaw

        engine = thaw(self.kept[state])
        engine.make(move)
        passed = engine.__dict__.pop("passed", None)  # of a turn of the loop; no part of the state
        return self.keep(engine) | ({} if passed is None else {"passed": passed})

    def forget(self, states: list[int]) -> Json:
        for state in states:
            self.given[state] -= 1
            if not self.given[state]:
                del self.given[state]
                del self.numbers[self.kept.pop(state)]
        return {}

    def script(self, configuration: str, world: Json, moves: list[Json], finding: str = "what was asked for") -> Json:
        """Each call is written before its move is made: if that fails the script ends there, with the engine's exception."""
        engine, calls = self.begin(configuration, world), []
        for move in moves:
            calls.append(f"run.{engine.call(move)}")
            try:
                engine.make(move)
            except Exception as error:
                if culprit(error) == "adapter":
                    raise
                break
        else:
            calls.append("run.end()")
        return {"script": write_script(configuration, world, finding, calls)}

    def begin(self, configuration: str, world: Json) -> Driven:
        """A fresh engine: built once for a configuration and a world, and copied from then on."""
        from driven import begin
        from keeping import freeze, thaw

        key = json.dumps([configuration, world], sort_keys=True)
        if key not in self.fresh:
            self.fresh[key] = freeze(begin(SETTINGS[configuration], world))
        return thaw(self.fresh[key])

    def keep(self, engine: Driven) -> Json:
        from keeping import freeze

        frozen = freeze(engine)
        number = self.numbers.get(frozen)
        if number is None:
            number = self.last = self.last + 1
            self.numbers[frozen], self.kept[number], self.given[number] = number, frozen, 0
        self.given[number] += 1
        return {"state": number, "observation": engine.observe(), "moves": engine.moves()}

    def answer(self, question: Json) -> Json:
        serve: dict[str, Callable[..., Json]] = {
            "describe": self.describe,
            "reset": self.reset,
            "step": self.step,
            "forget": self.forget,
            "script": self.script,
            "stop": dict,
        }
        try:
            asked = {key: value for key, value in question.items() if key != "call"}
            return {"ok": True, **serve[question["call"]](**asked)}
        except Exception as error:
            return {"ok": False, "error": describe_error(error)}


def write_script(configuration: str, world: Json, finding: str, calls: list[str]) -> str:
    """The calls of a run, with all of `plain.py` in front of them."""
    chosen = {key: value for key, value in SETTINGS[configuration].items() if key != "loop"}
    kind = "LoopRun" if SETTINGS[configuration]["loop"] else "Run"
    about = (
        f"A run of vLLM {version('vllm')}, {configuration}. It needs only vLLM; no model runs, the tokens are given."
    )
    future, plain = "from __future__ import annotations\n", (HERE / "plain.py").read_text()
    environment = f"import os\n\nos.environ.update({ENVIRONMENT})\n"
    start = f'"""{about}"""\n\n{future}\n{environment}'
    run = f"\n\nrun = {kind}({world}, {finding!r}, **{chosen})\n"
    return start + plain.split(future, 1)[1] + run + "".join(f"{call}\n" for call in calls)


def culprit(error: BaseException) -> str:
    """Whose exception it is: the innermost frame that is the engine's or ours decides."""
    engine = find_spec("vllm")
    for frame in reversed(traceback.extract_tb(error.__traceback__)):
        file = Path(frame.filename)
        if file.parent == HERE:
            return "adapter"
        if engine and engine.origin and file.is_relative_to(Path(engine.origin).parent):
            return "engine"
    return "adapter"


def describe_error(error: BaseException) -> Json:
    text = "".join(traceback.format_exception(error))
    return {"type": type(error).__name__, "message": str(error), "traceback": text, "where": culprit(error)}


def serve(questions: TextIO, answers: TextIO) -> None:
    """Answer each line. A line that is no question is answered too."""
    adapter, call = Adapter(), None
    while call != "stop" and (line := questions.readline()):
        try:
            question = json.loads(line)
            call = question.get("call")
            answer = adapter.answer(question)
        except Exception as error:
            answer = {"ok": False, "error": describe_error(error)}
        answers.write(json.dumps(answer, separators=(",", ":")) + "\n")
        answers.flush()


def main() -> int:
    """Whatever the engine prints, also from C, goes to standard error: standard output belongs to the protocol."""
    if any(os.environ.get(key) != value for key, value in ENVIRONMENT.items()):
        os.environ.update(ENVIRONMENT)
        os.execv(sys.executable, sys.orig_argv)  # noqa: S606 - ourselves; the hash seed is read when Python starts
    answers = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)
    if "--self-test" in sys.argv[1:]:
        from selftest import self_test

        return self_test(answers)
    serve(sys.stdin, answers)
    return 0


if __name__ == "__main__":
    sys.exit(main())
