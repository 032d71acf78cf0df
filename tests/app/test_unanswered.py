"""A request that is not answered as it should be: the page says how it failed, keeps what it shows, and goes on."""

import socket
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from urllib.parse import urlsplit

import pytest
from playwright.sync_api import Browser, Page, Route, expect

from app.texts import text
from tests.app.looking import BOX, calm, run, settled
from tests.one_of import one_of
from tests.page import leave, new_page, open_page, wait_for_run

Failure = Callable[[Route], None]
JSON = "application/json"


def answer(status: int, body: str = "<html>no</html>", kind: str = "text/html") -> Failure:
    return lambda route: route.fulfill(status=status, body=body, content_type=kind)


def broken(route: Route) -> None:
    """A stream that ends in the middle."""
    route.fulfill(status=200, content_type="text/event-stream", body='data: {"msg":"heartbeat","event_id":null}\n\n')


def forgotten(route: Route) -> None:
    """What a server that was started afresh says to a session that it does not know, as gradio 6.31 writes it."""
    said = '{"msg":"unexpected_error","event_id":null,"message":"404","session_not_found":true,"success":false}'
    route.fulfill(status=200, content_type="text/event-stream", body=f"data: {said}\n\n")


def dropped(route: Route) -> None:
    route.abort()


# How a request fails, and what is said of it.
FAILURES: dict[str, tuple[Failure, str]] = {
    "502": (answer(502), text("message.server_away", status=502)),
    "503": (answer(503), text("message.server_away", status=503)),
    "504": (answer(504), text("message.server_away", status=504)),
    "dropped": (dropped, text("message.no_connection")),
    "429": (answer(429), text("message.asked_too_much")),
    "408": (answer(408), text("message.request_slow")),
    "413": (answer(413), text("message.request_long")),
    "500": (answer(500, "Internal Server Error", "text/plain"), text("message.server_failed", status=500)),
    "draining": (answer(503, '{"error": "draining"}', JSON), text("message.draining")),
    "busy": (answer(503, '{"detail": "busy: too much"}', JSON), text("message.busy")),
    "404": (answer(404, '{"detail": "no such event"}', JSON), text("message.refused", status=404)),
    "a portal": (answer(200), text("message.server_away", status=200)),
}
STREAMS: dict[str, tuple[Failure, str]] = {
    name: FAILURES[name] for name in ("502", "dropped", "429", "500", "draining")
} | {"broken off": (broken, text("message.no_connection")), "forgotten": (forgotten, text("message.no_connection"))}


@pytest.fixture
def lone(browser: Browser, site: str) -> Iterator[Page]:
    """The whole page, calm, whose console may say what it likes."""
    page = open_page(browser, site)
    page.evaluate("window.stays = true; glass.settings.set('pace', { speed: 'all' })")
    calm(page)  # what it asks for by itself is here, so that the message is the failure's
    yield page
    leave(page)


def fails_once(page: Page, pattern: str, failure: Failure) -> Callable[[], None]:
    """The next request to this address fails. From now on the page notes what it says: some of it is soon replaced.

    What it gives waits until that has failed.
    """
    failed: list[Route] = []

    def fail(route: Route) -> None:
        failed.append(route)
        failure(route)

    def wait() -> None:
        late = time.monotonic() + 30
        while not failed and time.monotonic() < late:
            page.wait_for_timeout(20)
        assert len(failed) == 1

    page.route(pattern, fail, times=1)
    page.evaluate(NOTING)
    return wait


# A server that answers again is said to be there within moments, in place of what was said before.
NOTING = """() => {
  const place = document.querySelector(".page-message");
  window.heard = [];
  window.noting?.disconnect();
  window.noting = new MutationObserver(() => window.heard.push(place.textContent));
  if (place) window.noting.observe(place, { childList: true, characterData: true, subtree: true });
}"""


def said(page: Page, words: str) -> None:
    """The message came and nothing is under way any more. The last view stays."""
    now = "document.querySelector('.page-message').textContent === words"
    page.wait_for_function(f"(words) => window.heard?.includes(words) || {now}", arg=words)
    expect(page.locator(".page-device")).not_to_have_text(text("page.running"))
    assert page.evaluate("glass.state.status") == "idle"
    expect(page.locator(".toast-body")).to_have_count(0)


def works_again(page: Page, prompt: str) -> None:
    """The next press on Run, without loading the page again."""
    expect(page.locator(BOX)).to_have_value(prompt)  # the prompt is kept
    page.click("#run")
    page.wait_for_function("(prompt) => glass.state.trace.prompt === prompt", arg=prompt)
    wait_for_run(page)
    expect(page.locator(".page-message")).to_be_hidden()
    assert page.evaluate("window.stays") is True


