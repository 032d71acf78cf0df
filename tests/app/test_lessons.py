"""Lessons on the page: made, kept, handed out, and presented with the keyboard so that nothing is cut."""

import itertools
import json
import math
import re
from contextlib import suppress
from io import BytesIO
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, unquote

import numpy as np
import pytest
import zxingcpp
from PIL import Image, ImageChops
from playwright.sync_api import Browser, Error, Locator, Page, Route, expect

import model
from app.engine import LocalEngine
from app.files import lesson_files
from app.service import Service
from app.session import Runs
from app.texts import text
from model.analysis.matching import matching
from tests.app.looking import faults, run, settled
from tests.app.test_qr import picture
from tests.one_of import one_of
from tests.page import leave, open_page, wait_for_run
from tests.plain import plain_site
from visuals.palette import GROUND

STAGE = """() => {
  const box = (element) => element.getBoundingClientRect();
  const one = (selector) => document.querySelector(selector);
  const [panel, strip, bar] = [".is-presented", ".page-body > [data-kind=tokens]", ".ls-bar"].map(one);
  const seen = (element) => box(element).width > 0 && element.checkVisibility({ checkVisibilityCSS: true });
  const body = box(panel.querySelector(".gp-body"));
  const top = box(panel.querySelector(".gp-head")).bottom - 2;
  const head = panel.querySelector("thead[style*=translate]"); // of a table that goes on: it covers a row before
  const under = (element) => head && !head.contains(element) && box(element).bottom < box(head).bottom + 6;
  const parts = [...panel.querySelectorAll("canvas, p, h2, h3, button, tr, label, .gp-chart")]
    .filter((element) => seen(element) && !under(element)).map(box);
  const shown = parts.filter((b) => b.bottom > body.top + 4 && b.top < body.bottom - 4 && b.top >= top);
  return {
    kind: panel.dataset.kind,
    failed: panel.dataset.failed ?? "",
    trouble: one(".ls-trouble").textContent,
    part: one(".ls-part").textContent,
    covered: document.body.hasAttribute("data-covered"),
    size: parseFloat(document.body.style.getPropertyValue("--lesson-size")),
    shrunk: Math.min(1, ...[...panel.querySelectorAll("canvas")].filter(seen)
      .map((each) => Number(each.style.zoom || 1))),
    boxes: [panel, strip, bar, ...strip.querySelectorAll("button"), ...bar.querySelectorAll(".ls-ways button")]
      .map((each) => { const b = box(each); return [b.left, b.top, b.right, b.bottom]; }),
    under: box(panel).bottom - box(bar).top,
    over: box(strip).bottom - box(panel).top,
    cut: shown.filter((b) => b.top < body.top - 3 || b.bottom > body.bottom + 3)
      .map((b) => [b.top, b.bottom, body.top, body.bottom]),
    beyond: parts.filter((b) => b.right > innerWidth + 1 || b.left < -1).length,
    others: [...document.querySelectorAll("section.glass-panel")].filter(seen).map((each) => each.dataset.kind),
  };
}"""
# Every text that is seen while a lesson is presented and is smaller than `least` px on the screen, with its size there.
SMALL = """(least) => {
  const found = [];
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  for (let node = walker.nextNode(); node; node = walker.nextNode()) {
    const one = node.parentElement;
    if (!node.data.trim() || one.closest("script, style, .gp-hidden")) continue;
    const range = document.createRange();
    range.selectNodeContents(node);
    const box = range.getBoundingClientRect();
    const [x, y] = [(box.left + box.right) / 2, (box.top + box.bottom) / 2];
    if (box.width < 2 || box.height < 2) continue;
    if (!one.checkVisibility({ checkOpacity: true, checkVisibilityCSS: true })) continue;
    const top = document.elementFromPoint(x, y); // none where it is off the screen, another where that covers it
    if (!top || !(top.contains(one) || one.contains(top))) continue;
    const matrix = one.getScreenCTM?.(); // of a drawing
    const scale = matrix ? Math.hypot(matrix.a, matrix.b) : one.currentCSSZoom;
    const size = parseFloat(getComputedStyle(one).fontSize) * scale;
    if (size < least) found.push([size, node.data]);
  }
  return found;
}"""
RUNLESS = {"kv-calculator", "kv-chart", "kv-fit"}  # of no run: no sentence stands above them
LEGIBLE = 21.9  # px: 22, less what a zoom is rounded by
# A part that is taller than the screen is scrolled; of the ready-made lessons none has one at these sizes.
SIZES = {"en": (1280, 720), "zh": (1920, 1080)}


def desk(page: Page) -> None:
    """Open the lessons, at the list."""
    page.click("#lessons")
    page.locator(".ls-desk[open]").wait_for()
    page.locator(".ls-pane > *").first.wait_for()


def press(page: Page, name: str, at: int = 0, **params: Any) -> None:
    page.locator(".ls-desk").get_by_role("button", name=re.compile(re.escape(text(f"lessons.{name}", **params)))).nth(
        at
    ).click()


def on_stage(page: Page) -> dict[str, Any]:
    """What stands on the stage, once it does."""
    page.wait_for_function("document.body.dataset.lesson === 'shown' && glass.state.status === 'idle'")
    settled(page)
    page.wait_for_function("document.body.dataset.lesson === 'shown'")
    return page.evaluate(STAGE)


def check_stage(at: dict[str, Any], link: str, width: int, height: int) -> None:
    for left, top, right, bottom in at["boxes"]:
        assert left >= 0
        assert top >= 0
        assert right <= width, at
        assert bottom <= height, at
    assert at["under"] <= 0, at
    assert at["over"] <= 0, at
    assert (at["cut"], at["beyond"]) == ([], 0), at
    strip = {"tokens"} if at["kind"] not in RUNLESS else set()
    assert sorted(at["others"]) == sorted(strip | {at["kind"]}), at
    assert at["failed"] == "", at
    # A head that the stand-in lacks: the nearest is shown, and that is said.
    assert at["trouble"] == "" or "&head=" in link, at


def check_unmoved(page: Page) -> None:
    """What comes under a pointer that lies still is not pointed at: the panel says the same once it is away."""
    value = "document.querySelector('.is-presented').dataset.value"
    told = page.evaluate(value)
    page.mouse.move(1, 1)
    settled(page)
    assert page.evaluate(value) == told
    page.mouse.move(640, 400)  # on something, for the view that follows


@pytest.mark.thorough
@pytest.mark.parametrize("language", SIZES)
def test_every_ready_made_lesson_is_presented_whole_with_the_keyboard(page: Page, language: str) -> None:
    width, height = SIZES[language]
    least = LEGIBLE * min(width / 1280, height / 720)  # what is projected is no larger for having more pixels
    page.set_viewport_size({"width": width, "height": height})
    page.click(f"#language button[value={language}]")
    page.wait_for_function("(code) => document.documentElement.dataset.language === code", arg=language)
    for number, file in enumerate(lesson_files()[language]):
        views = json.loads(file.read_text(encoding="utf-8"))["views"]
        desk(page)
        page.locator(".ls-row").nth(number).locator("button").first.click()
        for i, view in enumerate(views):
            page.wait_for_function(
                "(count) => document.querySelector('.ls-count').textContent === count", arg=f"{i + 1} / {len(views)}"
            )
            at = on_stage(page)
            assert (at["kind"], at["covered"]) == (view["panel"], view["hidden"])
            expect(page.locator(".ls-says")).to_be_hidden()
            if view["part"]:
                assert page.locator(f".is-presented {view['part']}").count() == 1, view
            page.keyboard.press("PageDown")  # each asks something: the answer stands on the screen then
            at = on_stage(page)
            assert not at["covered"]
            expect(page.locator(".ls-says")).to_have_text(view["answer"])
            assert re.match(r"\D*(1\D|$)", at["part"]), at  # a view opens at its beginning
            check_stage(at, view["link"], width, height)
            check_unmoved(page)
            assert page.evaluate(SMALL, least) == [], view
            assert 14 * at["size"] >= least, view  # the smallest text of pictures,
            assert at["shrunk"] == 1, at  # which are not made smaller
            while match := re.findall(r"\d+", at["part"]):
                if match[0] == match[1]:
                    break
                page.keyboard.press("PageDown" if i % 2 else "ArrowDown")
                at = on_stage(page)
                check_stage(at, view["link"], width, height)
                assert page.evaluate(SMALL, least) == [], view
            page.keyboard.press("PageDown" if i % 2 else "ArrowRight")
        page.keyboard.press("Escape")
        expect(page.locator(".ls-bar")).to_be_hidden()
        assert page.evaluate("document.body.dataset.lesson") is None


