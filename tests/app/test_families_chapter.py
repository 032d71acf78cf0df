"""The chapter on the families in a browser: its words and numbers, where its cells lead, keys, telephones."""

import csv
import io
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
import transformers
from playwright.sync_api import Browser, Page, expect

import model
from app.chapters import CHAPTERS
from app.chapters.families import CODE_PLACES, ELSEWHERE, ROW_PLACES, on_offer
from app.engine import LocalEngine
from app.session import Runs
from app.texts import LANGUAGES, table
from tests.app.looking import faults, settled, shown
from tests.families import save
from tests.one_of import one_of
from tests.page import leave, open_page
from tests.plain import plain_site
from tests.standin import make_checkpoint
from visuals.families import COLUMNS, HISTORY_ROWS, ROWS, families_message

SIZES = {"vocab_size": 320, "hidden_size": 48, "num_hidden_layers": 3, "num_attention_heads": 6, "head_dim": 8}
QWEN = transformers.Qwen3Config(**SIZES, num_key_value_heads=2, intermediate_size=80, max_position_embeddings=256)
BLOOM = transformers.BloomConfig(vocab_size=320, hidden_size=48, n_layer=3, n_head=6)


@pytest.fixture(scope="module")
def offered(tmp_path_factory: pytest.TempPathFactory) -> LocalEngine:
    """A LLaMA, a Qwen that is called as its family, and a BLOOM that is called as the small ones are."""
    llama = make_checkpoint(tmp_path_factory.mktemp("families") / "roomy", max_position_embeddings=256)
    given = {"roomy": llama, "qwen": save(QWEN), "BLOOM (small)": save(BLOOM)}
    return LocalEngine([replace(model.load(path, device="cpu"), name=name) for name, path in given.items()])


@pytest.fixture(scope="module")
def site_of_two(offered: LocalEngine) -> Iterator[str]:
    with plain_site(offered, Runs()) as address:
        yield address


@pytest.fixture(scope="module")
def opened(browser: Browser, site_of_two: str) -> Iterator[Page]:
    page = open_page(browser, f"{site_of_two}#lang=en&chapter=families")
    shown(page, "families", "view=")
    yield page
    leave(page)


@pytest.fixture
def chapter(opened: Page) -> Page:
    opened.evaluate("glass.setLanguage('en'); glass.settings.set('families', {}); glass.open('families')")
    opened.set_viewport_size({"width": 1280, "height": 720})
    opened.locator("section[data-kind=families]").scroll_into_view_if_needed()
    settled(opened)
    expect(opened.locator(".fa-table thead th")).to_have_count(9)
    return opened


def cell(page: Page, column: str, row: str):
    return page.locator(f'.fa-cell[data-cell="{column} {row}"]')


def test_every_row_leads_to_a_panel_and_has_words_in_both_languages() -> None:
    places = [*ROW_PLACES.values(), *CODE_PLACES.values(), *ELSEWHERE.values()]
    assert all(kind in CHAPTERS[chapter] for chapter, kind in places)
    assert ROW_PLACES.keys() == {*ROWS, *HISTORY_ROWS, "parameters", "cache"}
    codes = {
        line["code"]
        for column in families_message()["columns"]
        for one in column["cells"].values()
        for line in one["lines"]
    }
    for language in LANGUAGES:
        words = table(language)["families"]
        assert {name.removeprefix("line_") for name in words if name.startswith("line_")} == codes
        assert {name.removeprefix("row_") for name in words if name.startswith("row_")} == ROW_PLACES.keys()
    assert CODE_PLACES.keys() | ELSEWHERE.keys() <= codes


def test_models_on_offer_by_name_and_by_kind(offered: LocalEngine) -> None:
    assert on_offer(offered) == {"llama": ["roomy"], "qwen": ["qwen"], "bloom": ["BLOOM (small)"]}


