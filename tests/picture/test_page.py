"""A page with a picture stands alone, says everything in words, and marks where the unchanged rules part."""

from __future__ import annotations

import html
import re
import xml.etree.ElementTree as Tree
from pathlib import Path

import pytest

from checker.replay.trace import parting
from checker.report import picture
from checker.report.picture.svg import BLOCK_WORDS
from model.readings.prose import words
from specs.properties import PROPERTIES
from specs.regressions import regression_files
from specs.stories import story_files
from tests.cli.conftest import Cli, cli
from tests.reference.traces import fault_trace

__all__ = ["cli"]

FAULTS = [p.name.removesuffix(".itf.json") for p in regression_files()]
KEPT = next(p for p in regression_files() if p.name.startswith("release-while-pinned"))


def texts(svg: str) -> list[str]:
    return [t.text or "" for t in Tree.fromstring(svg).iter() if t.tag.endswith("text")]


@pytest.mark.parametrize("fault", FAULTS)
def test_a_page_says_every_step_and_every_change(fault: str) -> None:
    trace = fault_trace(fault)
    page = picture.page(trace, PROPERTIES)
    assert re.findall(r'<li data-step="(\d+)">', page) == [str(n) for n in range(trace.length + 1)]
    for number in range(1, trace.length + 1):
        for cell, _, _ in trace.changed(number):
            assert f"<code>{cell}</code>" in page
    parted = parting(trace)
    assert (parted is not None) == ("Here the unchanged rules part" in page)
    if parted is not None and parted.guard:
        card = parted.guard.replace(".", "-")
        assert f'The guard that would have stopped it: <a href="#{card}"><code>{parted.guard}</code></a>' in page
        assert f'<li id="{card}"><code>{parted.guard}</code> <strong class="bad">(refuses step {parted.step}' in page


@pytest.mark.parametrize("fault", FAULTS)
def test_a_page_asks_for_nothing_outside_of_it(fault: str) -> None:
    page = picture.page(fault_trace(fault), PROPERTIES)
    assert re.findall(r'(?:src|href)="[^#"]', page) == []
    assert re.findall(r"url\((?!#)|@import|fetch\(|XMLHttpRequest", page) == []


@pytest.mark.parametrize("fault", FAULTS)
def test_every_event_leads_to_the_card_of_its_rule(fault: str) -> None:
    trace = fault_trace(fault)
    page = picture.page(trace, PROPERTIES)
    ids = re.findall(r' id="([^"]+)"', page)
    links = re.findall(r'href="#([^"]+)"', page)
    assert len(ids) == len(set(ids))
    assert {e.rule for e in trace.events} <= set(links) <= set(ids)
    for rule in (r for r in trace.variation.unchanged.rules if r.name in links):
        card = page.partition(f'<section class="rule" id="{rule.name}">')[2].partition("</section>")[0]
        assert all(html.escape(words(g.condition)) in card for g in rule.guards)


@pytest.mark.parametrize("fault", FAULTS)
def test_no_word_of_a_block_is_cut(fault: str) -> None:
    """A block's word is within its cell: letters of 9.2 pixels in this type are 5.6 wide."""
    for element in Tree.fromstring(picture.still(fault_trace(fault))).iter():
        if element.get("class") in [f"k-{w}" for w in BLOCK_WORDS]:
            assert float(element.get("width", "0")) >= 66
    assert max(len(w) for w in BLOCK_WORDS) * 5.4 + 6 <= 66


def test_blocks_differ_without_colour() -> None:
    """Each state of a block has a word or a second frame of its own, not only a fill."""
    said = texts(picture.still(fault_trace("release-while-pinned")))
    assert {"free", "pinned", "in use!"} <= set(said)
    assert "ref 1!" in texts(picture.still(fault_trace("hit-without-reference")))


def test_show_makes_the_page_and_the_drawing(cli: Cli) -> None:
    page = cli("show", str(KEPT), "--format", "html")
    assert (page.code, page.out.startswith("<!doctype html>")) == (0, True)
    drawing = cli("show", str(KEPT), "--format", "svg")
    assert "⊘ guard ✗" in texts(drawing.out)


def test_a_story_has_a_picture_too(cli: Cli) -> None:
    path = next(p for p in story_files() if p.stem == "four-at-each-step")
    page = cli("show", str(path), "--format", "html")
    assert page.code == 0
    assert "decided anew at each step" in page.out
    assert "violated" not in cli("show", str(path), "--format", "svg").out


def test_a_run_for_ever_says_what_is_repeated(cli: Cli) -> None:
    pytest.importorskip("scipy", reason="scipy is not installed: pip install '.[liveness]'")
    assert cli("check", "scarce", "--policy", "static").code == 1
    still = cli("show", "schedproof-traces/scarce.static.liveness.leaves-early.itf.json", "--format", "svg")
    assert "stands still" in texts(still.out)
    assert cli("check", "scarce", "--policy", "any").code == 1
    drawn = cli("show", "schedproof-traces/scarce.any.liveness.submitted-finishes.itf.json", "--format", "svg").out
    assert texts(drawn).count("for ever") == 1
    assert "✗ violated" not in texts(drawn)


def test_a_rule_has_no_picture(cli: Cli) -> None:
    ran = cli("show", "release", "--format", "html")
    assert (ran.code, ran.out) == (2, "")
    assert ran.err == (
        "error: --format html is the picture of a trace or a story, or a small world to walk; "
        "give a file (check writes traces) or name a world.\n"
    )


def test_check_writes_the_picture_beside_the_trace(cli: Cli, tmp_path: Path) -> None:
    ran = cli("check", "solo", "--without", "notify.once")
    path = ran.line("picture:   ")
    assert path == "schedproof-traces/solo.without-notify.once.delivery.message-once.html"
    assert (tmp_path / path).read_text().startswith("<!doctype html>")
    assert len(list((tmp_path / "schedproof-traces").glob("*.html"))) == len(
        list((tmp_path / "schedproof-traces").glob("*.itf.json"))
    )


def test_a_picture_that_cannot_be_written_is_a_sentence(cli: Cli, tmp_path: Path) -> None:
    place = tmp_path / "schedproof-traces" / "solo.without-notify.once.delivery.message-once.html"
    place.mkdir(parents=True)
    ran = cli("check", "solo", "--without", "notify.once")
    assert ran.code == 2
    assert ran.err.endswith("(Is a directory); free that place.\n")


@pytest.mark.parametrize("name", ["release-while-pinned"])
def test_the_readme_has_the_picture_as_it_is_now(name: str) -> None:
    kept = Path(__file__).resolve().parents[2] / "docs" / "pictures" / f"{name}.svg"
    assert kept.read_text() == picture.still(fault_trace(name)) + "\n"
