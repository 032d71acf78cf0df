"""Qwen 2, 2.5 and 3 against transformers: a LLaMA with biases on q, k and v, or with norms on q and k."""

import pytest
import transformers

from tests.families import (
    SIZES,
    Pair,
    check_forward,
    check_generation,
    check_off,
    check_why,
    pair_of,
    refusal,
    save,
)

GQA = SIZES | {
    "num_key_value_heads": 2,
    "intermediate_size": 80,
    "rope_parameters": {"rope_theta": 1e6, "rope_type": "default"},
}
CONFIGS = {
    "Qwen2.5": transformers.Qwen2Config(**GQA, tie_word_embeddings=True),
    "Qwen3": transformers.Qwen3Config(**GQA, head_dim=12, tie_word_embeddings=False),
}


@pytest.fixture(scope="module", params=CONFIGS)
def pair(request: pytest.FixtureRequest) -> Pair:
    return pair_of(save(CONFIGS[request.param]))


def test_the_forward_pass_agrees(pair: Pair) -> None:
    check_forward(pair)


def test_generation_and_cache_agree(pair: Pair) -> None:
    check_generation(pair)


def test_why(pair: Pair) -> None:
    check_why(pair)


def test_parts_switched_off(pair: Pair) -> None:
    check_off(
        pair,
        lambda net, i: net.model.layers[i].self_attn.o_proj,
        lambda net, i: net.model.layers[i].mlp.down_proj,
    )


def test_yarn_as_the_long_contexts_of_qwen_have_it() -> None:
    rope = {"rope_theta": 1e4, "rope_type": "yarn", "factor": 4.0, "original_max_position_embeddings": 32}
    check_forward(pair_of(save(transformers.Qwen2Config(**GQA | {"rope_parameters": rope}), seed=2)))


def test_what_is_not_implemented_is_refused(pair: Pair) -> None:
    wrong = {
        "use_sliding_window": True,
        "layer_types": ["full_attention", "sliding_attention", "full_attention"],
        "hidden_act": "gelu",
        "quantization_config": {"bits": 4},
        "attention_bias": True,
    }
    for field, value in wrong.items():
        assert refusal(pair.directory, **{field: value}).startswith(f"config.json: {field} is ")
    assert '"qwen2", "qwen3"' in refusal(pair.directory, model_type="qwen")
