"""The adapter tried on the installed version of vLLM: random walks, in every configuration.

Every move is made three times: twice from the kept state, and once on an engine that was never copied. All must observe
the same, or fail the same way. Where the scheduler counts on a token the emulated worker must sample one. Then the script
of a long walk in each configuration must print what was observed; some scripts are run by a Python of their own.
"""

from __future__ import annotations

import contextlib
import io
import json
import random
import subprocess
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path
from typing import TextIO

from adapter import SETTINGS, TESTED, Adapter, Json, culprit
from driven import Driven, begin

WALKS = 40
LENGTH = 60
ALONE = ("fcfs-cache-async", "priority-cache-loop")  # configurations whose scripts run in a process of their own

CROWDED: Json = {
    "requests": [
        {"prompt": [1, 2, 3, 4], "limit": 3, "priority": 1},
        {"prompt": [1, 2, 3, 5, 6], "limit": 2, "priority": 0},
        {"prompt": [1, 2, 7], "limit": 4, "priority": 0},
    ],
    "blocks": 4,
    "block_size": 2,
    "budget": 4,
    "seats": 3,
}
ROOMY: Json = CROWDED | {"blocks": 9, "block_size": 1, "budget": 3, "seats": 2}
ROOMY["requests"] = [{"prompt": [1, 2], "limit": 3, "priority": 2 - r} for r in range(3)]


class Failed(Exception):
    """The adapter is wrong on this version."""


def attempt(engine: Driven, move: Json) -> Json:
    """Make the move on this very engine. What a reset and a step answer, without the number of the state."""
    try:
        engine.make(move)
    except Exception as error:
        return {"ok": False, "raised": type(error).__name__, "where": culprit(error)}
    return {"ok": True, "observation": engine.observe(), "moves": engine.moves()}


def essence(answer: Json) -> Json:
    if not answer["ok"]:
        return {"ok": False, "raised": answer["error"]["type"], "where": answer["error"]["where"]}
    return {key: answer[key] for key in ("ok", "observation", "moves")}


def check_promise(world: Json, before: Json, after: Json) -> None:
    """A running request samples iff the scheduler counts on it: by a placeholder (async), or by reaching its last token."""
    for r, _, samples in after["window"][-1]:
        was, now = before["requests"][r], after["requests"][r]
        reaches = now["scheduled"] == len(world["requests"][r]["prompt"]) + now["output"]
        promised = reaches if now["owed"] is None else now["owed"] > was["owed"]
        if now["phase"] == "RUNNING" and promised != samples:
            raise Failed(f"the scheduler and the worker do not agree whether request {r} samples")


def walk(name: str, world: Json, dice: random.Random, counts: Counter[str]) -> tuple[list[Json], list[Json]]:
    """A random walk: the moves, and what was observed at its start and after each. It ends where the engine raises."""
    adapter, never_copied = Adapter(), begin(SETTINGS[name], world)
    state = adapter.answer({"call": "reset", "configuration": name, "world": world})
    moves, seen = [], [state["observation"]]
    while state["moves"] and len(moves) < LENGTH:
        choices = [m for m in state["moves"] if m["kind"] != "cancel"]
        move = dice.choice(choices if choices and dice.random() < 0.9 else state["moves"])
        question = {"call": "step", "state": state["state"], "move": move}
        first, second, live = adapter.answer(question), adapter.answer(question), attempt(never_copied, move)
        counts["moves"] += 1
        if not (essence(first) == essence(second) == live):
            raise Failed(f"{name}: copies and the engine itself differ after {[*moves, move]}")
        if not first["ok"]:
            if first["error"]["where"] != "engine":
                raise Failed(first["error"]["traceback"])
            counts[f"{first['error']['type']} raised by the engine"] += 1
            break
        if first["state"] != second["state"]:
            raise Failed(f"{name}: equal states have two numbers")
        if move["kind"] == "schedule" and first["observation"]["window"] != state["observation"]["window"]:
            check_promise(world, state["observation"], first["observation"])
        moves, seen, state = [*moves, move], [*seen, first["observation"]], first
    return moves, seen


def printed(script: str, alone: bool) -> list[Json]:
    """What a script prints that is JSON, run here or by a Python of its own."""
    if alone:
        with tempfile.TemporaryDirectory() as folder:
            file = Path(folder, "run.py")
            file.write_text(script)
            text = subprocess.run([sys.executable, file], check=True, capture_output=True, text=True).stdout  # noqa: S603
    else:
        with contextlib.redirect_stdout(io.StringIO()) as out:
            exec(compile(script, "script", "exec"), {"__name__": "script"})  # noqa: S102 - we wrote it
        text = out.getvalue()
    return [json.loads(line) for line in text.splitlines() if line.startswith("{")]


def check_script(name: str, world: Json, alone: bool, moves: list[Json], seen: list[Json]) -> None:
    """The script prints what the engine's own objects say; what the adapter adds to an observation is not in it."""
    question = {"call": "script", "configuration": name, "world": world, "moves": moves}
    lines = printed(Adapter().answer(question)["script"], alone)
    for observed in seen:
        for key in ("window", *observed.keys() - lines[0].keys()):
            observed.pop(key, None)
        for life in observed["requests"]:
            del life["terminal"], life["terminal_assumed"]
    if lines != seen:
        raise Failed(f"{name}: the script prints something else than was observed")


def self_test(out: TextIO) -> int:
    """Try everything, say what was found, and answer with the exit code."""
    dice, failures = random.Random(1), 0  # noqa: S311 - walks need no secrets
    for name in SETTINGS:
        counts: Counter[str] = Counter()
        start = time.perf_counter()
        try:
            for world in (CROWDED, ROOMY):
                walks = [walk(name, world, dice, counts) for _ in range(WALKS)]
                alone = name in ALONE and world is CROWDED
                check_script(name, world, alone, *max(walks, key=lambda w: len(w[0])))
            verdict = "ok"
        except Failed as failure:
            failures += 1
            verdict = f"FAILED: {failure}"
        spent = time.perf_counter() - start
        print(f"{name:28} {', '.join(f'{n} {what}' for what, n in counts.items())}, {spent:.1f} s: {verdict}", file=out)
    text = f"{failures} of {len(SETTINGS)} configurations failed" if failures else "all configurations passed"
    print(f"{text}; tested with {TESTED} before", file=out)
    return int(failures > 0)
