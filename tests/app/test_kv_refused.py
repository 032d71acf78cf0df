"""What the KV-cache chapter says in a real browser of settings that are refused."""

import json
from collections.abc import Callable

import pytest
from playwright.sync_api import Page, expect

from app.texts import text
from model import kv_cache_bytes
from model.kv_math.gpus import GPUS
from model.published.hf import MODEL_TYPES
from tests.app.kv_chapter import calculated, field, opened, panel
from tests.app.looking import shown
from tests.one_of import one_of

pytestmark = pytest.mark.chapter("kv")


@pytest.fixture
def chapter(page: Page) -> Page:
    return opened(page)


def refuse_format(page: Page) -> None:
    field(page, "kv-calculator", "dtype").select_option("fp8_ds_mla")


def refuse_config(page: Page) -> None:
    field(page, "kv-calculator", "model").select_option(":config")
    field(page, "kv-calculator", "config").fill("hello")


@pytest.mark.parametrize(("refuse", "language"), one_of([(refuse_format, "zh"), (refuse_config, "en")]))
def test_what_follows_the_calculator_says_when_its_numbers_are_old(
    chapter: Page, refuse: Callable[[Page], None], language: str
) -> None:
    page, results = chapter, {"kv-calculator": ".kv-answer", "kv-chart": ".gp-chart", "kv-fit": ".kv-answer"}
    if language == "zh":
        page.click("#language >> text=中文")
    page.set_viewport_size({"width": 1280, "height": 4000})
    shown(page, "kv-fit", "gpu=H100 80 GB")
    shown(page, "kv-chart", "view=lines")

    def opacities(kind: str) -> set[float]:
        found = panel(page, kind).locator(results[kind]).evaluate_all(
            "(all) => all.map((one) => Number(getComputedStyle(one).opacity))"
        )  # fmt: skip
        assert found
        return set(found)

    of = text("kv-calculator.settings", language, model="Llama-3 8B", tokens="8,192", batch="1", dtype="bf16")
    old = text("kv.stale", language, settings=of)
    assert [opacities(kind) for kind in results] == [{1.0}] * 3
    refuse(page)
    for kind in ("kv-chart", "kv-fit"):
        expect(panel(page, kind).locator(".kv-stale")).to_have_text(old)
    kept = text("kv-calculator.kept", language, settings=of)
    expect(panel(page, "kv-calculator").locator(".kv-kept")).to_have_text(kept)
    for kind in results:
        expect(panel(page, kind)).to_have_attribute("data-stale", "")
    assert [opacities(kind) for kind in results] == [opacities("kv-calculator")] * 3 != [{1.0}] * 3
    field(page, "kv-calculator", "dtype").select_option("fp8")
    field(page, "kv-calculator", "model").select_option("Llama-2 7B")
    calculated(page, "Llama-2 7B ")
    for kind in results:
        expect(page.locator(f"section[data-kind={kind}][data-stale]")).to_have_count(0)
        expect(panel(page, kind).locator(":is(.kv-stale, .kv-kept):not(:empty)")).to_have_count(0)
    assert [opacities(kind) for kind in results] == [{1.0}] * 3


@pytest.mark.parametrize("language", one_of(["en", "zh"]))
def test_old_numbers_name_all_that_they_depend_on(linked: Callable[[str], Page], language: str) -> None:
    page = linked("#chapter=kv&kv.tp=4&kv.pp=2&kv.block_size=16&kv.mtp=")
    page.click(f"#language >> text={'中文' if language == 'zh' else 'English'}")
    calculated(page, "Llama-3 8B ")
    field(page, "kv-calculator", "tp").fill("3")
    of = text("kv-calculator.settings", language, model="Llama-3 8B", tokens="8,192", batch="1", dtype="bf16")
    page_size = text("kv.field_block_size", language) + text("marks.colon", language) + "16"
    told = text("kv.list_comma", language).join([of, "TP 4", "PP 2", page_size])
    kept = panel(page, "kv-calculator").locator(".kv-kept")
    expect(kept).to_have_text(text("kv-calculator.kept", language, settings=told))


@pytest.mark.parametrize("language", one_of(["en", "zh"]))
def test_old_numbers_of_a_config_are_of_the_one_before(chapter: Page, language: str) -> None:
    page = chapter
    page.click(f"#language >> text={'中文' if language == 'zh' else 'English'}")
    field(page, "kv-calculator", "model").select_option(":config")
    config = field(page, "kv-calculator", "config")
    sizes = {"hidden_size": 4096, "num_hidden_layers": 32, "num_attention_heads": 32, "vocab_size": 32000}
    config.fill(json.dumps({"model_type": "llama", "intermediate_size": 11008, **sizes}))
    pasted = text("kv.pasted", language)
    calculated(page, "text:kv.pasted")
    config.fill("hello")
    before = text("kv-calculator.config_before", language, name=pasted)
    expect(panel(page, "kv-calculator").locator(".kv-kept")).to_contain_text(before)
    expect(panel(page, "kv-fit").locator(".kv-stale")).to_contain_text(before)


