"""The page in a real browser: what it shows is what the model computed, and every view of it holds together."""

import re
import threading
import time
from typing import Any

import gradio as gr
import numpy as np
import pytest
import uvicorn
from fastapi import FastAPI
from playwright.sync_api import Browser, Page, Route, expect

from app.build import build
from app.engine import LocalEngine
from app.hosting import HOSTING, launch_options
from app.texts import text
from tests.app.looking import BOX, PANELS, array, calm, faults, number, questions, run, settled, shown, state, trace_of
from tests.one_of import one_of
from tests.page import OVER_A_NETWORK, free_port, leave, new_page, open_page, wait_for_run
from visuals.palette import GROUND, rgb


@pytest.mark.gradio
def test_a_run_is_shown_without_a_click(page: Page) -> None:
    for kind in PANELS:
        expect(page.locator(f"section.glass-panel[data-kind={kind}]")).to_be_visible()
        assert page.locator(f"[data-kind={kind}]").get_attribute("data-failed") is None
    assert page.locator(".page-device").inner_text().startswith("CPU, float32, ")
    expect(page.locator("#glass-late")).to_have_count(0)  # hides nothing, and costs as long as it is there


def test_the_page_holds_what_the_model_computed(page: Page, engine: LocalEngine) -> None:
    expect(page.locator("#glass-late")).to_have_count(0)
    run(page, "The dog plays in the yard.")
    trace = trace_of(page, engine)
    np.testing.assert_array_equal(array(page, "glass.state.trace.rms.attn"), trace.attn_norm_rms)
    np.testing.assert_array_equal(array(page, "glass.state.trace.rms.ffn"), trace.ffn_norm_rms)
    for index in range(trace.n_layers):
        page.evaluate("(layer) => glass.select({ layer })", index)
        page.wait_for_function("glass.layer()")
        np.testing.assert_array_equal(array(page, "glass.layer().q"), trace.layer(index).q)
        np.testing.assert_array_equal(array(page, "glass.layer().k"), trace.layer(index).k)
        page.wait_for_function("glass.layer().neurons.has(glass.state.query)")
        gate = array(page, "glass.layer().neurons.get(glass.state.query).gate")
        np.testing.assert_array_equal(gate, trace.layer(index).gate[-1])


def test_shown_numbers_follow_the_selection_and_agree_with_the_trace(page: Page, engine: LocalEngine) -> None:
    run(page, "The dog plays in the yard.")
    trace = trace_of(page, engine)
    for layer, head, query, key in ((0, 0, 3, 1), (2, 5, 6, 6), (1, 4, 5, 0)):
        selection = {"layer": layer, "head": head, "query": query, "key": key}
        page.evaluate("(selection) => glass.select(selection)", selection)
        truth = trace.layer(layer)
        attention = shown(page, "attention", f"layer {layer} head {head} query {query} key {key} ")
        assert number(attention, "weight") == pytest.approx(truth.attention[head, query, key], rel=1e-3, abs=1e-6)
        assert number(attention, "score") == pytest.approx(truth.scores[head, query, key], rel=1e-3, abs=1e-4)
        rms = shown(page, "rmsnorm", f"layer {layer} attn token {query} ")
        assert number(rms, "rms") == pytest.approx(trace.attn_norm_rms[layer, query], rel=1e-3)
    page.evaluate("glass.select({ neuron: 17 })")
    swiglu = shown(page, "swiglu", "neuron 17 ")
    assert number(swiglu, "gate") == pytest.approx(trace.layer(1).gate[5, 17], rel=1e-3)
    assert number(swiglu, "up") == pytest.approx(trace.layer(1).up[5, 17], rel=1e-3)
    best = float(trace.logits.max())
    assert number(shown(page, "next"), "logit") == pytest.approx(best, rel=1e-3)


def test_keys_move_the_selection(page: Page) -> None:
    page.locator("h1").click()
    last, layer = state(page, "query", "layer")
    for key in ("ArrowLeft", "ArrowLeft", "ArrowRight", "]"):
        page.keyboard.press(key)
    assert state(page, "query", "layer", "head") == [last - 1, layer, 1]
    page.keyboard.press("ArrowDown")  # no panel has the focus: the page scrolls
    page.wait_for_function("scrollY > 0")
    page.locator("section[data-kind=swiglu] h2").click()
    page.keyboard.press("ArrowUp")
    assert state(page, "query", "layer") == [last - 1, layer + 1]
    page.focus(BOX)
    page.keyboard.press("ArrowLeft")
    assert state(page, "query") == [last - 1]


