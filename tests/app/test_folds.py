"""The fold of a chapter: what lies in it costs nothing, opens by mouse, key, link and whatever points into it, and is
remembered."""

import pytest
from playwright.sync_api import Browser, Locator, Page, expect

from app.chapters import CHAPTERS, ON_DEMAND
from app.texts import text
from tests.app.looking import faults, in_each_language, questions, settled
from tests.page import leave, listen, new_page, open_page, wait_for_run
from tests.screenshots import heights

FOLD = ".page-fold"
SCREENS = 30  # of 1280 × 720, all chapters as they open


@pytest.fixture(name="address")
def of_panels(panels_alone: str) -> str:
    return panels_alone


def panel(page: Page, kind: str) -> Locator:
    return page.locator(f"section.glass-panel[data-kind={kind}]")


def opened(browser: Browser, address: str, chapter: str, more: str = "") -> Page:
    page = open_page(browser, f"{address}#lang=en&chapter={chapter}{more}", folded=True)
    settled(page)
    return page


def is_open(page: Page) -> bool:
    return page.locator(FOLD).get_attribute("aria-expanded") == "true"


def stands_on_top(page: Page, kind: str) -> None:
    """The panel is there, and scrolled to."""
    expect(panel(page, kind)).to_be_visible()
    settled(page)
    top = panel(page, kind).evaluate("(one) => one.getBoundingClientRect().top")
    assert -5 < top < 360, f"{kind} begins at {top}"


@pytest.mark.thorough
def test_a_chapter_shows_its_main_panels_and_one_sentence(browser: Browser, address: str) -> None:
    page = opened(browser, address, "glance")
    assert len(CHAPTERS["glance"]) - len(ON_DEMAND["glance"]) <= 3
    for chapter, kinds in CHAPTERS.items():
        page.evaluate("(name) => glass.open(name)", chapter)
        settled(page)
        for kind in ON_DEMAND[chapter]:
            expect(panel(page, kind)).to_be_hidden()
        if not ON_DEMAND[chapter]:
            expect(page.locator(FOLD)).to_be_hidden()
            continue
        for language in in_each_language(page):
            expect(page.locator(FOLD)).to_have_text(text(f"fold.{chapter}", language))
        assert not is_open(page)
        order = page.evaluate(
            "[...document.querySelectorAll('.page-grid > *')].filter((one) => one.getClientRects().length)"
            ".map((one) => one.dataset.kind ?? 'fold')"
        )
        assert order[-1] == "fold"
        page.click(FOLD)
        settled(page)
        order = page.evaluate("[...document.querySelectorAll('.page-grid > *')].map((one) => one.dataset.kind)")
        assert order[-len(ON_DEMAND[chapter]) :] == list(ON_DEMAND[chapter])  # and before them the fold
        assert order[-len(ON_DEMAND[chapter]) - 1] is None
        assert {kind for kind in kinds if kind != "why"} <= set(order)
    leave(page)


def test_what_is_folded_costs_nothing(browser: Browser, address: str) -> None:
    page = new_page(browser, address, folded=True)
    fetched: list[str] = []
    listen(page, "request", lambda request: fetched.append(request.url.rsplit("/", 1)[-1]))
    page.goto(f"{address}#lang=en&chapter=attend")
    wait_for_run(page)
    settled(page)
    assert "cell.js" in fetched
    assert not {f"{kind}.js" for kind in ON_DEMAND["attend"]} & set(fetched)
    for kind in ON_DEMAND["attend"]:
        assert panel(page, kind).evaluate("(one) => one.childElementCount") == 0
    page.click(FOLD)
    settled(page)
    assert {f"{kind}.js" for kind in ON_DEMAND["attend"]} <= set(fetched)
    page.click(FOLD)
    settled(page)
    asked = questions(page)
    page.evaluate("glass.select({ query: 1, key: 0 })")
    settled(page)
    assert not [one for one in asked if "score_terms" in one or "projection" in one]
    leave(page)


@pytest.mark.thorough
def test_keys_open_it_and_this_browser_remembers(browser: Browser, address: str) -> None:
    page = opened(browser, address, "norm")
    assert not faults(page)
    page.focus(FOLD)
    page.keyboard.press("Enter")
    expect(panel(page, "norm-scale")).to_be_visible()
    settled(page)
    assert is_open(page)
    assert page.evaluate("document.activeElement.matches('.page-fold')")
    assert panel(page, "norm-scale").get_attribute("data-value")
    assert not faults(page)
    page.wait_for_function("location.hash.includes('fold.norm=open')")
    page.goto("about:blank")
    page.goto(f"{address}#lang=en&chapter=norm")
    wait_for_run(page)
    expect(panel(page, "norm-scale")).to_be_visible()
    page.click(FOLD)
    expect(panel(page, "norm-scale")).to_be_hidden()
    page.goto("about:blank")
    page.goto(f"{address}#lang=en&chapter=norm")
    wait_for_run(page)
    expect(panel(page, "norm-scale")).to_be_hidden()
    leave(page)


@pytest.mark.parametrize(
    ("chapter", "more", "kind"),
    [
        ("attend", "&panel=arcs", "arcs"),
        ("position", "&rope.factor=8", "rope-scaling"),
        ("choice", "&contributions.versus=second", "contributions"),
    ],
)
def test_a_link_opens_it(browser: Browser, address: str, chapter: str, more: str, kind: str) -> None:
    page = opened(browser, address, chapter, more)
    stands_on_top(page, kind)
    assert is_open(page)
    assert page.evaluate("localStorage['glass.folds'] ?? ''") == ""  # the page's doing, not the reader's
    leave(page)


def test_whatever_points_into_it_opens_it(browser: Browser, address: str) -> None:
    page = opened(browser, address, "glance")
    page.evaluate("glass.open('story')")
    page.evaluate("async () => (await import('/glass/panels/glance/words.js')).leadTo(glass, 'attend', 'score-terms')")
    stands_on_top(page, "score-terms")
    page.evaluate("glass.open('overview')")
    settled(page)
    assert not is_open(page)  # each chapter has its own
    leave(page)


def test_a_lesson_leads_into_it(browser: Browser, address: str) -> None:
    page = opened(browser, address, "glance")
    page.evaluate("glass.present('arcs')")
    expect(panel(page, "arcs")).to_be_visible()
    expect(page.locator(FOLD)).to_be_hidden()
    page.evaluate("glass.present(null)")
    leave(page)


@pytest.mark.thorough
@pytest.mark.gradio
def test_the_workbench_is_no_longer_than_a_reader_has_patience_for(browser: Browser, site: str) -> None:
    found = heights(browser, site)
    assert set(found) == set(CHAPTERS)
    assert sum(found.values()) <= SCREENS, found
