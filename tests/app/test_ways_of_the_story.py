"""The story as it is used: from every scene to its panel and back, without motion, and what a change moves within
sight; over the bundled model, of which every scene has something to tell."""

import re
from collections.abc import Iterator
from typing import Any

import pytest
from playwright.sync_api import Browser, Page, expect

from app.texts import LANGUAGES, text
from tests.app.looking import scene_of, settled
from tests.one_of import one_of
from tests.page import leave, open_page

SCENES = (
    *("answer", "pieces", "norm", "looks", "match", "rope", "group", "carried", "gate", "layers", "choice", "cache"),
)
SIZES = ((1280, 720), (390, 844))


@pytest.fixture
def story(browser: Browser, bundled: str) -> Iterator[Page]:
    page = open_page(browser, f"{bundled}#lang=en", story=True)
    yield page
    leave(page)


def test_every_scene_leads_to_what_it_tells_of_and_back(story: Page) -> None:
    story.emulate_media(reduced_motion="reduce")
    told = {name: scene_of(story, name).get_attribute("data-value") or "" for name in SCENES}
    followed = re.match(r"layer (\d+) head (\d+) query (\d+) key (\d+) ", told["looks"])
    assert followed
    layer, head, query, key = map(int, followed.groups())
    found = re.match(r"layer (\d+) neuron (\d+) ", told["gate"])
    assert found
    turned = re.match(r"head (\d+) key (\d+) ", told["rope"])  # of a head that distance counts for
    assert turned
    cell = {"layer": layer, "head": head, "query": query, "key": key}
    leads: dict[str, dict[str, int]] = {
        "answer": {"query": query},
        "pieces": {},
        "norm": {"layer": layer, "query": key},
        "looks": cell,
        "match": cell,
        "rope": cell | {"head": int(turned[1]), "key": int(turned[2])},
        "group": {"layer": layer, "head": head},
        "carried": cell,
        "gate": {"layer": int(found[1]), "neuron": int(found[2]), "query": query},
        "layers": {"query": query},
        "choice": {"query": query},
        "cache": {"query": query},
    }
    for name in SCENES:
        scene = scene_of(story, name)
        behind = scene.get_attribute("data-behind")
        assert behind, name
        # something else is looked at meanwhile: what the scene tells of is chosen anew
        story.evaluate("glass.select({ layer: 0, head: 0, query: 1, key: 0, neuron: 0 })")
        settled(story)
        scene.locator(".st-more").click()
        panel = story.locator(f"section[data-kind={behind}]")
        expect(panel).to_be_in_viewport()
        expect(story.locator(".page-story")).to_be_hidden()
        at = story.evaluate("(names) => names.map((name) => glass.state[name])", list(leads[name]))
        assert dict(zip(leads[name], at, strict=True)) == leads[name], name
        story.click(".page-back button >> nth=0")
        expect(scene).to_be_in_viewport()
        assert story.evaluate("glass.state.chapter") == "story", name


@pytest.mark.parametrize("code", one_of(LANGUAGES))
def test_an_answer_that_is_no_word_stands_in_the_gap_by_name(story: Page, code: str) -> None:
    story.evaluate("(code) => glass.setLanguage(code)", code)
    story.wait_for_function("(code) => document.documentElement.dataset.language === code", arg=code)
    scene = scene_of(story, "answer")
    gap = scene.locator(".st-gap")
    for piece, sign, name in (
        ("\n", "⏎", "line_break"),
        ("\n\n", "⏎", "line_break"),
        ("\t", "⇥", "tab"),
        (" ", "␣", "blank"),
        (".", ".", "full_stop"),
    ):
        # as if the most probable token were this one
        story.evaluate(
            "(piece) => { const { next } = glass.state.trace; next.pieces = [piece, ...next.pieces.slice(1)];"
            " glass.state.trace = { ...glass.state.trace, next: { ...next } }; glass.repaint(true); }",
            piece,
        )
        named = text("story.sign", code, sign=sign, name=text(f"story.{name}", code))
        expect(gap).to_have_text(sign if sign == "." else named)
        expect(scene.locator("h2")).to_contain_text(named)


