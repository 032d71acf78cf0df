"""Saving every panel of every chapter, in Chromium with the bundled model: a picture, a drawing, a table.

Drawings are also drawn by resvg, which shares no code with a browser and knows SVG alone, as drawing programs do.
"""

import csv
import io
import math
import re
from collections.abc import Iterator
from pathlib import Path
from xml.etree import ElementTree

import numpy as np
import pytest
import resvg_py
from PIL import Image
from playwright.sync_api import Browser, Locator, Page, expect

import model
from app.chapters import FIRST
from app.texts import text
from tests.app.looking import run, settled, to_theme
from tests.page import leave, listen, new_page, open_page, wait_for_run, watched
from tests.panels import of_a_llama

SVG = "{http://www.w3.org/2000/svg}"
PROMPT = "<img src=x onerror=alert(1)>"
ANYTHING = re.compile(r".+", re.DOTALL)
# Elements of XHTML and SVG that would fetch or run something.
RUNS = ("script", "iframe", "object", "embed", "link")
# What a style sheet could take from elsewhere: the page's custom properties, files, and other sheets.
FETCHES = re.compile(rb"var\(|url\((?![\"']?(?:#|data:))|@import|@font-face")


@pytest.fixture(scope="module")
def shown(browser: Browser, bundled: str) -> Iterator[Page]:
    """Two runs of a hostile prompt, the second with a head switched off, and a neuron chosen."""
    page = open_page(browser, f"{bundled}#lang=en")
    with watched(page) as troubles:
        listen(page, "dialog", lambda dialog: troubles.append(dialog.message))
        run(page, PROMPT)
        page.evaluate("glass.keep(glass.state.trace)")
        page.evaluate("glass.change({ heads: [[3, 7]] })")
        page.wait_for_function("glass.sides()")
        wait_for_run(page)
        page.evaluate("glass.select({ neuron: 5 })")
        yield page
    leave(page)


def panel_of(page: Page, chapter: str, kind: str) -> Locator:
    """A panel with its values in it."""
    page.mouse.move(1, 1)  # what the pointer previews would change under it
    page.evaluate("(chapter) => glass.open(chapter)", chapter)
    panel = page.locator(f"section[data-kind='{kind}']")
    panel.scroll_into_view_if_needed()
    if kind == "kv-race":
        panel.locator("button.kv-button").first.click()
        page.wait_for_function("document.querySelector('[data-kind=kv-race]').dataset.value?.startsWith('tokens=')")
    if kind == "kv-log":
        panel.locator(".kv-log-example").first.click()
    expect(panel).to_have_attribute("data-value", ANYTHING)
    if kind == "heads":  # whose maps come layer by layer
        page.wait_for_function("glass.state.trace.layers.size === glass.state.trace.model.n_layers")
    if kind in ("training", "kv-chart"):
        panel.locator(".js-plotly-plot .main-svg").first.wait_for()
    settled(page)
    return panel


OF_NO_RUN = ("kv-calculator", "kv-chart", "kv-fit", "kv-log")


def save(page: Page, panel: Locator, kind: str, ending: str) -> bytes:
    """What the button save hands over in this format."""
    panel.locator(".gp-save > button").click()
    with page.expect_download() as download:
        panel.locator(f".gp-choice[data-format={ending.upper()}]").click()
    name = download.value.suggested_filename
    assert name.startswith(f"glass-llama-{kind}{'.' if kind in OF_NO_RUN else '-layer'}"), name
    assert name.endswith(f".{ending}"), name
    return Path(download.value.path()).read_bytes()


def check_drawn(image: Image.Image) -> None:
    """Something is drawn from top to bottom: no half of it is bare ground."""
    pixels = np.asarray(image)
    assert image.getcolors(16) is None  # there are more
    rows = np.flatnonzero((pixels != pixels[2, 2]).any(axis=(1, 2)))
    assert rows[-1] > image.height * 0.75


