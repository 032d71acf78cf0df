"""The KV-cache chapter in a real browser: the live cache, the measurement, the calculators and their chart."""

import json
from collections.abc import Callable
from typing import Any

import pytest
from playwright.sync_api import Page, expect

from app.engine import LocalEngine
from app.service import Service
from app.texts import text
from model import catalogue, kv_cache_bytes
from model.kv_math import KvOptions
from model.remarks import in_chinese
from tests.app.looking import idle, number, shown
from tests.page import wait_for_run

PANELS = ("kv-live", "kv-kinds", "kv-race", "kv-calculator", "kv-chart", "kv-fit", "kv-myth")


@pytest.fixture
def chapter(page: Page) -> Page:
    page.evaluate("glass.open('kv')")
    shown(page, "kv-live", "layer")
    return page


def panel(page: Page, kind: str) -> Any:
    found = page.locator(f"section[data-kind={kind}]")
    found.scroll_into_view_if_needed()
    return found


def field(page: Page, kind: str, name: str) -> Any:
    return panel(page, kind).locator(f"[data-field={name}] :is(input[type=text], select, textarea)").first


def calculated(page: Page, start: str) -> int:
    panel(page, "kv-calculator")
    return int(number(shown(page, "kv-calculator", start), "bytes"))


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
        if "measured=none" not in value:
            assert number(value, "bytes") == number(value, "measured")


def test_the_kinds_of_the_run_follow_the_token(chapter: Page, engine: LocalEngine) -> None:
    page, config = chapter, engine.about("roomy").config
    value = shown(page, "kv-kinds", "tokens=")
    row = config.n_layers * config.head_dim * 2 * 4 * number(value, "tokens")
    assert number(value, "GQA") == row * config.n_kv_heads
    assert number(value, "MHA") == row * config.n_heads
    assert number(value, "MQA") == row
    assert number(value, "MLA") == row / 2 * 4.5
    assert value.endswith("own=GQA")
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


def test_the_calculator_answers_and_a_bad_number_leaves_the_last_answer(chapter: Page) -> None:
    page = chapter
    assert calculated(page, "Llama-3 8B tokens=8192 ") == 1024**3
    field(page, "kv-calculator", "model").select_option("Llama-2 7B")
    field(page, "kv-calculator", "tokens").fill("1,024")
    field(page, "kv-calculator", "batch").fill("16")
    field(page, "kv-calculator", "dtype").select_option("fp16")
    assert calculated(page, "Llama-2 7B tokens=1024 batch=16 dtype=fp16") == 8_589_934_592
    expect(panel(page, "kv-calculator")).to_contain_text("8,589,934,592 B")
    within = text("kv.expected_whole", low="1", high="100,000,000")
    for bad in ("0", "-1", "1000000000", "many", ""):
        field(page, "kv-calculator", "tokens").fill(bad)
        trouble = panel(page, "kv-calculator").locator("[data-field=tokens] .kv-trouble")
        expect(trouble).to_have_text(text("kv.wrong_value", field=text("kv.field_tokens"), expected=within))
        expect(panel(page, "kv-calculator").locator(".kv-exact")).to_have_text("8,589,934,592 B")
    field(page, "kv-calculator", "tokens").fill("2048")
    assert calculated(page, "Llama-2 7B tokens=2048 ") == 2 * 8_589_934_592
    expect(panel(page, "kv-calculator").locator("[data-field=tokens] .kv-trouble")).to_have_text("")


def refuse_format(page: Page) -> None:
    field(page, "kv-calculator", "dtype").select_option("fp8_ds_mla")


def refuse_config(page: Page) -> None:
    field(page, "kv-calculator", "model").select_option(":config")
    field(page, "kv-calculator", "config").fill("hello")


