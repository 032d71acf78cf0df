"""The story by keyboard alone: where the focus goes, what its keys move, and what they leave alone."""

from collections.abc import Iterator
from typing import Any

import pytest
from playwright.sync_api import Browser, Page, expect

from app.texts import LANGUAGES, text
from tests.app.looking import faults, scene_of, settled
from tests.page import leave, open_page


@pytest.fixture
def story(browser: Browser, bundled: str) -> Iterator[Page]:
    page = open_page(browser, f"{bundled}#lang=en", story=True)
    page.emulate_media(reduced_motion="reduce")
    yield page
    leave(page)


def word_in(scene: Any) -> Any:
    """A word of a scene that is explained."""
    word = scene.locator(".gl-term").first
    word.wait_for()
    return word


def test_back_from_the_panel_that_shows_a_word_its_scene_has_the_focus(story: Page) -> None:
    scene_of(story, "answer")
    word = word_in(story.locator("[data-scene=answer]"))
    term = word.get_attribute("data-term")
    word.focus()
    story.keyboard.press("Enter")
    story.locator(".gl-show").focus()
    story.keyboard.press("Enter")
    expect(story.locator(".page-story")).to_be_hidden()
    expect(story.locator("section.glass-panel:focus")).to_have_count(1)
    story.locator(".page-back button").first.focus()
    story.keyboard.press("Enter")
    # the word, or where that is written anew by then, its scene
    here = f"[data-scene=answer]:focus, [data-scene=answer] .gl-term[data-term={term}]:focus"
    expect(story.locator(here)).to_have_count(1)


def test_the_story_that_the_end_leads_to_has_the_focus(story: Page) -> None:
    for at, to in (("story", "story-cache"), ("story-cache", "story-learned"), ("story-learned", "story")):
        story.locator(f".st-told:visible .st-end [data-story={to}]").focus()
        story.keyboard.press("Enter")
        story.wait_for_function("(name) => glass.state.chapter === name", arg=to)
        first = story.locator(".st-told:visible .st-scene:visible").first
        expect(first).to_be_focused()
        assert story.evaluate("scrollY") == 0, at


def test_what_the_end_opens_is_the_workbench_at_its_beginning_unless_another_place_was_chosen(story: Page) -> None:
    scene_of(story, "match").locator(".st-more").click()  # the page leads to a panel of another chapter
    story.wait_for_function("glass.state.chapter === 'attend'")
    story.evaluate("document.querySelector('.page-back button').click()")
    story.wait_for_function("glass.state.chapter === 'story'")
    opens = story.locator(".st-told:visible .st-end [data-level=workbench]")
    opens.focus()
    story.keyboard.press("Enter")
    story.wait_for_function("glass.state.chapter === 'glance'")
    expect(story.locator("section[data-kind=why]")).to_be_focused()
    story.locator(".page-nav [data-chapter=norm]").click()
    story.evaluate("glass.open('story')")
    opens.focus()
    story.keyboard.press("Enter")
    story.wait_for_function("glass.state.chapter === 'norm'")


def test_keys_of_the_workbench_change_nothing_while_a_story_is_read(story: Page) -> None:
    scene = scene_of(story, "answer")
    scene.focus()
    before = story.evaluate("[JSON.stringify(glass.state.locked), location.hash]")
    for key in ("ArrowLeft", "ArrowRight", "[", "]"):
        story.keyboard.press(key)
    settled(story)
    assert story.evaluate("[JSON.stringify(glass.state.locked), location.hash]") == before
    for language in LANGUAGES:
        for name in ("token", "head"):
            assert text("level.workbench", language).lower() in text(f"shortcuts.{name}", language).lower()
    story.evaluate("glass.open('attend')")
    query = story.evaluate("glass.state.locked.query")
    story.keyboard.press("ArrowLeft")
    assert story.evaluate("glass.state.locked.query") == query - 1


def test_the_map_of_who_looks_at_whom_is_read_by_keys(story: Page) -> None:
    scene = scene_of(story, "looks")
    drawing = scene.locator("svg.st-map")
    at = "(scene) => scene.dataset.value.match(/query \\d+ key \\d+/)[0].match(/\\d+/g).map(Number)"
    drawing.focus()
    assert drawing.get_attribute("aria-label")
    query, key = scene.evaluate(at)
    tokens = story.evaluate("glass.state.trace.T")
    assert query == tokens - 1
    assert key > 0

    def pressed(name: str, *cell: int) -> None:
        story.keyboard.press(name)
        story.wait_for_function(
            f"([scene, cell]) => String(({at})(scene)) === cell", arg=[scene.element_handle(), told(cell)]
        )

    def told(cell: tuple[int, ...]) -> str:
        return ",".join(map(str, cell))

    pressed("ArrowLeft", query, key - 1)
    pressed("ArrowUp", query - 1, key - 1)
    pressed("ArrowDown", query, key - 1)
    pressed("ArrowDown", query, key - 1)  # the last row
    story.keyboard.press("Enter")
    drawing.evaluate("(one) => one.blur()")
    settled(story)
    assert scene.evaluate(at) == [query, key - 1]
    drawing.focus()
    pressed("ArrowRight", query, key)
    drawing.evaluate("(one) => one.blur()")
    pressed("Shift", query, key - 1)  # it was not kept
    for _ in range(query):
        drawing.focus()
        story.keyboard.press("ArrowUp")
    story.keyboard.press("ArrowRight")
    pressed("ArrowRight", 0, 0)  # the first row sees no column further on
    assert faults(story, context="[data-scene=looks]") == []


