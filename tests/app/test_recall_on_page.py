"""Where a recalled answer is gathered and when it moves, as the page tells it, against the model's own functions."""

from collections.abc import Iterator
from urllib.parse import quote

import pytest
from playwright.sync_api import Browser, Page, expect

import model
from app.engine import LocalEngine
from app.session import Runs
from app.texts import LANGUAGES, text
from model.analysis.causal_map import causal_map
from model.analysis.nodes import run_pair
from model.analysis.other_words import word_swaps
from model.analysis.recall import Recalled, recalled
from tests.app.looking import faults, in_each_language, number
from tests.page import leave, new_page, wait_for_run, watched
from tests.plain import plain_site

PROMPT = "包是绿色的。 = The bag is"  # the answer stands in the text in another language
HABIT = "p q r s t u"


@pytest.fixture(scope="module")
def bundled() -> model.LanguageModel:
    return model.load(device="cpu")


@pytest.fixture(scope="module")
def address(bundled: model.LanguageModel) -> Iterator[str]:
    """The panels alone over the bundled model."""
    with plain_site(LocalEngine([bundled]), Runs()) as found:
        yield found


@pytest.fixture
def page(browser: Browser, address: str) -> Iterator[Page]:
    page = new_page(browser, address)
    with watched(page):
        yield page
    leave(page)


def show(page: Page, address: str, prompt: str, language: str = "en") -> None:
    page.goto(f"{address}#lang={language}&prompt={quote(prompt)}")
    wait_for_run(page)


def told(lm: model.LanguageModel, other: str) -> Recalled:
    pair = run_pair(lm, PROMPT, other)
    found = recalled(pair, causal_map(pair))
    assert found is not None
    return found


def test_it_is_told_by_itself_with_its_second_text_and_follows_the_word_that_is_changed(
    page: Page, address: str, bundled: model.LanguageModel
) -> None:
    first, *_ = word_swaps(bundled, PROMPT, 6)
    own, answer = told(bundled, first.text), bundled.tokenizer.pieces([first.answer])[0].strip()
    place = bundled.tokenizer.pieces(bundled.tokenizer.encode(PROMPT))[own.token].strip()
    show(page, address, PROMPT)
    page.click(".wy-ask")
    line = page.locator(".wy-recall")
    page.wait_for_function("document.querySelector('.wy-recall')?.dataset.value")
    value = line.get_attribute("data-value") or ""
    layers, moved, brought = own.gathered.layers, own.moved, own.brought
    assert f"token {own.token} gathered {layers.first}-{layers.last}" in value
    assert f"moved {moved.layers.first}-{moved.layers.last}" in value
    assert f"head {brought.head[0]}.{brought.head[1]} " in value
    for name, expected in (
        ("all", own.gathered.all), ("later", own.gathered.later), ("above", own.gathered.above),
        ("attention", own.gathered.attention), ("elsewhere", own.gathered.elsewhere), ("before", moved.before),
        ("after", moved.after), ("lost", brought.lost), ("following", brought.following),
    ):  # fmt: skip
        assert number(value, name) == pytest.approx(expected, abs=2e-3), name
    for language in in_each_language(page):
        for words in (first.text, answer, place):
            expect(line).to_contain_text(words)
        unclear = not (own.gathered.clear and moved.clear and brought.clear)
        expect(line.get_by_text(text("recall.rule", language))).to_have_count(int(unclear))
        assert "{" not in line.inner_text()
        assert "recall." not in line.inner_text()
    assert faults(page, context=".wy-recall") == []
    other = PROMPT.replace("绿色", "红色")
    assert other != first.text
    page.fill(".wy-other", other)
    page.click(".wy-form button")
    expect(line).to_contain_text(other)
    again = told(bundled, other)
    page.wait_for_function("document.querySelector('.wy-recall')?.dataset.value")
    assert number(line.get_attribute("data-value") or "", "after") == pytest.approx(again.moved.after, abs=2e-3)


@pytest.mark.parametrize("language", LANGUAGES)
def test_what_takes_longer_is_asked_for_by_a_press(page: Page, address: str, language: str) -> None:
    show(page, address, PROMPT, language)
    page.evaluate("glass.state.trace.model.n_parameters = 1e12")  # as that of a large model
    page.click(".wy-ask")
    press = page.locator(".wy-recall").get_by_role("button", name=text("recall.ask", language))
    press.wait_for()
    assert page.locator(".wy-recall").get_attribute("data-value") is None
    press.click()
    page.wait_for_function("document.querySelector('.wy-recall')?.dataset.value")
    expect(press).to_have_count(0)


def test_an_answer_that_is_not_recalled_has_no_such_line(page: Page, address: str) -> None:
    show(page, address, HABIT)
    page.click(".wy-ask")
    page.locator(".wy-circuit .wy-form").wait_for()
    expect(page.locator(".wy-recall")).to_be_hidden()