@pytest.mark.parametrize("refuse", [refuse_format, refuse_config])
@pytest.mark.parametrize("language", ["en", "zh"])
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

    old = text("kv.stale", language, model="Llama-3 8B", dtype="bf16")
    assert [opacities(kind) for kind in results] == [{1.0}] * 3
    refuse(page)
    for kind in ("kv-chart", "kv-fit"):
        expect(panel(page, kind).locator(".kv-stale")).to_have_text(old)
    for kind in results:
        expect(panel(page, kind)).to_have_attribute("data-stale", "")
    assert [opacities(kind) for kind in results] == [opacities("kv-calculator")] * 3 != [{1.0}] * 3
    field(page, "kv-calculator", "dtype").select_option("fp8")
    field(page, "kv-calculator", "model").select_option("Llama-2 7B")
    calculated(page, "Llama-2 7B ")
    for kind in results:
        expect(page.locator(f"section[data-kind={kind}][data-stale]")).to_have_count(0)
        expect(panel(page, kind).locator(".kv-stale:not(:empty)")).to_have_count(0)
    assert [opacities(kind) for kind in results] == [{1.0}] * 3


def wrong_tokens(language: str) -> str:
    within = text("kv.expected_whole", language, low="1", high="100,000,000")
    return text("kv.wrong_value", language, field=text("kv.field_tokens", language), expected=within)


def set_tokens(page: Page) -> None:
    field(page, "kv-calculator", "tokens").fill("4096")


def choose_model(page: Page) -> None:
    field(page, "kv-calculator", "model").select_option("Llama-3 8B")


def empty_ranks(page: Page) -> None:
    field(page, "kv-calculator", "tp").fill("")


@pytest.mark.parametrize(
    ("settings", "mend", "reasons"),
    [
        ("kv.tokens=0", set_tokens, {language: wrong_tokens(language) for language in ("en", "zh")}),
        ("kv.model=:config&kv.config=hello", choose_model,
         {"en": "config.json: no JSON at line 1, column 1: a value is missing.",
          "zh": "config.json 第 1 行第 1 列不是合法的 JSON：此处缺少一个值。"}),
        ("kv.tp=3", empty_ranks, {"en": "Tensor-parallel ranks: expected a divisor of n_heads (32).",
                                  "zh": "张量并行数：应为 n_heads（32）的约数。"}),
    ],
    ids=["tokens", "config", "tp"],
)  # fmt: skip
def test_a_link_that_is_refused_says_why_in_every_panel_that_follows_the_calculator(
    chapter: Page, site: str, settings: str, mend: Callable[[Page], None], reasons: dict[str, str]
) -> None:
    page = chapter
    page.goto("about:blank")
    page.goto(f"{site}#chapter=kv&{settings}")
    wait_for_run(page)
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
    expect(panel(page, "kv-fit").locator("tbody tr")).to_have_count(7)


def test_a_refused_load_makes_only_its_own_answer_old(chapter: Page) -> None:
    page = chapter
    shown(page, "kv-fit", "gpu=H100 80 GB")
    answers = panel(page, "kv-fit").locator(".kv-answer")
    field(page, "kv-fit", "users").fill("0")
    expect(answers.nth(1)).to_have_attribute("data-stale", "")
    assert answers.nth(0).get_attribute("data-stale") is None


def test_options_of_one_model_go_with_it(chapter: Page) -> None:
    page = chapter
    calculator = panel(page, "kv-calculator")
    calculator.locator(".kv-more summary").click()
    field(page, "kv-calculator", "model").select_option("Gemma-3 12B (text)")
    field(page, "kv-calculator", "window").select_option("off")
    assert calculated(page, "Gemma-3 12B (text) tokens=8192 ") == 8192 * 48 * 8 * 2 * 256 * 2
    field(page, "kv-calculator", "model").select_option("T5-large (v1.0)")
    expect(field(page, "kv-calculator", "encoder_tokens")).to_be_visible()
    expect(field(page, "kv-calculator", "window")).to_be_hidden()
    assert calculated(page, "T5-large (v1.0) ") == kv_cache_bytes("T5-large (v1.0)", 8192)
    field(page, "kv-calculator", "tp").fill("3")
    expect(calculator.locator("[data-field=tp] .kv-trouble")).to_contain_text("n_heads")


