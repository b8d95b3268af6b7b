"""What a trace shows on the engine: the sound one parts from it where the rules do, the broken one does damage."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from checker.replay.reference.outcome import EngineReplay, Judgement
from checker.replay.reference.reasons import reason
from checker.replay.reference.run import replay, stage_of
from checker.replay.reference.switches import switches
from checker.replay.reference.wider import in_a_wider_world
from checker.replay.trace import DEPARTS, Trace
from engine_ref import MISTAKES
from model.readings.effects import after, false_guards
from model.readings.layout import Layout

# The engine's own decision, which no rule makes: whether its token ends the text. Past damage it may be another.
TEXT_DECIDES = (".goes-on", ".ends")

NOTHING_WIDER = (
    "None was found in wider worlds either, which is no proof that there is none: the rules count what is broken here."
)


@dataclass(frozen=True)
class Parting:
    """Where the unchanged rules part from a trace: at an event (from 0) that they refuse, or whose effect differs."""

    index: int
    guards: tuple[str, ...]
    fields: tuple[str, ...]


def judge(trace: Trace) -> Judgement:
    """Replay a trace on the sound engine and, if its rules were changed, on one that was changed in the same way.

    A trace of unchanged rules (a world that is there to fail) must run on the sound engine to its end.
    """
    stage = stage_of(trace)
    sound = replay(trace, (), stage)
    if not trace.variation:
        return _unchanged(trace, sound)
    failures = _sound_failures(trace, sound)
    unharmed = "the engine follows the trace to its end, and is sound: it goes on to rest without damage"
    says = [_sentence(sound.refused or sound.difference or unharmed)]
    off = switches(trace.variation)
    if off is None:
        says.append("The engine has no switch for this change: it is in the model only, and no damage is measured.")
        return Judgement(sound, None, tuple(says), tuple(failures))
    flawed = replay(trace, off, stage)
    failures += _flawed_failures(flawed)
    says += _flawed(trace, flawed, off)
    if not flawed.damage and flawed.refused is None:
        harmless = reason(off)
        wider = None if harmless else in_a_wider_world(trace, off)
        flawed = replace(flawed, damage=wider.damage, went_on=wider.went_on) if wider else flawed
        says += _damage(wider) if wider else [f"No damage: {harmless}." if harmless else NOTHING_WIDER]
    return Judgement(sound, flawed, tuple(says), tuple(failures))


def parting(trace: Trace) -> Parting | None:
    """The first event at which the unchanged rules refuse or do something else; None if they run the whole trace."""
    layout = Layout(trace.variation.unchanged, trace.world)
    for index, event in enumerate(trace.events):
        rule = layout.model.rule(event.rule)
        before, then = trace.states[index], trace.states[index + 1]
        if false := false_guards(layout, rule, event.at, before):
            return Parting(index, tuple(f"{rule.name}.{g}" for g in false), ())
        expected = after(layout, rule, event.at, before)
        if fields := {layout.cells[p].field.name: None for p in range(len(then)) if expected[p] != then[p]}:
            return Parting(index, (), tuple(fields))
    return None


def _sound_failures(trace: Trace, sound: EngineReplay) -> list[str]:
    parted = parting(trace)
    if parted is None:
        if sound.followed and sound.damage:
            return [f"the sound engine follows the trace, and is damaged: {sound.damage.sentences[0]}"]
        return [] if sound.followed else [f"the unchanged rules run the whole trace, but {_stopped(sound)}"]
    where = f"step {parted.index + 1}, {trace.events[parted.index].text}"
    if parted.guards:
        refused = sound.refused
        if refused is None or refused.index != parted.index or refused.guard not in parted.guards:
            return [f"the rules refuse {where}, at {' and '.join(parted.guards)}, but {_stopped(sound)}"]
    else:
        found = sound.difference
        if found is None or found.index != parted.index or found.field not in parted.fields:
            return [f"the rules give another {' and '.join(parted.fields)} after {where}, but {_stopped(sound)}"]
    return []


def _flawed_failures(flawed: EngineReplay) -> list[str]:
    """With the change made to the engine it must do as the trace does, but for what its own tokens decide."""
    said = f"with {_made(flawed.off)},"
    if flawed.difference is not None:
        return [f"{said} {flawed.difference}"]
    if flawed.refused is not None and not flawed.refused.guard.endswith(TEXT_DECIDES):
        return [f"{said} {flawed.refused} all the same"]
    return []


def _unchanged(trace: Trace, sound: EngineReplay) -> Judgement:
    failures = [] if sound.followed else [f"the rules run this trace, but {_stopped(sound)}"]
    says = [f"The engine follows the trace to its end, {trace.length} steps."] if sound.followed else []
    if sound.followed and not trace.shows.startswith(DEPARTS):
        says += _damage(sound) if sound.damage else [f"No damage shows, {sound.went_on}."]
    return Judgement(sound, None, tuple(says), tuple(failures))


def _stopped(outcome: EngineReplay) -> str:
    return str(outcome.refused or outcome.difference or "the engine follows the trace to its end")


def _flawed(trace: Trace, flawed: EngineReplay, off: Sequence[str]) -> list[str]:
    how = f"With {_made(off)}, "
    if flawed.refused is not None:
        parted = how + f"its tokens are no longer the trace's: {flawed.refused}."
        return [parted, *(_damage(flawed) if flawed.damage else [f"No damage shows, {flawed.went_on}."])]
    said = how + f"the engine does {'the one step' if trace.length == 1 else f'all {trace.length} steps'}."
    return [said, *(_damage(flawed) if flawed.damage else [f"No damage shows, {flawed.went_on}."])]


def _made(off: Sequence[str]) -> str:
    """The change that was made to the engine, in words."""
    return " and ".join(f"the mistake {name}" if name in MISTAKES else f"{name} off" for name in off)


def _damage(outcome: EngineReplay) -> list[str]:
    where = f"Damage, {outcome.went_on}:" if outcome.went_on else "Damage:"
    return [where, *(f"  {sentence}" for sentence in outcome.damage.sentences)]


def _sentence(what: object) -> str:
    said = str(what)
    return said[0].upper() + said[1:] + "."