@pytest.mark.parametrize("key", ["Tab", "Shift+Tab"])
def test_the_box_of_a_word_closes_when_the_focus_leaves_it(story: Page, key: str) -> None:
    scene = scene_of(story, "answer")
    word = word_in(scene)
    word.focus()
    story.keyboard.press("Enter")
    card = story.locator(".gl-card")
    expect(card).to_be_visible()
    for _ in range(4):
        if not card.is_visible():
            break
        story.keyboard.press(key)
    expect(card).to_be_hidden()
    at = story.evaluate(
        "(word) => { const now = document.activeElement;"
        " return now === word ? 0 : word.compareDocumentPosition(now) & Node.DOCUMENT_POSITION_FOLLOWING }",
        word.element_handle(),
    )
    assert at == (4 if key == "Tab" else 0)  # what follows the word, or the word itself
    word.focus()
    story.keyboard.press("Enter")
    expect(card).to_be_visible()
    scene.locator(".st-more").focus()
    expect(card).to_be_hidden()


@pytest.mark.parametrize("language", LANGUAGES)
def test_the_first_stop_of_tab_leads_past_the_bar(story: Page, language: str) -> None:
    story.evaluate("(code) => glass.setLanguage(code)", language)
    for chapter, name, target in (
        ("story", "story", ".st-told:not([hidden]) .st-scene >> nth=0"),
        ("attend", "bench", "section.glass-panel:visible >> nth=0"),
    ):
        story.evaluate("(name) => glass.open(name)", chapter)
        skip = story.locator(f".page-skip.is-of-{name}")
        expect(skip).to_have_text(text(f"bar.skip_{name}", language))
        skip.focus()
        expect(story.locator(".page-skip:visible")).to_have_count(1)
        assert skip.evaluate("(one) => getComputedStyle(one).clipPath") == "none"
        assert faults(story, context=".page-header") == []
        story.keyboard.press("Enter")
        expect(story.locator(target)).to_be_focused()
        expect(story.locator(target)).to_be_in_viewport()
        assert skip.evaluate("(one) => getComputedStyle(one).clipPath") != "none"


# What of the page stands where the focus is, and how far that is within the window.
SEEN = """() => {
  const one = document.activeElement;
  const { left, right, top, bottom } = one.getBoundingClientRect();
  const at = document.elementFromPoint((left + right) / 2, (top + bottom) / 2);
  const bar = document.querySelector(".page-back").getBoundingClientRect();
  return { name: one.outerHTML.slice(0, 120), seen: Boolean(at && (one.contains(at) || at.contains(one))),
    above: bar.top - bottom };
}"""


def test_the_way_back_covers_nothing_that_has_the_focus(story: Page) -> None:
    scene_of(story, "answer").locator(".st-more").click()
    story.wait_for_function("glass.state.chapter !== 'story' && glass.drawn()")
    expect(story.locator(".page-back")).to_be_visible()
    settled(story)
    for key in ["Tab"] * 24 + ["Shift+Tab"] * 20:
        story.keyboard.press(key)
        found = story.evaluate(SEEN)
        assert found["seen"], found
        assert found["above"] >= 0, found


def test_the_way_back_from_heads_that_are_off_has_the_focus_and_is_seen(story: Page) -> None:
    scene = scene_of(story, "answer")
    scene.locator("[data-act=heads]").focus()
    story.keyboard.press("Enter")
    story.wait_for_function("glass.state.run.changes.heads?.length && glass.state.status === 'idle'")
    settled(story)
    back = scene.locator("[data-act=back]")
    expect(back).to_be_focused()
    expect(back).to_be_in_viewport(ratio=1)
    story.keyboard.press("Enter")
    story.wait_for_function("!glass.state.run.changes.heads?.length")


def test_a_choice_that_is_pressed_keeps_the_focus_and_leaves_space_to_the_story(story: Page) -> None:
    scene = scene_of(story, "layers")
    choice = scene.locator(".st-guess button").nth(1)
    choice.focus()
    story.keyboard.press("Enter")
    expect(scene.locator(".st-says")).to_be_visible()
    expect(choice).to_be_focused()
    expect(choice).to_be_disabled()
    said = choice.text_content()
    choice.evaluate("(one) => one.click()")
    assert choice.text_content() == said
    at = story.evaluate("scrollY")
    story.keyboard.press(" ")
    story.wait_for_function("(at) => scrollY > at", arg=at)


def test_the_focus_stays_where_a_token_is_written_and_taken_back(story: Page) -> None:
    scene = scene_of(story, "cache")
    write = scene.locator(".st-acts button").first
    write.focus()
    story.keyboard.press("Enter")
    story.wait_for_function("glass.state.trace.T > glass.state.trace.nPrompt && glass.state.status === 'idle'")
    expect(write).to_be_enabled()
    expect(write).to_be_focused()
    scene.get_by_text(text("story.cache_back")).focus()
    story.keyboard.press("Enter")
    story.wait_for_function("glass.state.trace.T === glass.state.trace.nPrompt && glass.state.status === 'idle'")
    expect(write).to_be_focused()
