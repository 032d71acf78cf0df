"""A config.json of one's own in the calculator: pasted by a button, named, and what is copied from its answer."""

import json

import pytest
from playwright.sync_api import Page, expect

from app.engine import LocalEngine
from app.service import Service
from app.session import Runs
from app.texts import text
from tests.app.kv_chapter import calculated, field, opened, panel
from tests.app.test_kv_page import PLAIN

pytestmark = pytest.mark.chapter("kv")

BYTES = 8192 * 2 * 1 * 2 * 16 * 2  # 2 layers, 1 K/V head of 64 / 4 numbers, in 16 bits


def test_a_config_is_pasted_by_a_button_and_named(page: Page) -> None:
    opened(page)
    calculated(page, "Llama-3 8B tokens=8192 ")
    calculator = panel(page, "kv-calculator")
    expect(field(page, "kv-calculator", "config_name")).to_be_hidden()
    calculator.get_by_role("button", name=text("kv.paste"), exact=True).click()
    box = field(page, "kv-calculator", "config")
    expect(box).to_be_focused()
    expect(calculator.locator(".kv-kept")).not_to_be_empty()  # the figures are still the last model's,
    expect(calculator.locator(".kv-trouble:not(:empty)")).to_have_count(0)  # and nothing is wrong yet
    box.fill(json.dumps(PLAIN))
    assert calculated(page, "text:kv.pasted tokens=8192 ") == BYTES
    field(page, "kv-calculator", "config_name").fill("House 1B")
    assert calculated(page, "House 1B tokens=8192 ") == BYTES
    expect(calculator.locator("h2, .gp-title").first).to_contain_text("House 1B")
    expect(calculator.get_by_role("button", name=text("kv.paste"), exact=True)).to_be_hidden()
    page.evaluate("() => { navigator.clipboard.writeText = async (text) => { window.copied = text; }; }")
    for model, held in ((None, True), ("Qwen3-8B", False)):  # a link holds the config of the model it is of
        if model:
            field(page, "kv-calculator", "model").select_option(model)
            calculated(page, f"{model} tokens=8192 ")
        calculator.get_by_role("button", name=text("kv.link"), exact=True).click()
        assert ("kv.config" in page.evaluate("window.copied")) is held


def test_a_box_that_was_emptied_says_so(page: Page) -> None:
    opened(page)
    calculator = panel(page, "kv-calculator")
    calculator.get_by_role("button", name=text("kv.paste"), exact=True).click()
    box = field(page, "kv-calculator", "config")
    box.fill(json.dumps(PLAIN))
    assert calculated(page, "text:kv.pasted tokens=8192 ") == BYTES
    box.fill("")
    expect(calculator.locator("[data-field=config] .kv-trouble")).to_have_text(text("kv.config_empty"))
    expect(calculator).to_have_attribute("data-stale", "")


def test_another_config_loses_the_name_and_a_name_typed_at_once_is_kept(page: Page) -> None:
    opened(page)
    calculator = panel(page, "kv-calculator")
    calculator.get_by_role("button", name=text("kv.paste"), exact=True).click()
    config, name = (field(page, "kv-calculator", one) for one in ("config", "config_name"))
    config.fill(json.dumps(PLAIN))
    assert calculated(page, "text:kv.pasted tokens=8192 ") == BYTES
    name.fill("House 1B")
    assert calculated(page, "House 1B tokens=8192 ") == BYTES
    config.fill(json.dumps(PLAIN | {"num_hidden_layers": 4}))
    assert calculated(page, "text:kv.pasted tokens=8192 ") == 2 * BYTES
    expect(name).to_have_value("")
    config.fill("{")
    expect(calculator.locator("[data-field=config] .kv-trouble")).not_to_be_empty()
    config.fill(json.dumps(PLAIN))
    name.fill("House 2B")
    calculator.locator(".gp-title, h2").first.click()
    assert calculated(page, "House 2B tokens=8192 ") == BYTES
    expect(name).to_have_value("House 2B")


def test_a_config_that_came_without_a_key_is_read_and_never_emptied(page: Page) -> None:
    """As extensions and tools put a text into a box: without an input event, or without any."""
    opened(page)
    calculator = panel(page, "kv-calculator")
    calculator.get_by_role("button", name=text("kv.paste"), exact=True).click()
    box, tokens = (field(page, "kv-calculator", one) for one in ("config", "tokens"))
    put = "(box, [value, event]) => { box.value = value; if (event) box.dispatchEvent(new Event(event)); }"
    box.evaluate(put, [json.dumps(PLAIN), "change"])
    page.keyboard.press("Tab")
    assert calculated(page, "text:kv.pasted tokens=8192 ") == BYTES
    expect(box).to_have_value(json.dumps(PLAIN))
    silent = json.dumps(PLAIN | {"num_hidden_layers": 4})
    box.evaluate(put, [silent, ""])
    page.keyboard.press("Tab")
    tokens.first.fill("4096")
    assert calculated(page, "text:kv.pasted tokens=4096 ") == BYTES // 2
    expect(box).to_have_value(silent)


