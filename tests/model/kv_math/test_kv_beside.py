"""What a GPU holds beside weights and cache, against sums by hand and what vLLM logged."""

import pytest

from model import GlassLlamaError, catalogue, spec_from_config
from model.kv_math.beside import activations, beside, ffn_width
from model.kv_math.memory import memory_use

MIB, GIB = 1 << 20, 1 << 30


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
    use = memory_use("Llama-3 8B", 8192, 1, "H100 80 GB")
    found = beside(use, 8192, 358)
    assert (found.kept_back, found.context) == (8_000_000_000, 358 * MIB)
    assert found.left == 8_000_000_000 - 358 * MIB - (8192 * (2 * 4096 + 3 * 14_336) * 2 + 128_256 * 4)
    assert beside(use, 100_000, 0).left < 0


@pytest.mark.parametrize(("field", "given"), [("step_tokens", (0, 1)), ("context_mib", (1, -1))])
def test_a_value_out_of_range_is_named(field: str, given: tuple[int, int]) -> None:
    with pytest.raises(GlassLlamaError, match=field):
        beside(memory_use("Llama-3 8B"), *given)