# All that a scene shows, where it stands and how much it is seen.
GEOMETRY = """(scene) => {
  const from = scene.getBoundingClientRect();
  return [...scene.querySelectorAll("*")].map((one) => {
    const { left, top, width, height } = one.getBoundingClientRect();
    const { opacity, transform } = getComputedStyle(one);
    const place = [left - from.left, top - from.top, width, height].map((x) => Math.round(x));
    return [one.localName, ...place, opacity, transform, one.children.length ? "" : one.textContent].join(" ");
  });
}"""


def test_who_asks_for_less_motion_sees_what_the_motion_ends_in(browser: Browser, bundled: str) -> None:
    """Of every scene, also after what a press moves: the bars of a switched-off word, a slider, a token that comes."""
    found: dict[str, dict[str, list[str]]] = {}
    for motion in ("no-preference", "reduce"):
        page = open_page(browser, f"{bundled}#lang=en", story=True)
        page.emulate_media(reduced_motion=motion)
        found[motion] = {}
        for name in SCENES:
            scene = scene_of(page, name)
            settled(page)
            if name == "answer":
                scene.locator("[data-act=hide]").click()
                expect(scene.locator(".st-bars .is-after")).to_be_visible()
            for slider in scene.locator("input[type=range]").all():
                slider.evaluate("(one) => { one.value = one.max; one.dispatchEvent(new Event('input')); }")
            settled(page)
            moving = (
                "(scene) => scene.getAnimations({ subtree: true }).filter((one) => one.playState === 'running').length"
            )
            if motion == "reduce":
                assert scene.evaluate(moving) == 0, name
            page.wait_for_function(f"(scene) => ({moving})(scene) === 0", arg=scene.element_handle())
            found[motion][name] = scene.evaluate(GEOMETRY)
        leave(page)
    for name in SCENES:
        assert found["reduce"][name] == found["no-preference"][name], name


@pytest.mark.parametrize(("width", "height"), SIZES)
def test_what_switching_heads_off_changes_is_within_sight(story: Page, width: int, height: int) -> None:
    story.emulate_media(reduced_motion="reduce")
    story.set_viewport_size({"width": width, "height": height})
    scene = scene_of(story, "answer")
    scene.locator("[data-act=heads]").click()
    story.wait_for_function("glass.state.trace.changes.heads?.length")
    expect(scene.locator(".st-bars .is-after")).to_be_visible()
    settled(story)
    for part in (".st-bars .is-first .st-best", ".st-bars .is-after .st-share", ".st-bars .is-before .st-share"):
        expect(scene.locator(part)).to_be_in_viewport(ratio=1)
    scene.locator("[data-act=back]").click()
    story.wait_for_function("!glass.state.trace.changes.heads?.length")
    story.evaluate("glass.open('glance')")
    story.click(".wy-ask")
    switch = story.locator(".wy-actions .gp-holds")
    switch.click()
    story.wait_for_function("glass.state.trace.changes.heads?.length")
    settled(story)
    why = story.locator("section[data-kind=why]")
    outcome = why.locator(".wy-outcome")
    expect(outcome).to_be_in_viewport(ratio=1)
    word, sure = (why.locator(one).inner_text() for one in (".wy-word", ".wy-sure"))
    assert outcome.inner_text() == text("why.outcome", before="“kitchen” 99.8%", now=f"“{word}” {sure}")
    switch.click()
    story.wait_for_function("!glass.state.trace.changes.heads?.length")
    expect(outcome).to_have_count(0)


# What has the focus, and how it is seen to have it.
FOCUSED = """() => {
  const one = document.activeElement;
  const { outlineStyle, outlineWidth, boxShadow } = getComputedStyle(one);
  const { top, bottom, width } = one.getBoundingClientRect();
  const isSeen = (outlineStyle !== "none" && parseFloat(outlineWidth) >= 1) || boxShadow !== "none";
  return { name: one.dataset.act ?? one.className, inside: bottom > 0 && top < innerHeight && width > 0,
           seen: one !== document.body && isSeen };
}"""