def fails_and_works_again(page: Page, prompt: str, asked: str, failure: Failure, words: str) -> None:
    """A press on Run whose first request of this address fails: the page says so, keeps what it shows, and goes on.
    The prompt is another at each press."""
    before = page.evaluate("glass.state.trace.id")
    page.fill(BOX, prompt)
    fails_once(page, asked, failure)
    page.click("#run")
    said(page, words)
    assert page.evaluate("glass.state.trace.id") == before
    works_again(page, prompt)


@pytest.mark.parametrize("way", one_of(FAILURES))
def test_run_works_again_after_each_way_to_fail_to_join(way: str, lone: Page) -> None:
    fails_and_works_again(lone, f"My own text: {way}.", "**/queue/join*", *FAILURES[way])


@pytest.mark.thorough
def test_run_works_again_after_each_way_to_lose_the_stream(lone: Page) -> None:
    for way, (failure, words) in STREAMS.items():
        fails_and_works_again(lone, f"My own text: {way}.", "**/queue/data*", failure, words)


def choose_other(page: Page) -> None:
    """Of the first two models that which is not chosen."""
    chosen = page.evaluate("document.querySelector('#model select').selectedIndex")
    page.select_option("#model select", index=1 - chosen)


CONTROLS: dict[str, Callable[[Page], None]] = {
    "generate": lambda page: page.click("#generate"),
    "step": lambda page: page.click("#step"),
    "model": choose_other,
    # that of the small world, which the stand-in knows nothing of, is not offered; it is there all the same
    "chip": lambda page: page.locator(".page-chips button").nth(1).dispatch_event("click"),
}


@pytest.mark.parametrize("control", one_of(CONTROLS))
def test_the_other_controls_work_again_too(lone: Page, control: str) -> None:
    for where, way in (
        ("join", "429"),
        ("join", "dropped"),
        ("data", "500"),
        ("join", "draining"),
        ("data", "broken off"),
    ):
        failure, words = (FAILURES if where == "join" else STREAMS)[way]
        before = lone.evaluate("glass.state.trace.id")
        failed = fails_once(lone, f"**/queue/{where}*", failure)
        CONTROLS[control](lone)
        failed()
        said(lone, words)
        assert lone.evaluate("glass.state.trace.id") == before
    CONTROLS["chip" if control == "chip" else "step"](lone)
    lone.wait_for_function("(id) => glass.state.trace.id !== id && glass.state.status === 'idle'", arg=before)
    expect(lone.locator(".page-message")).to_be_hidden()
    works_again(lone, lone.input_value(BOX))


@pytest.mark.thorough
def test_a_question_past_the_queue_says_how_it_failed_and_is_asked_again(lone: Page) -> None:
    for failure, words in FAILURES.values():
        run(lone, "The dog plays.")
        calm(lone)
        lone.evaluate("glass.state.trace.layers.clear()")
        fails_once(lone, "**/component_server/", failure)
        lone.evaluate("glass.select({ layer: 1 })")
        said(lone, words)
        lone.evaluate("glass.select({ layer: 2 })")
        lone.wait_for_function("glass.layer()")
        assert lone.locator("[data-withheld]").count() == 0  # which is said of a file of runs alone
        told = lone.evaluate("async () => (await glass.calculate('qr', { text: 'x' })).message ?? null")
        assert told is None


class Wire:
    """A port that leads to another, and all of whose connections can be cut in the middle of what they carry."""

    def __init__(self, port: int):
        self.port = port
        self.ends: list[socket.socket] = []
        self.listener = socket.create_server(("127.0.0.1", 0))
        threading.Thread(target=self._accept, daemon=True).start()

    @property
    def address(self) -> str:
        return f"http://127.0.0.1:{self.listener.getsockname()[1]}/"

    def _accept(self) -> None:
        while True:
            try:
                near, _ = self.listener.accept()
            except OSError:  # closed
                return
            far = socket.create_connection(("127.0.0.1", self.port))
            self.ends += [near, far]
            for pair in ((near, far), (far, near)):
                threading.Thread(target=self._carry, args=pair, daemon=True).start()

    @staticmethod
    def _carry(source: socket.socket, target: socket.socket) -> None:
        with suppress(OSError):
            while data := source.recv(1 << 16):
                target.sendall(data)
        with suppress(OSError):
            target.shutdown(socket.SHUT_WR)

    def cut(self) -> None:
        for end in self.ends:
            with suppress(OSError):
                end.shutdown(socket.SHUT_RDWR)
            end.close()
        self.ends.clear()


@pytest.fixture
def wire(site: str) -> Iterator[Wire]:
    """A way to the page that can be cut."""
    made = Wire(int(urlsplit(site).port or 80))
    yield made
    made.listener.close()
    made.cut()


