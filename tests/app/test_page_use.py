"""Using the page in a real browser: prompts good and bad, generating, stopping, models, runs that went away."""

import re
from typing import Any

import numpy as np
import pytest
from playwright.sync_api import Browser, Page, expect

import model
from app.engine import LocalEngine
from app.examples import EXAMPLES
from app.session import Runs
from app.texts import text
from model.interventions import Intervention
from tests.app.looking import BOX, PANELS, idle, run, settled, shown, type_in
from tests.page import leave, open_page, wait_for_run


@pytest.mark.gradio
def test_generate_streams_and_ends_in_a_run(page: Page, engine: LocalEngine, roomy_checkpoint: Any) -> None:
    page.evaluate("window.seen = []; void glass.on('steps', (trace) => seen.push(trace.steps.length))")
    page.click("#generate")
    page.wait_for_function("glass.state.status === 'idle' && glass.state.trace.steps.length > 0")
    prompt, ids = page.evaluate("[glass.state.trace.prompt, glass.state.trace.tokens.ids]")
    steps = list(model.generate(model.load(roomy_checkpoint, device="cpu"), prompt, 32))
    assert ids[-len(steps) :] == [step.token_id for step in steps]
    streamed = page.evaluate("seen")
    assert streamed == sorted(streamed)
    assert streamed[0] >= 1


@pytest.mark.gradio
def test_stop_keeps_what_was_written(page: Page) -> None:
    page.click("#settings .label-wrap")
    box = page.locator("#max_new_tokens input[type=number]")
    box.fill("256")
    box.press("Tab")
    page.click("#generate")
    page.wait_for_function("glass.state.trace.generating && glass.state.trace.steps.length > 0")
    page.locator("#stop").press("Enter")  # a click waits until the page stands still, which it does when all is written
    idle(page)
    tokens, prompt, steps = page.evaluate(
        "[glass.state.trace.T, glass.state.trace.nPrompt, glass.state.trace.steps.length]"
    )
    assert 0 < steps < 256
    assert tokens == prompt + steps
    expect(page.locator("#generate")).to_be_visible()
    expect(page.locator("#stop")).to_be_hidden()


def test_one_more_token(page: Page) -> None:
    before = page.evaluate("glass.state.trace.T")
    for extra in (1, 2):
        page.click("#step")
        page.wait_for_function("(n) => glass.state.trace.T === n && glass.state.status === 'idle'", arg=before + extra)
    assert page.evaluate("glass.state.trace.steps.map((step) => step.index)") == [0, 1]


@pytest.mark.thorough
@pytest.mark.gradio
def test_what_is_switched_off_stays_off_while_the_page_writes_on(page: Page, roomy_checkpoint: Any) -> None:
    changes = {"heads": [[0, 0], [1, 2]], "ffn": [1]}
    off = Intervention(heads=((0, 0), (1, 2)), ffn=(1,))
    prompt = page.evaluate("glass.state.trace.prompt")
    theirs = [step.token_id for step in model.generate(model.load(roomy_checkpoint), prompt, 32, intervention=off)]
    page.evaluate("(changes) => glass.change(changes)", changes)
    page.wait_for_function("glass.state.trace.changes.ffn && glass.state.status === 'idle'")
    for button, count in (("#step", 1), ("#step", 2), ("#generate", len(theirs))):
        page.click(button)
        written = "glass.state.status === 'idle' && glass.state.trace.steps.length === n"
        page.wait_for_function(f"(n) => {written}", arg=count)
        ids, made = page.evaluate(
            "[glass.state.trace.tokens.ids.slice(glass.state.trace.nPrompt), glass.state.trace.changes]"
        )
        assert (ids, made) == (theirs[:count], changes)
        expect(page.locator("section[data-kind=why] .gp-changed")).to_contain_text("FFN of layer 1 off")
    page.click("#run")
    page.wait_for_function("glass.state.status === 'idle' && !glass.state.trace.steps.length")
    assert page.evaluate("glass.state.trace.changes") == {}


BAD = {
    "prompt_empty": ("", {}),
    "prompt_blank": ("   ", {}),
    "prompt_too_many_characters": ("x" * 100_000, {"characters": 100_000, "limit": 10_000}),
    "prompt_too_long": ("x" * 600, {"tokens": 600, "limit": 512}),
    "prompt_surrogate": ("a\ud800b", {"position": 2}),
    "prompt_control": ("a\x00b", {"position": 2, "character": "U+0000"}),
}


@pytest.mark.gradio
def test_a_bad_prompt_is_explained_and_the_last_run_stays(page: Page) -> None:
    languages = [("English", "en"), ("中文", "zh")]
    for code, (prompt, params) in BAD.items():
        last = page.evaluate("glass.state.trace.id")
        type_in(page, prompt)
        page.click("#run")
        expect(page.locator(".page-message")).to_have_text(text(f"message.{code}", languages[0][1], **params))
        idle(page)
        assert page.evaluate("glass.state.trace.id") == last
        languages.reverse()
        page.click(f"#language >> text={languages[0][0]}")  # and there the next one is refused
        expect(page.locator(".page-message")).to_have_text(text(f"message.{code}", languages[0][1], **params))
        run(page, f"The cat, after {code}")
        expect(page.locator(".page-message")).to_be_hidden()


