"""python -m tests.screenshots: the pictures of README and model card, from the real page with the bundled model."""

from playwright.sync_api import Page

from tests.app.looking import settled
from tests.page import ROOT, chromium, open_page, running_app, wait_for_run

TRAINING = "docs/training.png"
PICTURES = {
    "page.png": ("en", "Tom is in the kitchen. Lily is in the garden. Tom is in the"),
    "page.zh.png": ("zh", "汤姆在厨房里。莉莉在花园里。汤姆在"),
}


def take(page: Page, prompt: str) -> bytes:
    """The page after a run of the prompt, with the pointer resting nowhere."""
    page.locator("#prompt textarea").fill(prompt)
    page.locator("#run").click()
    page.wait_for_function("(prompt) => glass.state.trace.prompt === prompt", arg=prompt)
    wait_for_run(page)
    page.mouse.move(1, 1)
    page.wait_for_timeout(500)
    return page.screenshot(full_page=True)


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


def main() -> None:
    with running_app() as address, chromium() as browser:
        for name, (language, prompt) in PICTURES.items():
            page = open_page(browser, f"{address}#lang={language}", width=1440, height=900)
            (ROOT / "docs" / name).write_bytes(take(page, prompt))
            print(f"docs/{name}")
        (ROOT / TRAINING).write_bytes(training(open_page(browser, f"{address}#lang=en&chapter=overview", width=1024)))
        print(TRAINING)


if __name__ == "__main__":
    main()
