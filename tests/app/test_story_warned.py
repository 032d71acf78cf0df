"""The story of the training over a network that is not the page's own, and a text that is not of its small world."""

import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, expect

import model
from app.engine import LocalEngine
from app.session import Runs
from app.texts import LANGUAGES, text
from tests.app.looking import run, settled
from tests.page import leave, open_page
from tests.plain import plain_site


@pytest.fixture(scope="module")
def address(roomy_checkpoint: Path) -> Iterator[str]:
    both = LocalEngine([model.load(device="cpu"), model.load(roomy_checkpoint, device="cpu")])
    with plain_site(both, Runs()) as found:
        yield found


@pytest.fixture
def story(browser: Browser, address: str) -> Iterator[Page]:
    page = open_page(browser, f"{address}#lang=en", story=True)
    yield page
    leave(page)


def test_what_a_strange_sentence_is_answered_is_doubted_where_it_is_tried_as_where_it_is_told(story: Page) -> None:
    warned = {}
    for prompt in ("The frog jumped to the", "Tom is in the kitchen. Lily is in the garden. Tom is in the"):
        story.evaluate("glass.open('story')")
        run(story, prompt)
        for chapter, name in (("story", "answer"), ("story-learned", "attempt")):
            story.evaluate("(name) => glass.open(name)", chapter)
            scene = story.locator(f"[data-scene={name}]")
            scene.scroll_into_view_if_needed()
            expect(scene).to_have_attribute("data-value", re.compile("."))
            settled(story)
            found = scene.locator(".wy-outside > div").first.inner_text()
            warned[prompt, name] = found if scene.locator(".wy-outside").is_visible() else ""
        assert warned[prompt, "attempt"] == warned[prompt, "answer"]
    assert [bool(found) for found in warned.values()] == [True, True, False, False]


def test_the_story_of_the_training_leads_to_the_network_that_has_one(story: Page) -> None:
    own, other, prompt = story.evaluate("[glass.bundledModel(), 'roomy', glass.state.trace.prompt]")
    story.evaluate("glass.open('story-learned')")
    expect(story.locator(".st-none:visible")).to_have_count(0)
    story.evaluate("([prompt, other]) => glass.read(prompt, other)", [prompt, other])
    none = story.locator(".st-none:visible")
    for language in reversed(LANGUAGES):
        story.evaluate("(code) => glass.setLanguage(code)", language)
        expect(none.get_by_role("status")).to_have_text(text("story-learned.lacks", language))
        named = text("story.answer_back", language, model=story.evaluate("(name) => glass.modelName(name)", own))
        expect(none.get_by_role("button")).to_have_text(named)
    none.get_by_role("button").focus()
    story.keyboard.press("Enter")
    story.wait_for_function("(name) => glass.state.run.model.name === name", arg=own)
    assert story.evaluate("glass.state.trace.prompt") == prompt
    expect(story.locator(".st-none:visible")).to_have_count(0)
    expect(story.locator("[data-scene=corpus]")).to_be_focused()