def test_keys_alone_change_a_word_switch_heads_off_go_to_a_panel_and_back_and_run_a_sentence(story: Page) -> None:
    story.emulate_media(reduced_motion="reduce")
    scene = scene_of(story, "answer")
    swap, heads, back = (scene.locator(one) for one in (".st-swaps button", "[data-act=heads]", "[data-act=back]"))
    expect(swap.first).to_be_visible()

    def tab_to(target: Any) -> None:
        """Goes on by Tab; every stop on the way is seen."""
        for _ in range(160):
            story.keyboard.press("Tab")
            if target.evaluate("(one) => one === document.activeElement"):
                return seen("Tab")
        raise AssertionError(target)

    def seen(after: str) -> None:
        at = story.evaluate(FOCUSED)
        assert at["seen"], (after, at)
        assert at["inside"], (after, at)

    prompt = story.evaluate("glass.state.trace.prompt")
    tab_to(swap.first)
    story.keyboard.press("Enter")
    story.wait_for_function("(prompt) => glass.state.trace.prompt !== prompt", arg=prompt)
    settled(story)
    seen("a word is changed")
    if not back.evaluate("(one) => one === document.activeElement"):
        tab_to(back)
    story.keyboard.press("Enter")
    story.wait_for_function("(prompt) => glass.state.trace.prompt === prompt", arg=prompt)
    settled(story)
    seen("the word is back")
    if not heads.evaluate("(one) => one === document.activeElement"):
        story.evaluate("document.querySelector('[data-scene=answer]').focus()")
        tab_to(heads)
    story.keyboard.press("Enter")
    story.wait_for_function("glass.state.trace.changes.heads?.length")
    settled(story)
    seen("heads are off")
    more = scene.locator(".st-more")
    tab_to(more)
    story.keyboard.press("Enter")
    expect(story.locator("section[data-kind=why]")).to_be_in_viewport()
    settled(story)
    seen("a panel is opened")
    tab_to(story.locator(".page-back button").first)
    story.keyboard.press("Enter")
    expect(scene).to_be_in_viewport()
    settled(story)
    seen("back in the story")
    box = story.locator("#prompt textarea")
    story.evaluate("scrollTo(0, 0)")
    story.evaluate("document.activeElement.blur()")
    tab_to(box)
    story.keyboard.press("Control+a")
    story.keyboard.type("The dog plays in the")
    story.keyboard.press("Enter")
    story.wait_for_function("glass.state.trace.prompt === 'The dog plays in the'")
    settled(story)
    seen("a sentence is run")


# Filled buttons that are no choice that is made: in the accent's colour, as what is to be pressed first.
FILLED = """(root) => {
  const probe = document.body.appendChild(document.createElement("i"));
  probe.style.background = "var(--glass-accent)";
  const accent = getComputedStyle(probe).backgroundColor;
  probe.remove();
  const states = ["aria-pressed", "aria-current", "aria-selected", "aria-checked", "aria-expanded"];
  return [...document.querySelectorAll(root)].flatMap((of) => [...of.querySelectorAll("button, a, summary")])
    .filter((one) => one.checkVisibility() && getComputedStyle(one).backgroundColor === accent)
    .filter((one) => !states.some((name) => one.getAttribute(name) && one.getAttribute(name) !== "false"))
    .map((one) => one.textContent);
}"""


def test_no_chapter_and_no_scene_has_more_than_one_button_that_is_filled(story: Page) -> None:
    for name in SCENES:
        scene_of(story, name)
        found = story.evaluate(FILLED, f"[data-scene={name}]")
        assert len(found) <= 1, (name, found)
    assert len(story.evaluate(FILLED, ".page-story")) == 1  # the way on, at its end
    chapters = story.evaluate(
        "[...document.querySelectorAll('.page-nav [data-chapter]')].map((one) => one.dataset.chapter)"
    )
    assert len(chapters) > 5
    for chapter in chapters:
        story.evaluate("(name) => glass.open(name)", chapter)
        settled(story)
        panels = "section.glass-panel"
        found = story.evaluate(FILLED, panels)
        assert len(found) <= 1, (chapter, found)
