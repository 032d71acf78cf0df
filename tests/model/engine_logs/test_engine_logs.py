"""Logs as users of the engines posted them, beside sums that were worked out by hand; `from` of each names where."""

import ast
import json
from dataclasses import replace
from decimal import Decimal
from fractions import Fraction
from pathlib import Path

import pytest

from model import GlassLlamaError, ModelSpec, catalogue, spec_from_config
from model.engine_logs import MAX_CHARACTERS, MAX_LINES, compared, read_log
from model.engine_logs.compared import SOURCES, Comparison, compare, states_format
from model.engine_logs.compared.chosen import judged
from model.engine_logs.compared.layers import layers_of, rate_how
from model.engine_logs.compared.own_model import listed
from model.engine_logs.compared.vllm import aligned_block
from model.engine_logs.lines import Cut, LogLines
from model.engine_logs.model_info import metadata_of, printed_info
from model.kv_math.formats import FORMATS

MIB, GIB = 1 << 20, 1 << 30
HYBRIDS = Path(__file__).parents[1] / "published" / "hybrid_configs.json"
LLAMA_8B = catalogue()["Llama-3 8B"]  # and 3.1: 32 layers, 8 K/V heads of 128
PER_TOKEN = 32 * 8 * 2 * 128


def gemma3_1b() -> ModelSpec:
    sizes = {"num_hidden_layers": 26, "hidden_size": 1152, "intermediate_size": 6912, "vocab_size": 262_144}
    heads = {"num_attention_heads": 4, "num_key_value_heads": 1, "head_dim": 256, "max_position_embeddings": 32_768}
    window = {"sliding_window": 512, "sliding_window_pattern": 6}
    return spec_from_config({"model_type": "gemma3_text", **sizes, **heads, **window}, "Gemma-3 1B")


def qwen3(layers: int, heads: int, kv_heads: int, hidden: int = 1024) -> ModelSpec:
    sizes = {"num_hidden_layers": layers, "hidden_size": hidden, "intermediate_size": 3072, "vocab_size": 151_936}
    shape = {"num_attention_heads": heads, "num_key_value_heads": kv_heads, "head_dim": 128}
    return spec_from_config({"model_type": "qwen3", **sizes, **shape, "max_position_embeddings": 40_960}, "Qwen3")


def qwen_27b() -> ModelSpec:
    kept = json.loads(HYBRIDS.read_text(encoding="utf-8"))
    return spec_from_config(kept["Qwen3.5 27B"]["config"], "Qwen3.5 27B")


def figures(found: Comparison, quantity: str) -> tuple[Fraction | None, ...]:
    """A row's three values; None where there is none."""
    row = next(row for row in found.rows if row.quantity == quantity)
    return tuple(cell and Fraction(cell.value) for cell in (row.formula, row.reserved, row.logged))


def reserved(found: Comparison, quantity: str) -> Fraction:
    """What the engine reserves."""
    value = figures(found, quantity)[1]
    assert value is not None
    return value


def needed(found: Comparison, quantity: str) -> Fraction:
    """By the formula."""
    value = figures(found, quantity)[0]
    assert value is not None
    return value


def steps(found: Comparison, of: str = "pool") -> dict[str, int | None]:
    return {one.code: one.bytes for one in found.differences if one.of == of}


# --- llama.cpp ---

OLD_LLAMA_CPP = """\
llama_new_context_with_model: n_seq_max     = 4
llama_new_context_with_model: n_ctx         = 8192
llama_new_context_with_model: n_ctx_per_seq = 2048
llama_kv_cache_init:      CUDA0 KV buffer size =  1024.00 MiB
llama_new_context_with_model: KV self size  = 1024.00 MiB, K (f16):  512.00 MiB, V (f16):  512.00 MiB
llama_new_context_with_model:  CUDA_Host  output buffer size =     2.02 MiB
"""
UNIFIED = """\
gbstudio-ollama-1 | llama_kv_cache_unified: kv_size = 8192, type_k = 'f16', type_v = 'f16', n_layer = 32, can_shift = 1
gbstudio-ollama-1 | llama_kv_cache_unified: KV self size  = 1024.00 MiB, K (f16):  512.00 MiB, V (f16):  512.00 MiB
"""
QWEN3_4B = (
    "0.00.171.902 I llama_kv_cache: size =  576.00 MiB (  4096 cells,  36 layers,  4/1 seqs), "
    "K (f16):  288.00 MiB, V (f16):  288.00 MiB"
)
LLAMA_2_Q8 = (
    "llama_kv_cache: size = 1360.00 MiB (   512 cells,  32 layers, 10/10 seqs), "
    "K (q8_0): 680.00 MiB, V (q8_0): 680.00 MiB"
)


@pytest.mark.parametrize("log", [OLD_LLAMA_CPP, UNIFIED])
def test_llama_cpp_before_it_counted_cells(log: str) -> None:
    found = compare(read_log(log), LLAMA_8B, "bf16")
    assert (found.log.engine, found.dtype) == ("llama.cpp", "fp16")
    assert figures(found, "bytes") == (8192 * PER_TOKEN * 2, GIB, GIB)
    assert steps(found) == {"rounding": 0}


def test_llama_cpp_with_cells_layers_and_sequences() -> None:
    found = compare(read_log(QWEN3_4B), qwen3(36, 32, 8, 2560), "bf16")
    assert figures(found, "bytes") == (4096 * 36 * 8 * 2 * 128 * 2,) * 2 + (576 * MIB,)
    assert figures(found, "tokens")[2] == 4096


