"""Driving a real scheduler: an adversary chooses moves, breadth first and then at random, and every step is judged.

States are recognised through what is observed of them, up to the names of blocks and of identical requests, so that a
trace to a finding is a shortest one as far as the search was breadth first. What is judged after every move: that the
step is a path of the rules under the engine's disciplines; exceptions of the engine; at rest, that nothing is held and
each request had its terminal message; and, where the adversary stops, that the engine running on fairly ends every
request. Nothing here says more than: these states were tried.
"""

from __future__ import annotations

import itertools
import random
import time
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from checker.replay.assumptions import DEVICE_IN_ORDER, leaned_on
from checker.replay.damage import Damage
from checker.replay.engine_world import Comparison, EngineWorld, Observation, at_rest, left_behind
from checker.replay.path import Departure, Event, Move, PathFinder
from checker.replay.port import EngineError, Port
from checker.search.limits import INTERRUPT
from model.language.model import Model
from model.lifecycle.dials import Device, Worker
from model.readings.layout import Layout
from model.readings.stepper import State, Stepper

FAIR_MOVES = 300  # turns the engine is given to end every request once the adversary stops
LONGEST_WALK = 60
STUCK = "stuck"  # the kind of finding that a request never ends although the engine runs on
DAMAGE = "memory"  # the kind of finding that some order of the steps in flight spoils what blocks hold


@dataclass(frozen=True)
class Finding:
    """Something the engine did that the rules do not allow. `kind` groups findings; `moves` lead there from a reset.

    `rests_on`: the assumptions that these moves break. With one of them in force there is no such finding.
    """

    kind: str
    sentence: str
    moves: tuple[Move, ...]
    traceback: str = ""
    rests_on: tuple[str, ...] = ()

    @property
    def label(self) -> str:
        """Its kind, with what it rests on: a finding that rests on nothing never hides behind one that does."""
        return f"{self.kind}, without {' and '.join(self.rests_on)}" if self.rests_on else self.kind


@dataclass(frozen=True)
class DriveLimits:
    """How far to go: distinct states breadth first, then seconds for everything."""

    states: int = 100_000
    seconds: float = 30.0
    fair_every: int = 20  # one in so many new states is run on fairly to its end


@dataclass
class Driven:
    """What came of driving one configuration. `findings` are by their labels."""

    states: int = 0
    steps: int = 0
    depth: int = 0
    walks: int = 0
    fair_runs: int = 0
    seconds: float = 0.0
    exhausted: bool = False
    bound: str = ""
    events: dict[str, int] = field(default_factory=dict)
    findings: dict[str, Finding] = field(default_factory=dict)


@dataclass
class _Node:
    handle: Any
    observation: Observation
    moves: list[Move]
    rules: State
    parent: _Node | None
    move: Move | None
    depth: int
    leans: frozenset[str]  # the assumptions that were broken on the way

    def way(self) -> tuple[Move, ...]:
        way: list[Move] = []
        node: _Node | None = self
        while node is not None and node.move is not None:
            way.append(node.move)
            node = node.parent
        return tuple(reversed(way))


