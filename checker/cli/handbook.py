"""`schedproof handbook`: the teaching document, built from the product."""

from __future__ import annotations

import argparse
import contextlib
import io
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path

import specs
from checker.cli.options import positive
from checker.handbook.facts import gather
from checker.handbook.site import build, probe
from checker.report.graphs import library
from checker.report.output import Output
from checker.verdict import Verdict

HELP = "build the handbook, a static site"
DESCRIPTION = """\
Builds the teaching document: chapters, a card for every rule, guard, property and fault, runs to step through, a state
graph to walk, and the Markov lab. Its diagrams, tables, numbers and traces are made now, from the rules as they are.
Open DIR/index.html; it needs no server and no network.

examples:
  schedproof handbook --out handbook"""

NEEDS = ("jinja2", "markdown_it", "networkx", "pygraphviz", "scipy")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--out", type=Path, required=True, metavar="DIR", help="where to write the site")
    parser.add_argument("--jobs", type=positive, metavar="N", help="processes to use (default: one a core)")
    parser.add_argument("--quiet", action="store_true", help="print the last line only, and no progress")


def run(options: argparse.Namespace, output: Output) -> Verdict:
    for name in NEEDS:
        library(name, "handbook")
    out = options.out.absolute()
    probe(out)
    facts = gather(options.jobs, output.status)
    with workplace():
        built = build(out, facts, shell, output.status)
    output.lines([f"holds: {len(built.pages)} pages in {options.out}; open {options.out / 'index.html'}"])
    return Verdict.HOLDS


def shell(arguments: Sequence[str]) -> tuple[int, str]:
    """Run a command of schedproof in this process: its exit code, and what it printed."""
    from checker.cli.main import run as command  # main knows this command, too

    printed = io.StringIO()
    with contextlib.redirect_stdout(printed), contextlib.redirect_stderr(io.StringIO()):
        code = command(arguments).value
    return code, printed.getvalue()


@contextlib.contextmanager
def workplace() -> Iterator[None]:
    """An empty directory to run commands in, where specs/ is as in a checkout."""
    with tempfile.TemporaryDirectory() as place, contextlib.chdir(place):
        Path("specs").symlink_to(Path(specs.__file__).parent)
        yield
