"""The ways back: from where a number led, from an explanation; and where a run opens."""

from collections.abc import Callable
from typing import Any

import pytest
from playwright.sync_api import Page, expect

from app.texts import text
from tests.app.looking import settled, state
from tests.page import wait_for_run

PLACE = ("chapter", "layer", "head", "query", "key")


def at(page: Page) -> tuple[list[Any], int]:
    """What is looked at, wherever the pointer rests, and how far the page is scrolled."""
    settled(page)
    locked = "(names) => names.map((name) => glass.state.locked[name] ?? glass.state[name])"
    return page.evaluate(locked, list(PLACE)), round(page.evaluate("scrollY"))


def arrives(page: Page, place: tuple[list[Any], int]) -> None:
    page.wait_for_function("(top) => Math.abs(scrollY - top) < 3", arg=place[1])
    assert at(page)[0] == place[0]


def test_from_where_a_number_leads_a_way_leads_back(page: Page) -> None:
    page.evaluate("glass.select({ layer: 2, head: 3, key: 1 })")
    page.click(".wy-ask")
    said = page.locator(".wy-said p")
    said.last.wait_for()
    # one of many, by random weights: where the model is sure, nothing is said of it (test_first_screen.py)
    expect(said.first).to_contain_text(text("why.unsure", p="").split(":")[0])
    page.locator(".wy-list summary").last.click()
    number = page.locator(".wy-parts .wy-lead").first
    number.scroll_into_view_if_needed()
    back = page.get_by_role("button", name=text("page.way_back"))
    expect(back).to_have_count(0)
    before = at(page)
    number.click()
    page.wait_for_function("glass.state.chapter !== 'glance'")
    settled(page)
    head = page.evaluate("document.activeElement.getBoundingClientRect().top")  # of the panel that it led to
    bottom = page.locator(".page-nav").evaluate("(one) => one.getBoundingClientRect().bottom")
    assert bottom <= head <= bottom + 24, head
    back.click()
    arrives(page, before)
    expect(number).to_be_focused()
    expect(back).to_be_hidden()
    number.click()
    page.wait_for_function("glass.state.chapter !== 'glance'")
    page.click(".page-nav [data-chapter=token]")  # gone on to something else
    expect(back).to_be_hidden()


def test_a_way_back_can_be_put_away(page: Page) -> None:
    page.click(".wy-ask")
    number = page.locator(".wy-proof .wy-lead").first
    number.click()
    page.wait_for_function("glass.state.chapter !== 'glance'")
    back = page.get_by_role("button", name=text("page.way_back"))
    expect(back).to_be_visible()
    page.get_by_role("button", name=text("page.way_back_away")).click()
    expect(back).to_be_hidden()


def test_escape_closes_an_explanation_and_gives_the_focus_back(page: Page) -> None:
    panel = page.locator("section[data-kind=next]")
    explain, box = panel.locator(".gp-tool").first, panel.locator(".gp-explain")
    explain.click()
    expect(box).to_be_visible()
    box.click()  # the focus is in the panel
    page.keyboard.press("Escape")
    expect(box).to_be_hidden()
    expect(explain).to_be_focused()
    expect(explain).to_have_attribute("aria-expanded", "false")
    explain.click()
    page.evaluate("document.activeElement.blur()")
    page.keyboard.press("Escape")
    expect(box).to_be_hidden()
    explain.click()
    page.locator("#prompt textarea").press("Escape")  # it is for something else
    expect(box).to_be_visible()


def test_a_run_after_a_text_was_written_opens_where_the_first_did(linked: Callable[[str], Page]) -> None:
    page = linked("")
    first = state(page, *PLACE)
    page.click("#step")
    page.wait_for_function("glass.state.status === 'idle' && glass.state.trace.T > glass.state.trace.nPrompt")
    assert state(page, *PLACE) != first
    run = page.evaluate("glass.state.run.id")
    page.click("#run")
    page.wait_for_function("(before) => glass.state.run.id !== before", arg=run)
    wait_for_run(page)
    assert state(page, *PLACE) == first
    page.evaluate("glass.select({ layer: 0, head: 1 })")  # the reader's own choice
    page.click("#run")
    settled(page)
    wait_for_run(page)
    assert state(page, "layer", "head") == [0, 1]


@pytest.mark.gradio
def test_the_way_back_covers_nothing_at_the_end_of_the_page(page: Page) -> None:
    page.evaluate("glass.way.remember()")
    bar = page.locator(".page-back")
    expect(bar).to_be_visible()
    room = page.evaluate("parseFloat(getComputedStyle(document.body).paddingBottom)")
    box = bar.bounding_box()
    assert box
    assert box["height"] <= room
