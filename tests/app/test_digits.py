"""What is read has at most three significant digits; whoever points at it, or saves it, has them all."""

import re

import pytest
from playwright.sync_api import Browser

from app.chapters import CHAPTERS
from app.texts import on_demand_file, text_file
from tests.app.looking import settled, walk
from tests.page import leave, open_page

DIGITS = 3
# Numbers with decimals in the visible text of panels. Left out: value lines, which say what is pointed at; what is
# worked out by a formula or as a product of a cache's factors; names of papers; bytes with their unit.
READ = r"""() => {
  const exact = ".gp-readout, .gp-explain, .gp-code, .gp-formula, .gp-hidden, .kv-product, .kv-short, .js-plotly-plot";
  const found = [];
  for (const panel of document.querySelectorAll("section.glass-panel:not(.page-away)")) {
    const texts = document.createTreeWalker(panel, NodeFilter.SHOW_TEXT);
    while (texts.nextNode()) {
      const { data, parentElement: parent } = texts.currentNode;
      if (parent.closest(exact) || !parent.getClientRects().length) continue;
      const said = data.replace(/\d{4}\.\d{4,5}/g, "").replace(/[\d.]+\s(?:[KMGT]i?|k)?B\b/g, "");
      for (const [number] of said.matchAll(/\d[\d,]*\.\d+/g))
        found.push([panel.dataset.kind, number, parent.closest("[title]")?.title ?? "", data.slice(0, 80)]);
    }
  }
  return found;
}"""


def significant(number: str) -> int:
    """Digits that count; of what is just below 1 those after its nines."""
    digits = re.sub(r"^0\.9*", "", number).replace(",", "").replace(".", "")
    return len(digits.lstrip("0"))


@pytest.mark.thorough
def test_what_panels_say_is_read_at_a_glance(browser: Browser, panels_alone: str) -> None:
    texts = "".join(file("en").read_text(encoding="utf-8") for file in (text_file, on_demand_file))
    constants = set(re.findall(r"\d+\.\d+", texts))  # such as GELU's 1.702
    page = open_page(browser, panels_alone)
    shortened = 0
    for chapter in CHAPTERS:
        walk(page, [chapter])
        settled(page)
        for kind, number, title, said in page.evaluate(READ):
            assert number in constants or significant(number) <= DIGITS, (chapter, kind, number, said)
            shortened += bool(re.search(r"\d+\.\d{3}", title))
    assert shortened > 100  # the exact value is under the pointer
    leave(page)
