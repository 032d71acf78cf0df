"""A run as one HTML file: opened from disk, without a network, it shows what the page shows and says what it lacks."""

import json
import re
from collections.abc import Iterator
from contextlib import contextmanager
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, Page, expect

import model
from app.chapters import CHAPTERS
from app.engine import LocalEngine
from app.one_file.__main__ import main
from app.one_file.planes import in_planes
from app.one_file.recording import key_of
from app.service import Service
from app.session import Runs
from app.texts import text
from app.zoo import zoo
from tests.app.looking import SETTLED, run, settled, shown, walk
from tests.page import KEPT, leave, open_page
from tests.panels import tensors
from tests.plain import plain_site
from visuals.payload import pack
from visuals.source_code import CODED, code_payload

WORDS = "Tom is in the kitchen. Lily is in the garden. Tom is in the kitchen."
LONG = (
    " ".join([WORDS] * 4).removesuffix(" Lily is in the garden. Tom is in the kitchen.") + " Tom is in the"
)  # 64 tokens
HOSTILE = "</script><script>hostile()</script><img src=x onerror=hostile()> <!-- \" ' & 猫"
FIRST, SECOND = "hello", "other"
MOST_BYTES = 5_000_000
# Playwright's own waiting makes functions of text, which the file's policy forbids.
OPENED = f"""
async () => {{
  const opened = () => window.glass?.state.trace && glass.state.status === "idle";
  while (!opened()) await new Promise((done) => setTimeout(done, 20));
  {SETTLED}
}}
"""
SCENES = f"""
async () => {{
  glass.open("story");
  const begun = () => {{
    const run = glass.state.trace;
    return run.layers.size === run.model.n_layers && document.querySelector(".st-scene:not([hidden])");
  }};
  while (!begun()) await new Promise((done) => setTimeout(done, 20));
  const values = {{}};
  for (const scene of document.querySelectorAll(".st-scene:not([hidden])")) {{
    scene.scrollIntoView();
    await new Promise((done) => setTimeout(done, 50));
    {{ {SETTLED} }}
    values[scene.dataset.scene] = scene.dataset.value;
  }}
  return values;
}}
"""
CODE = """
async (asked) => {
  const found = {};
  for (const [panel, tensors] of Object.entries(asked)) {
    const ask = () => glass.detail("code", { layer: 1, panel, tensors });
    while (!ask()) await new Promise((done) => setTimeout(done, 5));
    found[panel] = ask();
  }
  return found;
}
"""


@contextmanager
def opened(browser: Browser, file: Path, link: str = "") -> Iterator[Page]:
    """The file as a browser without a network opens it from disk; fails for an error on its console and for any
    request but for the file itself and its parts."""
    context = browser.new_context(locale="en-US")
    context.set_offline(True)
    context.add_init_script(f"try {{ Object.assign(localStorage, {json.dumps(KEPT)}); }} catch {{}}")
    page = context.new_page()
    troubles: list[str] = []
    page.on("console", lambda message: troubles.append(message.text) if message.type == "error" else None)
    page.on("pageerror", lambda error: troubles.append(str(error)))
    page.on("request", lambda asked: None if asked.url.startswith(("data:", "blob:")) else troubles.append(asked.url))
    page.goto(f"{file.as_uri()}{link}")
    page.evaluate(OPENED)
    yield page
    assert [trouble for trouble in troubles if trouble != file.as_uri()] == []
    context.close()


def values(page: Page) -> dict[str, Any]:
    """What every scene of the story and every panel of each chapter shows."""
    page.mouse.move(1, 1)  # somebody is there: the other layers are fetched
    scenes = page.evaluate(SCENES)
    return scenes | {name: panel["value"] for name, panel in walk(page, CHAPTERS).items()}


@pytest.fixture
def bundled(browser: Browser) -> Iterator[Page]:
    """The page with the bundled model, and the long run."""
    with plain_site(LocalEngine([model.load(), *zoo()]), Runs()) as address:
        page = open_page(browser, f"{address}#lang=en")
        run(page, LONG)
        yield page
        leave(page)


