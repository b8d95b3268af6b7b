"""The site: every page, written into a directory. Nothing in it asks for anything outside of it."""

from __future__ import annotations

import json
import tempfile
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from html import escape
from importlib.resources import files
from pathlib import Path
from typing import Any

from checker.handbook import cards, tables
from checker.handbook.chapters import Chapter, chapters, write
from checker.handbook.facts import Facts
from checker.handbook.places import Places
from checker.handbook.run import Shell
from checker.report import alone, markov_text, picture, walk
from checker.report import cards as report
from checker.report.graphs import library
from checker.verdict import Unusable, cause
from model.lifecycle import LIFECYCLE
from model.markov.chain import DIGITS, SAID

ASSETS = ("site.css", "markov.js", "induction.js", "print.js")


@dataclass(frozen=True)
class Built:
    """What was written: the pages, and the commands that the chapters ran."""

    pages: Mapping[str, str]
    commands: tuple[str, ...]


def pages(facts: Facts, shell: Shell, watch: Callable[[str], None]) -> Built:
    """Every page by its address within the site."""
    made, commands = {}, []
    book = chapters()
    render = _templates(facts, book)
    for number, chapter in enumerate(book):
        watch(f"chapter {chapter.name}")
        written = write(chapter, facts, shell)
        commands += written.commands
        around = {
            "before": book[number - 1] if number else None,
            "after": book[number + 1] if number + 1 < len(book) else None,
        }
        made[f"{chapter.name}.html"] = render(
            "chapter", "", chapter=chapter, number=number + 1, body=written.html, **around
        )
    for name, context in cards.rules(facts).items():
        made[f"rules/{name}.html"] = render("rule", "../", **context)
    for name, context in cards.properties(facts).items():
        made[f"properties/{name}.html"] = render("property", "../", **context)
    for name, context in cards.faults(facts).items():
        made[f"faults/{name}.html"] = render("fault", "../", **context)
    places = Places(facts.known)
    made["index.html"] = render("index", "", rules=len(LIFECYCLE.rules))
    made["rules.html"] = render("rules", "", actors=cards.by_actor(), removed=tables.removed(facts, places, shell))
    made["properties.html"] = render(
        "properties", "", subjects=cards.by_subject(facts), protects=tables.protects(facts, places, shell)
    )
    policies = [report.policy_data(p) for p in facts.known.policies]
    made["policies.html"] = render("policies", "", policies=policies)
    made["faults.html"] = render("faults", "", kinds=cards.by_kind(facts))
    made["worlds.html"] = render(
        "worlds", "", worlds=tables.worlds(facts, places, shell), dials=tables.dials(facts, places, shell)
    )
    made["markov.html"] = render("markov", "", said=json.dumps(_said()), lacks=markov_text.LACKS)
    return Built(made, tuple(commands))


def probe(out: Path) -> None:
    """Find out before the work that the site can be written. Unusable if not."""
    try:
        out.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=out):
            pass
    except OSError as error:
        raise _unwritable(out, error) from None


def build(out: Path, facts: Facts, shell: Shell, watch: Callable[[str], None]) -> Built:
    """Write the site. Unusable if the place cannot be written."""
    built = pages(facts, shell, watch)
    try:
        for address, page in built.pages.items():
            (out / address).parent.mkdir(parents=True, exist_ok=True)
            (out / address).write_text(page, encoding="utf-8")
        for name, text in assets().items():
            (out / "assets").mkdir(exist_ok=True)
            (out / "assets" / name).write_text(text, encoding="utf-8")
    except OSError as error:
        raise _unwritable(out, error) from None
    return built


def _unwritable(out: Path, error: OSError) -> Unusable:
    return Unusable(f"the handbook cannot be written to {out} ({cause(error)}); give another --out DIR.")


def assets() -> dict[str, str]:
    """The files that pages share."""
    folder = files(__package__).joinpath("assets")
    own = {name: folder.joinpath(name).read_text() for name in ASSETS}
    parts = {"picture.css": alone.controls() + picture.stylesheet(), "picture.js": picture.stepper()}
    return own | parts | {"walk.css": walk.stylesheet(), "walk.js": walk.script()}


def _said() -> dict[str, Any]:
    """The sentences of the Markov lab, which the command says too."""
    return {
        **{kind: text.replace("{digits}", str(DIGITS)) for kind, text in SAID.items()},
        "digits": DIGITS,
        "absorbing": markov_text.ABSORBING,
        "left": markov_text.NOT_ABSORBING,
    }


def _templates(facts: Facts, book: list[Chapter]) -> Callable[..., str]:
    jinja = library("jinja2", "handbook")
    environment = jinja.Environment(
        loader=jinja.PackageLoader("checker.handbook"),
        undefined=jinja.StrictUndefined,
        autoescape=True,
        trim_blocks=True,
        lstrip_blocks=True,
    )

    safe: Callable[[str], str] = library("markupsafe", "handbook").Markup

    def render(name: str, root: str, **context: Any) -> str:
        places = Places(facts.known, root)
        shared = {
            "root": root,
            "book": book,
            "patterns": safe(picture.patterns()),
            "code": lambda text: safe(places.code(text)),
            "marked": lambda text: safe(_linked(text)),
        }
        page: str = environment.get_template(f"{name}.html").render(shared | context)
        return page

    return render


def _linked(text: str) -> str:
    """Text with its web addresses as links."""
    words = (
        f'<a href="{escape(w)}">{escape(w)}</a>' if w.startswith("https://") else escape(w) for w in text.split(" ")
    )
    return " ".join(words)