def test_vllms_reservation_begins_with_the_tokens_of_a_step(page: Page) -> None:
    """Of Gemma-3 12B; another way with windows takes them back. A context typed as 32k moves the slider there."""
    opened(page)
    field(page, "kv-calculator", "model").select_option("Gemma-3 12B (text)")
    field(page, "kv-calculator", "tokens").fill("32k")
    calculated(page, "Gemma-3 12B (text) tokens=32768 ")
    slider = panel(page, "kv-calculator").locator("[data-field=tokens] input[type=range]")
    expect(slider).to_have_value(str((15 - 7) * 8))
    panel(page, "kv-calculator").locator(".kv-more > summary").click()
    for way, tokens in (("vllm", "8192"), ("transformers", ""), ("vllm", "8192")):
        field(page, "kv-calculator", "window").select_option(way)
        expect(field(page, "kv-calculator", "batched_tokens")).to_have_value(tokens)
        expect(panel(page, "kv-calculator").locator(".kv-trouble:not(:empty)")).to_have_count(0)


def test_what_all_gpus_hold_and_how_wide_an_mla_models_keys_are(page: Page) -> None:
    """DeepSeek-V3: MHA of 128 heads, 128 wide, 61 layers; keys of its own are 128 + 64 wide."""
    opened(page)
    field(page, "kv-calculator", "model").select_option("DeepSeek-V3")
    field(page, "kv-calculator", "tokens").fill("131072")
    calculated(page, "DeepSeek-V3 tokens=131072 ")
    calculator, mha = panel(page, "kv-calculator"), 131_072 * 61 * 128 * 2 * 128 * 2
    own = {"mha": f"{mha / 2**30:.0f} GiB", "size": f"{mha * 320 / 256 / 2**30:.0f} GiB", "both": 256}
    told = text("kv.mla_own_widths", keys=192, head_dim=128, **own)
    expect(calculator.locator(".kv-remarks")).to_contain_text(told)
    panel(page, "kv-calculator").locator(".kv-more > summary").click()
    field(page, "kv-calculator", "model").select_option("Llama-3 8B")
    field(page, "kv-calculator", "tp").fill("8")
    calculated(page, "Llama-3 8B tokens=131072 ")
    expect(calculator.locator(".kv-answer")).to_contain_text(text("kv.of_gpus", gpus=8, one="2 GiB"))


def test_from_the_calculator_a_way_leads_to_what_fits_with_the_same_numbers(page: Page) -> None:
    opened(page)
    calculated(page, "Llama-3 8B tokens=8192 ")
    for name, value in (("tokens", "4096"), ("batch", "16")):
        field(page, "kv-calculator", name).fill(value)
    calculated(page, "Llama-3 8B tokens=4096 batch=16 ")
    panel(page, "kv-calculator").get_by_role("button", name=text("kv-calculator.to_kv-fit"), exact=True).click()
    fit = page.locator("section[data-kind=kv-fit]")
    expect(fit).to_be_in_viewport()
    same = fit.locator(".kv-same")
    same.click()
    expect(fit).to_contain_text(text("kv-fit.reverse_title", model="Llama-3 8B", users=16, tokens="4,096"))
    expect(field(page, "kv-fit", "users")).to_have_value("16")
    expect(field(page, "kv-fit", "user_tokens")).to_have_value("4096")
    expect(same).to_be_hidden()


def test_the_figure_and_the_formula_are_copied(page: Page) -> None:
    page.evaluate("() => { navigator.clipboard.writeText = async (text) => { window.copied = text; }; }")
    opened(page)
    calculated(page, "Llama-3 8B tokens=8192 ")
    buttons = panel(page, "kv-calculator").locator(".kv-copies")
    for key, part in (
        ("copy_figure", "Llama-3 8B, 1 × 8,192 tokens, bf16: 1 GiB = 1.074 GB = 1,073,741,824 B"),
        (
            "copy_formula",
            "32 layers × 1 batch × 8,192 tokens × 8 K/V heads × 2 K and V × 128 head_dim × 2 bytes (bf16)",
        ),
        ("copy_latex", r"\underbrace{32}_{\text{layers}} \times"),
    ):
        buttons.get_by_role("button", name=text(f"kv.{key}"), exact=True).click()
        assert part in page.evaluate("window.copied")


def test_a_name_is_the_readers_and_has_an_end(engine: LocalEngine) -> None:
    service = Service(engine, Runs())
    asked = {"what": "kv", "model": ":config", "config": json.dumps(PLAIN)}
    named = service.calculate({**asked, "config_name": " House 1B "})["data"]
    assert (named["model"], named["card"]["called"], named["bytes"]) == ("House 1B", "House 1B", str(BYTES))
    assert service.calculate(asked)["data"]["model"] == "text:kv.pasted"
    refused = service.calculate({**asked, "config_name": "x" * 61})
    assert refused["params"]["field"] == "config_name"
    other = service.calculate({"what": "kv", "model": "Llama-3 8B", "config_name": "House 1B"})["data"]
    assert (other["model"], other["card"]["called"]) == ("Llama-3 8B", None)