@pytest.mark.thorough
def test_a_run_in_a_file_shows_what_the_page_shows(browser: Browser, bundled: Page, tmp_path: Path) -> None:
    """Every scene and panel as they open; another place in another layer; both languages."""
    file = tmp_path / "run.html"
    assert main([LONG, str(file)]) == 0
    assert file.stat().st_size <= MOST_BYTES
    assert bundled.evaluate("glass.state.trace.T") == 64
    at = {"layer": 1, "head": 6, "query": 40, "key": 12}
    with opened(browser, file) as page:
        there, here = values(bundled), values(page)
        # The one is timed anew for the file; the other is worked out bit by bit, and read below once it is whole.
        timed = {"norm norm-kinds", "attend heads"}
        assert {name: here[name] for name in here if name not in timed} == {
            name: there[name] for name in there if name not in timed
        }
        assert page.locator("[data-withheld]").count() == 0
        named = {kind: [] for kind in CODED} | tensors()
        lm = model.load()
        code = {kind: code_payload(lm, 1, kind, names) for kind, names in named.items()}
        assert page.evaluate(CODE, named) == json.loads(json.dumps(code))

        for one in (bundled, page):
            one.evaluate("glass.open('attend')")
            one.evaluate("(at) => glass.select(at)", at)
        for kind, start in (("attention", "layer 1 "), ("heads", "layer 1 head 6 first=0")):
            assert shown(page, kind, start) == shown(bundled, kind, start), kind
        # What this head writes is not inside: the rest of the panel is drawn, and it says so.
        assert shown(bundled, "cell", "layer 1 ").startswith(shown(page, "cell", "layer 1 "))
        expect(page.locator("section[data-kind=cell] .gp-withheld")).to_have_text(text("one_file.lacks"))
        page.locator("#language [data-language=zh]").click()
        expect(page.locator("section[data-kind=cell] h2")).to_contain_text(re.compile("[一-鿿]"))
        assert page.evaluate("document.documentElement.lang") == "zh-CN"
        assert page.locator("#prompt textarea").input_value() == LONG


class Tags(HTMLParser):
    """Every element of a document, and the texts of its text box."""

    def __init__(self) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.box = ""

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)

    def handle_data(self, data: str) -> None:
        if self.tags[-1] == "textarea" and not self.box:
            self.box = data


def test_the_page_saves_a_file_that_opens_at_what_is_shown(page: Page, browser: Browser, tmp_path: Path) -> None:
    """By the button beside the link; a hostile prompt is text in it. What is not inside is said at its place."""
    run(page, HOSTILE)
    page.evaluate("glass.open('norm')")
    page.evaluate("glass.select({ layer: 1, head: 2, query: 3, key: 1 })")
    settled(page)
    page.click("#lessons")
    page.get_by_role("button", name=text("lessons.share_view")).click()
    with page.expect_download() as download:
        page.get_by_role("button", name=text("lessons.file_save")).click()
    file = tmp_path / "saved.html"
    download.value.save_as(file)
    html = file.read_text(encoding="utf-8")
    read = Tags()
    read.feed(html)
    assert (read.tags.count("script"), read.tags.count("img"), read.box) == (4, 0, HOSTILE)
    assert "default-src 'none'" in html

    with opened(browser, file) as saved:
        assert saved.locator("#prompt textarea").input_value() == HOSTILE
        assert saved.evaluate("[glass.state.chapter, glass.state.layer, glass.state.head]") == ["norm", 1, 2]
        assert shown(saved, "rmsnorm") == shown(page, "rmsnorm")
        saved.evaluate("glass.select({ layer: 2 })")
        kinds = saved.locator("section[data-kind=norm-kinds]")
        kinds.scroll_into_view_if_needed()
        expect(kinds.locator(".gp-withheld")).to_have_text(text("one_file.lacks"))
        saved.evaluate("glass.select({ layer: 1 })")
        expect(kinds.locator(".gp-withheld")).to_be_hidden()
        saved.evaluate("glass.read('another text')")
        expect(saved.locator(".page-message")).to_have_text(text("message.file_run"))
    with opened(browser, file, "#chapter=ffn&panel=activation-kinds") as led:
        assert led.evaluate("glass.state.chapter") == "ffn"
        box = led.locator("section[data-kind=activation-kinds]").bounding_box()
        assert box is not None
        assert abs(box["y"]) < 300


TWO = """
async (at) => {
  glass.showSide("B-A");
  glass.select(at);
  while (glass.state.side !== "B-A") await new Promise((done) => setTimeout(done, 20));
}
"""


@pytest.mark.thorough
def test_two_runs_in_a_file_show_what_one_has_more_than_the_other(page: Page, browser: Browser, tmp_path: Path) -> None:
    """B − A of every panel as the file opens; either side; and what is not inside says so."""
    run(page, FIRST)
    page.evaluate("glass.keep(glass.state.trace)")
    run(page, SECOND)
    page.evaluate(TWO, {"layer": 1, "head": 3, "query": 2, "key": 1})
    file = tmp_path / "two.html"
    answer = page.evaluate("glass.oneFile()")
    assert answer["kind"] == "file", answer
    file.write_text(answer["html"], encoding="utf-8")
    there = walk(page, CHAPTERS)
    with opened(browser, file) as both:
        assert both.evaluate("[glass.state.side, glass.state.kept.prompt]") == ["B-A", FIRST]
        here = walk(both, CHAPTERS)
        assert sum(panel["side"] == "B-A" for panel in there.values()) > 15
        assert {name: here[name] for name in here if here[name] != there[name]} == {}


