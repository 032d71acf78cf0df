"""The real page for those who look at it: app.py as its own process, and Debian's Chromium."""

import json
import os
import shutil
import signal
import socket
import subprocess
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit
from weakref import WeakKeyDictionary

from playwright.sync_api import (
    Browser,
    BrowserContext,
    BrowserType,
    CDPSession,
    ConsoleMessage,
    Error,
    Page,
    sync_playwright,
)
from starlette.datastructures import MutableHeaders
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from app.chapters import CHAPTERS

ROOT = Path(__file__).parent.parent
# The same engine twice: the first is built without a desktop's windows and takes less of a processor.
BROWSERS = ("chromium-headless-shell", "chromium")
# Background traffic of the browser itself has no place in a test; the sandbox does not work for root.
CHROMIUM_FLAGS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]


TO_END_SECONDS = 60  # a host ends a server ten seconds after it asked it to go; machines of tests are slow


def free_port() -> int:
    """A port that nothing listens on."""
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        return listener.getsockname()[1]


@contextmanager
def running_app(*arguments: str, root: Path = ROOT) -> Iterator[str]:
    """`python app.py` of a checkout with these arguments; gives the page's address once it answers."""
    with running_process(*arguments, root=root) as (address, _):
        yield address


@contextmanager
def running_process(*arguments: str, root: Path = ROOT) -> Iterator[tuple[str, int]]:
    """As `running_app`, with the number of the process."""
    port = str(free_port())
    command = [sys.executable, "app.py", "--port", port, *arguments]
    environment = os.environ | {"PYTHONUNBUFFERED": "1", "PYTHONFAULTHANDLER": "1"}
    with subprocess.Popen(command, cwd=root, stdout=subprocess.PIPE, text=True, env=environment) as app:
        try:
            assert app.stdout is not None
            line = next((line for line in app.stdout if "http://" in line), None)
            assert line, "app.py ended before it printed the page's address"
            yield line[line.index("http://") :].strip(), app.pid
        finally:
            _end(app)


def _end(app: subprocess.Popen[str]) -> None:
    """As a host ends it. Where it stays, it prints what each of its threads is at."""
    app.terminate()
    try:
        app.wait(TO_END_SECONDS)
    except subprocess.TimeoutExpired:
        app.send_signal(signal.SIGABRT)
        raise AssertionError(f"app.py did not end within {TO_END_SECONDS} s; its threads are on stderr") from None


# A page of the tests is there for seconds: to compile its scripts for speed takes longer than they then save.
BRIEF = "--js-flags=--no-maglev --no-turbofan"
# All is done but the last step: what is painted reaches no screen. To raster and compose frames that nobody sees is a
# fifth of a browser's work. Then a screenshot is empty, a wheel turns nothing, and full screen never comes: a test that
# needs them is marked `screen` (tests/app/conftest.py). Blink takes one such flag, so what Playwright gives it of a
# mouse that hovers is said again.
UNSEEN = (
    "--blink-settings=primaryHoverType=2,availableHoverTypes=2,primaryPointerType=4,availablePointerTypes=4,"
    "acceleratedCompositingEnabled=false"
)


@contextmanager
def chromium(*flags: str) -> Iterator[Browser]:
    """Debian's Chromium, headless; its build for that alone where it is installed."""
    with sync_playwright() as playwright, launched(playwright.chromium, *flags) as browser:
        yield browser


@contextmanager
def launched(kind: BrowserType, *flags: str) -> Iterator[Browser]:
    """As `chromium`, where Playwright runs already: a thread can have it once only."""
    found = next(filter(None, map(shutil.which, BROWSERS)), None)
    assert found, f"none of {', '.join(BROWSERS)} is installed"
    browser = kind.launch(executable_path=found, args=[*CHROMIUM_FLAGS, *flags])
    try:
        yield browser
    finally:
        browser.close()


# What is of no other site. To hear of every request instead would take a tenth of a second for each page.
OWN = "default-src 'self' data: blob: 'unsafe-inline' 'unsafe-eval'; form-action 'self'"


class Kept:
    """ASGI middleware for sites under test: a browser asks once for each file, as none changes while tests run, and
    nobody else for anything: that would be an error on its console."""

    def __init__(self, app: ASGIApp):
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """ASGI."""

        async def kept(message: Message) -> None:
            if message["type"] == "http.response.start" and message["status"] == 200:
                headers = MutableHeaders(scope=message)
                headers.setdefault("content-security-policy", OWN)
                if scope["path"].startswith(("/glass/", "/assets/")):
                    headers["cache-control"] = "max-age=86400, immutable"
            await send(message)

        await self.app(scope, receive, kept if scope["type"] == "http" else send)


