"""Where a prompt is outside the bundled world, the page leads to a real LLaMA: by a command, or by fetching it."""

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import NamedTuple
from urllib.parse import quote

import pytest
from playwright.sync_api import Browser, Page, Route, expect

import model
from app.engine import LocalEngine
from app.examples import EXAMPLES, REAL_EXAMPLES
from app.session import Runs
from app.smollm2 import RealModel
from app.texts import text
from model.smollm2 import NAME
from tests.app.looking import BOX, faults, in_each_language, run
from tests.app.test_real_model import SOURCE, Index, write_weights
from tests.one_of import one_of
from tests.page import leave, new_page, open_page, wait_for_run, watched
from tests.served import gradio_site

PROMPT = "The capital of France is"


class Opened(NamedTuple):
    """A page, what it fetches from, and where the weights then are."""

    page: Page
    index: Index
    weights: Path


@pytest.fixture
def opened(browser: Browser, tmp_path: Path) -> Iterator[Callable[[bool, str], Opened]]:
    """`opened(may_fetch, language)`: the page over the bundled model at PROMPT."""
    cleaning: list[Callable[[], object]] = []

    def open_page(may_fetch: bool, language: str) -> Opened:
        index, weights = Index(), tmp_path / "x.gguf"
        real = RealModel(weights, device="cpu", may_fetch=may_fetch, download=index.fetch)
        site = gradio_site(LocalEngine([model.load(device="cpu")], real=real), Runs())
        address = site.__enter__()
        cleaning.append(lambda: site.__exit__(None, None, None))
        page = new_page(browser, address)
        watching = watched(page)
        watching.__enter__()
        cleaning.append(lambda: (watching.__exit__(None, None, None), leave(page)))
        page.goto(f"{address}#lang={language}")
        wait_for_run(page)
        run(page, PROMPT)
        return Opened(page, index, weights)

    yield open_page
    for clean in reversed(cleaning):
        clean()


def shows_paris_of(page: Page, name: str) -> None:
    """The sentence was run on that model, and the bar says so."""
    page.wait_for_function("(name) => glass.state.run.model.name === name", arg=name)
    wait_for_run(page)
    assert page.evaluate("glass.state.run.prompt") == PROMPT
    assert page.evaluate("glass.state.run.tokens.ids") == SOURCE.encode(PROMPT).ids
    expect(page.locator("#prompt textarea")).to_have_value(PROMPT)


@pytest.mark.thorough
def test_a_command_fetches_it_and_the_sentence_is_run_there(opened: Callable[[bool, str], Opened]) -> None:
    page, _, weights = opened(False, "en")
    remark = page.locator(".wy-outside")
    for language in in_each_language(page):
        expect(remark).to_contain_text(text("real.knows", language))
        expect(remark.locator("code")).to_have_text("make smollm2")
        expect(remark.get_by_role("button", name=text("real.copy", language))).to_be_visible()
        expect(remark).not_to_contain_text(text("real.fetch", language, size="92.9 MB"))
        assert faults(page, context=".wy-outside") == []
        page.locator("#real").click()
        dialog = page.get_by_role("dialog", name=text("real.title", language))
        expect(dialog.locator("code")).to_have_text("make smollm2")
        assert faults(page, context=".page-dialog") == []
        page.keyboard.press("Escape")
    write_weights(weights)
    for language in in_each_language(page):
        expect(remark.get_by_role("button", name=text("real.look", language))).to_be_visible()
    remark.get_by_role("button", name=text("real.look")).click()
    for language in in_each_language(page):
        expect(remark.get_by_role("button", name=text("real.run", language))).to_be_visible()
    held: list[Route] = []
    page.route("**/component_server/**", lambda route: held.append(route))
    remark.get_by_role("button", name=text("real.run")).click()
    expect(remark.get_by_role("status")).to_have_text(text("real.running"))
    for route in held:
        route.continue_()
    page.unroute("**/component_server/**")
    shows_paris_of(page, NAME)
    expect(page.locator("#real")).to_be_hidden()
    expect(remark).to_be_hidden()
    expect(page.locator("#model option")).to_have_count(2)
    page.reload()
    page.wait_for_function("glass.models().length === 2")


@pytest.mark.thorough
def test_a_press_fetches_it_with_progress_and_runs_the_sentence_there(opened: Callable[[bool, str], Opened]) -> None:
    page, index, _ = opened(True, "en")
    remark = page.locator(".wy-outside")
    for language in in_each_language(page):
        expect(remark.get_by_role("button", name=text("real.fetch", language, size="92.9 MB"))).to_be_visible()
    fetch = remark.get_by_role("button", name=text("real.fetch", size="92.9 MB"))
    fetch.click()
    for language in in_each_language(page):
        expect(remark).to_contain_text(text("real.fetching", language, bytes="1.0 MB", total="92.9 MB"))
        expect(remark.get_by_role("button", name=text("real.cancel", language))).to_be_visible()
    assert remark.locator("progress").evaluate("(it) => it.value / it.max") == pytest.approx(1e6 / 92_871_040)
    assert faults(page, context=".wy-outside") == []
    remark.get_by_role("button", name=text("real.cancel")).click()
    for language in in_each_language(page):
        expect(remark).to_contain_text(text("real.failed_cancelled", language))
    index.fails = "network"
    index.go.set()
    fetch.click()
    for language in in_each_language(page):
        expect(remark).to_contain_text(text("real.failed_network", language))
    index.fails = None
    fetch.click()
    shows_paris_of(page, NAME)
    assert index.asked == 3