def test_a_preview_is_released_by_escape(page: Page) -> None:
    page.evaluate("glass.preview({ layer: 2 })")
    assert state(page, "layer") == [2]
    page.locator("h1").click()
    page.keyboard.press("Escape")
    assert state(page, "layer") == [0]


def test_looking_at_what_is_there_asks_nothing(page: Page) -> None:
    page.wait_for_function("glass.state.trace.layers.size === glass.state.trace.model.n_layers")
    page.wait_for_function("glass.layer().neurons.size === glass.state.trace.T")
    asked = questions(page)
    for layer, query in ((1, 2), (2, 0), (0, 1)):
        page.evaluate("(change) => glass.preview(change)", {"layer": layer, "query": query})
        wait_for_run(page)
    calm(page)
    assert asked == []


@pytest.mark.gradio
def test_language_switch_changes_every_text_and_keeps_the_run(page: Page) -> None:
    page.click("#settings .label-wrap")
    last = page.evaluate("glass.state.trace.id")
    page.click("#language >> text=中文")
    expect(page.locator("#run")).to_have_text(text("bar.run", "zh"))
    expect(page.locator("h1")).to_have_text(text("page.heading", "zh"))
    expect(page.locator("#temperature")).to_contain_text(text("bar.temperature", "zh"))
    expect(page.locator(BOX)).to_have_attribute("placeholder", text("bar.prompt_hint", "zh"))
    assert page.title() == text("page.title", "zh")
    assert page.locator("html").get_attribute("lang") == "zh-CN"
    assert page.evaluate("glass.state.trace.id") == last
    for kind in PANELS:
        assert re.search("[一-鿿]", page.locator(f"[data-kind={kind}] h2").inner_text()), kind
    page.click("#language >> text=English")
    expect(page.locator("#run")).to_have_text("Run")


@pytest.mark.gradio
def test_a_link_brings_the_view_back(page: Page, site: str) -> None:
    run(page, "猫 & <b>dog</b> #1")
    page.click("#step")
    page.wait_for_function("glass.state.trace.steps.length === 1")
    page.click("#language >> text=中文")
    page.wait_for_function("glass.state.language === 'zh'")
    page.evaluate("glass.select({ layer: 2, head: 3, query: 4, key: 2, neuron: 7 })")
    page.wait_for_function("location.hash.includes('neuron=7')")  # the address waits for a pause
    before = page.evaluate("[glass.state.trace.tokens.ids, glass.state.locked, glass.state.trace.nPrompt]")
    link = page.evaluate("location.href")
    page.goto("about:blank")
    page.goto(link)
    wait_for_run(page)
    assert page.evaluate("[glass.state.trace.tokens.ids, glass.state.locked, glass.state.trace.nPrompt]") == before
    expect(page.locator(BOX)).to_have_value("猫 & <b>dog</b> #1")
    expect(page.locator("#run")).to_have_text(text("bar.run", "zh"))


LAUNCH_ALONE = ("quiet", "max_threads", "state_session_capacity")  # what gradio takes where it serves by itself


def test_it_works_under_a_path(browser: Browser, engine: LocalEngine) -> None:
    demo = build(engine)
    options = {name: value for name, value in launch_options(demo, HOSTING).items() if name not in LAUNCH_ALONE}
    app = gr.mount_gradio_app(FastAPI(), demo, path="/some/where", **options)
    port = free_port()
    server = uvicorn.Server(uvicorn.Config(app, port=port, log_level="warning"))
    thread = threading.Thread(target=server.run, daemon=True)
    thread.start()
    while not server.started:
        time.sleep(0.05)
    page = browser.new_page()
    page.goto(f"http://127.0.0.1:{port}/some/where/")
    wait_for_run(page)
    page.mouse.move(1, 1)  # somebody is there
    page.wait_for_function("glass.state.trace.layers.size === glass.state.trace.model.n_layers")
    page.close()
    server.should_exit = True
    thread.join()


def test_dark_and_light(page: Page) -> None:
    assert state(page, "theme") == ["light"]
    page.click("#theme")
    assert state(page, "theme") == ["dark"]
    assert page.evaluate("getComputedStyle(document.body).backgroundColor") != "rgb(255, 255, 255)"


GROUNDS = {theme: "rgb({}, {}, {})".format(*rgb(GROUND[theme]["bg"])) for theme in GROUND}

