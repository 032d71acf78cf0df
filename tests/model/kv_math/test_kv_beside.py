"""What a GPU holds beside weights and cache, against sums by hand and what vLLM logged."""

import pytest

from model import GlassLlamaError, catalogue, spec_from_config
from model.kv_math.beside import activations, ffn_width
from model.kv_math.gpus import GPUS
from model.kv_math.memory import Setup, gpus_needed, largest_batch, memory_use
from model.kv_math.report import memory_lines

MIB, GIB = 1 << 20, 1 << 30
H100, RTX_4090 = 81_559 * MIB, 24_564 * MIB  # as nvidia-smi reports them


def test_the_largest_tensors_of_a_step() -> None:
    terms = {term.label: term.bytes for term in activations(catalogue()["Llama-3 8B"], 8192, 64)}
    assert terms == {
        "stream": 8192 * 2 * 4096 * 2,
        "ffn": 8192 * 3 * 14_336 * 2,
        "logits": 64 * 128_256 * 4,
    }
    halves = {term.label: term.bytes for term in activations(catalogue()["Llama-3 8B"], 8192, 64, tp=2)}
    assert halves == terms | {"ffn": 8192 * 3 * 7168 * 2}


def test_experts_count_as_many_as_a_token_goes_to() -> None:
    assert ffn_width(catalogue()["Mixtral-8x7B v0.1"]) == 2 * 14_336
    assert ffn_width(catalogue()["DeepSeek-V3"]) == max(9 * 2048, 18_432)
    assert ffn_width(catalogue()["BLOOM-176B"]) == 4 * 14_336


def test_as_much_as_vllm_logs_for_a_small_model() -> None:
    """Qwen2.5 1.5B with 32,768 tokens and 256 sequences: vLLM 0.7 logs an activation peak of 2.02 GiB on a T4."""
    sizes = {"num_hidden_layers": 28, "hidden_size": 1536, "intermediate_size": 8960, "vocab_size": 151_936}
    heads = {"num_attention_heads": 12, "num_key_value_heads": 2, "max_position_embeddings": 32_768}
    spec = spec_from_config({"model_type": "qwen2", **sizes, **heads}, "Qwen2.5 1.5B")
    total = sum(term.bytes for term in activations(spec, 32_768, 256))
    assert total / GIB == pytest.approx(2.02, rel=0.05)


def test_what_is_left_of_what_is_kept_back() -> None:
    share = Setup(usable_percent=90, step_tokens=8192, context_mib=358)
    use = memory_use("Llama-3 8B", 8192, 1, "H100 80 GB", share)
    rest = H100 - H100 * 9 // 10
    assert (use.kept_back, use.beside.context) == (rest, 358 * MIB)
    assert use.left_bytes == rest - 358 * MIB - (8192 * (2 * 4096 + 3 * 14_336) * 2 + 128_256 * 4)
    lacking = Setup(usable_percent=90, step_tokens=100_000, context_mib=0)
    assert memory_use("Llama-3 8B", 8192, 1, "H100 80 GB", lacking).left_bytes < 0


def test_the_lines_decide_what_fits() -> None:
    """Llama-3 8B, 4,096 tokens a step: memory − weights − cache − activations − context − fragmentation, by hand."""
    lines = Setup(step_tokens=4096, context_mib=300, fragmentation_mib=1000)
    each = 4096 * (2 * 4096 + 3 * 14_336) * 2 + 1300 * MIB
    use = memory_use("Llama-3 8B", 8192, 5, "RTX 4090 24 GB", lines)
    assert use.free_bytes == RTX_4090 - 16_060_522_496 - 5 * GIB - each - 5 * 128_256 * 4
    assert (use.kept_back, use.left_bytes) == (each + 5 * 128_256 * 4, 1000 * MIB)
    most = (RTX_4090 - 16_060_522_496 - each) // (GIB + 128_256 * 4)
    assert largest_batch("Llama-3 8B", 8192, "RTX 4090 24 GB", lines).value == most
    mac = memory_use("Llama-3 8B", 8192, 5, "Apple M4 Max 128 GB", lines)
    assert (mac.percent, mac.usable_bytes) == (75, 96 * GIB - each - 5 * 128_256 * 4)


def test_a_step_has_as_many_tokens_as_is_usual_on_the_gpu() -> None:
    """vLLM's 8,192, on an Apple chip llama.cpp's micro-batch of 512, also where GPUs of all kinds are sought."""
    each = {"H100 80 GB": 8192, "MI300X 192 GB": 8192, "Apple M4 Max 128 GB": 512}
    needs = gpus_needed("Llama-3 8B", 4, 8192, list(each))
    for need in needs.gpus:
        tokens = each[need.gpu.name]
        use = memory_use("Llama-3 8B", 8192, 1, need.gpu)
        assert use.step_tokens == tokens
        stream = next(term for term in use.beside.activations if term.label == "stream")
        assert stream.bytes == tokens * 2 * 4096 * 2
        set_so = gpus_needed("Llama-3 8B", 4, 8192, [need.gpu], Setup(step_tokens=tokens)).gpus[0]
        assert (need.room, need.alone, need.at_least) == (set_so.room, set_so.alone, set_so.at_least)


def test_a_gpu_before_ampere_has_no_bf16() -> None:
    """vLLM's cuda.py: bf16 from compute capability 8.0 on; a T4 has 7.5 (vllm-project/vllm #1157)."""
    found = {name for name in GPUS if memory_use("Llama-3 8B", 512, 1, name, Setup("bf16")).lacks_bf16}
    assert found == {"T4 16 GB"}
    bf16, fp16 = (memory_use("Llama-3 8B", 512, 1, "T4", Setup(dtype)) for dtype in ("bf16", "fp16"))
    assert not fp16.lacks_bf16
    assert bf16.free_bytes == fp16.free_bytes
    assert [use for use in (bf16, fp16) if "older than Ampere" in "\n".join(memory_lines(use))] == [bf16]


def test_ranks_share_the_feed_forward_when_gpus_are_sought() -> None:
    """30 GB of activations on one rank: of two ranks each needs half of the feed-forward's."""
    tokens = 300_000
    setup = Setup(step_tokens=tokens, context_mib=0, fragmentation_mib=0)
    need = gpus_needed("Llama-3 8B", 1, 1000, ["A100 40 GB"], setup).gpus[0]
    one, two = (tokens * (2 * 4096 + 3 * 14_336 // tp) * 2 + 128_256 * 4 for tp in (1, 2))
    weights = 16_060_522_496 + 1000 * 131_072
    assert one + weights > 40_960 * MIB > two + weights / 2 + GIB
    assert need.use is not None
    assert (need.use.gpus, need.use.weights.tp) == (2, 2)
    nothing = gpus_needed("Llama-3 8B", 1, 1000, ["T4"], Setup(context_mib=16_000)).gpus[0]
    assert (nothing.at_least, nothing.use, nothing.one_server) == (None, None, None)


@pytest.mark.parametrize(("field", "given"), [("step_tokens", 0), ("context_mib", -1), ("fragmentation_mib", -1)])
def test_a_value_out_of_range_is_named(field: str, given: int) -> None:
    with pytest.raises(GlassLlamaError, match=field):
        Setup(**{field: given})