LESSON = """
async (views) => {
  const [{ collectViews }, { packLesson }] = await Promise.all(
    ["stills", "pack"].map((name) => import(`/glass/lessons/${name}.js`)),
  );
  const more = { part: "", note: "Look here", hidden: false };
  const all = views.map((view) => ({ ...view, ...more }));
  const lesson = { format: "glass-llama-lesson", version: 1, language: "en", title: "Two views", views: all };
  const told = [];
  const found = await collectViews(glass, lesson, (at) => told.push(at));
  const answer = await glass.oneFile({ ...found, lesson, hash: await packLesson(lesson) });
  return [told, answer.html];
}
"""


@pytest.mark.thorough
def test_a_lesson_in_a_file_is_presented_with_its_runs(page: Page, browser: Browser, tmp_path: Path) -> None:
    views = [
        {"link": f"#chapter=norm&prompt={FIRST}&layer=1&token=2", "panel": "rmsnorm"},
        {"link": f"#chapter=attend&prompt={SECOND}&layer=2&head=1&token=3&key=1", "panel": "attention"},
    ]
    told, html = page.evaluate(LESSON, views)
    assert told == [0, 1]
    file = tmp_path / "lesson.html"
    file.write_text(html, encoding="utf-8")
    with opened(browser, file) as lesson:
        expect(lesson.locator(".ls-count")).to_have_text("1 / 2")
        for key, at, kind, prompt in (
            ("", 1, "rmsnorm", FIRST), ("ArrowRight", 2, "attention", SECOND), ("ArrowLeft", 1, "rmsnorm", FIRST),
        ):  # fmt: skip
            while lesson.locator(".ls-count").inner_text() != f"{at} / 2":
                lesson.keyboard.press(key)  # on through the parts of the view
            expect(lesson.locator(f"section[data-kind={kind}]")).to_be_visible()
            expect(lesson.locator("#prompt textarea")).to_have_value(prompt)
            assert shown(lesson, kind, f"layer {at} ")
        lesson.keyboard.press("Escape")
        lesson.click("#lessons")
        row = lesson.locator(".ls-row").first
        expect(row.locator("strong")).to_have_text("Two views")
        row.locator("button").first.click()
        expect(lesson.locator(".ls-count")).to_have_text("1 / 2")
        with lesson.expect_popup() as caught:
            lesson.keyboard.press("n")
        picture = caught.value.locator(".ls-then img")
        picture.wait_for(timeout=60_000)
        assert picture.evaluate("(image) => image.decode().then(() => image.naturalWidth)") > 100
        assert caught.value.locator("link[rel=stylesheet]").count() == 2
        caught.value.close()


def test_what_the_browser_reads_back_is_written_so() -> None:
    """tests/js/one-file.test.js has the same texts."""
    question = {"what": "lens", "run": "run-0", "follow": False, "token": None, "text": '猫 "</\n', "p": 0.05}
    assert key_of(question) == (
        '[["follow",false],["p",0.05],["run","run-0"],["text","猫 \\"</\\n"],["token",null],["what","lens"]]'
    )
    numbers = pack([1.5, -2.0, 3e-5], "f4")
    assert in_planes([{"of": numbers}]) == [{"of": {**numbers, "data": "AACCAACowAD7P8A3"}}]


def test_a_wrong_request_for_a_file_is_refused_and_wrong_questions_are_left_out(service: Service) -> None:
    run: Any = service.recall({"prompt": "hello", "generated": []})
    view = {"run": run["id"], "layer": 0, "head": 0, "query": 0, "key": 0}
    for wrong in ({}, {"views": []}, {"views": [{**view, "layer": 99}]}, {"views": [view], "hash": 5}):
        refused: Any = service.one_file(wrong)
        assert refused["code"] == "bad_request", wrong
    asked = [{"what": 5}, {"what": "lens", "follow": []}, {"what": "nope"}, {"what": "real_model", "act": "fetch"}, {}]
    made: Any = service.one_file({"views": [{**view, "asked": asked}], "calculations": asked})
    assert made["kind"] == "file"
    assert len(made["html"].encode()) <= MOST_BYTES
