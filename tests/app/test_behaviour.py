"""What a reader expects of any page: the address, Back, the keys, text to select, a server that comes and goes."""

from collections.abc import Iterator
from typing import Any
from urllib.parse import urlencode

import pytest
from playwright.sync_api import Browser, Page, expect

from app.examples import EXAMPLES
from app.texts import text
from tests.app.looking import BOX, faults, run, settled, state
from tests.one_of import one_of
from tests.page import leave, open_page, wait_for_run

SHIFTS = """window.shifts = 0;
new PerformanceObserver((list) => {
  for (const { value, hadRecentInput } of list.getEntries()) shifts += hadRecentInput ? 0 : value;
}).observe({ type: "layout-shift", buffered: true });"""


@pytest.fixture
def visit(request: pytest.FixtureRequest, browser: Browser) -> Iterator[Any]:
    """As `page`, one for each visit, whose console may say what it likes: `visit(hash, width, height)`."""
    site = request.getfixturevalue("site" if request.node.get_closest_marker("gradio") else "panels_alone")
    pages: list[Page] = []

    def opened(hash_: str = "", width: int = 1280, height: int = 720, **context: Any) -> Page:
        pages.append(open_page(browser, f"{site}{hash_}", width, height, **{"locale": "en-US"} | context))
        return pages[-1]

    yield opened
    for page in pages:
        leave(page)


@pytest.mark.gradio
def test_back_and_forward_bring_back_prompt_run_and_selection(page: Page) -> None:
    run(page, "The dog plays in the yard.")
    page.evaluate("glass.select({ layer: 2, query: 3, key: 1 })")
    first = page.evaluate("glass.state.trace.tokens.ids")
    run(page, "The cat")
    page.click("#step")
    page.wait_for_function("glass.state.trace.steps.length === 1 && glass.state.status === 'idle'")
    page.fill(BOX, "A draft")
    page.go_back()
    page.go_back()
    page.wait_for_function("glass.state.trace.prompt.startsWith('The dog')")
    assert page.evaluate("glass.state.trace.tokens.ids") == first
    assert state(page, "layer", "query", "key") == [2, 3, 1]
    expect(page.locator(BOX)).to_have_value("The dog plays in the yard.")
    page.go_forward()
    page.go_forward()
    page.wait_for_function("glass.state.trace.prompt === 'The cat' && glass.state.trace.steps.length === 1")
    expect(page.locator(BOX)).to_have_value("The cat")
    page.wait_for_function("location.hash.includes('prompt=The+cat') && location.hash.includes('more=')")


@pytest.mark.gradio
def test_a_pasted_link_loads(page: Page) -> None:
    page.evaluate("window.before = true; location.hash = '#lang=zh&prompt=The+dog&layer=2&head=3&token=0"
                  "&chapter=kv&kv.tokens=4096&sampling.temperature=0.5'")  # fmt: skip
    page.wait_for_function("!window.before && window.glass?.state.trace?.prompt === 'The dog'")
    wait_for_run(page)
    assert state(page, "language", "layer", "head", "query", "chapter") == ["zh", 2, 3, 0, "kv"]
    assert page.evaluate("[glass.settings.get('kv').tokens, glass.settings.get('sampling').temperature]") == [
        "4096",
        "0.5",
    ]
    expect(page.locator(BOX)).to_have_value("The dog")
    page.go_back()
    page.wait_for_function("(prompt) => glass.state.trace.prompt === prompt", arg=EXAMPLES["en"][0])
    expect(page.locator(BOX)).to_have_value(EXAMPLES["en"][0])


def test_every_link_brings_a_run_and_says_what_is_wrong_with_it(visit: Any) -> None:
    page = visit("#lang=constructor&layer=65536")
    expect(page.locator(".page-message")).to_have_text(
        text("message.link_nearest", field="layer", value=65536, expected="0–2")
    )
    assert state(page, "language", "layer") == ["en", 2]
    page = visit("#lang=__proto__&prompt=Tom&more=4096")
    assert page.evaluate("[glass.state.trace.prompt, glass.state.trace.T === glass.state.trace.nPrompt]") == [
        "Tom",
        True,
    ]
    expect(page.locator(".page-message")).to_have_text(
        text("message.link_left_out", field="more", value=4096, expected="0–319")
    )


