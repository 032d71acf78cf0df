"""The KV-cache chapter's sliders and its chart in a real browser."""

from collections.abc import Callable
from typing import Any

import pytest
from playwright.sync_api import Page, expect

from app.service import Service
from app.texts import text
from model import kv_cache_bytes
from model.kv_math.gpus import GPUS
from tests.app.kv_chapter import calculated, field, opened, panel
from tests.app.looking import idle, questions, settled, shown
from tests.one_of import one_of
from tests.page import listen, wait_for_run

pytestmark = pytest.mark.chapter("kv")


@pytest.fixture
def chapter(page: Page) -> Page:
    return opened(page)


def near(page: Page, slider: Any, sizes: tuple[str, ...]) -> list[str]:
    """Goes to a slider and waits for the answers at its places; gives what is asked from then on."""
    answered: list[str] = []
    listen(page, "requestfinished", lambda request: answered.append(request.post_data or ""))
    slider.focus()
    for size in sizes:
        wanted = f'"asked":"{size}"'
        while not any("kv_places" in text and wanted in text for text in answered):
            page.wait_for_timeout(50)
    return questions(page)


def moved_from(page: Page, kind: str, name: str, last: int) -> int:
    """The number beside a slider, once it is another than the last one."""
    box = field(page, kind, name)
    expect(box).not_to_have_value(str(last))
    return int(box.input_value())


@pytest.mark.parametrize("name", one_of(["tokens", "batch"]))
def test_a_slider_asks_once_and_then_shows_every_place_without_a_request(chapter: Page, name: str) -> None:
    page = chapter
    page.set_viewport_size({"width": 1280, "height": 2600})  # calculator and chart at once
    panel(page, "kv-chart")
    plot = "document.querySelector('section[data-kind=kv-chart] .gp-plot')"
    page.wait_for_selector("section[data-kind=kv-chart] .gp-plot .scatterlayer .trace", state="attached")
    idle(page)
    slider = panel(page, "kv-calculator").locator(f"[data-field={name}] input[type=range]")
    asked = near(page, slider, ("kv", "kv_chart"))
    size = {"tokens": 8192, "batch": 1}
    for _ in range(9):
        slider.press("ArrowRight")
        before, size[name] = size[name], moved_from(page, "kv-calculator", name, size[name])
        assert size[name] > before  # no step is lost, however small the number
        count = kv_cache_bytes("Llama-3 8B", size["tokens"], size["batch"])
        value = f"Llama-3 8B tokens={size['tokens']} batch={size['batch']} dtype=bf16 bytes={count}"
        expect(panel(page, "kv-calculator")).to_have_attribute("data-value", value)
        page.wait_for_function(f"(count) => {plot}.data.at(-1).customdata[0][2] === count", arg=str(count))
    drawn = page.evaluate(f"{plot}.data.map((trace) => trace.customdata.map((said) => said.slice(0, 3)))")
    for model, tokens, count in (point for trace in drawn for point in trace):
        assert int(count) == kv_cache_bytes(model, tokens, size["batch"])
    assert [text for text in asked if '"what":"kv"' in text or "kv_chart" in text] == []


@pytest.mark.thorough
@pytest.mark.parametrize(("kind", "name"), one_of([("kv-calculator", "tokens"), ("kv-calculator", "batch"),
                                            ("kv-fit", "users"), ("kv-fit", "user_tokens")]))  # fmt: skip