def wrong_tokens(language: str) -> str:
    within = text("kv.expected_whole", language, low="1", high="100,000,000")
    return text("kv.wrong_value", language, field=text("kv.field_tokens", language), expected=within)


def set_tokens(page: Page) -> None:
    field(page, "kv-calculator", "tokens").fill("4096")


def choose_model(page: Page) -> None:
    field(page, "kv-calculator", "model").select_option("Llama-3 8B")


def empty_ranks(page: Page) -> None:
    field(page, "kv-calculator", "tp").fill("")


@pytest.mark.thorough
@pytest.mark.parametrize(
    ("settings", "mend", "reasons"),
    [
        ("kv.tokens=0", set_tokens, {language: wrong_tokens(language) for language in ("en", "zh")}),
        ("kv.model=:config&kv.config=hello", choose_model,
         {language: text("kv.config_no_braces", language) for language in ("en", "zh")}),
        ("kv.tp=3", empty_ranks, {"en": "Tensor-parallel ranks: expected a divisor of n_heads (32).",
                                  "zh": "张量并行数：应为 n_heads（32）的约数。"}),
    ],
    ids=["tokens", "config", "tp"],
)  # fmt: skip
def test_a_link_that_is_refused_says_why_in_every_panel_that_follows_the_calculator(
    linked: Callable[[str], Page], settings: str, mend: Callable[[Page], None], reasons: dict[str, str]
) -> None:
    page = linked(f"#chapter=kv&{settings}")
    page.set_viewport_size({"width": 1280, "height": 4000})
    for language, reason in reasons.items():
        page.click(f"#language >> text={'中文' if language == 'zh' else 'English'}")
        for kind in ("kv-chart", "kv-fit"):
            expect(panel(page, kind).locator(".kv-stale")).to_have_text(text("kv.unanswered", language, reason=reason))
        expect(panel(page, "kv-chart").locator(".gp-chart")).to_be_hidden()
        expect(panel(page, "kv-calculator").locator(".kv-trouble:not(:empty)")).to_have_text(reason)
    mend(page)
    calculated(page, "Llama-3 8B ")
    for kind in ("kv-chart", "kv-fit"):
        expect(page.locator(f"section[data-kind={kind}][data-stale]")).to_have_count(0)
        expect(panel(page, kind).locator(".kv-stale")).to_have_text("")
    plot = "document.querySelector('section[data-kind=kv-chart] .gp-plot')"
    panel(page, "kv-chart")
    page.wait_for_function(f"{plot}.data?.length > 3")
    tokens = int(field(page, "kv-calculator", "tokens").input_value())
    assert page.evaluate(f"{plot}.data.at(-1).customdata[0][2]") == str(kv_cache_bytes("Llama-3 8B", tokens))
    assert "batch=" in shown(page, "kv-fit", "gpu=H100 80 GB")
    expect(panel(page, "kv-fit").locator("tbody tr")).to_have_count(len(GPUS))


def test_a_refused_load_makes_only_its_own_answer_old(chapter: Page) -> None:
    page = chapter
    shown(page, "kv-fit", "gpu=H100 80 GB")
    answers = panel(page, "kv-fit").locator(".kv-answer")
    field(page, "kv-fit", "users").fill("0")
    expect(answers.nth(1)).to_have_attribute("data-stale", "")
    assert answers.nth(0).get_attribute("data-stale") is None


REFUSED = {"model_type": "llama", "num_hidden_layers": 2, "hidden_size": 64, "num_attention_heads": 4,
           "intermediate_size": 128, "vocab_size": 99, "max_position_embeddings": 512}  # fmt: skip


SAID = [
        (json.dumps(REFUSED | {"num_hidden_layers": "x"}),
         "config.json 中 num_hidden_layers 是 'x'，应为 1 到 1,000 的整数。"),
        (json.dumps(REFUSED | {"hidden_size": None}), "config.json 缺少 hidden_size，应为 1 到 1,000,000,000 的整数。"),
        (json.dumps(REFUSED | {"hidden_size": None, "num_hidden_layers": 0}),
         "config.json 中 num_hidden_layers 是 0，应为 1 到 1,000 的整数。\n"
         "config.json 缺少 hidden_size，应为 1 到 1,000,000,000 的整数。"),
        (json.dumps({k: v for k, v in REFUSED.items() if k not in ("num_hidden_layers", "vocab_size")}
                    | {"num_hidden_layer": 2, "intermediate_size": 0}),
         "config.json 缺少 num_hidden_layers，应为 1 到 1,000 的整数。文件里有 num_hidden_layer，"
         "是否应为 num_hidden_layers？\n"
         "缓存用不到：config.json 中 intermediate_size 是 0，应为 1 到 1,000,000,000 的整数。\n"
         "缓存用不到：config.json 缺少 vocab_size，应为 1 到 1,000,000,000 的整数。"),
        (json.dumps(REFUSED | {"num_key_value_heads": 3}),
         "config.json 中 num_key_value_heads 是 3，应为 num_attention_heads（4）的约数。"),
        (json.dumps(REFUSED | {"kv_lora_rank": 512}),
         "config.json 中 kv_lora_rank 是 512，应为空缺：本计算器还不支持带有它的 llama。"),
        (json.dumps(REFUSED | {"model_type": "x9"}),
         "config.json：本计算器还不支持 model_type 'x9'。"
         f"支持的 {len(MODEL_TYPES)} 种类型全部列在计算器的输入框下面。"),
        ('{"model_type": }', "config.json 第 1 行第 16 列不是合法的 JSON：此处缺少一个值。"),
        ("", "框里是空的。请粘贴模型的 config.json 或 GGUF 元数据。"),
]  # fmt: skip


