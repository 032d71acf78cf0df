"""Weights that are read at first use: how far they are is told while a run waits for them, and a failure ends it."""

import threading
import time
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

import anyio
import pytest
from playwright.sync_api import Browser, Locator, Page, expect
from starlette.requests import Request

import model
from app.build import guarded_calls
from app.direct_calls import LINES
from app.engine import Engine, LocalEngine
from app.far.engine import FarEngine
from app.far.process import ModelProcess
from app.metrics import Metrics
from app.service import Service
from app.session import Runs
from app.texts import text
from model import GlassLlamaError
from model.on_demand import OnDemand, WeightCache
from model.smollm2 import NAME
from tests.app.looking import faults, in_each_language
from tests.app.test_real_model import write_weights
from tests.page import leave, new_page, wait_for_run, watched
from tests.served import gradio_site

PROMPT = "Tom is in the kitchen. Lily is in the"


class Held(OnDemand):
    """Is read up to its middle, and on once `gate` has the file "go"; fails there while it has the file "broken"."""

    gate: Path

    def count(self, numbers: int) -> None:
        super().count(numbers)
        while 2 * self.steps_done > self._steps and not (self.gate / "go").exists():
            if (self.gate / "broken").exists():
                raise GlassLlamaError("checkpoint", "broken")
            time.sleep(0.01)


def held_engine(gate: Path) -> LocalEngine:
    """The bundled network and one that is Held."""
    weights = gate / "x.gguf"
    write_weights(weights)
    held = Held(weights, WeightCache(0), NAME, "cpu")
    held.gate = gate
    return LocalEngine([model.load(device="cpu"), held])


def loading(service: Service) -> Any:
    message: Any = service.calculate({"what": "loading", "model": NAME})
    return message["data"]["loading"]


def until(there: Callable[[], bool]) -> None:
    end = time.monotonic() + 60
    while not there():
        assert time.monotonic() < end
        time.sleep(0.01)


@pytest.fixture(params=["here", "process"])
def engine(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Engine]:
    if request.param == "here":
        yield held_engine(tmp_path)
    else:
        with ModelProcess(partial(held_engine, tmp_path)) as process:
            yield FarEngine(process)
    (tmp_path / "go").touch()


def test_how_far_it_is_is_told_while_a_run_waits(engine: Engine, tmp_path: Path) -> None:
    service = Service(engine)
    begun = loading(service)
    assert begun["done"] == 0 < begun["total"]
    found: list[Any] = []
    visitor = threading.Thread(target=lambda: found.append(service.run(PROMPT, NAME)))
    visitor.start()
    until(lambda: 2 * loading(service)["done"] > begun["total"])
    half = loading(service)
    assert half["total"] == begun["total"] > half["done"]
    assert not found
    (tmp_path / "go").touch()
    visitor.join()
    assert found[0]["kind"] == "run"
    assert loading(service) is None
    told: Any = service.calculate({"what": "loading"})
    assert told["data"] == {"loading": None}  # the bundled one, whose weights are there from the start
    refused: Any = service.calculate({"what": "loading", "model": "another"})
    assert refused["code"] == "model_unknown"


def test_it_is_told_while_those_who_wait_have_all_places_of_an_address(tmp_path: Path) -> None:
    service = Service(held_engine(tmp_path))
    calls = {call.__name__: call for call in guarded_calls(service, Metrics())}
    found: list[str] = []

    async def ask(name: str, **asked: object) -> None:
        reader = Request({"type": "http", "client": ("reader", 1), "headers": []}, anyio.sleep_forever)
        message = await calls[name](asked, reader)
        found.append(message["kind"])

    async def all_ask() -> None:
        async with anyio.create_task_group() as tasks:
            for _ in range(LINES["short"].of_address + 1):
                tasks.start_soon(partial(ask, "recall", prompt=PROMPT, model=NAME, generated=[]))
            while not loading(service)["done"]:
                await anyio.sleep(0.01)
            await ask("calculate", what="loading", model=NAME)
            assert found == ["calculation"]
            (tmp_path / "go").touch()

    thread = threading.Thread(target=anyio.run, args=(all_ask,))  # a browser of other tests has a loop in this one
    thread.start()
    thread.join()
    assert found == ["calculation"] + ["run"] * (LINES["short"].of_address + 1)