def test_the_lesson_on_attention_speaks_of_one_head_in_all_its_views() -> None:
    """“Our head” is what the page frames by itself; the bundled model frames the same for every text of the lesson."""
    service = Service(LocalEngine([model.load(device="cpu")]))
    for files in lesson_files().values():
        file = next(one for one in files if "attention" in one.name)
        lesson = json.loads(file.read_text(encoding="utf-8"))
        links = [view["link"] for view in lesson["views"] + lesson["after"]]
        framed = set()
        for prompt in {parse_qs(link.removeprefix("#"))["prompt"][0] for link in links}:
            start = service.recall({"prompt": prompt, "generated": [], "changes": {}})["start"]
            framed.add((start["layer"], start["head"]))
        assert len(framed) == 1, file.name


@pytest.mark.parametrize("language", ["en", "zh"])
def test_the_head_that_is_missed_most_brings_the_name_to_its_place(language: str) -> None:
    """So the notes of the lesson on attention have it, of the head that the story's scene tells of."""
    file = next(one for one in lesson_files()[language] if "attention" in one.name)
    view = json.loads(file.read_text(encoding="utf-8"))["views"][5]
    prompt = parse_qs(view["link"].removeprefix("#"))["prompt"][0]
    lm = model.load(device="cpu")
    trace, found = model.run_trace(lm, prompt), model.why(lm, prompt)
    most = np.unravel_index(found.heads.argmax(), found.heads.shape)
    match = matching(trace, 4, 4, len(trace.token_ids) - 1, found.tokens[0])
    assert match
    assert most in [(step.layer, step.head) for step in match.told.steps]


# Has the page keep what is written on the maps from now on, in bold: the names of what is looked at. The bars below
# them have names in bold, too.
WRITTEN = """() => {
  window.written = [];
  const { prototype } = CanvasRenderingContext2D, { fillText } = prototype;
  prototype.fillText = function (words, ...place) {
    const isName = this.canvas.closest("[data-kind=attention] .at-looks .gp-scroll") && this.font.startsWith("600");
    if (isName) written.push(words);
    return fillText.call(this, words, ...place);
  };
}"""


