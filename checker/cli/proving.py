"""What `schedproof prove` does. Apart from its options, since the solver is loaded only for this command."""

from __future__ import annotations

import argparse
import json
from dataclasses import replace
from enum import Enum
from pathlib import Path
from tempfile import TemporaryFile
from typing import Any

from checker.check import confirm
from checker.proof.bmc import Run, bmc
from checker.proof.claims import claims
from checker.proof.induction import Theory
from checker.proof.noop import unchanged
from checker.proof.prove import Scope
from checker.proof.result import Result, result
from checker.replay.trace import build
from checker.report import prove_text
from checker.report.junit import probe_junit, write_junit
from checker.report.output import Output
from checker.report.prove_machine import document, prove_cases, run_cases
from checker.report.trace_text import trace_lines
from checker.settings import parse_settings
from checker.variation import Variation, vary
from checker.verdict import Disagreement, Unusable, Verdict, cause
from checker.version import VERSION
from checker.worlds import find, shipped, with_dials
from model.language.dials import Dial
from model.language.model import nearest
from model.language.properties import Shape
from model.language.terms import Op, lift
from model.lifecycle import LIFECYCLE
from model.readings.interpret import evaluate
from model.readings.layout import Layout
from model.readings.world import WorldError, plain, read_value
from specs.auxiliary import AUXILIARY
from specs.auxiliary.hints import APART, BY_CASES, hints
from specs.disciplines import COVERED, LIVELY, SAFE
from specs.properties import PROPERTIES


def run(options: argparse.Namespace, output: Output) -> Verdict:
    probe_junit(options.junit)
    variation = vary(LIFECYCLE, options.fault, tuple(options.without))
    if options.bmc is not None:
        return _bounded(options, output, variation)
    chosen = Scope(
        variation.model,
        PROPERTIES,
        AUXILIARY,
        lift(True) if options.any_discipline else SAFE & COVERED,
        fixed(parse_settings(options.settings)),
        options.timeout,
        _directory(options.smt2),
        LIVELY,
        options.core,
        hints(),
        BY_CASES,
        APART,
    )
    scope, meant, note = where_it_shows(about(chosen), variation, options.properties)
    asked = _asked(scope, meant)
    worlds = [w.world for w in shipped(variation.model) if scope.assumption.op is Op.CONST or not w.expect]
    found = result(scope, variation, worlds, asked, options.processes, lambda line: output.status(f"prove: {line}"))
    if options.junit is not None:
        write_junit("schedproof prove", list(prove_cases(found, (*PROPERTIES, *AUXILIARY))), options.junit)
    if options.json:
        head = {"version": VERSION, "command": "prove", "verdict": found.verdict.word}
        output.lines([json.dumps({**head, **document(found, scope)}, indent=2)])
        return found.verdict
    output.details(note)
    _print(options, output, found, scope, 0 if variation or options.settings else len(worlds))
    return found.verdict


def about(scope: Scope) -> Scope:
    """The scope, or a wider one if --set leaves it: with all that is declared safe, or whatever the discipline."""
    for assumed in (scope.assumption, SAFE, lift(True)):
        if Theory(scope.model, scope.fixed, assumed, ()).possible:
            return scope if assumed is scope.assumption else replace(scope, assumption=assumed)
    raise Unusable("no dials are as --set says: some value is below what the dial allows (see: show dials).")


def where_it_shows(scope: Scope, variation: Variation, asked: list[str]) -> tuple[Scope, list[str], list[str]]:
    """The scope; or where a fault changes nothing in it, one with the disciplines of the fault's own world.

    There the unchanged rules are not proved either, so what the fault is meant to break is asked alone, if nothing is asked:
    that is second, and what to say of it third.
    """
    if not variation or not unchanged(scope, variation.unchanged, variation.rules):
        return scope, asked, []
    said = f"  {variation.words}, every rule does the same as before for the dials that are proved"
    if variation.fault is None:
        return scope, asked, [f"{said}; where it differs, --set says (such as --set publish=ordered)."]
    world = find(variation.model, variation.fault.world).world
    kept = {d.name: world.values[d.name] for d in LIFECYCLE.dials if isinstance(world.values[d.name], Enum)}
    there = about(replace(scope, fixed={**kept, **scope.fixed}))
    named = ", ".join(f"{name} {plain(value)}" for name, value in there.fixed.items())
    asked = asked or [variation.fault.caught_by]
    return there, asked, [f"{said}.", f"  So {', '.join(asked)} is asked for those of its world {world.name}: {named}."]


def fixed(settings: dict[str, Any]) -> dict[str, Any]:
    """The dials that have one value."""
    return {name: _value(name, raw) for name, raw in settings.items()}