@pytest.mark.thorough
def test_no_setting_of_a_link_breaks_a_panel(page: Page) -> None:
    """Each panel's settings at values that are none; `page` fails the test for an error on the console."""
    huge = "9" * 300
    hostile = {
        "kv": {"tokens": "constructor", "model": "<b>", "batch": huge, "what": "kv_race"}
        | {"constructor": "x", "draft": "__proto__"},
        "kvfit": {"gpu": "__proto__", "users": huge, "weights": "constructor"},
        "kvchart": {"view": "constructor", "unit": "__proto__", "compare": "constructor|<b>"},
        "sampling": {"temperature": "__proto__", "top_k": "2.5", "top_p": "-1e999", "seed": "1e300"},
        "norm": {"which": "constructor", "scale": "1e999", "shift": "NaN", "channel": "-1"},
        "rope": {"factor": "0", "method": "__proto__", "reach": huge, "both": "-1", "distance": "x"},
        "difference": {"layer": huge, "head": "__proto__"},
        "cell": {"view": "constructor"},
        "lens": {"follow": "constructor", "colour": "__proto__"},
        "constructor": {"x": "1"},
    }  # fmt: skip
    fields = {f"{panel}.{name}": value for panel, settings in hostile.items() for name, value in settings.items()}
    page.evaluate("(hash) => { window.before = true; location.hash = hash; }", f"chapter=kv&{urlencode(fields)}")
    page.wait_for_function("!window.before && window.glass?.state.trace")
    wait_for_run(page)
    page.set_viewport_size({"width": 1280, "height": 6000})  # a panel out of view draws nothing
    for chapter in page.evaluate("Object.keys(glassConfig.chapters)"):
        page.evaluate("(chapter) => glass.open(chapter)", chapter)
        settled(page)
        assert page.locator("[data-failed]").count() == 0, chapter


@pytest.mark.thorough
@pytest.mark.parametrize("language", one_of(["en", "zh"]))
def test_the_keys_are_listed(visit: Any, language: str) -> None:
    page = visit(f"#lang={language}")
    dialog = page.locator("dialog.page-shortcuts")
    page.locator("h1").click()
    page.keyboard.press("?")
    expect(dialog.locator("h2")).to_have_text(text("shortcuts.title", language))
    expect(dialog).to_contain_text(text("shortcuts.layer", language))
    before = state(page, "query")
    page.keyboard.press("ArrowLeft")
    assert state(page, "query") == before
    assert faults(page) == []
    expect(dialog).to_contain_text(text("shortcuts.begin", language))
    page.keyboard.press("Escape")
    expect(dialog).to_be_hidden()
    page.click("#level [data-level=story]")  # which has no "Why?" to press
    page.click("#shortcuts")
    expect(dialog.get_by_text(text("shortcuts.begin_story", language))).to_be_visible()
    expect(dialog.get_by_text(text("shortcuts.begin", language))).to_be_hidden()
    page.keyboard.press("Escape")
    page.click("#level [data-level=workbench]")
    page.click("#shortcuts")
    expect(dialog).to_be_visible()
    page.keyboard.press("Escape")
    expect(page.locator("#shortcuts")).to_be_focused()
    page.fill(BOX, "")
    page.press(BOX, "?")
    expect(dialog).to_be_hidden()
    expect(page.locator(BOX)).to_have_value("?")


@pytest.mark.parametrize(("width", "height"), one_of([(1280, 720), (390, 844)]))
def test_nothing_shifts_while_the_page_loads(browser: Browser, site: str, width: int, height: int) -> None:
    context = browser.new_context(viewport={"width": width, "height": height})
    page = context.new_page()
    page.add_init_script(SHIFTS)
    page.goto(site)
    wait_for_run(page)
    settled(page)
    assert page.evaluate("shifts") < 0.1
    context.close()