@pytest.mark.parametrize(
    ("language", "beside", "width", "height"),
    one_of([("en", "follow", 1280, 720), ("zh", "present", 1280, 720), ("zh", "present", 1920, 1080)]),
)
def test_under_each_small_map_stands_the_word_that_its_last_row_looks_at_most(
    browser: Browser, language: str, beside: str, width: int, height: int
) -> None:
    file = next(one for one in lesson_files()[language] if "attention" in one.name)
    view = json.loads(file.read_text(encoding="utf-8"))["views"][1]
    prompt = parse_qs(view["link"].removeprefix("#"))["prompt"][0]
    lm = model.load(device="cpu")
    trace = model.run_trace(lm, prompt)
    with plain_site(LocalEngine([lm]), Runs()) as address:
        page = open_page(browser, f"{address}#lang={language}", width, height)
        desk(page)
        row = page.locator(".ls-row").nth(lesson_files()[language].index(file))
        row.get_by_role("button", name=re.compile(text(f"lessons.{beside}", language))).first.click()
        for _ in range(2):  # the first view's answer, then the second view
            on_stage(page)
            page.keyboard.press("PageDown")
            page.wait_for_timeout(50)
        on_stage(page)
        page.evaluate(WRITTEN)
        page.keyboard.press("PageDown")
        on_stage(page)
        layer, head, seen = page.evaluate("[glass.state.layer, glass.state.head, written]")
        leave(page)
    size = lm.config.n_heads // lm.config.n_kv_heads
    heads = range(head // size * size, (head // size + 1) * size)
    q, k = trace.layer(layer).q_rot, trace.layer(layer).k_rot
    most = [int((k[head // size] @ q[one, -1]).argmax()) for one in heads]
    assert len(set(most)) > 1  # else any word would do
    words = [trace.pieces[key].replace(" ", "·") for key in most]
    assert [one for one in seen if one.startswith("·") or one in words][-size:] == words, seen


def brightest(checkpoint: Path, prompt: str) -> list[str]:
    """The rows, from 0, that give the column most at which the page looks by itself."""
    lm = model.load(checkpoint, device="cpu")
    start = Service(LocalEngine([lm])).recall({"prompt": prompt, "generated": [], "changes": {}})["start"]
    key = start.get("key")
    assert key is not None
    column = model.run_trace(lm, prompt).layer(start["layer"]).attention[start["head"], :, key]
    return [str(row) for row in sorted(np.argsort(-column)[:2])]


# Text in pictures that is smaller than `least` px on the screen.
PICTURED = """(least) => [...document.querySelectorAll(".ls-picture")].flatMap((one) => {
  const large = one.getBoundingClientRect().width / one.naturalWidth;
  const sizes = [...decodeURIComponent(one.src).matchAll(/font-size[=:]"?([\\d.]+)/g)].map(([, size]) => size * large);
  return sizes.filter((size) => size < least);
})"""


def check_legible(sheet: Page) -> None:
    """A sheet on a screen may be projected: then all that is read is as large as in a lesson."""
    for width, height in ((1280, 720), (1920, 1080)):
        sheet.set_viewport_size({"width": width, "height": 20_000})  # all of it is in view
        least = LEGIBLE * height / 720
        assert sheet.evaluate(SMALL, least) == []
        assert sheet.evaluate(PICTURED, least) == []
        assert sheet.evaluate("document.documentElement.scrollWidth <= innerWidth")
    sheet.set_viewport_size({"width": 1280, "height": 720})


def numbers(words: str) -> list[float]:
    return [float(one.replace("−", "-")) for one in re.findall(r"(?:: |[qk] |has |· )(−?\d+\.\d+)", words)]


def check_reckoned(pairs: str, values: str, result: str) -> None:
    """Numbers of the strips stand on the sheet, and the key has what comes of them."""
    assert len(numbers(pairs)) == 6  # q and k in three places
    *given, weight = numbers(values)
    assert 0 < weight <= 1
    found = [float(one.replace("−", "-")) for one in re.findall(r"(−?[\d.]+) in place", result)]
    assert len(given) == len(found) == 3
    if weight > 0.99:
        assert found == pytest.approx([weight * one for one in given], abs=0.1)


def test_plans_are_listed_and_presented_and_a_worksheet_keeps_the_answers_apart(
    page: Page, roomy_checkpoint: Path
) -> None:
    lesson = json.loads(lesson_files()["en"][0].read_text(encoding="utf-8"))
    page.add_init_script("addEventListener('DOMContentLoaded', () => document.body.classList.add('dark'))")
    page.reload()
    wait_for_run(page)
    desk(page)
    row = page.locator(".ls-row").first
    with page.expect_popup() as caught:
        row.get_by_role("button", name=re.compile(text("lessons.sheet"))).click()
    sheet = caught.value
    asked = lesson["views"] + lesson["after"]  # last what no view has shown
    assert lesson["after"][0]["link"] not in [view["link"] for view in lesson["views"]]
    for place, name in ((".ls-task p", "question"), (".ls-answers p:not(.ls-result)", "answer")):
        expect(sheet.locator(place)).to_have_text([view[name] for view in asked])
    sheet.locator(".ls-sheet[data-whole]").wait_for()  # where an answer is covered, its picture is beside the answers
    covered = sum(view["hidden"] for view in asked)
    # Each task has what it asks about: a picture without the answer, or the text with room for what comes next.
    words = sum(view["panel"] in {"why", "next"} and not view["part"] for view in asked)
    expect(sheet.locator(".ls-task img")).to_have_count(len(asked) - words)
    expect(sheet.locator(".ls-strip")).to_have_count(words)
    expect(sheet.locator(".ls-strip").first).to_contain_text("Tom")
    expect(sheet.locator(".ls-answers img")).to_have_count(covered)
    assert sheet.evaluate("[...document.images].every((one) => one.naturalWidth > 600 && one.naturalHeight > 70)")
    drawn = [unquote(one.get_attribute("src") or "") for one in sheet.locator("img").all()]
    assert all(f'fill="{GROUND["light"]["card"]}"' in one for one in drawn)  # paper is light, whatever the page is
    check_map_is_light(sheet, unquote(sheet.locator(".ls-task").nth(2).locator("img").get_attribute("src") or ""))
    named = page.evaluate("glass.text('cell.title', {}).split('{')[0]")  # the panel names the word that is asked for
    on_sheet = [unquote(one.get_attribute("src") or "") for one in sheet.locator(".ls-task img").all()]
    assert not [one for one in on_sheet if f">{named}" in one]
    assert [one for one in drawn if f">{named}" in one]
    todo = sheet.locator(".ls-todo").all_inner_texts()
    assert [todo[0], todo[3]] == [text("lessons.sheet_looks"), text("lessons.sheet_missed")]
    check_reckoned(todo[1], todo[2], sheet.locator(".ls-result").nth(4).inner_text())
    check_legible(sheet)
    whole, questions = sheet.locator(".ls-prints button").all()
    expect(whole).to_be_enabled()  # not before all of it is there
    sheet.evaluate("[window.printed, window.print] = [0, () => void (window.printed += 1)]")
    for line in sheet.locator(".ls-result").all():
        expect(line).to_have_text(re.compile(r"\d"))  # what the run says
    expect(sheet.locator(".ls-result:visible")).to_have_count(len(asked))
    heads, rows, looks = (sheet.locator(".ls-result").nth(at).inner_text() for at in (1, 2, 6))
    prompt = parse_qs(lesson["views"][2]["link"].removeprefix("#"))["prompt"][0]
    assert re.findall(r"row (\d+) \(counted from 0\)", rows) == brightest(roomy_checkpoint, prompt)  # which it asks for
    shared = page.evaluate("glass.state.trace.model.n_heads / glass.state.trace.model.n_kv_heads")
    assert len(re.findall(r"head \d", heads)) == shared  # of every head that is shown
    assert re.search(r"head \d of layer \d looks from", looks)  # beside the words that get a share
    assert "in the text above" not in drawn[-1]  # no text with frames stands above on paper
    look = Service(LocalEngine([model.load(roomy_checkpoint, device="cpu")]))
    start = look.recall({"prompt": prompt, "generated": [], "changes": {}})["start"]
    named = text("lessons.sheet_our_head", layer=start["layer"], head=start["head"])
    expect(sheet.locator(".ls-defined")).to_have_text(named)  # once, where it is first named
    expect(sheet.locator(".ls-task").nth(2)).to_contain_text(named)
    expect(sheet.locator(".ls-who span")).to_have_count(3)
    missed = sheet.locator(".ls-result").nth(5).inner_text()
    found = re.search(r"without another, .* from (.*)% to (.*)%\. The (.*) in its cell says: about (.*) times", missed)
    assert found, missed
    before, after, lost, times = (float(one) for one in found.groups())
    assert times == pytest.approx(math.exp(lost), rel=5e-3)
    assert times == pytest.approx(before / after, rel=2e-2)  # as far as rounded numbers have it
    sheet.emulate_media(media="print")
    assert sheet.evaluate("getComputedStyle(document.querySelector('.ls-answers')).breakBefore") == "page"
    answers = sheet.locator(".ls-answers")
    for button, apart in ((questions, True), (whole, False)):
        sheet.emulate_media(media="screen")
        button.click()
        expect(answers).to_be_visible()
        sheet.emulate_media(media="print")
        expect(answers).to_be_visible(visible=not apart)
        assert sheet.evaluate("printed") == 1 + (not apart)
        sheet.evaluate("dispatchEvent(new Event('afterprint'))")
        expect(answers).to_be_visible()  # what the browser's own menu prints is all of it
    assert faults(sheet) == []
    sheet.close()
    row.locator("summary").click()
    expect(row).to_contain_text(text("lessons.plans_sheet"))
    expect(row.locator("tr")).to_have_count(2 + len(lesson["views"]))
    shown = [view for view in lesson["views"] if view["minutes"][0]]
    with page.expect_popup() as caught:
        row.locator(".ls-plans td button").first.click()
    expect(caught.value.locator(".ls-task p")).to_have_text([view["question"] for view in shown + lesson["after"]])
    caught.value.close()
    row.locator(".ls-plans button").first.click()
    expect(page.locator(".ls-count")).to_have_text(f"1 / {len(shown)}")
    with page.expect_popup() as caught:
        page.keyboard.press("n")
    expect(caught.value.locator(".ls-time").first).to_contain_text(text("lessons.of_minutes", minutes=5))
    points = shown[0]["note"].replace("\n\n", "\n").split("\n")
    expect(caught.value.locator(".ls-notes-said p")).to_have_text(points)
    leads = caught.value.locator(".ls-notes-said").first.locator("strong").all_inner_texts()
    assert all(point.startswith(lead) for point, lead in zip(points, leads, strict=False))
    assert leads
    expect(caught.value.locator(".ls-hint")).to_have_text(text("lessons.keys_speaker"))
    expect(caught.value.locator(".ls-add")).to_be_visible()  # what its footer names is there
    expect(caught.value.locator(".ls-then img")).to_have_attribute("alt", shown[1]["headline"])
    with suppress(Error):  # the window is gone before the key is let go
        caught.value.keyboard.press("Escape")
    expect(page.locator(".ls-bar")).to_be_hidden()


# The median red, green and blue of a part of a picture's drawn pixels, in its upper right.
CORNER = """async (src) => {
  const image = new Image();
  image.src = src;
  await image.decode();
  const { naturalWidth: width, naturalHeight: height } = image;
  const context = Object.assign(document.createElement("canvas"), { width, height }).getContext("2d");
  context.drawImage(image, 0, 0);
  const { data } = context.getImageData(0.7 * width, 0.3 * height, 0.2 * width, 0.1 * height);
  const middle = (all) => all.sort((a, b) => a - b)[all.length >> 1];
  return [0, 1, 2].map((i) => middle([...data].filter((_, at) => at % 4 === i)));
}"""


def check_map_is_light(sheet: Page, svg: str) -> None:
    """What a map of attention has drawn where no query sees a key: of the paper's theme, as its words are."""
    drawn = re.findall(r'data:image/png;base64,[^"]+', svg)
    assert drawn
    assert min(sheet.evaluate(CORNER, max(drawn, key=len))) > 200


def test_a_worksheet_says_what_is_drawn_or_filled_in_and_tells_nothing_that_is_in_no_picture(page: Page) -> None:
    desk(page)
    number = next(i for i, file in enumerate(lesson_files()["en"]) if "cache" in file.name)
    with page.expect_popup() as caught:
        page.locator(".ls-row").nth(number).get_by_role("button", name=re.compile(text("lessons.sheet"))).click()
    sheet = caught.value
    sheet.locator(".ls-sheet[data-whole]").wait_for()
    todo = [text(f"lessons.sheet_{name}") for name in ("lines", "kinds", "product", "lines", "product")]
    expect(sheet.locator(".ls-todo")).to_have_text(todo)
    expect(sheet.locator(".ls-result").first).to_be_hidden()  # the value line is of one cell
    summed = unquote(sheet.locator(".ls-answers img").nth(1).get_attribute("src") or "")
    for number in re.findall(r"\d[\d.,]*\d", sheet.locator(".ls-result").nth(1).inner_text()):
        assert number in summed  # of one measurement, and of all its tokens as in the picture
    for at, told in ((3, "2,147,483,648"), (4, "4,096"), (5, "1 × H200 141 GB · 1 × H20 96 GB · 2 × H100 80 GB")):
        expect(sheet.locator(".ls-result").nth(at)).to_contain_text(told)  # what the sheet asks for, the key has
    sheet.close()


@pytest.mark.parametrize("language", one_of(["en", "zh"]))
def test_a_worksheet_says_what_sliders_have_changed_and_its_key_reads_what_each_picture_has(
    screen: Browser, panels_alone: str, language: str
) -> None:
    page = open_page(screen, f"{panels_alone}#lang={language}", 1280, 720)
    desk(page)
    number = next(i for i, file in enumerate(lesson_files()[language]) if "positions" in file.name)
    sheets = page.locator(".ls-row").nth(number).get_by_role("button", name=re.compile(text("lessons.sheet", language)))
    with page.expect_popup() as caught:
        sheets.click()
    sheet = caught.value
    sheet.locator(".ls-sheet[data-whole]").wait_for()
    results = sheet.locator(".ls-result").all_inner_texts()
    given = [re.findall(r"\(\d+, \d+\)", one) for one in sheet.locator(".ls-todo").all_inner_texts()]
    assert [len(places) for places in given] == [2, 2, 0]  # from where, and to where; and of a text how much longer
    assert len(re.findall(r"\(\d+, \d+\).*?°", results[1])) == 2  # the dials whose hands are furthest apart
    assert results[5].count("%") >= 5  # each word that gets a share
    for places, result in zip(given[:2], results[2:4], strict=True):
        assert all(place in result for place in places), (places, result)
    assert re.search(r"\d", results[4])
    assert "q·k" not in results[4]  # of the two lines, which are what is asked for
    for one in sheet.locator(".ls-picture").all():  # as wide as the sheet, or as tall as a page leaves room for
        wide, tall = one.evaluate("(one) => [one.naturalWidth / one.width, one.naturalHeight / one.height]")
        assert max(wide, tall) < 1.35
    sheet.close()
    leave(page)


# Where the upright lines of frames are on a canvas: of one colour from top to bottom of one of its two rows.
UPRIGHT = """(canvas) => {
  const { width, height } = canvas;
  const { data } = canvas.getContext("2d").getImageData(0, 0, width, height);
  const pixels = new Uint32Array(data.buffer);
  const isUpright = (x) => {
    for (let [y, run] = [1, 0]; y < height; y++) {
      run = pixels[y * width + x] && pixels[y * width + x] === pixels[(y - 1) * width + x] ? run + 1 : 0;
      if (run > 0.45 * height) return true;
    }
    return false;
  };
  return Array.from({ length: width }, (_, x) => x).filter(isUpright).map((x) => x / width);
}"""


def test_the_dial_whose_hands_are_furthest_apart_is_framed_once_the_answer_names_it(page: Page) -> None:
    number = next(i for i, file in enumerate(lesson_files()["en"]) if "positions" in file.name)
    page.set_viewport_size({"width": 1280, "height": 720})
    desk(page)
    page.locator(".ls-row").nth(number).locator("button").first.click()
    for key in ("PageDown", "PageDown"):
        on_stage(page)
        page.keyboard.press(key)
    assert on_stage(page)["covered"]
    dials = page.locator(".is-presented .position-dials canvas")
    assert dials.evaluate(UPRIGHT) == []
    page.keyboard.press("PageDown")
    assert not on_stage(page)["covered"]
    channels = re.findall(r"\((\d+), \d+\)", page.locator(".position-dials > [data-result]").inner_text())
    lines, place = dials.evaluate(UPRIGHT), dials.bounding_box()
    assert place
    edges = [
        x for before, x in itertools.pairwise([-1, *lines]) if x - before > 0.0017
    ]  # px of one line are next to each other
    framed = set()
    for left, right in zip(edges[::2], edges[1::2], strict=True):
        page.mouse.click(place["x"] + (left + right) / 2 * place["width"], place["y"] + 20)
        framed.add(str(page.evaluate("glass.state.pair")))
    assert framed == {*channels}


def test_question_and_answer_are_large_where_there_is_room_and_stay_as_large_at_the_answer(page: Page) -> None:
    page.set_viewport_size({"width": 1280, "height": 720})
    desk(page)
    page.locator(".ls-row").first.locator("button").first.click()
    size = "(name) => parseFloat(getComputedStyle(document.querySelector(name)).fontSize)"
    for least in (28, 22):  # of the first view, and of one that needs much room
        on_stage(page)
        before = page.evaluate(size, ".ls-asking .ls-question")
        page.keyboard.press("PageDown")
        on_stage(page)
        after = [page.evaluate(size, name) for name in (".ls-told .ls-question", ".ls-says")]
        assert min(before, *after) >= least
        assert after == [before, before]
        page.keyboard.press("ArrowRight")
        page.wait_for_timeout(50)


def test_what_a_view_has_changed_stands_on_the_screen_before_the_answer(page: Page) -> None:
    file = next(one for one in lesson_files()["en"] if "positions" in one.name)
    desk(page)
    page.locator(".ls-row").nth(lesson_files()["en"].index(file)).locator("button").first.click()
    on_stage(page)
    told = {}
    for at in range(2, 8):
        page.keyboard.press("PageDown")
        on_stage(page)
        while page.locator(".ls-count").text_content() != f"{at} / 7":
            page.keyboard.press("PageDown")
            page.wait_for_timeout(50)
            on_stage(page)
        assert page.evaluate("document.body.hasAttribute('data-covered')")
        shown = page.locator(".is-presented .position-given").filter(visible=True)
        told[at] = shown.inner_text() if shown.count() else ""
    factor = page.evaluate("Number(glass.settings.get('rope').factor || 4)")  # the panel's own where none is set
    assert [at for at, words in told.items() if words] == [3, 4, 7]
    assert re.search(r"distance \d+ to 9", told[4])
    assert f"{factor} times" in told[7]


def test_a_legend_that_an_answer_changes_late_is_changed_above_the_picture_too(page: Page) -> None:
    desk(page)
    file = next(one for one in lesson_files()["en"] if "cache" in one.name)
    page.locator(".ls-row").nth(lesson_files()["en"].index(file)).locator("button").first.click()
    on_stage(page)
    page.keyboard.press("PageDown")
    on_stage(page)
    page.evaluate("document.querySelector('.is-lifted .gp-sample').append(' late')")
    expect(page.locator(".ls-legend")).to_contain_text("late")


DOG = "The cat sleeps on the sofa. The dog plays on the"


def make(page: Page) -> None:
    """A lesson of two views: the answer, covered, and a head's map, from wherever the page is."""
    run(page, DOG)
    desk(page)
    press(page, "fresh")
    page.fill(".ls-name", "<img src=x onerror=alert(1)> 课")
    page.select_option(".ls-panel", "why")
    press(page, "add")
    page.fill(".ls-words", "Guess & see <b>bold</b>")
    page.locator(".ls-check input").check()
    page.keyboard.press("Escape")
    page.evaluate("glass.open('attend'); glass.select({ layer: 1, head: 2, query: 4, key: 3 })")
    page.locator("section[data-kind=cell] .gp-title").click()
    # From the page itself: the reader stays where they are, and the lesson stays open.
    page.locator(".ls-add-here").click()
    expect(page.locator(".ls-docked")).to_have_text(text("lessons.added", at=2, panel=text("panel.cell")))
    assert page.evaluate("[glass.state.chapter, document.querySelector('.ls-desk').open]") == ["attend", False]
    page.locator(".ls-further").click()
    expect(page.locator(".ls-panel")).to_have_value("cell")
    expect(page.locator(".ls-view")).to_have_count(2)


def check_own_window(page: Page, answer: str) -> None:
    """Notes have a window of their own: never on the picture; both have the keys, and either may be closed."""
    page.evaluate("() => { window.really = window.open; window.open = () => null; }")
    page.keyboard.press("n")
    expect(page.locator(".ls-trouble")).to_have_text(text("lessons.no_window"))
    page.evaluate("() => { window.open = window.really; }")
    expect(page.locator(".ls-note")).to_be_hidden()
    with page.expect_popup() as caught:
        page.keyboard.press("n")
    own = caught.value
    expect(own.locator(".ls-notes-said p")).to_have_text("Guess & see <b>bold</b>")
    expect(own.locator(".ls-then")).to_contain_text(text("panel.cell"))
    expect(own.locator(".ls-time").first).to_have_text(re.compile(r"\d+:\d\d"))
    for at, name in ((page, ".ls-ways"), (page, ".ls-note"), (page, ".ls-reveal")):
        expect(at.locator(name)).to_be_hidden()
    own.locator(".ls-guess").fill("a rug")  # what the class says is written on either, and seen by all
    expect(page.locator(".ls-guess")).to_have_value("a rug")
    assert on_stage(page)["covered"]
    own.locator(".ls-guess").press("Enter")  # kept; the answer is not shown yet
    expect(page.locator(".ls-guess")).to_have_value("a rug, ")
    assert on_stage(page)["covered"]
    page.locator(".ls-guess").press("End")
    page.keyboard.type("a bed")
    page.locator(".ls-guess").press("Enter")
    assert own.locator(".ls-guess").input_value() == "a rug, a bed, "  # at once, and not with the clock
    own.locator(".ls-guess").press("Escape")
    own.keyboard.press("r")
    expect(own.locator(".ls-guess")).to_have_count(0)
    expect(page.locator(".wy-word")).to_have_text(answer)
    expect(page.locator(".wy-word")).to_be_visible()
    own.keyboard.press("PageDown")
    expect(own.locator(".ls-at")).to_have_text("2 / 2")
    expect(own.locator(".ls-then")).to_contain_text(text("lessons.no_next"))
    page.keyboard.press("PageUp")
    expect(own.locator(".ls-at")).to_have_text("1 / 2")
    assert "bold" not in page.locator("body").inner_text()
    assert faults(own) == []
    own.close()
    expect(page.locator(".ls-bar")).to_be_visible()
    with page.expect_popup() as caught:
        page.keyboard.press("n")
    with caught.value.expect_event("close"):
        page.keyboard.press("Escape")  # the lesson's end is the window's
    expect(page.locator(".ls-bar")).to_be_hidden()
    page.locator("#lessons").click()
    page.locator(".ls-view").nth(0).get_by_role("button", name=re.compile(text("lessons.present"))).click()
    on_stage(page)


@pytest.mark.thorough
def test_a_lesson_is_made_from_any_state_and_hides_the_answer_until_asked(page: Page) -> None:
    make(page)
    assert faults(page) == []
    # By keyboard: the second view up, and down again; deleted, and back.
    page.locator(".ls-view").nth(1).get_by_role("button", name=re.compile(text("lessons.earlier"))).press("Enter")
    expect(page.locator(".ls-words").nth(1)).to_have_value("Guess & see <b>bold</b>")
    page.locator(".ls-view").nth(0).get_by_role("button", name=re.compile(text("lessons.later"))).press("Enter")
    page.locator(".ls-view").nth(0).get_by_role("button", name=re.compile(text("lessons.drop"))).press("Enter")
    expect(page.locator(".ls-view")).to_have_count(1)
    press(page, "undo")
    expect(page.locator(".ls-words").nth(0)).to_have_value("Guess & see <b>bold</b>")
    page.evaluate("glass.open('kv')")
    page.locator(".ls-view").nth(0).get_by_role("button", name=re.compile(text("lessons.present"))).click()
    at = on_stage(page)
    assert at["covered"]
    word = page.locator(".wy-word")
    answer = page.evaluate("document.querySelector('.wy-word').textContent")
    assert answer
    expect(word).to_be_hidden()
    expect(page.locator(".wy-others")).to_be_hidden()
    expect(page.locator(".wy-text")).to_be_visible()
    expect(page.locator(".ls-note")).to_be_hidden()
    page.fill(".ls-guess", "n r f 7")  # what is typed is no key of the page's
    expect(page.locator(".ls-note")).to_be_hidden()
    page.keyboard.press("Escape")
    expect(word).to_be_hidden()
    page.click(".ls-reveal")
    expect(word).to_be_visible()
    page.keyboard.press("r")
    expect(word).to_be_hidden()
    page.locator(".ls-count").click()
    page.keyboard.press("PageDown")
    expect(word).to_be_visible()
    assert page.input_value(".ls-guess") == "n r f 7"
    assert faults(page) == []
    page.keyboard.press("r")
    check_own_window(page, answer)
    page.keyboard.press("PageDown")
    page.keyboard.press("Space")
    page.wait_for_function("document.querySelector('.ls-count').textContent === '2 / 2'")
    assert on_stage(page)["kind"] == "cell"
    # Another view while it is presented: the lesson goes on, and has it from then on.
    page.evaluate("glass.select({ query: 3 })")
    page.keyboard.press("a")
    expect(page.locator(".ls-count")).to_have_text("2 / 3")
    expect(page.locator(".ls-trouble")).to_have_text(text("lessons.added", at=3, panel=text("panel.cell")))
    kept = page.evaluate("Object.entries(localStorage).filter(([name]) => name.startsWith('glass-llama-lesson.'))")
    assert [len(json.loads(words)["views"]) for _, words in kept] == [3]
    for _ in range(30):  # through the screens of the view, which is taller than the window
        on_stage(page)
        if page.locator(".ls-count").inner_text() == "3 / 3":
            break
        page.keyboard.press("PageDown")
    expect(page.locator(".ls-count")).to_have_text("3 / 3")
    assert on_stage(page)["kind"] == "cell"
    assert page.evaluate("glass.state.query") == 3
    page.keyboard.press("PageUp")
    expect(page.locator(".ls-count")).to_have_text("2 / 3")
    on_stage(page)
    assert page.evaluate("['layer', 'head', 'query', 'key'].map((name) => glass.state[name])") == [1, 2, 4, 3]
    page.click(".gp-stepper button >> nth=0")  # the steppers are there
    assert page.evaluate("glass.state.layer") == 0
    # Back to where the reader was before it, with the sentence and what was selected.
    page.keyboard.press("Escape")
    expect(page.locator(".page-nav")).to_be_visible()
    page.wait_for_function("glass.state.chapter === 'kv'")
    assert not page.evaluate("document.querySelector('.ls-desk').open")
    assert page.evaluate("[glass.state.run.prompt, glass.state.layer]") == [DOG, 1]


def test_a_guess_is_typed_until_the_answer_is_shown_and_a_remote_control_always_goes_on(page: Page) -> None:
    make(page)
    page.get_by_role("button", name=re.compile(text("lessons.present"))).last.click()
    on_stage(page)
    count, note, guess = (page.locator(f".ls-{name}") for name in ("count", "note", "guess"))
    for shown in (True, False):  # what the keys do, above the bar until it is asked for again
        page.keyboard.press("?")
        expect(page.locator(".ls-keys")).to_be_visible(visible=shown)
    guess.click()
    page.keyboard.type("nr next?")
    expect(guess).to_have_value("nr next?")
    page.keyboard.press("Enter")  # keeps it, for the next one
    page.keyboard.type("or never")
    page.keyboard.press("Enter")
    expect(guess).to_have_value("nr next?, or never, ")
    assert on_stage(page)["covered"]
    page.keyboard.press("Enter")  # with nothing more written: shows the answer
    assert not on_stage(page)["covered"]
    expect(guess).to_have_value("nr next?, or never")
    with page.expect_popup() as caught:
        page.keyboard.press("n")
    expect(note).to_be_hidden()
    caught.value.close()
    expect(page.locator(".ls-bar")).to_be_visible()
    page.keyboard.press("r")
    assert on_stage(page)["covered"]
    guess.press("End")
    page.keyboard.type("!")
    page.keyboard.press("PageDown")
    assert not on_stage(page)["covered"]
    expect(guess).to_have_value("nr next?, or never!")
    page.keyboard.press("PageDown")
    expect(count).to_have_text("2 / 2")
    page.keyboard.press("PageUp")
    expect(count).to_have_text("1 / 2")
    assert not on_stage(page)["covered"]  # what was shown stays so
    page.keyboard.press("r")
    expect(guess).to_have_value("")
    guess.press("PageUp")
    expect(guess).to_be_enabled()


def test_the_way_back_is_screen_by_screen_and_a_view_opens_at_its_end(page: Page) -> None:
    desk(page)
    names = [file.name for file in lesson_files()["en"]]
    number = next(i for i, name in enumerate(names) if "positions" in name)
    page.locator(".ls-row").nth(number).locator("button").first.click()
    count, part = page.locator(".ls-count"), page.locator(".ls-part")
    seen = []
    while not count.inner_text().startswith("3"):
        on_stage(page)
        seen.append((count.inner_text(), part.inner_text()))
        page.keyboard.press("PageDown")
        page.wait_for_timeout(50)
    covered = text("lessons.part_covered")
    assert [words for _, words in seen].count(covered) == 2  # each asks something
    shown = [one for one in seen if one[1] != covered]
    for (count_now, said), (count_next, _) in itertools.pairwise(shown):  # what the next press does
        goes_on = text("lessons.part_view") in said
        assert goes_on == (count_now != count_next), (said, count_now, count_next)
    assert len(shown) > 2
    on_stage(page)
    for one in reversed(shown):
        page.keyboard.press("PageUp")
        on_stage(page)
        assert (count.inner_text(), part.inner_text()) == one
    expect(page.locator(".ls-back")).to_be_disabled()
    page.keyboard.press("End")
    on_stage(page)
    page.keyboard.press("PageDown")
    on_stage(page)
    while page.locator(".ls-next").is_enabled():
        page.keyboard.press("PageDown")
        on_stage(page)
    expect(part).to_contain_text(text("lessons.ends"))


FORM = """() => {
  const box = (name) => { const b = document.querySelector(name).getBoundingClientRect(); return [b.top, b.bottom]; };
  const all = [...document.querySelectorAll(".is-presented .gp-body canvas")].filter((one) => one.checkVisibility());
  const body = document.querySelector(".is-presented .gp-body").getBoundingClientRect();
  const isShown = (b) => b.height > 2 && b.top < body.bottom && b.bottom > body.top;
  const shown = all.map((one) => one.getBoundingClientRect()).filter(isShown);
  return {
    panel: box(".is-presented"),
    note: box(".ls-note"),
    bar: box(".ls-bar"),
    right: document.querySelector(".is-presented").getBoundingClientRect().right,
    left: document.querySelector(".ls-note").getBoundingClientRect().left,
    pictures: shown.map(({ top, bottom, left, right }) => [top, bottom, left, right]),
  };
}"""


@pytest.mark.parametrize(("width", "height"), one_of([(1280, 720), (390, 844)]))
def test_who_reads_along_sees_each_picture_whole_beside_its_note_and_it_stays_at_the_answer(
    page: Page, width: int, height: int
) -> None:
    page.set_viewport_size({"width": width, "height": height})
    number = next(i for i, file in enumerate(lesson_files()["en"]) if "attention" in file.name)
    desk(page)
    page.locator(".ls-row").nth(number).get_by_role("button", name=re.compile(text("lessons.follow"))).click()
    for at in range(1, 7):
        expect(page.locator(".ls-count")).to_have_text(f"{at} / 7")
        on_stage(page)
        before = page.evaluate(FORM)
        page.locator(".ls-next").click()
        on_stage(page)
        after = page.evaluate(FORM)
        assert abs(after["panel"][0] - before["panel"][0]) < 2, at
        for top, bottom, left, right in after["pictures"]:
            assert 0 <= top < bottom <= after["bar"][0], (at, after)
            assert 0 <= left < right <= after["right"] + 1, (at, after)
        if width > 900:
            assert after["right"] <= after["left"], after
            assert after["note"][1] <= after["bar"][0] + 1, after
        else:  # below it, in a column that scrolls
            assert after["note"][0] >= after["panel"][1], after
        while page.locator(".ls-count").inner_text() == f"{at} / 7":
            page.locator(".ls-next").click()
            on_stage(page)


def pixels(place: Locator) -> Image.Image:
    return Image.open(BytesIO(place.screenshot(animations="disabled"))).convert("L")


@pytest.mark.thorough
@pytest.mark.gradio
@pytest.mark.screen
def test_boxes_and_lists_look_like_what_they_are_in_both_themes(page: Page) -> None:
    """Beside gradio's styles, which take the browser's look from them."""
    desk(page)
    press(page, "fresh")
    press(page, "add")
    box = page.locator(".ls-check input")
    chosen = page.locator(".ls-panel")
    first = chosen.input_value()
    chosen.press("ArrowDown")
    expect(chosen).not_to_have_value(first)
    for theme in ("light", "dark"):
        page.evaluate("(dark) => document.body.classList.toggle('dark', dark)", theme == "dark")
        page.locator(".ls-name").focus()
        empty = pixels(box)
        assert np.ptp(np.asarray(empty)) > 60, theme  # its frame
        box.focus()
        page.keyboard.press("Space")
        expect(box).to_be_checked()
        page.locator(".ls-name").focus()
        change = np.asarray(ImageChops.difference(empty, pixels(box)))
        assert (change > 60).sum() > 30, theme
        box.focus()
        page.keyboard.press("Space")
        expect(box).not_to_be_checked()
        assert page.evaluate("getComputedStyle(document.querySelector('.ls-desk')).colorScheme") == (
            "dark" if theme == "dark" else "normal"
        )
    page.keyboard.press("Escape")
    bare = """(chapters) => {
      for (const chapter of chapters) glass.open(chapter);
      const own = ":is(.glass-panel, .page-dialog) :is(select, input:is([type=checkbox], [type=radio]))";
      const look = (one) => [getComputedStyle(one).appearance, getComputedStyle(one).backgroundImage];
      const all = [...document.querySelectorAll(own)];
      const lacks = all.filter((one) => look(one).every((value) => value === "none"));
      return [all.length, lacks.map((one) => one.outerHTML.slice(0, 100))];
    }"""
    page.wait_for_function("(bare) => eval(bare)(Object.keys(glassConfig.chapters))[0] > 10", arg=bare)
    settled(page)
    assert page.evaluate(f"({bare})(Object.keys(glassConfig.chapters))")[1] == []


@pytest.mark.thorough
def test_a_lesson_is_handed_out_as_a_file_and_as_a_link_and_a_bad_file_loses_nothing(
    page: Page, tmp_path: Path
) -> None:
    make(page)
    with page.expect_download() as caught:
        press(page, "save")
    file = tmp_path / "lesson.json"
    caught.value.save_as(file)
    lesson = json.loads(file.read_text(encoding="utf-8"))
    assert [lesson["title"], [view["panel"] for view in lesson["views"]]] == [
        "<img src=x onerror=alert(1)> 课",
        ["why", "cell"],
    ]
    press(page, "list")
    for change, field in (({"title": ""}, "title"), ({"views": 3}, "views"), ({"format": "x"}, "format")):
        (bad := tmp_path / "bad.json").write_text(json.dumps(lesson | change), encoding="utf-8")
        page.set_input_files(".ls-file", bad)
        expect(page.locator(".ls-said")).to_contain_text(f": {field} is ")
        expect(page.locator(".ls-list >> nth=0").locator(".ls-row")).to_have_count(1)
    page.set_input_files(".ls-file", file)
    expect(page.locator(".ls-view")).to_have_count(2)
    expect(page.locator(".ls-check input").first).to_be_checked()  # its answer is still covered
    press(page, "list")
    expect(page.locator(".ls-list >> nth=0").locator(".ls-row")).to_have_count(
        2
    )  # the file's beside the one it was made of
    press(page, "remove")
    expect(page.locator(".ls-list >> nth=0").locator(".ls-row")).to_have_count(1)
    press(page, "undo")
    expect(page.locator(".ls-list >> nth=0").locator(".ls-row")).to_have_count(2)
    press(page, "share")
    link = page.locator(".ls-link").input_value()
    check_qr(page, link)
    expect(page.locator(".ls-share").first).to_contain_text(
        text("lessons.only_here")
    )  # an address of this computer's own
    press(page, "edit")
    press(page, "list")
    press(page, "share_view")
    view = page.locator(".ls-link").input_value()
    assert "chapter=attend" in view
    assert "layer=1" in view
    check_qr(page, view)
    # The class opens the link: the lesson is presented from its first view on, whole, and kept where one wants it.
    page.evaluate("localStorage.clear()")
    page.goto("about:blank")
    page.goto(link)
    page.locator(".ls-bar").wait_for()
    assert on_stage(page)["kind"] == "why"
    expect(page.locator(".ls-count")).to_have_text("1 / 2")
    expect(page.locator(".ls-note")).to_have_text("Guess & see <b>bold</b>")
    page.get_by_role("button", name=text("lessons.list")).click()
    expect(page.locator(".ls-bar")).to_be_hidden()
    row = page.locator(".ls-row").first
    expect(row.locator("strong")).to_have_text("<img src=x onerror=alert(1)> 课")
    row.get_by_role("button", name=re.compile(text("lessons.follow"))).click()
    assert on_stage(page)["kind"] == "why"
    # Loaded again it goes on where it was; not after it was left.
    page.click(".ls-reveal")
    page.keyboard.press("PageDown")
    assert on_stage(page)["kind"] == "cell"
    page.reload()
    wait_for_run(page)
    page.locator(".ls-bar").wait_for()
    assert on_stage(page)["kind"] == "cell"
    assert page.locator(".ls-count").inner_text() == "2 / 2"
    page.keyboard.press("Escape")
    page.reload()
    wait_for_run(page)
    expect(page.locator(".ls-bar")).to_have_count(0)
    page.goto("about:blank")
    page.goto(link)
    page.locator(".ls-bar").wait_for()
    on_stage(page)
    page.get_by_role("button", name=text("lessons.list")).click()
    page.locator(".ls-row").first.get_by_role("button", name=re.compile(text("lessons.adopt"))).click()
    kept = page.evaluate("Object.entries(localStorage).filter(([name]) => name.startsWith('glass-llama-lesson.'))")
    kept = [json.loads(words) for _, words in kept]
    assert kept == [lesson]


def check_qr(page: Page, link: str) -> None:
    """The code that is drawn is the link's."""
    page.locator(".ls-qr path").wait_for(state="attached")
    size = float((page.get_attribute(".ls-qr", "viewBox") or "").split()[2])
    path = page.get_attribute(".ls-qr path", "d")
    assert zxingcpp.read_barcodes(picture({"size": int(size), "path": path}))[0].text == link


def test_what_the_browser_cannot_keep_is_said_and_a_telephone_reads_along(page: Page) -> None:
    page.evaluate("() => { Storage.prototype.setItem = () => { throw new DOMException('', 'QuotaExceededError'); }; }")
    desk(page)
    press(page, "fresh")
    expect(page.locator(".ls-said")).to_contain_text(text("lessons.bad_full")[:40])
    page.set_viewport_size({"width": 390, "height": 844})
    press(page, "add")
    expect(page.locator(".ls-view")).to_have_count(1)
    assert page.evaluate(
        "document.querySelector('.ls-desk').scrollWidth <= document.querySelector('.ls-desk').clientWidth"
    )
    page.locator(".ls-view").get_by_role("button", name=re.compile(text("lessons.present"))).click()
    at = on_stage(page)
    assert at["boxes"][0][2] <= 390
    assert at["beyond"] == 0


KEYS = re.compile(r"Page Down|Space|Enter|空格|回车|→|\([A-Z]\)|（[A-Z]）")


@pytest.mark.parametrize("language", one_of(["zh", "en"]))
def test_on_a_telephone_the_bar_is_one_line_that_speaks_of_no_keys(
    screen: Browser, panels_alone: str, language: str
) -> None:
    page = open_page(screen, f"{panels_alone}#lang={language}", 390, 844, has_touch=True, is_mobile=True)
    height = "document.querySelector('.ls-bar').getBoundingClientRect().height"
    desk(page)
    page.locator(".ls-row").first.locator("button").first.tap()
    on_stage(page)
    assert page.evaluate(height) <= 72
    tools = page.locator(".ls-tools")
    expect(tools).to_be_hidden()
    page.locator(".ls-more").tap()
    expect(tools).to_be_visible()
    named = [*page.locator(".ls-bar [aria-label]").all(), page.locator(".ls-guess")]
    said = [one.get_attribute(name) or "" for one in named for name in ("aria-label", "title", "placeholder")]
    said += [page.locator(".ls-bar").inner_text(), page.locator(".ls-keys").text_content() or ""]
    assert not any(map(KEYS.search, said)), said
    page.locator(".ls-notes").tap()  # in the column, since there is no second window
    expect(tools).to_be_hidden()
    expect(page.locator(".page-body > .ls-note")).to_be_visible()
    assert not KEYS.search(page.locator(".ls-note").inner_text())
    reveal, end = page.locator(".ls-reveal"), "(one) => one.getBoundingClientRect().right"
    stood = reveal.evaluate(end)
    for covered in (False, True):  # a second press by mistake meets no other button
        reveal.tap()
        on_stage(page)
        assert page.evaluate("document.body.hasAttribute('data-covered')") is covered
        assert abs(reveal.evaluate(end) - stood) < 1
    page.locator(".ls-guess").fill("park")
    reveal.tap()
    on_stage(page)
    assert page.evaluate(height) <= 72
    buttons = [one.bounding_box() for one in page.locator(".ls-bar button:visible").all()]
    edges = sorted((one["x"], one["x"] + one["width"]) for one in buttons if one)
    assert all(right <= left for (_, right), (left, _) in itertools.pairwise(edges)), edges
    assert edges[-1][1] <= 390
    expect(page.locator(".page-body > label .ls-guess")).to_have_value("park")  # beside the answer
    part = page.locator(".ls-part")  # which screen it is, is said whole
    for _ in range(6):
        if "1/2" in (part.get_attribute("data-brief") or ""):
            break
        page.locator(".ls-next").tap()
        on_stage(page)
    expect(part).to_have_attribute("data-brief", text("lessons.part_brief", language, at=1, pages=2))
    assert part.evaluate("(one) => one.scrollWidth <= one.clientWidth && one.clientWidth > 40")
    leave(page)


def test_the_tokens_in_a_lesson_s_links_are_those_that_the_bundled_model_writes() -> None:
    """Trained anew, it may write others, or number them otherwise: then these links are to be made again."""
    lm = model.load(device="cpu")
    for file in (file for files in lesson_files().values() for file in files):
        for view in json.loads(file.read_text(encoding="utf-8"))["views"]:
            fields = parse_qs(view["link"].removeprefix("#"))
            told = [int(one) for one in fields["more"][0].split(".")] if "more" in fields else []
            steps = model.generate(lm, fields["prompt"][0], max_new_tokens=len(told)) if told else ()
            assert [step.token_id for step in steps] == told, (file.name, view["headline"])


def test_of_a_covered_view_what_a_guess_needs_is_seen_and_the_answer_is_not_until_the_next_press(page: Page) -> None:
    file = next(one for one in lesson_files()["en"] if "cache" in one.name)
    desk(page)
    page.locator(".ls-row").nth(lesson_files()["en"].index(file)).locator("button").first.click()
    views = json.loads(file.read_text(encoding="utf-8"))["views"]
    part = page.locator(".ls-part")
    for i, view in enumerate(views):
        on_stage(page)
        expect(page.locator(".ls-count")).to_have_text(f"{i + 1} / {len(views)}")
        if view["panel"] == "kv-live":  # its grid is drawn, with nothing in it yet
            expect(part).to_have_text(text("lessons.part_covered"))
            expect(page.locator(".is-presented .kv-grid")).to_be_visible()
            for name in (".is-presented .kv-caption", ".ls-legend .kv-legend"):
                expect(page.locator(name)).to_be_hidden()
            expect(page.locator(".ls-guess")).to_have_attribute("placeholder", text("lessons.guess_hint"))
        if view["panel"] == "kv-kinds":
            kinds, sizes = (page.locator(f".is-presented .kv-kind {one}") for one in ("h4", ".kv-kind-size strong"))
            expect(kinds.first).to_be_visible()
            expect(sizes.first).to_be_hidden()
            expect(page.locator(".is-presented .kv-own").first).to_be_hidden()
            page.keyboard.press("PageDown")
            on_stage(page)
            expect(sizes.first).to_be_visible()
            expect(page.locator(".ls-count")).to_have_text(f"{i + 1} / {len(views)}")
        if view["panel"] == "kv-calculator":  # all factors, and not what they come to
            total, factors = (page.locator(f".is-presented .kv-{one}").first for one in ("total", "product"))
            expect(factors).to_be_visible()
            expect(total.locator("strong").first).to_be_hidden()
            for beside in page.locator(".is-presented .kv-result-side [data-answer=beside]").all():
                expect(beside).to_be_hidden()
            page.keyboard.press("PageDown")
            on_stage(page)
            expect(total.locator("strong").first).to_be_visible()
            expect(page.locator(".ls-count")).to_have_text(f"{i + 1} / {len(views)}")
            break
        while page.locator(".ls-count").inner_text() == f"{i + 1} / {len(views)}":
            page.keyboard.press("PageDown")
            page.wait_for_timeout(50)
            on_stage(page)


def test_what_lies_under_a_still_pointer_is_not_marked(page: Page) -> None:
    desk(page)
    page.locator(".ls-row").first.locator("button").first.click()
    rests = page.locator("body[data-pointer-rests]")
    on_stage(page)
    expect(rests).to_have_count(1)
    page.mouse.move(600, 400)
    expect(rests).to_have_count(0)
    page.keyboard.press("Escape")
    expect(rests).to_have_count(0)


def test_while_the_cache_is_measured_axes_stand_and_one_line_says_how_far_it_is(page: Page) -> None:
    held: list[Route] = []
    page.route(
        "**/ask/calculate",
        lambda route: held.append(route) if "kv_race" in (route.request.post_data or "") else route.continue_(),
    )
    file = next(one for one in lesson_files()["en"] if "cache" in one.name)
    desk(page)
    page.locator(".ls-row").nth(lesson_files()["en"].index(file)).locator("button").first.click()
    for _ in range(2):  # the first view's answer, then the second view
        page.wait_for_function("document.body.dataset.lesson === 'shown'")
        page.keyboard.press("PageDown")
        page.wait_for_timeout(50)
    race = page.locator("section[data-kind=kv-race].is-presented")
    words = text("kv-race.running", count=0)
    expect(race.get_by_text(words, exact=True)).to_have_count(1)
    expect(race.get_by_role("status")).to_have_text(words)
    charts = [one.bounding_box() for one in race.locator("canvas").all() if one.is_visible()]
    line = race.get_by_role("status").bounding_box()
    assert line
    assert len(charts) == 1  # of what is counted: measured times jump
    for chart in charts:  # axes to draw on; the line stands where the lines will be
        assert chart
        assert chart["y"] < line["y"] < line["y"] + line["height"] < chart["y"] + chart["height"]
    says = page.locator(".ls-says")
    page.keyboard.press("PageDown")  # the answer is of what is still measured
    page.wait_for_timeout(300)
    expect(says).to_be_hidden()
    expect(page.locator(".ls-count")).to_contain_text("2 / ")
    for route in held:
        route.continue_()
    page.unroute("**/ask/calculate")
    expect(says).to_be_visible()
    on_stage(page)
    expect(race.locator(".kv-bar [role=status]")).to_have_text("")


def test_an_answer_waits_until_its_view_was_seen_and_escape_closes_what_is_open_before_the_lesson(page: Page) -> None:
    file = next(one for one in lesson_files()["en"] if "positions" in one.name)
    desk(page)
    page.locator(".ls-row").nth(lesson_files()["en"].index(file)).locator("button").first.click()
    on_stage(page)
    page.keyboard.press("r")
    held: list[Route] = []
    holds = [True]
    page.route("**/ask/**", lambda route: held.append(route) if holds else route.continue_())
    page.keyboard.press("PageDown")
    coming, says = page.locator(".ls-coming"), page.locator(".ls-says")
    expect(coming).to_have_text(text("lessons.coming"))
    expect(coming).to_be_visible()
    page.keyboard.press("r")
    page.wait_for_timeout(2000)  # longer than the stage waits for what is not under way
    expect(says).to_be_hidden()
    page.evaluate("""() => new MutationObserver(() => {
      if (document.body.dataset.lesson !== "shown") return;
      for (const key of ["PageDown", "r"])
        setTimeout(() => window.dispatchEvent(new KeyboardEvent("keydown", { key })), 100);
    }).observe(document.body, { attributeFilter: ["data-lesson"] })""")
    holds.clear()
    for route in held:
        route.continue_()
    on_stage(page)
    expect(coming).to_be_hidden()
    page.wait_for_timeout(800)
    expect(says).to_be_hidden()  # what is covered is seen first, also by somebody who is impatient
    page.keyboard.press("r")
    on_stage(page)
    expect(says).to_be_visible()
    bar, keys = page.locator(".ls-bar"), page.locator(".ls-keys")
    size = page.evaluate("document.body.style.getPropertyValue('--lesson-size')")
    page.keyboard.press("?")
    expect(keys).to_be_visible()
    assert page.evaluate("document.body.style.getPropertyValue('--lesson-size')") == size
    page.keyboard.press("Escape")
    expect(keys).to_be_hidden()
    expect(bar).to_be_visible()
    page.keyboard.press("Escape")
    expect(bar).to_be_hidden()


def test_a_press_passes_over_no_view_that_is_coming(page: Page) -> None:
    """Nor its question; back goes on at once, as before its first screen is the view before."""
    file = next(one for one in lesson_files()["en"] if "positions" in one.name)
    desk(page)
    page.locator(".ls-row").nth(lesson_files()["en"].index(file)).locator("button").first.click()
    count, part = page.locator(".ls-count"), page.locator(".ls-part")
    on_stage(page)
    for key in ("r", "PageDown", "r"):
        page.keyboard.press(key)
        on_stage(page)
    expect(count).to_have_text("2 / 7")
    pages = int(re.findall(r"\d+", part.inner_text())[1])
    assert pages > 1
    page.keyboard.press("PageUp")
    on_stage(page)
    held: list[Route] = []
    holds = [True]
    page.route("**/ask/**", lambda route: held.append(route) if holds else route.continue_())

    def release() -> None:
        holds.clear()
        while held:
            held.pop().continue_()
        on_stage(page)

    coming, waiting = page.locator(".ls-coming"), page.locator(".ls-bar.is-waiting")
    for key, seen in (("PageDown", "2 / 7"), ("PageUp", "1 / 7")):
        page.keyboard.press(key)  # the way back waits for nothing
        expect(count).to_have_text(seen)
        expect(coming).to_be_visible()
    release()
    holds.append(True)
    for _ in range(3):  # whoever is impatient presses again: what is not seen yet is not passed over
        page.keyboard.press("PageDown")
        expect(coming).to_be_visible()
    expect(page.locator(".is-presented")).to_be_hidden()  # no empty card
    expect(waiting).to_be_hidden()
    expect(count).to_have_text("2 / 7")
    release()
    expect(count).to_have_text("2 / 7")
    expect(part).to_have_text(re.compile(rf"\D*1\D+{pages}(\D|$)"))
    while count.inner_text() == "2 / 7":
        page.keyboard.press("PageDown")
        on_stage(page)
    holds.append(True)
    for _ in range(2):  # back to its last screen, which is not there yet, and to the one before that
        page.keyboard.press("PageUp")
        expect(coming).to_be_visible()
    expect(count).to_have_text("2 / 7")
    release()
    expect(count).to_have_text("2 / 7")
    expect(part).to_have_text(re.compile(rf"\D*{pages - 1}\D+{pages}(\D|$)"))


def test_until_the_part_of_a_view_is_measured_nothing_else_of_its_panel_is_seen(page: Page) -> None:
    file = next(one for one in lesson_files()["en"] if "attention" in one.name)
    views = json.loads(file.read_text(encoding="utf-8"))["views"]
    at = next(i for i, view in enumerate(views) if view["part"] == ".wy-missed")
    desk(page)
    page.locator(".ls-row").nth(lesson_files()["en"].index(file)).locator("button").first.click()
    on_stage(page)
    page.keyboard.press("End")
    on_stage(page)
    held: list[Route] = []
    holds = [True]

    def hold(route: Route) -> None:
        if holds and '"heads"' in (route.request.post_data or ""):
            held.append(route)
        else:
            route.continue_()

    page.route("**/ask/**", hold)
    page.keyboard.press("PageUp")
    expect(page.locator(".ls-count")).to_have_text(f"{at + 1} / {len(views)}")
    expect(page.locator(".ls-coming")).to_be_visible()
    page.wait_for_timeout(2500)  # longer than the stage waits for what is not under way
    assert held
    expect(page.locator(".ls-coming")).to_be_visible()
    expect(page.locator(".is-presented .wy-stage")).to_be_hidden()
    holds.clear()
    for route in held:
        route.continue_()
    on_stage(page)
    expect(page.locator(".is-presented .wy-missed")).to_be_visible()


def test_the_list_offers_to_present_with_a_notes_window_where_there_is_room_for_one(page: Page) -> None:
    name = re.compile(text("lessons.present_notes"))
    desk(page)
    with page.expect_popup() as caught:
        page.locator(".ls-row").first.get_by_role("button", name=name).click()
    on_stage(page)
    expect(caught.value.locator(".ls-notes-said p").first).to_be_visible()
    expect(page.locator(".ls-note")).to_be_hidden()
    page.keyboard.press("Escape")
    page.set_viewport_size({"width": 390, "height": 844})
    desk(page)
    expect(page.locator(".ls-row").first.get_by_role("button", name=name)).to_have_count(0)


def test_a_legend_of_drawings_alone_is_not_seen_above_a_screen_without_any(page: Page) -> None:
    file = next(one for one in lesson_files()["en"] if "positions" in one.name)
    desk(page)
    page.locator(".ls-row").nth(lesson_files()["en"].index(file)).locator("button").first.click()
    on_stage(page)
    seen = {}
    legend = page.locator(".ls-legend")
    while page.locator(".ls-count").inner_text() != "3 / 7":
        if page.locator(".ls-count").inner_text() == "2 / 7":
            canvas, body = (page.locator(f".is-presented .gp-body{one}").first for one in (" canvas", ""))
            (drawn, shown) = (one.bounding_box() for one in (canvas, body))
            assert drawn
            assert shown
            seen[drawn["y"] + drawn["height"] > shown["y"] + 10] = legend.is_visible()
        page.keyboard.press("PageDown")
        page.wait_for_timeout(50)
        on_stage(page)
    assert seen == {True: True, False: False}


@pytest.mark.parametrize("begins", ["fresh", "copy"])
def test_a_lesson_that_is_edited_has_the_focus_and_the_page_behind_does_not_scroll(page: Page, begins: str) -> None:
    page.locator("#lessons").focus()
    page.keyboard.press("Enter")
    press_it = page.locator(".ls-pane").get_by_role("button", name=text(f"lessons.{begins}")).first
    press_it.focus()
    width = "document.documentElement.clientWidth"
    before = page.evaluate(width)
    page.keyboard.press("Enter")
    field = page.locator(".ls-name")
    expect(field).to_be_focused()
    page.keyboard.press("Shift+Tab")
    assert page.evaluate("document.querySelector('.ls-desk').contains(document.activeElement)")
    page.keyboard.press("End")
    page.keyboard.press("PageDown")
    page.wait_for_timeout(300)
    assert page.evaluate(f"[scrollY, {width}]") == [0, before]
    page.keyboard.press("Escape")
    expect(page.locator("#lessons")).to_be_focused()
    expect(page.locator("#lessons")).to_be_in_viewport()
    page.keyboard.press("Enter")  # to the lesson that is being made
    expect(field).to_be_focused()
