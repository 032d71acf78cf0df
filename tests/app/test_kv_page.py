"""The KV-cache chapter in a real browser: the calculators, their links and their languages."""

import json
import re
from collections.abc import Callable
from pathlib import Path
from urllib.parse import quote

import pytest
from playwright.sync_api import Page, expect

from app.remarks import in_chinese
from app.texts import text
from model import catalogue, kv_cache_bytes
from model.kv_math import KvOptions
from model.kv_math.gpus import GPUS
from tests.app.kv_chapter import calculated, field, opened, panel
from tests.app.looking import idle, number, shown

pytestmark = pytest.mark.chapter("kv")

PANELS = ("kv-live", "kv-kinds", "kv-race", "kv-calculator", "kv-chart", "kv-fit", "kv-log", "kv-myth")
H100 = 81_559 << 20  # as nvidia-smi reports it
PLAIN = {"model_type": "llama", "num_hidden_layers": 2, "hidden_size": 64, "num_attention_heads": 4,
         "num_key_value_heads": 1, "intermediate_size": 128, "vocab_size": 99,
         "max_position_embeddings": 512}  # fmt: skip


@pytest.fixture
def chapter(page: Page) -> Page:
    return opened(page)


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


def test_k_and_v_are_two_choices_and_one_setting(chapter: Page) -> None:
    page = chapter
    k, v = (field(page, "kv-calculator", name) for name in ("dtype", "dtype_v"))
    expect(v).to_have_value("")
    k.select_option("q8_0")
    v.select_option("q4_0")
    assert calculated(page, "Llama-3 8B tokens=8192 batch=1 dtype=q8_0/q4_0") == 8192 * 32 * 8 * 4 * (34 + 18)
    k.select_option("q4_0")  # the same for both is one
    assert calculated(page, "Llama-3 8B tokens=8192 batch=1 dtype=q4_0 ") == 8192 * 32 * 8 * 4 * 2 * 18
    expect(v).to_have_value("")
    v.select_option("iq4_nl")
    k.select_option("q8_0")
    shown(page, "kv-calculator", "Llama-3 8B tokens=8192 batch=1 dtype=q8_0/iq4_nl")
    page.wait_for_url(re.compile("kv.dtype=q8_0(/|%2F)iq4_nl"))
    title = text("kv-chart.title_of", batch="1", dtype="q8_0/iq4_nl")
    expect(panel(page, "kv-chart")).to_contain_text(title)
    k.select_option("fp8")  # of an engine that has one format for both
    expect(v).to_be_hidden()
    calculated(page, "Llama-3 8B tokens=8192 batch=1 dtype=fp8 ")
    page.evaluate("location.hash = '#chapter=kv&kv.dtype=q8_0/q5_1'")  # as links had it before there were two lists
    expect(k).to_have_value("q8_0")
    expect(v).to_have_value("q5_1")
    field(page, "kv-calculator", "model").select_option("DeepSeek-V3")
    assert calculated(page, "DeepSeek-V3 tokens=8192 ") == kv_cache_bytes("DeepSeek-V3", 8192, dtype="q8_0")
    said = panel(page, "kv-calculator").locator(".kv-answer")
    expect(said).to_contain_text("q5_1 is not used: the model caches no V of its own")
    v.select_option("")
    expect(v).to_be_hidden()


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


