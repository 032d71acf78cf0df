"""An engine's log in the KV-cache chapter: pasted, compared, refused and saved, by pointer and by keys."""

from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, Page, expect

from app.engine import LocalEngine
from app.service import Service
from app.session import Runs
from app.texts import text
from tests.app.kv_chapter import calculated, field, opened, panel
from tests.app.looking import faults, shown
from tests.app.test_kv_tables import saved
from tests.page import leave, open_page, watched

VLLM = "# GPU blocks: 1952, # CPU blocks: 2048\nMaximum concurrency for 20000 tokens per request: 1.56x"
VLLM_BYTES = 1952 * 16 * 32 * 8 * 2 * 128 * 2
OF_8B = """\
llama_model_loader: - kv   0:                       general.architecture str              = llama
llama_model_loader: - kv   1:                               general.name str              = Meta Llama 3 8B
llama_model_loader: - kv   2:                          llama.block_count u32              = 32
llama_model_loader: - kv   3:                       llama.context_length u32              = 8192
llama_model_loader: - kv   4:                     llama.embedding_length u32              = 4096
llama_model_loader: - kv   5:                  llama.feed_forward_length u32              = 14336
llama_model_loader: - kv   6:                 llama.attention.head_count u32              = 32
llama_model_loader: - kv   7:              llama.attention.head_count_kv u32              = 8
llama_model_loader: - kv   8:                           llama.vocab_size u32              = 128256
llama_model_loader: - kv   9:     llama.attention.layer_norm_rms_epsilon f32              = 0.000010
llama_new_context_with_model: KV self size  = 1024.00 MiB, K (f16):  512.00 MiB, V (f16):  512.00 MiB
llama_new_context_with_model: n_ctx      = 8192
"""


@pytest.fixture(scope="module")
def chapter(browser: Browser, panels_alone: str) -> Iterator[Page]:
    """One for all."""
    page = open_page(browser, f"{panels_alone}#lang=en")
    with watched(page):
        yield opened(page)
    leave(page)


def compared(page: Page, log: str, start: str) -> str:
    field(page, "kv-log", "log").fill(log)
    panel(page, "kv-log").get_by_role("button", name=text("kv-log.compare"), exact=True).click()
    return shown(page, "kv-log", start)


def test_a_log_is_compared_and_saved(chapter: Page) -> None:
    section = panel(chapter, "kv-log")
    expect(section).to_contain_text(text("kv-log.empty"))
    line = compared(chapter, VLLM, "engine=vLLM")
    assert line == f"engine=vLLM dtype=bf16 formula={VLLM_BYTES} reserved={VLLM_BYTES} logged=none rest=none"
    rows = {(row["quantity"], row["column"]): row["value"] for row in saved(chapter, "kv-log")}
    assert rows["engine", "vLLM"] == "Llama-3 8B"
    assert rows["bytes", "formula"] == rows["bytes", "reserved"] == str(VLLM_BYTES)
    assert (rows["tokens", "reserved"], rows["blocks", "logged"]) == ("31232", "1952")
    assert (rows["concurrency", "reserved"], rows["concurrency", "logged"]) == ("1.5616", "1.56")


def test_keys_compare_and_what_is_wrong_is_said(chapter: Page) -> None:
    box = field(chapter, "kv-log", "log")
    box.fill("nothing of a cache")
    box.press("Control+Enter")
    trouble = panel(chapter, "kv-log").locator("[data-field=log] .kv-trouble")
    expect(trouble.locator("p")).to_have_text(text("kv-log.trouble_none"))
    assert "GPU KV cache size: … tokens" in trouble.locator("li").all_inner_texts()
    expect(panel(chapter, "kv-log").locator(".kv-log-result")).to_contain_text(text("kv-log.refused"))
    expect(box).to_have_attribute("aria-invalid", "true")
    box.fill(VLLM)
    box.press("Control+Enter")
    expect(trouble).to_have_text("")
    shown(chapter, "kv-log", "engine=vLLM")


