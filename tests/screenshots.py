"""python -m tests.screenshots: the pictures of README and model card, from the real page with the bundled model.

With `--all DIR` every chapter and story instead, in both languages and themes and at three sizes, to be looked at; with
`--names` those alone whose names fit, such as `--names '*-zh-light-1280'`.
With `--heights` no pictures: how many screens of 1280 × 720 each chapter of the workbench takes. Nor with `--rooms`,
which writes how high each scene of a story is, so that it has its room before it is drawn.
"""

import argparse
from fnmatch import fnmatch
from itertools import product
from pathlib import Path

from playwright.sync_api import Browser, Page

from app.chapters import CHAPTERS
from tests.app.looking import settled, walk
from tests.page import ROOT, chromium, leave, open_page, running_app, wait_for_run
from visuals import STATIC

TRAINING = "docs/training.png"
PICTURES = {
    "page.png": ("en", "Tom is in the kitchen. Lily is in the garden. Tom is in the"),
    "page.zh.png": ("zh", "汤姆在厨房里。莉莉在花园里。汤姆在"),
}


def take(page: Page, prompt: str) -> bytes:
    """The story's first scene after a run of the prompt, with the pointer resting nowhere."""
    page.locator("#prompt textarea").fill(prompt)
    page.locator("#run").click()
    page.wait_for_function("(prompt) => glass.state.trace.prompt === prompt", arg=prompt)
    wait_for_run(page)
    page.locator("[data-scene=answer] .st-swaps button").first.wait_for()  # the last that comes
    page.mouse.move(1, 1)
    page.wait_for_timeout(500)
    return page.screenshot()


def training(page: Page) -> bytes:
    """The panel that draws the training log."""
    page.add_style_tag(content="[data-kind=tokens] { position: static !important; }")  # else it lies over the panel
    settled(page)  # panels above it have their height
    panel = page.locator("section[data-kind=training]")
    panel.scroll_into_view_if_needed()
    panel.locator(".gp-body > *").last.scroll_into_view_if_needed()
    panel.locator(".js-plotly-plot").nth(1).locator(".main-svg").first.wait_for()
    page.wait_for_timeout(500)
    return panel.screenshot()


STORIES = ("story", "story-cache", "story-learned")
SIZES = ((1280, 720), (1920, 1080), (390, 844))
# Plotly comes with the first chart. Until then a chart is an empty room without plotly's own class, so it is the rooms
# that are asked: each that has a size has a picture.
CHARTS = """() => [...document.querySelectorAll(".gp-plot")].every(
  (one) => !one.getClientRects().length || one.querySelector(".main-svg"),
)"""


def whole_story(page: Page) -> None:
    """Has every scene drawn: one that nobody has come near is not, and some come only then."""
    undrawn = page.locator(".st-scene:is(:not([data-value]), [data-waits]):visible")
    for scene in page.locator(".st-scene").all():
        if scene.is_visible():
            scene.scroll_into_view_if_needed()
            page.wait_for_function(
                "(one) => one.dataset.value && !('waits' in one.dataset)", arg=scene.element_handle()
            )
            settled(page)
    while undrawn.count():
        undrawn.first.scroll_into_view_if_needed()
        settled(page)
    page.evaluate("scrollTo(0, 0)")


def everything(browser: Browser, address: str, folder: Path, fits: str = "*") -> None:
    """The stories and every chapter, whole, in both languages and themes and at each size, whose name fits."""
    folder.mkdir(parents=True, exist_ok=True)
    for language, theme, (width, height) in product(("en", "zh"), ("light", "dark"), SIZES):
        names = {chapter: f"{chapter}-{language}-{theme}-{width}" for chapter in (*STORIES, *CHAPTERS)}
        wanted = {chapter: name for chapter, name in names.items() if fnmatch(name, fits)}
        if not wanted:
            continue
        page = open_page(browser, f"{address}#lang={language}", width, height)
        if theme == "dark":
            page.click("#theme")
        for chapter, name in wanted.items():
            page.evaluate("(name) => glass.open(name)", chapter)
            if chapter in STORIES:
                page.locator(".st-scene:visible").first.wait_for()
                whole_story(page)
            else:
                walk(page, [chapter])  # what is out of view is not drawn
                page.evaluate("scrollTo(0, 0)")
                page.wait_for_function(CHARTS)
            settled(page)
            page.screenshot(path=folder / f"{name}.png", full_page=True)
            print(f"{name}.png", flush=True)
        leave(page)