def test_the_table_shows_the_eight_and_marks_what_llama_has_not(chapter: Page) -> None:
    page = chapter
    expect(cell(page, "falcon", "norm")).to_contain_text("LayerNorm: subtracts the mean")
    expect(cell(page, "falcon", "norm")).to_contain_text("not as in LLaMA 3")
    expect(cell(page, "t5", "norm")).to_have_text("RMSNorm: no mean, no bias")
    expect(cell(page, "glm", "position")).to_contain_text("RoPE on 64 of a head's 128 channels")
    expect(cell(page, "deepseek3", "cache")).to_contain_text("(70,272 B)61 × 576 × 2 B")
    expect(cell(page, "mixtral", "parameters")).to_contain_text("46.7 B12.9 B of them for one token")
    marks = page.locator("section[data-kind=families] td:nth-child(3) .fa-mark")  # Qwen 3's one difference
    expect(marks).to_have_count(1)
    page.locator("[data-view=llamas]").click()
    expect(page.locator(".fa-table thead th")).to_have_count(7)
    expect(cell(page, "llama1", "data")).to_have_text("1.0T tokens1.4T for the larger: 33B · 65B")
    expect(cell(page, "llama3", "vocabulary")).to_have_text("128,256 entries: 13.1% of the parameters")
    expect(cell(page, "transformer", "place")).to_contain_text("post-norm")
    expect(cell(page, "transformer", "parameters")).to_have_text("65 M, as published")
    page.wait_for_function("location.hash.includes('families.view=llamas')")


def test_a_cell_leads_to_its_panel_in_a_model_of_the_family(chapter: Page) -> None:
    page = chapter
    before = page.evaluate("glass.state.trace.prompt")
    cell(page, "t5", "position").click()  # there is no T5 here
    page.wait_for_function("glass.state.chapter === 'position'")
    expect(page.locator("section[data-kind=position-kinds]")).to_be_in_viewport()
    assert page.evaluate("glass.state.trace.model.name") == "roomy"
    page.evaluate("glass.open('families')")
    page.locator("[data-view=llamas]").click()
    cell(page, "transformer", "position").click()  # sines and cosines, on this run
    expect(page.locator("section[data-kind=position-kinds]")).to_be_in_viewport()
    page.evaluate("glass.open('families')")
    page.locator("[data-view=eight]").click()
    page.evaluate("glass.open('families')")
    cell(page, "bloom", "position").click()
    page.wait_for_function("glass.state.trace.model.name === 'BLOOM (small)'")
    expect(page.locator("section[data-kind=rope]")).to_be_in_viewport()
    page.evaluate("glass.open('families'); glass.settings.set('families', { view: 'llamas' })")
    for row, kind in (("norm", "norm-kinds"), ("place", "norm-placement")):
        cell(page, "transformer", row).click()
        expect(page.locator(f"section[data-kind={kind}]")).to_be_in_viewport()
        page.evaluate("glass.open('families')")
    page.evaluate("glass.settings.set('families', {})")
    cell(page, "qwen3", "mask").click()
    page.wait_for_function("glass.state.trace.model.name === 'qwen'")
    expect(page.locator("section[data-kind=attention]")).to_be_in_viewport()
    assert page.evaluate("[glass.state.trace.prompt, glass.state.chapter]") == [before, "attend"]
    page.evaluate("glass.open('families')")
    cell(page, "llama3", "ffn").click()
    page.wait_for_function("glass.state.trace.model.name === 'roomy'")
    expect(page.locator("section[data-kind=swiglu]")).to_be_in_viewport()


def test_keys_walk_through_the_cells(chapter: Page) -> None:
    page = chapter
    token = page.evaluate("glass.state.query")
    assert page.locator(".fa-cell[tabindex='0']").count() == 1
    cell(page, "llama3", "stack").focus()
    for key in ("ArrowDown", "ArrowRight", "ArrowRight"):
        page.keyboard.press(key)
    focused = "document.activeElement.dataset.cell"
    assert page.evaluate(focused) == "bloom norm"
    page.keyboard.press("End")
    assert page.evaluate(focused) == "glm norm"
    assert page.locator("section[data-kind=families]").get_attribute("data-value") == "glm norm rms_norm"
    assert page.evaluate("glass.state.query") == token
    page.keyboard.press("Enter")
    page.wait_for_function("glass.state.chapter === 'norm'")