@pytest.mark.thorough
def test_a_log_that_ends_within_a_number_says_so(chapter: Page) -> None:
    section = panel(chapter, "kv-log")
    box = section.locator("textarea")
    box.fill("KV self size = 1024.00 MiB\nCUDA0 KV buffer size = 14")
    box.press("Control+Enter")
    expect(section.locator(".kv-log-cut")).to_have_text(text("kv-log.cut", line=2, end="CUDA0 KV buffer size = 14"))
    box.fill("CUDA0 KV buffer size = 14")
    box.press("Control+Enter")
    said = text("kv-log.trouble_cut", line=1, end="CUDA0 KV buffer size = 14")
    expect(section.locator(".kv-log-trouble p")).to_have_text(said)


def test_the_columns_of_a_comparison_fit_a_desktop(chapter: Page) -> None:
    chapter.set_viewport_size({"width": 1440, "height": 900})
    section = panel(chapter, "kv-log")
    section.locator(".kv-log-example", has_text="vLLM").first.click()
    expect(section.locator(".kv-log-worked-out").first).to_be_visible()
    assert section.locator(".kv-scroll").evaluate_all("(all) => all.every((e) => e.scrollWidth <= e.clientWidth)")
    section.locator(".kv-log-taken button").click()
    chapter.set_viewport_size({"width": 1280, "height": 720})


def test_examples_follow_the_calculator(chapter: Page) -> None:
    engines = ("llama.cpp", "vLLM", "SGLang", "TensorRT-LLM", "Ollama")
    for engine in engines:
        panel(chapter, "kv-log").get_by_role("button", name=engine, exact=True).click()
        assert shown(chapter, "kv-log", f"engine={engine} ").endswith("rest=rounding")
    assert faults(chapter) == []


def test_an_example_sets_the_calculator_and_it_can_be_set_back(chapter: Page) -> None:
    """vLLM's report is of 20,000 tokens of Llama-3 8B in bf16; nothing of another model stands beside it."""
    page, log = chapter, panel(chapter, "kv-log")
    field(page, "kv-calculator", "model").select_option("DeepSeek-V3")
    field(page, "kv-calculator", "tokens").fill("5000")
    field(page, "kv-calculator", "dtype").select_option("fp8")
    shown(page, "kv-calculator", "DeepSeek-V3 tokens=5000 batch=1 dtype=fp8")
    log.get_by_role("button", name="vLLM", exact=True).click()
    shown(page, "kv-calculator", f"Llama-3 8B tokens=20000 batch=1 dtype=bf16 bytes={20_000 * 131_072}")
    assert shown(page, "kv-log", "engine=vLLM dtype=bf16 ").endswith("rest=rounding")
    expect(log).to_contain_text(text("kv-log.model_chosen", model="Llama-3 8B"))
    set_to = {"engine": "vLLM", "model": "Llama-3 8B", "tokens": "20,000", "batch": "1", "dtype": "bf16"}
    expect(log.locator(".kv-log-taken p")).to_have_text(text("kv-log.example_of", **set_to))
    log.get_by_role("button", name="llama.cpp", exact=True).click()
    shown(page, "kv-calculator", f"Llama-3 8B tokens=2048 batch=4 dtype=fp16 bytes={1024**3}")
    log.get_by_role("button", name="vLLM", exact=True).click()
    shown(page, "kv-calculator", "Llama-3 8B tokens=20000 ")
    log.get_by_role("button", name=text("kv-log.example_back")).click()
    shown(page, "kv-calculator", "DeepSeek-V3 tokens=5000 batch=1 dtype=fp8")
    expect(log.locator(".kv-log-taken")).to_have_count(0)
    field(page, "kv-calculator", "dtype").select_option("bf16")
    field(page, "kv-calculator", "model").select_option("Llama-3 8B")
    field(page, "kv-calculator", "tokens").fill("8192")
    shown(page, "kv-calculator", "Llama-3 8B tokens=8192 batch=1 dtype=bf16")


def test_in_chinese_and_not_in_the_link(chapter: Page) -> None:
    compared(chapter, VLLM, "engine=vLLM")
    assert "blocks" not in chapter.evaluate("location.href")
    chapter.click("#language >> text=中文")
    section = panel(chapter, "kv-log")
    expect(section).to_contain_text(text("kv-log.model_chosen", "zh", model="Llama-3 8B"))
    expect(section.locator("thead")).to_contain_text(text("kv-log.column_reserved", "zh"))
    chapter.click("#language >> text=English")


