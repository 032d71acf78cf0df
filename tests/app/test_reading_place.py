"""What a reader has before them stays there: over a turn of the phone, on a way back after it, and as a finger scrolls
through a story whose scenes are still to be drawn."""

from urllib.parse import quote

import pytest
from playwright.sync_api import Browser, Page

from app.texts import LANGUAGES
from tests.app.looking import settled
from tests.page import leave, new_page, wait_for_run, watched

UPRIGHT, LYING = (390, 844), (844, 390)
# The element that is read, and where it stands: of the window's height, from its top.
MARK = """() => {
  const read = (one) => one.closest(".page-body p, .page-body h3, .page-body tr, .page-story :is(p, h2)");
  const found = document.elementsFromPoint(innerWidth / 2, 0.36 * innerHeight).map(read).find(Boolean);
  if (!found) return null;
  found.dataset.read = "here";
  return found.textContent;
}"""
STANDS = """() => {
  const { top, bottom } = document.querySelector("[data-read]").getBoundingClientRect();
  const line = 0.36 * innerHeight;
  return top - 2 <= line && line <= bottom + 2;
}"""


def phone(screen: Browser, address: str, link: str, story: bool = False) -> Page:
    page = new_page(screen, address, *UPRIGHT, story=story, has_touch=True, is_mobile=True)
    page.goto(f"{address}#{link}")
    wait_for_run(page)
    settled(page)
    return page


def read_on(page: Page, by: int) -> None:
    """Scrolls until some text of its own stands at the line."""
    page.evaluate("(by) => scrollBy({ top: by, behavior: 'instant' })", by)
    settled(page)
    for _ in range(60):
        if page.evaluate(MARK):
            break
        page.evaluate("scrollBy({ top: 12, behavior: 'instant' })")
    else:
        raise AssertionError("nothing is read here")
    page.wait_for_timeout(400)  # the page has seen where it was scrolled to


def turn(page: Page, to: tuple[int, int]) -> None:
    page.set_viewport_size({"width": to[0], "height": to[1]})
    settled(page)
    page.wait_for_timeout(300)


@pytest.mark.parametrize(("link", "by"), [("chapter=kv", 2500), ("chapter=norm", 1400), ("chapter=story", 2600)])
def test_a_phone_that_is_turned_keeps_what_is_read(screen: Browser, panels_alone: str, link: str, by: int) -> None:
    page = phone(screen, panels_alone, link, story="story" in link)
    with watched(page):
        read_on(page, by)
        before = page.evaluate("scrollY")
        turn(page, LYING)
        assert page.evaluate(STANDS)
        turn(page, UPRIGHT)
        assert page.evaluate(STANDS)
        assert page.evaluate("scrollY") == pytest.approx(before, abs=3)
    leave(page)


def test_a_way_back_after_a_turn_leads_to_what_was_read(screen: Browser, panels_alone: str) -> None:
    page = phone(screen, panels_alone, "chapter=story", story=True)
    with watched(page):
        page.locator("[data-scene=norm]").scroll_into_view_if_needed()
        page.locator("[data-scene=norm][data-value] .st-more").scroll_into_view_if_needed()
        read_on(page, -40)
        page.evaluate("document.querySelector('[data-scene=norm] .st-more').click()")
        page.wait_for_function("glass.state.chapter === 'norm'")
        settled(page)
        turn(page, LYING)
        page.locator(".page-back button").first.tap()
        page.wait_for_function("glass.state.chapter === 'story'")
        settled(page)
        page.wait_for_timeout(300)
        assert page.evaluate(STANDS)
    leave(page)


def swipe(page: Page, by: int) -> None:
    """A finger that drags the page up and rests before it is lifted, so that the page does not run on."""
    send = page.context.new_cdp_session(page).send
    x, y, steps = 195, 760, 12
    send("Input.dispatchTouchEvent", {"type": "touchStart", "touchPoints": [{"x": x, "y": y}]})
    for step in range(1, steps + 1):
        send("Input.dispatchTouchEvent", {"type": "touchMove", "touchPoints": [{"x": x, "y": y - by * step / steps}]})
        page.wait_for_timeout(16)
    page.wait_for_timeout(250)
    send("Input.dispatchTouchEvent", {"type": "touchEnd", "touchPoints": []})


# How tall the page is, how far it is scrolled, and where on it each scene begins.
LAID = """() => ({
  tall: document.documentElement.scrollHeight,
  y: scrollY,
  tops: Object.fromEntries([...document.querySelectorAll(".st-scene:not([hidden])")].map((one) =>
    [one.dataset.scene, one.getBoundingClientRect().top + scrollY])),
})"""


@pytest.mark.parametrize("language", LANGUAGES)
def test_a_swipe_through_the_story_moves_the_page_by_itself_alone(screen: Browser, bundled: str, language: str) -> None:
    page = phone(screen, bundled, f"lang={language}&chapter=story", story=True)
    with watched(page):
        page.locator("[data-scene=match]:not([hidden])").or_(page.locator("[data-scene=looks]")).first.wait_for()
        first = before = page.evaluate(LAID)
        for _ in range(40):
            swipe(page, 620)
            now = page.evaluate(LAID)
            read = [name for name, top in before["tops"].items() if top < before["y"] + 0.36 * 844]
            for name in read:  # nothing of what is read, or was, has gone elsewhere
                assert now["tops"][name] == pytest.approx(before["tops"][name], abs=30), name
            assert now["y"] - before["y"] <= 620 + 30
            if now["y"] == before["y"]:
                break
            before = now
        settled(page)
        last = page.evaluate(LAID)
        # which one of two words a head looks at is told where one does, and that is measured on the way
        match = 0 if "match" in first["tops"] else last["tops"]["rope"] - last["tops"]["match"]
        assert last["tall"] - match == pytest.approx(first["tall"], rel=0.03)
        assert last["y"] + 844 == pytest.approx(last["tall"], abs=3)
    leave(page)


def test_another_width_without_a_scroll_leaves_the_page_at_its_top(screen: Browser, panels_alone: str) -> None:
    page = phone(screen, panels_alone, f"prompt={quote('Tom is in the')}", story=True)
    with watched(page):
        turn(page, LYING)
        assert page.evaluate("scrollY") == 0
    leave(page)