@pytest.mark.thorough
def test_a_chinese_text_is_not_offered_to_a_model_of_english(opened: Callable[[bool, str], Opened]) -> None:
    page, _, _ = opened(True, "zh")
    run(page, "法国的首都是")
    remark = page.locator(".wy-outside")
    expect(remark).to_be_visible()
    expect(remark.get_by_text(text("real.knows", "zh"))).to_be_hidden()
    expect(page.locator(".page-getting")).to_be_hidden()


@pytest.fixture(scope="module")
def there(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The address of a page that has the real LLaMA beside the bundled one."""
    weights = tmp_path_factory.mktemp("real") / "x.gguf"
    write_weights(weights)
    real = RealModel(weights, device="cpu")
    with gradio_site(LocalEngine([model.load(device="cpu")], real=real), Runs()) as address:
        yield address


def pick(page: Page, label: str) -> None:
    """Choose a model as a reader does, and wait until it has run."""
    before = page.evaluate("glass.state.run.id")
    option = page.locator("#model option").filter(has_text=label)
    page.select_option("#model select", option.get_attribute("value"))
    page.wait_for_function("(id) => glass.state.run.id !== id", arg=before)
    wait_for_run(page)


@pytest.mark.parametrize("language", one_of(["en", "zh"]))
def test_a_model_that_is_picked_begins_with_a_prompt_of_its_own(browser: Browser, there: str, language: str) -> None:
    page = open_page(browser, f"{there}#lang={language}")
    prompt = page.locator("#prompt textarea")
    expect(page.locator("#real")).to_be_hidden()
    pick(page, "SmolLM2")
    assert page.evaluate("[glass.state.run.model.name, glass.state.run.prompt]") == [NAME, REAL_EXAMPLES[0]]
    expect(prompt).to_have_value(REAL_EXAMPLES[0])
    expect(page.locator(".page-chips button:visible")).to_have_text(list(REAL_EXAMPLES), use_inner_text=False)
    pick(page, "LLaMA")
    assert page.evaluate("glass.state.run.prompt") == EXAMPLES[language][0]
    expect(prompt).to_have_value(EXAMPLES[language][0])
    run(page, PROMPT + " not")
    pick(page, "SmolLM2")
    assert page.evaluate("[glass.state.run.model.name, glass.state.run.prompt]") == [NAME, PROMPT + " not"]
    leave(page)


def test_an_example_runs_and_fills_the_prompt(browser: Browser, there: str) -> None:
    page = open_page(browser, f"{there}#lang=en")
    chips = page.locator(".page-chips button:visible")
    expect(chips).to_have_text(EXAMPLES["en"])  # of the page's language, and none is cut
    assert chips.last.evaluate(
        "(one) => one.getBoundingClientRect().right <= one.parentElement.getBoundingClientRect().right"
    )
    sentence = EXAMPLES["en"][2]
    page.click(f".page-chips button:has-text('{sentence}')")
    page.wait_for_function("(sentence) => glass.state.trace.prompt === sentence", arg=sentence)
    expect(page.locator("#prompt textarea")).to_have_value(sentence)
    leave(page)


def test_a_link_to_a_model_begins_with_its_prompt(browser: Browser, there: str) -> None:
    page = open_page(browser, f"{there}#model={quote(NAME)}")
    assert page.evaluate("[glass.state.run.model.name, glass.state.run.prompt]") == [NAME, REAL_EXAMPLES[0]]
    expect(page.locator("#prompt textarea")).to_have_value(REAL_EXAMPLES[0])
    leave(page)


@pytest.mark.parametrize("story", [True, False], ids=["story", "workbench"])
def test_after_a_lesson_the_bar_names_the_model_of_the_run_that_is_shown(
    browser: Browser, there: str, story: bool
) -> None:
    page = open_page(browser, f"{there}#lang=en&sampling.temperature=0.7", story=story)
    page.locator("#settings .label-wrap").click()
    controls = [page.locator(f"#{name}").locator("input, select").first for name in ("model", "temperature")]
    pick(page, "SmolLM2")
    before = [one.input_value() for one in controls]
    page.fill(BOX, PROMPT)  # typed and not run
    page.click("#lessons")
    page.locator(".ls-row").first.locator("button").first.click()
    page.wait_for_function("document.body.dataset.lesson === 'shown' && glass.state.status === 'idle'")
    assert page.evaluate("glass.state.run.model.name") != NAME
    page.keyboard.press("Escape")
    page.wait_for_function("(name) => glass.state.run.model.name === name", arg=NAME)
    wait_for_run(page)
    for control, value in zip(controls, before, strict=True):
        expect(control).to_have_value(value)
    expect(page.locator(BOX)).to_have_value(PROMPT)
    page.click("#run")
    shows_paris_of(page, NAME)
    leave(page)


def test_no_remark_of_another_model_s_reading_stands_at_a_run(browser: Browser, there: str) -> None:
    """The small model's, while what is to be said of the real one's has not come."""
    page = open_page(browser, f"{there}#lang=en&prompt={quote(PROMPT)}", story=True)
    remark = page.locator(".wy-outside")
    expect(remark.get_by_role("button", name=text("real.run"))).to_be_visible()
    held: list[Route] = []

    def hold(route: Route) -> None:
        if "outside" in (route.request.post_data or ""):
            held.append(route)
        else:
            route.continue_()

    page.route("**/component_server/**", hold)
    remark.get_by_role("button", name=text("real.run")).click()
    shows_paris_of(page, NAME)
    page.wait_for_function("!document.querySelector('.st-gap').closest('[data-waiting]')")
    expect(remark).to_be_hidden()
    assert held
    for route in held:
        route.continue_()
    page.unroute("**/component_server/**")
    leave(page)
