"""Chapters: Markdown with values, traces, tables and commands that are filled in from the product.

A chapter begins with `title:` and `about:` lines. A fenced block whose first word is one of BLOCKS is made by the
product; `says="..."` and `exit=N` beside a command hold the prose to what the command prints.
"""

from __future__ import annotations

import shlex
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from html import escape
from importlib.resources import files
from pathlib import Path
from typing import Any

from checker.handbook import tables
from checker.handbook.facts import Facts
from checker.handbook.induction import counterexample
from checker.handbook.places import Places
from checker.handbook.run import Drift, Shell, expected, ran, shown
from checker.replay import itf
from checker.replay.reference import MISSING
from checker.replay.story import Story, read_story, run_of, story_layout, tell
from checker.replay.trace import Trace
from checker.report import picture, walk
from checker.report.graphs import library
from checker.settings import parse_settings
from checker.worlds import find, with_dials
from model.lifecycle import LIFECYCLE
from specs.stories import story_files


@dataclass(frozen=True)
class Chapter:
    """A chapter's source. `name` is the name of its page."""

    name: str
    title: str
    about: str
    source: str


def chapters() -> list[Chapter]:
    """In the order of their files' names."""
    folder = files(__package__).joinpath("chapters")
    found = sorted((f for f in folder.iterdir() if f.name.endswith(".md")), key=lambda f: f.name)
    return [_read(f.name.removesuffix(".md"), f.read_text()) for f in found]


def _read(name: str, text: str) -> Chapter:
    title, about, rest = text.split("\n", 2)
    return Chapter(name.partition("-")[2], title.removeprefix("title: "), about.removeprefix("about: "), rest)


@dataclass
class Written:
    """A chapter as HTML, with what it ran."""

    html: str
    exercises: int
    commands: list[str] = field(default_factory=list)


def write(chapter: Chapter, facts: Facts, shell: Shell) -> Written:
    """Fill a chapter in. Drift if its text rests on what is no longer so."""
    return _Writer(chapter, facts, shell).write()