def test_what_fits_follows_every_slider_without_a_request(
    chapter: Page, service: Service, kind: str, name: str
) -> None:
    page = chapter
    page.set_viewport_size({"width": 1280, "height": 4000})  # the calculator and what fits at once
    panel(page, "kv-fit")
    shown(page, "kv-fit", "gpu=H100 80 GB")
    expect(panel(page, "kv-fit").locator("tbody tr")).to_have_count(len(GPUS))
    idle(page)
    slider = panel(page, kind).locator(f"[data-field={name}] input[type=range]")
    asked = near(page, slider, ("kv", "kv_fit") if kind == "kv-calculator" else ("kv_needs",))
    settings: dict[str, Any] = {"model": "Llama-3 8B", "tokens": 8192, "batch": 1, "users": 64, "user_tokens": 8192}
    for key in ("ArrowRight",) * 5 + ("ArrowLeft",) * 2:
        slider.press(key)
        settings[name] = moved_from(page, kind, name, settings[name])
        found = service.calculate({"what": "kv_fit", **settings})["data"]
        value = f"gpu=H100 80 GB fits={str(found['use']['fits']).lower()} free={found['use']['free']} batch="
        value += f"{found['batch']['value'] or 'none'} context={found['context']['value'] or 'none'}"
        expect(panel(page, "kv-fit")).to_have_attribute("data-value", value)
        needed = service.calculate({"what": "kv_needs", **settings})["data"]["gpus"]
        expect(panel(page, "kv-fit").locator("tbody td:nth-child(3)")).to_have_text(
            [f"{gpu['at_least']:,}" for gpu in needed]
        )
    assert [text for text in asked if '"what":"kv' in text] == []


def test_the_chart_draws_zooms_and_is_clicked(chapter: Page) -> None:
    page = chapter
    panel(page, "kv-chart")
    page.wait_for_selector("section[data-kind=kv-chart] .gp-plot .scatterlayer .trace", state="attached")
    plot = "document.querySelector('section[data-kind=kv-chart] .gp-plot')"
    drawn = page.evaluate(f"{plot}.data.map((trace) => trace.customdata.map((said) => said.slice(0, 3)))")
    for model, tokens, count in (point for trace in drawn for point in trace):
        assert int(count) == kv_cache_bytes(model, tokens)
    room = page.locator("section[data-kind=kv-chart] .gp-plot .nsewdrag").bounding_box()
    assert room
    left, middle, width = room["x"], room["y"] + room["height"] / 2, room["width"]
    page.mouse.move(left + width / 3, middle)
    page.mouse.down()
    page.mouse.move(left + width * 2 / 3, middle, steps=5)
    page.mouse.up()
    zoomed = page.evaluate(f"{plot}.layout.xaxis.range")
    assert 0 < zoomed[1] - zoomed[0] < 1.5  # of three decades a third
    field(page, "kv-calculator", "batch").fill("2")
    panel(page, "kv-chart")
    page.wait_for_function(f"{plot}.data[0].customdata.at(-1)[2] === '{2 * 1024**3}'")
    assert page.evaluate(f"{plot}.layout.xaxis.range") == zoomed
    page.evaluate(f"{plot}.emit('plotly_click', {{ points: [{{ customdata: ['DeepSeek-V3', 4096] }}] }})")
    pinned = panel(page, "kv-chart").locator(".kv-pinned")
    expect(pinned).to_contain_text(f"{kv_cache_bytes('DeepSeek-V3', 4096, 2):,} B")
    pinned.get_by_role("button").click()
    calculated(page, "Llama-3 8B tokens=4096 ")
    panel(page, "kv-chart").get_by_role("button", name=text("kv-chart.stack")).click()
    page.wait_for_selector("section[data-kind=kv-chart] .gp-plot .barlayer .trace", state="attached")
    page.click("#theme")
    ground = page.evaluate("getComputedStyle(document.body).getPropertyValue('--glass-text').trim()")
    page.wait_for_function(f"(ink) => {plot}.layout.font.color === ink", arg=ground)


@pytest.mark.screen
def test_a_clicked_points_arithmetic_comes_into_view(chapter: Page) -> None:
    page = chapter
    page.set_viewport_size({"width": 1280, "height": 720})
    chart = panel(page, "kv-chart")
    page.wait_for_selector("section[data-kind=kv-chart] .gp-plot .scatterlayer .trace", state="attached")
    chart.locator(".gp-plot").evaluate("(plot) => plot.scrollIntoView({ block: 'end' })")
    settled(page)
    plot = "document.querySelector('section[data-kind=kv-chart] .gp-plot')"
    page.evaluate(f"{plot}.emit('plotly_click', {{ points: [{{ customdata: ['Llama-3 8B', 4096] }}] }})")
    pinned = chart.locator(".kv-pinned")
    expect(pinned.locator(".kv-term").first).to_be_in_viewport(ratio=1)
    top = page.evaluate("scrollY")
    field(page, "kv-calculator", "batch")  # goes there
    page.evaluate("scrollTo(0, 0)")
    page.evaluate("document.querySelector('[data-kind=kv-calculator] [data-field=batch] input').focus()")
    field(page, "kv-calculator", "batch").fill("2")
    expect(pinned).to_contain_text(f"{kv_cache_bytes('Llama-3 8B', 4096, 2):,} B")
    assert page.evaluate("scrollY") < top  # what follows a setting moves no page


