"""A Chinese word that a reader of English sees has its meaning beside it: in the story, the lens and the candidates."""

import re
from collections.abc import Iterator
from urllib.parse import quote

import pytest
import torch
from playwright.sync_api import Browser, Page, expect

import model
from app.engine import LocalEngine
from app.session import Runs
from tests.app.looking import settled, shown
from tests.page import leave, open_page
from tests.plain import plain_site

PROMPT = "汤姆在厨房里。莉莉在花园里。汤姆在"
# Said by hand, of what is seen here.
MEANING = {"厨房": "kitchen", "花园": "garden", "客厅": "living room", "公园": "park", "院子": "yard", "在": "at, in"}
HAN = re.compile("[\u4e00-\u9fff]+")


@pytest.fixture
def page(browser: Browser) -> Iterator[Page]:
    with plain_site(LocalEngine([model.load(device="cpu")]), Runs()) as address:
        page = open_page(browser, f"{address}#lang=en&prompt={quote(PROMPT)}", story=True)
        yield page
        leave(page)


def glossed(said: list[str]) -> dict[str, str]:
    """By Chinese word, what stands in brackets behind it."""
    found = {}
    for words in said:
        if chinese := HAN.search(words):
            brackets = re.search(rf"{chinese[0]} \((.+)\)", words)
            assert brackets, words
            found[chinese[0]] = brackets[1]
    return found


def check(found: dict[str, str]) -> None:
    assert found
    known = {word: meaning for word, meaning in found.items() if word in MEANING}
    assert known
    assert known == {word: MEANING[word] for word in known}


def test_other_words_and_what_comes_of_them_have_their_meaning_beside_them(page: Page) -> None:
    scene = page.locator("[data-scene=answer]")
    swaps = scene.locator(".st-swaps button")
    expect(swaps.first).to_contain_text("(")
    for words in swaps.all_inner_texts():
        assert len(re.findall(r"[\u4e00-\u9fff]+ \([^)]+\)", words)) == 3, words  # the word, the other, the answer
    swaps.first.click()
    check(glossed(scene.locator(".st-best").all_inner_texts()))
    page.evaluate("glass.open('glance')")
    settled(page)
    check(glossed(page.locator(".wy-others span").all_inner_texts()))


def test_chinese_words_have_their_meaning_beside_them(page: Page) -> None:
    scene = page.locator("[data-scene=layers]")
    scene.scroll_into_view_if_needed()
    expect(scene).to_have_attribute("data-value", re.compile("first"))
    page.wait_for_function("document.querySelector('[data-scene=layers] .gp-gloss')")
    said = scene.locator(".st-best").all_inner_texts()
    check(glossed(said))
    lm = model.load(device="cpu")
    trace = model.run_trace(lm, PROMPT)
    best = lm.net.logits(torch.from_numpy(trace.residual[:, -1])).argmax(-1)
    first = lm.tokenizer.pieces(best.tolist())
    assert [HAN.findall(words) for words in said] == [HAN.findall(piece) for piece in first]
    page.evaluate("glass.open('choice')")
    shown(page, "lens", "")
    check(glossed(page.locator("section[data-kind=lens] .ch-best th.gp-token").all_inner_texts()))
    assert page.locator("section[data-kind=lens] .ch-best th.gp-token").evaluate_all(
        "(all) => all.every((one) => one.scrollWidth <= one.clientWidth + 1)"
    )
    page.evaluate("glass.open('ffn')")
    page.evaluate("glass.select({ layer: 5 })")  # whose neurons write words that are known here
    shown(page, "ffn-token", "layer 5 ")
    pieces = page.locator("section[data-kind=ffn-token] :is(.ffn-words .gp-piece, .ffn-pushes .gp-token)")
    check(glossed([words for words in pieces.all_inner_texts() if "(" in words]))
    assert page.locator("section[data-kind=ffn-token] .ffn-pushes .gp-gloss").count()
    page.evaluate("glass.open('glance')")
    settled(page)
    check(
        glossed(page.locator("section[data-kind=next] tr[data-rank] th, section[data-kind=next] td").all_inner_texts())
    )
    page.evaluate("glass.setLanguage('zh')")
    page.wait_for_function("document.documentElement.dataset.language === 'zh'")
    settled(page)
    assert page.locator(".gp-gloss:visible").count() == 0