def test_a_log_that_holds_its_model_is_of_that_model(engine: LocalEngine) -> None:
    service = Service(engine, Runs())
    for chosen in ("Llama-2 7B", "Llama-3 8B"):
        answer = service.calculate({"what": "kv_log", "model": chosen, "log": OF_8B})["data"]
        assert (answer["model"], answer["model_from"], answer["dtype_from"]) == ("Meta Llama 3 8B", "metadata", "log")
        assert {row["quantity"]: row["formula"]["value"] for row in answer["rows"] if row["formula"]} == {
            "token": str(32 * 8 * 2 * 128 * 2),
            "bytes": str(1024**3),
        }
    odd = OF_8B.replace("= llama\n", "= nobody\n")
    answer = service.calculate({"what": "kv_log", "model": "Llama-3 8B", "log": odd})["data"]
    assert answer["model_from"] == "chosen"
    assert "nobody" in answer["unread"]


def test_a_format_that_the_log_does_not_state_is_found(engine: LocalEngine) -> None:
    log = "[MemUsageChange] Allocated 16.05 GiB for max tokens in paged KV cache (263008)"
    asked = {"what": "kv_log", "model": "Llama-3 8B", "dtype": "bf16", "log": log}
    answer = Service(engine, Runs()).calculate(asked)["data"]
    assert (answer["dtype"], answer["dtype_from"], answer["fitting"]) == ("fp8", "fits", ["fp8"])


def test_formats_of_k_and_of_v_are_both_said(engine: LocalEngine) -> None:
    cells = "llama_kv_cache: size = 1568.00 MiB ( 16384 cells, 32 layers, 1/1 seqs)"
    log = f"{cells}, K (q8_0): 544.00 MiB, V (f16): 1024.00 MiB"
    service = Service(engine, Runs())
    answer = service.calculate({"what": "kv_log", "model": "Llama-3 8B", "log": log})["data"]
    assert (answer["dtype"], answer["dtype_v"], answer["dtype_from"]) == ("q8_0", "fp16", "log")
    odd = service.calculate({"what": "kv_log", "model": "Llama-3 8B", "log": log.replace("q8_0", "turbo3")})["data"]
    assert (odd["dtype"], odd["dtype_from"], odd["stated"]) == ("bf16", "unknown", "turbo3 / f16")
    own = {"what": "kv_log", "model": "Llama-3 8B", "log": cells, "dtype": "q8_0/fp16"}  # the calculator's two
    answer = service.calculate(own)["data"]
    assert (answer["dtype"], answer["dtype_v"], answer["dtype_from"]) == ("q8_0", "fp16", "chosen")


def test_the_model_that_the_log_names_is_taken_where_the_chosen_one_has_the_same_cache(engine: LocalEngine) -> None:
    named = "Initializing an LLM engine with config: model='meta-llama/Llama-3.1-8B-Instruct', dtype=torch.bfloat16\n"
    asked = {"what": "kv_log", "model": "Llama-3 8B", "log": f"{named}{VLLM}"}
    service = Service(engine, Runs())
    answer = service.calculate(asked)["data"]
    assert (answer["model"], answer["model_from"], answer["instead_of"]) == ("Llama-3.1 8B", "named", "Llama-3 8B")
    kept = service.calculate({**asked, "as_chosen": True})["data"]
    assert (kept["model"], kept["model_from"]) == ("Llama-3 8B", "chosen")


PRINTED = """\
print_info: arch             = llama
print_info: n_ctx_train      = 131072
print_info: n_embd           = 4096
print_info: n_layer          = 32
print_info: n_head           = 32
print_info: n_head_kv        = 8
print_info: n_rot            = 128
print_info: n_swa            = 0
print_info: n_embd_head_k    = 128
print_info: n_embd_head_v    = 128
print_info: n_ff             = 14336
print_info: n_expert         = 0
print_info: general.name     = Meta Llama 3.1 8B Instruct
print_info: n_vocab          = 128256
llama_context: n_ctx         = 8192
llama_kv_cache: size = 1024.00 MiB ( 8192 cells,  32 layers,  1/1 seqs), K (f16):  512.00 MiB, V (f16):  512.00 MiB
"""


def test_a_log_that_prints_its_models_shape_is_of_that_model(engine: LocalEngine) -> None:
    service = Service(engine, Runs())
    answer = service.calculate({"what": "kv_log", "model": "Llama-3 70B", "log": PRINTED})["data"]
    assert (answer["model"], answer["model_from"]) == ("Meta Llama 3.1 8B Instruct", "printed")
    assert answer["conflicts"] == []
    assert [one["code"] for one in answer["differences"]] == ["rounding"]


