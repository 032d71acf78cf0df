"""What the KV-cache chapter says in words about the run and about a GPU, against numbers worked out here."""

import json
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, expect

from app.texts import text
from model.kv_math.vllm_rule import DEFAULT_SHARE
from tests.app.kv_chapter import field, opened, panel
from tests.app.looking import number, shown
from tests.page import leave, open_page, wait_for_run


@pytest.fixture(scope="module")
def chapter(browser: Browser, panels_alone: str) -> Iterator[Page]:
    page = open_page(browser, f"{panels_alone}#lang=en&chapter=kv")
    page.evaluate("glass.select({ layer: 0 })")
    yield opened(page)
    leave(page)


def look_at(page: Page, token: int) -> None:
    """Clicks a token of the strip and leaves it: one of the prompt is looked at itself, of a written one the moment at
    which it was chosen, after the token before."""
    page.locator(f".gp-chip[data-position='{token}']").click()
    page.mouse.move(1, 1)
    query = token - int(token >= page.evaluate("glass.state.trace.nPrompt"))
    page.wait_for_function("(query) => glass.state.locked.query === query && glass.state.query === query", arg=query)


def write_on(page: Page, count: int) -> None:
    for _ in range(count):
        before = page.evaluate("glass.state.trace.T")
        page.click("#step")
        page.wait_for_function("(n) => glass.state.trace.T > n && glass.state.status === 'idle'", arg=before)
    wait_for_run(page)


def test_why_queries_are_not_kept(chapter: Page, roomy_checkpoint: Path) -> None:
    page = chapter
    config = json.loads((roomy_checkpoint / "config.json").read_text())
    layers, heads, kv, width = (
        config[name] for name in ("num_hidden_layers", "num_attention_heads", "num_key_value_heads", "head_dim")
    )
    query, kept = layers * heads * width * 4, layers * kv * 2 * width * 4  # bytes a token, in float32
    story = panel(page, "kv-live").locator(".kv-story > div", has_text="Why Q is not cached")
    for token in (2, 5):
        look_at(page, token)
        value = shown(page, "kv-live", f"layer 0 token {token} ")
        assert number(value, "bytes") == kept * number(value, "tokens")
        expect(story.locator("p")).to_have_text(
            [
                f"A query is used once: token {token}'s q meets the keys up to its own, in this very step. Later tokens"
                " bring their own q. They ask older tokens only for k and v, so only those are kept.",
                f"Keeping Q too would cost {heads} heads × {width} numbers × {layers} layers × 4 B, {query:,}\xa0B a"
                f" token: {100 * query // kept}% more, never read again.",
            ]
        )


def test_the_kinds_follow_the_token(chapter: Page) -> None:
    page = chapter
    write_on(page, 2)
    prompt = page.evaluate("glass.state.trace.nPrompt")
    kinds = panel(page, "kv-kinds")
    # Numbers of float32 a token in 3 layers: 2 × 8 for each of 6, 2 or 1 K/V heads; a latent of 32 and a key of 4.
    each = {"MHA": 3 * 6 * 2 * 8 * 4, "GQA": 3 * 2 * 2 * 8 * 4, "MQA": 3 * 2 * 8 * 4, "MLA": 3 * 36 * 4}
    # Unasked the last token is looked at; a prompt is read at once.
    for token, held in ((None, prompt + 2), (prompt + 1, prompt + 1), (1, prompt)):
        if token is not None:
            look_at(page, token)
        value = shown(page, "kv-kinds", f"tokens={held} ")
        assert {name: number(value, name) for name in each} == {name: held * one for name, one in each.items()}
        expect(kinds.locator(".gp-title")).to_contain_text(f"{held} tokens")
        for (name, one), card in zip(each.items(), kinds.locator(".kv-kind").all(), strict=True):
            expect(card.locator("h4")).to_contain_text(name)
            expect(card.locator(".kv-short strong")).to_have_text(f"{held * one:,}\xa0B")


def test_the_bound_on_decoding_says_that_it_is_one(chapter: Page) -> None:
    page = chapter
    panel(page, "kv-fit")
    shown(page, "kv-fit", "gpu=H100 80 GB")
    # All weights but the embedding table's other 128,255 rows, and the cache of 8,192 tokens, at 3.35 TB/s.
    weights, cache = 16_060_522_496 - 128_255 * 4096 * 2, 1_073_741_824
    took = (weights + cache) / 3.35e12
    fact = panel(page, "kv-fit").locator(".kv-fact", has_text="Decoding: no faster than")
    expect(fact.locator("strong")).to_have_text(f"{1 / took:.0f} tokens/s for each sequence")
    notes = fact.locator(".gp-note")
    expect(notes.first).to_have_text(
        f"A step reads at least {weights / 1e9:.2f} GB of weights and {cache / 1e9:.3f} GB of cache, so it takes at"
        f" least ({weights / 1e9:.2f} GB + {cache / 1e9:.3f} GB) / (TP 1 × 3.35 TB/s) = {1000 * took:.2f} ms: at most"
        f" {1 / took:.0f} steps/s. A bound, not a forecast: real steps take longer."
    )
    expect(notes.last).to_contain_text("one token a step for each sequence")
    page.click("#language >> text=中文")
    fact = panel(page, "kv-fit").locator(".kv-fact", has_text="解码不会快于")
    expect(fact.locator(".gp-note").first).to_contain_text(f"= {1000 * took:.2f} 毫秒，即每秒最多 {1 / took:.0f} 步。")
    page.click("#language >> text=English")


def test_what_the_system_keeps_of_a_shared_memory_is_said_beside_what_is_set(chapter: Page) -> None:
    page = chapter
    limited = panel(page, "kv-fit").locator(".kv-limited")
    for gpu, percent in (("Apple M4 Max 128 GB", 75), ("H100 80 GB", None)):
        field(page, "kv-fit", "gpu").select_option(gpu)
        shown(page, "kv-fit", f"gpu={gpu}")
        expect(field(page, "kv-fit", "usable_percent")).to_have_value(str(DEFAULT_SHARE))
        if percent:
            expect(limited).to_have_text(text("kv-fit.limited", percent=percent))
        else:
            expect(limited).to_be_hidden()


def test_a_share_that_is_refused_says_nothing_of_macos_on_another_gpu(chapter: Page) -> None:
    page = chapter
    field(page, "kv-fit", "gpu").select_option("H100 80 GB")
    field(page, "kv-fit", "room").select_option("share")
    share, fit = field(page, "kv-fit", "usable_percent"), panel(page, "kv-fit")
    for typed, counted in (("15", 15), ("1.0", 100), ("1", 100), ("0.9", 90), ("90 %", 90)):
        share.fill(typed)
        expect(fit.locator(".is-formula")).to_contain_text(f"free = memory × {counted}% − weights")
    for typed in ("150", "1.5"):
        share.fill(typed)
        expect(fit.locator("[data-field=usable_percent] .kv-trouble")).to_contain_text("or a share up to 1, such as")
        expect(fit.locator(".kv-limited")).to_be_hidden()