@pytest.mark.thorough
def test_a_refused_config_is_explained_in_chinese(chapter: Page) -> None:
    page = chapter
    page.click("#language >> text=中文")
    field(page, "kv-calculator", "model").select_option(":config")
    for config, said in SAID:
        field(page, "kv-calculator", "config").fill(config)
        expect(panel(page, "kv-calculator").locator("[data-field=config] .kv-trouble")).to_have_text(said)


def test_a_heads_width_by_another_classs_name_is_asked_after_beside_the_cache(chapter: Page) -> None:
    page = chapter
    field(page, "kv-calculator", "model").select_option(":config")
    field(page, "kv-calculator", "config").fill(json.dumps(REFUSED | {"head_size": 8}))
    assert calculated(page, "text:kv.pasted tokens=8192 ") == 8192 * 2 * 4 * 16 * 2 * 2
    told = {"field": "head_size", "kind": "llama", "width": 16, "stream": 64, "heads": 4}
    for language in ("en", "zh"):
        page.click(f"#language >> text={'中文' if language == 'zh' else 'English'}")
        note = panel(page, "kv-calculator").get_by_text(text("kv.note_passed_over_quotient", language, **told))
        expect(note).to_be_visible()


def test_a_config_without_what_the_weights_need_has_a_cache_and_says_what_is_left_out(chapter: Page) -> None:
    page = chapter
    field(page, "kv-calculator", "model").select_option(":config")
    lacking = {name: value for name, value in REFUSED.items() if name not in ("intermediate_size", "vocab_size")}
    field(page, "kv-calculator", "config").fill(json.dumps(lacking))
    assert calculated(page, "text:kv.pasted tokens=8192 ") == 8192 * 2 * 4 * 16 * 2 * 2
    answer = panel(page, "kv-calculator").locator(".kv-answer")
    expect(answer).to_contain_text(text("kv.note_unstated", fields="intermediate_size, vocab_size"))
    expect(answer.locator(".kv-parameters")).to_have_text(text("kv.parameters_unstated"))
    trouble = panel(page, "kv-fit").locator(".kv-trouble[role=alert]:not(:empty)").first
    missing = [
        text("kv.config_missing", file="config.json", field=name,
             expected=text("kv.expected_whole", low="1", high="1,000,000,000"))
        for name in ("intermediate_size", "vocab_size")
    ]  # fmt: skip
    assert trouble.inner_text().split("\n") == [text("kv.unstated"), *missing]
    fits = panel(page, "kv-fit")
    field(page, "kv-fit", "weight_bytes").fill("16,060,000,000")
    shown(page, "kv-fit", "gpu=H100 80 GB fits=true free=")
    expect(fits.locator(".kv-trouble[role=alert]:not(:empty)")).to_have_count(0)
    expect(fits.locator(".kv-lacking")).to_have_text(text("kv-fit.lacking", fields="intermediate_size, vocab_size"))
    expect(fits).to_contain_text(text("kv-fit.bound_unknown", fields="intermediate_size, vocab_size"))
    measured = text("kv-fit.measured_alone", bytes="16,060,000,000 B", both="14.96 GiB = 16.06 GB")
    expect(fits.locator(".kv-measured")).to_have_text(measured)


def test_an_unknown_draft_model_is_named_at_its_field(linked: Callable[[str], Page]) -> None:
    page = linked("#chapter=kv&kv.draft=nobody")
    said = text("message.unknown_model", model="'nobody'")
    calculator = panel(page, "kv-calculator")
    expect(calculator.locator("[data-field=draft] .kv-trouble")).to_have_text(said)
    expect(calculator.locator(".kv-trouble:not(:empty)")).to_have_count(1)
    expect(field(page, "kv-calculator", "draft")).to_be_visible()
    field(page, "kv-calculator", "draft").select_option("Llama-3.2 1B")
    assert calculated(page, "Llama-3 8B ") == 8192 * (131_072 + 32_768)
