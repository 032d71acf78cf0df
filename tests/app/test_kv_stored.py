"""A pasted config whose checkpoint is quantised: what fits counts it as stored, and the files say whose they are."""

import csv
import io
import json
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, expect

from app.texts import text
from tests.app.kv_chapter import field, opened, panel
from tests.app.looking import shown
from tests.model.published.test_quantised import GPT_OSS_20B, MXFP4
from tests.page import leave, open_page, watched

NAME = "openai/gpt-oss-20b"
CONFIG = json.dumps({**GPT_OSS_20B, "_name_or_path": NAME, "quantization_config": MXFP4})


@pytest.fixture(scope="module")
def chapter(browser: Browser, panels_alone: str) -> Iterator[Page]:
    page = open_page(browser, f"{panels_alone}#lang=en")
    with watched(page):
        opened(page)
        field(page, "kv-calculator", "model").select_option(":config")
        field(page, "kv-calculator", "config").fill(CONFIG)
        shown(page, "kv-calculator", "text:kv.pasted tokens=8192 ")
        field(page, "kv-fit", "gpu").select_option("RTX 4090 24 GB")
        yield page
    leave(page)


def saved(page: Page, kind: str, form: str) -> tuple[str, str]:
    """The name of a panel's file, and its text."""
    section = panel(page, kind)
    section.locator("[data-text-label='frame.save']").click()
    with page.expect_download() as download:
        section.locator(f"[data-format={form}]").click()
    return download.value.suggested_filename, Path(download.value.path()).read_text(encoding="utf-8-sig")


def test_what_fits_counts_the_weights_as_they_are_stored(chapter: Page) -> None:
    fit = panel(chapter, "kv-fit")
    shown(chapter, "kv-fit", "gpu=RTX 4090 24 GB fits=true")
    assert field(chapter, "kv-fit", "weights").input_value() == ""
    expect(fit.locator(".kv-stored")).to_contain_text("The checkpoint is quantised (quantization_config): mxfp4;")
    expect(fit.locator(".kv-stored")).to_contain_text("Counted here: mxfp4.")
    weights = fit.locator("details.kv-source").filter(has_text=text("kv.beside_scales", "en", part="experts"))
    weights.locator("summary").click()
    expect(weights).to_have_attribute("open", "")
    field(chapter, "kv-fit", "weights").select_option("bf16")
    shown(chapter, "kv-fit", "gpu=RTX 4090 24 GB fits=false")
    expect(fit.locator(".kv-stored")).to_contain_text("Counted here: bf16.")
    field(chapter, "kv-fit", "weights").select_option("")
    shown(chapter, "kv-fit", "gpu=RTX 4090 24 GB fits=true")


@pytest.mark.parametrize("kind", ["kv-calculator", "kv-chart", "kv-fit"])
def test_a_file_names_the_model_and_where_it_was_read(chapter: Page, kind: str) -> None:
    shown(chapter, kind, "")
    prompt = chapter.evaluate("glass.state.trace.prompt")
    name, table = saved(chapter, kind, "CSV")
    assert name == f"glass-llama-{kind}.csv"
    rows = list(csv.DictReader(io.StringIO(table, newline="")))
    assert NAME in {row.get("model", row.get("value")) for row in rows}
    assert f"config.json of {NAME}" in table
    name, drawing = saved(chapter, kind, "SVG")
    assert name == f"glass-llama-{kind}.svg"
    assert prompt not in drawing
    assert NAME in drawing.replace("\n", "")