class _Writer:
    def __init__(self, chapter: Chapter, facts: Facts, shell: Shell) -> None:
        self.chapter, self.facts, self.shell = chapter, facts, shell
        self.places = Places(facts.known)
        self.written = Written("", 0)
        self.markdown = self._markdown()
        self.blocks: Mapping[str, Callable[[str, Mapping[str, str]], str]] = {
            "run": self.run,
            "trace": self.trace,
            "engine": self.engine,
            "story": self.story,
            "compare": self.compare,
            "table": self.table,
            "exercise": self.exercise,
            "lifecycle": self.lifecycle,
            "walk": self.walk,
            "induction": self.induction,
        }

    def write(self) -> Written:
        environment = library("jinja2", "handbook").Environment(
            undefined=library("jinja2", "handbook").StrictUndefined, autoescape=False
        )
        text = environment.from_string(self.chapter.source).render(values(self.facts))
        self.written.html = self.markdown.render(text)
        return self.written

    def _markdown(self) -> Any:
        made = library("markdown_it", "handbook").MarkdownIt("commonmark", {"html": True}).enable("table")
        made.add_render_rule("fence", lambda _, tokens, i, *rest: self.fence(tokens[i]))
        made.add_render_rule("code_inline", lambda _, tokens, i, *rest: self.places.code(tokens[i].content))
        return made

    def fence(self, token: Any) -> str:
        word, *options = shlex.split(token.info) or [""]
        made = self.blocks.get(word)
        if made is None:
            return f'<pre tabindex="0"><code>{escape(token.content)}</code></pre>'
        return made(token.content.strip(), dict(o.split("=", 1) for o in options))

    # ------------------------------------------------------------------------------------ the blocks
    def run(self, content: str, options: Mapping[str, str]) -> str:
        """Commands, one a line, and what they print."""
        head = int(options["head"]) if "head" in options else None
        done = [ran(self.shell, line) for line in content.splitlines()]
        self.written.commands += [one.command for one in done]
        says = [s for s in options.get("says", "").split("|") if s]
        expected(done[-1], says, int(options.get("exit", "0")), f"chapter {self.chapter.name}")
        return "".join(shown(one, head) for one in done)

    def exercise(self, content: str, options: Mapping[str, str]) -> str:
        """A question, the command that checks it, and the answer behind a fold."""
        question, command, answer = (part.strip() for part in content.split("\n---\n"))
        self.written.exercises += 1
        return (
            f'<section class="exercise"><h3>Exercise {self.written.exercises}</h3>{self.markdown.render(question)}'
            f"<details><summary>Check it</summary>{self.run(command, options)}{self.markdown.render(answer)}</details></section>"
        )

    def trace(self, content: str, options: Mapping[str, str]) -> str:
        """The run without a guard, of a fault, or of a file that a command of the chapter has written."""
        kind, name = content.split()
        if kind == "file":
            found: Trace | None = itf.load(Path(name), LIFECYCLE, self.facts.known)
        else:
            found = (self.facts.guards if kind == "guard" else self.facts.faults).get(name)
        if found is None:
            raise Drift(f"chapter {self.chapter.name} shows the trace of {kind} {name}, and there is none.")
        if "shows" in options and found.shows != options["shows"]:
            raise Drift(f"chapter {self.chapter.name}: {name} shows {found.shows} now, not {options['shows']}.")
        return picture.figure(found, self.facts.known.everything, self.places.link)

    def engine(self, content: str, options: Mapping[str, str]) -> str:
        """What the run without a guard, or of a fault, did on the reference engine."""
        if not self.facts.engine:
            return f'<p class="note">What it does to real KV memory is not measured on this page: {escape(MISSING)}</p>'
        made = tables.engine(self.facts, content)
        for part in options["says"].split("|"):
            if part not in made:
                raise Drift(f"chapter {self.chapter.name}: {content} on the engine no longer says {part!r}.")
        return made

    def story(self, content: str, options: Mapping[str, str]) -> str:
        story = _story(content)
        told = tell(story, LIFECYCLE, self.facts.known.properties)
        if told.failures:
            raise Drift(f"chapter {self.chapter.name}: the story {content} no longer runs: {told.failures[0]}.")
        run = run_of(told, story_layout(story, LIFECYCLE), content)
        return picture.run_figure(run, f"The story {content}", story.about, self.places.link)

    def compare(self, content: str, options: Mapping[str, str]) -> str:
        told = {name: tell(_story(name), LIFECYCLE, ()) for name in content.split()}
        return tables.boundaries(told) + tables.waiting(told)

    def table(self, content: str, options: Mapping[str, str]) -> str:
        return tables.TABLES[content](self.facts, self.places, self.shell)

    def lifecycle(self, content: str, options: Mapping[str, str]) -> str:
        """The life of a request as it is in the explored states of a world, drawn by Graphviz."""
        _, drawn = self.shell(["show", content, "--format", "svg"])
        svg = drawn[drawn.index("<svg") :]
        about = f"the life of one request in the world {content}"
        head = svg.replace("<svg ", f'<svg role="img" aria-label="{about}" ', 1)
        return f'<figure class="drawn"><div class="scroll" tabindex="0" role="group" aria-label="{about}">{head}</div></figure>'

    def walk(self, content: str, options: Mapping[str, str]) -> str:
        world, *settings = content.split()
        file = with_dials(LIFECYCLE, find(LIFECYCLE, world), parse_settings(settings))
        return walk.section(walk.graph(file, options["title"]), "rules/")

    def induction(self, content: str, options: Mapping[str, str]) -> str:
        world, name = content.split()
        found = counterexample(self.facts.known, world, name)
        if found is None or options["repaired_by"] not in found.excluded:
            raise Drift(
                f"chapter {self.chapter.name}: {name} is not repaired by {options['repaired_by']} in {world} any more."
            )
        return tables.induction(found, self.places)


def values(facts: Facts) -> dict[str, Any]:
    """What a chapter's text may say of the product, as it is now."""
    return {
        "states": lambda world: f"{find(LIFECYCLE, world).normal_forms:,}",
        "steps": lambda name: (facts.guards.get(name) or facts.faults[name]).length,
        "shows": lambda name: f"`{(facts.guards.get(name) or facts.faults[name]).shows}`",
        "guards": lambda name: _listed([f"`{g}`" for g in dict.fromkeys(facts.protects.get(name, []))]),
        "longest": max(t.length for t in (*facts.guards.values(), *facts.faults.values())),
        "rules": len(LIFECYCLE.rules),
        "guard_count": sum(not g.assumed for r in LIFECYCLE.rules for g in r.guards),
        "needed": len(facts.catches),
    }


def _listed(names: Sequence[str]) -> str:
    if not names:
        return "no guard by itself"
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"


def _story(name: str) -> Story:
    return read_story(next(p for p in story_files() if p.stem == name))