def test_a_pasted_config(chapter: Page) -> None:
    page = chapter
    field(page, "kv-calculator", "model").select_option(":config")
    box = field(page, "kv-calculator", "config")
    box.fill("{ this is no json")
    expect(panel(page, "kv-calculator").locator("[data-field=config] .kv-trouble")).to_contain_text("line 1")
    box.fill(
        '{"model_type": "llama", "num_hidden_layers": 2, "hidden_size": 64, "num_attention_heads": 4, "head_dim": 16,'
        ' "num_key_value_heads": 1, "intermediate_size": 128, "vocab_size": 99, "max_position_embeddings": 512,'
        ' "rms_norm_eps": 1e-5, "hidden_act": "silu", "tie_word_embeddings": false, "rope_theta": 10000.0}'
    )
    panel(page, "kv-calculator")
    page.wait_for_function(
        "(end) => document.querySelector('section[data-kind=kv-calculator]').dataset.value.endsWith(end)",
        arg=f"bytes={2 * 8192 * 1 * 2 * 16 * 2}",
    )


REFUSED = {"model_type": "llama", "num_hidden_layers": 2, "hidden_size": 64, "num_attention_heads": 4,
           "intermediate_size": 128, "vocab_size": 99, "max_position_embeddings": 512}  # fmt: skip


@pytest.mark.parametrize(
    ("config", "said"),
    [
        (json.dumps(REFUSED | {"num_hidden_layers": "x"}),
         "config.json 中 num_hidden_layers 是 'x'，应为 1 到 1,000 的整数。"),
        (json.dumps(REFUSED | {"vocab_size": None}), "config.json 缺少 vocab_size，应为 1 到 1,000,000,000 的整数。"),
        (json.dumps(REFUSED | {"num_key_value_heads": 3}),
         "config.json 中 num_key_value_heads 是 3，应为 num_attention_heads（4）的约数。"),
        (json.dumps(REFUSED | {"kv_lora_rank": 512}),
         "config.json 中 kv_lora_rank 是 512，应为 空缺：这种 model_type 不读取它。"),
        ('{"model_type": }', "config.json 第 1 行第 16 列不是合法的 JSON：此处缺少一个值。"),
        ("", "config.json 缺少 内容，应为 一份 config.json 的内容。"),
    ],
    ids=["wrong", "missing", "divisor", "absent", "json", "nothing"],
)  # fmt: skip
def test_a_refused_config_is_explained_in_chinese(chapter: Page, config: str, said: str) -> None:
    page = chapter
    page.click("#language >> text=中文")
    field(page, "kv-calculator", "model").select_option(":config")
    field(page, "kv-calculator", "config").fill(config)
    expect(panel(page, "kv-calculator").locator("[data-field=config] .kv-trouble")).to_have_text(said)


def near(page: Page, slider: Any, questions: tuple[str, ...]) -> list[str]:
    """Goes to a slider and waits for the answers at its places; gives what is asked from then on."""
    asked: list[str] = []
    answered: list[str] = []
    page.on("request", lambda request: asked.append(request.post_data or ""))
    page.on("requestfinished", lambda request: answered.append(request.post_data or ""))
    slider.focus()
    for question in questions:
        wanted = f'"asked":"{question}"'
        while not any("kv_places" in text and wanted in text for text in answered):
            page.wait_for_timeout(50)
    page.wait_for_timeout(300)
    asked.clear()
    return asked


def moved_from(page: Page, kind: str, name: str, last: int) -> int:
    """The number beside a slider, once it is another than the last one."""
    box = field(page, kind, name)
    expect(box).not_to_have_value(str(last))
    return int(box.input_value())