def test_llama_cpp_counts_the_cells_of_each_sequence() -> None:
    """34 bytes hold 32 numbers of q8_0; ten sequences have 512 cells each."""
    found = compare(read_log(LLAMA_2_Q8), catalogue()["Llama-2 7B"], "bf16")
    assert found.dtype == "q8_0"
    assert figures(found, "bytes") == (5120 * 32 * 2 * 4096 * 34 // 32,) * 2 + (1360 * MIB,)
    assert figures(found, "tokens")[2] == 5120


CUT = """\
llama_kv_cache_unified:        CPU KV buffer size =  1088.00 MiB
llama_context: KV self size  = 1088.00 MiB, K (q8_0):  544.00 MiB, V (q8_0):  544.00 MiB
"""


def test_llama_cpp_without_a_context_is_worked_back_to_tokens() -> None:
    """16,384 × 32 × 8 × 2 × 136 bytes are 1,088 MiB; of 80 layers no whole number of tokens would be."""
    found = compare(read_log(CUT), LLAMA_8B, "bf16")
    assert found.log.tokens is None
    assert figures(found, "tokens") == (16_384, None, None)
    assert figures(found, "bytes") == (None, None, 1088 * MIB)
    assert steps(found) == {"no_tokens": None}
    other = compare(read_log(CUT), catalogue()["Llama-3 70B"], "bf16")
    assert steps(other).keys() == {"no_tokens", "odd_tokens"}
    assert figures(other, "tokens")[0] == Fraction("6553.6")


# llama.cpp of early 2025, as its repository's tests log it
INIT = "init: kv_size = 8192, offload = 1, type_k = 'q8_0', type_v = 'f16', n_layer = 32, can_shift = 1\n"
BUFFERS = """\
llama_context: n_ctx         = 8192
llama_kv_cache_unified:      CUDA0 KV buffer size =   392.00 MiB
llama_kv_cache_unified:      CUDA1 KV buffer size =     0.00 MiB
llama_kv_cache_unified:        CPU KV buffer size =   392.00 MiB
"""


def test_llama_cpp_of_which_only_the_buffers_are_left() -> None:
    """The buffers are the cache; what lays it out says its formats and its cells."""
    alone = read_log(BUFFERS)
    assert (alone.tokens, alone.stated, alone.logged and alone.logged.bytes) == (8192, None, 784 * MIB)
    found = compare(read_log(INIT + BUFFERS), LLAMA_8B, "bf16")
    assert (found.dtype, found.dtype_v) == ("q8_0", "fp16")
    assert figures(found, "bytes") == (8192 * 32 * 8 * (136 + 256), 784 * MIB, 784 * MIB)
    assert steps(found) == {"rounding": 0}


@pytest.mark.parametrize("end", ["14", "148.", "148.0", "148.00 ", "148.00 M", "148.00 Mi"])
def test_a_log_that_ends_within_a_number_is_read_up_to_it(end: str) -> None:
    """llama.cpp's second buffer is cut: the first is read, and where the log ends is said."""
    first = "llama_kv_cache_unified: CUDA0 KV buffer size = 392.00 MiB\n"
    last = f"llama_kv_cache_unified: CUDA1 KV buffer size = {end}"
    log = read_log(first + last)
    assert log.logged is not None
    assert log.logged.bytes == 392 * MIB
    assert log.cut == Cut(2, last[-50:])
    with pytest.raises(GlassLlamaError, match="ends within a number, in line 1") as error:
        read_log(last)
    assert (error.value.params["reason"], error.value.params["line"]) == ("cut", 1)


@pytest.mark.parametrize(
    "size", ["KV self size  = 1024.00 MiB", "llama_kv_cache: size = 1024.00 MiB (8192 cells, 32 layers)"]
)
def test_a_log_cut_in_the_bytes_of_v_still_states_its_format(size: str) -> None:
    log = read_log(f"{size}, K (f16):  512.00 MiB, V (f16):  5")
    assert log.cut
    assert (log.dtype, log.stated) == ("fp16", ("f16", "f16"))
    assert log.logged is not None
    assert log.logged.bytes == 1024 * MIB


def test_a_whole_number_at_the_end_of_a_log_counts_where_a_line_break_ends_it() -> None:
    layers = "KV self size = 1024.00 MiB\nllama_context: n_ctx = 8192"
    cut, whole = read_log(layers), read_log(layers + "\n")
    assert (cut.tokens, cut.cut and cut.cut.line) == (None, 2)
    assert (whole.tokens, whole.cut) == (8192, None)
    assert read_log(layers.partition("\n")[0]).cut is None


def test_llama_cpp_does_not_divide_what_several_caches_hold() -> None:
    found = compare(read_log(BUFFERS), catalogue()["Gemma-3 12B (text)"], "bf16")
    assert steps(found) == {"several_caches": None}
    assert figures(found, "bytes") == (None, None, 784 * MIB)


def test_engines_that_do_not_say_the_context() -> None:
    log = 'msg="kv cache" device=CPU size="512.0 MiB"'
    found = compare(read_log(log), LLAMA_8B, "fp16")
    assert figures(found, "tokens") == (4096, None, None)
    assert steps(found) == {"no_tokens": None}


def contradictions(log: str) -> list[tuple[str, int, str, int]]:
    return [(one.one, one.line, one.other, one.other_line) for one in read_log(log).conflicts]


def test_llama_cpp_lines_that_cannot_both_be_right_are_named() -> None:
    assert contradictions(OLD_LLAMA_CPP) == contradictions(CUT) == contradictions(INIT + BUFFERS) == []
    buffers = ("KV buffer size = 2048.00 MiB", 1, "size = 1088.00 MiB", 2)
    assert contradictions(CUT.replace("CPU KV buffer size =  1088", "CPU KV buffer size =  2048")) == [buffers]
    parts = ("K + V = 544.00 MiB + 1024.00 MiB", 2, "1088.00 MiB", 2)
    assert contradictions(CUT.replace("V (q8_0):  544", "V (q8_0): 1024")) == [parts]
    context = f"llama_context: n_ctx = 2048\n{LLAMA_2_Q8}"
    assert contradictions(context) == [("n_ctx = 2,048", 1, "10 × 512 cells", 2)]
    assert contradictions(context.replace("2048", "5000")) == []  # filled up to 5,120


def test_llama_cpp_prints_another_model_than_its_file_states() -> None:
    file = """\
llama_model_loader: - kv   2:                          llama.block_count u32              = 32
llama_model_loader: - kv   3:              llama.attention.head_count_kv u32              = 8
print_info: n_layer          = 40
print_info: n_head_kv        = 8
"""
    assert contradictions(file + CUT) == [("n_layer = 40", 3, "llama.block_count = 32", 1)]
    assert contradictions(file.replace("= 40", "= 32") + CUT) == []
    drafting = file + "llama_model_loader: - kv 4: llama.nextn_predict_layers u32 = 1\n" + CUT
    assert contradictions(drafting.replace("= 40", "= 31")) == []


MIXED = (
    "llama_kv_cache: size = 1568.00 MiB ( 16384 cells,  32 layers,  1/1 seqs), "
    "K (q8_0): 544.00 MiB, V (f16): 1024.00 MiB"
)


def test_of_lines_that_break_off_before_the_kv_heads_no_model_is_made() -> None:
    whole = "\n".join(
        f"print_info: {name} = {value}"
        for name, value in (("arch", "llama"), ("n_layer", 32), ("n_head", 32), ("n_head_kv", 8))
    )
    assert metadata_of(printed_info(LogLines(whole)))["llama.attention.head_count_kv"] == 8
    assert metadata_of(printed_info(LogLines(whole.rpartition("\n")[0]))) == {}


def test_llama_cpp_stores_k_and_v_in_formats_of_their_own() -> None:
    """A head of 128 takes 136 bytes in q8_0 and 256 in f16."""
    log = read_log(MIXED)
    found = compare(log, LLAMA_8B, "bf16")
    assert (log.dtype, log.stated, found.dtype, found.dtype_v) == (None, ("q8_0", "f16"), "q8_0", "fp16")
    assert states_format(log)
    assert figures(found, "token")[0] == 32 * 8 * (136 + 256)
    assert steps(found) == {"rounding": 0}
    assert found.fitting == ()


def test_the_calculators_two_formats_stand_in_for_what_a_log_does_not_say() -> None:
    found = compare(read_log(BUFFERS), LLAMA_8B, "q8_0/fp16")
    assert (found.dtype, found.dtype_v) == ("q8_0", "fp16")
    assert figures(found, "token")[0] == 32 * 8 * (136 + 256)
    assert steps(found) == {"rounding": 0}


def test_a_format_that_is_stated_and_not_known_is_no_silence() -> None:
    odd = read_log(MIXED.replace("q8_0", "turbo3"))
    assert (odd.stated, states_format(odd)) == (("turbo3", "f16"), False)
    of_vllm = read_log(V1_WINDOWS.replace("kv_cache_dtype=auto", "kv_cache_dtype=fp8_inc"))
    assert (of_vllm.stated, states_format(of_vllm)) == (("fp8_inc", "fp8_inc"), False)


SWA = """\
llama_context: n_seq_max = 1
llama_kv_cache_iswa: creating non-SWA KV cache, size = 16384 cells
llama_kv_cache: size = 1024.00 MiB ( 16384 cells,   8 layers,  1/1 seqs), K (f16): 512.00 MiB, V (f16): 512.00 MiB
llama_kv_cache_iswa: creating     SWA KV cache, size = 1536 cells
llama_kv_cache: size =  480.00 MiB ( 1536 cells,  40 layers,  1/1 seqs), K (f16): 240.00 MiB, V (f16): 240.00 MiB
"""


def test_llama_cpp_gives_windows_a_micro_batch_more() -> None:
    """Gemma-3 12B: 8 layers of 48 see everything; 1,024 + 512 = 1,536 cells are 6 × 256 already."""
    found = compare(read_log(SWA), catalogue()["Gemma-3 12B (text)"], "bf16")
    each = 8 * 2 * 256 * 2
    least, room = 8 * 16_384 * each + 40 * 1024 * each, 40 * 512 * each
    assert figures(found, "bytes") == (least, least + room, 1504 * MIB)
    assert steps(found) == {"window_room": room, "rounding": 1504 * MIB - least - room}


def test_llama_cpp_without_windows_and_with_other_layers() -> None:
    full = SWA.splitlines()[2].replace("   8 layers", "  48 layers").replace("1024.00", "6144.00")
    found = compare(read_log(full), catalogue()["Gemma-3 12B (text)"], "bf16")
    assert steps(found) == {"window_ignored": 40 * (16_384 - 1024) * 8 * 2 * 256 * 2, "rounding": 0}
    other = compare(read_log(full), LLAMA_8B, "bf16")
    assert steps(other).keys() == {"other_layers", "unexplained"}


def test_a_log_of_windows_beside_a_model_without_any_offers_the_one_that_fits() -> None:
    """Gemma-3 27B: 10 layers of 62 see everything, 52 have a window of 1,024; 16 K/V heads of 128."""
    each = 16 * 2 * 128 * 2
    full, window = (layers * cells * each / MIB / 2 for layers, cells in ((10, 16_384), (52, 1536)))
    lines = SWA.replace("   8 layers", "  10 layers").replace("  40 layers", "  52 layers")
    for old, new in (("1024.00", full * 2), ("512.00", full), ("480.00", window * 2), ("240.00", window)):
        lines = lines.replace(f"{old} MiB", f"{new:.2f} MiB")
    found = compare(read_log(lines), catalogue()["Llama-3 70B"], "bf16")
    told = {one.code: one.params for one in found.differences}
    assert told["other_full_layers"] == {"logged": 10, "model": 80}
    assert told["other_window_layers"] == {"logged": 52, "model": 0}
    chosen = judged(found, stated=True)
    assert (chosen.agrees, chosen.another, chosen.by) == (False, "Gemma-3 27B (text)", "layers")
    assert chosen.params == {"full": 10, "window": 52}
    assert judged(compare(read_log(lines), catalogue()["Gemma-3 27B (text)"], "bf16"), stated=True).agrees


def test_a_rate_of_one_latent_has_no_brackets_within_brackets() -> None:
    latents = layers_of(catalogue()["DeepSeek-V3"], FORMATS["bf16"], FORMATS["bf16"])
    assert rate_how(latents) == "61 × (512 × 2 + 64 × 2)"


# lmstudio-ai/lmstudio-bug-tracker #1862
LM_STUDIO = """\
llama_kv_cache: size = 16384.00 MiB (262144 cells, 16 layers, 4/1 seqs)
llama_memory_recurrent: size = 598.50 MiB (4 cells, 64 layers, 4 seqs)
"""


def test_llama_cpp_keeps_states_in_fp32() -> None:
    """48 DeltaNet layers: 48 heads × 128 × 128 and 3 past inputs of 10,240 channels, four bytes each."""
    found = compare(read_log(LM_STUDIO), qwen_27b(), "bf16")
    state = 48 * (48 * 128 * 128 + 3 * 10_240) * 4
    own = 48 * (48 * 128 * 128 * 4 + 3 * 10_240 * 2)
    assert figures(found, "state") == (4 * own, 4 * state, 627_572_736)
    assert 4 * state == 627_572_736 == int(598.5 * MIB)
    assert figures(found, "bytes")[1] == 262_144 * 16 * 4 * 2 * 256 * 2 + 4 * state
    assert steps(found) == {"state_fp32": 4 * (state - own), "rounding": 0}
    assert found.fitting[0] == "bf16"


def test_llama_cpp_keeps_snapshots_of_states_for_drafts() -> None:
    """One sequence with two states to go back to: three times a state, each in fp32."""
    state = 48 * (48 * 128 * 128 + 3 * 10_240) * 4
    log = (
        "0.27.1 I llama_kv_cache: size = 512.00 MiB (  8192 cells, 16 layers, 1/1 seqs), K (f16): 256.00 MiB, "
        "V (f16): 256.00 MiB\n0.27.2 I llama_memory_recurrent: size = 448.88 MiB (     1 cells,  64 layers,  1 seqs  "
        "2 rs_seq), R (f32):   16.88 MiB, S (f32):  432.00 MiB\n"
    )
    found = compare(read_log(log), qwen_27b(), "bf16")
    assert figures(found, "state")[1] == 3 * state
    assert steps(found)["state_snapshots"] == 2 * state
    assert "unexplained" not in steps(found)


def test_metadata_in_the_log_is_left_to_the_reader_of_metadata() -> None:
    log = f"llama_model_loader: - kv 1: general.name str              = Meta Llama 3.1 8B\n{OLD_LLAMA_CPP}"
    assert read_log(log).model == "Meta Llama 3.1 8B"


# --- vLLM ---

# vllm-project/vllm #10517, 24 GB, Llama-3.1 8B
V0 = """\
Loading model weights took 14.9888 GB
Memory profiling results: total_gpu_memory=23.58GiB initial_memory_usage=15.34GiB peak_torch_memory=17.06GiB \
memory_usage_post_profile=15.35GiB non_torch_memory=0.35GiB kv_cache_size=3.81GiB gpu_memory_utilization=0.90
GPU blocks: 1952, # CPU blocks: 2048
Maximum concurrency for 20000 tokens per request: 1.56x
"""
# An 8 GB card, Llama-3.2 3B
V0_DEVICE = """\
INFO 03-29 15:53:07 [worker.py:267] the current vLLM instance can use total_gpu_memory (7.65GiB) x \
gpu_memory_utilization (0.90) = 6.89GiB
INFO 03-29 15:53:07 [worker.py:267] model weights take 3.26GiB; non_torch_memory takes 0.02GiB; PyTorch activation \
peak memory takes 1.22GiB; the rest of the memory reserved for KV Cache is 2.38GiB.
INFO 03-29 15:53:07 [executor_base.py:111] # cuda blocks: 1395, # CPU blocks: 2340
INFO 03-29 15:53:07 [executor_base.py:116] Maximum concurrency for 10000 tokens per request: 2.23x
"""


def test_vllm_v0_prints_blocks() -> None:
    found = compare(read_log(V0), LLAMA_8B, "bf16")
    assert figures(found, "tokens")[1] == 1952 * 16 == 31_232
    assert figures(found, "bytes")[:2] == (31_232 * PER_TOKEN * 2,) * 2
    assert figures(found, "concurrency")[1:] == (Fraction(31_232, 20_000), Fraction("1.56"))
    assert steps(found).keys() == {"block_assumed", "rounding"}


def test_vllm_v0_names_the_device_and_the_parts_of_its_memory() -> None:
    log = read_log(V0_DEVICE)
    assert {(fact.code, fact.value, fact.line) for fact in log.facts} >= {
        ("weights_memory", "3.26GiB", 2),
        ("beside_torch", "0.02GiB", 2),
        ("activation_peak", "1.22GiB", 2),
        ("blocks", "1395", 3),
    }
    found = compare(log, catalogue()["Llama-3.2 3B"], "fp16")
    assert figures(found, "bytes")[1] == 1395 * 16 * 28 * 8 * 2 * 128 * 2
    assert steps(found).keys() == {"block_assumed", "rounding"}


# A Gemma-3 1B on vLLM 0.13: 4 layers that see everything, 22 with a window of 512
V1_WINDOWS = """\
INFO 01-16 14:20:09 [scheduler.py:230] Chunked prefill is enabled with max_num_batched_tokens=8192.
(EngineCore_DP0 pid=590168) INFO 01-16 14:20:13 [core.py:93] Initializing a V1 LLM engine (v0.13.0) with config: \
model='google/gemma-3-1b-it', speculative_config=None, dtype=torch.bfloat16, max_seq_len=2048, \
tensor_parallel_size=1, pipeline_parallel_size=1, data_parallel_size=1, kv_cache_dtype=auto, device_config=cuda
(EngineCore_DP0 pid=590168) INFO 01-16 14:20:25 [gpu_worker.py:375] Available KV cache memory: 25.39 GiB
(EngineCore_DP0 pid=590168) WARNING 01-16 14:20:25 [kv_cache_utils.py:1033] Add 2 padding layers, may waste at most \
9.09% KV cache memory
(EngineCore_DP0 pid=590168) INFO 01-16 14:20:25 [kv_cache_utils.py:1291] GPU KV cache size: 950,864 tokens
(EngineCore_DP0 pid=590168) INFO 01-16 14:20:25 [kv_cache_utils.py:1296] Maximum concurrency for 2,048 tokens per \
request: 461.21x
"""


def test_vllm_deals_window_layers_out_in_groups() -> None:
    """Groups of 4 layers: one that sees everything, six with windows, the last of them short of two layers."""
    found = compare(read_log(V1_WINDOWS), gemma3_1b(), "bf16")
    assert (found.log.model, found.dtype, found.log.batched) == ("google/gemma-3-1b-it", "bf16", 8192)
    block = 4 * 16 * 2 * 256 * 2  # bytes in all layers of a group
    blocks = reserved(found, "blocks")
    assert abs(blocks * block - 25.39 * GIB) < 0.005 * GIB
    assert figures(found, "tokens") == (None, 950_864, 950_864)
    request = 128 + 6 * (128 + 1)  # the window, 8,192 tokens of a step, at most 2,048: all of it and a block more
    assert reserved(found, "concurrency") == blocks / request
    assert float(blocks / request) == pytest.approx(461.21, abs=0.02)
    least = 2048 * 4 * 1024 + 512 * 22 * 1024
    assert figures(found, "request")[:2] == (least, request * block)
    assert "null_block_window" in steps(found)
    named = steps(found, "request")
    assert named == {"window_blocks": 22 * 1024 * (129 * 16 - 512), "padding_layers": 2 * 129 * 16 * 1024}
    assert least + sum(filter(None, named.values())) == request * block


def test_vllm_windows_are_not_judged_without_the_tokens_of_a_step() -> None:
    """The step's length depends on version, GPU and how vLLM was started: no line says it, so it is not assumed."""
    silent = V1_WINDOWS.partition("\n")[2].replace("461.21x", "700.00x")
    found = compare(read_log(silent), gemma3_1b(), "bf16")
    assert found.log.batched is None
    assert (figures(found, "request")[1], figures(found, "concurrency")[1:]) == (None, (None, 700))
    assert not any(row.differs for row in found.rows)
    told = next(one for one in found.differences if one.of == "request")
    blocks = reserved(found, "blocks")
    times = [f"{float(blocks / request):.2f}" for request in (128 + 6 * (32 + 1), 128 + 6 * (128 + 1))]
    assert (told.code, told.bytes, [told.params["most"], told.params["least"]]) == ("window_unknown", None, times)
    assert (told.params["layers"], told.params["window"], told.params["length"]) == (22, 512, 2048)
    short = compare(read_log(silent.replace("for 2,048 tokens", "for 500 tokens")), gemma3_1b(), "bf16")
    assert figures(short, "request")[1]  # a request that is no longer than the window holds all of it in any case


def test_vllm_lines_of_windows_alone_contradict_each_other_only_by_a_known_step() -> None:
    spec = catalogue()["Mistral-7B v0.1"]
    log = ONE_GPU.replace("13.71x", "27.42x")
    assert compare(read_log(log), spec, "bf16").conflicts == ()
    assert compare(read_log(f"max_num_batched_tokens=2048\n{log}"), spec, "bf16").conflicts


# vllm-project/vllm #21348, four H100, Qwen3-235B-A22B in FP8: 94 layers, one K/V head of 128 on each
OF_TWO_RANKS = """\
INFO model='/path/to/Qwen3-235B-A22B-FP8', dtype=torch.bfloat16, tensor_parallel_size=4, kv_cache_dtype=auto
Available KV cache memory: 8.11 GiB
GPU KV cache size: 178,880 tokens
"""


def test_vllm_gives_all_ranks_what_the_least_has_room_for() -> None:
    found = compare(read_log(OF_TWO_RANKS), qwen3(94, 64, 4, 4096), "bf16")
    each = 94 * 1 * 2 * 128 * 2
    assert (found.tp, figures(found, "token")[0]) == (4, each)
    assert figures(found, "bytes")[:2] == (178_880 * each,) * 2
    assert steps(found)["least_rank"] == round(8.11 * GIB) - 178_880 * each


def of_stages(tp: int, pp: int, cache: str, rooms: tuple[str, ...], tokens: int, times: str) -> str:
    """vLLM's lines of Llama-3.1 8B, with the memory of as many ranks as are given."""
    config = f"tensor_parallel_size={tp}, pipeline_parallel_size={pp}, kv_cache_dtype={cache}"
    return "\n".join(
        (
            f"LLM engine (v0.10.1) with config: model='/m', dtype=torch.bfloat16, {config}",
            *(f"Available KV cache memory: {room} GiB" for room in rooms),
            f"GPU KV cache size: {tokens:,} tokens",
            f"Maximum concurrency for 32,768 tokens per request: {times}x",
        )
    )


@pytest.mark.parametrize(
    ("log", "each", "held"),
    [
        # 60 GiB / (16 layers × 8 heads × 2 × 128 × 2 B) = 983,040 tokens, 30 × 32,768
        (of_stages(1, 2, "auto", ("60.00",), 983_040, "30.00"), 65_536, 16),
        # 11, 11 and 10 layers of 4 heads a rank; 40 GiB // (16 × 11,264 B) = 238,312 blocks, / 2,048 = 116.36
        (of_stages(2, 3, "fp8", ("40.00",) * 4 + ("41.00",) * 2, 3_812_992, "116.36"), 11_264, 11),
        # 38 GiB // (16 × 45,056 B) = 56,600 blocks of 11 layers; the 36 GiB of the last stage hold more, of 10 layers
        (of_stages(1, 3, "auto", ("38.00", "39.50", "36.00"), 905_600, "27.64"), 45_056, 11),
        # here they hold fewer: 30 GiB // (16 × 40,960 B) = 49,152 blocks
        (of_stages(1, 3, "auto", ("40.00", "39.50", "30.00"), 786_432, "24.00"), 40_960, 10),
    ],
)
def test_vllm_shares_the_layers_out_over_pipeline_stages(log: str, each: int, held: int) -> None:
    found = compare(read_log(log), LLAMA_8B, "bf16")
    assert needed(found, "token") == each
    assert not found.conflicts
    assert not any(row.differs for row in found.rows)
    assert "unexplained" not in steps(found)
    assert steps(found).keys() & {"rounding", "whole_blocks"}
    stage = next(one for one in found.differences if one.code == "stage")
    assert (stage.params["held"], stage.params["layers"], stage.params["stages"]) == (held, 32, found.pp)


def test_vllm_stages_that_are_set_by_hand_are_read() -> None:
    """Llama-3.1 8B as 20 + 12 layers: the first stage has 20 × 8 × 2 × 128 × 2 B a token."""
    each, tokens = 20 * 8 * 2 * 128 * 2, 131_072
    log = of_stages(1, 2, "auto", (f"{tokens * each / GIB:.2f}",) * 2, tokens, "4.00")
    for line in ("VLLM_PP_LAYER_PARTITION=20,12", 'export VLLM_PP_LAYER_PARTITION="20,12"'):
        found = compare(read_log(f"{line}\n{log}"), LLAMA_8B, "bf16")
        assert found.log.partition == (20, 12)
        assert (figures(found, "token")[0], steps(found)["rounding"]) == (each, 0)
    for odd in ("20,13", "10,10,12", "32"):  # of other layers or stages
        found = compare(read_log(f"VLLM_PP_LAYER_PARTITION={odd}\n{log}"), LLAMA_8B, "bf16")
        assert figures(found, "token")[0] == 16 * 8 * 2 * 128 * 2


def test_vllm_deals_the_groups_of_windows_out_to_each_stage() -> None:
    """Gemma-3 1B has 4 full layers, one group, and 22 with windows, 6 groups; a stage 2 and 11, so 2 of a group."""
    log = of_stages(1, 2, "auto", ("10.00",), 0, "1.00").replace("GPU KV cache size: 0 tokens\n", "")
    found = compare(read_log(log), gemma3_1b(), "bf16")
    layer = 2 * 256 * 2
    assert needed(found, "token") == 13 * layer
    assert reserved(found, "blocks") == 10 * GIB // (16 * 2 * layer)


SGLANG_STAGES = """\
[PP0] KV Cache is allocated. #tokens: 100000, K size: 1.91 GB, V size: 1.91 GB
[PP1] KV Cache is allocated. #tokens: 100000, K size: 2.10 GB, V size: 2.10 GB
[PP2] KV Cache is allocated. #tokens: 100000, K size: 2.10 GB, V size: 2.10 GB
"""


@pytest.mark.parametrize(("first", "held"), [("", 10), ("[PP0]", 11)])
def test_sglang_gives_the_last_stages_what_is_left_over(first: str, held: int) -> None:
    """32 layers in 3: 10, 11, 11. A stage's line is no draft model's."""
    lines = [line for line in SGLANG_STAGES.splitlines() if not first or not line.startswith(first)]
    log = read_log("server_args=ServerArgs(model_path='/m', tp_size=1, pp_size=3)\n" + "\n".join(lines))
    assert (log.pp, log.drafts) == (3, None)
    found = compare(log, LLAMA_8B, "bf16")
    assert needed(found, "token") == held * 4096
    assert reserved(found, "bytes") == 100_001 * held * 4096
    assert steps(found).keys() >= {"stage", "rounding"}
    unlabelled = compare(read_log(SGLANG_STAGES.replace("[PP0] ", "pp_size=3 ").partition("\n")[0]), LLAMA_8B, "bf16")
    assert needed(unlabelled, "token") == 10 * 4096


def test_more_stages_than_layers_are_refused() -> None:
    with pytest.raises(GlassLlamaError, match="33 pipeline stages; Llama-3 8B has 32 layers"):
        compare(read_log(of_stages(1, 33, "auto", ("60.00",), 983_040, "30.00")), LLAMA_8B, "bf16")


# 54.83 GiB are the cache of 449,152 tokens of Llama-3.1 8B on one GPU
ONE_GPU = """\
Available KV cache memory: 54.83 GiB
GPU KV cache size: 449,152 tokens
Maximum concurrency for 32,768 tokens per request: 13.71x
"""


def test_vllm_tokens_and_requests_follow_from_each_other() -> None:
    right = compare(read_log(ONE_GPU), LLAMA_8B, "bf16")
    assert right.conflicts == ()
    wrong = compare(read_log(ONE_GPU.replace("13.71x", "27.42x")), LLAMA_8B, "bf16")
    told = [(one.one, one.line, one.other, one.other_line) for one in wrong.conflicts]
    assert told == [("27.42x × 32,768 tokens = 898,498 tokens", 3, "449,152 tokens", 2)]
    assert [row.quantity for row in wrong.rows if row.differs] == ["concurrency"]
    assert "concurrency" in steps(wrong, "request")
    assert not any(row.differs for row in right.rows)


@pytest.mark.parametrize(
    "log",
    [
        f"INFO model='/m', dtype=torch.bfloat16, tensor_parallel_size=1, pipeline_parallel_size=1\n{ONE_GPU}",
        "server_args=ServerArgs(model_path='/m', tp_size=1, pp_size=1)\n"
        "KV Cache is allocated. dtype: torch.bfloat16, #tokens: 442750, K size: 27.02 GB, V size: 27.02 GB",
        "KV self size  = 1024.00 MiB, K (f16):  512.00 MiB, V (f16):  512.00 MiB\nllama_context: n_ctx = 8192",
    ],
)
def test_a_stated_one_is_obeyed_and_llama_cpp_is_one_process(log: str) -> None:
    found = compare(read_log(log), LLAMA_8B, "bf16", tp=8)
    assert (found.tp, found.pp) == (1, 1)
    assert figures(found, "token")[0] == PER_TOKEN * 2
    assert "unexplained" not in steps(found)


def test_vllm_figures_of_one_gpu_are_guessed_not_declared() -> None:
    parallel = "INFO model='/m', dtype=torch.bfloat16, tensor_parallel_size=2, kv_cache_dtype=auto\n"
    found = compare(read_log(parallel + ONE_GPU), LLAMA_8B, "bf16")
    assert steps(found).keys() == {"null_block", "block_assumed", "one_gpu"}
    step = next(one for one in found.differences if one.code == "one_gpu")
    assert step.params == {"ranks": 2, "seen": 1, "needed": 449_152 * PER_TOKEN}


def test_vllm_ranks_that_all_say_what_they_have_leave_nothing_to_guess() -> None:
    rooms = "Available KV cache memory: 30.00 GiB\nAvailable KV cache memory: 27.42 GiB\n"
    log = read_log(OF_TWO_RANKS.replace("=4", "=2").replace("Available KV cache memory: 8.11 GiB\n", rooms))
    assert (log.seen, log.logged and log.logged.text) == (2, "27.42 GiB")
    assert [fact.value for fact in log.facts if fact.code == "available"] == ["30.00 GiB", "27.42 GiB"]
    full = compare(read_log(f"tensor_parallel_size=2\n{rooms}GPU KV cache size: 449,152 tokens"), LLAMA_8B, "bf16")
    assert steps(full).keys() == {"null_block", "block_assumed", "whole_blocks"}


def test_vllm_says_what_a_request_lacks() -> None:
    """Llama-3 8B takes 131,072 B a token: 1 GiB for 8,192, and 0.33 GiB hold 2,703, in whole blocks 2,688."""
    log = read_log(
        "ValueError: To serve at least one request with the models's max seq len (8192), (1.00 GiB KV cache is needed, "
        "which is larger than the available KV cache memory (0.33 GiB). Based on the available memory, the estimated "
        "maximum model length is 2688. Try increasing `gpu_memory_utilization`."
    )
    assert (log.length, log.needed and log.needed.text, log.longest) == (8192, "1.00 GiB", 2688)
    found = compare(log, LLAMA_8B, "bf16")
    assert figures(found, "request") == (GIB, GIB, GIB)
    assert figures(found, "longest") == (2703, 168 * 16, 2688)
    assert steps(found, "request").keys() == {"rounding"}
    assert not any(row.differs for row in found.rows)
    assert "unexplained" in steps(compare(log, LLAMA_8B, "fp8"), "request")


def odd_lines(found: Comparison, code: str) -> list[tuple[str, int, str, str]]:
    return [(one.one, one.line, one.other, one.quantity) for one in found.conflicts if one.code == code]


def test_vllm_lines_that_do_not_go_with_the_others_are_named_whatever_they_say() -> None:
    """Gemma-3 27B: 10 layers that see everything and 52 with a window make 7 groups of 10; a block of 16 tokens takes
    10 × 16 × 8,192 B in each, of which 16.50 GiB hold 13,516, 1,930 a group."""
    spec = catalogue()["Gemma-3 27B (text)"]
    assert int(16.5 * GIB) // (10 * 16 * 16 * 2 * 128 * 2) // 7 * 16 == 30_880
    log = "Available KV cache memory: 16.50 GiB\nGPU KV cache size: {} tokens\n"
    right = compare(read_log(log.format("30,880")), spec, "bf16")
    assert (right.conflicts, [row.quantity for row in right.rows if row.differs]) == ((), [])
    wrong = compare(read_log(log.format("34,880")), spec, "bf16")
    assert odd_lines(wrong, "row") == [("34,880", 2, "30,880", "tokens")]
    assert [row.quantity for row in wrong.rows if row.differs] == ["tokens"]
    timed = log + "Maximum concurrency for 131,072 tokens per request: 1.16x\nmax_num_batched_tokens=8192\n"
    assert odd_lines(compare(read_log(timed.format("34,880")), spec, "bf16"), "row")[0][:3] == ("34,880", 2, "30,880")
    # A request takes 8,192 blocks and 6 × 577. A newer version prints 13,516 / 11,654 requests at once × their length.
    newer = read_log(timed.format("152,043"))
    assert compare(newer, spec, "bf16").conflicts == ()


def test_vllms_tokens_are_judged_by_the_version_that_prints_them() -> None:
    """Of no version and no step, 34,880 may be requests at once × 32,768; vLLM 0.11 prints blocks ÷ groups, 30,880.
    34,880 is also what the memory holds where all 62 layers keep every token."""
    spec = catalogue()["Gemma-3 27B (text)"]
    assert int(16.5 * GIB) // (62 * 16 * 16 * 2 * 128 * 2) * 16 == 34_880
    log = "{}Available KV cache memory: 16.50 GiB\nGPU KV cache size: {} tokens\nmax_seq_len=32768\n"
    started = "Initializing a V1 LLM engine (v0.11.0) with config: …\n"
    for line in (started, "vLLM API server version 0.19.1\n"):
        wrong = compare(read_log(log.format(line, "34,880")), spec, "bf16")
        assert odd_lines(wrong, "row") == [("34,880", 3, "30,880", "tokens")]
        assert [row.quantity for row in wrong.rows if row.differs] == ["tokens"]
        assert {"tokens_divided", "tokens_whole"} <= steps(wrong).keys()
    right = compare(read_log(log.format(started, "30,880")), spec, "bf16")
    assert (right.conflicts, figures(right, "tokens")) == ((), (None, 30_880, 30_880))
    assert "tokens_whole" not in steps(compare(read_log(log.format(started, "33,000")), spec, "bf16"))
    for line in ("", "LLM engine (v0.25.0)\n", "vLLM API server version 0.19.2rc1.dev12+g1a2b3c4\n"):
        silent = compare(read_log(log.format(line, "34,880")), spec, "bf16")
        assert (silent.conflicts, figures(silent, "tokens")) == ((), (None, None, 34_880))
        assert "tokens_unchecked" in steps(silent)
    # with the tokens of a step: 2,048 blocks of the full layers, and of each of six groups 193 + 512 + 1
    blocks, taken = 13_516, 2048 + 6 * (-(-(1023 + 8192) // 16) + 1)
    tokens = blocks * 32_768 // taken
    newer = compare(read_log(log.format("max_num_batched_tokens=8192\n", f"{tokens:,}")), spec, "bf16")
    assert figures(newer, "tokens") == (None, tokens, tokens)
    assert "tokens_unchecked" not in steps(newer)


def test_vllms_longest_request_that_does_not_go_with_the_memory_is_named() -> None:
    log = read_log(
        "ValueError: To serve at least one request with the models's max seq len (131072), (16.00 GiB KV cache is "
        "needed, which is larger than the available KV cache memory (6.00 GiB). Based on the available memory, the "
        "estimated maximum model length is 56752. Try increasing `gpu_memory_utilization`."
    )
    found = compare(log, LLAMA_8B, "bf16")
    slots = 6 * GIB // (16 * PER_TOKEN * 2) * 16
    assert odd_lines(found, "row") == [("56,752", 1, f"{slots:,}", "longest")]


# Facts of sgl-project and vllm-project's code: fp8_ds_mla takes 512 + 16 + 128 B a token and layer, an indexer 128 + 4.
V32 = """\
INFO model='deepseek-ai/DeepSeek-V3.2-Exp', dtype=torch.bfloat16, tensor_parallel_size=8, kv_cache_dtype={}
{}Available KV cache memory: 40.00 GiB
GPU KV cache size: {:,} tokens
"""
CUSTOM = "INFO [config.py:485] Using custom fp8 kv-cache format for DeepSeekV3.2\n"
OF_BACKEND = (
    "(Worker_TP0_EP0 pid=1159) INFO [mla_attention.py:634] Using fp8_ds_mla KV cache format for B12X backend.\n"
)


@pytest.mark.parametrize(("dtype", "line"), [("fp8", ""), ("fp8", CUSTOM), ("auto", OF_BACKEND)])
def test_vllm_stores_latents_with_an_indexer_in_a_format_of_their_own(dtype: str, line: str) -> None:
    spec, each = catalogue()["DeepSeek-V3.2-Exp"], 61 * (512 + 4 * 4 + 64 * 2 + 128 + 4)
    assert (each, 40 * GIB // (64 * each) * 64) == (48_068, 893_504)
    found = compare(read_log(V32.format(dtype, line, 893_504)), spec, "bf16")
    assert (found.dtype, figures(found, "token")[0]) == ("fp8_ds_mla", each)
    assert figures(found, "bytes")[:2] == (42_948_950_272, 42_948_950_272)
    assert figures(found, "blocks")[1] == 893_504 // 64
    assert (found.conflicts, steps(found)["rounding"]) == ((), 40 * GIB - 42_948_950_272)
    assert ("stored_format" in steps(found)) == (not line)
    assert next(one for one in found.differences if one.code == "block_sparse").params == {"block": 64}
    assert ("stored_format" in {fact.code for fact in found.log.facts}) == bool(line)


def test_vllm_keeps_plain_fp8_of_them_where_the_bytes_say_so() -> None:
    """As FlashInfer's sparse kernel does on Blackwell since vllm-project/vllm #35891."""
    each = 61 * (576 + 132)
    tokens = 40 * GIB // (64 * each) * 64
    found = compare(read_log(V32.format("fp8", "", tokens)), catalogue()["DeepSeek-V3.2-Exp"], "bf16")
    assert (found.dtype, figures(found, "token")[0]) == ("fp8", each)
    assert "unexplained" not in steps(found)


# GLM-5.1 FP8 on eight H200s: 78 layers with a latent of 576 in 16 bits and an indexer
GLM = """\
(Worker_TP0 pid=3714502) INFO 05-19 02:40:23 [gpu_model_runner.py:4879] Model loading took 89.39 GiB memory and \
30.461230 seconds
(Worker_TP0 pid=3714502) INFO 05-19 02:40:23 [interface.py:489] Setting kv cache block size to 64 for \
DEEPSEEK_V32_INDEXER backend.
(Worker_TP0 pid=3714502) INFO 05-19 02:40:27 [gpu_worker.py:440] Available KV cache memory: 34.86 GiB
(EngineCore pid=3714287) INFO 05-19 02:40:27 [kv_cache_utils.py:1711] GPU KV cache size: 373,696 tokens
(EngineCore pid=3714287) INFO 05-19 02:40:27 [kv_cache_utils.py:1716] Maximum concurrency for 202,752 tokens per \
request: 1.84x
"""


def test_vllms_block_of_an_indexer_is_read() -> None:
    log = read_log(GLM)
    assert (log.block_size, log.tokens) == (64, 64 * 5839)
    each = 78 * (576 * 2 + 132)
    assert 0 <= 34.86 * GIB - 373_696 * each < 64 * each + 0.005 * GIB


# Qwen3.6-27B on one GPU: 48 DeltaNet layers, 16 that attend with 4 K/V heads of 256
STATES = """\
INFO 04-25 03:28:52 [scheduler.py:238] Chunked prefill is enabled with max_num_batched_tokens=8192.
INFO 04-25 03:28:52 [config.py:281] Setting attention block size to 784 tokens to ensure that attention page size is \
>= mamba page size.
INFO 04-25 03:28:52 [config.py:312] Padding mamba page size by 0.13% to ensure that mamba page size and attention page \
size are exactly equal.
Available KV cache memory: 20.00 GiB
Maximum concurrency for 8,192 tokens per request: 29.07x
"""


def test_vllm_makes_attention_pages_as_large_as_a_state() -> None:
    """A state is 48 × 128 × 128 numbers in fp32 and 3 × 10,240 in 16 bits; a token takes 4 × 2 × 256 × 2 bytes."""
    state, each = 48 * 128 * 128 * 4 + 3 * 10_240 * 2, 4 * 2 * 256 * 2
    assert aligned_block(state, each) == 784
    assert 784 * each / state == pytest.approx(1.0013, abs=5e-5)  # the log's 0.13 %
    assert aligned_block(32 * 128 * 128 * 4 + 3 * 8192 * 2, each) == 528  # Qwen3.5 9B, as vLLM 0.25 prints it
    found = compare(read_log(STATES), qwen_27b(), "bf16")
    assert figures(found, "block_size") == (None, 784, 784)
    page = 784 * each
    assert steps(found, "request")["state_page"] == 48 * (page - state)
    # Four groups of 16 layers: 11 blocks for 8,192 tokens, and one each for the states.
    assert figures(found, "request")[1] == (11 + 3) * 16 * page
    more = sum(filter(None, steps(found, "request").values()))
    assert needed(found, "request") + more == 14 * 16 * page


@pytest.mark.parametrize("size", [2, 4])
def test_a_state_is_in_vllms_default_format_unless_the_logs_block_is_one_for_fp32(size: int) -> None:
    """Qwen3-Next: 32 × 128 × 128 numbers and 3 × 8,192 in 16 bits; a token takes 2 × 2 × 256 × 2 bytes (#34489)."""
    state, each = 32 * 128 * 128 * size + 3 * 8192 * 2, 2 * 2 * 256 * 2
    block = aligned_block(state, each)
    spec = spec_from_config(json.loads(HYBRIDS.read_text(encoding="utf-8"))["Qwen3-Next 80B-A3B"]["config"])
    log = (
        f"INFO Setting attention block size to {block} tokens to ensure that attention page size is >= mamba page size."
        "\nAvailable KV cache memory: 20.00 GiB\nMaximum concurrency for 8,192 tokens per request: 9.00x\n"
    )
    found = compare(read_log(log), spec, "bf16")
    assert figures(found, "block_size") == (None, block, block)
    assert steps(found, "request")["state_page"] == 36 * (block * each - state)


def test_vllm_with_memory_that_is_set() -> None:
    """As kv_cache_memory_bytes has it: the profile of the memory is left out, and its line too."""
    log = read_log(
        "INFO [gpu_worker.py:381] Initial free memory 21.5 GiB, reserved 8.0 GiB memory for KV Cache as specified by "
        "kv_cache_memory_bytes config and skipped memory profiling.\n"
        "INFO [kv_cache_utils.py:1710] GPU KV cache size: 65,536 tokens\n"
        "INFO [kv_cache_utils.py:1711] Maximum concurrency for 8,192 tokens per request: 8.00x\n"
    )
    found = compare(log, LLAMA_8B, "bf16")
    assert (log.logged and log.logged.bytes, log.tokens) == (8 * GIB, 65_536)
    assert figures(found, "bytes") == (8 * GIB, 8 * GIB, 8 * GIB)
    assert "unexplained" not in steps(found)


def test_llama_cpp_keeps_an_indexers_keys_beside() -> None:
    """As src/llama-kv-cache-dsa.cpp of ggml-org/llama.cpp @ 035aa95b00 prints it: the latents, then the keys."""
    size = (
        "llama_kv_cache: size = {:7.2f} MiB (  4096 cells,  61 layers,  1/1 seqs), K (f16): {:7.2f} MiB, V (f16):    "
        "0.00 MiB"
    )
    latents, keys = (61 * 4096 * width * 2 / MIB for width in (576, 128))
    log = read_log(
        "llama_kv_cache_dsa: creating main KV cache, size = 4096 cells\n"
        f"{size.format(latents, latents)}\n"
        "llama_kv_cache_dsa: creating indexer KV cache, size = 4096 cells\n"
        f"{size.format(keys, keys)}"
    )
    assert [(fact.code, fact.line) for fact in log.facts if "cache" in fact.code] == [
        ("cache", 2),
        ("indexer_cache", 4),
    ]
    assert [pool.cells for pool in log.pools] == [4096]


# --- SGLang ---

# sgl-project/sglang #4760
SGLANG = """\
[2025-03-25 16:37:06 TP0] Load weight end. type=LlamaForCausalLM, dtype=torch.bfloat16, avail mem=63.48 GB, \
mem usage=15.11 GB.
[2025-03-25 16:37:06 TP0] KV Cache is allocated. #tokens: 442750, K size: 27.02 GB, V size: 27.02 GB
[2025-03-25 16:37:06 TP0] Memory pool end. avail mem=8.32 GB
"""
WITH_DTYPE = (
    "[01:39:47] KV Cache is allocated. dtype: torch.bfloat16, #tokens: 1131687, K size: 60.44 GB, V size: 60.44 GB"
)
OF_RANKS = "\n".join(
    f"[2025-07-22 10:00:00 TP{rank}] KV Cache is allocated. #tokens: 367404, K size: 8.23 GB, V size: 8.23 GB"
    for rank in range(4)
)


def test_sglang_says_gb_and_means_gib() -> None:
    found = compare(read_log(SGLANG), LLAMA_8B, "fp16")
    assert found.dtype == "bf16"
    assert figures(found, "bytes")[:2] == (442_750 * PER_TOKEN * 2, 442_751 * PER_TOKEN * 2)
    assert pytest.approx(27.02, abs=0.005) == 442_751 * PER_TOKEN / GIB
    assert steps(found).keys() == {"padded_page", "gb_is_gib", "rounding"}


def test_sglang_with_a_dtype_and_on_several_ranks() -> None:
    found = compare(read_log(WITH_DTYPE), qwen3(28, 16, 8), "fp8")
    assert pytest.approx(60.44, abs=0.005) == 1_131_688 * 28 * 8 * 128 * 2 / GIB
    assert (found.dtype, "rounding" in steps(found)) == ("bf16", True)
    ranks = compare(read_log(OF_RANKS), qwen3(94, 64, 4, 4096), "bf16")
    assert (ranks.tp, ranks.log.tokens, "rounding" in steps(ranks)) == (4, 367_404, True)


def test_sglang_names_the_page_that_it_adds() -> None:
    paged = f"server_args=ServerArgs(model_path='/m', tp_size=1, page_size=64)\n{SGLANG}"
    assert steps(compare(read_log(paged), LLAMA_8B, "bf16"))["padded_page"] == 64 * PER_TOKEN * 2


def test_sglang_hands_out_the_tokens_that_its_pool_has() -> None:
    """Qwen3-32B on one of two GPUs: 64 layers × 4 heads × 128 × 2 B, 65,536 B a token of K and as many of V."""
    spec, size = catalogue()["Qwen3-32B"], f"{300_000 * 65_536 / GIB:.2f} GB"
    log = (
        "max_total_num_tokens=1\nLoad weight end. type=Qwen3ForCausalLM, dtype=torch.bfloat16, mem usage=30.60 GB.\n"
        "KV Cache is allocated. #tokens: 300000, K size: {0}, V size: {1}\nmax_total_num_tokens={2}, context_len=40960"
    )
    right = compare(read_log(log.format(size, size, 300_000)), spec, "bf16", tp=2)
    assert (right.conflicts, figures(right, "served")) == ((), (None, 300_000, 300_000))
    assert not any(row.differs for row in right.rows)
    wrong = compare(read_log(log.format(size, size, 310_000)), spec, "bf16", tp=2)
    told = [(one.code, one.one, one.line, one.other, one.other_line) for one in wrong.conflicts]
    assert told == [("lines", "#tokens: 300,000", 3, "max_total_num_tokens=310,000", 4)]
    assert [row.quantity for row in wrong.rows if row.differs] == ["served"]
    for parts, said in (((size, "9.16 GB"), "V size: 9.16 GB"), (("9.16 GB", size), "K size: 9.16 GB")):
        half = compare(read_log(log.format(*parts, 300_000)), spec, "bf16", tp=2)
        told = [(one.code, one.one, one.line, one.other) for one in half.conflicts]
        assert told == [("part", said, 3, "300,000 × 65,536 B = 18.31 GiB")]
        assert [row.quantity for row in half.rows if row.differs] == ["bytes"]


def test_sglang_keeps_windows_in_a_pool_apart() -> None:
    """gpt-oss: by turns layers with a window of 128 and full ones, each with 8 × 64 numbers of K and of V. The pool of
    the windows is printed first, with a page beside its tokens as the other; then the whole, and a draft model's."""
    spec, each, full, windows = catalogue()["gpt-oss-120b"], 18 * 8 * 64 * 2, 160_000, 128_000

    def line(tokens: int, rank: int = 0, dtype: str = "dtype: torch.bfloat16, ") -> str:
        size = f"{(tokens + 64) * each / GIB:.2f} GB"
        return f"[TP{rank}] KV Cache is allocated. {dtype}#tokens: {tokens}, K size: {size}, V size: {size}"

    told = f"Use sliding window memory pool. full_layer_tokens={full}, swa_layer_tokens={windows}"
    whole = f"SWAKVPool mem usage: 9.99 GB, swa size: {windows}, full size: {full}"
    served = "server_args=ServerArgs(model_path='/m', tp_size=1, page_size=64)"
    for said in (told, whole):
        log = read_log("\n".join([served, said, line(windows), line(full), line(full)]))
        found = compare(log, spec, "fp8")
        assert [(pool.kind, pool.cells) for pool in log.pools] == [("full", full), ("sliding", windows)]
        assert [fact.code for fact in log.facts][-3:] == ["window_cache", "cache", "draft_cache"]
        assert figures(found, "tokens")[1:] == (full + 64, full)
        needed_bytes = 2 * each * (full + windows)
        assert figures(found, "bytes")[:2] == (needed_bytes, needed_bytes + 2 * 64 * 2 * each)
        assert steps(found).keys() == {"window_pool", "padded_page", "gb_is_gib", "rounding", "drafts"}
    cut = compare(read_log("\n".join([served, told, line(windows)])), spec, "bf16")  # before the other pool's line
    assert (cut.log.tokens, cut.log.logged, figures(cut, "bytes")[2]) == (full, None, None)
    assert "unexplained" not in steps(cut)
    alone = read_log("\n".join([line(full), line(full)]))  # one pool, and a draft model's
    assert [(pool.kind, pool.cells) for pool in alone.pools] == [("full", full)]


def test_sglangs_draft_model_has_a_pool_of_its_own() -> None:
    """EAGLE on Llama-3.1 8B: one layer of the same heads, for as many tokens, printed after the model's own."""
    draft = "[2025-03-25 16:37:07 TP0] KV Cache is allocated. #tokens: 442750, K size: 0.84 GB, V size: 0.84 GB"
    log = read_log(f"{SGLANG}{draft}")
    assert log.drafts
    assert (log.tokens, log.drafts.text) == (442_750, "0.84 GB + 0.84 GB")
    assert [fact.code for fact in log.facts if "cache" in fact.code] == ["cache", "draft_cache"]
    found, alone = compare(log, LLAMA_8B, "bf16"), compare(read_log(SGLANG), LLAMA_8B, "bf16")
    assert steps(found) == {**steps(alone), "drafts": None}
    assert found.rows == alone.rows
    told = next(one for one in found.differences if one.code == "drafts").params
    assert abs(told["each"] - PER_TOKEN * 2 / 32) < 0.01 * 2**30 / 442_750
    other = read_log(f"{SGLANG}{draft.replace('442750', '9000')}")  # of another size: no draft model's
    assert (other.drafts, other.facts[-1].code) == (None, "other_pool")


def test_sglang_keeps_states_of_drafted_tokens_beside() -> None:
    """As sglang/srt/mem_cache/memory_pool.py prints it: without a comma before the intermediate caches."""
    line = "Mamba Cache is allocated. max_mamba_cache_size: 64, conv_state size: 0.07GB, ssm_state size: 3.05GB "
    pool = "KV Cache is allocated. dtype: torch.bfloat16, #tokens: 295950, K size: 4.52 GB, V size: 4.52 GB"
    more = "intermediate_ssm_state_cache size: 48.75GB intermediate_conv_window_cache size: 0.43GB "
    for states, said in ((line, None), (line + more, "48.75 GB + 0.43 GB")):
        log = read_log(f"{states}\n{pool}")
        assert (log.draft_states and log.draft_states.text) == said
        found = compare(log, qwen_27b(), "bf16")
        assert ("draft_states" in steps(found)) == (said is not None)
        assert figures(found, "state")[2] == int((Fraction("0.07") + Fraction("3.05")) * GIB) + 1


def test_sglangs_pool_of_latents_is_named_as_such() -> None:
    """DeepSeek-V3 in bf16: 61 layers × 576 numbers of two bytes, whole on each rank."""
    each, tokens = 61 * 576 * 2, 481_000
    line = f"KV Cache is allocated. #tokens: {tokens}, KV size: {(tokens + 1) * each / GIB:.2f} GB"
    loaded = (
        "Load weight end. type=DeepseekV3ForCausalLM, dtype=torch.bfloat16, avail mem=58.73 GB, mem usage=79.60 GB."
    )
    found = compare(read_log(f"server_args=ServerArgs(tp_size=8, quantization=None)\n{loaded}\n{line}"),
                    catalogue()["DeepSeek-V3"], "bf16")  # fmt: skip
    assert {one.source for one in found.differences if one.source} == {"sglang_latents"}
    assert "rounding" in steps(found)
    assert found.weights
    # Its files are in fp8 with a scale of four bytes for 128 × 128; what is computed in says nothing of them.
    assert (found.weights.dtype, found.weights.stated) == ("fp8 128×128", False)
    assert found.weights.counted
    assert 79 * GIB < found.weights.counted < 79.6 * GIB


# --- TensorRT-LLM ---

TRT = """\
[TensorRT-LLM][INFO] Memory usage when calculating max tokens in paged kv cache: total: 31.84 GiB, available: 17.83 GiB
[TensorRT-LLM][INFO] Number of blocks in KV cache primary pool: 8219
[TensorRT-LLM][INFO] Number of blocks in KV cache secondary pool: 0, onboard blocks to primary memory before reuse: true
[TensorRT-LLM][INFO] Number of tokens per block: 32.
[TensorRT-LLM][INFO] [MemUsageChange] Allocated 16.05 GiB for max tokens in paged KV cache (263008)
"""
# NVIDIA/TensorRT-LLM #1400, LLaMA-2 7B
TRT_OLD = """\
[TensorRT-LLM][INFO] Allocate 69524783104 bytes for k/v cache.
[TensorRT-LLM][INFO] Using 132608 tokens in paged KV cache.
"""


def test_tensorrt_llm_prints_whole_blocks() -> None:
    found = compare(read_log(TRT), LLAMA_8B, "fp8")
    assert figures(found, "tokens")[1:] == (8219 * 32, 263_008)
    assert figures(found, "bytes")[0] == 263_008 * PER_TOKEN
    assert pytest.approx(16.05, abs=0.005) == 263_008 * PER_TOKEN / GIB
    assert "rounding" in steps(found)
    assert compare(read_log(TRT), LLAMA_8B, "bf16").fitting == ("fp8",)


def test_tensorrt_llm_once_printed_bytes() -> None:
    found = compare(read_log(TRT_OLD), catalogue()["Llama-2 7B"], "fp16")
    assert figures(found, "bytes") == (132_608 * 2 * 32 * 4096 * 2, 69_524_783_104, 69_524_783_104)
    assert steps(found) == {"rounding": 0}


def test_tensorrt_llm_prints_the_blocks_with_the_window_and_a_trial_run_before() -> None:
    def run(blocks: int, length: int, windows: tuple[int, ...], size: str) -> str:
        lines = [
            f"[TensorRT-LLM][INFO] Max KV cache blocks per sequence: {-(-one // 32)} [window size={one}], tokens per "
            f"block=32, primary blocks={blocks}, secondary blocks=0, max sequence length={length}"
            for one in windows
        ]
        return "\n".join(
            [*lines, f"[TensorRT-LLM][INFO] [MemUsageChange] Allocated {size} GiB for max tokens in paged KV cache "
             f"({blocks * 32})."]
        )  # fmt: skip

    log = read_log(f"{run(129, 4096, (4096,), '0.25')}\n{run(8219, 8192, (8192,), '16.05')}")
    assert (log.tokens, log.blocks, log.block_size, log.length) == (263_008, 8219, 32, 8192)
    found = compare(log, LLAMA_8B, "fp8")
    assert figures(found, "tokens")[1:] == (8219 * 32, 263_008)
    assert "rounding" in steps(found)
    assert read_log(run(8219, 8192, (1024, 8192), "16.05")).blocks is None  # apart, and no line counts them together
    elsewhere = compare(read_log(run(61_848, 16_384, (16_384,), "0.00")), LLAMA_8B, "bf16")  # in AutoDeploy's own pools
    assert figures(elsewhere, "bytes") == (61_848 * 32 * 2 * PER_TOKEN, 61_848 * 32 * 2 * PER_TOKEN, None)
    assert "unexplained" not in steps(elsewhere)


def test_tensorrt_llm_counts_its_ranks() -> None:
    """NVIDIA/TensorRT-LLM cpp/tensorrt_llm/runtime/worldConfig.cpp: as many processes as tensor × pipeline parallel."""
    each = 80 * 8 * 2 * 128 * 2 // 4
    size = f"Allocated {8219 * 32 * each / GIB:.2f} GiB for max tokens in paged KV cache ({8219 * 32})"
    for line in ("MPI size: 4, rank: 0", "MPI size: 4, MPI local size: 4, rank: 3"):
        found = compare(read_log(f"[TensorRT-LLM][INFO] {line}\n{size}"), catalogue()["Llama-3 70B"], "bf16")
        assert (found.tp, figures(found, "token")[0]) == (4, each)
        assert {"mpi_ranks", "rounding"} <= steps(found).keys()
    alone = compare(read_log(f"[TensorRT-LLM][INFO] MPI size: 1, rank: 0\n{TRT}"), LLAMA_8B, "fp8", tp=8)
    assert (alone.tp, "mpi_ranks" in steps(alone)) == (1, False)


def test_tensorrt_llms_newer_manager_prints_a_quota_and_no_tokens() -> None:
    """To all digits that a float has; the trial run's comes first."""
    lines = "[TRT-LLM] [I] KV cache manager v2 device quota set to {}GiB"
    log = read_log("\n".join(map(lines.format, ("0.5", "9.059814453125"))))
    assert (log.tokens, log.logged and log.logged.bytes) == (None, int(9.059814453125 * GIB))
    found = compare(log, LLAMA_8B, "fp8")
    assert figures(found, "tokens")[0] == int(9.059814453125 * GIB) // PER_TOKEN
    assert steps(found).keys() == {"quota"}


@pytest.mark.parametrize("unit", ["", " bytes/token", " bytes/token + 4096 bytes fixed cost"])
def test_tensorrt_llm_says_the_bytes_of_a_token(unit: str) -> None:
    """In the line of the run that measures the memory (_cal_max_memory in tensorrt_llm/_torch/pyexecutor/_util.py)."""
    line = (
        "[TRT-LLM] [I] Peak memory during memory usage profiling (torch + non-torch): 17.32 GiB, available KV cache "
        "memory when calculating max tokens: 16.05 GiB, fraction is set 0.9, kv size per token is {}. device total "
        "memory 39.39 GiB, temporary kv cache memory during profiling 0.25 GiB"
    )
    log = read_log(line.format(f"{PER_TOKEN}{unit}"))
    assert (log.per_token, log.tokens, log.logged and log.logged.text) == (PER_TOKEN, None, "16.05 GiB")
    assert ("fixed_cost" in {fact.code for fact in log.facts}) == ("fixed" in unit)
    found = compare(log, LLAMA_8B, "fp8")
    assert figures(found, "token") == (PER_TOKEN, None, PER_TOKEN)
    assert log.logged
    assert figures(found, "tokens")[0] == pytest.approx(16.05 * GIB / PER_TOKEN, rel=1e-5)
    assert steps(found).keys() == {"quota"}
    both = compare(read_log(f"{line.format(f'{PER_TOKEN * 2}{unit}')}\n{TRT}"), LLAMA_8B, "fp8")
    assert figures(both, "token") == (PER_TOKEN, None, 2 * PER_TOKEN)
    assert "per_token" in steps(both)
    assert figures(both, "bytes")[0] == 263_008 * PER_TOKEN


# --- Ollama ---

OLLAMA = """\
time=2026-01-04T09:59:31.514-06:00 level=INFO source=device.go:256 msg="kv cache" device=CPU size="512.0 MiB"
time=2026-01-04T09:59:31.518-06:00 level=INFO source=device.go:272 msg="total memory" size="4.6 GiB"
time=2026-01-04T09:59:32.568-06:00 level=INFO source=runner.go:895 msg=load request="{Operation:commit LoraPath:[] \
Parallel:1 BatchSize:512 FlashAttention:Auto KvSize:4096 KvCacheType: NumThreads:4 GPULayers:[] MultiUserCache:false}"
"""
ESTIMATE = """\
level=INFO source=memory.go:309 msg="offload to cuda" layers.model=33 memory.available="[14.6 GiB]" \
memory.required.kv="1.0 GiB" memory.required.allocations="[6.2 GiB]" memory.weights.total="4.7 GiB"
level=INFO source=server.go:391 msg="starting llama server" cmd="/ollama_llama_server --model /m --ctx-size 8192 \
--batch-size 512 --n-gpu-layers 33 --parallel 4 --port 32989"
"""


@pytest.mark.parametrize(("log", "tokens", "size"), [(OLLAMA, 4096, 512 * MIB), (ESTIMATE, 8192, GIB)])
def test_ollama_prints_one_digit(log: str, tokens: int, size: int) -> None:
    found = compare(read_log(log), LLAMA_8B, "bf16")
    assert (found.log.tokens, found.log.logged and found.log.logged.bytes) == (tokens, size)
    assert figures(found, "bytes") == (tokens * PER_TOKEN * 2, size, size)
    assert steps(found)["rounding"] == 0


def test_ollama_on_two_devices_that_it_tried_twice() -> None:
    tries = [("CUDA0", "1.5 GiB"), ("CUDA1", "1.0 GiB"), ("CUDA0", "2.0 GiB"), ("CUDA1", "512.0 MiB")]
    log = read_log("\n".join(f'msg="kv cache" device={device} size="{size}"' for device, size in tries))
    assert log.logged
    assert log.logged.bytes == 2 * GIB + 512 * MIB


def test_ollama_with_llama_cpps_lines_is_read_by_those() -> None:
    assert read_log(ESTIMATE + UNIFIED).engine == "llama.cpp"


# --- a format that is named, and whose bytes are not there ---


def test_a_named_format_whose_bytes_are_anothers_does_not_go_together() -> None:
    """Llama-3 8B, 8,192 cells: 544 MiB in q8_0, 288 in q4_0."""
    size = (
        "llama_kv_cache: size = {0:.2f} MiB (8192 cells, 32 layers, 1/1 seqs), "
        "K ({1}): {2:.2f} MiB, V ({1}): {2:.2f} MiB"
    )
    right = compare(read_log(size.format(544, "q8_0", 272)), LLAMA_8B, "bf16")
    assert (right.dtype, right.conflicts) == ("q8_0", ())
    wrong = compare(read_log(size.format(288, "q8_0", 144)), LLAMA_8B, "bf16")
    assert odd_lines(wrong, "format") == [("q8_0", 1, "q4_0", "")]
    assert "unexplained" in steps(wrong)
    halved = compare(read_log(WITH_DTYPE.replace("60.44", "30.22")), qwen3(28, 16, 8), "bf16")
    assert odd_lines(halved, "format") == [("bfloat16", 1, "fp8", "")]


def test_vllm_that_names_one_format_and_has_the_bytes_of_another_is_told_so_before_any_guess() -> None:
    """Llama-3.1 70B on one of four GPUs: 80 layers × 2 heads × 128 × 2 × 2 B a token are 36.64 GiB of 480,240."""
    spec, each = catalogue()["Llama-3.1 70B"], 80 * 2 * 2 * 128 * 2
    assert round(480_240 * each / GIB, 2) == 36.64
    log = (
        "INFO model='/m', dtype=torch.bfloat16, tensor_parallel_size=4\n"
        "INFO non-default args: {{'kv_cache_dtype': '{}'}}\n"
        "Available KV cache memory: 36.64 GiB\nGPU KV cache size: {:,} tokens\n"
    )
    for dtype, tokens, told in (
        ("fp8", 480_240, ("fp8", 2, "bf16", "")),
        ("auto", 960_480, ("bfloat16", 1, "fp8", "")),
    ):
        found = compare(read_log(log.format(dtype, tokens)), spec, "bf16")
        assert odd_lines(found, "format") == [told]
        assert found.conflicts[0].code == "format"
        assert not steps(found).keys() & {"least_rank", "one_gpu"}
        assert [row.quantity for row in found.rows if row.differs] == ["bytes"]
    for dtype, tokens in (("auto", 480_240), ("fp8", 960_480)):
        right = compare(read_log(log.format(dtype, tokens)), spec, "bf16")
        assert (right.conflicts, any(row.differs for row in right.rows)) == ((), False)


# --- what is refused ---


@pytest.mark.parametrize(
    ("log", "reason", "says"),
    [
        (" \n", "empty", "paste the lines"),
        ("INFO hello", "none", "GPU KV cache size"),
        (V0 + TRT, "several", "vLLM and TensorRT-LLM"),
        ("x" * (MAX_CHARACTERS + 1), "long", "200,001 characters"),
        ("\n" * (MAX_LINES + 1) + "x", "lines", "10,002 lines"),
    ],
)
def test_what_is_no_log_is_refused_by_name(log: str, reason: str, says: str) -> None:
    with pytest.raises(GlassLlamaError, match=says) as caught:
        read_log(log)
    assert (caught.value.code, caught.value.params["reason"]) == ("engine_log", reason)


def test_an_encoder_is_not_compared() -> None:
    with pytest.raises(GlassLlamaError, match="T5-large"):
        compare(read_log(TRT), catalogue()["T5-large (v1.0)"], "bf16")


def test_sources_name_repository_and_commit() -> None:
    for source in SOURCES.values():
        assert source.address.startswith("https://github.com/")
        assert "/" in source.text


# What only the log's own figures show, or what is not known: nothing of it was read in an engine's repository.
OF_THE_LOG = {
    "rounding", "unexplained", "concurrency", "one_gpu", "no_bytes", "no_tokens", "quota", "several_caches",
    "window_cells", "other_layers", "other_full_layers", "other_window_layers",
}  # fmt: skip


def test_a_step_without_a_source_is_one_of_the_logs_own_figures() -> None:
    """Each difference that the comparisons make, with the source that they give it."""
    made: dict[str, set[str]] = {}
    for file in Path(compared.__file__).parent.glob("*.py"):
        for call in ast.walk(ast.parse(file.read_text("utf-8"))):
            if isinstance(call, ast.Call) and isinstance(call.func, ast.Name) and call.func.id == "Difference":
                code, source = call.args[0], call.args[2]
                codes = [one.value for one in ast.walk(code) if isinstance(one, ast.Constant) and one.value != "full"]
                given = source.value if isinstance(source, ast.Constant) else "named"
                for one in codes:
                    made.setdefault(str(one), set()).add(given)
    assert {"null_block", "window_room", "rounding"} <= made.keys()
    assert {code for code, sources in made.items() if "" in sources} <= OF_THE_LOG
    assert {one for sources in made.values() for one in sources} - {"", "named"} <= SOURCES.keys()


# --- weights, and what stands beside them ---

# Qwen3-8B has 16,381,470,720 B in bf16.
LOADED = """\
LLMEngine config: model='Qwen/Qwen3-8B', dtype=torch.bfloat16, quantization=None
Model loading took 15.2683 GiB memory and 3.2 seconds
Available KV cache memory: 50.00 GiB
Graph capturing finished in 7 secs, took 0.21 GiB
"""
OF_LLAMA_CPP = """\
print_info: file type   = {type}
print_info: file size   = {size} GiB (4.89 BPW)
load_tensors:        CUDA0 model buffer size =  4403.49 MiB
llama_kv_cache: size = 1024.00 MiB (  8192 cells,  32 layers,  1/1 seqs), K (f16):  512.00 MiB, V (f16):  512.00 MiB
llama_context:      CUDA0 compute buffer size =   560.00 MiB
llama_context:  CUDA_Host  output buffer size =     0.49 MiB
"""


def test_vllms_weights_stand_beside_their_count() -> None:
    found = compare(read_log(LOADED), catalogue()["Qwen3-8B"], "bf16").weights
    assert found
    assert (found.counted, found.dtype, found.stated) == (16_381_470_720, "bf16", True)
    assert (found.loaded.line, found.loaded.size.text, found.loaded.whole) == (2, "15.2683 GiB", False)
    assert found.more == found.loaded.size.bytes - 16_381_470_720 == 12_741_571
    two = LOADED.replace("quantization", "tensor_parallel_size=2, quantization")
    halved = compare(read_log(two), catalogue()["Qwen3-8B"], "bf16").weights
    assert halved
    assert halved.counted
    assert halved.counted * 2 == pytest.approx(16_381_470_720, rel=0.001)
    fp8 = compare(read_log(LOADED.replace("=None", "=fp8")), catalogue()["Qwen3-8B"], "bf16").weights
    assert fp8
    assert fp8.dtype == "fp8"
    awq = compare(read_log(LOADED.replace("=None", "=awq")), catalogue()["Qwen3-8B"], "bf16").weights
    assert awq
    assert (awq.counted, awq.dtype) == (None, "awq")


def test_llama_cpps_file_is_counted_where_one_product_gives_its_bytes() -> None:
    mixed = compare(read_log(OF_LLAMA_CPP.format(type="Q4_K - Medium", size="4.58")), LLAMA_8B, "bf16").weights
    assert mixed
    assert (mixed.counted, mixed.more, mixed.dtype) == (None, None, "Q4_K - Medium")
    half = compare(read_log(OF_LLAMA_CPP.format(type="F16", size="14.96")), LLAMA_8B, "bf16").weights
    assert half
    assert (half.counted, half.dtype, half.loaded.whole) == (16_060_522_496, "fp16", True)
    assert half.more is not None
    assert abs(half.more) <= half.loaded.size.slack


def test_buffers_are_told_with_their_lines() -> None:
    log = read_log(OF_LLAMA_CPP.format(type="F16", size="14.96"))
    assert [(fact.code, fact.line) for fact in log.beside] == [
        ("model_buffer", 3),
        ("compute_buffer", 5),
        ("output_buffer", 6),
    ]
    assert log.beside[1].value == "CUDA0 compute buffer size = 560.00 MiB"
    assert [(fact.code, fact.value) for fact in read_log(LOADED).beside] == [("graph_memory", "0.21 GiB")]


@pytest.mark.parametrize(
    ("lines", "gibibytes"),
    [
        ("Load weight end. type=X, dtype=torch.bfloat16, avail mem=63.48 GB, mem usage=15.11 GB.\nKV Cache is "
         "allocated. #tokens: 442750, K size: 27.02 GB, V size: 27.02 GB", 15.11),
        ("Loaded engine size: 15360 MiB\nAllocated 16.05 GiB for max tokens in paged KV cache (263008)", 15),
        ('msg="model weights" device=CUDA0 size="4.0 GiB"\nmsg="model weights" device=CPU size="0.5 GiB"\n'
         'msg="kv cache" device=CUDA0 size="512.0 MiB"', 4.5),
    ],
)  # fmt: skip
def test_other_engines_weights(lines: str, gibibytes: float) -> None:
    weights = read_log(lines).weights
    assert weights
    assert weights.size.bytes / 2**30 == pytest.approx(gibibytes, abs=1e-6)


def test_weights_are_cut_into_stages_as_the_engine_cuts_them() -> None:
    """Qwen3-8B's 36 layers in five stages: 7, 7, 7, 8, 7 in vLLM, 7, 7, 7, 7, 8 in SGLang, the last with the output."""
    layer = 2 * (4096 * 128 * (2 * 32 + 2 * 8) + 3 * 4096 * 12_288 + 2 * 4096 + 2 * 128)
    output = 2 * (151_936 * 4096 + 4096)
    assert 36 * layer + output + 2 * 151_936 * 4096 == 16_381_470_720
    in_vllm = LOADED.replace("quantization", "pipeline_parallel_size=5, quantization")
    in_sglang = "server_args=ServerArgs(tp_size=1, pp_size=5, quantization=None)\n" + (
        "Load weight end. type=Qwen3ForCausalLM, dtype=torch.bfloat16, avail mem=63.48 GB, mem usage=4.03 GB.\n"
        "KV Cache is allocated. #tokens: 442750, K size: 27.02 GB, V size: 27.02 GB"
    )
    for log, counted in ((in_vllm, 7 * layer + output), (in_sglang, 8 * layer + output)):
        found = compare(read_log(log), catalogue()["Qwen3-8B"], "bf16")
        assert found.pp == 5
        assert found.weights
        assert found.weights.counted == counted


def test_a_later_model_of_the_same_shape_is_known_by_its_name() -> None:
    assert listed("meta-llama/Llama-3.3-70B-Instruct") == "Llama-3.1 70B"
    assert listed("deepseek-ai/DeepSeek-R1") == "DeepSeek-V3"
    assert listed("deepseek-ai/DeepSeek-V3.2") == "DeepSeek-V3.2-Exp"


OF_LATENTS = """\
{shape}llama_context: n_ctx         = 4096
llama_kv_cache_unified: size = {size} MiB (  4096 cells,  61 layers,  1/1 seqs), K (f16): {k} MiB, V (f16): {v} MiB
"""


def test_a_v_that_llama_cpp_kept_beside_the_latents_is_told() -> None:
    """DeepSeek-V3: 61 × 576 × 2 × 4,096 B are 274.5 MiB of K, and 61 × 512 × 2 × 4,096 B 244 MiB of a V."""
    spec = catalogue()["DeepSeek-V3"]
    log = read_log(OF_LATENTS.format(shape="", size="518.50", k="274.50", v="244.00"))
    found = compare(log, spec, "bf16")
    k, v = 61 * 576 * 2 * 4096, 61 * 512 * 2 * 4096
    assert figures(found, "bytes") == (k, k + v, 518.5 * 2**20)
    assert steps(found) == {"latent_v": v, "rounding": 0}
    since = compare(read_log(OF_LATENTS.format(shape="", size="274.50", k="274.50", v="0.00")), spec, "bf16")
    assert steps(since) == {"rounding": 0}
    odd = compare(read_log(OF_LATENTS.format(shape="", size="400.00", k="274.50", v="125.50")), spec, "bf16")
    assert steps(odd) == {"unexplained": 400 * 2**20 - k}


def test_mla_that_is_written_out_for_every_head_is_compared_as_the_log_prints_it_or_as_it_is_set() -> None:
    """DeepSeek-V3: 128 heads with K of 192 and V of 128 are 61 × 128 × 320 × 2 × 4,096 B = 19,520 MiB."""
    spec, whole = catalogue()["DeepSeek-V3"], {"size": "19520.00", "k": "11712.00", "v": "7808.00"}
    wide = "print_info: n_embd_head_k    = 192\nprint_info: n_embd_head_v    = 128\n"
    each = 61 * 128 * 320 * 2 * 4096
    for shape, layout in ((wide, "formula"), ("", "expanded_mla"), (wide, "expanded_mla")):
        found = compare(read_log(OF_LATENTS.format(shape=shape, **whole)), spec, "bf16", layout=layout)
        assert figures(found, "bytes") == (each, each, 19_520 * 2**20)
        assert steps(found) == {"rounding": 0}
    latents = OF_LATENTS.format(shape=wide.replace("192", "576"), size="274.50", k="274.50", v="0.00")
    assert steps(compare(read_log(latents), spec, "bf16", layout="expanded_mla")) == {"rounding": 0}


def test_what_vllm_stores_of_mla_is_compared_as_the_calculator_is_set() -> None:
    """VLLM_MLA_DISABLE=1 on eight ranks: 16 heads of 192 + 128 numbers, 61 × 16 × 320 × 2 B = 624,640 B a token."""
    spec, each = catalogue()["DeepSeek-V3"], 61 * 16 * 320 * 2
    blocks = 1000
    room = f"{16 * each * blocks / 2**30:.2f}"
    log = (
        "INFO model='deepseek-ai/DeepSeek-V3', dtype=torch.bfloat16, tensor_parallel_size=8, kv_cache_dtype=auto\n"
        f"Available KV cache memory: {room} GiB\nGPU KV cache size: {16 * blocks:,} tokens\n"
    )
    found = compare(read_log(log), spec, "bf16", layout="expanded_mla")
    assert figures(found, "token")[0] == each == 624_640
    assert reserved(found, "bytes") == 16 * each * blocks
    assert figures(compare(read_log(log), spec, "bf16"), "token")[0] == 61 * 576 * 2


@pytest.mark.parametrize(
    ("lines", "block"),
    [
        ("Available KV cache memory: 40.00 GiB\nGPU KV cache size: 611,072 tokens", 64),
        ("Available KV cache memory: 40.00 GiB\nGPU KV cache size: 611,184 tokens", 16),  # 38,199 blocks of 16
        ("# GPU blocks: 9548, # CPU blocks: 10\nMaximum concurrency for 163840 tokens per request: 3.73x", 64),
        ("# GPU blocks: 38199, # CPU blocks: 10\nMaximum concurrency for 163840 tokens per request: 3.73x", 16),
    ],
)
def test_blocks_of_latents_have_64_tokens_unless_the_log_says_otherwise(lines: str, block: int) -> None:
    """vllm/platforms/cuda.py: FlashMLA and FlashInfer's kernels for MLA are given blocks of 64 tokens."""
    log = "INFO model='deepseek-ai/DeepSeek-V3', dtype=torch.bfloat16, tensor_parallel_size=8, kv_cache_dtype=auto\n"
    found = compare(read_log(log + lines), catalogue()["DeepSeek-V3"], "bf16")
    assert next(one for one in found.differences if one.code == "block_latent").params == {"block": block}
    stated = "Forcing kv cache block size to 128 for CUTLASS_MLA backend.\n"
    assert "block_latent" not in steps(compare(read_log(log + stated + lines), catalogue()["DeepSeek-V3"], "bf16"))


def test_blocks_that_the_tokens_make_within_the_rounding_say_so() -> None:
    """gpt-oss-20b: 60.21 GiB are 164,413 blocks of 16 × 12 × 2,048 B; 1,315,200 tokens are two groups' 164,400, which
    are 60.205 GiB."""
    block = 16 * 12 * 2048
    assert int(60.21 * GIB) // block == 164_413
    assert f"{164_401 * block / GIB:.2f}" == "60.21"
    spec = replace(catalogue()["gpt-oss-120b"], n_layers=24)
    log = (
        "INFO (v0.11.0) model='openai/gpt-oss-20b', dtype=torch.bfloat16, tensor_parallel_size=1, kv_cache_dtype=auto\n"
        "Available KV cache memory: {} GiB\nGPU KV cache size: {} tokens\n"
    )
    hows = []
    for room, tokens in (("60.21", "1,315,200"), ("60.21", "1,315,296")):
        found = compare(read_log(log.format(room, tokens)), spec, "bf16")
        cell = next(row.reserved for row in found.rows if row.quantity == "blocks")
        assert cell is not None
        hows.append((cell.value, cell.how))
    room = int(Decimal("60.21") * GIB)
    assert hows == [
        (164_401, f"60.21 GiB ± {-(-GIB // 200):,} B // (16 × 12 × 2,048)"),
        (164_413, f"{room:,} // (16 × 12 × 2,048)"),
    ]