ODD = (
    "<script>window.hacked = 1</script><img src=x onerror='window.hacked = 1'>",
    "${window.hacked = 1} {{value}} @children",
    "👩‍👩‍👧 🇨🇳 e\u0301",
    "مرحبا بالعالم \u202eabc",
    "two\nlines\tand a tab",
)


@pytest.mark.thorough
@pytest.mark.gradio
def test_odd_prompts_run_and_stay_text(page: Page, engine: LocalEngine) -> None:
    for prompt in ODD:
        type_in(page, prompt)
        page.click("#run")
        page.wait_for_function("(prompt) => glass.state.trace.prompt === prompt", arg=prompt)
        wait_for_run(page)
        assert page.evaluate("glass.state.trace.tokens.ids") == engine.encode("roomy", prompt)
        assert page.evaluate("window.hacked") is None
        assert page.locator("section.glass-panel script, section.glass-panel img").count() == 0
        for kind in PANELS:
            assert page.locator(f"[data-kind={kind}]").get_attribute("data-failed") is None


def test_the_longest_prompt(page: Page) -> None:
    run(page, "x" * 512)
    assert page.evaluate("glass.state.trace.T") == 512
    page.evaluate("glass.select({ layer: 2, query: 300 })")
    assert shown(page, "attention", "layer 2 head 0 query 300 ")


@pytest.mark.gradio
def test_examples_are_never_seen_in_another_language_than_the_page_is(page: Page) -> None:
    """Not till the page's own language is known, which need not be the one that gradio gives the document."""
    seen = """(own) => {
      Object.assign(document.documentElement.dataset, { examples: "world", language: own });
      if (!own) delete document.documentElement.dataset.language;
      const chips = [...document.querySelectorAll(".page-chips button")];
      return chips.filter((one) => one.checkVisibility({ checkVisibilityCSS: true })).map((one) => one.lang);
    }"""
    assert [set(page.evaluate(seen, own)) for own in ("en", "zh", "")] == [{"en"}, {"zh"}, set()]


@pytest.mark.gradio
def test_choosing_another_model_runs_it(page: Page, engine: LocalEngine) -> None:
    """At once, on the prompt that is there, and at the place that is looked at."""
    run(page, "The dog plays in the yard.")
    expect(page.locator(".page-chips button:visible")).to_have_count(0)  # it has the words of no example
    page.evaluate("glass.open('attend')")
    page.evaluate("glass.select({ layer: 2, head: 3, query: 3, key: 1 })")
    place = "(({ layer, head, query, key }) => [layer, head, query, key])(glass.state.locked)"
    chapter = "document.querySelector('.page-nav [aria-current=page]').textContent"
    before = page.evaluate(f"[{place}, {chapter}]")
    page.select_option("#model select", engine.names[1])
    page.wait_for_function("(name) => glass.state.trace.model.name === name", arg=engine.names[1])
    assert page.evaluate("glass.state.trace.prompt") == "The dog plays in the yard."
    assert page.evaluate(f"[{place}, {chapter}]") == before
    expect(page.locator(BOX)).to_have_value("The dog plays in the yard.")


def test_a_run_that_the_server_let_go_of_comes_back(page: Page, runs: Runs) -> None:
    run(page, "The dog plays in the yard.")
    old, ids = page.evaluate("[glass.state.trace.id, glass.state.trace.tokens.ids]")
    page.wait_for_function("glass.state.trace.layers.size === glass.state.trace.model.n_layers")
    runs.forget(old)
    page.evaluate("glass.select({ layer: 1, query: 2 })")  # this token's neurons are still on the server
    page.wait_for_function("(old) => glass.state.trace.id !== old", arg=old)
    wait_for_run(page)
    assert page.evaluate("[glass.state.trace.tokens.ids, glass.state.layer, glass.state.query]") == [ids, 1, 2]
    expect(page.locator(".page-message")).to_be_hidden()


def test_a_chinese_browser_first_sees_a_chinese_sentence(browser: Browser, site: str) -> None:
    page = open_page(browser, site, locale="zh-CN")
    assert page.evaluate("glass.state.trace.prompt") == EXAMPLES["zh"][0]
    expect(page.locator(BOX)).to_have_value(EXAMPLES["zh"][0])
    leave(page)


