"""What is read has at most three significant digits; whoever points at it, or saves it, has them all."""

import re
from urllib.parse import quote

import pytest
from playwright.sync_api import Browser

import model
from app.chapters import CHAPTERS
from app.engine import LocalEngine
from app.examples import EXAMPLES, REAL_EXAMPLES
from app.session import Runs
from app.texts import LANGUAGES, on_demand_file, text_file
from model import smollm2
from model.checkpoint import BUNDLED
from tests.app.looking import settled, walk
from tests.one_of import one_of
from tests.page import leave, open_page
from tests.plain import plain_site

DIGITS = 3
OPEN = "(scene) => { for (const one of scene.querySelectorAll('details')) one.open = true; }"
# Numbers with decimals in the visible text of panels. Left out: value lines, which say what is pointed at; what is
# worked out by a formula or as a product of a cache's factors; names of papers; bytes with their unit.
READ = r"""(parts) => {
  const exact = ".gp-readout, .gp-explain, .gp-code, .gp-formula, .gp-hidden, .kv-product, .kv-short, .js-plotly-plot";
  const found = [];
  for (const panel of document.querySelectorAll(parts)) {
    const name = panel.dataset.kind ?? panel.dataset.scene;
    const texts = document.createTreeWalker(panel, NodeFilter.SHOW_TEXT);
    while (texts.nextNode()) {
      const { data, parentElement: parent } = texts.currentNode;
      if (parent.closest(exact) || !parent.getClientRects().length) continue;
      const said = data.replace(/\d{4}\.\d{4,5}/g, "").replace(/[\d.]+\s(?:[KMGT]i?|k)?B\b/g, "");
      for (const [number] of said.matchAll(/\d[\d,]*\.\d+/g))
        found.push([name, number, parent.closest("[title]")?.title ?? "", data.slice(0, 80)]);
    }
  }
  return found;
}"""


def significant(number: str) -> int:
    """Digits that count; of what is just below 1 those after its nines."""
    digits = re.sub(r"^0\.9*", "", number).replace(",", "").replace(".", "")
    return len(digits.lstrip("0"))


def constants_of(language: str) -> set[str]:
    """Numbers of the texts themselves, such as GELU's 1.702."""
    texts = "".join(file(language).read_text(encoding="utf-8") for file in (text_file, on_demand_file))
    return set(re.findall(r"\d+\.\d+", texts))


@pytest.mark.thorough
@pytest.mark.parametrize("language", LANGUAGES)
def test_what_panels_say_is_read_at_a_glance(browser: Browser, panels_alone: str, language: str) -> None:
    constants = constants_of(language)
    page = open_page(browser, f"{panels_alone}#lang={language}")
    shortened = 0
    for chapter in CHAPTERS:
        walk(page, [chapter])
        settled(page)
        for kind, number, title, said in page.evaluate(READ, "section.glass-panel:not(.page-away)"):
            assert number in constants or significant(number) <= DIGITS, (chapter, kind, number, said)
            shortened += bool(re.search(r"\d+\.\d{3}", title))
    assert shortened > 100  # the exact value is under the pointer
    leave(page)


@pytest.mark.parametrize(
    ("name", "language", "prompt"),
    one_of(
        [
            ("bundled", "en", EXAMPLES["en"][0]),
            ("bundled", "zh", EXAMPLES["zh"][0]),
            ("smollm2", "en", REAL_EXAMPLES[0]),
            ("smollm2", "zh", REAL_EXAMPLES[0]),
        ]
    ),
)
def test_what_scenes_say_is_read_at_a_glance(browser: Browser, name: str, language: str, prompt: str) -> None:
    if name == "smollm2" and not smollm2.WEIGHTS.exists():
        pytest.skip(f"{smollm2.WEIGHTS} is not there")
    constants = constants_of(language)
    lm = model.load(smollm2.WEIGHTS if name == "smollm2" else BUNDLED, device="cpu")
    shortened = 0
    with plain_site(LocalEngine([lm]), Runs()) as address:
        page = open_page(browser, f"{address}#lang={language}&prompt={quote(prompt)}", story=True)
        for scene in page.locator("[data-scene]").all():
            if scene.is_hidden():
                continue
            scene.scroll_into_view_if_needed()
            settled(page)
            scene.evaluate(OPEN)
            for place, number, title, said in page.evaluate(READ, "[data-scene]:not([hidden])"):
                assert number in constants or significant(number) <= DIGITS, (place, number, said)
                shortened += bool(re.search(r"\d+\.\d{3}", title))
        leave(page)
    assert shortened > 20  # the exact value is under the pointer
