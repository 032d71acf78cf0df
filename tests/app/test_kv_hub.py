"""A model of the Hub on the page: what a good id gives, and what is said of one that gives nothing."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import huggingface_hub
import pytest
from playwright.sync_api import Page, expect

from app.texts import text
from model.published.hf import MODEL_TYPES
from tests.app.looking import calm, number, shown
from tests.hub import Hub, stand_in

pytestmark = pytest.mark.chapter("kv")

CONFIGS = json.loads((Path(__file__).parents[1] / "model/published/hub_configs.json").read_text(encoding="utf-8"))
LLAMA = 8192 * 131_072  # bytes of Llama-3 8B's cache at 8,192 tokens in bf16
GEMMA = (8 * 8192 + 40 * 1024) * 8 * 2 * 256 * 2  # 8 full layers, 40 that keep 1,024 tokens


@pytest.fixture
def hub(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Hub]:
    """A Hub in place of the real one for the server, which runs in this process."""
    files = {"good": json.dumps(CONFIGS["Gemma-3 12B (text)"]), "broken": "{", "other": '{"model_type": "mamba9"}'}
    with stand_in(tmp_path, monkeypatch, files) as served:
        yield served


@pytest.fixture
def calculator(page: Page, hub: Hub) -> Any:
    """The calculator, asked for a model of the Hub."""
    page.evaluate("glass.open('kv')")
    shown(page, "kv-live", "layer")
    found = page.locator("section[data-kind=kv-calculator]")
    found.scroll_into_view_if_needed()
    shown(page, "kv-calculator", "Llama-3 8B tokens=8192 ")
    found.locator("[data-field=model] select").select_option(":hub")
    expect(found.locator("[data-field=hub] .kv-trouble")).to_have_text(text("kv.hub_no_id"))
    return found


def test_a_good_id_gives_the_card(page: Page, calculator: Any, hub: Hub) -> None:
    calculator.locator("[data-field=hub] input").fill("  org/good ")
    assert number(shown(page, "kv-calculator", "org/good tokens=8192 "), "bytes") == GEMMA
    expect(calculator.locator("[data-field=hub] .kv-trouble")).to_have_text("")
    expect(calculator.locator("[data-field=window]")).not_to_have_attribute("hidden", "")
    calculator.locator(".kv-source summary").click()
    expect(calculator.locator(".kv-source")).to_contain_text("config.json of org/good")
    expect(calculator.locator(".kv-source")).to_contain_text("vision tower")
    assert hub.downloaded() == {"config.json"}
    page.wait_for_function("location.hash.includes('kv.hub=org')")
    page.click("#language >> text=中文")
    expect(calculator.locator(".kv-source")).to_contain_text("org/good 的 config.json")
    expect(calculator.locator(".kv-source")).to_contain_text("只算文本模型")


NOTHING = {
    "unknown": "org/missing",
    "gated": "org/gated",
    "no_config": "org/empty",
    "malformed": "<b>no</b> id! ../../etc/passwd 💥",
    "no_id": "x" * 300,
    "unreachable": "offline/model",
}


@pytest.mark.thorough
def test_an_id_that_gives_nothing_is_explained_and_nothing_is_lost(
    page: Page, calculator: Any, hub: Hub, monkeypatch: pytest.MonkeyPatch
) -> None:
    calculator.locator("[data-field=tokens] input[type=text]").fill("4096")
    box, model = (calculator.locator(f"[data-field={name}") for name in ("hub] input", "model] select"))
    trouble = calculator.locator("[data-field=hub] .kv-trouble")
    for reason, typed in NOTHING.items():
        if reason == "unreachable":
            monkeypatch.setattr(huggingface_hub.constants, "HF_HUB_OFFLINE", True)
        last = calculator.get_attribute("data-value")
        model.select_option(":hub")
        box.fill(typed)
        expect(trouble).to_have_text(text(f"kv.hub_{reason}", value=typed))
        assert trouble.inner_text().startswith("Hub id: ")
        expect(box).to_have_value(typed)
        expect(calculator.locator("[data-field=tokens] input[type=text]")).to_have_value("4096")
        assert calculator.get_attribute("data-value") == last  # the last good answer
        page.click("#language >> text=中文")
        expect(trouble).to_have_text(text(f"kv.hub_{reason}", language="zh", value=typed))
        model.select_option("Llama-2 7B")
        assert number(shown(page, "kv-calculator", "Llama-2 7B tokens=4096 "), "bytes") == 2 * LLAMA
        page.click("#language >> text=English")


def test_a_file_that_cannot_be_read_is_refused_by_its_field(calculator: Any, hub: Hub) -> None:
    for name, says in (("org/broken", "line 1, column 2"), ("org/other", "model_type")):
        calculator.locator("[data-field=hub] input").fill(name)
        expect(calculator.locator("[data-field=hub] .kv-trouble")).to_contain_text(says)


def test_a_slider_near_an_id_that_gives_nothing_asks_the_hub_once(page: Page, calculator: Any, hub: Hub) -> None:
    calculator.locator("[data-field=hub] input").fill("org/missing")
    trouble = calculator.locator("[data-field=hub] .kv-trouble")
    expect(trouble).to_have_text(text("kv.hub_unknown", value="org/missing"))
    hub.requests.clear()
    calculator.locator("[data-field=tokens] input[type=range]").hover()
    calm(page)
    assert len(hub.requests) < 5


def test_the_types_that_are_read_are_listed_and_ggufs_metadata_may_be_pasted(page: Page, calculator: Any) -> None:
    listed = calculator.locator(".kv-families")
    listed.locator("summary").click()
    expect(listed.locator("p")).to_have_text(", ".join(MODEL_TYPES))
    calculator.locator("[data-field=model] select").select_option(":config")
    expect(listed).to_be_visible()
    keys = {"block_count": 32, "context_length": 8192, "embedding_length": 4096, "feed_forward_length": 14_336}
    keys |= {"attention.head_count": 32, "attention.head_count_kv": 8, "vocab_size": 128_256}
    box = calculator.locator("[data-field=config] textarea")
    lines = [
        f"llama_model_loader: - kv {i}: llama.{key} u32 = {value}" for i, (key, value) in enumerate(keys.items(), 1)
    ]
    lines.insert(0, "llama_model_loader: - kv 0: general.architecture str = llama")
    box.fill("\n".join(lines))
    shown(page, "kv-calculator", "text:kv.pasted tokens=8192 ")
    assert number(calculator.get_attribute("data-value"), "bytes") == LLAMA
    box.fill("\n".join(lines[:1]))
    trouble = calculator.locator("[data-field=config] .kv-trouble")
    expect(trouble).to_contain_text("GGUF: llama.block_count is missing")
    page.click("#language >> text=中文")
    expect(trouble).to_contain_text("GGUF 缺少 llama.block_count")
    calculator.locator("[data-field=model] select").select_option("Llama-2 7B")
    expect(listed).to_be_hidden()