def test_a_part_of_a_shape_is_set_against_the_chosen_model(engine: LocalEngine) -> None:
    part = "\n".join(line for line in PRINTED.splitlines() if "arch" not in line and "name" not in line)
    service = Service(engine, Runs())
    answer = service.calculate({"what": "kv_log", "model": "Llama-3 70B", "log": part})["data"]
    assert answer["model_from"] == "chosen"
    assert ("model", "n_layer = 32", 3, "80") in [
        (one["code"], one["one"], one["line"], one["other"]) for one in answer["conflicts"]
    ]


def test_lines_that_contradict_each_other_leave_no_verdict(chapter: Page) -> None:
    page = chapter
    buffers = "llama_kv_cache:        CPU KV buffer size =  2048.00 MiB\n"
    kept = """\
llama_context: KV self size  = 1024.00 MiB, K (f16):  512.00 MiB, V (f16):  512.00 MiB
llama_context: n_ctx = 8192
"""
    compared(page, buffers + kept, "engine=llama.cpp")
    log = panel(page, "kv-log")
    said = {"line": 1, "one": "KV buffer size = 2048.00 MiB", "other_line": 2, "other": "size = 1024.00 MiB"}
    told = text("kv-log.conflict_lines", **said)
    expect(log.locator(".kv-log-conflicts li")).to_have_text(told)
    expect(log.locator(".kv-log-verdict")).to_have_text(text("kv-log.verdict_conflict"))
    compared(page, kept, "engine=llama.cpp")
    expect(log.locator(".kv-log-conflicts")).to_have_count(0)
    expect(log.locator(".kv-log-verdict")).to_have_text(text("kv-log.verdict_whole"))


def test_a_printed_name_is_read_and_an_unknown_one_is_said_to_be_none_of_the_list(engine: LocalEngine) -> None:
    service = Service(engine, Runs())
    cells = next(line for line in PRINTED.splitlines() if "llama_kv_cache" in line)
    for name, model, known in (
        ("Meta Llama 3.1 8B Instruct", "Llama-3.1 8B", "Llama-3.1 8B"),
        ("Bar 9B", "Llama-3 8B", ""),
    ):
        log = f"print_info: general.name     = {name}\n{cells}"
        answer = service.calculate({"what": "kv_log", "model": "Llama-3 8B", "log": log})["data"]
        assert (answer["named"], answer["model"], answer["listed"]) == (name, model, known)


OF_70B = """\
INFO model='meta-llama/Meta-Llama-3-70B-Instruct', dtype=torch.bfloat16, tensor_parallel_size=1, kv_cache_dtype=auto
Available KV cache memory: 10.00 GiB
GPU KV cache size: 32,768 tokens
"""


def test_a_log_that_names_a_model_of_the_list_is_compared_with_that(chapter: Page) -> None:
    page, log = chapter, panel(chapter, "kv-log")
    compared(page, OF_70B, "engine=vLLM")
    named = {"model": "Llama-3 70B", "named": "meta-llama/Meta-Llama-3-70B-Instruct", "instead": "Llama-3 8B"}
    assert shown(page, "kv-log", "engine=vLLM dtype=bf16 formula=1").endswith(" rest=rounding")
    expect(log).to_contain_text(text("kv-log.model_named", **named))
    log.get_by_role("button", name=text("kv-log.another_take", another="Llama-3 8B")).click()
    expect(log).to_contain_text(text("kv-log.model_chosen", model="Llama-3 8B"))
    expect(log.locator(".kv-log-table")).to_be_visible()
    log.get_by_role("button", name=text("kv-log.another_take", another="Llama-3 70B")).click()
    expect(log).to_contain_text(text("kv-log.model_named", **named))
    expect(field(page, "kv-calculator", "model")).to_have_value("Llama-3 8B")


