"""The words that the page explains: their texts, where each leads, and how one asks for them."""

import json
import re
import subprocess

import pytest
from playwright.sync_api import Page, expect

from app.chapters import CHAPTERS
from app.texts import LANGUAGES, table, text
from tests.app.looking import faults, settled
from visuals import STATIC

ENDS = {"en": r"[.!?](?:\s|$)", "zh": r"[。！？]"}
MARKED = """() => [...document.querySelectorAll('.glass-panel .gl-term')]
  .filter((one) => one.getClientRects().length && !one.closest('.gp-explain')).map((one) => one.dataset.term)"""


def terms() -> list[dict[str, str]]:
    path = (STATIC / "glossary" / "terms.js").as_uri()
    script = f"import('{path}').then(({{ TERMS }}) => console.log(JSON.stringify(TERMS)))"
    found = subprocess.run(["node", "-e", script], capture_output=True, text=True, check=True)
    return json.loads(found.stdout)


def test_each_term_has_two_sentences_and_forms_in_both_languages_and_a_panel_to_go_to() -> None:
    found = terms()
    for language in LANGUAGES:
        words = table(language)["glossary"]
        names = {key for key in words if f"{key}_means" in words}
        assert names == {term["name"] for term in found}
        for name in names:
            assert len(re.findall(ENDS[language], words[f"{name}_means"])) == 2, (language, name)
            forms = words[f"{name}_forms"].split("|")
            assert len(set(forms)) == len(forms), (language, name)
            assert all(form.strip("[]") for form in forms), (language, name)
    for term in found:
        assert term["panel"] in CHAPTERS[term["chapter"]], term["name"]
        if "part" in term:
            panels = STATIC / "panels" / term["chapter"]
            scripts = (path.read_text(encoding="utf-8") for path in panels.glob("*.js"))
            named = re.compile(rf'"data-part": "{term["part"]}"|data-part="{term["part"]}"')
            assert any(named.search(script) for script in scripts), term["name"]


@pytest.fixture
def marked(page: Page) -> Page:
    page.locator(".glass-panel .gl-term").first.wait_for()
    return page


def test_a_term_is_explained_by_keyboard_and_led_to(marked: Page) -> None:
    page = marked
    word = page.locator('.gl-term[data-term="rmsnorm"]').first
    word.focus()
    page.keyboard.press("Enter")
    card = page.locator(".gl-card")
    expect(card).to_be_visible()
    expect(card).to_contain_text(text("glossary.rmsnorm_means"))
    assert page.evaluate("document.querySelector('.gl-card').contains(document.activeElement)")
    assert faults(page, context=".gl-card") == []
    neuron = page.evaluate("glass.select({ neuron: 3 }); glass.state.neuron")
    page.keyboard.press("Escape")
    expect(card).to_be_hidden()
    assert page.evaluate("document.activeElement.dataset.term") == "rmsnorm"
    assert page.evaluate("glass.state.neuron") == neuron  # this Escape was the card's alone
    page.keyboard.press("Enter")
    page.click(".gl-show")
    expect(card).to_be_hidden()
    target = page.locator("section[data-kind=norm-vector]")
    expect(target).to_have_class(re.compile("is-meant"))
    assert page.evaluate("glass.state.chapter") == "norm"
    expect(target).to_be_in_viewport()
    page.keyboard.press("Escape")
    expect(target).not_to_have_class(re.compile("is-meant"))


def test_a_mark_stays_where_a_panel_writes_the_same_words_again(marked: Page) -> None:
    page = marked
    word = page.locator('.gl-term[data-term="rmsnorm"]').first
    word.focus()
    page.evaluate(
        "glass.repaint(true); new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))"
    )
    assert page.evaluate("document.activeElement.dataset.term") == "rmsnorm"


