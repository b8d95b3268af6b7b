"""`schedproof show`: rules, properties, worlds, faults and traces."""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

from checker.catalogue import Catalogue, catalogue
from checker.check import violates
from checker.cli.options import add_with
from checker.replay import itf
from checker.replay.environment import find_engine
from checker.replay.port import AdapterLost, Port, command_for
from checker.replay.story import read_story, run_of, story_layout, tell
from checker.replay.trace import Trace
from checker.report import cards, check_text, graphs, picture, trace_text, walk
from checker.report.output import Output
from checker.search.explore import explore
from checker.settings import parse_settings
from checker.verdict import Unusable, Verdict
from checker.version import VERSION
from checker.worlds import WorldFile, find, shipped, with_dials
from model.language.edits import parts
from model.language.model import nearest
from model.lifecycle import LIFECYCLE
from model.readings.python import Machine
from specs.auxiliary import AUXILIARY
from specs.worlds import world_files

HELP = "show rules, properties, worlds, faults, policies and traces"
DESCRIPTION = """\
Shows what is declared, read off the declarations, or a trace file.

examples:
  schedproof show rules                    every rule with its guards
  schedproof show release                  one rule: guards, updates, where it is declared
  schedproof show delivery.grows           one property: what, why, what it catches
  schedproof show auxiliary                the invariants that only proofs need, and why each is there
  schedproof show worlds                   the shipped worlds
  schedproof show TRACE.itf.json           a trace as text; --format md to paste into a review, html or svg for its picture
  schedproof show --names vllm             what each rule is in vLLM 0.10.2
  schedproof show pair --format svg        the life of a request, as it is in the explored states
  schedproof show solo --format html       the states of a small world, to walk by hand"""

GRAPHS = ("graphml", "dot", "svg")
LISTS = ("rules", "properties", "auxiliary", "worlds", "faults", "policies", "dials")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--names", metavar="ENGINE", help="what each rule is in an engine: its event, counter and metric"
    )
    parser.add_argument(
        "what",
        nargs="?",
        metavar="WHAT",
        help=f"{', '.join(LISTS)}, the name of one of them, or a trace file",
    )
    parser.add_argument(
        "--format", choices=("text", "md", "json", "html", *GRAPHS), default="text", help="default text"
    )
    parser.add_argument(
        "--graph",
        choices=("states", "lifecycle"),
        help="of a world: its explored states, or what one request goes through in them "
        "(default: states for graphml, lifecycle for dot and svg)",
    )
    parser.add_argument(
        "--set", action="append", default=[], metavar="DIAL=VALUE", dest="settings", help="of a world: set a dial"
    )
    add_with(parser)
    parser.add_argument("--quiet", action="store_true", help=argparse.SUPPRESS)


def run(options: argparse.Namespace, output: Output) -> Verdict:
    if options.what is None and not options.names:
        raise Unusable("schedproof show: say WHAT to show, or --names ENGINE; see schedproof show --help.")
    what: str = options.what or ""
    walked = options.format == "html" and not options.names and _is_world(what)
    if options.format not in GRAPHS and ((options.settings and not walked) or options.graph):
        raise Unusable(
            "--set and --graph are for pictures of a world; name one and add "
            f"--format {', '.join(GRAPHS)} (or html, which takes --set)."
        )
    has = catalogue(LIFECYCLE, options.with_files)
    if options.format == "html" and (options.names or not (walked or _is_file(what))):
        raise Unusable(
            "--format html is the picture of a trace or a story, or a small world to walk; "
            "give a file (check writes traces) or name a world."
        )
    if options.names:
        lines = _names(options.names, options.format)
    elif walked:
        lines = [walk.page(_world(options))]
    elif options.format in ("html", "svg") and what.endswith(".txt"):
        lines = [_story(Path(what), options.format, has)]
    elif options.format in GRAPHS and not (options.format == "svg" and what.endswith(".json")):
        lines = _graph(options)
    elif _is_file(what):
        lines = _trace(Path(what), options.format, has)
    elif what in LISTS:
        lines = _list(what, options.format, has)
    else:
        lines = _one(what, options.format, has)
    output.lines(lines)
    return Verdict.HOLDS