def _value(name: str, raw: Any) -> Any:
    dial: Dial | None = next((d for d in LIFECYCLE.dials if d.name == name), None)
    if dial is None:
        raise Unusable(f"--set: there is no dial {name}; {nearest(name, [d.name for d in LIFECYCLE.dials])}.")
    if dial.index is not None:
        raise Unusable(
            f"--set {name}: it has a value for each {dial.index.__name__}, and there are any number of them."
        )
    try:
        return read_value(dial, raw)
    except WorldError as error:
        raise Unusable(f"--set {error.key}: {error}") from None


def _directory(path: Path | None) -> Path | None:
    if path is not None:
        try:
            path.mkdir(parents=True, exist_ok=True)
            with TemporaryFile(dir=path):
                pass
        except OSError as error:
            raise Unusable(f"--smt2 {path} cannot be written to ({cause(error)}); give another directory.") from None
    return path


def _asked(scope: Scope, names: list[str]) -> list[str]:
    known = [c.name for c in scope.claims]
    for name in names:
        _not_explored_only(name, "induction does not show")
        declared = next((p for p in (*PROPERTIES, *AUXILIARY) if p.name == name), None)
        if declared is not None and name not in known:
            raise Unusable(f"{name} says nothing for these dials; set them otherwise.")
        if name not in known:
            raise Unusable(f"there is no property {name}; {nearest(name, known)}.")
    return names


def _not_explored_only(name: str, which: str) -> None:
    """Refuse a property that only exploring judges."""
    if any(p.name == name and p.shape in (Shape.HOME, Shape.REACHABLE) for p in PROPERTIES):
        raise Unusable(f"{name} is about what can be reached, which {which}; check explores it.")


def _print(options: argparse.Namespace, output: Output, found: Result, scope: Scope, worlds: int) -> None:
    output.details(prove_text.family_lines(found.proof))
    if options.core:
        output.details(prove_text.core_lines(found.proof))
    else:
        output.details(prove_text.unused_lines(found.proof))
    output.details(prove_text.open_lines(found))
    for counterexample in found.found:
        output.details(["", *prove_text.counterexample_lines(counterexample, (*PROPERTIES, *AUXILIARY)), ""])
    if not found.proof.open:
        output.details([""])
        output.stated(prove_text.statement(found, scope, worlds))
    output.details(prove_text.left_out(scope, PROPERTIES))
    output.lines([prove_text.last_line(found)])


# --------------------------------------------------------------------------------------------- bounded checking
def _bounded(options: argparse.Namespace, output: Output, variation: Variation) -> Verdict:
    number, name = options.bmc
    ignored = [o for o in ("smt2", "core", "any_discipline", "processes") if getattr(options, o)]
    if ignored:
        raise Unusable(f"--bmc takes no --{ignored[0].replace('_', '-')}, which is for proofs; leave one out.")
    if not number.isdecimal():
        raise Unusable(
            f"--bmc {number} {name}: {number} is no number of steps; write --bmc K WORLD, such as --bmc 8 pair."
        )
    world = with_dials(LIFECYCLE, find(LIFECYCLE, name), parse_settings(options.settings)).world
    every = claims(variation.model, PROPERTIES)
    judged = [c for c in every if not options.properties or c.name in options.properties]
    for missing in [p for p in options.properties if p not in [c.name for c in judged]]:
        _not_explored_only(missing, "no bounded run shows")
        raise Unusable(
            f"there is no property {missing} for bounded checking; {nearest(missing, [c.name for c in every])}."
        )
    if not any(evaluate(c.needs, world) for c in judged):
        raise Unusable(
            f"{judged[0].name} says nothing in {world.name}; set its dials otherwise, or take another world."
        )
    found = bmc(
        variation.model, world, judged, int(number), options.timeout, lambda n: output.status(f"bmc: {n} steps")
    )
    if options.junit is not None:
        write_junit("schedproof prove", run_cases(found, world.name, int(number)), options.junit)
    verdict = Verdict.UNDETERMINED if found.unknown or not found.broken else Verdict.VIOLATED
    if options.json:
        whole = {
            "version": VERSION,
            "command": "prove",
            "verdict": verdict.word,
            "bmc": {
                "world": world.name,
                "steps": found.depth - found.unknown,
                "unknown": found.unknown,
                "broken": list(found.broken),
                "events": [e.text for e in found.events],
            },
        }
        output.lines([json.dumps(whole, indent=2)])
        return verdict
    output.details(prove_text.run_lines(found, world.name, int(number)))
    if found.broken:
        _trace(output, variation, world, found)
    nothing = prove_text.gave_up(found) if found.unknown else f"nothing within {number} steps, which is a bound"
    output.lines([f"{verdict.word}: {', '.join(found.broken) or nothing}"])
    return verdict


def _trace(output: Output, variation: Variation, world: Any, found: Run) -> None:
    """The run, taken again by the interpreter before it is shown."""
    trace = build(Layout(variation.model, world), found.broken[0], found.events, variation)
    if not trace.events and found.depth:
        raise Disagreement("the solver's run has no events; please report this with the command you ran.")
    confirm(trace, PROPERTIES)
    output.details(["", *trace_lines(trace, PROPERTIES), ""])