def test_a_clicked_point_stays_what_its_line_says_and_goes_with_it(linked: Callable[[str], Page]) -> None:
    page = linked("#chapter=kv&kv.model=DeepSeek-V3&kv.tokens=131072&kv.dtype=fp8&kv.tp=8")
    chart = panel(page, "kv-chart")
    plot = "document.querySelector('section[data-kind=kv-chart] .gp-plot')"
    drawn = f"{plot}.data.flatMap((trace) => trace.customdata).find(([model, tokens]) => "
    drawn += "model === 'DeepSeek-V3' && tokens === 131072)[2]"
    page.wait_for_selector("section[data-kind=kv-chart] .gp-plot .scatterlayer .trace", state="attached")
    shares = {"gpus": 8, "shares": "TP 8", "batch": 1, "dtype": "fp8"}
    expect(chart.locator("h2")).to_have_text(text("kv-chart.title_several", **shares))
    page.evaluate(f"{plot}.emit('plotly_click', {{ points: [{{ customdata: ['DeepSeek-V3', 131072] }}] }})")
    pinned = chart.locator(".kv-pinned")
    latents = 8 * 61 * 576 * 131_072  # each of 8 ranks has all of them
    expect(pinned).to_contain_text(f"{latents:,} B")
    field(page, "kv-calculator", "model").select_option("Gemma-3 27B (text)")
    page.wait_for_function(f"{plot}.data[0].name.startsWith('Gemma-3 27B')")
    assert page.evaluate(drawn) == str(latents)
    expect(pinned).to_contain_text(f"{latents:,} B")
    field(page, "kv-calculator", "tp").fill("4")
    panel(page, "kv-chart")
    expect(pinned).to_contain_text(f"{latents // 2:,} B")
    chart.get_by_role("button", name=text("kv-chart.remove", model="DeepSeek-V3")).click()
    expect(pinned).to_have_count(0)


def test_lines_that_move_under_a_slider_stand_where_a_whole_drawing_has_them(chapter: Page) -> None:
    page = chapter
    panel(page, "kv-chart")
    page.wait_for_selector("section[data-kind=kv-chart] .gp-plot .scatterlayer .trace", state="attached")
    plot = "document.querySelector('section[data-kind=kv-chart] .gp-plot')"
    paths = f"[...{plot}.querySelectorAll('.scatterlayer path')].map((one) => one.getAttribute('d'))"
    places = f"[...{plot}.querySelectorAll('.scatterlayer .point')].map((one) => one.getAttribute('transform'))"
    page.evaluate(f"""() => {{
      window.whole = 0;
      {plot}.on("plotly_afterplot", () => (window.whole += 1));
    }}""")
    batch, tokens = "{plot}.data[0].customdata.at(-1)[2]", "{plot}.data.at(-1).x[0]"
    # One decade holds the lines of both batches; tokens lengthen the line of the model that is asked about.
    for name, value, told, said in (("batch", 2, batch, str(2 * 1024**3)), ("batch", 3, batch, str(3 * 1024**3)),
                                    ("tokens", 5000, tokens, 5000), ("tokens", 12_000, tokens, 12_000)):  # fmt: skip
        was = page.evaluate(paths), page.evaluate(places)
        field(page, "kv-calculator", name).fill(str(value))
        page.wait_for_function(f"(said) => {told.format(plot=plot)} === said", arg=said)
        settled(page)
        moved = page.evaluate(paths), page.evaluate(places)
        assert moved != was
    before = page.evaluate("window.whole")
    page.evaluate(f"Plotly.redraw({plot})")
    page.wait_for_function("(before) => window.whole > before", arg=before)
    assert (page.evaluate(paths), page.evaluate(places)) == moved
    assert before <= 1  # at most for a batch of 2, whose heights may ask for another decade


