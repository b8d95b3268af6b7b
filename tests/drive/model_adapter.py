"""An adapter whose engine is the rules themselves, with or without a seeded fault: the driver tried on what it must find.

Started by the tests as any adapter is. Its moves are single events of the (faulty) rules, and it says what it observes
in the words of the port; only which events there are and what they do comes from the model.
"""

from __future__ import annotations

import json
import sys
import time
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from checker.replay.engine_world import Comparison, EngineRequest, EngineWorld
from checker.variation import vary
from model.lifecycle import LIFECYCLE
from model.lifecycle.dials import Slot
from model.lifecycle.state import Entry, Status
from model.readings.layout import Layout
from model.readings.stepper import State, Stepper


class ModelEngine:
    """Runs the rules with a fault; a state's handle is the state."""

    def __init__(self, fault: str | None, dials: dict[str, Any]) -> None:
        self.model = vary(LIFECYCLE, fault).model
        self.dials = dials

    def reset(self, world: dict[str, Any]) -> dict[str, Any]:
        requests = tuple(EngineRequest(tuple(r["prompt"]), r["limit"]) for r in world["requests"])
        sizes = {k: world[k] for k in ("blocks", "block_size", "budget", "seats")}
        self.world = EngineWorld("model", requests, **sizes)
        self.layout = Layout(self.model, self.world.for_rules(LIFECYCLE, self.dials))
        self.stepper = Stepper(self.layout)
        self.reader = Comparison(self.layout, self.world)
        return self.answer(self.layout.initial)

    def step(self, state: State, move: dict[str, Any]) -> dict[str, Any]:
        return self.answer(self.stepper.after(move["rule"], tuple(move["at"]), tuple(state)))

    def answer(self, state: State) -> dict[str, Any]:
        enabled = [key for key in self.stepper.instances if not self.stepper.false_guards(*key, state)]
        moves = [{"kind": "event", "rule": rule, "at": list(at)} for rule, at in enabled]
        return {"state": list(state), "observation": self.observe(state), "moves": moves}

    def observe(self, state: State) -> dict[str, Any]:
        cell, reader = self.reader.cell, self.reader
        requests = range(len(self.world.requests))
        window = [
            [
                [r, cell(state, "tokens", i, r), cell(state, "samples", i, r)]
                for r in requests
                if cell(state, "entry", i, r) is not Entry.NONE
            ]
            for i in range(self.layout.sizes[Slot])
            if cell(state, "status", i) is not Status.EMPTY
        ]
        return {
            "requests": [self.request(state, r) for r in requests],
            "blocks": [
                {"ref": cell(state, "ref", b), "published": self.published(state, b)} for b in range(self.world.blocks)
            ],
            "free": [b for b in range(self.world.blocks) if cell(state, "ref", b) == 0],
            "running": [r for r in requests if cell(state, "phase", r).name == "RUNNING"],
            "waiting": [r for r in requests if cell(state, "phase", r).name in ("WAITING", "PREEMPTED")],
            "window": window,
            "held_by_finished": [
                b for r in requests for b in reader.table(state, r) if cell(state, "phase", r).name == "FINISHED"
            ],
        }

    def request(self, state: State, r: int) -> dict[str, Any]:
        cell = self.reader.cell
        return {
            "phase": cell(state, "phase", r).name,
            "reason": cell(state, "reason", r).name,
            "scheduled": cell(state, "scheduled", r),
            "owed": cell(state, "owed", r),
            "output": cell(state, "committed", r),
            "terminal": cell(state, "notified", r),
            "terminal_assumed": False,
            "blocks": self.reader.table(state, r),
        }

    def published(self, state: State, b: int) -> list[int] | None:
        name = self.reader.name(state, b)
        if not name:
            return None
        size = self.world.block_size
        if name[0] == "prefix":
            return list(self.world.requests[0].prompt[: name[1] * size])
        text = [*self.world.requests[name[1]].prompt, *(9000 + 100 * name[1] + p for p in range(50))]
        return text[: name[2] * size]


def serve(fault: str | None, dials: dict[str, Any], misbehave: str) -> None:
    engine = ModelEngine(fault, dials)
    for line in sys.stdin:
        question = json.loads(line)
        call = question["call"]
        answer: dict[str, Any] = {"ok": True}
        if call == "step" and misbehave == "raise":
            error = {"type": "KeyError", "message": "'r0'", "traceback": 'File "engine.py", line 1', "where": "engine"}
            answer = {"ok": False, "error": error}
        elif call == "step" and misbehave == "crash":
            sys.exit(7)
        elif call == "step" and misbehave == "hang":
            time.sleep(60)
        elif call == "step" and misbehave == "babble":
            print("this is no JSON", flush=True)
            continue
        elif call == "describe":
            assumptions = {
                "device-in-order": "One stream.",
                "unique-ids": "Ids differ.",
                "feasible-requests": "All fit.",
            }
            about = {"dials": dials, "assumed": list(assumptions), "about": "the rules themselves"}
            configurations = {"rules": about, "again": about, "assuming-nothing": {**about, "assumed": []}}
            answer |= {"protocol": 1, "engine": "model", "version": "1", "tested": True, "names": {}}
            answer |= {"configurations": configurations, "snapshot": "copy", "assumptions": assumptions}
            answer |= {"preset": ["rules"]}
        elif call == "reset":
            answer |= engine.reset(question["world"])
        elif call == "step":
            answer |= engine.step(tuple(question["state"]), question["move"])
        elif call == "script":
            answer |= {"script": f"# the moves: {json.dumps(question['moves'])}\n# {question['finding']}\n"}
        print(json.dumps(answer), flush=True)
        if call == "stop":
            return


if __name__ == "__main__":
    serve(sys.argv[1] or None, json.loads(sys.argv[2]), sys.argv[3] if len(sys.argv) > 3 else "")
