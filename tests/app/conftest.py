"""A page over the stand-in model, and a browser that looks at it."""

import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pytest
from playwright.sync_api import Browser, Page, expect

import model
from app.engine import LocalEngine
from app.service import Service
from app.session import Runs
from tests.page import BRIEF, UNSEEN, chromium, launched, leave, new_page, wait_for_run, watched
from tests.plain import plain_site
from tests.served import gradio_site
from tests.standin import make_checkpoint

expect.set_options(timeout=30_000)  # as long as playwright waits for anything else: a busy machine may take a while


@pytest.fixture(scope="session")
def roomy_checkpoint(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The stand-in with the bundled model's context, so that long prompts fit."""
    return make_checkpoint(tmp_path_factory.mktemp("models") / "roomy", max_position_embeddings=1024)


class Unhurried(LocalEngine):
    """Writes at the pace of a real model; the stand-in would be done before anyone could press Stop."""

    def generate(self, *args: Any, **kwargs: Any) -> Iterator[model.Step]:
        for step in super().generate(*args, **kwargs):
            time.sleep(0.03)
            yield step


@pytest.fixture(scope="session")
def engine(roomy_checkpoint: Path, checkpoint: Path) -> LocalEngine:
    """Two models on the CPU: "roomy", which a visitor gets first, and one with a context of 128."""
    return Unhurried([model.load(path, device="cpu") for path in (roomy_checkpoint, checkpoint)])


@pytest.fixture
def service(engine: LocalEngine) -> Service:
    return Service(engine)


@pytest.fixture(scope="session")
def runs() -> Runs:
    """The runs that the page's server holds."""
    return Runs()


@pytest.fixture(scope="session")
def site(engine: LocalEngine, runs: Runs) -> Iterator[str]:
    """The address of a page that is up."""
    with gradio_site(engine, runs) as address:
        yield address


@pytest.fixture(scope="session")
def panels_alone(engine: LocalEngine, runs: Runs) -> Iterator[str]:
    """The address of a page that holds the panels and no gradio."""
    with plain_site(engine, runs) as address:
        yield address


@pytest.fixture(scope="session")
def bundled() -> Iterator[str]:
    """The address of such a page with the model that readers find there."""
    with plain_site(LocalEngine([model.load(device="cpu")]), Runs()) as address:
        yield address


@pytest.fixture(scope="session")
def browser() -> Iterator[Browser]:
    """One for all tests; what a page keeps in it goes before the next is opened (tests/page.py)."""
    with chromium(BRIEF, UNSEEN) as running:
        yield running


@pytest.fixture(scope="session")
def screen(browser: Browser) -> Iterator[Browser]:
    """A browser that shows what it draws: for screenshots, the wheel, and full screen."""
    with launched(browser.browser_type, BRIEF) as running:
        yield running


@contextmanager
def looked_at(request: pytest.FixtureRequest, browser: Browser, link: str) -> Iterator[Page]:
    """The page at a link, watched, its run shown; emptied at the end."""
    if request.node.get_closest_marker("screen"):
        browser = request.getfixturevalue("screen")
    site = request.getfixturevalue("site" if request.node.get_closest_marker("gradio") else "panels_alone")
    page = new_page(browser, site)
    with watched(page):
        page.goto(f"{site}{link}")
        wait_for_run(page)
        page.mouse.move(1, 1)  # somebody is there: what the pointer may ask for is fetched ahead
        yield page
        assert page.url.startswith(site)
    leave(page)


@pytest.fixture
def page(request: pytest.FixtureRequest, browser: Browser) -> Iterator[Page]:
    """The page as a visitor with an English browser finds it, its first run shown.

    By itself the panels alone with a prompt above them; in a test marked `gradio` the whole page; in one marked
    `prompt` opened by a link to that prompt's run, in one marked `chapter` to that chapter, so that no other is drawn
    first; in one marked `screen` in a browser that has one. Fails the test for an error on the console and for a
    request to anywhere else.
    """
    marks = {name: request.node.get_closest_marker(name) for name in ("chapter", "prompt")}
    link = "&".join(f"{name}={quote(mark.args[0])}" for name, mark in marks.items() if mark)
    with looked_at(request, browser, f"#{link}" if link else "") as page:
        if request.node.get_closest_marker("gradio"):
            page.evaluate("glass.settings.set('pace', { speed: 'all' })")  # nobody reads along
        # The page opens on the head that matters; here tests begin at one place.
        page.evaluate("glass.select({ layer: 0, head: 0, key: Math.max(0, glass.state.trace.T - 2) })")
        yield page


@pytest.fixture
def linked(request: pytest.FixtureRequest, browser: Browser) -> Iterator[Callable[[str], Page]]:
    """As `page`, opened by a link: `linked("#chapter=kv")`."""
    with ExitStack() as pages:
        yield lambda link: pages.enter_context(looked_at(request, browser, link))
