"""Stories: short scripts of events with the record they must give.

    # A comment. The first block sets the dials of the world.
    dials requests=2 prompt=2 limit=2 blocks=3 block_size=2 budget=2 seats=2

    submit r0                        an event: a rule with its parameters
    launch                           parameters may be left out: the first choice that is enabled is taken
    refused select r0 1 by running   the rules must refuse this, at that guard
    expect r0 phase=RUNNING epoch=2  what the record must say of a request now
    boundary                         print the record here (one is printed after each recycle, too)
    ----
    what `schedproof replay` printed when the story was last accepted

Everything runs in the interpreter, step by step, with all properties checked on the way.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from checker.replay.ledger import Ledger, Record, table
from checker.replay.trace import Trace, build
from checker.settings import parse_setting
from checker.variation import Variation
from checker.verdict import Unusable
from model.language.errors import LanguageError
from model.language.model import Model
from model.language.properties import Property, Shape
from model.readings.effects import after, false_guards, moves
from model.readings.ground import Instance
from model.readings.interpret import evaluate
from model.readings.layout import Layout
from model.readings.world import WorldError, world

RULER = "----"


@dataclass(frozen=True)
class Story:
    """A script, line by line with its numbers, and the output it was accepted with."""

    name: str
    place: str
    script: tuple[tuple[int, str], ...]
    head: str
    golden: tuple[str, ...]

    @property
    def about(self) -> str:
        """The comment that it begins with."""
        comment = itertools.takewhile(lambda line: line.startswith("#"), self.head.splitlines())
        return " ".join(line.removeprefix("#").strip() for line in comment)


@dataclass(frozen=True)
class Happened:
    """An event of a story: what fired, in which line, and the states around it."""

    place: str
    rule: str
    at: tuple[int, ...]
    text: str
    before: tuple[int, ...]
    then: tuple[int, ...]


@dataclass(frozen=True)
class WasRefused:
    """An event that a story says is refused, with the guards (`rule.guard`) that refuse it."""

    place: str
    rule: str
    at: tuple[int, ...]
    text: str
    guards: tuple[str, ...]


@dataclass(frozen=True)
class Boundary:
    """A boundary of a story, with what is known of each request there."""

    title: str
    records: tuple[Record, ...]


@dataclass
class Told:
    """What a story gave: its record, the sentences about what it did not keep to, and what happened in it."""

    lines: list[str] = field(default_factory=list)
    failures: list[str] = field(default_factory=list)
    events: int = 0
    happened: list[Happened | WasRefused | Boundary] = field(default_factory=list)


def read_story(path: Path) -> Story:
    """Unusable if the file cannot be read."""
    try:
        text = path.read_text()
    except (OSError, UnicodeDecodeError) as error:
        reason = getattr(error, "strerror", None) or "it is no text"
        raise Unusable(f"{path} cannot be read ({reason}); give the path of a story.") from None
    head, _, golden = text.partition(f"\n{RULER}\n")
    lines = [(n, line.partition("#")[0].strip()) for n, line in enumerate(head.splitlines(), 1)]
    script = tuple((n, line) for n, line in lines if line)
    return Story(path.stem, str(path), script, head, tuple(golden.splitlines()))


def rewritten(story: Story, told: Told) -> str:
    """The story's file with this output as the accepted one."""
    return f"{story.head}\n{RULER}\n" + "\n".join(told.lines) + "\n"


def boundary_lines(title: str, records: list[Record]) -> list[str]:
    return [title, *(f"  {line}" for line in table(records))]


def story_layout(story: Story, model: Model) -> Layout:
    """The cells of the story's world. Unusable for a world that cannot be."""
    if not story.script or not story.script[0][1].startswith("dials "):
        raise Unusable(f"{story.place}: a story begins with its world; write dials requests=2 prompt=2 ... first.")
    number, line = story.script[0]
    try:
        return Layout(model, world(model, story.name, dict(parse_setting(s) for s in line.split()[1:])))
    except WorldError as error:
        raise Unusable(f"{story.place}:{number}: {error}") from None


def tell(story: Story, model: Model, properties: Sequence[Property]) -> Told:
    """Run a story. Unusable for a line that cannot be understood; what the rules or the record deny is a failure."""
    teller = _Teller(story, model, properties)
    for number, line in story.script[1:]:
        teller.line(number, line)
    teller.boundary("end")
    return teller.told


def run_of(told: Told, layout: Layout, name: str) -> Trace:
    """What happened in a story as a trace, which shows nothing but that it can happen."""
    events = [Instance(layout.model.rule(h.rule), h.at, (), ()) for h in told.happened if isinstance(h, Happened)]
    return build(layout, name, events, Variation(layout.model, layout.model))