def test_a_log_of_another_model_with_the_same_cache_is_of_the_model_that_it_names(chapter: Page) -> None:
    page, name = chapter, "meta-llama/Llama-3.1-8B-Instruct"
    compared(page, OF_8B_ON_VLLM.format(name=name), "engine=vLLM")
    log = panel(page, "kv-log")
    told = {"model": "Llama-3.1 8B", "named": name, "instead": "Llama-3 8B"}
    expect(log).to_contain_text(text("kv-log.model_named", **told))
    log.get_by_role("button", name=text("kv-log.another_take", another="Llama-3 8B")).click()
    expect(log).to_contain_text(text("kv-log.model_chosen", model="Llama-3 8B"))
    expect(log).to_contain_text(text("kv-log.named_alike", named=name, listed="Llama-3.1 8B", model="Llama-3 8B"))
    compared(page, OF_8B_ON_VLLM.format(name=name), "engine=vLLM")
    log.get_by_role("button", name=text("kv-log.named_set", model="Llama-3.1 8B")).click()
    calculated(page, "Llama-3.1 8B ")
    field(page, "kv-calculator", "model").select_option("Llama-3 8B")
    calculated(page, "Llama-3 8B ")


def test_a_fine_tune_and_a_model_of_the_same_cache_are_compared(engine: LocalEngine) -> None:
    service = Service(engine, Runs())
    for name, model, another in (
        ("meta-llama/Llama-3.1-8B-Instruct", "Llama-3 8B", "Llama-3.1 8B"),
        ("/models/qwen3-8b-awq/", "Llama-3 8B", "Qwen3-8B"),
        ("nobody/Llama-3-8B-of-ours", "Llama-2 7B", "Llama-3 8B"),
        ("nobody/Llama-3-8B-of-ours", "Llama-3 70B", ""),  # whose bytes the log has
        ("ours/model", "Llama-3 70B", ""),
    ):
        log = OF_70B.replace("meta-llama/Meta-Llama-3-70B-Instruct", name)
        answer = service.calculate({"what": "kv_log", "model": model, "log": log})["data"]
        held = answer["instead_of"], answer["model"], answer["model_from"], answer["agrees"]
        assert held == ((model, another, "named", True) if another else ("", model, "chosen", True)), name
        chosen = service.calculate({"what": "kv_log", "model": model, "log": log, "as_chosen": True})["data"]
        other_cache = "" if another == "Llama-3.1 8B" else another
        assert (chosen["model"], chosen["another"], bool(chosen["rows"])) == (model, other_cache, True)


PASTED_70B = """{"model_type": "llama", "num_hidden_layers": 80, "hidden_size": 8192, "intermediate_size": 28672,
"vocab_size": 128256, "num_attention_heads": 64, "num_key_value_heads": 8, "max_position_embeddings": 131072}"""
OF_8B_ON_VLLM = """\
INFO model='{name}', dtype=torch.bfloat16, tensor_parallel_size=1, kv_cache_dtype=auto
Available KV cache memory: 54.02 GiB
GPU KV cache size: 442,528 tokens
"""


def test_a_log_that_a_pasted_config_does_not_go_with_offers_the_model_of_the_list(engine: LocalEngine) -> None:
    """54.02 GiB for 442,528 tokens are 128 KiB a token; the 70B takes 320."""
    service = Service(engine, Runs())

    def answer(name: str, model: str = ":config") -> dict:
        log = OF_8B_ON_VLLM.format(name=name)
        return service.calculate({"what": "kv_log", "model": model, "config": PASTED_70B, "log": log})["data"]

    named = answer("meta-llama/Llama-3.1-8B-Instruct")
    assert (named["model"], named["instead_of"], named["agrees"]) == ("Llama-3.1 8B", "text:kv.pasted", True)
    size = answer("ours/Foo-8B")
    assert (size["another"], size["another_by"], bool(size["rows"])) == ("Llama-3 8B", "bytes", True)
    assert [(one["code"], one["line"], one["other"]) for one in size["conflicts"]] == [("size", 1, "70.6B")]
    rates = {"logged": "54.02 GiB", "tokens": 442_528, "each": 32 * 8 * 2 * 128 * 2, "own": 80 * 8 * 2 * 128 * 2}
    rates["mean"] = int(54.02 * 2**30) // 442_528
    assert size["another_params"] == rates
    unsaid = answer("ours/foo")
    assert (unsaid["another_by"], unsaid["conflicts"], unsaid["agrees"]) == ("bytes", [], False)
    for name in ("meta-llama/Llama-3.1-8B-Instruct", "ours/foo"):
        right = answer(name, "Llama-3 8B")
        assert (right["agrees"], right["another"], right["conflicts"]) == (True, "", [])