def _names(name: str, form: str) -> list[str]:
    """The map from the rules to an engine, as its adapter has it. The engine itself need not be there."""
    engine = find_engine(name)
    try:
        with Port(
            command_for(engine.python if engine.python.exists() else Path(sys.executable), engine.adapter)
        ) as port:
            described = port.describe()
    except AdapterLost as lost:
        raise Unusable(f"{lost}.") from None
    names = described["names"]
    if form == "json":
        return [json.dumps({"version": VERSION, "command": "show", "verdict": "holds", "names": names}, indent=2)]
    heads = ["rule", "event", "counter", "metric"]
    rows = [[r.name, *(names.get(r.name, {}).get(h) or "-" for h in heads[1:])] for r in LIFECYCLE.rules]
    return _table(heads, rows, form)


def _graph(options: argparse.Namespace) -> list[str]:
    """The graph of a world, explored for it."""
    if options.what in LISTS or (options.what.endswith(".json")):
        raise Unusable(
            f"--format {options.format} draws a world, not {options.what}; name one of {', '.join(world_files())}."
        )
    file = _world(options)
    explored = explore(Machine(LIFECYCLE, file.world))
    kind = options.graph or ("states" if options.format == "graphml" else "lifecycle")
    graph = (graphs.state_graph if kind == "states" else graphs.lifecycle_graph)(explored)
    draw = {"graphml": graphs.graphml, "dot": graphs.dot, "svg": graphs.svg}[options.format]
    return [draw(graph)]


def _world(options: argparse.Namespace) -> WorldFile:
    """The world that is asked for, with its dials as they were set."""
    return with_dials(LIFECYCLE, find(LIFECYCLE, options.what), parse_settings(options.settings))


def _is_world(what: str) -> bool:
    return what in world_files() or what.endswith(".toml")


def _is_file(what: str) -> bool:
    """A path, or what looks like one; but RULE/FIELD names an update."""
    update = what.partition("/")[0] in [r.name for r in LIFECYCLE.rules]
    return Path(what).is_file() or what.endswith(".json") or ("/" in what and not update)


def _trace(path: Path, form: str, has: Catalogue) -> list[str]:
    trace = itf.load(path, LIFECYCLE, has)
    if not trace_text.departs(trace):
        _judge(path, trace, has)
    if form == "json":
        return [json.dumps(itf.to_itf(trace, VERSION), indent=1)]
    if form in ("html", "svg"):
        return [picture.page(trace, has.everything) if form == "html" else picture.still(trace)]
    return (trace_text.trace_markdown if form == "md" else trace_text.trace_lines)(trace, has.everything)


def _story(path: Path, form: str, has: Catalogue) -> str:
    """The picture of a story: what happens in it, event by event."""
    story = read_story(path)
    told, layout = tell(story, LIFECYCLE, has.properties), story_layout(story, LIFECYCLE)
    run = run_of(told, layout, f"the story {story.name}")
    return picture.run_page(run, run.shows, story.about) if form == "html" else picture.still(run, violated=False)


def _judge(path: Path, trace: Trace, has: Catalogue) -> None:
    """Whether the trace still shows what it is about. Unusable if not."""
    known = [p.name for p in has.everything]
    if trace.shows not in known and not trace.shows.startswith("bounds."):
        raise Unusable(f"{path} is about {trace.shows}, which is no property; {nearest(trace.shows, known)}.")
    if not violates(trace, has.everything):
        raise Unusable(
            f"{path} does not end with {trace.shows} violated; "
            "the rules have changed since the trace was made, or it was edited."
        )


# ------------------------------------------------------------------------------------------- lists
def _list(what: str, form: str, has: Catalogue) -> list[str]:
    data: list[dict[str, Any]] = {
        "rules": lambda: [cards.rule_data(r) for r in LIFECYCLE.rules],
        "properties": lambda: [cards.property_data(p) for p in has.everything],
        "auxiliary": lambda: [cards.property_data(p) for p in AUXILIARY],
        "worlds": lambda: [_world_data(w) for w in shipped(LIFECYCLE)],
        "faults": lambda: [cards.fault_data(f) for f in has.faults],
        "policies": lambda: [cards.policy_data(p) for p in has.policies],
        "dials": lambda: [cards.dial_data(d) for d in LIFECYCLE.dials],
    }[what]()
    if form == "json":
        return [json.dumps({"version": VERSION, "command": "show", "verdict": "holds", what: data}, indent=2)]
    columns = _columns(what)
    rows = [[str(get(d)) for _, get in columns] for d in data]
    heads = [head for head, _ in columns]
    return _table(heads, rows, form)


