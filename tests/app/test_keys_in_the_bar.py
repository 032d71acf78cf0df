"""The bar by keyboard alone, over gradio's own components."""

from typing import Any

import pytest
from playwright.sync_api import Page, expect

from app.engine import LocalEngine
from app.session import Runs
from tests.page import wait_for_run

pytestmark = pytest.mark.gradio
FOCUSED = "(one) => one === document.activeElement"


def press_to(page: Page, key: str, target: Any, most: int = 20) -> None:
    """Presses a key until something has the focus."""
    for _ in range(most):
        page.keyboard.press(key)
        if target.evaluate(FOCUSED):
            return
    raise AssertionError((key, target))


def test_the_field_of_networks_is_passed_both_ways_and_runs_nothing(page: Page) -> None:
    before = page.evaluate("glass.state.run.id")
    asked: list[str] = []
    page.on("request", lambda request: asked.append(request.url) if "/queue/join" in request.url else None)
    field, box = page.locator("#model select"), page.locator("#prompt textarea")
    page.locator("#level button").first.focus()
    press_to(page, "Tab", field)
    press_to(page, "Tab", box)
    press_to(page, "Shift+Tab", field)
    for name in ("#theme", "#shortcuts", "#lessons", "[data-level=workbench]", "[data-level=story]"):
        press_to(page, "Shift+Tab", page.locator(name), 1)
    press_to(page, "Tab", box)
    page.wait_for_timeout(500)  # what a field asks as it loses the focus is asked by then
    assert not asked
    assert page.evaluate("[glass.state.run.id, glass.state.status]") == [before, "idle"]


def test_a_network_is_chosen_by_keys_runs_once_and_its_field_keeps_the_focus(page: Page, engine: LocalEngine) -> None:
    first, second = engine.names[:2]
    page.evaluate("window.begun = 0; void glass.on('begin', () => { window.begun += 1; })")
    field = page.locator("#model select")
    page.locator("#theme").focus()
    press_to(page, "Tab", field, 1)
    page.keyboard.press("ArrowDown")  # opens the list
    expect(field).to_have_value(first)
    page.keyboard.press("Escape")
    assert page.evaluate("window.begun") == 0
    page.keyboard.press("ArrowDown")
    page.keyboard.press("ArrowDown")
    page.keyboard.press("Enter")
    page.wait_for_function("(name) => glass.state.run.model.name === name", arg=second)
    wait_for_run(page)
    expect(field).to_have_value(second)
    assert page.evaluate("window.begun") == 1
    assert field.evaluate(FOCUSED)
    page.keyboard.press("Tab")
    expect(page.locator("#language input").first).to_be_focused()


def test_a_network_that_the_page_goes_back_to_stands_in_the_field(page: Page, engine: LocalEngine, runs: Runs) -> None:
    first, second = engine.names[:2]
    page.select_option("#model select", second)
    page.wait_for_function("(name) => glass.state.run.model.name === name", arg=second)
    wait_for_run(page)
    page.evaluate("(name) => glass.fill({ model: name })", first)
    expect(page.locator("#model select")).to_have_value(first)
    page.evaluate("glass.setLanguage('zh').then(() => glass.fill({}))")
    expect(page.locator("#model select")).to_have_attribute("aria-label", "模型")
    expect(page.locator("#model select")).to_have_value(first)


@pytest.mark.parametrize("chapter", ["story", "attend"])
def test_generate_hands_the_focus_to_stop_and_has_it_back_at_the_end(page: Page, chapter: str) -> None:
    page.evaluate("(name) => glass.open(name)", chapter)
    for ends_itself in (False, True):
        page.locator("#generate").focus()
        page.keyboard.press("Enter")
        expect(page.locator("#stop")).to_be_focused()
        page.wait_for_function("glass.state.run.generating")
        expect(page.locator("#stop")).to_be_focused()
        if not ends_itself:
            page.keyboard.press("Enter")
        page.wait_for_function("glass.state.status === 'idle'")
        expect(page.locator("#generate")).to_be_focused()
    page.locator("#generate").focus()
    page.keyboard.press("Enter")
    expect(page.locator("#stop")).to_be_focused()
    page.locator("#prompt textarea").focus()
    page.wait_for_function("glass.state.status === 'idle'")
    expect(page.locator("#prompt textarea")).to_be_focused()


def test_the_way_past_the_bar_stands_on_a_ground_of_its_own(page: Page) -> None:
    skip = page.locator(".page-skip:visible").first
    skip.focus()
    ground = "(one) => getComputedStyle(one).backgroundColor"
    assert skip.evaluate(ground) == page.locator("section[data-kind=tokens]").evaluate(ground)
    on_top = """(one) => {
      const { left, right, top, bottom } = one.getBoundingClientRect();
      return document.elementFromPoint((left + right) / 2, (top + bottom) / 2) === one;
    }"""
    assert skip.evaluate(on_top)