def test_a_link_restores_a_chart_without_models_to_compare(chapter: Page) -> None:
    page = chapter
    chips = panel(page, "kv-chart").locator(".kv-chip")
    for left in (2, 1, 0):
        chips.first.click()
        expect(chips).to_have_count(left)
        settled(page)  # the chips are drawn anew with the chart
    page.wait_for_function("/kvchart\\.compare=none(&|$)/.test(location.hash)")
    link = page.url
    page.goto("about:blank")
    page.goto(link)
    wait_for_run(page)
    panel(page, "kv-chart")
    assert shown(page, "kv-chart", "view=lines").endswith(
        "traces=2"
    )  # the model's line and where the calculator stands
    expect(chips).to_have_count(0)
    expect(panel(page, "kv-chart").locator(".kv-trouble:not(:empty)")).to_have_count(0)


def test_the_stack_with_weights_holds_the_draft_models(linked: Callable[[str], Page]) -> None:
    page = linked("#chapter=kv&kv.draft=Llama-3.2+1B&kvchart.view=stack&kvchart.weights=1&kvchart.compare=none")
    panel(page, "kv-chart")
    legend = panel(page, "kv-chart").locator(".gp-sample")
    parts = ("draft_cache", "self_full_kv", "draft_weights", "own_weights")  # the legend begins at the top of the stack
    for language in ("en", "zh"):
        page.click(f"#language >> text={'中文' if language == 'zh' else 'English'}")
        expect(legend).to_have_text([text(f"kv.stack_{part}", language) for part in parts])
    plot = "document.querySelector('section[data-kind=kv-chart] .gp-plot')"
    page.wait_for_function(f"{plot}.data?.length === 5")
    # At 8,192 tokens: 8,030,261,248 and 1,235,814,400 weights of 2 bytes; 131,072 and 32,768 bytes a token.
    drawn = page.evaluate(f"{plot}.data.slice(1).map((trace) => trace.customdata[1].slice(1, 3))")
    assert drawn == [[8192, str(n)] for n in (16_060_522_496, 2_471_628_800, 8192 * 131_072, 8192 * 32_768)]
    # What is hatched has its part's colour under the lines, not the card's own.
    grounds = "(all) => all.map((one) => one.querySelector('rect')?.getAttribute('fill'))"
    found = panel(page, "kv-chart").locator(".gp-plot pattern").evaluate_all(grounds)
    assert len(found) == 2  # two parts
    assert len(set(found)) == 1
    assert None not in found


def test_units_and_axes_are_chosen(chapter: Page) -> None:
    page = chapter
    chart = panel(page, "kv-chart")
    plot = "document.querySelector('section[data-kind=kv-chart] .gp-plot')"
    page.wait_for_selector("section[data-kind=kv-chart] .gp-plot .scatterlayer .trace", state="attached")
    chart.get_by_role("button", name=text("kv-chart.gb"), exact=True).click()
    for axis in ("axis_x", "axis_y"):
        group = chart.get_by_role("group", name=text(f"kv-chart.{axis}"))
        group.get_by_role("button", name=text("kv-chart.linear")).click()
    shown(page, "kv-chart", "view=lines x=linear y=linear unit=gb")
    page.wait_for_function(f"{plot}.layout.yaxis.type === 'linear' && {plot}.layout.xaxis.type === 'linear'")
    assert page.evaluate(f"{plot}.data.at(-1).y[0]") == 1.073741824
    assert page.evaluate(f"{plot}.layout.yaxis.title.text") == text("kv-chart.bytes_gb")
    page.wait_for_function("location.hash.includes('kvchart.unit=gb') && location.hash.includes('kvchart.y=linear')")
    chip = chart.locator(".kv-chip").first
    chip.focus()
    page.evaluate("glass.setLanguage('zh')")
    expect(chip).to_have_attribute("aria-label", text("kv-chart.remove", "zh", model="Llama-2 7B"))
    expect(chip).to_be_focused()
