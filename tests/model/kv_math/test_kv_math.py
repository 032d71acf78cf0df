"""The KV-cache arithmetic against integers that were worked out by hand from the published shapes."""

from dataclasses import replace
from math import prod

import pytest
from gguf.constants import GGML_QUANT_SIZES, GGMLQuantizationType

from model.errors import GlassLlamaError
from model.kv_math import KvOptions, kv_breakdown, kv_bytes_per_token, kv_cache_bytes, kv_token_terms
from model.kv_math.formats import FORMATS, PAIRED, kv_format
from model.kv_math.growth import kv_growth
from model.kv_math.kinds import attention_kinds
from model.kv_math.spread import in_stages
from model.published.catalogue import catalogue, parameter_count
from model.published.hf_spec import spec_from_config
from model.published.spec import AttentionSpec, StateSpec

# Model; elements that every token adds (2 for K and V × layers × K/V heads × head_dim, or layers × (latent + RoPE
# key)); (elements of windowed layers, their window or chunk); bf16 bytes at 1,000, 8,192 and 131,072 tokens.
# T5 reads 512 encoder tokens. DeepSeek-V3.2 adds 61 × 132 bytes of indexer keys per token, whatever the dtype.
TABLE = [
    ("LLaMA-1 7B", 2 * 32 * 32 * 128, None, 524_288_000, 4_294_967_296, 68_719_476_736),
    ("LLaMA-1 13B", 2 * 40 * 40 * 128, None, 819_200_000, 6_710_886_400, 107_374_182_400),
    ("LLaMA-1 33B", 2 * 60 * 52 * 128, None, 1_597_440_000, 13_086_228_480, 209_379_655_680),
    ("LLaMA-1 65B", 2 * 80 * 64 * 128, None, 2_621_440_000, 21_474_836_480, 343_597_383_680),
    ("Llama-2 7B", 2 * 32 * 32 * 128, None, 524_288_000, 4_294_967_296, 68_719_476_736),
    ("Llama-2 13B", 2 * 40 * 40 * 128, None, 819_200_000, 6_710_886_400, 107_374_182_400),
    ("Llama-2 70B", 2 * 80 * 8 * 128, None, 327_680_000, 2_684_354_560, 42_949_672_960),
    ("Llama-3 8B", 2 * 32 * 8 * 128, None, 131_072_000, 1_073_741_824, 17_179_869_184),
    ("Llama-3 70B", 2 * 80 * 8 * 128, None, 327_680_000, 2_684_354_560, 42_949_672_960),
    ("Llama-3.1 8B", 2 * 32 * 8 * 128, None, 131_072_000, 1_073_741_824, 17_179_869_184),
    ("Llama-3.1 70B", 2 * 80 * 8 * 128, None, 327_680_000, 2_684_354_560, 42_949_672_960),
    ("Llama-3.1 405B", 2 * 126 * 8 * 128, None, 516_096_000, 4_227_858_432, 67_645_734_912),
    ("Llama-3.2 1B", 2 * 16 * 8 * 64, None, 32_768_000, 268_435_456, 4_294_967_296),
    ("Llama-3.2 3B", 2 * 28 * 8 * 128, None, 114_688_000, 939_524_096, 15_032_385_536),
    (
        "Llama-4 Scout 17B-16E (text)",
        2 * 12 * 8 * 128,
        (2 * 36 * 8 * 128, 8192),
        196_608_000,
        1_610_612_736,
        7_650_410_496,
    ),
    ("SmolLM2-135M", 2 * 30 * 3 * 64, None, 23_040_000, 188_743_680, 3_019_898_880),
    ("SmolLM2-360M", 2 * 32 * 5 * 64, None, 40_960_000, 335_544_320, 5_368_709_120),
    ("TinyLlama-1.1B", 2 * 22 * 4 * 64, None, 22_528_000, 184_549_376, 2_952_790_016),
    ("llama2.c stories260K", 2 * 5 * 4 * 8, None, 640_000, 5_242_880, 83_886_080),
    ("llama2.c stories15M", 2 * 6 * 6 * 48, None, 6_912_000, 56_623_104, 905_969_664),
    ("llama2.c stories42M", 2 * 8 * 8 * 64, None, 16_384_000, 134_217_728, 2_147_483_648),
    ("llama2.c stories110M", 2 * 12 * 12 * 64, None, 36_864_000, 301_989_888, 4_831_838_208),
    ("Mistral-7B v0.1", 0, (2 * 32 * 8 * 128, 4096), 131_072_000, 536_870_912, 536_870_912),
    ("Mixtral-8x7B v0.1", 2 * 32 * 8 * 128, None, 131_072_000, 1_073_741_824, 17_179_869_184),
    ("Qwen2.5-7B", 2 * 28 * 4 * 128, None, 57_344_000, 469_762_048, 7_516_192_768),
    ("Qwen3-0.6B", 2 * 28 * 8 * 128, None, 114_688_000, 939_524_096, 15_032_385_536),
    ("Qwen3-1.7B", 2 * 28 * 8 * 128, None, 114_688_000, 939_524_096, 15_032_385_536),
    ("Qwen3-4B", 2 * 36 * 8 * 128, None, 147_456_000, 1_207_959_552, 19_327_352_832),
    ("Qwen3-8B", 2 * 36 * 8 * 128, None, 147_456_000, 1_207_959_552, 19_327_352_832),
    ("Qwen3-14B", 2 * 40 * 8 * 128, None, 163_840_000, 1_342_177_280, 21_474_836_480),
    ("Qwen3-32B", 2 * 64 * 8 * 128, None, 262_144_000, 2_147_483_648, 34_359_738_368),
    ("Qwen3-30B-A3B", 2 * 48 * 4 * 128, None, 98_304_000, 805_306_368, 12_884_901_888),
    ("Qwen3-235B-A22B", 2 * 94 * 4 * 128, None, 192_512_000, 1_577_058_304, 25_232_932_864),
    ("Gemma-2 9B", 2 * 21 * 8 * 256, (2 * 21 * 8 * 256, 4096), 344_064_000, 2_113_929_216, 23_253_221_376),
    ("Gemma-3 12B (text)", 2 * 8 * 8 * 256, (2 * 40 * 8 * 256, 1024), 393_216_000, 872_415_232, 8_925_478_912),
    ("Gemma-3 27B (text)", 2 * 10 * 16 * 128, (2 * 52 * 16 * 128, 1024), 507_904_000, 1_107_296_256, 11_173_625_856),
    ("Falcon-7B", 2 * 32 * 1 * 64, None, 8_192_000, 67_108_864, 1_073_741_824),
    ("Falcon-40B", 2 * 60 * 8 * 64, None, 122_880_000, 1_006_632_960, 16_106_127_360),
    ("BLOOM-176B", 2 * 70 * 112 * 128, None, 4_014_080_000, 32_883_343_360, 526_133_493_760),
    ("T5-11B (v1.0)", 2 * 24 * 128 * 128, None, 2_378_170_368, 13_690_208_256, 206_963_736_576),
    ("T5-large (v1.0)", 2 * 24 * 16 * 64, None, 148_635_648, 855_638_016, 12_935_233_536),
    ("ChatGLM3-6B", 2 * 28 * 2 * 128, None, 28_672_000, 234_881_024, 3_758_096_384),
    ("GLM-130B", 2 * 70 * 96 * 128, None, 3_440_640_000, 28_185_722_880, 450_971_566_080),
    ("DeepSeek LLM 7B", 2 * 30 * 32 * 128, None, 491_520_000, 4_026_531_840, 64_424_509_440),
    ("DeepSeek LLM 67B", 2 * 95 * 8 * 128, None, 389_120_000, 3_187_671_040, 51_002_736_640),
    ("DeepSeekMoE-16B", 2 * 28 * 16 * 128, None, 229_376_000, 1_879_048_192, 30_064_771_072),
    ("DeepSeek-V2", 60 * (512 + 64), None, 69_120_000, 566_231_040, 9_059_696_640),
    ("DeepSeek-V2-Lite", 27 * (512 + 64), None, 31_104_000, 254_803_968, 4_076_863_488),
    ("DeepSeek-V3", 61 * (512 + 64), None, 70_272_000, 575_668_224, 9_210_691_584),
    ("DeepSeek-V3.2-Exp", 61 * (512 + 64), None, 78_324_000, 641_630_208, 10_266_083_328),
    ("Kimi-K2", 61 * (512 + 64), None, 70_272_000, 575_668_224, 9_210_691_584),
    ("gpt-oss-20b", 2 * 12 * 8 * 64, (2 * 12 * 8 * 64, 128), 27_721_728, 204_472_320, 3_224_371_200),
    ("gpt-oss-120b", 2 * 18 * 8 * 64, (2 * 18 * 8 * 64, 128), 41_582_592, 306_708_480, 4_836_556_800),
    ("GPT-3 175B", 2 * 96 * 96 * 128, None, 4_718_592_000, 38_654_705_664, 618_475_290_624),
    ("GPT-2 (124M)", 2 * 12 * 12 * 64, None, 36_864_000, 301_989_888, 4_831_838_208),
]
CONTEXTS = (1_000, 8_192, 131_072)