@pytest.fixture
def address(tmp_path: Path) -> Iterator[str]:
    """Of a page over `held_engine`."""
    with gradio_site(held_engine(tmp_path), Runs()) as found:
        yield found
        (tmp_path / "go").touch()


@pytest.fixture
def opened(browser: Browser, address: str) -> Iterator[Callable[..., Page]]:
    """`opened()`: a page there; with a hash, at that link."""
    pages: list[Page] = []

    def open_one(link: str = "#lang=en") -> Page:
        page = new_page(browser, address)
        pages.append(page)
        page.goto(f"{address}{link}")
        if "model" not in link:
            wait_for_run(page)
        return page

    yield open_one
    for page in pages:
        leave(page)


def bar_of(page: Page) -> Locator:
    return page.locator("progress.page-loading")


def at_its_middle(page: Page) -> None:
    page.wait_for_function("() => { const bar = document.querySelector('.page-loading'); "
                           "return bar && !bar.hidden && bar.position > 0.5; }")  # fmt: skip


def test_a_page_that_waits_shows_a_bar_until_the_run_is_there(opened: Callable[..., Page], tmp_path: Path) -> None:
    page = opened()
    with watched(page):
        expect(bar_of(page)).to_be_hidden()
        page.select_option("#model select", NAME)
        at_its_middle(page)
        share = bar_of(page).evaluate("(bar) => bar.position")
        for language in in_each_language(page):
            name = page.evaluate("(name) => glass.modelName(name)", NAME)
            said = text("page.loading", language, model=name, percent=f"{int(100 * share)}%")
            expect(page.locator(".page-now")).to_have_text(said)
            assert said in page.locator("section[data-kind=tokens]").evaluate(
                "(one) => getComputedStyle(one, '::before').content"
            )
            assert faults(page, context=".page-status") == []
        assert page.get_by_role("status").filter(has_text="%").count() == 1
        other = opened(f"#lang=en&model={NAME}")  # where nothing is shown yet
        at_its_middle(other)
        assert bar_of(other).evaluate("(bar) => bar.position") == share
        (tmp_path / "go").touch()
        for one in (page, other):
            one.wait_for_function("(name) => glass.state.run?.model.name === name", arg=NAME)
            wait_for_run(one)
            expect(bar_of(one)).to_be_hidden()
            expect(one.locator(".page-quarters")).to_be_empty()


def test_a_network_that_failed_can_be_chosen_again(opened: Callable[..., Page], tmp_path: Path) -> None:
    page = opened()
    select, before = page.locator("#model select"), page.locator("#prompt textarea").input_value()
    select.select_option(NAME)
    at_its_middle(page)
    (tmp_path / "broken").touch()
    expect(page.locator(".page-message")).to_have_text(text("message.model_unreadable", name=NAME))
    expect(bar_of(page)).to_be_hidden()
    expect(select).to_have_value(page.evaluate("glass.state.run.model.name"))
    expect(page.locator("#prompt textarea")).to_have_value(before)
    (tmp_path / "broken").unlink()
    (tmp_path / "go").touch()
    select.select_option(NAME)
    page.wait_for_function("(name) => glass.state.run.model.name === name", arg=NAME)
    wait_for_run(page)
    expect(select).to_have_value(NAME)


def test_a_text_that_is_refused_leaves_the_network_chosen(opened: Callable[..., Page]) -> None:
    page = opened()
    page.fill("#prompt textarea", " ")
    page.locator("#model select").select_option(NAME)
    expect(page.locator(".page-message")).to_have_text(text("message.prompt_blank"))
    expect(page.locator("#model select")).to_have_value(NAME)