def test_the_strip_says_how_many_tokens_are_out_of_sight_and_where_most_weight_lies(
    page: Page, roomy_checkpoint: Any
) -> None:
    prompt = "The dog plays in the yard. " * 8
    run(page, prompt)
    lm = model.load(roomy_checkpoint, device="cpu")
    layer, head, query = page.evaluate("[glass.state.layer, glass.state.head, glass.state.query]")
    trace = model.run_trace(lm, prompt)
    weights = trace.layer(layer).attention[head, query]
    unseen = page.locator("section[data-kind=tokens] .gp-unseen")
    count = """(edge) => {
        const box = document.querySelector(".gp-chips").getBoundingClientRect();
        const middles = [...document.querySelectorAll(".gp-chip")].map((chip) => chip.getBoundingClientRect())
            .map(({ top, height }) => top + height / 2);
        return middles.filter((y) => (edge === "above" ? y < box.top : y > box.bottom)).length;
    }"""
    for place, top in (("above", "9999"), ("below", "0")):
        page.evaluate(f"document.querySelector('.gp-chips').scrollTop = {top}")
        settled(page)
        hidden = page.evaluate(count, place)
        assert hidden > 0
        out = range(hidden) if place == "above" else range(len(weights) - hidden, len(weights))
        strongest = [t for t in np.argsort(-weights)[:3] if t in out and weights[t]]
        listed = re.findall(r"(\d+) “[^”]*” ([\d.]+)", unseen.inner_text())
        expect(unseen).to_contain_text(text(f"tokens.{place}", count=hidden, most=""))
        assert [int(t) for t, _ in listed] == strongest
        assert [float(weight) for _, weight in listed] == pytest.approx(weights[strongest], rel=5e-3)
    page.set_viewport_size({"width": 390, "height": 844})  # a telephone has room for a sentence
    run(page, "The dog plays in the yard. The cat sleeps on")
    assert page.evaluate("glass.state.trace.T") >= 10
    expect(unseen).to_be_hidden()


def test_what_a_pooled_map_shows_is_said_under_it_and_not_cut(page: Page) -> None:
    run(page, "The dog plays in the yard. " * 40)
    note = page.locator("section[data-kind=attention]").get_by_text("Each dot of a map")
    expect(note).to_be_visible()
    words = re.search(r"(\d+) × (\d+) weights\.", note.inner_text())
    assert words
    assert words[1] == words[2]
    assert int(words[1]) > 1
    assert note.evaluate("(element) => element.scrollWidth <= element.clientWidth")


@pytest.mark.parametrize("language", ["en", "zh"])
def test_the_chosen_model_stands_beside_the_arrow_on_a_phone(browser: Browser, site: str, language: str) -> None:
    page = open_page(browser, f"{site}#lang={language}", width=360, height=740)
    text_end, arrow = page.evaluate(
        """() => {
            const { paddingRight, backgroundPositionX, backgroundSize } =
              getComputedStyle(document.querySelector("#model select"));
            const [right, width] = [/([\\d.]+)px\\)?$/.exec(backgroundPositionX)[1], backgroundSize].map(parseFloat);
            return [parseFloat(paddingRight), right + width];
        }"""
    )  # both from the right
    assert text_end >= arrow > 0
    leave(page)


def test_back_and_forward_lead_through_the_chapters(page: Page) -> None:
    shown_chapter = page.locator("nav.page-nav [aria-current]")
    first = page.locator("nav.page-nav button").nth(0).get_attribute("data-chapter")
    page.click("nav [data-chapter=attend]")
    page.click("nav [data-chapter=kv]")
    page.click("nav [data-chapter=kv]")  # is open: one entry, not two
    before = page.evaluate("glass.state.trace.id")
    for step, chapter in ((page.go_back, "attend"), (page.go_back, first), (page.go_forward, "attend")):
        step()
        expect(shown_chapter).to_have_attribute("data-chapter", str(chapter))
    expect(page.locator("section[data-kind=cell]")).to_be_visible()
    page.wait_for_function("location.hash.includes('chapter=attend')")
    assert page.evaluate("glass.state.trace.id") == before


def test_at_twice_the_size_the_buttons_share_a_line_and_only_the_chapters_stay(browser: Browser, site: str) -> None:
    page = open_page(browser, site, width=640, height=360)  # 1280 × 720 at 200 %
    buttons = page.locator(".page-bar > button:visible")
    expect(buttons).to_have_count(3)
    assert len(set(buttons.evaluate_all("(all) => all.map((one) => one.getBoundingClientRect().top)"))) == 1
    page.wait_for_function("scrollTo(0, 2000) ?? scrollY > 1000")  # as far as that once the panels are drawn
    expect(page.locator("section[data-kind=tokens]")).not_to_be_in_viewport()
    chapters = page.locator(".page-nav").bounding_box()
    assert chapters
    assert chapters["y"] == 0
    assert chapters["height"] <= 40
    page.locator(".page-nav [data-chapter=norm]").click()
    settled(page)
    begins = page.locator("section.glass-panel[data-kind=norm-vector], .page-grid").first.bounding_box()
    assert begins
    assert 0 <= begins["y"] - chapters["height"] <= 24
    leave(page)