GROUNDS_SEEN = """
globalThis.seen = new Set();
(function look() {
  if (document.body) seen.add(getComputedStyle(document.body).backgroundColor);
  requestAnimationFrame(look);
})();
"""


@pytest.mark.gradio
@pytest.mark.parametrize(
    ("scheme", "asked", "theme"), [("dark", "", "dark"), ("light", "", "light"), ("dark", "?__theme=light", "light")]
)
def test_before_any_script_has_come_the_ground_has_the_theme_that_stays(
    browser: Browser, site: str, scheme: Any, asked: str, theme: str
) -> None:
    page = new_page(browser, site, 390, 844, color_scheme=scheme)
    page.add_init_script(GROUNDS_SEEN)
    held: list[Route] = []
    holds = True

    def hold(route: Route) -> None:
        held.append(route) if holds else route.continue_()

    page.route(re.compile(r"\.js$"), hold)
    page.goto(f"{site.rstrip('/')}/{asked}", wait_until="commit")
    page.wait_for_function("[...document.styleSheets].some(({ href }) => href?.endsWith('page.css'))")
    ground = "getComputedStyle(document.body).backgroundColor"
    assert page.evaluate(ground) == GROUNDS[theme]
    assert held
    holds = False
    for route in held:
        route.continue_()
    wait_for_run(page)
    assert state(page, "theme") == [theme]
    assert page.evaluate("[...seen]") == [GROUNDS[theme]]
    page.click("#theme")
    other = "light" if theme == "dark" else "dark"
    page.wait_for_function(f"{ground} === '{GROUNDS[other]}'")
    page.close()  # a script of its own looks on in it


@pytest.mark.parametrize(("scheme", "width"), one_of([("light", 1280), ("dark", 1280), ("light", 360)]))
def test_accessible_and_nothing_cut(browser: Browser, site: str, scheme: Any, width: int) -> None:
    page = open_page(browser, site, width, color_scheme=scheme)
    assert state(page, "theme") == [scheme]
    page.click("#settings .label-wrap")
    expect(page.locator("#seed input")).to_be_visible()
    settled(page)
    assert faults(page, scheme) == []
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    leave(page)


COVERED = """() => {
    const nav = document.querySelector(".page-nav");
    const parts = "button, input, select, summary, [tabindex='0']";
    const all = [...document.querySelectorAll(`.page-grid :is(${parts})`)]
        .filter((one) => one.getClientRects().length && !one.disabled);
    const under = all.filter((one) => {
        scrollTo(0, document.documentElement.scrollHeight);
        one.focus();
        return document.activeElement === one && one.getBoundingClientRect().top < nav.getBoundingClientRect().bottom;
    });
    return [all.length, under.map((one) => one.outerHTML.slice(0, 120))];
}"""


@pytest.mark.screen
def test_the_token_strip_stays_in_view_as_one_row_and_nothing_that_is_scrolled_to_lies_under_it(page: Page) -> None:
    run(page, "The dog plays in the yard. " * 8)
    page.click(".page-nav [data-chapter=attend]")
    settled(page)
    page.evaluate("scrollTo(0, 0)")
    strip = page.locator("[data-kind=tokens]")
    expect(strip).not_to_have_class(re.compile("is-row"))
    place = "document.querySelector('.page-grid').getBoundingClientRect().top + scrollY"
    before = page.evaluate(place)
    page.mouse.wheel(0, 900)
    page.wait_for_function("scrollY > 500")
    expect(strip).to_have_class(re.compile("is-row"))
    row = strip.bounding_box()
    assert row
    assert (row["y"], row["height"]) == (0, 48)
    assert page.evaluate(place) == pytest.approx(before, abs=0.1)  # nothing moved
    expect(strip.locator(".gp-chip.is-query")).to_be_in_viewport()
    count, under = page.evaluate(COVERED)
    assert count >= 10
    assert under == []
    page.evaluate("document.querySelector('section[data-kind=cell]').scrollIntoView()")
    nav = page.locator(".page-nav")
    assert nav.evaluate("(one) => one.getBoundingClientRect().top") == 48  # the chapters stay below it
    bottom = nav.evaluate("(one) => one.getBoundingClientRect().bottom")
    assert page.locator("section[data-kind=cell]").evaluate("(one) => one.getBoundingClientRect().top") >= bottom
    page.click(".page-nav [data-chapter=norm]")  # from far down, to where the chapter begins
    settled(page)
    panels = page.locator(".page-grid")
    assert bottom <= panels.evaluate("(one) => one.getBoundingClientRect().top") <= bottom + 24
    why = strip.get_by_role("button", name=text("tokens.why")).bounding_box()
    assert why
    # not Playwright's click, which may scroll first: at the top of the page the strip takes another form
    page.mouse.click(why["x"] + why["width"] / 2, why["y"] + why["height"] / 2)
    expect(page.locator("section[data-kind=why]")).to_be_in_viewport(ratio=1)
    page.click(".page-nav [data-chapter=norm]")
    page.click(".page-nav [data-chapter=glance]")
    expect(page.locator("section[data-kind=why]")).to_be_in_viewport(ratio=1)