def test_what_fits_and_what_is_needed(chapter: Page) -> None:
    page = chapter
    field(page, "kv-fit", "room").select_option("share")
    free = H100 * 92 // 100 - 2 * 8_030_261_248 - 1024**3
    value = shown(page, "kv-fit", f"gpu=H100 80 GB fits=true free={free} ")
    assert number(value, "batch") == (H100 * 92 // 100 - 2 * 8_030_261_248) // 1024**3
    field(page, "kv-fit", "gpu").select_option("T4 16 GB")
    assert "fits=false" in shown(page, "kv-fit", "gpu=T4")
    by_rule = panel(page, "kv-fit").locator(".kv-border:not(.kv-no-bf16)")
    expect(by_rule).to_have_count(0)  # it does not fit by either figure, or rule
    field(page, "kv-fit", "usable_percent").fill("101")
    expect(panel(page, "kv-fit").locator("[data-field=usable_percent] .kv-trouble")).to_contain_text("100")
    expect(panel(page, "kv-fit").locator("tbody tr")).to_have_count(len(GPUS))


def test_what_fits_on_several_gpus_sets_their_number_and_says_where_vllm_decides_otherwise(
    linked: Callable[[str], Page],
) -> None:
    page = linked("#chapter=kv&kv.model=Llama-3.1+70B&kv.tokens=131072&kv.dtype=fp8&kv.tp=2")
    fit = panel(page, "kv-fit")
    value = shown(page, "kv-fit", "gpu=H100 80 GB fits=true")
    # 80 layers, 4 K/V heads of 128 a rank; the lines beside are activations, CUDA's 358 MiB and 150 of fragmentation.
    free, block = int(number(value, "free")), 80 * 4 * 2 * 128 * 16
    room = free + 8192 * block + 150 * 2**20 - (H100 - H100 * 92 // 100) - 266 * 2**20
    lacking = (8192 - (room // block - 1)) * block
    told = {"share": 0.92, "bytes": f"{lacking / 2**30:.3f} GiB = {lacking / 10**9:.3f} GB"}
    expect(fit.locator(".kv-vllm-default")).to_have_text(text("kv-fit.vllm_default", **told))
    ranks = {kind: field(page, kind, "tp") for kind in ("kv-calculator", "kv-fit")}
    expect(ranks["kv-fit"]).to_have_value("2")
    ranks["kv-fit"].fill("3")
    trouble = fit.locator("[data-field=tp] .kv-trouble")
    expect(trouble).to_have_text("Tensor-parallel ranks: expected a divisor of n_heads (64).")
    expect(trouble).to_be_in_viewport(ratio=1)
    ranks["kv-fit"].fill("4")
    shown(page, "kv-fit", "gpu=H100 80 GB fits=true")
    expect(trouble).to_have_text("")
    expect(fit.locator(".gp-title")).to_contain_text("TP 4")
    expect(ranks["kv-calculator"]).to_have_value("4")
    expect(fit.locator("[data-field=pp] input")).to_have_value("")
    expect(fit.locator(".kv-vllm-default")).to_have_count(0)


def test_an_mla_cache_on_several_gpus_is_read_as_copies(linked: Callable[[str], Page]) -> None:
    page = linked("#chapter=kv&kv.model=DeepSeek-V3&kv.tokens=131072&kv.dtype=fp8&kv.tp=8")
    answer = panel(page, "kv-calculator").locator(".kv-result-side")
    one = 61 * 576 * 131_072
    expect(answer.locator(".kv-total strong")).to_have_text(f"8 × {one / 2**30:.3f} GiB")
    expect(answer.locator(".kv-total span")).to_contain_text(f"{8 * one / 2**30:.2f} GiB")
    expect(answer).to_contain_text(f"8 × {61 * 576:,}\xa0B = {8 * 61 * 576:,}\xa0B")


def test_lines_decide_what_fits_unless_a_share_does(chapter: Page) -> None:
    """Llama-3 8B: 8,192 × (2 × 4,096 + 3 × 14,336) × 2 B and 128,256 × 4 B of activations; 358 and 150 MiB."""
    page, fit = chapter, panel(chapter, "kv-fit")
    activations, context, fragmentation = 839_373_824, 358 * 2**20, 150 * 2**20
    free = H100 - 16_060_522_496 - 1024**3 - activations - context - fragmentation
    value = shown(page, "kv-fit", f"gpu=H100 80 GB fits=true free={free} ")
    assert number(value, "batch") == 1 + free // (1024**3 + 128_256 * 4)
    amounts = {"memory": H100, "weights": 16_060_522_496, "cache": 1024**3, "activations": activations,
               "context": context, "fragmentation": fragmentation, "free": free}  # fmt: skip
    told = {name: f"{bytes_:,}\xa0B" for name, bytes_ in amounts.items()}
    expect(fit.locator(".kv-fit-sum")).to_have_text(text("kv-fit.sum_lines", api="CUDA", **told))
    expect(fit.locator(".kv-log-steps li")).to_have_count(3)
    expect(fit.locator("[data-line=fragmentation]")).to_contain_text("150 MiB = 150 × 1,048,576 B")
    expect(fit.locator(".kv-reported")).to_contain_text(
        "as nvidia-smi reports it on this card: 81,559 MiB = 85,520,809,984\xa0B (NVIDIA/nccl #1264)"
    )
    expect(fit.locator("[data-field=usable_percent]")).to_be_hidden()
    expect(fit.locator(".is-formula")).to_contain_text("− GPU context − fragmentation")
    field(page, "kv-fit", "fragmentation_mib").fill("1024")
    shown(page, "kv-fit", f"gpu=H100 80 GB fits=true free={free + fragmentation - 2**30} ")
    expect(field(page, "kv-fit", "step_tokens")).to_have_attribute("placeholder", "8,192")
    field(page, "kv-fit", "gpu").select_option("Apple M4 Max 128 GB")
    fewer = activations - (8192 - 512) * (2 * 4096 + 3 * 14_336) * 2
    free += activations - fewer + fragmentation - 2**30 + 96 * 2**30 - H100
    activations = fewer
    shown(page, "kv-fit", f"gpu=Apple M4 Max 128 GB fits=true free={free} ")
    expect(field(page, "kv-fit", "step_tokens")).to_have_attribute("placeholder", "512")
    expect(fit.locator("[data-line=activations]")).to_contain_text(text("kv-fit.kept_activations_step", tokens="512"))
    expect(fit.locator("[data-line=context]")).to_contain_text(text("kv-fit.kept_context_says_cuda", api="Metal"))
    expect(fit.locator(".kv-fit-sum")).to_contain_text("137,438,953,472\xa0B × 75% − ")
    expect(fit.locator("[data-line=system] .kv-log-bytes")).to_have_text("32 GiB")
    field(page, "kv-fit", "room").select_option("share")
    expect(fit.locator("[data-field=fragmentation_mib]")).to_be_hidden()
    expect(fit.locator("[data-field=usable_percent]")).to_be_visible()
    stated = {"stated": "128 GiB", "bytes": "137,438,953,472\xa0B"}
    expect(fit.locator(".kv-reported")).to_have_text(text("kv-fit.shared", **stated))
    room = 96 * 2**30 - 16_060_522_496 - activations - context - 266 * 2**20
    strict = (room // 2**21 - 1 - 512) * 2**21  # blocks of 16 tokens, of which one is never handed out
    expect(fit.locator(".kv-strict")).to_contain_text(f"{strict / 2**30:.2f} GiB")
    left = 32 * 2**30 - activations - context
    expect(fit.locator("[data-line=left] .kv-log-bytes")).to_have_text(f"{left / 2**30:.1f} GiB")
    expect(fit.locator(".is-formula")).to_contain_text("free = memory × 75% − weights − cache")
    field(page, "kv-fit", "room").select_option("vllm")
    logits = 128_256 * 4  # of each sequence; one is among the activations
    batch = max(n for n in range(1, 100) if (room - (n - 1) * logits) // 2**21 - 1 >= 512 * n)
    shown(page, "kv-fit", f"gpu=Apple M4 Max 128 GB fits=true free={strict} batch={batch}")
    expect(fit.locator("[data-line=strict_blocks]")).to_contain_text(f"= {room // 2**21:,} blocks of 16 tokens")
    expect(fit.locator(".kv-blocks-sum")).to_contain_text(f"({room // 2**21:,} − 1 − 512) blocks × 2,097,152\xa0B = ")
    beyond = fit.locator(".kv-fact", has_text="Largest batch").locator(".gp-note").first
    limit = 96 * 2**30
    taken = limit - room + batch * logits + (512 * (batch + 1) + 1) * 2**21
    told = {"bytes": f"{taken:,}\xa0B", "limit": f"{limit:,}\xa0B"}
    assert taken > limit
    expect(beyond).to_have_text(text("kv-fit.next_one", **told))
    expect(fit.locator("[data-line=graphs]")).to_contain_text("266 MiB")
    expect(fit.locator("[data-line=outside] .kv-log-bytes")).to_have_text("32 GiB")
    expect(fit.locator("[data-field=fragmentation_mib]")).to_be_hidden()
    expect(fit.locator(".is-formula")).to_contain_text("− CUDA graphs − cache")


def test_a_note_has_every_digit_of_a_whole_number(linked: Callable[[str], Page]) -> None:
    """Granite 4.0 H Small: 36 layers × 128 heads × 64 × 128 numbers of 4 bytes; by vLLM's default of 2."""
    kept = json.loads((Path(__file__).parents[1] / "model/published/hybrid_configs.json").read_text(encoding="utf-8"))
    config = quote(json.dumps(kept["Granite 4.0 H Small"]["config"]))
    page = linked(f"#lang=zh&chapter=kv&kv.model=:config&kv.config={config}")
    told = {"own": "150,994,944", "auto": "75,497,472", "format": "bf16"}
    note = panel(page, "kv-calculator").get_by_text(text("kv.note_state_fp32", "zh", **told), exact=True)
    expect(note).to_be_visible()


def test_k_and_v_in_bf16_on_a_gpu_without_it_are_said_to_need_fp16(linked: Callable[[str], Page]) -> None:
    page = linked("#lang=en&chapter=kv&kvfit.gpu=T4+16+GB&kv.model=Llama-3.2+1B")
    shown(page, "kv-fit", "gpu=T4 16 GB fits=true ")
    said = panel(page, "kv-fit").locator(".kv-no-bf16")
    expect(said).to_have_text(text("kv-fit.no_bf16", name="T4 16 GB"))
    field(page, "kv-calculator", "dtype").select_option("fp16")
    expect(said).to_have_count(0)


def test_what_fits_on_two_gpus_says_so_and_takes_a_size_with_its_unit(linked: Callable[[str], Page]) -> None:
    page = linked("#lang=en&chapter=kv&kv.model=Llama-3.1+70B&kv.tp=2&kvfit.weight_bytes=42.52+GB")
    fit = panel(page, "kv-fit")
    shown(page, "kv-fit", "gpu=H100 80 GB fits=true ")
    asked = {"model": "Llama-3.1 70B", "batch": "1", "tokens": "8,192", "dtype": "bf16"}
    title = text("kv-fit.title_several", gpus="2", gpu="H100 80 GB", shares="TP 2", **asked)
    expect(fit.locator(".gp-title")).to_have_text(title)
    expect(fit.locator(".kv-fits")).to_contain_text("left on the fullest GPU")
    expect(fit.locator(".kv-measured")).to_contain_text("42,520,000,000\xa0B")
    expect(fit.locator("summary", has_text="Not in use")).to_have_count(1)
    empty = field(page, "kv-fit", "weight_bytes")
    empty.fill("")
    expect(fit.locator(".kv-measured")).to_have_count(0)
    page.click("#language >> text=中文")
    expect(empty).to_have_attribute("placeholder", text("kv.choice_counted", "zh"))
    users = field(page, "kv-fit", "user_tokens")
    users.fill("200000")
    expect(fit.locator(".kv-beyond")).to_contain_text("131,072")


def test_a_link_restores_the_settings(linked: Callable[[str], Page]) -> None:
    settings = "kv.model=DeepSeek-V3&kv.tokens=5000&kv.tp=8&kvfit.gpu=L40S+48+GB&kvchart.view=stack"
    page = linked(f"#chapter=kv&{settings}")
    assert calculated(page, "DeepSeek-V3 tokens=5000 ") == kv_cache_bytes("DeepSeek-V3", 5000, options=KvOptions(tp=8))
    panel(page, "kv-fit")
    shown(page, "kv-fit", "gpu=L40S 48 GB")
    field(page, "kv-calculator", "batch").fill("3")
    page.wait_for_function("location.hash.includes('kv.batch=3') && location.hash.includes('kvchart.view=stack')")


def test_where_all_layers_have_windows_no_product_of_full_layers_is_shown(linked: Callable[[str], Page]) -> None:
    page = linked("#chapter=kv&kv.model=Mistral-7B+v0.1")
    calculated(page, "Mistral-7B v0.1 ")
    answer = panel(page, "kv-calculator").locator(".kv-answer")
    expect(answer.locator(".kv-rate")).to_have_count(1)
    expect(answer).to_contain_text(text("kv.after_sliding_all"))
    expect(answer).not_to_contain_text("0 B =")


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


def test_what_comes_with_the_numbers_is_said_in_the_readers_language(linked: Callable[[str], Page]) -> None:
    page = linked("#chapter=kv&kv.shared_prefix=100&kv.batch=4&kvfit.gpu=:gpu")
    for language, prefix, own in (("en", "100 shared + 4 sequences × 8,092", "Your own GPU"),
                                  ("zh", "共享的 100 + 4 个序列 × 8,092", "自定 GPU")):  # fmt: skip
        page.click(f"#language >> text={'中文' if language == 'zh' else 'English'}")
        expect(panel(page, "kv-calculator").locator(".kv-terms .kv-how")).to_have_text(prefix)
        expect(panel(page, "kv-fit").locator("tbody th").last).to_have_text(own)


def test_a_pasted_config_is_named_in_the_readers_language(chapter: Page) -> None:
    page = chapter
    page.set_viewport_size({"width": 1280, "height": 4000})
    page.click("#language >> text=中文")
    field(page, "kv-calculator", "model").select_option(":config")
    field(page, "kv-calculator", "config").fill(json.dumps(PLAIN))
    named = text("kv.pasted", "zh")
    expect(panel(page, "kv-fit").locator(".gp-title")).to_contain_text(named)
    expect(panel(page, "kv-chart").locator(".gp-sample").first).to_have_text(named)
    panel(page, "kv-calculator").locator(".kv-source summary").click()
    expect(panel(page, "kv-calculator").locator(".kv-source li").first).to_have_text("粘贴的 config.json")
    panel(page, "kv-chart").get_by_role("button", name=text("kv-chart.stack", "zh")).click()
    ticks = panel(page, "kv-chart").locator(".xtick text")
    expect(ticks.filter(has_text=f"{named} †").first).to_be_visible()  # 8,192 tokens are beyond its context of 512
    field(page, "kv-calculator", "dtype").select_option("fp8_ds_mla")
    of = text("kv-calculator.settings", "zh", model=named, tokens="8,192", batch="1", dtype="bf16")
    expect(panel(page, "kv-fit").locator(".kv-stale")).to_have_text(text("kv.stale", "zh", settings=of))


def test_every_model_can_be_chosen(chapter: Page) -> None:
    options = field(chapter, "kv-calculator", "model").locator("option")
    expect(options).to_have_count(len(catalogue()) + 2)


def test_a_model_is_found_by_typing_a_part_of_its_name(chapter: Page) -> None:
    section = panel(chapter, "kv-calculator")
    box = section.get_by_label(text("kv.seek_model"))
    options, status = (
        field(chapter, "kv-calculator", "model").locator("option"),
        section.locator("[data-field=model] [role=status]"),
    )
    box.fill("qwen 32b")
    expect(options).to_have_text(["Qwen3-32B", "Llama-3 8B"])  # what is found, and what is chosen
    expect(status).to_have_text(text("kv.sought_found", count=1, first="Qwen3-32B"))
    box.press("Enter")
    calculated(chapter, "Qwen3-32B ")
    expect(box).to_have_value("")
    expect(options).to_have_count(len(catalogue()) + 2)
    box.fill("qwen3 32b")
    found = section.locator(".kv-found button")
    expect(found).to_have_text(["Qwen3-32B"])
    box.fill("llama")
    expect(found).to_have_count(6)
    box.fill("llama-3 8b")
    found.get_by_text("Llama-3 8B", exact=True).click()  # a finger has no Enter
    calculated(chapter, "Llama-3 8B ")
    expect(found).to_have_count(0)
    box.fill("qwen 32b")
    box.press("Enter")
    box.fill("zzz")
    expect(status).to_have_text(text("kv.sought_none"))
    own = [text("kv.own_config"), text("kv.own_hub")]  # where none is found, a model of the reader's own
    expect(options).to_have_text(["Qwen3-32B", *own])
    box.fill("llama 3.3 70b")
    known = text("kv.also", name="Llama-3.1 70B", also="Llama-3.3 70B")
    expect(status).to_have_text(text("kv.sought_found", count=1, first=known))
    box.fill("")


def test_the_link_is_copied_with_every_setting(chapter: Page) -> None:
    page = chapter
    page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    field(page, "kv-calculator", "tokens").fill("5000")
    calculated(page, "Llama-3 8B tokens=5000 ")
    page.wait_for_function("location.hash.includes('kv.tokens=5000')")
    panel(page, "kv-calculator").get_by_role("button", name=text("kv.link")).click()
    expect(panel(page, "kv-calculator").get_by_role("button", name=text("kv.copied"))).to_be_visible()
    assert page.evaluate("navigator.clipboard.readText()") == f"{page.url}&panel=kv-calculator"


def test_on_a_telephone_the_verdict_stays_at_the_foot_of_the_screen_beside_the_fields(chapter: Page) -> None:
    """One text of the page's: where the fields are past it stands above the answer, and nothing covers it."""
    page = chapter
    page.set_viewport_size({"width": 360, "height": 740})
    verdict = panel(page, "kv-fit").locator(".kv-fits")
    expect(verdict).to_have_count(1)
    bottom = "(one) => innerHeight - one.getBoundingClientRect().bottom"
    for name in ("gpu", "room", "step_tokens"):
        field(page, "kv-fit", name).evaluate("(one) => one.scrollIntoView({ block: 'center' })")
        expect(verdict).to_be_in_viewport(ratio=0.98)
        assert verdict.evaluate(bottom) == pytest.approx(0, abs=1), name
    memory = panel(page, "kv-fit").locator(".kv-memory")
    memory.evaluate("(one) => one.scrollIntoView({ block: 'center' })")
    place = "(one) => one.getBoundingClientRect().bottom"
    assert verdict.evaluate(place) <= memory.evaluate("(one) => one.getBoundingClientRect().top")
    room = field(page, "kv-fit", "room")
    words = """(one) => {
      const [pen, style] = [document.createElement("canvas").getContext("2d"), getComputedStyle(one)];
      pen.font = style.font;
      const room = one.clientWidth - parseFloat(style.paddingLeft) - parseFloat(style.paddingRight);
      return [...one.options].filter(({ text }) => pen.measureText(text).width > room).map(({ text }) => text);
    }"""
    assert room.evaluate(words) == []
    panel(page, "kv-calculator").get_by_role("button", name=text("kv-calculator.to_kv-fit")).click()
    back = page.locator(".page-back")
    expect(back).to_be_visible()
    room.evaluate("(one) => one.scrollIntoView({ block: 'center' })")
    expect(verdict).to_be_in_viewport(ratio=0.98)
    top = back.evaluate("(one) => one.getBoundingClientRect().top")
    assert verdict.evaluate(place) == pytest.approx(top, abs=2)  # above the way back, which lies over all else