def test_a_name_that_is_another_models_is_told_first_though_the_bytes_agree(engine: LocalEngine) -> None:
    """Qwen3-30B-A3B keeps 48 × 2 × 4 × 128 × 2 B = 96 KiB of a token in bf16; the log's 128 are Llama-3.1-8B's."""
    service = Service(engine, Runs())

    def told(name: str) -> list:
        log = OF_8B_ON_VLLM.format(name=name).replace("cache_dtype=auto", "cache_dtype=bfloat16")
        asked = {"what": "kv_log", "model": "Llama-3.1 8B", "log": log, "as_chosen": True}
        answer = service.calculate(asked)["data"]
        assert answer["model"] == "Llama-3.1 8B"
        return [(one["code"], one["line"], one["one"], one["other"]) for one in answer["conflicts"]]

    assert 48 * 2 * 4 * 128 * 2 != 32 * 2 * 8 * 128 * 2
    assert told("Qwen/Qwen3-30B-A3B") == [("name", 1, "Qwen/Qwen3-30B-A3B", "Qwen3-30B-A3B")]
    assert told("ours/Foo-30B") == [("size", 1, "ours/Foo-30B", "8.03B")]
    for right in ("meta-llama/Llama-3.1-8B", "meta-llama/Meta-Llama-3-8B", "deepseek-ai/DeepSeek-R1-Distill-Llama-8B"):
        assert told(right) == []


def test_a_button_compares_with_the_model_whose_bytes_the_log_has(chapter: Page) -> None:
    page, log = chapter, panel(chapter, "kv-log")
    field(page, "kv-calculator", "model").select_option("Llama-3 70B")
    compared(page, OF_8B_ON_VLLM.format(name="ours/foo"), "engine=vLLM")
    sizes = {"logged": "54.02 GiB", "tokens": "442,528", "mean": "128 KiB", "each": "128 KiB", "own": "320 KiB"}
    told = text("kv-log.another_bytes", **sizes, model="Llama-3 70B", another="Llama-3 8B")
    expect(log.locator(".kv-log-another p")).to_have_text(told)
    log.get_by_role("button", name=text("kv-log.another_take", another="Llama-3 8B")).click()
    shown(page, "kv-calculator", "Llama-3 8B ")
    assert shown(page, "kv-log", "engine=vLLM dtype=bf16 ").endswith(" rest=rounding")
    expect(log.locator(".kv-log-another")).to_have_count(0)
    expect(log).not_to_contain_text(text("kv-log.named", named="ours/foo"))


def test_tokens_that_do_not_fit_in_their_memory_are_named(engine: LocalEngine) -> None:
    log = OF_8B_ON_VLLM.format(name="meta-llama/Llama-3.1-8B-Instruct").replace("442,528", "885,056")
    answer = Service(engine, Runs()).calculate({"what": "kv_log", "model": "Llama-3.1 8B", "log": log})["data"]
    said = {"code": "beyond", "one": "885,056 × 131,072 B = 108.04 GiB", "line": 3}
    of_fp8, beyond = answer["conflicts"]  # twice the tokens take a byte a number
    assert [of_fp8[name] for name in ("code", "one", "other")] == ["format", "bfloat16", "fp8"]
    assert beyond == {**said, "other": "54.02 GiB", "other_line": 2, "quantity": ""}


def test_metadata_that_is_cut_short_is_filled_in_from_what_is_printed(engine: LocalEngine) -> None:
    file = "llama_model_loader: - kv   0:                       general.architecture str              = llama\n"
    part = "\n".join(line for line in PRINTED.splitlines() if "arch" not in line)
    service = Service(engine, Runs())
    answer = service.calculate({"what": "kv_log", "model": "Llama-3 70B", "log": file + part})["data"]
    assert (answer["model_from"], answer["unread"]) == ("metadata", "")
    assert [one["code"] for one in answer["differences"]] == ["rounding"]


def test_a_log_that_is_cut_to_its_layout_is_worked_out(engine: LocalEngine) -> None:
    log = "llama_kv_cache_unified: kv_size = 8192, type_k = 'f16', type_v = 'f16', n_layer = 32, can_shift = 1"
    answer = Service(engine, Runs()).calculate({"what": "kv_log", "model": "Llama-3 8B", "log": log})["data"]
    rows = {row["quantity"]: row for row in answer["rows"]}
    assert (rows["bytes"]["formula"]["value"], rows["bytes"]["logged"]) == (str(1024**3), None)
    assert ([one["code"] for one in answer["differences"]], answer["agrees"]) == (["no_bytes"], True)