@pytest.mark.parametrize("name", ["tokens", "batch"])
def test_a_slider_asks_once_and_then_shows_every_place_without_a_request(chapter: Page, name: str) -> None:
    page = chapter
    page.set_viewport_size({"width": 1280, "height": 2600})  # calculator and chart at once
    panel(page, "kv-chart")
    plot = "document.querySelector('section[data-kind=kv-chart] .gp-plot')"
    page.wait_for_selector("section[data-kind=kv-chart] .gp-plot .scatterlayer .trace", state="attached")
    idle(page)
    slider = panel(page, "kv-calculator").locator(f"[data-field={name}] input[type=range]")
    asked = near(page, slider, ("kv", "kv_chart"))
    size = {"tokens": 8192, "batch": 1}
    for _ in range(9):
        slider.press("ArrowRight")
        before, size[name] = size[name], moved_from(page, "kv-calculator", name, size[name])
        assert size[name] > before  # no step is lost, however small the number
        count = kv_cache_bytes("Llama-3 8B", size["tokens"], size["batch"])
        value = f"Llama-3 8B tokens={size['tokens']} batch={size['batch']} dtype=bf16 bytes={count}"
        expect(panel(page, "kv-calculator")).to_have_attribute("data-value", value)
        page.wait_for_function(f"(count) => {plot}.data.at(-1).customdata[0][2] === count", arg=str(count))
    drawn = page.evaluate(f"{plot}.data.map((trace) => trace.customdata.map((said) => said.slice(0, 3)))")
    for model, tokens, count in (point for trace in drawn for point in trace):
        assert int(count) == kv_cache_bytes(model, tokens, size["batch"])
    assert [text for text in asked if '"what":"kv"' in text or "kv_chart" in text] == []


@pytest.mark.parametrize(("kind", "name"), [("kv-calculator", "tokens"), ("kv-calculator", "batch"),
                                            ("kv-fit", "users"), ("kv-fit", "user_tokens")])  # fmt: skip
def test_what_fits_follows_every_slider_without_a_request(
    chapter: Page, service: Service, kind: str, name: str
) -> None:
    page = chapter
    page.set_viewport_size({"width": 1280, "height": 4000})  # the calculator and what fits at once
    panel(page, "kv-fit")
    shown(page, "kv-fit", "gpu=H100 80 GB")
    expect(panel(page, "kv-fit").locator("tbody tr")).to_have_count(7)
    idle(page)
    slider = panel(page, kind).locator(f"[data-field={name}] input[type=range]")
    asked = near(page, slider, ("kv", "kv_fit") if kind == "kv-calculator" else ("kv_needs",))
    settings: dict[str, Any] = {"model": "Llama-3 8B", "tokens": 8192, "batch": 1, "users": 64, "user_tokens": 32_768}
    for key in ("ArrowRight",) * 5 + ("ArrowLeft",) * 2:
        slider.press(key)
        settings[name] = moved_from(page, kind, name, settings[name])
        found = service.calculate({"what": "kv_fit", **settings})["data"]
        value = f"gpu=H100 80 GB fits={str(found['use']['fits']).lower()} free={found['use']['free']} batch="
        value += f"{found['batch']['value'] or 'none'} context={found['context']['value'] or 'none'}"
        expect(panel(page, "kv-fit")).to_have_attribute("data-value", value)
        needed = service.calculate({"what": "kv_needs", **settings})["data"]["gpus"]
        expect(panel(page, "kv-fit").locator("tbody td:nth-child(2)")).to_have_text(
            [f"{gpu['at_least']:,}" for gpu in needed]
        )
    assert [text for text in asked if '"what":"kv' in text] == []


