"""Every equation that is drawn is worked out again from the digits that are printed."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page

import model
from app.chapters import CHAPTERS
from app.engine import LocalEngine
from app.session import Runs
from model import smollm2
from tests.app.equations import READ, Equation, equations
from tests.app.looking import run, settled, walk
from tests.one_of import one_of
from tests.page import leave, open_page
from tests.plain import plain_site

FORMULAS = ("norm", "position", "attend", "ffn", "choice")
PLACES = ((0, 0, 0), (1, 1, 1))
SENTENCES = {
    "bundled": (
        "Tom is in the kitchen. Lily is in the garden. Tom is in the",
        "Tom is in the kitchen. Lily is in the garden. Lily is in the",
        "Tom is in the kitchen. Lily is in the garden. She is in the",
        "The dog plays in the yard. The cat",
        "Lily has a red ball. Tom has a blue ball. Lily has a",
    ),
    "smollm2": (
        "The capital of France is",
        "The capital of Spain is",
        "When Mary and John went to the store, John gave a drink to",
        "The war lasted from the year 1732 to the year 17",
        "The keys to the cabinet",
    ),
}
CHINESE = "汤姆在厨房里。莉莉在花园里。汤姆在"
# Of the draw, a token that goes through every step.
WORKED = """() => {
  document.querySelector("[data-kind=sampling] [data-rank='0'][data-stage=topP]")?.click();
  for (const one of document.querySelectorAll("[data-kind=sampling] button"))
    if (one.textContent === glass.text("sampling.lively")) one.click();
}"""
OPEN_ALL = "() => { for (const one of document.querySelectorAll('main details, section details')) one.open = true; }"


def read(page: Page) -> list[Equation]:
    """The equations of what is drawn, also of what a press opens."""
    page.evaluate(OPEN_ALL)
    settled(page)
    return equations(page.evaluate(READ))


def in_chapter(page: Page, chapter: str) -> list[Equation]:
    """A chapter's equations, at several places of the run."""
    found = []
    for layer, head, key in PLACES:
        page.evaluate("(place) => glass.select(place)", {"layer": layer, "head": head, "key": key})
        walk(page, [chapter])
        page.evaluate(WORKED)
        found += read(page)
    return found


def in_story(page: Page) -> list[Equation]:
    """The equations of every scene; a scene that is far away is not drawn."""
    found = []
    for scene in page.locator("[data-scene]").all():
        if scene.is_visible():
            scene.scroll_into_view_if_needed()
            found += read(page)
    return found


def beside(page: Page, first: str, second: str) -> None:
    """Two runs, and what the second has more than the first."""
    run(page, first)
    page.evaluate("glass.keep(glass.state.trace)")
    run(page, second)
    page.evaluate("glass.showSide('B-A')")
    settled(page)


def told(found: list[Equation]) -> list[tuple[str, str, float]]:
    """Those that do not come out, and what they come to."""
    return [(one.place, one.text, one.left) for one in dict.fromkeys(found) if not one.holds]


@pytest.mark.parametrize("chapter", one_of([*FORMULAS, *(name for name in CHAPTERS if name not in FORMULAS)]))
def test_printed_operands_give_the_printed_result(browser: Browser, panels_alone: str, chapter: str) -> None:
    page = open_page(browser, panels_alone)
    assert not told(in_chapter(page, chapter))
    if chapter != "choice":  # what the stand-in chooses may be a control character, which no prompt may have
        beside(page, "The cat sat on the mat.", "The dog sat on the mat.")
        assert not told(in_chapter(page, chapter))
    leave(page)


def test_equations_of_scenes_come_out(browser: Browser, panels_alone: str) -> None:
    page = open_page(browser, panels_alone, story=True)
    found = in_story(page)
    assert found
    assert not told(found)
    leave(page)


@contextmanager
def serving(path: Path | None) -> Iterator[str]:
    """The address of a page over trained weights: the bundled model's, or those of a file."""
    lm = model.load(path, device="cpu") if path else model.load(device="cpu")
    with plain_site(LocalEngine([lm]), Runs()) as address:
        yield address


@pytest.fixture(scope="module", params=SENTENCES)
def trained(request: pytest.FixtureRequest) -> Iterator[tuple[str, tuple[str, ...]]]:
    """A page over trained weights, and sentences for them."""
    path = smollm2.WEIGHTS if request.param == "smollm2" else None
    if path and not path.exists():
        pytest.skip(f"{path} is not there")
    with serving(path) as address:
        yield address, SENTENCES[request.param]


@pytest.mark.thorough
def test_scenes_of_trained_models_come_out(browser: Browser, trained: tuple[str, tuple[str, ...]]) -> None:
    address, sentences = trained
    page = open_page(browser, address, story=True)
    found = []
    for sentence in sentences:
        run(page, sentence)
        found += in_story(page)
    print(f"{len(set(found))} equations")
    assert not told(found)
    leave(page)


@pytest.mark.thorough
@pytest.mark.parametrize("chapter", CHAPTERS)
def test_panels_of_trained_models_come_out(
    browser: Browser, trained: tuple[str, tuple[str, ...]], chapter: str
) -> None:
    address, sentences = trained
    page = open_page(browser, address)
    found = []
    for sentence in sentences:
        run(page, sentence)
        found += in_chapter(page, chapter)
    beside(page, *sentences[:2])
    found += in_chapter(page, chapter)
    print(f"{len(set(found))} equations")
    assert not told(found)
    leave(page)


@pytest.mark.thorough
def test_equations_come_out_in_chinese(browser: Browser) -> None:
    with serving(None) as address:
        page = open_page(browser, f"{address}#lang=zh", story=True)
        run(page, CHINESE)
        found = in_story(page)
        leave(page)
        page = open_page(browser, f"{address}#lang=zh")
        run(page, CHINESE)
        for chapter in CHAPTERS:
            found += in_chapter(page, chapter)
        leave(page)
    print(f"{len(set(found))} equations")
    assert not told(found)