@pytest.mark.thorough
def test_a_term_is_marked_once_a_chapter_and_its_line_says_the_same(marked: Page) -> None:
    page = marked
    for language in LANGUAGES:
        page.click(f"#language [value={language}]")
        page.wait_for_function("(code) => document.documentElement.lang.startsWith(code)", arg=language)
        for chapter in ("glance", "attend", "ffn"):
            page.evaluate("(name) => glass.open(name)", chapter)
            settled(page)
            page.wait_for_function(f"({MARKED})().length > 1")
            page.evaluate("new Promise((done) => requestIdleCallback(done, { timeout: 1000 }))")
            found = page.evaluate(MARKED)
            assert len(set(found)) == len(found), (language, chapter)
    page.click("#language [value=en]")
    page.evaluate("glass.open('glance')")
    title = page.locator("section[data-kind=rmsnorm] .gp-title")
    shape = page.evaluate("[glass.state.trace.model.n_layers, glass.state.trace.T]")
    expect(title).to_have_text(text("rmsnorm.title", layers=shape[0], tokens=shape[1]))
    attention = page.locator("section[data-kind=attention] .gp-title")
    page.evaluate("glass.select({ layer: 2 })")  # written anew, and marked again
    expect(attention).to_contain_text("layer 2")
    expect(attention.locator(".gl-term").first).to_be_visible()
    held = page.evaluate(
        "[...document.querySelectorAll('.gl-hold')].map((one) => [one.textContent, one.getClientRects().length])"
    )
    assert any(words.endswith(")") for words, _ in held), held  # a bracket stays on its word's line
    assert {lines for words, lines in held if lines} == {1}, held
    page.click("section[data-kind=rope] .gp-tool >> nth=0")  # an explanation is read by itself
    expect(page.locator("section[data-kind=rope] .gp-explain .gl-term").first).to_be_visible()


@pytest.mark.screen
def test_on_a_telephone_a_card_lies_inside_the_window(marked: Page) -> None:
    page = marked
    page.set_viewport_size({"width": 360, "height": 740})
    word = page.locator("section[data-kind=attention] .gl-term").last
    word.click()
    box = page.locator(".gl-card").bounding_box()
    assert box
    assert box["x"] >= 0
    assert box["x"] + box["width"] <= 360
    assert 0 <= box["y"] <= box["y"] + box["height"] <= 740
    said = word.locator("xpath=..").bounding_box()
    assert said
    covers = said["y"] < box["y"] + box["height"] and box["y"] < said["y"] + said["height"]
    above, below = said["y"], 740 - said["y"] - said["height"]
    assert not covers or max(above, below) < box["height"] + 6
    page.get_by_role("button", name=text("glossary.all")).click()  # the list opens at the word
    expect(page.locator(".gl-list dt", has_text=re.compile(f"^{word.inner_text()}s?$"))).to_be_in_viewport()
    for head in (page.locator(".gl-find input"), page.get_by_role("button", name=text("glossary.close"))):
        expect(head).to_be_in_viewport(ratio=1)  # wherever the list stands
    top = page.evaluate("scrollY")
    page.locator(".gl-list").evaluate("(list) => { list.scrollTop = list.scrollHeight; }")
    page.evaluate("addEventListener('wheel', () => { window.wheeled = true; }, { once: true, passive: true })")
    page.mouse.move(180, 370)
    page.mouse.wheel(0, 3000)
    page.wait_for_function("window.wheeled")  # else Escape may come first, and the wheel turns over the page itself
    page.evaluate("new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))")
    assert page.evaluate("scrollY") == top  # the page behind it stays
    page.keyboard.press("Escape")
    word.click()
    page.mouse.click(2, 2)
    expect(page.locator(".gl-card")).to_be_hidden()


def test_the_list_of_the_keys_leads_to_all_terms(marked: Page) -> None:
    page = marked
    page.click("#shortcuts")
    page.click("dialog [data-glossary]")
    listed = page.locator(".gl-list dt")
    expect(listed).to_have_count(len(terms()))
    names = listed.all_inner_texts()
    assert [name.lower() for name in names if name.isascii()] == sorted(
        name.lower() for name in names if name.isascii()
    )
    assert faults(page, context=".gl-list") == []
    page.fill(".gl-list input", "ROPE")
    expect(listed.first).to_have_text(text("glossary.rope"))
    assert 1 <= listed.count() < len(names)
    page.fill(".gl-list input", "<b>no such word")
    expect(page.locator(".gl-list p")).to_have_text(text("glossary.none", word="<b>no such word"))
    page.fill(".gl-list input", "")
    expect(listed).to_have_count(len(names))
    assert listed.all_inner_texts() == names
    page.locator(".gl-list dd button").first.click()
    expect(page.locator(".gl-list")).to_be_hidden()
    expect(page.locator("section.is-meant")).to_be_visible()