def heights(browser: Browser, address: str) -> dict[str, float]:
    """How many screens each chapter takes as it opens, its panels drawn, with the header and the token strip."""
    page = open_page(browser, f"{address}#lang=en", folded=True)
    found = {}
    for chapter in CHAPTERS:
        walk(page, [chapter])
        found[chapter] = page.evaluate("document.documentElement.scrollHeight / innerHeight")
    leave(page)
    return found


ROOMS = STATIC / "story" / "rooms.css"
WINDOWS = {"phone": (390, 844), "wide": (1280, 720), "phone-zh": (390, 844), "wide-zh": (1280, 720)}
ROOM = "(scenes) => scenes.map((one) => [one.dataset.scene, Math.round(one.getBoundingClientRect().height)])"


def rooms(browser: Browser, address: str) -> dict[str, dict[str, int]]:
    """px that each scene takes with all that comes, by scene and window, of the sentence that the page opens with."""
    found: dict[str, dict[str, int]] = {}
    for window, (width, height) in WINDOWS.items():
        page = open_page(browser, f"{address}#lang={'zh' if window.endswith('zh') else 'en'}", width, height)
        for story in STORIES:
            page.evaluate("(name) => glass.open(name)", story)
            page.locator(".st-scene:visible").first.wait_for()
            whole_story(page)
            settled(page)
            page.add_style_tag(content=".st-scene { min-height: 0 !important }")
            for scene, high in page.locator(".st-scene:visible").evaluate_all(ROOM):
                found.setdefault(scene, {})[window] = high
        leave(page)
    return found


def rooms_sheet(found: dict[str, dict[str, int]]) -> str:
    """The style sheet of these heights."""
    lines = ["/* How high each scene is, written by `python -m tests.screenshots --rooms`. */"]
    for scene, of in found.items():
        lines += [f'[data-scene="{scene}"] {{', *(f"  --{window}: {high}px;" for window, high in of.items()), "}"]
    return "\n".join([*lines, ""])


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m tests.screenshots", description="Pictures of the page.")
    parser.add_argument("--all", type=Path, metavar="DIR", help="the stories and every chapter, to be looked at")
    parser.add_argument("--names", default="*", metavar="PATTERN", help="of --all those whose names fit, such as kv-*")
    parser.add_argument("--heights", action="store_true", help="how many screens each chapter takes")
    parser.add_argument("--rooms", action="store_true", help="writes how high each scene of a story is")
    args = parser.parse_args()
    with running_app() as address, chromium() as browser:
        if args.heights:
            found = heights(browser, address)
            for name, screens in (found | {"in all": sum(found.values())}).items():
                print(f"{name:10} {screens:5.1f}")
            return
        if args.rooms:
            ROOMS.write_text(rooms_sheet(rooms(browser, address)))
            return
        if args.all:
            everything(browser, address, args.all, args.names)
            return
        for name, (language, prompt) in PICTURES.items():
            page = open_page(browser, f"{address}#lang={language}", width=1280, height=860, story=True)
            (ROOT / "docs" / name).write_bytes(take(page, prompt))
            print(f"docs/{name}")
        (ROOT / TRAINING).write_bytes(training(open_page(browser, f"{address}#lang=en&chapter=overview", width=1024)))
        print(TRAINING)


if __name__ == "__main__":
    main()