class _Teller:
    def __init__(self, story: Story, model: Model, properties: Sequence[Property]) -> None:
        self.story = story
        self.layout = story_layout(story, model)
        made = self.layout.world
        self.moves = list(moves(self.layout))
        self.ledger = Ledger(self.layout)
        self.properties = [p for p in properties if evaluate(p.needs, made) and p.shape in (Shape.STATE, Shape.STEP)]
        self.told = Told()
        self.boundaries = 0

    def line(self, number: int, line: str) -> None:
        word, *rest = line.split()
        place = f"{self.story.place}:{number}"
        if word == "boundary":
            self.boundary("asked for")
        elif word == "expect":
            self.expect(place, rest)
        elif word == "refused":
            self.refused(place, rest)
        else:
            self.event(place, word, rest)

    # ------------------------------------------------------------------------------------- events
    def instances(self, place: str, word: str, given: list[str]) -> list[Instance]:
        """The rule's instances whose first parameters are the ones given."""
        try:
            rule = self.layout.model.rule(word)
        except LanguageError as error:
            raise Unusable(f"{place}: {error}") from None
        found = [Instance(r, at, (), ()) for r, at in self.moves if r is rule]
        fitting = [i for i in found if i.names()[: len(given)] == given]
        if not fitting:
            known = ", ".join(v.name for v in rule.params) or "no parameters"
            raise Unusable(f"{place}: {word} {' '.join(given)} is nothing that can happen here; {word} takes {known}.")
        return fitting

    def event(self, place: str, word: str, given: list[str]) -> None:
        fitting = self.instances(place, word, given)
        for instance in fitting:
            if not false_guards(self.layout, instance.rule, instance.at, self.ledger.state):
                self.fire(place, instance)
                return
        false = false_guards(self.layout, fitting[0].rule, fitting[0].at, self.ledger.state)
        self.told.failures.append(f"{place}: the rules refuse {fitting[0].text}: {word}.{false[0]} is false")

    def fire(self, place: str, instance: Instance) -> None:
        before = self.ledger.state
        then = tuple(after(self.layout, instance.rule, instance.at, before))
        for declared in self.properties:
            read = self.layout.reader(before, then) if declared.shape is Shape.STEP else self.layout.reader(then)
            if not evaluate(declared.term, self.layout.world, {}, read):
                self.told.failures.append(f"{place}: {instance.text} violates {declared.name}")
        self.told.happened.append(Happened(place, instance.rule.name, instance.at, instance.text, before, then))
        self.ledger.step(instance, then)
        self.told.events += 1
        if instance.rule.name == "recycle":
            self.boundary("step done")

    def refused(self, place: str, rest: list[str]) -> None:
        if len(rest) < 3 or rest[-2] != "by":
            raise Unusable(f"{place}: write refused EVENT by GUARD, such as refused select r0 1 by running.")
        word, *given = rest[:-2]
        instance = self.instances(place, word, given)[0]
        false = false_guards(self.layout, instance.rule, instance.at, self.ledger.state)
        guards = tuple(f"{word}.{name}" for name in false)
        self.told.happened.append(WasRefused(place, word, instance.at, instance.text, guards))
        if rest[-1] not in false:
            said = f"at {', '.join(false)}" if false else "not at all"
            self.told.failures.append(
                f"{place}: {instance.text} should be refused by {rest[-1]}, but is refused {said}"
            )

    # ------------------------------------------------------------------------------------- record
    def expect(self, place: str, rest: list[str]) -> None:
        records = {r.id: r for r in self.ledger.records()}
        if not rest or rest[0] not in records:
            raise Unusable(f"{place}: write expect REQUEST KEY=VALUE, with one of {', '.join(records)}.")
        record = records[rest[0]]
        for wanted in rest[1:]:
            key, equals, value = wanted.partition("=")
            if not equals or key not in Record.heads():
                raise Unusable(f"{place}: {wanted} is no expectation; the keys are {', '.join(Record.heads())}.")
            if str(getattr(record, key)) != value:
                self.told.failures.append(f"{place}: {record.id} has {key}={getattr(record, key)}, not {value}")

    def boundary(self, why: str) -> None:
        self.boundaries += 1
        running = ", ".join(self.ledger.running()) or "nobody"
        title, records = f"boundary {self.boundaries} ({why}): running {running}", self.ledger.records()
        self.told.happened.append(Boundary(title, tuple(records)))
        self.told.lines += boundary_lines(title, records)
