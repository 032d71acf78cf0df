"""Nothing moves from under the pointer, however the texts above it change with what it previews."""

from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, Page

from app.chapters import CHAPTERS
from tests.app.looking import run, settled
from tests.one_of import one_of
from tests.page import leave, open_page

PROMPT = "The dog plays in the yard. 猫在沙发上"
# Of each panel what is pointed at, part by part; what it reads stands above it, or in a panel above.
POINTED = {"overview": ".ov-name", "rope-score": "canvas >> nth=0", "ffn-token": ".gp-list tbody tr:visible"}


@pytest.fixture(scope="module")
def narrow(browser: Browser, panels_alone: str) -> Iterator[Page]:
    page = open_page(browser, f"{panels_alone}#lang=en", width=800, height=900)
    run(page, PROMPT)
    yield page
    leave(page)


def swept(page: Page, kind: str) -> list[tuple[float, float, str]]:
    """Where on the page a part lies, how high the panel is, and what it reads, with the pointer all over the parts."""
    seen = []
    first = page.locator(f"section[data-kind='{kind}'] {POINTED[kind]}").first
    first.wait_for()
    for part in page.locator(f"section[data-kind='{kind}'] {POINTED[kind]}").all()[:16]:
        part.scroll_into_view_if_needed()
        box = part.bounding_box()
        assert box
        for across in (0.05, 0.3, 0.6, 0.9) if kind == "rope-score" else (0.3,):  # elsewhere a part is one place
            page.mouse.move(box["x"] + across * box["width"], box["y"] + 0.2 * box["height"])
            settled(page)
            place = first.evaluate(
                "(e) => { const at = e.closest('section'); const { height } = at.getBoundingClientRect();"
                " return [e.getBoundingClientRect().top + scrollY, height, at.dataset.value]; }"
            )
            seen.append(tuple(place))
    return seen


@pytest.mark.parametrize("kind", one_of(POINTED))
def test_what_is_pointed_at_lies_still(narrow: Page, kind: str) -> None:
    chapter = next(name for name, kinds in CHAPTERS.items() if kind in kinds)
    narrow.mouse.move(1, 1)
    narrow.evaluate("(chapter) => glass.open(chapter)", chapter)
    settled(narrow)
    places = swept(narrow, kind)
    for _ in range(2):  # what is told at its longest has its place after the first time, on a busy machine the second
        if len({(top, height) for top, height, _ in places}) > 1:
            places = swept(narrow, kind)
    assert len({value for *_, value in places}) > 1, "the pointer previews nothing here"
    assert len({top for top, *_ in places}) == 1, places
    assert len({height for _, height, _ in places}) == 1, places


def test_a_key_lets_the_texts_be_as_short_as_they_are(narrow: Page) -> None:
    held = "document.querySelectorAll('.glass-panel [style*=min-height]').length"
    narrow.set_viewport_size({"width": 800, "height": 900})
    narrow.evaluate("glass.open('overview')")
    narrow.locator("[data-row=attn_norm] .ov-name").hover()
    settled(narrow)
    assert narrow.evaluate(held) > 0
    narrow.set_viewport_size({"width": 760, "height": 900})  # with other lines the heights are held that these have
    settled(narrow)
    narrow.locator("[data-row=ffn_norm] .ov-name").hover()
    settled(narrow)
    assert narrow.evaluate(held) > 0
    narrow.keyboard.press("Escape")
    assert narrow.evaluate(held) == 0