def test_the_chart_draws_zooms_and_is_clicked(chapter: Page) -> None:
    page = chapter
    panel(page, "kv-chart")
    page.wait_for_selector("section[data-kind=kv-chart] .gp-plot .scatterlayer .trace", state="attached")
    plot = "document.querySelector('section[data-kind=kv-chart] .gp-plot')"
    drawn = page.evaluate(f"{plot}.data.map((trace) => trace.customdata.map((said) => said.slice(0, 3)))")
    for model, tokens, count in (point for trace in drawn for point in trace):
        assert int(count) == kv_cache_bytes(model, tokens)
    page.evaluate(f"Plotly.relayout({plot}, {{ 'xaxis.range': [3, 4] }})")
    field(page, "kv-calculator", "batch").fill("2")
    panel(page, "kv-chart")
    page.wait_for_function(f"{plot}.data[0].customdata.at(-1)[2] === '{2 * 1024**3}'")
    assert page.evaluate(f"{plot}.layout.xaxis.range") == [3, 4]
    page.evaluate(f"{plot}.emit('plotly_click', {{ points: [{{ customdata: ['DeepSeek-V3', 4096] }}] }})")
    pinned = panel(page, "kv-chart").locator(".kv-pinned")
    expect(pinned).to_contain_text(f"{kv_cache_bytes('DeepSeek-V3', 4096, 2):,} B")
    pinned.get_by_role("button").click()
    calculated(page, "Llama-3 8B tokens=4096 ")
    panel(page, "kv-chart").get_by_role("button", name=text("kv-chart.stack")).click()
    page.wait_for_selector("section[data-kind=kv-chart] .gp-plot .barlayer .trace", state="attached")
    page.click("#theme")
    ground = page.evaluate("getComputedStyle(document.body).getPropertyValue('--glass-text').trim()")
    page.wait_for_function(f"(ink) => {plot}.layout.font.color === ink", arg=ground)


def test_a_link_restores_a_chart_without_models_to_compare(chapter: Page) -> None:
    page = chapter
    chips = panel(page, "kv-chart").locator(".kv-chip")
    for left in (2, 1, 0):
        chips.first.click()
        expect(chips).to_have_count(left)
    page.wait_for_function("/kvchart\\.compare=none(&|$)/.test(location.hash)")
    link = page.url
    page.goto("about:blank")
    page.goto(link)
    wait_for_run(page)
    panel(page, "kv-chart")
    assert shown(page, "kv-chart", "view=lines").endswith(
        "traces=2"
    )  # the model's line and where the calculator stands
    expect(chips).to_have_count(0)
    expect(panel(page, "kv-chart").locator(".kv-trouble:not(:empty)")).to_have_count(0)


def test_the_stack_with_weights_holds_the_draft_models(chapter: Page, site: str) -> None:
    page = chapter
    page.goto("about:blank")
    page.goto(f"{site}#chapter=kv&kv.draft=Llama-3.2+1B&kvchart.view=stack&kvchart.weights=1&kvchart.compare=none")
    wait_for_run(page)
    panel(page, "kv-chart")
    legend = panel(page, "kv-chart").locator(".legendtext")
    parts = ("draft_cache", "self_full_kv", "draft_weights", "own_weights")  # the legend begins at the top of the stack
    for language in ("en", "zh"):
        page.click(f"#language >> text={'中文' if language == 'zh' else 'English'}")
        expect(legend).to_have_text([text(f"kv.stack_{part}", language) for part in parts])
    plot = "document.querySelector('section[data-kind=kv-chart] .gp-plot')"
    # At 8,192 tokens: 8,030,261,248 and 1,235,814,400 weights of 2 bytes; 131,072 and 32,768 bytes a token.
    drawn = page.evaluate(f"{plot}.data.map((trace) => trace.customdata[1].slice(1, 3))")
    assert drawn == [[8192, str(n)] for n in (16_060_522_496, 2_471_628_800, 8192 * 131_072, 8192 * 32_768)]
    # What is hatched has its part's colour under the lines, not the card's own.
    grounds = "(all) => all.map((one) => one.querySelector('rect')?.getAttribute('fill'))"
    found = panel(page, "kv-chart").locator(".gp-plot pattern").evaluate_all(grounds)
    assert len(found) == 4  # two parts, each in the bars and in the legend
    assert len(set(found)) == 1
    assert None not in found


def test_what_fits_and_what_is_needed(chapter: Page) -> None:
    page = chapter
    value = (panel(page, "kv-fit"), shown(page, "kv-fit", "gpu=H100 80 GB"))[1]
    assert number(value, "batch") == (72 * 10**9 - 2 * 8_030_261_248) // 1024**3
    field(page, "kv-fit", "gpu").select_option("T4 16 GB")
    assert "fits=false" in shown(page, "kv-fit", "gpu=T4")
    field(page, "kv-fit", "usable_percent").fill("101")
    expect(panel(page, "kv-fit").locator("[data-field=usable_percent] .kv-trouble")).to_contain_text("100")
    expect(panel(page, "kv-fit").locator("tbody tr")).to_have_count(7)


