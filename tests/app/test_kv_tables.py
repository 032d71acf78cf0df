"""The tables that the KV-cache chapter's panels save, against numbers that were worked out by hand."""

import csv
import io
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page

from app.engine import LocalEngine
from app.texts import text
from model import kv_cache_bytes
from tests.app.kv_chapter import field, opened, panel
from tests.app.looking import shown
from tests.page import leave, open_page, watched


@pytest.fixture(scope="module")
def chapter(browser: Browser, panels_alone: str) -> Iterator[Page]:
    """One for all: nobody here changes a setting but in a page of his own."""
    page = open_page(browser, f"{panels_alone}#lang=en&kvfit.room=share")
    with watched(page):
        yield opened(page)
    leave(page)


def saved(page: Page, kind: str) -> list[dict[str, str]]:
    """The rows of a panel's table."""
    section = panel(page, kind)
    section.locator("[data-text-label='frame.save']").click()
    with page.expect_download() as download:
        section.locator("[data-format=CSV]").click()
    content = Path(download.value.path()).read_text(encoding="utf-8-sig")
    return list(csv.DictReader(io.StringIO(content, newline="")))


def test_the_calculators_products_and_kinds(chapter: Page) -> None:
    shown(chapter, "kv-calculator", "Llama-3 8B tokens=8192 ")
    rows = {row["what"]: row for row in saved(chapter, "kv-calculator")}
    assert {(row["model"], row["tokens"], row["batch"], row["dtype"]) for row in rows.values()} == {
        ("Llama-3 8B", "8192", "1", "bf16")
    }
    # 32 layers, 32 query and 8 K/V heads of 128; MLA of that shape caches 4 × 128 + 64.
    assert {what: int(row["bytes"]) for what, row in rows.items()} == {
        "Full-attention layers · K and V": 1_073_741_824,
        "total": 1_073_741_824,
        "the same shape as MHA": 4_294_967_296,
        "the same shape as GQA": 1_073_741_824,
        "the same shape as MQA": 134_217_728,
        "the same shape as MLA": 8192 * 32 * 576 * 2,
    }
    product = "32 layers × 1 batch × 8192 tokens × 8 K/V heads × 2 K and V × 128 head_dim × 2 bytes (bf16)"
    assert rows["Full-attention layers · K and V"]["product"] == product
    own = rows["the same shape as GQA"]["source"]
    assert {row["source"] for what, row in rows.items() if what != "the same shape as MLA"} == {own}
    widths = text("kv.mla_assumed", head_dim=128, latent=512, rope=64)
    assert rows["the same shape as MLA"]["source"] == f"{own}; {widths}"


def test_words_in_a_product_are_the_readers(page: Page) -> None:
    opened(page)
    panel(page, "kv-calculator").locator(".kv-more summary").click()
    field(page, "kv-calculator", "batch").fill("4")
    field(page, "kv-calculator", "shared_prefix").fill("100")
    shown(page, "kv-calculator", "Llama-3 8B tokens=8192 batch=4 dtype=bf16 bytes=4255")
    products = {row["what"]: row["product"] for row in saved(page, "kv-calculator")}
    assert "32468 tokens (100 shared + 4 sequences × 8092)" in products["Full-attention layers · K and V"]


def test_every_point_of_the_chart(chapter: Page) -> None:
    shown(chapter, "kv-chart", "view=lines")
    rows = saved(chapter, "kv-chart")
    models = {"Llama-3 8B": 8192, "Llama-2 7B": 4096, "Gemma-3 12B (text)": 131_072, "DeepSeek-V3": 131_072}
    longest = {model: max(int(row["tokens"]) for row in rows if row["model"] == model) for model in models}
    assert longest.items() >= {"Llama-3 8B": 8192, "Llama-2 7B": 4096}.items()
    assert {row["model"] for row in rows} == models.keys()
    for row in rows:
        assert (row["what"], row["batch"], row["kv_format"]) == ("the whole KV cache", "1", "bf16")
        assert int(row["bytes"]) == kv_cache_bytes(row["model"], int(row["tokens"]))


def test_what_fits_and_what_is_needed(chapter: Page) -> None:
    shown(chapter, "kv-fit", "gpu=H100 80 GB")
    rows = {(row["question"], row["gpu"], row["quantity"]): row["value"] for row in saved(chapter, "kv-fit")}
    own = {name: value for (question, gpu, name), value in rows.items() if (question, gpu) == ("fits", "H100 80 GB")}
    # 92 % of 81,559 MiB; 8,030,261,248 weights of 2 bytes; 131,072 bytes a token.
    assert own | {"tokens_per_second_at_most": ""} == {
        "tokens_each": "8192",
        "sequences": "1",
        "kv_format": "bf16",
        "memory_bytes": "85520809984",
        "memory_from": "nvidia-smi: NVIDIA/nccl #1264",
        "usable_bytes": "78679145185",
        "weights_bytes": "16060522496",
        "cache_bytes": "1073741824",
        "free_bytes": "61544880865",
        "fits": "true",
        "largest_batch": "58",
        "largest_context": "477742",
        "tokens_per_second_at_most": "",
    }
    # A step reads all weights but the embedding table's other rows, and the cache, at 3.35 TB/s.
    read = 16_060_522_496 - 128_256 * 4096 * 2 + 4096 * 2 + 1_073_741_824
    assert float(own["tokens_per_second_at_most"]) == pytest.approx(3.35e12 / read)
    assert rows["needed", "H100 80 GB", "kv_format"] == "bf16"
    # 64 users of 8,192 tokens: 64 GiB of cache and the weights.
    assert rows["needed", "H100 80 GB", "gpus_by_bytes"] == str(-(-(64 * 2**30 + 16_060_522_496) // 78_679_145_185))


def test_the_runs_own_cache(chapter: Page, engine: LocalEngine) -> None:
    config = engine.about("roomy").config
    each = config.n_layers * config.n_kv_heads * 2 * config.head_dim * 4
    tokens = chapter.evaluate("glass.state.trace.T")
    shown(chapter, "kv-live", "layer")
    rows = saved(chapter, "kv-live")
    assert [int(row["formula_bytes"]) for row in rows] == [each * (i + 1) for i in range(tokens)]
    assert rows[-1]["measured_bytes"] == rows[-1]["formula_bytes"]
    shown(chapter, "kv-kinds", "tokens=")
    kinds = {row["kind"]: int(row["bytes"]) for row in saved(chapter, "kv-kinds")}
    assert kinds["GQA"] == each * tokens
    assert kinds["MHA"] * config.n_kv_heads == each * tokens * config.n_heads


def test_the_myths_two_sums(chapter: Page) -> None:
    panel(chapter, "kv-myth")
    shown(chapter, "kv-myth", "wrong=")
    assert {row["sum"]: row["bytes"] for row in saved(chapter, "kv-myth")} == {
        "copied": "137438953472",
        "right": "8589934592",
    }