@pytest.mark.gradio
def test_the_written_text_can_be_selected_and_copied(visit: Any) -> None:
    page = visit("#pace.speed=all", permissions=["clipboard-read", "clipboard-write"])
    expect(page.locator(".page-written")).to_be_hidden()
    page.click("#generate")
    page.wait_for_function("glass.state.status === 'idle' && glass.state.trace.steps.length > 0")
    place = page.locator(".page-written [role=group]").first
    expect(place).to_be_visible()
    said = place.evaluate("(p) => { getSelection().selectAllChildren(p); return getSelection().toString(); }")
    assert said.startswith(EXAMPLES["en"][0])
    assert len(said) > len(EXAMPLES["en"][0])
    page.locator(".page-written .page-copy").click()
    expect(page.locator(".page-written .page-copy")).to_have_text(text("page.copied"))
    assert page.evaluate("navigator.clipboard.readText()") == place.evaluate("(p) => p.textContent")


@pytest.mark.gradio
def test_the_prompt_box_grows_with_its_text(page: Page) -> None:
    height = "document.querySelector('#prompt textarea').clientHeight"
    page.fill(BOX, "one line")
    low = page.evaluate(height)
    page.fill(BOX, "\n".join("abcdef"))
    assert page.evaluate(height) >= low + 5 * 20
    page.fill(BOX, "\n" * 99)
    assert page.evaluate(height) <= 212


def test_a_token_more_leaves_the_strips_other_chips_alone(page: Page) -> None:
    page.evaluate("document.querySelectorAll('.gp-chip').forEach((chip, t) => { chip.mine = t; })")
    count = page.evaluate("glass.state.trace.T")
    page.click("#step")
    page.wait_for_function("(n) => document.querySelectorAll('.gp-chip').length === n + 1", arg=count)
    assert page.evaluate("[...document.querySelectorAll('.gp-chip')].map((chip) => chip.mine ?? null)") == [
        *range(count),
        None,
    ]
    run(page, "The dog")
    assert page.locator(".gp-chip").count() == page.evaluate("glass.state.trace.T")


@pytest.mark.thorough
def test_a_chart_further_down_is_not_waited_for(page: Page) -> None:
    page.click("nav [data-chapter=kv]")
    settled(page)
    assert page.evaluate("window.Plotly") is None
    page.locator("section[data-kind=kv-chart]").scroll_into_view_if_needed()
    expect(page.locator("section[data-kind=kv-chart] .gp-plot .scatterlayer .trace").first).to_be_attached()


@pytest.mark.thorough
@pytest.mark.parametrize("language", one_of(["en", "zh"]))
def test_the_strips_title_is_never_cut(visit: Any, language: str) -> None:
    page = visit(f"#lang={language}&prompt=The+cat")
    page.evaluate("glass.keep(glass.state.trace)")
    run(page, "The dog")
    page.evaluate("glass.state.trace.tokens.pieces[1] = ' internationalization'; glass.select({ query: 1 })")
    cut = """() => {
        const title = document.querySelector("[data-kind=tokens] .gp-title");
        title.textContent = title.textContent.replace(/\\d+/, "511");
        return title.scrollWidth > title.clientWidth;
    }"""
    for side in ("B", "A", "B-A"):
        page.evaluate("(side) => glass.showSide(side)", side)
        for width in (1440, 1280, 1000, 800, 600, 530, 390, 360):
            page.set_viewport_size({"width": width, "height": 720})
            settled(page)
            assert not page.evaluate(cut), (side, width)


@pytest.mark.gradio
def test_a_server_that_goes_away_and_comes_back(visit: Any) -> None:
    page = visit()
    page.evaluate("window.stays = true")
    message = page.locator(".page-message")
    last = page.evaluate("glass.state.trace.id")
    settled(page)  # what it fetches by itself is here, so that the message is the run's
    page.route("**/*", lambda route: route.abort())
    page.fill(BOX, "My own text.")
    page.click("#run")
    expect(message).to_have_text(text("message.no_connection"))
    assert page.evaluate("[glass.state.trace.id, glass.state.status]") == [last, "idle"]
    with page.expect_event("requestfailed", lambda request: request.url.endswith("zh.json")):
        page.click("#language >> text=中文")  # its words are not here
    expect(page.locator("#language label.selected")).to_have_text("English")
    page.unroute_all()
    expect(message).to_have_text(text("message.connected"))
    expect(page.locator(".toast-body")).to_have_count(0)
    page.click("#run")
    page.wait_for_function("glass.state.trace.prompt === 'My own text.'")
    wait_for_run(page)
    expect(message).to_be_hidden()
    assert page.evaluate("window.stays") is True