def test_first_load_is_light(browser: Browser, site: str) -> None:
    context = browser.new_context(extra_http_headers=OVER_A_NETWORK)
    page = context.new_page()
    network = context.new_cdp_session(page)
    network.send("Network.enable")
    received: list[float] = []
    asked: list[str] = []
    page.on("request", lambda request: asked.append(request.url))
    network.on("Network.loadingFinished", lambda event: received.append(event["encodedDataLength"]))
    page.goto(site)
    wait_for_run(page)
    page.wait_for_timeout(500)
    context.close()
    assert sum(received) < 600_000
    assert not [address for address in asked if "on-demand" in address]


@pytest.mark.screen
def test_on_a_telephone_a_chapter_opens_with_its_title_under_the_row_of_chapters(page: Page) -> None:
    page.set_viewport_size({"width": 360, "height": 740})
    run(page, "The dog plays in the yard. " * 4)
    for chapter in ("attend", "norm", "choice", "kv"):
        page.click(".page-nav [data-chapter=glance]")
        settled(page)
        page.click(f".page-nav [data-chapter={chapter}]")
        settled(page)
        bottom = page.locator(".page-tabs").evaluate("(one) => one.getBoundingClientRect().bottom")
        title = page.locator(".page-grid .gp-title:visible").first.bounding_box()
        assert title
        assert bottom <= title["y"] <= bottom + 40, chapter
        assert title["y"] < 740 / 4, chapter


@pytest.mark.screen
def test_on_a_telephone_the_row_shows_four_tokens_also_where_an_earlier_one_is_selected(page: Page) -> None:
    page.set_viewport_size({"width": 360, "height": 740})
    run(page, "The dog plays in the yard. " * 3)
    page.click(".page-nav [data-chapter=attend]")
    settled(page)
    page.evaluate("glass.select({ query: 6 })")
    page.mouse.wheel(0, 900)
    strip = page.locator("[data-kind=tokens]")
    expect(strip).to_have_class(re.compile("is-row"))
    settled(page)
    buttons = [strip.get_by_role("button", name=text(name), exact=True) for name in ("tokens.why", "moment.to_end")]
    boxes = [button.bounding_box() for button in buttons]
    assert all(boxes)
    (left, right) = sorted((box for box in boxes if box), key=lambda box: box["x"])
    assert left["x"] + left["width"] + 4 <= right["x"]
    whole = """(chips) => {
      const outer = chips.getBoundingClientRect();
      const inside = ({ left, right }) => left >= outer.left - 1 && right <= outer.right + 1;
      return [...chips.children].filter((chip) => inside(chip.getBoundingClientRect())).length;
    }"""
    assert strip.locator(".gp-chips").evaluate(whole) >= 4
    expect(strip.locator(".gp-chip.is-query")).to_be_in_viewport(ratio=1)


@pytest.mark.screen
def test_on_a_telephone_a_panels_buttons_have_their_names_beside_them_and_what_they_open_is_seen(page: Page) -> None:
    page.set_viewport_size({"width": 360, "height": 740})
    page.click(".page-nav [data-chapter=attend]")
    panel = page.locator("section[data-kind=attention]")
    panel.scroll_into_view_if_needed()
    settled(page)
    panel.get_by_role("button", name=text("frame.more")).click()
    for name in ("explain", "code", "full", "save"):
        expect(panel.get_by_role("button", name=text(f"frame.{name}"), exact=True)).to_have_text(text(f"frame.{name}"))
        expect(panel.locator(".gp-tool-name", has_text=text(f"frame.{name}"))).to_be_visible()
    for name, box in (("explain", ".gp-explain"), ("code", ".gp-code")):
        panel.get_by_role("button", name=text(f"frame.{name}"), exact=True).click()
        top = panel.locator(box).evaluate("(one) => one.getBoundingClientRect().top")
        assert 0 <= top <= 0.7 * 740, name
