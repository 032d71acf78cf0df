"""The KV cache of the run itself in a real browser: the live cache, its kinds, and what it saves."""

import pytest
from playwright.sync_api import Page, expect

from app.engine import LocalEngine
from app.texts import text
from tests.app.kv_chapter import opened, panel
from tests.app.looking import number, shown
from tests.page import wait_for_run

pytestmark = pytest.mark.chapter("kv")


@pytest.fixture
def chapter(page: Page) -> Page:
    return opened(page)


@pytest.mark.gradio
def test_the_live_cache_equals_the_formula_at_every_step(chapter: Page, engine: LocalEngine) -> None:
    page = chapter
    page.evaluate("window.seen = []; void glass.on('painted', () => seen.push(document.querySelector("
                  "'section[data-kind=kv-live]').dataset.value))")  # fmt: skip
    page.click("#generate")
    page.wait_for_function("glass.state.status === 'idle' && glass.state.trace.steps.length > 8")
    config = engine.about("roomy").config
    each = config.n_layers * config.n_kv_heads * 2 * config.head_dim * 4
    tokens, prompt = page.evaluate("[glass.state.trace.T, glass.state.trace.nPrompt]")
    for query in (0, prompt - 1, prompt, prompt + 5, tokens - 1):
        page.evaluate("(query) => glass.select({ query })", query)
        value = shown(page, "kv-live", f"layer 0 token {query} ")
        held = max(prompt, query + 1)
        page.wait_for_function(
            "(bytes) => document.querySelector('section[data-kind=kv-live]').dataset.value.includes(bytes)",
            arg=f"tokens={held} bytes={held * each} measured={held * each} ",
        )
        assert value
    expect(panel(page, "kv-live").locator(".kv-check.is-equal")).to_be_visible()
    expect(panel(page, "kv-live")).to_contain_text(
        text("kv-live.tally", measured=tokens - prompt + 1, equal=tokens - prompt + 1)
    )
    while_writing = {value for value in page.evaluate("seen") if value and "new" in value}
    assert len({number(value, "tokens") for value in while_writing}) > 4
    for value in while_writing - {""}:
        if "measured=- " not in value:
            assert number(value, "bytes") == number(value, "measured")


def test_the_kinds_of_the_run_follow_the_token(chapter: Page, engine: LocalEngine) -> None:
    page, config = chapter, engine.about("roomy").config
    value = shown(page, "kv-kinds", "tokens=")
    row = config.n_layers * config.head_dim * 2 * 4 * number(value, "tokens")
    assert number(value, "GQA") == row * config.n_kv_heads
    assert number(value, "MHA") == row * config.n_heads
    assert number(value, "MQA") == row
    assert number(value, "MLA") == row / 2 * 4.5
    assert " own=GQA " in value
    expect(panel(page, "kv-kinds")).to_contain_text("DeepSeek-V2")


def test_play_walks_through_the_run(chapter: Page) -> None:
    page = chapter
    page.click("#step")
    page.wait_for_function("glass.state.trace.T === glass.state.trace.nPrompt + 1 && glass.state.status === 'idle'")
    wait_for_run(page)
    page.evaluate("glass.select({ query: 0 })")
    panel(page, "kv-live").locator(".kv-player button").click()
    page.wait_for_function("glass.state.locked.query === glass.state.trace.T - 1")
    expect(panel(page, "kv-live").locator(".kv-player button")).to_have_text(text("kv-live.play"))


def test_with_and_without_a_cache(chapter: Page) -> None:
    page = chapter
    race = panel(page, "kv-race")
    race.get_by_role("button", name=text("kv-race.start"), exact=True).click()
    value = shown(page, "kv-race", "tokens=")
    assert number(value, "cached_seconds") > 0
    assert number(value, "full_work") > number(value, "cached_work")
    stop = race.get_by_role("button", name=text("kv-race.stop"))
    if stop.is_visible():
        stop.click()
    expect(race.get_by_role("button", name=text("kv-race.more"))).to_be_visible(timeout=30_000)
    expect(race.locator(".kv-check.is-equal")).to_contain_text("✓")