def test_what_no_line_says_is_called_worked_out(chapter: Page) -> None:
    log = OF_8B_ON_VLLM.format(name="ours/foo") + "Maximum concurrency for 27,648 tokens per request: 16.00x\n"
    compared(chapter, log, "engine=vLLM")
    table = panel(chapter, "kv-log").locator(".kv-log-table")
    expect(table.locator("[data-quantity=request] td").nth(2)).to_contain_text(text("kv-log.worked_out"))
    expect(table.locator(".kv-log-worked-out")).to_have_count(1)


WEIGHED = """\
print_info: file type   = Q4_K - Medium
print_info: file size   = 4.58 GiB (4.89 BPW)
"""


def test_the_weights_of_a_log_are_counted_in_what_fits_with_the_model_that_they_are_of(chapter: Page) -> None:
    """4.58 GiB = 4,917,737,554 B: llama.cpp's file of a model that the log prints, vLLM's of one that it names."""
    page, log = chapter, panel(chapter, "kv-log")
    told = {"size": "4.58 GiB", "model": "Meta Llama 3.1 8B Instruct"}
    compared(page, WEIGHED + PRINTED, "engine=llama.cpp")
    log.get_by_role("button", name=text("kv-log.weigh", **told)).click()
    expect(log.locator(".kv-log-weighed")).to_have_text(text("kv-log.weighed", **told))
    calculated(page, "text:kv.pasted tokens=8192 ")
    fit = panel(page, "kv-fit")
    expect(fit.locator(".kv-measured")).to_contain_text("4,917,737,554 B")
    expect(fit.locator(".kv-files-sum")).to_have_text(
        text("kv-fit.files_compared", engine="llama.cpp", size="4.58 GiB", bytes="4.58\u00a0GiB = 4.918\u00a0GB")
    )
    log.get_by_role("button", name=text("kv-log.weigh", **told)).click()  # again: what was said stays
    expect(fit.locator(".kv-files-sum")).to_have_count(1)
    field(page, "kv-calculator", "model").select_option("Llama-3 70B")  # of which they are not
    calculated(page, "Llama-3 70B ")
    expect(fit.locator(".kv-measured")).to_have_count(0)
    expect(log.locator(".kv-log-weighed")).to_have_text("")
    name = "meta-llama/Llama-3.1-8B-Instruct"
    loaded = "Model loading took 14.99 GiB memory and 5.1 seconds\n"
    compared(page, loaded + OF_8B_ON_VLLM.format(name=name), "engine=vLLM")
    log.get_by_role("button", name=text("kv-log.weigh", size="14.99 GiB", model="Llama-3.1 8B")).click()
    calculated(page, "Llama-3.1 8B tokens=8192 ")
    expect(fit.locator(".kv-measured")).to_contain_text(f"{round(14.99 * 2**30):,} B")
    field(page, "kv-calculator", "model").select_option("Llama-3 8B")
    calculated(page, "Llama-3 8B ")


def test_the_weights_of_one_gpu_of_several_are_not_taken_for_the_models(chapter: Page) -> None:
    loaded = "Model loading took 7.51 GiB memory and 5.1 seconds\n"
    shared = OF_8B_ON_VLLM.format(name="meta-llama/Meta-Llama-3-8B").replace("parallel_size=1", "parallel_size=2")
    compared(chapter, loaded + shared, "engine=vLLM")
    log = panel(chapter, "kv-log")
    expect(log).to_contain_text(text("kv-log.weigh_part", ranks=2))
    expect(log.get_by_role("button", name="7.51 GiB")).to_have_count(0)


def test_what_describes_a_logs_model_to_the_calculator_has_the_same_cache(engine: LocalEngine) -> None:
    service = Service(engine, Runs())
    for log in (OF_8B, PRINTED):
        config = service.calculate({"what": "kv_log", "model": "Llama-3 70B", "log": log})["data"]["config"]
        answer = service.calculate({"what": "kv", "model": ":config", "config": config, "tokens": 8192})["data"]
        assert answer["bytes"] == str(1024**3)
    named = service.calculate({"what": "kv_log", "model": "Llama-3 70B", "log": OF_70B})["data"]
    assert named["config"] == ""
