"""Where each thing has its page, and links to it."""

from __future__ import annotations

from dataclasses import dataclass
from html import escape

from checker.catalogue import Catalogue
from model.lifecycle import LIFECYCLE
from specs.worlds import world_files

FOLDERS = {"rule": "rules", "property": "properties", "fault": "faults"}


@dataclass(frozen=True)
class Places:
    """The addresses of pages, seen from a page whose way to the site's root is `root`: '' or '../'."""

    known: Catalogue
    root: str = ""

    def link(self, kind: str, name: str) -> str | None:
        """The address of a rule, guard, property or fault; None for what has no page, such as a field's bounds."""
        if kind == "guard":
            return f"{self.root}rules/{name.partition('.')[0]}.html#{anchor(name)}"
        if name in self.names(kind):
            return f"{self.root}{FOLDERS[kind]}/{name}.html"
        return None

    def names(self, kind: str) -> list[str]:
        return {
            "rule": [r.name for r in LIFECYCLE.rules],
            "property": [p.name for p in self.known.everything],
            "fault": [f.name for f in self.known.faults],
        }[kind]

    def named(self, text: str) -> str | None:
        """The address of whatever has exactly this name."""
        if text in world_files():
            return f"{self.root}worlds.html#{anchor(text)}"
        if text in [p.name for p in self.known.policies]:
            return f"{self.root}policies.html#{anchor(text)}"
        guards = [f"{r.name}.{g.name}" for r in LIFECYCLE.rules for g in r.guards]
        if text in guards:
            return self.link("guard", text)
        return next((where for kind in FOLDERS if (where := self.link(kind, text))), None)

    def code(self, text: str) -> str:
        """The name in type of its own, linked to its card if it has one."""
        where, shown = self.named(text), f"<code>{escape(text)}</code>"
        return f'<a href="{where}">{shown}</a>' if where else shown


def anchor(name: str) -> str:
    return name.replace(".", "-").replace("/", "-")