@pytest.mark.thorough
def test_a_connection_that_is_cut_while_a_text_is_written_keeps_the_text_and_run_works(
    browser: Browser, wire: Wire
) -> None:
    page = open_page(browser, wire.address)
    page.evaluate("window.stays = true; glass.settings.set('pace', { speed: 'all' })")
    calm(page)
    write_on(page)
    wire.cut()
    said(page, text("message.no_connection"))
    expect(page.locator(".page-message")).to_have_text(text("message.connected"))
    page.wait_for_function("glass.state.run.T - glass.state.run.nPrompt > 3")  # what came is run as it stands
    for prompt in ("My own text.", "Another one."):
        page.fill(BOX, prompt)
        works_again(page, prompt)
    page.fill(BOX, "At once.")
    write_on(page)
    wire.cut()
    works_again(page, "At once.")  # before anyone has said that the server is there
    leave(page)


def write_on(page: Page) -> None:
    """Have a text written that takes its time, and wait for its first words."""
    field = page.locator("#max_new_tokens input[type=number]")
    if not field.is_visible():
        page.click("#settings .label-wrap")
    settled(page)  # gradio builds what is folded up when it is opened, and then gives it its value
    field.fill("150")
    expect(page.locator("#max_new_tokens input[type=range]")).to_have_value("150")
    page.click("#generate")
    page.wait_for_function("glass.state.run.generating && glass.state.run.steps.length > 3")


def test_a_question_that_fails_while_a_text_is_written_does_not_end_the_text(lone: Page) -> None:
    lone.evaluate(NOTING)
    lone.evaluate("glass.settings.set('pace', { speed: '8' })")  # it is being written for as long as this looks at it
    write_on(lone)
    lone.route("**/component_server/**", dropped)  # of a run that is shown no longer nobody hears that it failed
    lone.evaluate("glass.open('ffn'); glass.select({ layer: 1 })")
    lone.wait_for_function("(words) => window.heard.includes(words)", arg=text("message.no_connection"))
    lone.unroute("**/component_server/**")
    assert lone.evaluate("glass.state.status") == "generating"
    so_far = lone.evaluate("glass.state.run.steps.length")
    lone.wait_for_function("(count) => glass.state.run.steps.length > count + 3", arg=so_far)  # it goes on
    lone.locator("#stop").press("Enter")
    lone.wait_for_function("glass.state.status === 'idle'")
    written = lone.evaluate("glass.state.trace.steps.map((step) => Boolean(step.sampling))")
    assert len(written) == lone.evaluate("glass.state.trace.T - glass.state.trace.nPrompt") > so_far + 3
    assert all(written)


@pytest.mark.parametrize("way", one_of(["429", "502"]))
def test_a_run_that_fails_while_a_text_is_written_leaves_the_text(lone: Page, way: str) -> None:
    failure, words = FAILURES[way]
    write_on(lone)
    lone.fill(BOX, "My own text.")
    fails_once(lone, "**/queue/join*", failure)
    lone.click("#run")
    said(lone, words)
    assert lone.evaluate("glass.state.run.steps.length || glass.state.run.T - glass.state.run.nPrompt") > 3
    works_again(lone, "My own text.")


def test_a_stop_that_does_not_arrive_is_said(lone: Page) -> None:
    lone.evaluate("glass.settings.set('pace', { speed: '8' })")  # it is being written when Stop is pressed
    write_on(lone)
    fails_once(lone, "**/run/predict*", FAILURES["429"][0])
    lone.locator("#stop").press("Enter")
    expect(lone.locator(".page-message")).to_have_text(FAILURES["429"][1])
    expect(lone.locator(".toast-body")).to_have_count(0)
    lone.wait_for_function("glass.state.status === 'idle'")
    works_again(lone, lone.input_value(BOX))


def test_what_happened_is_said_in_the_readers_language(lone: Page) -> None:
    lone.click("#language >> text=中文")
    lone.wait_for_function("document.documentElement.dataset.language === 'zh'")
    fails_once(lone, "**/queue/join*", FAILURES["413"][0])
    lone.click("#run")
    expect(lone.locator(".page-message")).to_have_text(text("message.request_long", "zh"))


def test_a_page_whose_first_run_fails_runs_the_next(browser: Browser, site: str) -> None:
    page = new_page(browser, site)
    fails_once(page, "**/component_server/", FAILURES["429"][0])
    page.goto(f"{site}#prompt=The+cat&more=5")
    expect(page.locator(".page-message")).to_have_text(FAILURES["429"][1])
    expect(page.locator(BOX)).to_have_value("The cat")
    page.click("#run")
    wait_for_run(page)
    assert page.evaluate("glass.state.trace.prompt") == "The cat"
    leave(page)