def test_a_link_restores_the_settings(chapter: Page, site: str) -> None:
    page = chapter
    settings = "kv.model=DeepSeek-V3&kv.tokens=5000&kv.tp=8&kvfit.gpu=L40S+48+GB&kvchart.view=stack"
    page.goto("about:blank")
    page.goto(f"{site}#chapter=kv&{settings}")
    wait_for_run(page)
    assert calculated(page, "DeepSeek-V3 tokens=5000 ") == kv_cache_bytes("DeepSeek-V3", 5000, options=KvOptions(tp=8))
    panel(page, "kv-fit")
    shown(page, "kv-fit", "gpu=L40S 48 GB")
    field(page, "kv-calculator", "batch").fill("3")
    page.wait_for_function("location.hash.includes('kv.batch=3') && location.hash.includes('kvchart.view=stack')")


def test_the_myth(chapter: Page) -> None:
    panel(chapter, "kv-myth")
    assert shown(chapter, "kv-myth", "wrong=") == "wrong=137438953472 right=8589934592"
    expect(panel(chapter, "kv-myth")).to_contain_text("8,589,934,592 B")
    expect(panel(chapter, "kv-myth")).to_contain_text("2,147,483,648 B")


def test_every_panel_speaks_chinese_and_fits_a_phone(chapter: Page) -> None:
    page = chapter
    page.click("#language >> text=中文")
    page.set_viewport_size({"width": 360, "height": 740})
    idle(page)
    for kind in PANELS:
        section = panel(page, kind)
        expect(section.locator(".gp-title")).not_to_be_empty()
        assert section.get_attribute("data-failed") is None
        assert section.evaluate("(e) => e.scrollWidth <= e.clientWidth + 1"), kind
        missing = section.evaluate("(e) => e.textContent.match(/\\bkv(-[a-z]+)?\\.[a-z_]+/g)")
        assert missing is None, (kind, missing)
    assert page.evaluate("document.documentElement.scrollWidth") <= 360


def test_remarks_on_a_model_are_shown_in_the_readers_language(chapter: Page) -> None:
    page, spec = chapter, catalogue()["Falcon-40B"]
    field(page, "kv-calculator", "model").select_option(spec.name)
    calculated(page, f"{spec.name} ")
    remarks = panel(page, "kv-calculator").locator(".kv-source")
    remarks.locator("summary").click()
    said = [*spec.source, *spec.notes]
    expect(remarks.locator("li")).to_have_text(said)
    page.click("#language >> text=中文")
    expect(remarks.locator("li")).to_have_text([in_chinese(remark) for remark in said])
    field(page, "kv-calculator", "tokens").fill("9000")
    calculated(page, f"{spec.name} tokens=9000 ")
    expect(remarks).to_have_attribute("open", "")  # what a reader opened stays open


def test_what_comes_with_the_numbers_is_said_in_the_readers_language(chapter: Page, site: str) -> None:
    page = chapter
    page.goto("about:blank")
    page.goto(f"{site}#chapter=kv&kv.shared_prefix=100&kv.batch=4&kvfit.gpu=:gpu")
    wait_for_run(page)
    for language, prefix, own in (("en", "100 shared + 4 sequences × 8,092", "Your own GPU"),
                                  ("zh", "共享的 100 + 4 个序列 × 8,092", "自定 GPU")):  # fmt: skip
        page.click(f"#language >> text={'中文' if language == 'zh' else 'English'}")
        expect(panel(page, "kv-calculator").locator(".kv-terms .kv-how")).to_have_text(prefix)
        expect(panel(page, "kv-fit").locator("tbody th").last).to_have_text(own)


def test_every_model_can_be_chosen(chapter: Page) -> None:
    options = field(chapter, "kv-calculator", "model").locator("option")
    expect(options).to_have_count(len(catalogue()) + 2)
