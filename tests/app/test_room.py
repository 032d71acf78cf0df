"""What panels make of their room: one column on a phone, and no word cut where there is room for it."""

from typing import Any

import pytest
from playwright.sync_api import Browser, Page

from app.chapters import CHAPTERS
from tests.app.looking import EACH_PANEL
from tests.page import leave, open_page

# Drawings of a panel that stand beside each other; one within another counts with that.
BESIDE = """(panel) => {
  const large = (one) => {
    const { width, height } = one.getBoundingClientRect();
    return one.checkVisibility() && width > 60 && height > 50;
  };
  const all = [...panel.querySelectorAll("canvas, svg, .gp-plot, table, fieldset")].filter(large);
  const own = all.filter((one) => !all.some((other) => other !== one && other.contains(one)));
  const boxes = own.map((one) => one.getBoundingClientRect());
  const isBeside = (a, b) =>
    (a.right <= b.left + 1 || b.right <= a.left + 1) && Math.min(a.bottom, b.bottom) - Math.max(a.top, b.top) > 20;
  return own.filter((_, i) => boxes.some((other) => isBeside(boxes[i], other)))
    .map((one) => `${one.localName}.${one.getAttribute("class")}`);
}"""
# Texts that an element cuts, though it could be as wide as they are within what is around it.
CUT = """(panel) => [...panel.querySelectorAll("*")].filter((one) => {
  if (!(one instanceof HTMLElement) || one.closest(".gp-hidden") || !one.checkVisibility()) return false;
  if (![...one.childNodes].some((node) => node.nodeType === Node.TEXT_NODE && node.data.trim())) return false;
  if (!["hidden", "clip"].includes(getComputedStyle(one).overflowX)) return false;
  const lacks = one.scrollWidth - one.clientWidth;
  const room = one.parentElement.getBoundingClientRect().width - one.getBoundingClientRect().width;
  return lacks > 1 && room >= lacks;
}).map((one) => one.textContent)"""
# What is found in each panel of each chapter, once all of them are drawn.
FOUND = """async (chapters) => {
  const found = [];
  let seen = 0;
  EACH_PANEL
  return [seen, found];
}""".replace(
    "EACH_PANEL",
    EACH_PANEL.replace(
        "EACH",
        """
    seen += 1;
    const some = (LOOK)(panel);
    if (some.length) found.push([panel.dataset.kind, some]);""",
    ),
)
TWO = {"attention-maps", "mask-kinds"}  # all heads, and kinds of masks: small ones, which are compared


def looked_for(page: Page, look: str, chapters: list[str]) -> dict[str, Any]:
    seen, found = page.evaluate(FOUND.replace("LOOK", look), chapters)
    assert seen >= len(chapters)
    return dict(found)


@pytest.mark.thorough
def test_on_a_phone_each_panel_has_one_column(browser: Browser, panels_alone: str) -> None:
    page = open_page(browser, f"{panels_alone}#lang=en", 390, 844)
    assert set(looked_for(page, BESIDE, list(CHAPTERS))) <= TWO
    page.add_style_tag(content=".glass-panel .gp-body { display: flex } .gp-body > * { min-width: 80px }")
    assert set(looked_for(page, BESIDE, ["norm"])) - TWO  # they would be found
    leave(page)


@pytest.mark.thorough
def test_no_word_of_the_workbench_is_cut_where_it_has_room(browser: Browser, panels_alone: str) -> None:
    page = open_page(browser, f"{panels_alone}#lang=en")
    found = looked_for(page, CUT, list(CHAPTERS))
    found.pop("lens", None)  # a cell of its map has the width of its column
    assert found == {}
    page.add_style_tag(content=".gp-title { width: 40px; overflow: hidden; white-space: nowrap }")
    assert looked_for(page, CUT, ["norm"])  # they would be found
    leave(page)