def check_picture(image: Image.Image, width: float) -> None:
    assert image.width >= width * 2 - 2
    assert 200 < image.height <= 16_000
    check_drawn(image)


def rendered(data: bytes) -> Image.Image:
    """The drawing as resvg draws it."""
    return Image.open(io.BytesIO(resvg_py.svg_to_bytes(svg_string=data.decode()))).convert("RGB")


def differs(drawn: Image.Image, picture: Image.Image) -> float:
    """By how much a panel's drawing and its picture differ, of 255 a channel; blurred, as the fonts are other ones."""
    shown = picture.resize(drawn.size, Image.Resampling.BOX)
    coarse = [one.resize((one.width // 16, one.height // 16), Image.Resampling.BOX) for one in (drawn, shown)]
    first, second = (np.asarray(one, np.float64) for one in coarse)
    return float(abs(first - second).max(axis=2).mean())


def check_drawing(data: bytes, title: str, kind: str) -> None:
    root = ElementTree.fromstring(data)
    assert root.tag == f"{SVG}svg"
    assert float(root.attrib["width"]) > 200
    assert float(root.attrib["height"]) > 100
    assert all(element.tag.startswith(SVG) for element in root.iter())  # so that drawing programs show all of it
    names = {element.tag.removeprefix(SVG).lower() for element in root.iter()}
    assert "foreignobject" not in names
    assert names.isdisjoint(RUNS)
    assert FETCHES.search(data) is None
    for element in root.iter():
        for name, value in element.attrib.items():
            assert not name.lower().startswith("on"), name
            if name.rsplit("}", 1)[-1] in ("href", "src"):
                assert value.startswith(("data:image/png", "#")), value[:40]
    said = "".join("".join(root.itertext()).split())  # a line of text is an element of its own
    assert ("".join(PROMPT.split()) in said) == (kind not in OF_NO_RUN)
    assert "".join(title.split()) in said


def check_table(data: bytes) -> None:
    head, *rows = csv.reader(io.StringIO(data.decode("utf-8-sig"), newline=""))
    assert len(head) > 1
    assert all(name and not name.replace(".", "").isdigit() for name in head)
    assert rows
    assert all(len(row) == len(head) for row in rows)
    numbers = [cell for row in rows for cell in row if cell.replace(".", "", 1).replace("-", "", 1).isdigit()]
    assert numbers
    assert all(cell not in ("undefined", "null", "NaN", "[object Object]") for row in rows for cell in row)


ALIKE = 6  # of 255: where a part is missing it is more, where only the fonts differ less
EVERY = [
    (FIRST, "tokens"),
    *(
        (chapter, kind) for chapter, kinds in of_a_llama().items() for kind in kinds if kind != "causal-map"
    ),  # of a changed run there is none
]


@pytest.mark.thorough
@pytest.mark.parametrize(("chapter", "kind"), EVERY, ids=lambda part: part)
def test_every_panel_saves_as_png_svg_and_csv(shown: Page, chapter: str, kind: str) -> None:
    panel = panel_of(shown, chapter, kind)
    own = "(title) => [...title.childNodes].filter((node) => !node.matches?.('.gp-job, .gp-here'))"
    title = panel.locator(".gp-title").evaluate(f"{own}.map((node) => node.textContent).join('')")
    width = panel.evaluate("(panel) => panel.clientWidth")
    picture, drawing = (
        Image.open(io.BytesIO(save(shown, panel, kind, "png"))).convert("RGB"),
        save(shown, panel, kind, "svg"),
    )
    check_picture(picture, width)
    check_drawing(drawing, title, kind)
    drawn = rendered(drawing)
    check_drawn(drawn)
    if kind != "overview":  # whose drawing is the diagram alone
        assert differs(drawn, picture) < ALIKE
    check_table(save(shown, panel, kind, "csv"))
    expect(panel.locator(".gp-trouble")).to_be_hidden()


# What only acts in a panel, by the texts of its buttons, and what shows a state or a part of the run, and stays.
BUTTONS = {
    ("overview", "overview"): (["overview.play", "overview.step", "overview.back", "overview.restart"], []),
    ("norm", "norm-scale"): (["norm-scale.reset"], ["norm-vector.attn", "norm-vector.final"]),
    ("position", "rope-score"): (["rope-score.reset"], ["rope-score.span_context", "rope-score.span_run"]),
    ("attend", "heads"): (["heads.run_prompt"], []),
    ("attend", "cell"): ([], ["cell.view_scores", "cell.view_weights"]),
    ("attend", "difference"): (["difference.hold"], []),
    ("choice", "sampling"): (["sampling.next_seed", "sampling.lively"], []),
}


def test_the_charts_picture_is_title_sources_legend_and_plot(shown: Page) -> None:
    panel = panel_of(shown, "kv", "kv-chart")
    chosen = panel.locator(".kv-choice-bar [aria-pressed=true]").all_text_contents()
    assert chosen
    assert panel.get_by_text(text("kv-chart.hint")).count()
    root = ElementTree.fromstring(save(shown, panel, "kv-chart", "svg"))
    words = ["".join(element.itertext()).strip() for element in root.iter(f"{SVG}text")]
    acting = ("lines", "stack", "log", "linear", "unit", "gib", "gb", "compare", "add")
    assert [key for key in acting if text(f"kv-chart.{key}") in words] == []
    assert not any(word.endswith("×") or word.startswith(text("kv-chart.hint", touch="")[-20:]) for word in words)
    assert {"Llama-3 8B", "DeepSeek-V3"} <= set(words)
    assert words[0].startswith(text("kv-chart.title_of", batch=1, dtype="bf16")[:20])


def test_only_a_chinese_table_begins_with_a_byte_order_mark(shown: Page) -> None:
    panel = panel_of(shown, "kv", "kv-calculator")
    plain = save(shown, panel, "kv-calculator", "csv")
    shown.evaluate("glass.setLanguage('zh')")
    try:
        marked = save(shown, panel, "kv-calculator", "csv")
    finally:
        shown.evaluate("glass.setLanguage('en')")
    bom = "\ufeff".encode()
    assert (plain.startswith(bom), marked.startswith(bom)) == (False, True)
    assert next(csv.reader(io.StringIO(plain.decode())))[0].isidentifier()


@pytest.mark.thorough
@pytest.mark.parametrize(("chapter", "kind"), BUTTONS, ids=lambda part: part)
def test_pictures_leave_out_what_only_acts(shown: Page, chapter: str, kind: str) -> None:
    side = "B-A" if kind == "overview" else "B"  # its own drawing never had buttons: the picture of its B − A could
    shown.evaluate("(side) => glass.showSide(side)", side)
    panel = panel_of(shown, chapter, kind)
    expect(panel).to_have_attribute("data-side", side)
    root = ElementTree.fromstring(save(shown, panel, kind, "svg"))
    shown.evaluate("glass.showSide('B')")
    words = {"".join(element.itertext()).strip() for element in root.iter(f"{SVG}text")}
    acting, staying = BUTTONS[chapter, kind]
    for key in acting:
        assert panel.get_by_text(text(key), exact=True).count()
        assert text(key) not in words
    assert {text(key) for key in staying} <= words
    if kind == "heads":
        chips = panel.locator(".gp-holds:visible").all_text_contents()
        assert chips
        assert {chip.strip() for chip in chips} <= words  # the heads that are named


def test_a_table_holds_the_runs_own_numbers(shown: Page) -> None:
    shown.evaluate("glass.showSide('A'); glass.select({ layer: 3, head: 7, query: 5 })")
    wait_for_run(shown)
    trace = model.run_trace(model.load(), shown.evaluate("glass.state.trace.tokens.ids"))
    data = save(shown, panel_of(shown, FIRST, "attention"), "attention", "csv")
    rows = list(csv.DictReader(io.StringIO(data.decode("utf-8-sig"), newline="")))
    for row in rows:
        expected = trace.layer(3).attention[int(row["head"]), 5, int(row["key"])]
        assert math.isclose(float(row["weight"]), expected, rel_tol=2e-4, abs_tol=1e-7)
    data = save(shown, panel_of(shown, FIRST, "next"), "next", "csv")
    rows = list(csv.DictReader(io.StringIO(data.decode("utf-8-sig"), newline="")))
    assert all(math.isclose(float(row["logit"]), trace.logits[int(row["id"])], abs_tol=1e-4) for row in rows[:-1])
    shown.evaluate("glass.showSide('B')")


def test_a_picture_has_the_colours_of_the_page(shown: Page) -> None:
    panel = panel_of(shown, FIRST, "next")
    for dark in (True, False):
        to_theme(shown, "dark" if dark else "light")
        ground = shown.evaluate("getComputedStyle(document.querySelector('[data-kind=next]')).backgroundColor")
        pixels = np.asarray(Image.open(io.BytesIO(save(shown, panel, "next", "png"))).convert("RGB"))
        assert ground == "rgb({}, {}, {})".format(*pixels[2, 2])
        assert (int(pixels[2, 2].sum()) < 300) == dark
    # Where the page draws the longest bar, the picture has one of the same colour and length.
    bar = panel.locator(".gp-bar").first
    width, colour = bar.evaluate("(bar) => [bar.getBoundingClientRect().width, getComputedStyle(bar).backgroundColor]")
    wanted = [int(part) for part in colour.removeprefix("rgb(").removesuffix(")").split(",")]
    drawn = (pixels == wanted).all(axis=2).sum(axis=1).max()
    assert drawn == pytest.approx(2 * width, abs=8)


def test_the_picture_code_comes_with_the_first_picture(browser: Browser, bundled: str) -> None:
    page = new_page(browser, bundled)
    fetched: list[str] = []
    listen(page, "request", lambda request: fetched.append(request.url.rsplit("/", 1)[-1]))
    page.goto(bundled)
    wait_for_run(page)
    lazy = {"file.js", "picture.js", "copy.js", "vectors.js", "restore.js"}
    assert lazy.isdisjoint(fetched)
    save(page, page.locator("section[data-kind=next]"), "next", "csv")
    assert "picture.js" in fetched
    leave(page)


def test_a_failure_is_said_in_the_panel(browser: Browser, bundled: str) -> None:
    page = open_page(browser, f"{bundled}#lang=en")
    page.evaluate("() => { HTMLCanvasElement.prototype.toBlob = () => { throw new Error('no memory'); }; }")
    panel = page.locator("section[data-kind=next]")
    with page.expect_console_message(lambda message: "no memory" in message.text):
        panel.locator(".gp-save > button").click()
        panel.locator(".gp-choice[data-format=PNG]").click()
    expect(panel.get_by_role("alert")).to_have_text(text("frame.save_failed", format="PNG", reason="no memory"))
    leave(page)


def test_nothing_to_save_is_said_too(page: Page) -> None:
    page.get_by_role("button", name="Compare", exact=True).click()
    panel = page.locator("section[data-kind=compare]")
    panel.locator(".gp-save > button").click()
    panel.locator(".gp-choice[data-format=CSV]").click()
    expect(panel.get_by_role("alert")).to_have_text(text("frame.save_empty"))


def test_saved_tokens_are_the_runs(shown: Page) -> None:
    data = save(shown, panel_of(shown, FIRST, "tokens"), "tokens", "csv")
    rows = list(csv.DictReader(io.StringIO(data.decode("utf-8-sig"), newline="")))
    assert [int(row["id"]) for row in rows] == shown.evaluate("glass.state.trace.tokens.ids")
