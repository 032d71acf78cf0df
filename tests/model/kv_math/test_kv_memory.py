"""Weights beside the cache: bytes, what fits on a GPU, what a load needs, the bound on decoding. Integers by hand."""

from dataclasses import replace
from fractions import Fraction
from itertools import product
from math import prod

import pytest

from model.errors import GlassLlamaError
from model.kv_math import KvOptions, kv_breakdown
from model.kv_math.gpus import GPUS, Gpu, find_gpu, own_gpu
from model.kv_math.memory import Setup, gpus_needed, largest_batch, largest_context, memory_use
from model.kv_math.options import rank_copies
from model.kv_math.speed import decode_bound
from model.kv_math.vllm_rule import GRAPHS, vllm_rule
from model.kv_math.weights import AS_CONFIG, WEIGHT_FORMATS, weight_breakdown
from model.published.catalogue import catalogue, parameter_count

# The vendors' datasheets: GB (10⁹ bytes) of memory and GB/s.
DATASHEETS = {
    "B300 288 GB": (288, 8000),
    "B200 180 GB": (180, 8000),
    "H200 141 GB": (141, 4800),
    "H20 96 GB": (96, 4000),
    "H100 80 GB": (80, 3350),
    "A100 80 GB": (80, 2039),
    "A100 40 GB": (40, 1555),
    "L40S 48 GB": (48, 864),
    "RTX 5090 32 GB": (32, 512 * 28 // 8),
    "RTX 4090 24 GB": (24, 384 * 21 // 8),
    "T4 16 GB": (16, 320),
    "MI325X 256 GB": (256, 6000),
    "MI300X 192 GB": (192, 5325),
    "Apple M3 Ultra 512 GB": (512, 819),
    "Apple M4 Max 128 GB": (128, 546),
}
# MiB that nvidia-smi reports; of the MI300X rocm-smi, 206,141,652,992 bytes.
REPORTED = {
    "B200 180 GB": 183_359,
    "H200 141 GB": 143_771,
    "H20 96 GB": 97_871,
    "H100 80 GB": 81_559,
    "A100 80 GB": 81_920,
    "A100 40 GB": 40_960,
    "L40S 48 GB": 46_068,
    "RTX 5090 32 GB": 32_607,
    "RTX 4090 24 GB": 24_564,
    "T4 16 GB": 15_360,
    "MI300X 192 GB": 206_141_652_992 >> 20,
}
H100 = 81_559 << 20
SHARE = Setup(usable_percent=90)


def test_deepseek_v3_2_fits_on_eight_h200_as_its_files_are_stored() -> None:
    eight = Setup(weights=AS_CONFIG, options=KvOptions(tp=8))
    assert memory_use("DeepSeek-V3.2-Exp", 8192, 1, "H200", eight).fits
    assert not memory_use("DeepSeek-V3.2-Exp", 8192, 1, "H200", replace(eight, weights="bf16")).fits


def test_the_gpus_are_those_of_the_datasheets_and_of_their_drivers():
    gb = {name: 2**30 if name.startswith("Apple") else 10**9 for name in GPUS}
    assert {name: (gpu.stated // gb[name], gpu.bandwidth // 10**9) for name, gpu in GPUS.items()} == DATASHEETS
    assert all(gpu.stated % gb[name] == gpu.bandwidth % 10**9 == 0 and gpu.source for name, gpu in GPUS.items())
    counted = {name: gpu.memory for name, gpu in GPUS.items() if gpu.memory != gpu.stated}
    assert counted == {name: mebibytes << 20 for name, mebibytes in REPORTED.items()}
    assert all(bool(gpu.reported_in) == (name in REPORTED) for name, gpu in GPUS.items())


def test_a_mac_lends_its_gpu_three_quarters_of_its_gibibytes():
    """As Metal prints it: 73,728 MiB on a Mac of 96 GB, so 98,304 MiB on one of 128 and 393,216 on one of 512."""
    assert 73_728 * 128 // 96 == 98_304
    assert {gb: find_gpu(f"{gb} GB").usable(100) for gb in (128, 512)} == {128: 98_304 << 20, 512: 393_216 << 20}


def test_a_gpu_is_found_by_a_part_of_its_name():
    for name in GPUS:
        assert find_gpu(name).name == find_gpu(name.upper().replace(" ", "-")).name == name
    found = {"h100": "H100 80 GB", "H20": "H20 96 GB", "h200": "H200 141 GB", "a100-40": "A100 40 GB"}
    found |= {
        "4090": "RTX 4090 24 GB",
        "rtx5090": "RTX 5090 32 GB",
        "mi300": "MI300X 192 GB",
        "m4max": "Apple M4 Max 128 GB",
    }
    for part, name in found.items():
        assert find_gpu(part).name == name
    mine = own_gpu(96, 1792, "Mine")
    assert (mine.memory, mine.bandwidth) == (96 * 10**9, 1792 * 10**9)
    assert find_gpu(mine) is mine


@pytest.mark.parametrize("name", ["A100", "", "4", "V100", "GB", None, 5, "x" * 10_000])
def test_an_unknown_gpu(name):
    with pytest.raises(
        GlassLlamaError, match=r"^gpu is .*; expected one of B300 288 GB, B200 180 GB, H200 141 GB"
    ) as caught:
        find_gpu(name)
    assert len(str(caught.value)) < 400


@pytest.mark.parametrize("memory", [0, -1, 10**7, 1.5, "80", True])
def test_ones_own_gpu_out_of_range(memory):
    with pytest.raises(GlassLlamaError, match=r"^memory_gb is .*; expected a whole number from 1 to 1,000,000"):
        own_gpu(memory, 1000)
    with pytest.raises(
        GlassLlamaError, match=r"^bandwidth_gb_per_s is .*; expected a whole number from 1 to 1,000,000"
    ):
        own_gpu(80, memory)


@pytest.mark.parametrize("name", list(catalogue()))
def test_plain_formats_are_the_parameter_count_times_the_bytes(name):
    count = parameter_count(catalogue()[name])
    for dtype, size in (("fp32", 4), ("fp16", 2), ("bf16", 2)):
        breakdown = weight_breakdown(name, dtype)
        assert breakdown.weights == count
        assert breakdown.total_bytes == sum(prod(f.value for f in t.factors) for t in breakdown.terms) == count * size
        assert breakdown.stage_bytes == (count * size,)
        for term in breakdown.terms:
            assert str(term).endswith(f"= {term.bytes:,} B")


# Llama-3 8B: two tables of 128,256 × 4,096, 65 norms of 4,096, and 32 layers of 4,096 × (2 × 4,096 + 2 × 1,024 +
# 3 × 14,336).
TABLES, NORMS, MATRICES = 2 * 525_336_576, 65 * 4096, 32 * 218_103_808


@pytest.mark.parametrize(
    ("dtype", "size"),
    [
        ("fp8", MATRICES + 2 * TABLES + 2 * NORMS),
        ("int8", MATRICES + 2 * TABLES + 2 * NORMS),
        ("int4", MATRICES // 2 + 2 * TABLES + 2 * NORMS),
        ("int4_g128", MATRICES // 256 * 133 + 2 * TABLES + 2 * NORMS),
        ("nvfp4", MATRICES // 16 * 9 + 2 * TABLES + 2 * NORMS),
        ("mxfp4", MATRICES // 32 * 17 + 2 * TABLES + 2 * NORMS),
        ("q8_0", (MATRICES + TABLES) // 32 * 34 + 2 * NORMS),
        ("q4_0", (MATRICES + TABLES // 2) // 32 * 18 + TABLES // 2 // 256 * 210 + 2 * NORMS),
    ],
)
def test_quantised_weights_keep_norms_and_mostly_embeddings_in_16_bits(dtype, size):
    assert MATRICES + TABLES + NORMS == 8_030_261_248
    assert weight_breakdown("Llama-3 8B", dtype).total_bytes == size
    other = weight_breakdown("Llama-3 8B", dtype, embeddings="fp32")
    embedding, output = {"q8_0": (34, 272), "q4_0": (18, 210)}.get(dtype, (64, 512))
    assert other.total_bytes == size + TABLES * 4 - TABLES // 2 // 32 * embedding - TABLES // 2 // 256 * output


@pytest.mark.parametrize(
    ("model", "kept"),
    [("Llama-3 8B", "q6_K"), ("Llama-3.2 1B", "q6_K"), ("Falcon-7B", "q8_0"), ("SmolLM2-135M", "q8_0")],
)
def test_a_file_of_q4_0_has_its_output_matrix_in_more_bits(model, kept):
    """As llama.cpp's llama-quant.cpp: q6_K, where it is the embedding, too; q8_0 for Falcon and for rows of no 256."""
    weights = weight_breakdown(model, "q4_0")
    assert weights.output == kept
    term = next(one for one in weights.terms if one.label in ("unembedding", "embedding.tied"))
    block, size = {"q6_K": (256, 210), "q8_0": (32, 34)}[kept]
    assert term.bytes == term.part.each // block * size
    assert weight_breakdown(model, "q4_0", embeddings="bf16").output == "bf16"


def test_deepseek_v3_in_fp8():
    """671,026,419,200 weights: two tables of 129,280 × 7,168 and the norms and routers in 16 bits, the others in 8."""
    tables = 2 * 129_280 * 7_168
    small = 7_168 + 61 * (2 * 7_168 + 512 + 1_536) + 58 * 256 * (7_168 + 1)
    breakdown = weight_breakdown("DeepSeek-V3", "fp8")
    assert breakdown.total_bytes == 671_026_419_200 + tables + small == 672_987_229_184
    with_mtp = weight_breakdown("DeepSeek-V3", "fp8", mtp=True)
    # README_WEIGHTS.md: 11.5 B parameters of its own, beside the embedding and the head that it shares
    assert (with_mtp.weights - breakdown.weights) / 1e9 == pytest.approx(11.6, abs=0.05)


def test_mtp_layers_that_are_not_counted_are_told_of():
    fp8 = Setup(weights="fp8", options=KvOptions(tp=8))
    added = weight_breakdown("DeepSeek-V3", "fp8", mtp=True).total_bytes - 672_987_229_184
    assert memory_use("DeepSeek-V3", 8192, 1, "H200 141 GB", fp8).without_mtp_bytes == added
    counted = replace(fp8, options=KvOptions(tp=8, mtp=True))
    assert memory_use("DeepSeek-V3", 8192, 1, "H200 141 GB", counted).without_mtp_bytes is None
    assert memory_use("DeepSeek-V3", setup=replace(fp8, weight_bytes=10**9)).without_mtp_bytes is None
    assert memory_use("Llama-3 8B").without_mtp_bytes is None


@pytest.mark.parametrize(
    ("name", "dtype", "message"),
    [
        ("Llama-3 8B", "bf61", r"^weights is 'bf61'; expected one of fp32, fp16, .* \(did you mean bf16\?\)"),
        ("Llama-3 8B", None, "^weights is None; expected one of fp32"),
        ("Llama-3 8B", "hf_int4", "^weights is 'hf_int4'; expected one of"),
    ],
)
def test_unknown_or_unfit_weight_formats(name, dtype, message):
    with pytest.raises(GlassLlamaError, match=message):
        weight_breakdown(name, dtype)
    assert set(WEIGHT_FORMATS) >= {"fp32", "fp16", "bf16", "fp8", "int8", "int4", "q8_0", "q4_0", "nvfp4"}


def test_blocks_that_do_not_divide_the_weights():
    odd = replace(catalogue()["llama2.c stories260K"], ffn_hidden=171)  # 3 × 64 × 171 = 128 × 256 + 64
    with pytest.raises(
        GlassLlamaError, match=r"^weights int4_g128 store blocks of 256, which do not divide the 32,832"
    ):
        weight_breakdown(odd, "int4_g128")


def test_pipeline_stages_hold_their_layers_and_the_tables_at_the_ends():
    layer, table = 2 * (218_103_808 + 2 * 4096), 2 * 525_336_576
    breakdown = weight_breakdown("Llama-3 8B", pp=3)
    assert breakdown.stage_bytes == (11 * layer + table, 11 * layer, 10 * layer + table + 2 * 4096)
    tied = weight_breakdown("Llama-3.2 1B", pp=2)  # the one table is at both ends
    assert sum(tied.stage_bytes) - tied.total_bytes == 2 * 128_256 * 2048
    moe = weight_breakdown("DeepSeek-V3", pp=61)
    assert moe.stage_bytes[1] < moe.stage_bytes[30]  # the first three layers are dense


def test_the_fullest_stage_is_the_one_with_most_bytes_of_weights_and_cache_together():
    """By hand: Qwen3-32B's 64 layers as 21, 22, 21 on L40S; DeepSeek-V3's 61 as 12, 12, 12, 13, 12 on H200."""
    layer = 2 * (5120 * 128 * (2 * 64 + 2 * 8) + 3 * 5120 * 25_600 + 2 * 5120 + 2 * 128)
    table, cache = 2 * 151_936 * 5120, 64 * 8192 * 2 * 8 * 128
    qwen = memory_use("Qwen3-32B", 8192, 64, "L40S", Setup("fp8", options=KvOptions(pp=3)))
    first, middle, last = 21 * (layer + cache) + table, 22 * (layer + cache), 21 * (layer + cache) + table + 2 * 5120
    assert qwen.stage_bytes == (first, middle, last)
    assert qwen.per_gpu_bytes == middle
    assert (qwen.fits, qwen.free_bytes) == (True, 1_231_516_672)

    v3 = memory_use("DeepSeek-V3", 8192, 64, "H200", Setup("fp8", AS_CONFIG, options=KvOptions(pp=5)))
    cached = 64 * 8192 * 576
    assert v3.cache.stage_bytes == tuple(count * cached for count in (12, 12, 12, 13, 12))
    assert v3.stage_bytes.index(v3.per_gpu_bytes) == 3
    assert not v3.fits


def test_tensor_parallel_ranks_split_matrices_and_copy_kv_heads_and_norms():
    """Llama-3 70B: 8 K/V heads on 16 ranks, so each rank keeps one of them; norms are whole on every rank."""
    d, layers = 8192, 80
    table, q_o, kv_head, ffn, norms = 128_256 * d, 2 * d * d, 2 * d * 128, 3 * d * 28_672, 2 * d
    for tp, heads in ((8, 1), (16, 1), (4, 2)):
        each = layers * ((q_o + ffn) // tp + heads * kv_head + norms) + 2 * table // tp + d
        assert weight_breakdown("Llama-3 70B", tp=tp).per_gpu_bytes == 2 * each
    mla = weight_breakdown("DeepSeek-V2", tp=8)
    latents = next(term for term in mla.terms if term.label == "attention.latents")
    assert latents.rank_bytes(8) == latents.bytes == 2 * 60 * 5120 * (512 + 64 + 1536)


def test_what_is_left_on_one_h100_decides_batch_and_context():
    """72 × 10⁹ usable bytes less 16,060,522,496 of weights, over 131,072 a token: 426,784 tokens, 52 × 8,192."""
    use = memory_use("Llama-3 8B", 8192, 1, "H100", SHARE)
    assert use.usable_bytes == H100 * 9 // 10 == 76_968_728_985
    assert use.per_gpu_bytes == 16_060_522_496 + 1_073_741_824
    assert use.fits
    assert use.free_bytes == 76_968_728_985 - 17_134_264_320
    assert largest_batch("Llama-3 8B", 8192, "H100", SHARE).value == 60_908_206_489 // 1_073_741_824 == 56
    context = largest_context("Llama-3 8B", 1, "H100", SHARE)
    assert context.value == 60_908_206_489 // 131_072 == 464_692
    assert not context.unlimited
    assert context.next_bytes - context.use.usable_bytes == 131_072 - context.use.free_bytes
    all_of_it = Setup(usable_percent=100)
    assert largest_batch("Llama-3 8B", 8192, "H100", all_of_it).value == (H100 - 16_060_522_496) // 1_073_741_824


def test_what_does_not_fit_and_what_memory_does_not_limit():
    lacking = largest_batch("Llama-3 70B", 8192, "H100", SHARE)
    assert (lacking.value, lacking.unlimited, lacking.next_bytes) == (0, False, None)
    assert lacking.use.free_bytes == H100 * 9 // 10 - 2 * 70_553_706_496 - 327_680 * 8192
    window = largest_context("Mistral-7B v0.1", 1, "4090")
    assert window.unlimited
    assert window.value == 10**8
    assert window.next_bytes is None


@pytest.mark.parametrize(
    "name", ["Llama-3 8B", "Gemma-3 12B (text)", "DeepSeek-V2-Lite", "T5-large (v1.0)", "Falcon-7B"]
)
@pytest.mark.parametrize("dtype", ["bf16", "fp8"])
def test_one_more_never_fits(name, dtype):
    for setup in (Setup(dtype, "fp8"), Setup(dtype, options=KvOptions(block_size=16, shared_prefix=100))):
        batch = largest_batch(name, 4000, "A100 40", setup)
        assert memory_use(name, 4000, batch.value, "A100 40", setup).fits
        assert not memory_use(name, 4000, batch.value + 1, "A100 40", setup).fits
        context = largest_context(name, 300, "A100 40", setup)
        if not context.unlimited and context.value:
            assert memory_use(name, context.value, 300, "A100 40", setup).fits
            more = memory_use(name, context.value + 1, 300, "A100 40", setup)
            assert not more.fits
            assert more.per_gpu_bytes == context.next_bytes


def test_a_window_in_blocks_limits_the_context():
    """Mistral-7B v0.1: 131,072 B a token, a window of 4,096 tokens, 7,241,732,096 weights of 2 B; 90 % of 80 GB.

    4,101 tokens of 107 sequences would fit. 4,097 take 257 blocks of 16; at 4,112 the window leaves one of them.
    """
    assert (72 * 10**9 - 2 * 7_241_732_096) // (107 * 131_072) == 4_101
    setup, a100 = Setup(options=KvOptions(block_size=16), usable_percent=90), own_gpu(80, 2039)
    found = largest_context("Mistral-7B v0.1", 107, a100, setup)
    assert (found.value, found.unlimited) == (4_096, False)
    assert found.next_bytes == 2 * 7_241_732_096 + 107 * 257 * 16 * 131_072
    assert memory_use("Mistral-7B v0.1", 4_112, 107, a100, setup).fits


@pytest.mark.parametrize(
    ("name", "batch", "gpu", "dtype", "block", "prefix"),
    [
        ("Gemma-3 12B (text)", 24, own_gpu(40, 1555), "bf16", 100, 0),
        ("Gemma-3 12B (text)", 60, own_gpu(40, 1555), "fp8", 32, 500),
        ("Mistral-7B v0.1", 106, own_gpu(80, 2039), "bf16", 48, 3000),
    ],
)
def test_every_length_up_to_the_largest_context_fits(name, batch, gpu, dtype, block, prefix):
    setup = Setup(dtype, options=KvOptions(block_size=block, shared_prefix=prefix), usable_percent=90)
    found = largest_context(name, batch, gpu, setup)
    fits = [memory_use(name, tokens, batch, gpu, setup).fits for tokens in range(max(1, prefix), found.value + 2)]
    assert found.value > catalogue()[name].attention.window
    assert fits == [True] * (len(fits) - 1) + [False]


def test_64_users_at_32k():
    """Llama-3 70B: 141,107,412,992 bytes of weights and 64 × 32,768 × 327,680 of cache; 90 % of a GPU, 75 of a Mac."""
    needs = gpus_needed("Llama-3 70B", 64, 32_768, setup=SHARE)
    assert needs.weights.total_bytes == 2 * 70_553_706_496
    assert needs.cache.total_bytes == 64 * 32_768 * 327_680
    assert needs.total_bytes == 828_302_180_352
    percent = {name: 75 if name.startswith("Apple") else 90 for name in DATASHEETS}
    gb = {name: 2**30 if name.startswith("Apple") else 10**9 for name in DATASHEETS}
    stated = {name: memory * gb[name] for name, (memory, _) in DATASHEETS.items()}
    memory = stated | {name: mebibytes << 20 for name, mebibytes in REPORTED.items()}
    usable = {name: bytes_ * percent[name] // 100 for name, bytes_ in memory.items()}
    assert {n.gpu.name: n.room for n in needs.gpus} == usable
    assert {n.gpu.name: n.at_least for n in needs.gpus} == {
        k: -(-828_302_180_352 // size) for k, size in usable.items()
    }
    found = {need.gpu.name: need.use.gpus for need in needs.gpus}
    assert found == {
        "B300 288 GB": 4,
        "B200 180 GB": 5,
        "H200 141 GB": 7,
        "H20 96 GB": 10,
        "H100 80 GB": 12,
        "A100 80 GB": 12,
        "A100 40 GB": 24,
        "L40S 48 GB": 20,
        "RTX 5090 32 GB": 32,
        "RTX 4090 24 GB": 40,
        "T4 16 GB": 64,
        "MI325X 256 GB": 4,
        "MI300X 192 GB": 5,
        "Apple M3 Ultra 512 GB": 3,
        "Apple M4 Max 128 GB": 9,
    }
    h200 = next(need for need in needs.gpus if need.gpu.name == "H200 141 GB")
    assert (h200.one_server.gpus, h200.one_server.cache.options.tp) == (8, 8)
    assert all(need.use.fits and need.use.gpus >= need.at_least for need in needs.gpus)


@pytest.mark.parametrize("name", ["Llama-3 70B", "DeepSeek-V2", "Gemma-3 12B (text)", "Falcon-7B"])
def test_no_smaller_layout_would_do(name):
    """Every tp up to 8, with copies split over tokens or not, times every number of stages: none smaller fits."""
    spec = catalogue()[name]
    need = gpus_needed(name, 40, 20_000, ["A100 80"]).gpus[0]
    for tp in range(1, 9):
        for dcp in range(1, tp + 1):
            for pp in range(1, min(spec.n_layers, need.use.gpus - 1) + 1):
                if tp * pp < need.use.gpus:
                    try:
                        use = memory_use(name, 20_000, 40, "A100 80", Setup(options=KvOptions(tp=tp, dcp=dcp, pp=pp)))
                    except GlassLlamaError:
                        continue
                    assert not use.fits


def fewest_the_slow_way(name, users, tokens, gpu, setup):
    """Every layout tried for itself: (GPUs, tp, dcp, pp) of the fewest that fit, more ranks before more stages."""
    spec, fitting = catalogue()[name], []
    for tp, pp in product((1, 2, 4, 8), range(1, spec.n_layers + 1)):
        for dcp in {1, rank_copies(spec, KvOptions(tp=tp))}:
            options = replace(setup.options, tp=tp, dcp=dcp, pp=pp)
            try:
                use = memory_use(spec, tokens, users, gpu, replace(setup, options=options))
            except GlassLlamaError:
                continue
            if use.fits:
                fitting.append((tp * pp, -tp, dcp, pp))
    best = min(fitting, default=None)
    return best and (best[0], -best[1], best[2], best[3])


@pytest.mark.parametrize("name", ["DeepSeek-V2-Lite", "Llama-4 Scout 17B-16E (text)", "Qwen3-30B-A3B"])
@pytest.mark.parametrize("users", [1, 64, 4096])
@pytest.mark.parametrize("setup", [Setup(), Setup("fp8", "fp8", options=KvOptions(draft="Llama-3.2 1B"))])
def test_the_fewest_gpus_are_those_of_the_slow_way(name, users, setup):
    """Several loads of one model are asked, as by a slider: what is kept of it must not depend on them."""
    for need in gpus_needed(name, users, 20_000, ["H200", "A100 40", "T4"], setup).gpus:
        found = need.use and need.use.cache.options
        found = found and (need.use.gpus, found.tp, found.dcp, found.pp)
        assert found == fewest_the_slow_way(name, users, 20_000, need.gpu, setup)


@pytest.mark.parametrize("name", ["DeepSeek-V3", "T5-large (v1.0)", "Gemma-3 12B (text)"])
def test_stages_counted_from_one_breakdown_are_those_of_its_own(name):
    whole, cache = weight_breakdown(name, "fp8", tp=4), kv_breakdown(name, 5000, 3, options=KvOptions(tp=4))
    for pp in (3, 1, 7, 3):
        assert whole.in_stages(pp) == weight_breakdown(name, "fp8", tp=4, pp=pp).stage_bytes
        assert cache.in_stages(pp) == kv_breakdown(name, 5000, 3, options=KvOptions(tp=4, pp=pp)).stage_bytes
    assert whole.stage_bytes == whole.in_stages(1)


def test_no_layout_and_one_gpu_and_formats_without_parallelism():
    assert gpus_needed("T5-11B (v1.0)", 64, 32_768, ["T4"]).gpus[0].use is None
    assert gpus_needed("Llama-3 8B", 1, 1000, ["H100"]).gpus[0].use.gpus == 1
    hf = gpus_needed("Llama-3 8B", 64, 32_768, ["4090"], Setup("hf_int4")).gpus[0]
    assert hf.use.cache.options.dcp == 1


def test_a_draft_models_weights_and_cache_are_counted():
    """Llama-3.2 1B drafts for Llama-3 70B: 32,768 bytes more a token, 1,235,814,400 weights more, whole on 8 ranks."""
    setup = Setup(options=KvOptions(tp=8, draft="Llama-3.2 1B"))
    use, alone = (memory_use("Llama-3 70B", 1000, 4, "H100", s) for s in (setup, Setup(options=KvOptions(tp=8))))
    assert use.cache.total_bytes - alone.cache.total_bytes == 4 * 1000 * 32_768
    draft = use.draft_weights
    assert draft.total_bytes == 2 * 1_235_814_400
    assert use.per_gpu_bytes - alone.per_gpu_bytes == draft.per_gpu_bytes + 4 * 1000 * 32_768 // 8


def test_decoding_reads_the_weights_once_and_the_cache():
    """Llama-3 8B: all weights but the embedding's table, of which one row; 131,072 bytes for each of 8,192 tokens."""
    bound = decode_bound("Llama-3 8B", 8192, 1, "H100")
    assert bound.weight_bytes == 16_060_522_496 - 1_050_673_152 + 2 * 4096
    assert bound.cache_bytes == 1_073_741_824
    assert bound.seconds == bound.spread_seconds == Fraction(bound.weight_bytes + bound.cache_bytes, 3_350 * 10**9)
    assert bound.tokens_per_second == pytest.approx(208.287, abs=0.001)
    assert sum(prod(f.value for f in factors) for _, factors in bound.weight_terms) == bound.weight_bytes
    many = decode_bound("Llama-3 8B", 8192, 20, "H100")
    assert many.weight_bytes == bound.weight_bytes + 19 * 2 * 4096
    assert many.cache_bytes == 20 * bound.cache_bytes
    assert many.batch_tokens_per_second == pytest.approx(20 * many.tokens_per_second)


def test_decoding_with_experts_reads_the_chosen_ones():
    """Mixtral: 12,879,925,248 active weights, less the table of 32,000 × 4,096 but for a row a token."""
    one = decode_bound("Mixtral-8x7B v0.1", 100, 1, "H200")
    assert one.weight_bytes == one.spread_weight_bytes == 2 * (12_879_925_248 - 32_000 * 4096 + 4096)
    expert = 2 * 32 * 3 * 4096 * 14_336
    for batch, chosen in ((3, 6), (4, 8), (40, 8)):
        many = decode_bound("Mixtral-8x7B v0.1", 100, batch, "H200")
        assert many.spread_weight_bytes - many.weight_bytes == (chosen - 2) * expert
        assert many.spread_seconds > many.seconds


def test_decoding_skips_what_it_does_not_read():
    t5 = decode_bound("T5-large (v1.0)", 10, 1, "T4", Setup(options=KvOptions(encoder_tokens=500)))
    layer = 4 * 1024 * 1024 + 2 * 1024 * 1024 + 2 * 1024 * 4096 + 3 * 1024  # self, cross's q and o, ffn, norms
    assert t5.weight_bytes == 2 * (32_128 * 1024 + 24 * layer + 1024 + 32 * 16)
    assert t5.cache_bytes == 98_304 * (10 + 500)
    # V3.2 reads 2,048 latents however long the context, and all of its indexer's keys
    setup = Setup("bf16", "fp8", options=KvOptions(tp=8))
    v32 = decode_bound("DeepSeek-V3.2-Exp", 100_000, 1, "H200", setup)
    assert v32.cache_bytes == 8 * 61 * (2048 * 1152 + 100_000 * 132)
    sliding = decode_bound(
        "Mistral-7B v0.1", 50_000, 1, "A100 80", Setup(options=KvOptions(window="off", block_size=16))
    )
    assert sliding.cache_bytes == 131_072 * 4096
    shared = replace(catalogue()["Llama-3 8B"], kv_shared_layers=12)
    assert decode_bound(shared, 100, 1, "H100").cache_bytes == 131_072 * 100  # kept once, read by each layer
    asked = Setup(options=KvOptions(shared_layers=12))
    assert decode_bound("Llama-3 8B", 100, 1, "H100", asked).cache_bytes == 131_072 * 100
    reserved = Setup(options=KvOptions(reserved_tokens=8192))
    assert decode_bound("Llama-3 8B", 100, 1, "H100", reserved).cache_bytes == 131_072 * 100


def test_a_mac_keeps_a_quarter_of_its_memory():
    for percent, usable in ((90, 96), (75, 96), (50, 64)):
        use = memory_use("Llama-3 8B", 8192, 1, "M4 Max", Setup(usable_percent=percent))
        assert use.usable_bytes == usable * 2**30
    assert gpus_needed("Llama-3 70B", 1, 8192, ["H100", "M4 Max"]).gpus[1].at_least == 2  # 143.8 GB: 103.1 fit in none


def test_of_a_chunk_the_tokens_from_its_beginning_are_read():
    """Llama 4 Scout: 12 layers read all tokens, 36 those of the query's own chunk of 8,192; 8 K/V heads of 128."""
    each = 8 * 2 * 128 * 2
    setup = Setup(options=KvOptions(tp=8))
    for tokens, newest in ((1, 1), (8191, 8191), (8192, 8192), (8193, 1), (12_000, 3808), (16_384, 8192)):
        for window in ("ideal", "off"):
            options = replace(setup.options, window=window)
            bound = decode_bound("Llama-4 Scout 17B-16E (text)", tokens, 3, "B200", replace(setup, options=options))
            assert bound.cache_bytes == 3 * each * (12 * tokens + 36 * newest), (tokens, window)
    shared = replace(setup, options=replace(setup.options, shared_prefix=9000))
    bound = decode_bound("Llama-4 Scout 17B-16E (text)", 12_000, 3, "B200", shared)
    assert bound.cache_bytes == each * (12 * (9000 + 3 * 3000) + 36 * (9000 - 8192 + 3 * 3000))


def test_ranks_read_at_once():
    one, two = (decode_bound("Llama-3 8B", 8192, 1, "H100", Setup(options=KvOptions(pp=pp))) for pp in (1, 2))
    assert one.seconds == two.seconds  # one sequence is in one stage at a time
    halves = decode_bound("Llama-3 8B", 8192, 1, "H100", Setup(options=KvOptions(tp=2)))
    assert Fraction(1, 2) < halves.seconds / one.seconds < Fraction(501, 1000)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: memory_use("Llama-3 8B", gpu="V100"), "^gpu is 'V100'; expected one of"),
        (lambda: memory_use("Llama-9"), "is not in the catalogue"),
        (lambda: memory_use("Llama-3 8B", 0), "^tokens is 0; expected a whole number from 1"),
        (lambda: memory_use("Llama-3 8B", batch=10**9), "^batch is 1,000,000,000; expected a whole number from 1"),
        (lambda: Setup(usable_percent=0), "^usable_percent is 0; expected a percentage from 1 to 100"),
        (lambda: Setup(usable_percent=101), "^usable_percent is 101"),
        (lambda: Setup(step_tokens=0), "^step_tokens is 0; expected a whole number from 1"),
        (lambda: Setup(context_mib=-1), "^context_mib is -1; expected a whole number from 0"),
        (lambda: Setup(fragmentation_mib=10**7), "^fragmentation_mib is 10,000,000; expected a whole number from 0"),
        (lambda: Setup(options={"tp": 2}), "^options is .*expected a KvOptions"),
        (lambda: memory_use("Llama-3 8B", setup=Setup(weights="q9")), "^weights is 'q9'; expected one of"),
        (lambda: memory_use("Llama-3 8B", setup=Setup(embeddings="x")), "^embeddings is 'x'; expected one of"),
        (lambda: memory_use("Llama-3 8B", setup=Setup(options=KvOptions(tp=3))), "^tp is 3; expected a divisor"),
        (lambda: gpus_needed("Llama-3 8B", 0), "^users is 0; expected a whole number from 1 to 1,000,000"),
        (lambda: gpus_needed("Llama-3 8B", setup=Setup(options=KvOptions(tp=2))), "^tp is 2; expected 1"),
        (lambda: gpus_needed("Llama-3 8B", gpus=[]), "^gpus is .*expected at least one GPU"),
        (
            lambda: largest_batch("Llama-3 8B", setup=Setup(options=KvOptions(reserved_batch=4))),
            "^reserved_batch is 4; expected none",
        ),
        (
            lambda: largest_context("Llama-3 8B", setup=Setup(options=KvOptions(reserved_tokens=4))),
            "^reserved_tokens is 4; expected none",
        ),
        (
            lambda: decode_bound("Llama-3 70B", gpu="T4"),
            "^gpu is 'T4 16 GB'; expected GPUs on which weights and cache fit",
        ),
    ],
)
def test_bad_input_names_the_field(call, message):
    with pytest.raises(GlassLlamaError, match=message):
        call()


def test_nothing_depends_on_the_gpu_but_memory_and_bandwidth():
    mine = Gpu("Mine", H100, 3_350 * 10**9)
    assert largest_batch("Llama-3 8B", 8192, mine).value == largest_batch("Llama-3 8B", 8192, "H100").value
    assert decode_bound("Llama-3 8B", 8192, 1, mine).seconds == decode_bound("Llama-3 8B", 8192, 1, "H100").seconds
    assert memory_use("Llama-3 8B").cache == kv_breakdown("Llama-3 8B")


def test_what_a_driver_reports_beside_a_datasheet() -> None:
    """An H100 80 GB: 81,559 MiB by nvidia-smi, 5,520,809,984 bytes more than 80 × 10⁹."""
    use = memory_use("Llama-3 8B", 400_000, 1, "H100", Setup())
    assert use.stated_free_bytes == use.free_bytes - H100 + 80 * 10**9
    border = memory_use("Llama-3 8B", 500_000, 1, "H100", Setup())
    assert border.stated_free_bytes is not None
    assert border.stated_free_bytes < 0 < border.free_bytes
    assert memory_use("Llama-3 8B", 8192, 1, "MI325X", Setup()).stated_free_bytes is None


def test_a_share_by_vllms_own_rule_holds_activations_context_and_graphs_too_in_whole_blocks() -> None:
    """A block of 16 tokens of Llama-3 8B takes 16 × 131,072 B = 2 MiB; four sequences of 8,190 take 512 each."""
    use = memory_use("Llama-3 8B", 8190, 4, "H100", Setup(usable_percent=90))
    rule, beside = vllm_rule(use), use.beside
    taken = use.weights.total_bytes + beside.activation_bytes + beside.context + (266 << 20)
    assert rule.room == H100 * 90 // 100 - taken
    assert rule.blocks is not None
    assert (rule.blocks.each, rule.blocks.needed) == (2 << 20, 4 * 512)
    assert rule.blocks.count * (2 << 20) + rule.blocks.rest == rule.room
    assert rule.free == (rule.room // (2 << 20) - 1 - 4 * 512) * (2 << 20)


VLLM = Setup(usable_percent=90, vllm=True)


def test_vllms_rule_decides_what_fits_and_the_largest_batch_and_context() -> None:
    """Llama-3 8B at 8,190 tokens: blocks of 2 MiB, 512 a sequence, one more that is never handed out."""
    use = memory_use("Llama-3 8B", 8190, 4, "H100", VLLM)
    assert (use.by, use.free_bytes) == ("vllm", vllm_rule(use).free)
    batch = largest_batch("Llama-3 8B", 8190, "H100", VLLM)
    beside = memory_use("Llama-3 8B", 8190, batch.value, "H100", VLLM).beside  # logits grow with the batch
    room = H100 * 90 // 100 - use.weights.total_bytes - beside.activation_bytes - beside.context - (266 << 20)
    assert batch.value == ((room >> 21) - 1) // 512
    assert batch.next_use is not None
    assert not batch.next_use.fits
    context = largest_context("Llama-3 8B", 4, "H100", VLLM)
    room = H100 * 90 // 100 - use.weights.total_bytes - use.beside.activation_bytes - use.beside.context - (266 << 20)
    assert context.value == ((room >> 21) - 1) // 4 * 16


def test_what_fits_line_by_line_may_not_fit_by_vllms_default_share() -> None:
    """Llama-3.1 70B on two H100s, 131,072 tokens in fp8: 80 layers, 4 K/V heads of 128 a rank."""
    use = memory_use("Llama-3.1 70B", 131_072, 1, "H100", Setup("fp8", options=KvOptions(tp=2)))
    assert use.fits
    room = H100 * 92 // 100 - use.weight_stage_bytes[0] - use.beside.activation_bytes - use.beside.context - (266 << 20)
    block = 80 * 4 * 2 * 128 * 16
    assert use.vllm_by_default is not None
    assert use.vllm_by_default.free == (room // block - 1 - 131_072 // 16) * block < 0
    assert memory_use("Llama-3 8B", 8192, 1, "Apple M4 Max 128 GB", Setup()).vllm_by_default is None


def test_vllms_rule_without_a_share_is_refused() -> None:
    with pytest.raises(GlassLlamaError, match=r"^vllm is True; expected usable_percent beside it"):
        Setup(vllm=True)


def test_vllms_rule_counts_a_load_on_one_gpu_in_whole_blocks_too() -> None:
    """What fits by its bytes and lacks the block that is never handed out takes one GPU more."""
    most = largest_context("Llama-3 8B", 1, "H100", VLLM).value
    fits, over = (gpus_needed("Llama-3 8B", 1, n, ["H100"], VLLM).gpus[0] for n in (most, most + 1))
    assert (fits.use.gpus, fits.one_server.gpus) == (1, 1)
    assert over.at_least == 1  # by bytes there is room for a block more
    assert (over.use.gpus, over.one_server.gpus) == (2, 2)


def test_without_room_for_the_cache_all_of_it_is_lacking() -> None:
    use = memory_use("Llama-3 70B", 8192, 1, "H100", VLLM)
    assert use.vllm.blocks is None
    assert use.free_bytes == use.usable_bytes - use.per_gpu_bytes


def test_blocks_that_layers_of_several_kinds_share_are_not_counted() -> None:
    rule = vllm_rule(memory_use("Gemma-3 27B (text)", 8192, 1, "H100", Setup(usable_percent=90)))
    assert (rule.blocks, rule.uncounted) == (None, "kinds")
    assert rule.free == rule.room - memory_use("Gemma-3 27B (text)", 8192, 1, "H100").cache.total_bytes


@pytest.mark.parametrize(
    ("tokens", "options", "reason"),
    [
        (8192, KvOptions(reserved_tokens=16_384), "reserved"),
        (8192, KvOptions(shared_prefix=1024), "shared"),
        (8192, KvOptions(), ""),
    ],
)
def test_why_no_blocks_are_counted_is_the_reason_that_applies(tokens: int, options: KvOptions, reason: str) -> None:
    rule = vllm_rule(memory_use("Llama-3 8B", tokens, 1, "H100", Setup(usable_percent=90, options=options)))
    assert (rule.uncounted, rule.blocks is None) == (reason, reason != "")


def test_what_one_more_takes_is_in_the_same_blocks_as_the_limit() -> None:
    """Qwen3-32B, 64 layers of 8 heads: a block of 16 tokens is 4 MiB. What is taken is beyond the share by less than a
    block for each sequence, and what is taken at the largest context is within it."""
    block = 16 * 64 * 8 * 2 * 128 * 2
    found = largest_context("Qwen3-32B", 8, "H100", VLLM)
    share = found.use.share_bytes
    needed = 8 * -(-(found.value + 1) // 16)
    beside = found.use.taken_bytes - (8 * -(-found.value // 16) + 1) * block
    assert found.next_use.taken_bytes == beside + (needed + 1) * block
    assert found.use.taken_bytes <= share < found.next_use.taken_bytes
    batch = largest_batch("Qwen3-32B", 8192, "H100", VLLM)
    assert batch.use.taken_bytes <= batch.use.share_bytes < batch.next_use.taken_bytes


@pytest.mark.parametrize(
    ("given", "percent"),
    [
        (0.9, 90), ("0.9", 90), (90, 90), ("90", 90), (90.0, 90), (0.29, 29), (0.57, 57), (1, 1), (100, 100), (0.01, 1),
        (0.925, Fraction(185, 2)), ("92.5", Fraction(185, 2)), ("1", 100), ("1.0", 100), (1.0, 100), ("90%", 90),
        ("1 %", 1), ("1.5 %", Fraction(3, 2)), ("2", 2), (".925", Fraction(185, 2)), (92.5, Fraction(185, 2)),
    ],
)  # fmt: skip
def test_a_share_is_what_vllms_flag_takes_or_per_cent_exactly(given: object, percent: Fraction) -> None:
    setup = Setup(usable_percent=given)
    assert setup.percent == percent
    assert replace(setup, dtype="fp8").percent == percent
    assert memory_use("Llama-3 8B", setup=setup, gpu=own_gpu(80, 1000)).usable_bytes == 8 * 10**8 * percent


@pytest.mark.parametrize(
    "given",
    [
        0,
        101,
        -1,
        "",
        "0,9",
        "1e1",
        0.001,
        "1.5",
        1.5,
        1.999,
        "150",
        "0.9%",
        "90%%",
        "0.9.9",
        True,
        float("nan"),
        10**30,
    ],
)
def test_what_is_no_share_is_refused(given: object) -> None:
    with pytest.raises(GlassLlamaError, match=r"^usable_percent is .*; expected a percentage from 1 to 100, such"):
        Setup(usable_percent=given)


def test_stages_get_as_many_blocks_as_the_one_that_can_hold_the_fewest() -> None:
    """Llama-3 8B's 32 layers in 3 stages, of 11, 11 and 10: tables of 128,256 × 4,096 at both ends."""
    use = memory_use("Llama-3 8B", 8190, 4, "H100", replace(VLLM, options=KvOptions(pp=3)))
    layer = 2 * (4096 * (2 * 4096 + 2 * 1024) + 3 * 4096 * 14_336 + 2 * 4096)
    table = 2 * 128_256 * 4096
    weights = (11 * layer + table, 11 * layer, 10 * layer + table + 2 * 4096)
    left = use.share_bytes - use.beside.activation_bytes - use.beside.context - GRAPHS
    page = 16 * 8 * 2 * 128 * 2
    counts = [(left - held) // (layers * page) for held, layers in zip(weights, (11, 11, 10), strict=True)]
    assert counts[0] < min(counts[1:])
    assert (use.vllm.stage, use.vllm.blocks.count, use.vllm.blocks.each) == (0, counts[0], 11 * page)
    most = largest_context("Llama-3 8B", 4, "H100", replace(VLLM, options=KvOptions(pp=3))).value
    assert most == (counts[0] - 1) // 4 * 16


def test_the_stage_with_the_fewest_blocks_need_not_be_the_fullest() -> None:
    """Qwen3-1.7B, 28 layers in 3 stages, 9, 10 and 9: the second has the most layers, the first and last the tables. A
    short cache leaves the tables' stages the fullest, and the blocks are fewest where a block is largest."""
    use = memory_use("Qwen3-1.7B", 16, 1, "H100", replace(VLLM, options=KvOptions(pp=3)))
    assert use.stage_bytes.index(use.per_gpu_bytes) != 1
    assert use.vllm.stage == 1
    assert use.fits


def test_gpus_that_a_load_needs_are_counted_in_blocks_with_stages_too() -> None:
    need = gpus_needed("Llama-3 70B", 16, 32_768, ["T4"], VLLM).gpus[0]
    assert need.use.weights.pp > 1
    assert need.use.vllm.blocks
    assert need.use.fits


@pytest.mark.parametrize(("model", "size"), [("DeepSeek-V3", 64), ("Llama-3 8B", 16)])
def test_a_block_of_latents_has_64_tokens_where_none_is_set(model: str, size: int) -> None:
    for block in (1, 32):
        options = KvOptions(tp=8, block_size=block)
        gpu = own_gpu(1000, 2039)
        blocks = memory_use(model, 100, 1, gpu, replace(VLLM, options=options)).vllm.blocks
        assert (blocks.size, blocks.size_from == "set") == ((32, True) if block > 1 else (size, False))


def test_without_room_there_are_no_blocks() -> None:
    assert vllm_rule(memory_use("Llama-3 70B", 8192, 1, "H100", Setup(usable_percent=90))).uncounted == "room"


def test_deepseeks_files_hold_its_count_and_the_two_matrices_that_the_mtp_part_repeats() -> None:
    """688,586,727,753 B: deepseek-ai/DeepSeek-V3's safetensors files, with their headers."""
    counted = weight_breakdown("DeepSeek-V3", AS_CONFIG, mtp=True).counted_bytes
    copies = 2 * 129_280 * 7168 * 2
    assert 0 <= 688_586_727_753 - counted - copies < 20e6