def test_the_table_has_every_model():
    assert [row[0] for row in TABLE] == list(catalogue())


@pytest.mark.parametrize(("name", "each", "windowed", "short", "middle", "long"), TABLE, ids=[row[0] for row in TABLE])
def test_every_model_at_three_contexts_in_four_dtypes(name, each, windowed, short, middle, long):
    options = KvOptions(encoder_tokens=512) if name.startswith("T5") else None
    per_token = each + (windowed[0] if windowed else 0)
    indexer = 61 * 132 if name == "DeepSeek-V3.2-Exp" else 0
    for tokens, bf16 in zip(CONTEXTS, (short, middle, long), strict=True):
        scaled = bf16 - indexer * tokens
        expected = {"fp32": scaled * 2, "bf16": scaled, "fp8": scaled // 2, "int4": scaled // 4}
        for dtype, size in expected.items():
            assert kv_cache_bytes(name, tokens, 1, dtype, options) == size + indexer * tokens, (tokens, dtype)
        cross = each * 512 if options else 0
        elements = each * tokens + (windowed[0] * min(tokens, windowed[1]) if windowed else 0) + cross
        assert elements * 2 == scaled  # the literals above are the products above
        assert kv_cache_bytes(name, tokens, 7, "bf16", options) == 7 * bf16
    assert kv_bytes_per_token(name, "fp32") == 4 * per_token + indexer


@pytest.mark.parametrize(
    ("name", "tokens", "batch", "dtype", "size"),
    [
        ("Llama-2 7B", 1024, 16, "fp16", 8_589_934_592),  # 8 GiB, where heads × hidden size would give 128 GB
        ("Llama-3 8B", 1, 1, "bf16", 131_072),
        ("Llama-3 8B", 1, 1, "int8", 65_536),  # 32 layers × 8 heads × 2 × 128 of one byte, no scales
        ("DeepSeek-V3", 1, 1, "bf16", 70_272),
        ("TinyLlama-1.1B", 1, 1, "bf16", 22_528),
        ("T5-11B (v1.0)", 1, 1, "bf16", 2 * 1_572_864),  # self and cross, 1.5 MiB each
        ("llama2.c stories15M", 256, 1, "fp32", 3_538_944),
    ],
)
def test_well_known_figures(name, tokens, batch, dtype, size):
    assert kv_cache_bytes(catalogue()[name], tokens=tokens, batch=batch, dtype=dtype) == size


@pytest.mark.parametrize(
    ("name", "dtype", "per_token"),
    [
        ("Llama-3 8B", "q8_0", 32 * 8 * 2 * 4 * 34),
        ("Llama-3 8B", "q4_0", 32 * 8 * 2 * 4 * 18),
        ("Llama-3 8B", "nvfp4", 32 * 8 * 2 * (64 + 8)),
        ("Llama-3 8B", "int8_per_token_head", 32 * 8 * 2 * (128 + 4)),
        ("Llama-3 8B", "fp8_per_token_head", 67_584),
        ("Llama-3 8B", "hf_int4", 32 * 8 * 2 * 2 * 36),
        ("DeepSeek-V3", "fp8_ds_mla", 61 * 656),
        ("DeepSeek-V3", "q8_0", 61 * 18 * 34),
        ("DeepSeek-V3.2-Exp", "fp8_ds_mla", 61 * (656 + 132)),
        ("Gemma-2 9B", "nvfp4", 42 * 8 * 2 * (128 + 16)),
    ],
)
def test_block_formats_count_their_scales(name, dtype, per_token):
    assert kv_bytes_per_token(name, dtype) == per_token
    if dtype != "hf_int4":
        assert kv_cache_bytes(name, 3000, 5, dtype, KvOptions(window="off")) == 15_000 * per_token


def test_llama_cpps_formats_are_those_of_ggml() -> None:
    """Elements and bytes of a block, as the package gguf has them from ggml's source."""
    for name in PAIRED[3:]:
        kept = FORMATS[name]
        assert (kept.block, kept.block_bytes) == GGML_QUANT_SIZES[GGMLQuantizationType[name.upper()]]
        assert kv_bytes_per_token("Llama-3 8B", name) == 32 * 8 * 2 * 4 * kept.block_bytes


def test_k_and_v_may_have_formats_of_their_own() -> None:
    """A head of 128: 4 × 34 bytes of K in q8_0, 256 of V in fp16."""
    found = kv_breakdown("Llama-3.1 8B", 16_384, dtype="q8_0/fp16")
    assert found.total_bytes == 16_384 * 32 * 8 * (4 * 34 + 256) == (544 + 1024) << 20
    assert str(found.terms[0]).endswith(f"(128 / 32 × 34 + 128 × 2) = {found.total_bytes:,} B")
    assert [note.code for note in found.notes] == ["pair"]
    for k in PAIRED:
        for v in PAIRED:
            each = [FORMATS[name].vector_bytes(128) for name in (k, v)]
            assert kv_bytes_per_token("Llama-3 8B", f"{k}/{v}") == 32 * 8 * sum(each)
    assert kv_format("q8_0/q8_0") is FORMATS["q8_0"]


def test_a_model_without_a_v_of_its_own_stores_all_in_ks_format() -> None:
    """MLA's latent with its RoPE key and DeepSeek-V3.2's indexer; written out, K and V are two again."""
    for model in ("DeepSeek-V3", "DeepSeek-V2-Lite", "DeepSeek-V3.2-Exp"):
        options = KvOptions(indexer="dtype") if model == "DeepSeek-V3.2-Exp" else None
        found = kv_breakdown(model, dtype="q8_0/q4_0", options=options)
        assert found.total_bytes == kv_cache_bytes(model, dtype="q8_0", options=options)
        assert [note.code for note in found.notes] == ["no_v", "format"]
        assert {factor.params.get("format") for term in found.terms for factor in term.factors} == {None, "q8_0"}
    expanded = KvOptions(layout="expanded_mla")
    assert kv_bytes_per_token("DeepSeek-V3", "q8_0/q4_0", expanded) == 61 * 128 * (6 * 34 + 4 * 18)


def test_hf_int4_keeps_the_newest_tokens_in_16_bits():
    """Quantised at every 128th token after the prompt: 100 + 130 leaves 2, and 127 is the longest tail."""
    quantised, full = 36_864, 131_072
    assert kv_cache_bytes("Llama-3 8B", 230, 3, "hf_int4", KvOptions(prompt_tokens=100)) == 3 * (
        228 * quantised + 2 * full
    )
    assert kv_cache_bytes("Llama-3 8B", 228, 1, "hf_int4", KvOptions(prompt_tokens=100)) == 228 * quantised
    assert kv_cache_bytes("Llama-3 8B", 1000, 1, "hf_int4") == 873 * quantised + 127 * full
    assert kv_cache_bytes("Llama-3 8B", 1, 1, "hf_int4") == quantised


def test_window_policies():
    layer = 2 * 8 * 256 * 2  # Gemma-3 12B, one token in one layer, bf16
    sizes = {
        KvOptions(): 8 * 131_072 + 40 * 1024,
        KvOptions(window="transformers"): 8 * 131_072 + 40 * 1023,
        KvOptions(window="off"): 48 * 131_072,
        # ceil((1023 + 2048) / 16) = 192 blocks, and one more where the window is not aligned
        KvOptions(window="vllm", batched_tokens=2048, block_size=16): 8 * 131_072 + 40 * 193 * 16,
    }
    for options, slots in sizes.items():
        assert kv_cache_bytes("Gemma-3 12B (text)", 131_072, options=options) == layer * slots
    scout = KvOptions(
        window="vllm", batched_tokens=2048, block_size=16
    )  # 8192 + 2048 = 640 blocks of 16, no block more
    assert kv_cache_bytes("Llama-4 Scout 17B-16E (text)", 131_072, options=scout) == 4096 * (12 * 131_072 + 36 * 10_240)


def test_paging_rounds_each_sequence_up_and_a_window_may_straddle_a_block():
    llama, mistral = 131_072, 131_072
    assert kv_cache_bytes("Llama-3 8B", 1001, 3, options=KvOptions(block_size=16)) == llama * 3 * 1008
    # tokens 904 … 4999 live in blocks 56 … 312: 257 blocks, though 4096 tokens are 256
    assert kv_cache_bytes("Mistral-7B v0.1", 5000, options=KvOptions(block_size=16)) == mistral * 257 * 16


def test_a_shared_prefix_is_stored_once_in_full_blocks_only():
    options = KvOptions(block_size=16, shared_prefix=1000)  # 62 full blocks; 8 tokens of the 63rd are private
    slots = (62 + 10 * (94 - 62)) * 16  # ceil(1500 / 16) = 94
    assert kv_cache_bytes("Llama-3 8B", 1500, 10, options=options) == 131_072 * slots
    unpaged = KvOptions(shared_prefix=1000)
    assert kv_cache_bytes("Llama-3 8B", 1500, 10, options=unpaged) == 131_072 * (1000 + 10 * 500)
    # the window of Mistral has left the prefix behind, so nothing is shared
    assert kv_cache_bytes("Mistral-7B v0.1", 5096, 10, options=unpaged) == 131_072 * 10 * 4096


def test_tensor_parallel_copies_heads_once_ranks_outnumber_them():
    """Llama-3 70B has 8 K/V heads: 8 ranks split them, 16 hold each twice. MLA's latent is whole on every rank."""
    plain = 327_680 * 8192
    for tp, total in ((1, plain), (8, plain), (16, 2 * plain), (64, 8 * plain)):
        breakdown = kv_breakdown("Llama-3 70B", 8192, options=KvOptions(tp=tp))
        assert breakdown.total_bytes == total
        assert breakdown.per_gpu_bytes * tp == total
    assert kv_breakdown("DeepSeek-V3", 8192, options=KvOptions(tp=8)).per_gpu_bytes == 70_272 * 8192
    naive = kv_breakdown("DeepSeek-V3", 8192, options=KvOptions(tp=8, layout="expanded_mla"))
    assert naive.per_gpu_bytes == 61 * 16 * (192 + 128) * 2 * 8192
    assert {note.code for note in kv_breakdown("Llama-3 70B", options=KvOptions(tp=16)).notes} == {"replication"}


def test_ranks_that_would_hold_copies_can_split_the_tokens():
    """vLLM's decode context parallelism: V3 on 8 ranks keeps ceil(tokens / 8) latents on each, not all of them."""
    split = kv_breakdown("DeepSeek-V3", 8192, options=KvOptions(tp=8, dcp=8))
    assert split.total_bytes == 70_272 * 8192
    assert split.per_gpu_bytes == 70_272 * 1024
    assert split.notes == ()
    assert "1,024 tokens (ceil(8,192 / 8)) × 8 ranks, each with its share of the tokens" in str(split.terms[0])
    (token,) = kv_token_terms("DeepSeek-V3", options=KvOptions(tp=8, dcp=4))
    assert "2 ranks, each with all of it (8 / 4)" in str(token)
    half = kv_breakdown("DeepSeek-V3", 1001, 3, options=KvOptions(tp=8, dcp=4))  # ceil(1001 / 4) = 251
    assert half.per_gpu_bytes == 3 * 70_272 * 251
    assert half.notes[0].params == {"tp": 8, "copies": 2}
    paged = KvOptions(
        tp=8, dcp=8, block_size=16, shared_prefix=500
    )  # ceil(1001 / 8 / 16) = 8 blocks, 62 // 16 = 3 shared
    assert kv_breakdown("DeepSeek-V3", 1001, 3, options=paged).per_gpu_bytes == 70_272 * (3 + 3 * 5) * 16
    llama = kv_breakdown("Llama-3 70B", 8192, options=KvOptions(tp=16, dcp=2))
    assert llama.total_bytes == 327_680 * 8192


@pytest.mark.parametrize(
    ("name", "tp", "dcp", "each"),
    [("DeepSeek-V3", 8, 8, 70_272), ("DeepSeek-V3", 8, 4, 140_544), ("Qwen3-235B-A22B", 8, 2, 192_512)],
)
def test_bytes_per_token_and_the_total_agree_where_ranks_split_the_tokens(name, tp, dcp, each) -> None:
    kept = KvOptions(tp=tp, dcp=dcp)
    assert kv_bytes_per_token(name, options=kept) == each
    assert kv_cache_bytes(name, 32_768, options=kept) == each * 32_768
    assert [phase.bytes for phase in kv_growth(name, options=kept)] == [each]
    drafted = replace(kept, draft=name)
    assert kv_bytes_per_token(name, options=drafted) == 2 * each


def test_linear_layers_keep_a_state_of_constant_size():
    """Three Mamba-2 layers to each full one: 3 past inputs of 1,280 channels, and 16 heads of 64 × 128."""
    state = StateSpec(conv_channels=1280, conv_past=3, heads=16, rows=64, columns=128)
    kinds = AttentionSpec("GQA", ("linear", "linear", "linear", "full"))
    hybrid = replace(catalogue()["Llama-3.2 1B"], attention=kinds, state=state)  # 12 linear layers, 4 full ones
    constant, token = 12 * (1280 * 3 + 16 * 64 * 128), 4 * 2 * 8 * 64
    for tokens in (1, 1000, 100_000):
        assert kv_cache_bytes(hybrid, tokens, 5) == 5 * 2 * (constant + token * tokens)
    assert kv_bytes_per_token(hybrid) == 2 * token
    exact = kv_cache_bytes(hybrid, 1000, options=KvOptions(state="fp32"))
    assert exact == 12 * (2 * 1280 * 3 + 4 * 16 * 64 * 128) + 2 * token * 1000
    assert kv_cache_bytes(hybrid, 1000, dtype="fp8") == 2 * constant + token * 1000  # states are not quantised
    assert kv_cache_bytes(hybrid, 1000, 7, options=KvOptions(block_size=16)) == 7 * 2 * (constant + token * 1008)
    halves = kv_breakdown(hybrid, 1000, options=KvOptions(tp=2, pp=2))
    assert halves.stage_bytes == ((constant + token * 1000) // 2,) * 2
    with pytest.raises(GlassLlamaError, match="state-space layers; expected full, sliding or chunked ones"):
        parameter_count(hybrid)


def test_a_draft_model_caches_every_token_too():
    """Llama-3.2 1B's 32,768 bytes a token beside Llama-3 70B's 327,680, on the last stage; blocks are both's."""
    options = KvOptions(draft="Llama-3.2 1B")
    assert kv_cache_bytes("Llama-3 70B", 1000, 3, options=options) == 3000 * (327_680 + 32_768)
    assert kv_bytes_per_token("Llama-3 70B", options=options) == 327_680 + 32_768
    stages = kv_breakdown("Llama-3 70B", 1000, options=replace(options, pp=4, tp=8)).stage_bytes
    assert stages[3] - stages[0] == 1000 * 32_768 // 8
    mine = replace(options, draft=catalogue()["Llama-3.2 1B"], block_size=16)
    assert kv_cache_bytes("Llama-3 70B", 1000, options=mine) == 1008 * (327_680 + 32_768)
    expanded = KvOptions(draft="DeepSeek-V2-Lite", layout="expanded_mla")  # the layout is the large model's
    assert kv_cache_bytes("DeepSeek-V2", 10, options=expanded) == 10 * 2 * (60 * 40_960 + 27 * 576)


def test_several_samples_of_one_prompt_share_it():
    """Copy on write: ten continuations of 500 tokens keep a prompt of 1,000 once, but for its last, half-full block."""
    ten = kv_cache_bytes("Llama-3 8B", 1500, 10, options=KvOptions(block_size=16, shared_prefix=1000))
    assert ten == 131_072 * 16 * (62 + 10 * 32)


def test_pipeline_stages_hold_their_own_layers():
    v3 = kv_breakdown("DeepSeek-V3", 1, options=KvOptions(pp=4, mtp=True))
    assert v3.stage_bytes == (15 * 1152, 15 * 1152, 16 * 1152, 16 * 1152)  # 61 layers, and the extra one on the last
    gemma = kv_breakdown("Gemma-2 9B", 8192, options=KvOptions(pp=2, tp=2))  # 21 layers each: 11 + 10 and 10 + 11
    token = 2 * 4 * 256 * 2
    assert gemma.stage_bytes == (token * (11 * 4096 + 10 * 8192), token * (10 * 4096 + 11 * 8192))
    assert sum(gemma.stage_bytes) * 2 == gemma.total_bytes


# Of vLLM's own tests/distributed/test_pipeline_partition.py, and two that were worked out by its rule by hand.
@pytest.mark.parametrize(
    ("n_layers", "layers"),
    [
        (2, [1, 1]),
        (3, [2, 1]),
        (3, [1, 1, 1]),
        (4, [1, 2, 1]),
        (5, [2, 2, 1]),
        (64, [21, 22, 21]),
        (61, [12, 12, 12, 13, 12]),
    ],
)
def test_layers_left_over_go_to_the_stages_before_the_last(n_layers, layers):
    assert in_stages(range(n_layers + 1), n_layers, len(layers)) == layers
    sglang = in_stages(range(n_layers + 1), n_layers, len(layers), short=0)
    assert sglang == sorted(layers)  # there the last ones have them


def test_engines_that_store_more_than_the_formula_are_marked():
    expanded = kv_breakdown("DeepSeek-V3", 1, options=KvOptions(layout="expanded_mla"))
    assert expanded.total_bytes == 61 * 40_960 * 2
    broadcast = kv_breakdown("Falcon-40B", 1, options=KvOptions(layout="broadcast_heads"))
    assert broadcast.total_bytes == 2 * 60 * 128 * 64 * 2
    ratios = [next(n for n in b.notes if n.code == "inflated").params["ratio"] for b in (expanded, broadcast)]
    assert ratios == [pytest.approx(71.1, abs=0.05), 16.0]


def test_static_caches_reserve_whatever_is_used():
    """llama2.c and Meta's code allocate for the longest sequence; a window needs no more than itself."""
    assert kv_cache_bytes("llama2.c stories15M", 5, 1, "fp32", KvOptions(reserved_tokens=256)) == 2 * 6 * 288 * 256 * 4
    reserved = KvOptions(reserved_tokens=8192, reserved_batch=32)
    assert kv_cache_bytes("Llama-3 8B", 10, 2, options=reserved) == 131_072 * 8192 * 32
    assert kv_cache_bytes("Mistral-7B v0.1", 10, 2, options=reserved) == 131_072 * 4096 * 32


def test_encoder_tokens_default_to_as_many_and_say_so():
    assumed = kv_breakdown("T5-large (v1.0)", 100)
    assert assumed.total_bytes == 98_304 * (100 + 100)
    assert [note.code for note in assumed.notes] == ["encoder_tokens"]
    assert kv_cache_bytes("T5-large (v1.0)", 100, options=KvOptions(encoder_tokens=7)) == 98_304 * (100 + 7)
    assert kv_bytes_per_token("T5-large (v1.0)") == 98_304


def test_kv_heads_that_a_config_does_not_count_are_said_to_be_assumed() -> None:
    sizes = {"num_hidden_layers": 32, "hidden_size": 4096, "intermediate_size": 14_336, "vocab_size": 128_256}
    config = {"model_type": "llama", **sizes, "num_attention_heads": 32, "max_position_embeddings": 8192}
    silent = kv_breakdown(spec_from_config(config), 100)
    said = {"field": "num_key_value_heads", "kind": "llama", "heads": 32}
    assert [(note.code, note.params) for note in silent.notes] == [("assumed_heads_as_heads", said)]
    assert silent.total_bytes == 100 * 32 * 32 * 2 * 128 * 2
    assert kv_breakdown(spec_from_config({**config, "num_key_value_heads": 8}), 100).notes == ()


def test_a_heads_width_that_a_config_does_not_state_is_said_to_be_the_classs() -> None:
    sizes = {"num_hidden_layers": 28, "hidden_size": 1024, "intermediate_size": 3072, "vocab_size": 151_936}
    sizes |= {"num_attention_heads": 16, "num_key_value_heads": 8, "max_position_embeddings": 40_960}
    silent = kv_breakdown(spec_from_config({"model_type": "qwen3", **sizes}), 100)
    said = {"field": "head_dim", "kind": "qwen3", "width": 128}
    assert [(note.code, note.params) for note in silent.notes] == [("assumed_head_dim", said)]
    assert kv_breakdown(spec_from_config({"model_type": "qwen3", **sizes, "head_dim": 128}), 100).notes == ()
    assert kv_breakdown(spec_from_config({"model_type": "llama", **sizes}), 100).notes == ()  # 1024 / 16


def test_a_heads_width_by_another_classs_name_is_remarked_beside_the_cache() -> None:
    sizes = {"num_hidden_layers": 32, "hidden_size": 4096, "intermediate_size": 14_336, "vocab_size": 128_256}
    sizes |= {"num_attention_heads": 32, "num_key_value_heads": 8, "max_position_embeddings": 8192, "head_size": 64}
    asked = "Was head_dim meant?"
    own = kv_breakdown(spec_from_config({"model_type": "llama", **sizes}), 100)
    params = {"field": "head_size", "kind": "llama", "width": 128}
    assert [(note.code, note.text, note.params) for note in own.notes] == [
        (
            "passed_over_quotient",
            "head_size is not read by transformers' class for llama; head_dim 4,096 / 32 = 128 is counted. " + asked,
            {**params, "stream": 4096, "heads": 32},
        )
    ]
    assert own.total_bytes == 100 * 32 * 8 * 2 * 128 * 2
    theirs = kv_breakdown(spec_from_config({"model_type": "qwen3", **sizes, "hidden_size": 1024}), 100)
    assert [(note.code, note.text) for note in theirs.notes] == [
        ("assumed_head_dim", "head_dim is not in the file: 128, as transformers' class for qwen3 then has it."),
        (
            "passed_over",
            "head_size is not read by transformers' class for qwen3; head_dim 128 is counted. " + asked,
        ),
    ]
    assert kv_breakdown(spec_from_config({"model_type": "llama", **sizes, "head_dim": 64}), 100).notes == ()


def test_shared_layers_extra_layers_and_the_indexers_dtype():
    """Gemma-3n's last layers read an earlier layer's cache; V3's MTP layer caches 576 numbers more."""
    shared = replace(catalogue()["Llama-3 8B"], kv_shared_layers=12)
    assert kv_bytes_per_token(shared) == 2 * 20 * 8 * 128 * 2
    assert kv_cache_bytes(shared, 100, options=KvOptions(shared_layers=0)) == 131_072 * 100
    half = KvOptions(shared_layers=16)  # CLA2
    assert kv_bytes_per_token("Llama-3 8B", options=half) == 65_536
    assert kv_cache_bytes("Llama-3 8B", 1000, 2, options=half) == 2 * 1000 * 65_536
    # A draft model of 16 layers with 2 × 8 heads of 64 keeps all of its own.
    drafted = KvOptions(shared_layers=16, draft="Llama-3.2 1B")
    assert kv_cache_bytes("Llama-3 8B", 1000, options=drafted) == 1000 * (65_536 + 16 * 2 * 8 * 64 * 2)
    # Gemma-3 12B: 48 layers, every sixth of them full; the last 10 hold two full ones. 8 heads of 256, window 1,024.
    gemma = kv_cache_bytes("Gemma-3 12B (text)", 5000, options=KvOptions(shared_layers=10))
    assert gemma == 2 * 8 * 256 * 2 * (6 * 5000 + 32 * 1024)
    assert kv_bytes_per_token("DeepSeek-V3", options=KvOptions(mtp=True)) == 62 * 1152
    assert kv_bytes_per_token("DeepSeek-V3.2-Exp", options=KvOptions(indexer="dtype")) == 61 * (1152 + 256)


@pytest.mark.parametrize("name", list(catalogue()))
def test_the_printed_factors_multiply_to_the_bytes(name):
    for options in (KvOptions(), KvOptions(block_size=16, shared_prefix=100), KvOptions(pp=2, reserved_tokens=9000)):
        breakdown = kv_breakdown(name, 8191, 3, "fp16", options)
        assert sum(prod(f.value for f in term.factors) for term in breakdown.terms) == breakdown.total_bytes
        assert sum(breakdown.stage_bytes) * options.tp == breakdown.total_bytes
        for term in breakdown.terms:
            assert str(term).endswith(f"= {term.bytes:,} B")


def test_the_four_kinds_of_one_shape():
    def per_token(name, **given):
        return {
            kind: kv_bytes_per_token(spec) // 2 for kind, spec in attention_kinds(catalogue()[name], **given).items()
        }

    assert per_token("Llama-3 8B") == {"MHA": 262_144, "GQA": 65_536, "MQA": 8_192, "MLA": 32 * (512 + 64)}
    assert per_token("DeepSeek-V3") == {"MHA": 61 * 32_768, "GQA": 61 * 2048, "MQA": 61 * 256, "MLA": 35_136}
    assert list(per_token("Falcon-7B")) == ["MHA", "MQA", "MLA"]  # 71 heads have no divisor to group by
    assert per_token("Llama-2 7B", n_kv_heads=4)["GQA"] == 2 * 32 * 4 * 128
    with pytest.raises(GlassLlamaError, match=r"n_kv_heads is 5; expected a divisor of n_heads \(32\)"):
        attention_kinds(catalogue()["Llama-3 8B"], n_kv_heads=5)


def test_plain_fp8_of_a_model_with_an_indexer_is_told_what_vllm_stores_under_that_name() -> None:
    """512 + 16 + 128 B of the latent and 128 + 4 of the indexer in each of 61 layers, where plain fp8 has 576 + 132."""
    told = {note.code: note.params for note in kv_breakdown("DeepSeek-V3.2-Exp", 8192, 1, "fp8").notes}
    assert told["stored_fp8"] == {"fp8": 61 * (576 + 132), "fp8_ds_mla": 61 * (656 + 132)}
    for name, dtype in (("DeepSeek-V3.2-Exp", "bf16"), ("DeepSeek-V3", "fp8")):
        assert "stored_fp8" not in {note.code for note in kv_breakdown(name, 8192, 1, dtype).notes}
