"""Stories and traces run again: on the rules, on the reference engine, or on both."""

from __future__ import annotations

import difflib
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from checker.catalogue import Catalogue
from checker.check import Options, check_world, violates
from checker.replay import itf
from checker.replay.reference import Judgement, judge, tell_on_engine
from checker.replay.story import Story, Told, read_story, rewritten, story_layout, tell
from checker.replay.trace import DEPARTS, Trace
from checker.search.limits import Limits
from checker.variation import vary
from checker.verdict import Unusable, Verdict
from checker.version import VERSION
from checker.worlds import WorldFile
from model.language.errors import LanguageError
from model.language.model import Model
from model.readings.world import WorldError, world

MODEL, ENGINE = "model", "ref"
AFTER_VIOLATION = 100_000


@dataclass(frozen=True)
class Replayed:
    """What came of a file on the rules or the engine: what it gave, and what is not as it should be, in sentences.

    `trace` and `judgement` are there for a trace, the latter on the engine only.
    """

    path: Path
    on: str
    lines: tuple[str, ...]
    failures: tuple[str, ...]
    trace: Trace | None = None
    judgement: Judgement | None = None

    @property
    def verdict(self) -> Verdict:
        return Verdict.VIOLATED if self.failures else Verdict.HOLDS


def replay(model: Model, known: Catalogue, path: Path, on: str) -> Replayed:
    """Run a story or a trace again. Unusable if the file is neither, or cannot be run.

    A trace that the rules do not run as its file says is a failure, with how the shortest one there is now differs.
    """
    if path.suffix != ".json":
        return _story(model, known, path) if on == MODEL else _story_on_engine(model, known, path)
    try:
        trace = itf.load(path, model, known)
    except itf.Changed as changed:
        return Replayed(path, on, (), (_changed(model, known, path, changed),))
    shows = trace.shows.startswith(DEPARTS) or violates(trace, known.everything)
    failures = () if shows else (f"{path.name} does not violate {trace.shows} any more",)
    if on == MODEL:
        return Replayed(path, on, ("runs as the file says", *_found_next(trace)), failures, trace)
    if trace.loop is not None:
        says = "a run that goes on for ever: the engine is not asked, the rules run it as the file says"
        return Replayed(path, on, (says,), failures, trace)
    judgement = judge(trace)
    return Replayed(path, on, judgement.says, (*failures, *judgement.failures), trace, judgement)


def _found_next(trace: Trace) -> tuple[str, ...]:
    """A trace of an engine ends before its finding, which no rule can make."""
    if not trace.shows.startswith(DEPARTS):
        return ()
    return (
        "The finding is what the engine did next; the engine is not asked here. The script beside this file asks it.",
    )


def _changed(model: Model, known: Catalogue, path: Path, changed: itf.Changed) -> str:
    trace = shortest(model, known, path)
    made_by = itf.meta_of(path)["version"]
    said = (
        f"{changed}" if made_by == VERSION else f"{changed} (It was made by schedproof {made_by}; this is {VERSION}.)"
    )
    if trace is None:
        return f"{said} What it shows does not happen any more."
    lines = difference(path, trace) or ["the events are the same; the states are not"]
    return "\n    ".join([f"{said} The shortest trace to it now (--rewrite keeps it):", *lines])


# ------------------------------------------------------------------------------------------------ stories
def _story(model: Model, known: Catalogue, path: Path) -> Replayed:
    story = read_story(path)
    return _by_the_rules(story, tell(story, model, known.properties), path)


def _by_the_rules(story: Story, told: Told, path: Path) -> Replayed:
    failures = list(told.failures)
    if tuple(told.lines) != story.golden:
        changes = difflib.unified_diff(story.golden, told.lines, "accepted", "now", lineterm="", n=1)
        failures.append(
            "\n  ".join(["it gives another record than the accepted one (--rewrite accepts it):", *changes])
        )
    return Replayed(path, MODEL, (*told.lines, f"{told.events} events"), tuple(failures))


def _story_on_engine(model: Model, known: Catalogue, path: Path) -> Replayed:
    """Told by the rules first, whose record must be the accepted one; then by the engine, whose record must be the same."""
    story = read_story(path)
    told = tell(story, model, known.properties)
    expected = _by_the_rules(story, told, path)
    engine = tell_on_engine(story, told, story_layout(story, model))
    lines = (*engine.lines, f"{engine.events} events on the engine")
    return Replayed(path, ENGINE, lines, (*expected.failures, *engine.failures))


# ---------------------------------------------------------------------------------------------- rewriting
def rewrite(model: Model, known: Catalogue, path: Path) -> Replayed:
    """Write what the file gives now into it: a story's record, or the shortest trace there is now to what a trace shows."""
    if path.suffix == ".json":
        return _new_trace(model, known, path)
    story = read_story(path)
    told = tell(story, model, known.properties)
    if told.failures:
        return Replayed(path, MODEL, tuple(told.lines), tuple(told.failures))
    _write(path, rewritten(story, told))
    return Replayed(path, MODEL, (*told.lines, f"{told.events} events; accepted"), ())


def _new_trace(model: Model, known: Catalogue, path: Path) -> Replayed:
    trace = shortest(model, known, path)
    if trace is None:
        return Replayed(path, MODEL, (), ("what it shows does not happen any more; delete the file, or its fault",))
    changes = difference(path, trace)
    itf.save(trace, path, VERSION)
    return Replayed(path, MODEL, tuple(changes) or ("as it was",), (), trace)


def shortest(model: Model, known: Catalogue, path: Path) -> Trace | None:
    """The shortest trace there is now, under the same change and in the same world, to what the file's trace shows."""
    meta = itf.meta_of(path)
    try:
        variation = vary(model, meta["fault"], tuple(meta["without"]), known, meta["policy"])
        made = world(variation.model, meta["world"]["name"], meta["world"]["dials"])
    except (Unusable, WorldError, LanguageError) as error:
        raise Unusable(f"{path} cannot be made again: {error}") from None
    file = WorldFile(made, "", None, (), str(path))
    limits = Limits(after_violation=AFTER_VIOLATION)
    asked = [p for p in known.liveness if p.name == meta["property"]]
    found = check_world(file, variation, (*known.properties, *asked), Options(limits))
    return next((t for t in found.traces if t.shows == meta["property"]), None)


def difference(path: Path, trace: Trace) -> Sequence[str]:
    """The events that the file has and the trace has not (-), and the other way round (+); empty if they are the same."""
    before = [_event(e) for e in itf.meta_of(path)["events"]]
    now = [e.text for e in trace.events]
    return list(difflib.unified_diff(before, now, "kept", "now", lineterm="", n=2))


def _event(stored: dict[str, object]) -> str:
    parameters = stored["parameters"]
    assert isinstance(parameters, dict)
    return f"{stored['rule']}({', '.join(map(str, parameters.values()))})"


def _write(path: Path, text: str) -> None:
    try:
        path.write_text(text)
    except OSError as error:
        raise Unusable(f"{path} cannot be written ({error.strerror}); copy the story elsewhere.") from None