class Driver:
    """Drives one configuration of an engine through one world."""

    def __init__(
        self, port: Port, configuration: str, dials: Mapping[str, Any], engine: EngineWorld, model: Model
    ) -> None:
        self.port, self.configuration, self.engine = port, configuration, engine
        self.layout = Layout(model, engine.for_rules(model, dials))
        self.stepper = Stepper(self.layout)
        self.finder = PathFinder(self.stepper, Comparison(self.layout, engine))
        self.result = Driven()
        self.path: list[Event] | None = None  # collects events of the rules, if somebody wants them
        self.twins = self._twins()
        unordered = self.layout.world.values["device"] is Device.UNORDERED
        self.damage = Damage(self.layout, self.stepper) if unordered else None

    def _twins(self) -> list[tuple[int, ...]]:
        """The orders of requests that exchange only identical ones (equal lengths, limit and priority)."""
        looks = [
            (len(q.prompt), q.limit, q.priority, self.engine.same_id(r)) for r, q in enumerate(self.engine.requests)
        ]
        every = itertools.permutations(range(len(looks)))
        return [p for p in every if all(looks[a] == looks[b] for a, b in enumerate(p))]

    # --------------------------------------------------------------------------------- one move
    def start(self) -> _Node:
        answer = self.port.ask("reset", configuration=self.configuration, world=self.engine.document())
        root = self.layout.initial
        return _Node(answer["state"], answer["observation"], answer["moves"], root, None, None, 0, frozenset())

    def step(self, node: _Node, move: Move) -> _Node | None:
        """The node a move leads to, or None if it is a finding; the finding is kept if it is the first of its kind."""
        self.result.steps += 1
        way, leans = (*node.way(), move), node.leans | set(leaned_on(self.engine, node.observation, move))
        try:
            answer = self.port.ask("step", state=node.handle, move=move)
        except EngineError as error:
            self.found(f"exception {error.type} at {error.place}", str(error), way, leans, error.traceback)
            return None
        rules, seen = node.rules, node.observation
        for part, then in answer.get("passed", [(move, answer["observation"])]):
            followed = self.finder.follow(rules, part, seen, then)
            if isinstance(followed, Departure):
                self.found(followed.kind, followed.sentence, way, leans)
                self.port.ask("forget", states=[answer["state"]])
                return None
            rules, seen = followed[0], then
            if self.path is not None:
                self.path += followed[1]
            for rule, _ in followed[1]:
                self.result.events[rule] = self.result.events.get(rule, 0) + 1
            # Also within a turn of a loop: it launches a step before it waits for the one in flight.
            order = self.damage.possible(rules) if self.damage else None
            if order is not None:
                sentence = f"if the device runs its steps as {order}, a request's blocks do not hold its tokens"
                self.found(DAMAGE, sentence, way, leans | {DEVICE_IN_ORDER})
        observed, depth = answer["observation"], node.depth + 1
        reached = _Node(answer["state"], observed, answer["moves"], rules, node, move, depth, leans)
        if at_rest(observed) and not any(_goes_on(m) for m in reached.moves):
            for kind, sentence in left_behind(observed):
                self.found(kind, sentence, way, leans)
        elif not at_rest(observed) and all(_of_a_client(m) for m in reached.moves):
            self.found(STUCK, f"{_alive(observed)} never end: nothing is left to do but for clients", way, leans)
        return reached

    def found(
        self, kind: str, sentence: str, moves: tuple[Move, ...], leans: frozenset[str], traceback: str = ""
    ) -> None:
        finding = Finding(kind, sentence, moves, traceback, tuple(sorted(leans)))
        known = self.result.findings.get(finding.label)
        if known is None or len(moves) < len(known.moves):
            self.result.findings[finding.label] = finding

    def drop(self, node: _Node) -> None:
        self.port.ask("forget", states=[node.handle])

    # -------------------------------------------------------------------------------- the search
    def run(self, limits: DriveLimits, seed: int, observe: Callable[[Driven, str], None]) -> Driven:
        """Breadth first until the states or most of the time are used up, then random walks.

        After a search that went to the end, walks take as long again at most: states that look alike were joined, and an
        engine may differ in what is not observed.
        """
        self.drop(self.start())  # an engine may take long to load; that is no part of the search
        began = time.monotonic()

        def clock() -> float:
            return time.monotonic() - began

        try:
            self._breadth_first(limits, clock, observe)
            until = min(limits.seconds, 2 * clock()) if self.result.exhausted else limits.seconds
            self._walks(until, random.Random(seed), clock, observe)
        except KeyboardInterrupt:
            self.result.bound = INTERRUPT
        self.result.seconds = clock()
        return self.result

    def _breadth_first(
        self, limits: DriveLimits, clock: Callable[[], float], observe: Callable[[Driven, str], None]
    ) -> None:
        root = self.start()
        seen = {self.key(root)}
        queue = deque([root])
        self.result.states = 1
        while queue:
            if len(seen) >= limits.states or clock() > limits.seconds * 0.75:
                self.result.bound = f"{len(seen):,} states breadth first"
                break
            node = queue.popleft()
            self.result.depth = max(self.result.depth, node.depth)
            for move in node.moves:
                then = self.step(node, move)
                if then is None:
                    continue
                key = self.key(then)
                if key in seen:
                    self.drop(then)
                    continue
                seen.add(key)
                self.result.states = len(seen)
                queue.append(then)
                if len(seen) % limits.fair_every == 0:
                    self.fairly(then)
            observe(self.result, "breadth first")
            self.drop(node)
        else:
            self.result.exhausted = True
        for node in queue:
            self.drop(node)

    def _walks(
        self,
        until: float,
        chance: random.Random,
        clock: Callable[[], float],
        observe: Callable[[Driven, str], None],
    ) -> None:
        while clock() < until:
            node = self.start()
            for _ in range(LONGEST_WALK):
                if not node.moves:
                    break
                then = self.step(node, chance.choice(node.moves))
                self.drop(node)
                if then is None:
                    break
                node = then
            else:
                self.fairly(node)
            self.result.walks += 1
            observe(self.result, "random walks")

    def fairly(self, node: _Node) -> None:
        """The adversary stops: nobody submits or cancels, no result is withheld. Every request must end.

        An engine that moves at the grain of the rules has no policy of its own that could promise this.
        """
        if any(m["kind"] == "event" for m in node.moves):
            return
        self.result.fair_runs += 1
        at = node
        for turn in range(FAIR_MOVES):
            move = self._fair_move(at, turn)
            if move is None:
                break
            then = self.step(at, move)
            if at is not node:
                self.drop(at)
            if then is None:
                return
            at = then
            if at_rest(at.observation):
                break
        if not at_rest(at.observation):
            sentence = f"{_alive(at.observation)} never end although the engine runs on for {FAIR_MOVES} turns"
            self.found(STUCK, sentence, node.way(), node.leans)
        if at is not node:
            self.drop(at)

    def _fair_move(self, node: _Node, turn: int) -> Move | None:
        fair = [m for m in node.moves if m["kind"] in ("schedule", "result", "loop") and not m.get("stop")]
        fair = [m for m in fair if m.get("ready", True)]
        return fair[turn % len(fair)] if fair else None

    # ----------------------------------------------------------------------------------- identity
    def key(self, node: _Node) -> Any:
        """What is observed, with blocks named by where they stand and the least over orders of identical requests."""
        return node.leans, min(self._named(node, order) for order in self.twins)

    def _named(self, node: _Node, order: Sequence[int]) -> Any:
        seen = node.observation
        place = {r: i for i, r in enumerate(order)}
        blocks = dict.fromkeys(b for r in order for b in seen["requests"][r]["blocks"])
        names = {b: i for i, b in enumerate(dict.fromkeys([*blocks, *seen["free"]]))}
        return (
            tuple(self._request(node, r, names) for r in order),
            tuple(tuple(sorted((place[r], k, s) for r, k, s in step)) for step in seen["window"]),
            tuple(
                sorted(
                    (names.get(b, -1), q["ref"], self._text(q["published"], place))
                    for b, q in enumerate(seen["blocks"])
                )
            ),
            tuple(names[b] for b in seen["free"]),
            tuple(place[r] for r in seen["running"]),
            tuple(place[r] for r in seen["waiting"]),
        )

    def _request(self, node: _Node, r: int, names: Mapping[int, int]) -> Any:
        """What is seen of a request and, since the rules see more, what they know of it and of its work in flight."""
        q, cell = node.observation["requests"][r], self.finder.comparison.cell
        known = tuple(cell(node.rules, name, r) for name in ("asked", "planned", "delivered", "computed"))
        work = tuple(
            (cell(node.rules, "status", i).name, cell(node.rules, "entry", i, r).name, self._ran(node.rules, i))
            for i in range(len(node.observation["window"]))
        )
        blocks = tuple(names[b] for b in q["blocks"])
        return (
            q["phase"],
            q["reason"],
            q["scheduled"],
            q["owed"] or 0,
            q["output"],
            q["terminal"],
            blocks,
            known,
            work,
        )

    def _ran(self, rules: State, i: int) -> int:
        """How many workers have run the step that others have not."""
        return sum(self.finder.comparison.cell(rules, "ran", i, w) for w in range(self.layout.sizes[Worker]))

    def _text(self, tokens: Sequence[int] | None, place: Mapping[int, int]) -> Any:
        name = self.finder.comparison.observed_name(tokens)
        return ("own", place[name[1]], name[2]) if name and name[0] == "own" else name


def _goes_on(move: Move) -> bool:
    """Whether the move is a small step by which an engine that moves at the grain of the rules is not at rest yet."""
    return move["kind"] == "event" and move["rule"] not in ("submit", "cancel")


def _of_a_client(move: Move) -> bool:
    """Whether the move is a client's, which nobody can count on."""
    return move["kind"] in ("submit", "cancel") or (move["kind"] == "event" and not _goes_on(move))


def _alive(seen: Observation) -> str:
    return ", ".join(f"r{r}" for r, q in enumerate(seen["requests"]) if q["phase"] not in ("NEW", "FINISHED"))
