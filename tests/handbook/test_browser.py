"""The handbook in a real browser: by keyboard and by pointer, without an error, and without a request that leaves it."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from checker.cli.main import run
from checker.report import picture
from model.lifecycle import LIFECYCLE
from model.markov import Chain, NotAProbability, probability
from specs.properties import PROPERTIES
from tests.handbook.conftest import ROOT
from tests.reference.traces import fault_trace

pytestmark = pytest.mark.browser

WIDE, PHONE = {"width": 1280, "height": 900}, {"width": 390, "height": 844}
LOOKED_AT = (
    *(
        "index",
        "boundaries",
        "window",
        "cancel",
        "promises",
        "induction",
        "engines",
        "markov",
        "rules",
        "worlds",
        "policies",
    ),
    *(
        "rules/release",
        "properties/ownership.keeps",
        "properties/liveness.submitted-finishes",
        "faults/retire-stale-token",
    ),
)


class Opened:
    """A page with what went wrong in it."""

    def __init__(self, page: Any, site: Path) -> None:
        self.page, self.site = page, site
        self.errors: list[str] = []
        self.requests: list[str] = []
        page.on("console", lambda m: self.errors.append(m.text) if m.type in ("error", "warning") else None)
        page.on("pageerror", lambda e: self.errors.append(str(e)))
        page.on("request", lambda r: self.requests.append(r.url))

    def open(self, name: str) -> Any:
        self.page.goto(f"{self.site.as_uri()}/{name}.html")
        return self.page

    def leaving(self) -> list[str]:
        return [url for url in self.requests if not url.startswith(self.site.as_uri())]


@pytest.fixture(params=[WIDE, PHONE], ids=["wide", "phone"])
def opened(request: pytest.FixtureRequest, browser: Any, site: Path) -> Iterator[Opened]:
    context = browser.new_context(viewport=request.param)
    found = Opened(context.new_page(), site)
    yield found
    context.close()
    assert found.errors == []
    assert found.leaving() == []


def removed(page: Any, guard: str) -> Any:
    """Take a guard away on its card; the figure that appears."""
    card = page.locator(f"#{guard.replace('.', '-')}")
    card.locator("summary", has_text="Remove it").click()
    figure = card.locator("figure")
    figure.wait_for(state="visible")
    return figure


# --------------------------------------------------------------------------------------------- the stepper
def test_a_guard_is_removed_and_its_run_stepped_by_keyboard(opened: Opened) -> None:
    page = opened.open("rules/release")
    assert not page.locator("#release-unpinned figure").is_visible()
    figure = removed(page, "release.unpinned")
    assert figure.locator("output").inner_text() == "step 7 of 7"
    figure.locator(".scroll").focus()
    page.keyboard.press("ArrowLeft")
    assert figure.locator("output").inner_text() == "step 6 of 7"
    current = figure.locator("li[aria-current]")
    assert "preempt(r0)" in current.inner_text()
    assert "RUNNING → PREEMPTED" in current.inner_text()
    page.keyboard.press("Home")
    assert "Start." in current.inner_text()
    page.keyboard.press("ArrowLeft")
    assert figure.locator("output").inner_text() == "step 0 of 7"
    page.keyboard.press("End")
    assert "Here the unchanged rules part from this run." in current.inner_text()
    assert "The guard that would have stopped it: release.unpinned" in figure.inner_text()


def test_a_run_is_stepped_by_its_buttons(opened: Opened) -> None:
    page = opened.open("faults/notify-twice")
    back, following = (page.get_by_role("button", name=name, exact=True) for name in ("back", "next"))
    assert following.is_disabled()
    back.click()
    assert following.is_enabled()
    assert page.locator("figure output").inner_text() == "step 4 of 5"


def test_the_arrows_step_the_picture_in_sight(opened: Opened) -> None:
    """Without a click before; and none that is folded."""
    page = opened.open("faults/notify-twice")
    page.keyboard.press("ArrowLeft")
    assert page.locator("figure output").inner_text() == "step 4 of 5"
    page.keyboard.press("ArrowRight")
    assert page.locator("figure output").inner_text() == "step 5 of 5"
    page = opened.open("rules/release")
    page.keyboard.press("ArrowLeft")
    figure = removed(page, "release.unpinned")
    assert figure.locator("output").inner_text() == "step 7 of 7"
    figure.scroll_into_view_if_needed()
    page.evaluate("document.activeElement.blur()")
    page.keyboard.press("ArrowLeft")
    assert figure.locator("output").inner_text() == "step 6 of 7"


def test_the_cursor_is_on_the_step_and_the_veil_on_what_is_to_come(opened: Opened) -> None:
    page = opened.open("faults/notify-twice")
    page.locator("figure .scroll").focus()
    page.keyboard.press("Home")
    places = [float(x) for x in page.locator("svg.sp[data-x]").get_attribute("data-x").split(",")]
    cursor, veil = page.locator(".cursor"), page.locator(".veil")
    assert float(cursor.get_attribute("x")) == places[0]
    assert float(veil.get_attribute("x")) == places[1]
    assert float(veil.get_attribute("width")) == pytest.approx(places[-1] - places[1])


def test_a_run_that_goes_on_for_ever_comes_round(opened: Opened) -> None:
    page = opened.open("properties/liveness.submitted-finishes")
    output, current = page.locator("figure output"), page.locator("li[aria-current]")
    assert output.inner_text() == "step 9 of 9"
    assert "All is as it was after step 4, and step 5 comes again." in current.inner_text()
    page.locator("figure .scroll").focus()
    page.keyboard.press("ArrowRight")
    assert output.inner_text() == "step 5 of 9"
    assert "This and what follows is repeated for ever." in current.inner_text()
    page.keyboard.press("ArrowLeft")
    assert output.inner_text() == "step 4 of 9"


def test_the_names_of_rows_stay_in_sight(opened: Opened) -> None:
    page = opened.open("boundaries")
    scroll = page.locator("figure .scroll").first
    scroll.evaluate("element => { element.scrollLeft = 300 }")
    page.wait_for_timeout(100)
    left = scroll.evaluate(
        "e => e.querySelector('.labels').getBoundingClientRect().left - e.getBoundingClientRect().left"
    )
    assert abs(left) < 10


def test_from_a_step_to_the_rules_card_and_its_guard(opened: Opened) -> None:
    page = opened.open("faults/release-while-pinned")
    page.locator(".stopped a").first.click()
    assert page.url.endswith("rules/release.html#release-unpinned")
    assert page.locator("h1").inner_text() == "release"


# ------------------------------------------------------------------------------------------- the Markov lab
def chain(page: Any, name: str) -> Any:
    return page.locator(f'[data-chain="{name}"]')


def test_four_steps_of_one_half_are_one_sixteenth(opened: Opened) -> None:
    page = opened.open("markov")
    lab = chain(page, "A")
    lab.get_by_label("p, from 0 to 1").fill("0.5")
    lab.get_by_label("my prediction").fill("1/16")
    for _ in range(4):
        lab.get_by_role("button", name="Step").click()
    assert lab.locator('[data-out="pending"]').inner_text() == "1/16"
    assert lab.locator('[data-out="terminal"]').inner_text() == "15/16"
    assert lab.locator('[data-out="compared"]').inner_text() == "Your prediction 1/16 is exactly right."
    assert lab.locator('[data-out="formula"]').inner_text() == "pending(n) = (1/2)^n"
    assert "absorbing" in lab.locator('[data-out="absorbing"]').inner_text()


def test_two_chains_side_by_side(opened: Opened) -> None:
    page = opened.open("markov")
    for name in ("A", "B"):
        for _ in range(4):
            chain(page, name).get_by_role("button", name="Step").click()
    read = [chain(page, name).locator('[data-out="pending"]').inner_text() for name in ("A", "B")]
    assert read == ["1/16", "81/256"]
    chain(page, "A").get_by_role("button", name="Reset").click()
    read = [chain(page, name).locator('[data-out="pending"]').inner_text() for name in ("A", "B")]
    assert read == ["1", "81/256"]


@pytest.mark.parametrize("text", ["1.5", "-1/2", "1/0", "half", "", "1e-3", "0.1234567890123", " 1/2 ", "1/-2", ".25"])
def test_the_page_reads_numbers_as_the_command_does(opened: Opened, text: str) -> None:
    page = opened.open("markov")
    lab = chain(page, "A")
    lab.get_by_label("p, from 0 to 1").fill(text)
    try:
        probability(text)
        said = ""
    except NotAProbability as error:
        said = str(error)
    assert page.locator("#peA").inner_text() == said
    assert lab.get_by_role("button", name="Step").is_disabled() == bool(said)


@pytest.mark.parametrize(
    ("p", "q"), [("1/3", "1/4"), ("0", "0"), ("1", "1"), ("0.3", "1/7"), ("1/2", "1/2"), ("0", "1/5")]
)
def test_the_page_steps_as_the_model_does(opened: Opened, p: str, q: str) -> None:
    page = opened.open("markov")
    lab = chain(page, "B")
    lab.get_by_label("p, from 0 to 1").fill(p)
    lab.get_by_label("q, from 1 to 0").fill(q)
    for _ in range(6):
        lab.get_by_role("button", name="Step").click()
    model = Chain(probability(p), probability(q))
    assert lab.locator('[data-out="history"] li').all_inner_texts() == [str(x) for x in model.run(6)]
    assert lab.locator('[data-out="formula"]').inner_text() == model.formula
    absorbing = "stays ended" in lab.locator('[data-out="absorbing"]').inner_text()
    assert absorbing == model.absorbing


# ------------------------------------------------------------------------------------------- the state graph
def test_a_walk_through_the_life_of_a_request(opened: Opened) -> None:
    page = opened.open("boundaries")
    walk = page.locator("[data-walk]")
    here = walk.locator(".here")
    assert here.inner_text().startswith("State 1 of 354, after 0 events.")
    events = ["submit(r0)", "admit(r0)", "acquire(r0, b0)", "select(r0, 1)", "launch(s0)", "execute(s0, w0)"]
    for event in events:
        walk.get_by_role("button", name=event, exact=True).click()
    assert "after 6 events" in here.inner_text()
    assert "s0: executed; r0 live, 1 token(s), samples" in walk.inner_text()
    walk.get_by_role("button", name="retire_length(r0)", exact=True).click()
    assert "Reason: length." in walk.inner_text()
    assert "b0: r0 (1)" in walk.inner_text()
    walk.get_by_role("button", name="Back", exact=True).click()
    assert "after 6 events" in here.inner_text()
    walk.get_by_role("button", name="Start again").click()
    assert here.inner_text().startswith("State 1 of 354, after 0 events.")


def test_a_walk_says_which_guard_refuses(opened: Opened) -> None:
    page = opened.open("cancel")
    walk = page.locator("[data-walk]")
    for event in ("submit(r0)", "admit(r0)", "acquire(r0, b0)", "select(r0, 1)", "launch(s0)", "preempt(r0)"):
        walk.get_by_role("button", name=event, exact=True).click()
    walk.locator("details.refused summary").click()
    assert "release(r0): release.unpinned" in walk.locator("details.refused").inner_text()
    names = {g.split(".")[0] for g in re.findall(r": (\w+\.[\w-]+)", walk.locator("details.refused").inner_text())}
    assert names <= {r.name for r in LIFECYCLE.rules}
    walk.get_by_role("link", name="release.unpinned").click()
    assert page.url.endswith("rules/release.html#release-unpinned")


def test_a_walk_is_walked_by_keyboard(opened: Opened) -> None:
    page = opened.open("boundaries")
    walk = page.locator("[data-walk]")
    walk.get_by_role("button", name="submit(r0)", exact=True).focus()
    page.keyboard.press("Enter")
    assert "after 1 event." in walk.locator(".here").inner_text()
    assert page.evaluate("document.activeElement.className") == "here"
    page.keyboard.press("Tab")
    page.keyboard.press("Enter")
    assert "after 2 events." in walk.locator(".here").inner_text()


# -------------------------------------------------------------------------------------------- the exercises
def test_a_counterexample_to_induction_is_repaired_by_hand(opened: Opened) -> None:
    page = opened.open("induction")
    first = page.locator("[data-induction]").first
    first.get_by_role("button", name="delivery.prefix", exact=True).click()
    assert "holds in this state too, so the step remains." in first.inner_text()
    first.get_by_role("button", name="eligibility.live-is-running", exact=True).click()
    assert "rules it out" in first.locator(".said:visible").inner_text()
    assert first.locator(".said:visible").count() == 1


def test_an_exercise_is_checked(opened: Opened) -> None:
    page = opened.open("three-endings")
    exercise = page.locator(".exercise").first
    assert not exercise.locator("pre").is_visible()
    exercise.locator("summary").click()
    assert "deliver.undelivered" in exercise.locator("pre").inner_text()


# ----------------------------------------------------------------------------------------------- the whole
def unfold(page: Any) -> None:
    page.evaluate("document.querySelectorAll('details').forEach(d => { d.open = true })")


def violations(page: Any, axe: str) -> dict[str, Any]:
    """What axe-core finds wrong, with the first places."""
    page.evaluate(axe)
    result = page.evaluate("axe.run(document, {resultTypes: ['violations'], preload: false})")
    return {v["id"]: [n["target"] for n in v["nodes"]][:3] for v in result["violations"]}


def too_wide(page: Any) -> int:
    """By how many pixels the page is wider than its window."""
    found: int = page.evaluate("document.documentElement.scrollWidth - document.documentElement.clientWidth")
    return found


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("name", LOOKED_AT)
def test_it_is_accessible(opened: Opened, axe: str, name: str, scheme: str) -> None:
    opened.page.emulate_media(color_scheme=scheme)
    page = opened.open(name)
    unfold(page)
    assert violations(page, axe) == {}


@pytest.mark.parametrize("name", LOOKED_AT)
def test_no_page_is_wider_than_its_window(opened: Opened, name: str) -> None:
    page = opened.open(name)
    unfold(page)
    assert too_wide(page) <= 0


@pytest.mark.parametrize("name", LOOKED_AT)
def test_screenshots_to_look_at(opened: Opened, name: str) -> None:
    """Kept in .browser/screenshots/ for people; what a machine can see of them is that something is there."""
    page = opened.open(name)
    wide = page.viewport_size["width"]
    path = ROOT / ".browser" / "screenshots" / f"{name.replace('/', '-')}-{wide}.png"
    page.screenshot(path=path, full_page=True)
    assert path.stat().st_size > 10_000


def test_it_can_be_printed(opened: Opened) -> None:
    """On paper every step is listed, and nothing is left to press."""
    opened.page.emulate_media(media="print")
    page = opened.open("faults/notify-twice")
    assert page.locator("ol.steps > li:visible").count() == 6
    marked = page.locator("ol.steps > li").evaluate_all("items => items.map((i) => getComputedStyle(i).display)")
    assert set(marked) == {"list-item"}
    assert page.locator(".controls:visible").count() == 0


def test_what_is_folded_is_printed_too(opened: Opened) -> None:
    page = opened.open("three-endings")
    answers = page.locator(".exercise pre")
    assert answers.evaluate_all("all => all.map((a) => a.checkVisibility())") == [False, False]
    page.evaluate("dispatchEvent(new Event('beforeprint'))")
    assert answers.evaluate_all("all => all.map((a) => a.checkVisibility())") == [True, True]
    page.evaluate("dispatchEvent(new Event('afterprint'))")
    assert answers.evaluate_all("all => all.map((a) => a.checkVisibility())") == [False, False]


def test_without_javascript_everything_can_be_read(browser: Any, site: Path) -> None:
    context = browser.new_context(java_script_enabled=False)
    page = context.new_page()
    page.goto(f"{site.as_uri()}/faults/notify-twice.html")
    assert page.locator("ol.steps > li:visible").count() == 6
    assert page.locator("svg.sp[data-x]").is_visible()
    context.close()


def alone(browser: Any, place: Path, width: dict[str, int]) -> Opened:
    return Opened(browser.new_context(viewport=width).new_page(), place)


@pytest.mark.parametrize("size", [WIDE, PHONE], ids=["wide", "phone"])
def test_the_page_that_check_writes_steps_by_itself(
    browser: Any, axe: str, tmp_path: Path, size: dict[str, int]
) -> None:
    picture.save(fault_trace("release-while-pinned"), PROPERTIES, tmp_path / "one.html")
    opened = alone(browser, tmp_path, size)
    page = opened.open("one")
    page.locator(".scroll").focus()
    page.keyboard.press("ArrowLeft")
    assert page.locator("output").inner_text() == "step 6 of 7"
    page.locator(".stopped a").first.click()
    assert page.url.endswith("one.html#release-unpinned")
    assert "refuses step 7 of this run" in page.locator("#release-unpinned").inner_text()
    assert violations(page, axe) == {}
    assert too_wide(page) <= 0
    assert (opened.errors, opened.leaving()) == ([], [])
    page.context.close()


@pytest.mark.parametrize("size", [WIDE, PHONE], ids=["wide", "phone"])
def test_a_world_is_walked_on_a_page_of_its_own(
    browser: Any, axe: str, tmp_path: Path, capsys: pytest.CaptureFixture[str], size: dict[str, int]
) -> None:
    assert run(["show", "solo", "--format", "html"]).value == 0
    (tmp_path / "solo.html").write_text(capsys.readouterr().out)
    opened = alone(browser, tmp_path, size)
    page = opened.open("solo")
    for event in ("submit(r0)", "admit(r0)"):
        page.get_by_role("button", name=event, exact=True).click()
    assert "after 2 events" in page.locator(".here").inner_text()
    page.locator("details.refused summary").click()
    assert "select(r0, 1): select.covered, which asks that" in page.locator("details.refused").inner_text()
    assert page.locator("details.refused a").count() == 0
    assert violations(page, axe) == {}
    assert too_wide(page) <= 0
    assert (opened.errors, opened.leaving()) == ([], [])
    page.context.close()