@dataclass
class Held:
    """A context for one page at a time. It keeps an empty tab: with its last one a browser would close a window.

    `left` is the tab of a page that was left, for the next one: to open another costs a process.
    """

    how: dict[str, Any]
    context: BrowserContext
    devtools: CDPSession
    left: Page | None = None

    def free(self) -> bool:
        return len(self.context.pages) == 1 + (self.left is not None)

    def tab(self) -> Page:
        found, self.left = self.left, None
        return found or self.context.new_page()


_held: WeakKeyDictionary[Browser, list[Held]] = WeakKeyDictionary()


# What a proxy adds: answers are packed for who asks over a network.
OVER_A_NETWORK = {"X-Forwarded-For": "203.0.113.7"}
# A reader who chose the workbench, unless a test is about the story, which else opens; and who left every fold of its
# chapters open, unless a test is about those.
KEPT = {"glass.level": "workbench", "glass.folds": " ".join(CHAPTERS)}


def _kept(names: Iterable[str]) -> str:
    """JavaScript that has a browser know these choices of its reader, where there are none yet."""
    given = json.dumps({name: KEPT[name] for name in names})
    return (
        f"try {{ for (const [name, value] of Object.entries({given})) localStorage[name] ??= value; }}"
        " catch { /* a page without storage */ }"
    )


def _free(browser: Browser, how: dict[str, Any], names: Sequence[str]) -> Held:
    known = _held.setdefault(browser, [])
    known[:] = [one for one in known if one.context in browser.contexts]
    asked = how | {"kept": tuple(names)}
    found = next((one for one in known if one.how == asked and one.free()), None)
    if not found:
        context = browser.new_context(**how)
        context.add_init_script(_kept(names))
        found = Held(asked, context, context.new_cdp_session(context.new_page()))
        known.append(found)
    return found


def new_page(
    browser: Browser,
    address: str,
    width: int = 1280,
    height: int = 720,
    story: bool = False,
    folded: bool = False,
    **context: Any,
) -> Page:
    """An empty tab for this address in a context that holds nothing but files, whatever was done before.

    A context without a page is taken again, since a new one would load and compile every script anew. Leave or close
    the page when it is no longer needed; two that are open share nothing. It opens with the workbench unless `story`,
    and with all folds open unless `folded`.
    """
    how = {"locale": "en-US"} | context
    scheme = how.pop("color_scheme", "light")  # of the page, not of the context: two would compile every script twice
    names = [name for name, left_out in zip(KEPT, (story, folded), strict=True) if not left_out]
    held = _free(browser, how, names)
    page = held.tab()
    held.context.clear_cookies()
    if "permissions" not in how:
        held.context.clear_permissions()
    origin = "{0.scheme}://{0.netloc}".format(urlsplit(address))
    held.devtools.send("Storage.clearDataForOrigin", {"origin": origin, "storageTypes": "local_storage,indexeddb"})
    page.emulate_media(color_scheme=scheme)
    page.set_viewport_size({"width": width, "height": height})
    page.set_default_timeout(60_000)  # on a busy machine; what is there is not waited for
    return page


_heard: WeakKeyDictionary[Page, list[tuple[Any, Callable[..., Any]]]] = WeakKeyDictionary()


def listen(page: Page, event: Any, hear: Callable[..., Any]) -> None:
    """As `page.on`, until the page is left."""
    page.on(event, hear)
    _heard.setdefault(page, []).append((event, hear))


def leave(page: Page) -> None:
    """Empties a tab of `new_page` for the next page."""
    for event, hear in _heard.pop(page, ()):
        page.remove_listener(event, hear)
    try:
        page.evaluate("() => { try { sessionStorage.clear(); } catch {} }")  # which goes with a tab, and this one stays
        page.goto("about:blank")
        page.mouse.move(0, 0)
        page.unroute_all()
    except Error:  # it is on its way elsewhere, or has crashed
        return page.close()
    held = next(one for one in _held[page.context.browser] if one.context is page.context)
    held.left = page
    return None


@contextmanager
def watched(page: Page) -> Iterator[list[str]]:
    """The errors on a page's console, requests to other sites among them (Kept); fails at the end if there are any."""
    troubles: list[str] = []

    def said(message: ConsoleMessage) -> None:
        if message.type == "error":
            troubles.append(message.text)

    listen(page, "console", said)
    listen(page, "pageerror", lambda error: troubles.append(str(error)))
    yield troubles
    assert not troubles, "\n".join(troubles)


def open_page(browser: Browser, address: str, width: int = 1280, height: int = 720, **how: Any) -> Page:
    """A tab of its own, as `new_page` makes it, that shows the page, once its first run is drawn."""
    page = new_page(browser, address, width, height, **how)
    page.goto(address)
    wait_for_run(page)
    page.mouse.move(1, 1)  # somebody is there: what the pointer may ask for is fetched ahead
    return page


def wait_for_run(page: Page) -> None:
    """Until a run is shown and nothing is under way."""
    page.wait_for_function("window.glass?.state.trace && glass.state.status === 'idle' && glass.layer()")
    page.evaluate("() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))")