def test_parameters_are_summed_and_saved(chapter: Page) -> None:
    page = chapter
    panel = page.locator("section[data-kind=family-parameters]")
    panel.locator("[data-model=mixtral]").click()
    value = shown(page, "family-parameters", "mixtral total=46702792704 ")
    assert "experts=45097156608" in value
    expect(panel.locator(".fa-sum")).to_contain_text("32 × 8 × 3 × 4,096 × 14,336 = 45,097,156,608")
    expect(panel.locator(".fa-sum")).to_contain_text("12,879,925,248")
    panel.locator("[data-model=deepseek3]").click()
    shown(page, "family-parameters", "deepseek3 total=671026419200 ")
    panel.locator("[data-text-label='frame.save']").click()
    with page.expect_download() as download:
        panel.locator("[data-format=CSV]").click()
    text = Path(download.value.path()).read_text(encoding="utf-8-sig")
    sums: dict[str, int] = {}
    for row in csv.DictReader(io.StringIO(text, newline="")):
        product = row["product"].replace("×", "*").replace(",", "")
        assert eval(product, {"__builtins__": {}}) == int(row["weights"]), row  # digits and signs of our own
        sums[row["model"]] = sums.get(row["model"], 0) + int(row["weights"])
    assert sums["Mixtral-8x7B v0.1"] == 46_702_792_704
    assert sums["DeepSeek-V3"] == 671_026_419_200


def test_a_myth_leads_to_its_cell(chapter: Page) -> None:
    page = chapter
    card = page.locator("[data-myth=mixtral_size]")
    expect(card).to_contain_text("46,702,792,704")
    expect(card).to_contain_text("12,879,925,248")
    page.locator("[data-myth=llama2_gqa] button").click()
    expect(cell(page, "llama2", "attention")).to_be_focused()
    expect(cell(page, "llama2", "attention")).to_be_in_viewport()
    expect(cell(page, "llama2", "attention")).to_contain_text("MHA: 32 heads")


@pytest.mark.thorough
@pytest.mark.parametrize("language", one_of(LANGUAGES))
def test_a_telephone_shows_two_columns_and_which_is_chosen(chapter: Page, language: str) -> None:
    page = chapter
    page.evaluate("(code) => glass.setLanguage(code)", language)
    page.set_viewport_size({"width": 360, "height": 740})
    heads = page.locator(".fa-table thead th:visible strong")
    expect(heads).to_have_text(["Llama-3 8B", "Qwen3-8B"])
    page.locator("[data-beside=t5]").click()
    expect(heads).to_have_text(["Llama-3 8B", "T5-large (v1.0)"])
    expect(cell(page, "t5", "position")).to_be_visible()
    page.locator("[data-view=kin]").click()
    page.locator(".fa-beside select").select_option("qwen2")
    page.locator("[data-beside=qwen3]").click()
    expect(heads).to_have_text(["Qwen2.5-7B", "Qwen3-8B"])
    expect(page.locator(".fa-beside select")).to_have_value("qwen2")
    expect(cell(page, "qwen2", "biases")).to_be_visible()
    assert page.evaluate("document.documentElement.scrollWidth") <= 360
    assert not page.locator(".fa-scroll").evaluate("(one) => one.scrollWidth > one.clientWidth")
    assert faults(page) == []
    page.evaluate("document.body.classList.add('dark')")
    settled(page)
    assert faults(page, "dark") == []
    page.evaluate("document.body.classList.remove('dark')")


def test_columns_are_as_wide_as_their_words(chapter: Page) -> None:
    """No cell's words stand out of it."""
    out = """() => [...document.querySelectorAll('.fa-cell')]
      .filter((one) => one.scrollWidth > one.clientWidth + 1).map((one) => one.dataset.cell)"""
    for view in ("eight", "llamas", "kin"):
        chapter.locator(f"[data-view={view}]").click()
        settled(chapter)
        assert chapter.evaluate(out) == []
    assert len(COLUMNS) == 17
