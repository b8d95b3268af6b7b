"""The site as files: a card for everything, no dead link, nothing from outside, and what it prints is what is printed."""

from __future__ import annotations

import html
import os
import re
import shlex
import subprocess
import sys
from functools import cache
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import urldefrag

import pytest

from checker.cli import handbook as command
from checker.cli.handbook import shell, workplace
from checker.cli.main import run
from checker.handbook.chapters import chapters
from checker.handbook.facts import gather
from checker.handbook.lassos import BREAKS
from checker.handbook.places import anchor
from checker.handbook.run import timeless
from checker.handbook.site import assets, pages
from checker.replay.reference import available
from checker.verdict import Verdict
from model.lifecycle import LIFECYCLE
from specs.faults import FAULTS
from specs.faults.equivalent import EQUIVALENT
from specs.faults.fault import Evidence
from specs.policies import POLICIES
from specs.properties import LIVENESS, PROPERTIES
from specs.stories import story_files
from specs.worlds import world_files
from tests.handbook.conftest import ROOT

MOST = 5_000_000  # bytes


class Links(HTMLParser):
    """The ids and the addresses of a page."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.ids: set[str] = set()
        self.links: list[str] = []
        self.sources: list[str] = []
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        for name, value in attrs:
            if name == "id" and value:
                self.ids.add(value)
            if name == "href" and value and tag == "a":
                self.links.append(value)
            elif name in ("href", "src", "srcset", "poster", "data") and value:
                self.sources.append(value)


@cache
def read(path: Path) -> Links:
    return Links(path.read_text())


def all_pages(site: Path) -> list[Path]:
    return sorted(site.rglob("*.html"))


# ------------------------------------------------------------------------------------------------ cards
def test_every_rule_and_every_guard_has_a_card(site: Path) -> None:
    for rule in LIFECYCLE.rules:
        path = site / "rules" / f"{rule.name}.html"
        sections = dict(re.findall(r'<section class="guard" id="([^"]+)">(.*?)</section>', path.read_text(), re.S))
        assert list(sections) == [anchor(f"{rule.name}.{g.name}") for g in rule.guards]
        for guard in rule.guards:
            name = f"{rule.name}.{guard.name}"
            card = sections[anchor(name)]
            if guard.assumed:
                assert "Assumed of the environment" in card
            elif name in EQUIVALENT:
                assert html.escape(EQUIVALENT[name], quote=True).replace("&quot;", "&#34;") in card
            else:
                assert "<summary>Remove it</summary><figure" in card, name
                assert f"without {name}" in card
                noticed = next(p for p in PROPERTIES if f'Without it <a href="../properties/{p.name}.html">' in card)
                assert noticed.reason in html.unescape(card)


def test_every_property_and_every_fault_has_a_card(site: Path) -> None:
    assert {p.stem for p in (site / "properties").glob("*.html")} == {p.name for p in (*PROPERTIES, *LIVENESS)}
    assert {p.stem for p in (site / "faults").glob("*.html")} == {f.name for f in FAULTS}
    for fault in FAULTS:
        card = html.unescape((site / "faults" / f"{fault.name}.html").read_text())
        assert fault.about in card
        assert fault.evidence.value in card
        assert "<figure" in card
        for word in fault.source.split():
            assert word in card


def test_every_promise_has_a_run_that_goes_on_for_ever_and_breaks_it(site: Path) -> None:
    assert set(BREAKS) == {p.name for p in LIVENESS}
    for promise in LIVENESS:
        card = html.unescape((site / "properties" / f"{promise.name}.html").read_text())
        assert "<h2>A run that breaks it</h2>" in card
        assert re.search(r"for ever in the world|standing still for ever", card)
        assert re.search(r">for ever</text>|>(≠ effect )?stands still</text>", card), promise.name
        assert re.search(r"<code>schedproof check \w+ (--policy|--fault|--without) ", card)


@pytest.mark.skipif(not available(), reason="torch is not installed")
def test_every_fault_and_every_guard_says_what_its_absence_did_on_the_engine(site: Path) -> None:
    for fault in FAULTS:
        card = (site / "faults" / f"{fault.name}.html").read_text()
        assert "<b>On the reference engine</b>" in card, fault.name
        assert re.search(r"Damage,|No damage|None was found|has no switch", card), fault.name
    for rule in LIFECYCLE.rules:
        text = (site / "rules" / f"{rule.name}.html").read_text()
        assert text.count("<summary>Remove it</summary>") == text.count("<b>On the reference engine</b>")


def test_a_property_names_the_public_reports_of_what_it_catches(site: Path) -> None:
    for declared in PROPERTIES:
        card = html.unescape((site / "properties" / f"{declared.name}.html").read_text())
        for fault in FAULTS:
            if fault.kind in declared.catches and fault.evidence is not Evidence.NONE:
                assert next(w for w in fault.source.split() if w.startswith("https://")) in card


def test_every_world_and_every_policy_is_listed(site: Path) -> None:
    assert {p.name for p in POLICIES} <= read(site / "policies.html").ids
    assert {anchor(w) for w in world_files()} <= read(site / "worlds.html").ids


def test_every_chapter_has_two_exercises(site: Path) -> None:
    assert len(chapters()) == 12
    for chapter in chapters():
        text = (site / f"{chapter.name}.html").read_text()
        assert text.count('<section class="exercise">') == 2, chapter.name
        for fold in re.findall(r"<summary>Check it</summary>(.*?)</details>", text, re.S):
            assert 'data-command="schedproof ' in fold


# ------------------------------------------------------------------------------------------------ links
def test_no_link_is_dead(site: Path) -> None:
    dead = []
    for page in all_pages(site):
        for link in (*read(page).links, *read(page).sources):
            address, fragment = urldefrag(link)
            if address.startswith("https://"):
                continue
            target = (page.parent / address).resolve() if address else page
            if not target.is_file() or (fragment and fragment not in read(target).ids):
                dead.append(f"{page.relative_to(site)}: {link}")
    assert dead == []


def test_every_page_is_linked_to(site: Path) -> None:
    linked = {
        (p.parent / urldefrag(link)[0]).resolve()
        for p in all_pages(site)
        for link in read(p).links
        if not link.startswith(("https://", "#"))
    }
    assert [p.relative_to(site) for p in all_pages(site) if p.resolve() not in linked] == []


def test_nothing_is_asked_of_the_outside(site: Path) -> None:
    for page in all_pages(site):
        assert [s for s in read(page).sources if "//" in s or s.startswith("data:")] == []
    for text in [*(p.read_text() for p in all_pages(site)), *assets().values()]:
        assert re.findall(r"url\((?!#)|@import|fetch\(|XMLHttpRequest|new WebSocket|import\(", text) == []


def test_it_is_small(site: Path) -> None:
    assert sum(p.stat().st_size for p in site.rglob("*") if p.is_file()) < MOST


# ------------------------------------------------------------------------------------------------ drift
def test_building_it_again_gives_the_same(site: Path) -> None:
    if "<b>On the reference engine</b>" in (site / "faults" / "notify-twice.html").read_text() and not available():
        pytest.skip("it was built with torch, which is not installed here")
    with workplace():
        again = pages(gather(None, lambda _: None), shell, lambda _: None)
    assert sorted(again.pages) == sorted(p.relative_to(site).as_posix() for p in all_pages(site))
    assert [address for address, page in again.pages.items() if (site / address).read_text() != page] == []


def commands_of(page: Path) -> list[tuple[str, str]]:
    """Each command of a page with what the page says that it prints."""
    found = re.findall(r'<pre class="run"[^>]*data-command="([^"]*)">.*?<samp>(.*?)</samp>', page.read_text(), re.S)
    return [(html.unescape(command), html.unescape(text)) for command, text in found]


@pytest.mark.parametrize("number", range(4))
def test_who_follows_chapter_one_gets_what_is_printed_there(site: Path, tmp_path: Path, number: int) -> None:
    commands = commands_of(site / f"{chapters()[0].name}.html")
    assert len(commands) == 4
    command, printed = commands[number]
    (tmp_path / "specs").symlink_to(story_files()[0].parents[1])
    ran = subprocess.run(
        [sys.executable, "-m", "checker", *shlex.split(command)[1:]],
        cwd=tmp_path,
        env={"PYTHONPATH": str(ROOT), "PATH": os.environ["PATH"]},
        capture_output=True,
        text=True,
        check=False,
    )
    said, *more = printed.split("\n… ")
    lines = timeless(ran.stdout).rstrip("\n").split("\n")
    assert lines[: said.count("\n") + 1] == said.split("\n")
    if more:
        assert more == [f"{len(lines) - said.count(chr(10)) - 1} lines more"]
    else:
        assert len(lines) == said.count("\n") + 1


def test_a_place_that_cannot_be_written_is_refused_before_anything_is_built(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "file").write_text("")
    monkeypatch.setattr(command, "gather", lambda *_: pytest.fail("it began to build"))
    for place in ("file", "file/below"):
        assert run(["handbook", "--out", str(tmp_path / place)]) is Verdict.ERROR
        said = capsys.readouterr().err
        assert said.startswith(f"error: the handbook cannot be written to {tmp_path / place} (Not a directory); give ")