def _columns(what: str) -> list[tuple[str, Callable[[dict[str, Any]], Any]]]:
    first = what.removesuffix("ies") + "y" if what.endswith("ies") else what.removesuffix("s")
    if what == "auxiliary":  # which properties are proved with, so why it is there says more than what it says
        return [("property", lambda d: d["property"]), ("why", lambda d: d["reason"])]
    columns: list[tuple[str, Callable[[dict[str, Any]], Any]]] = [(first, lambda d: d[first])]
    if what == "rules":
        columns.append(("guards", lambda d: ", ".join(g["name"].partition(".")[2] for g in d["guards"])))
    if what == "worlds":
        columns.append(("states", lambda d: d["normal_forms"] or ""))
    if what == "faults":
        columns.append(("caught by", lambda d: d["caught_by"]))
    if what == "policies":
        columns.append(("does not keep", lambda d: ", ".join(d["breaks"])))
    if what == "dials":
        columns.append(("default", lambda d: "" if d["default"] is None else d["default"]))
        columns.append(("values", lambda d: ", ".join(d["values"]) or f"from {d['least']}"))
    return [*columns, ("about", lambda d: d["about"].splitlines()[0] if d["about"] else "")]


def _table(heads: list[str], rows: list[list[str]], form: str) -> list[str]:
    if form == "md":
        return ["| " + " | ".join(r) + " |" for r in [heads, ["---"] * len(heads), *rows]]
    wide = [max(len(r[i]) for r in [heads, *rows]) for i in range(len(heads) - 1)]
    return ["  ".join([*(f"{c:{w}}" for c, w in zip(r, wide, strict=False)), r[-1]]) for r in [heads, *rows]]


def _world_data(file: WorldFile) -> dict[str, Any]:
    return {
        "world": file.name,
        "about": file.about,
        "normal_forms": file.normal_forms,
        "expect": list(file.expect),
        "dials": file.world.plain(),
    }


# --------------------------------------------------------------------------------------------- one
def _one(name: str, form: str, has: Catalogue) -> list[str]:
    lines, data = _card(name, has)
    if form == "json":
        return [json.dumps({"version": VERSION, "command": "show", "verdict": "holds"} | data, indent=2)]
    return cards.markdown(lines) if form == "md" else lines


def _card(name: str, has: Catalogue) -> tuple[list[str], dict[str, Any]]:
    for rule in LIFECYCLE.rules:
        if name == rule.name or name.startswith((f"{rule.name}.", f"{rule.name}/")):
            if name != rule.name and name not in parts(rule):
                raise Unusable(f"{rule.name} has no part {name}; {nearest(name, list(parts(rule)))}.")
            return cards.rule_lines(rule, name), cards.rule_data(rule)
    for declared in (*has.everything, *AUXILIARY):
        if name == declared.name:
            return cards.property_lines(declared), cards.property_data(declared)
    for fault in has.faults:
        if name == fault.name:
            return cards.fault_lines(fault), cards.fault_data(fault)
    for policy in has.policies:
        if name == policy.name:
            return cards.policy_lines(policy), cards.policy_data(policy)
    for dial in LIFECYCLE.dials:
        if name == dial.name:
            return cards.dial_lines(dial), cards.dial_data(dial)
    if _is_world(name):
        file = find(LIFECYCLE, name)
        lines = [f"{name}: {file.about}", f"  dials: {check_text.dial_line(LIFECYCLE, file.world)}"]
        lines += [f"  states up to renaming: {file.normal_forms:,}"] if file.normal_forms else []
        lines += [f"  expected to violate {', '.join(file.expect)}"] if file.expect else []
        return [*lines, f"  try: schedproof check {name}"], _world_data(file)
    known = [
        *LISTS,
        *(r.name for r in LIFECYCLE.rules),
        *(p.name for p in (*has.everything, *AUXILIARY)),
        *world_files(),
        *(f.name for f in has.faults),
        *(p.name for p in has.policies),
    ]
    hint = nearest(name, known)
    remedy = hint if hint.startswith("did") else f"try {', '.join(LISTS)}, or a trace file"
    raise Unusable(f"there is nothing named {name} to show; {remedy}.")
