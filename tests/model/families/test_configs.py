"""Whatever a field of a family's config.json holds: it is refused by a GlassLlamaError, or the config is usable."""

import json
from pathlib import Path
from typing import Any

import pytest
import torch
import transformers

import model
from model.families import FAMILIES, family_of
from model.published.catalogue import parameter_count
from model.published.spec import ModelSpec

SIZES = {"vocab_size": 320, "hidden_size": 48, "num_hidden_layers": 2, "num_attention_heads": 6, "eos_token_id": 0}
GQA = SIZES | {"num_key_value_heads": 2, "intermediate_size": 80}
MOE = {"n_routed_experts": 8, "num_experts_per_tok": 2, "n_group": 2, "topk_group": 1}
CONFIGS: dict[str, Any] = {
    "qwen2": transformers.Qwen2Config(**GQA),
    "qwen3": transformers.Qwen3Config(**GQA),
    "bloom": transformers.BloomConfig(vocab_size=320, hidden_size=48, n_layer=2, n_head=6),
    "falcon": transformers.FalconConfig(**SIZES, new_decoder_architecture=True, num_kv_heads=2),
    "glm": transformers.GlmConfig(**GQA),
    "mixtral": transformers.MixtralConfig(**GQA),
    "deepseek_v2": transformers.DeepseekV2Config(**GQA, **MOE, topk_method="group_limited_greedy"),
    "deepseek_v3": transformers.DeepseekV3Config(**GQA, **MOE),
    "t5": transformers.T5Config(vocab_size=320, d_model=48, num_heads=4, num_layers=2),
}
PUBLISHED = json.loads((Path(__file__).parents[1] / "published" / "hub_configs.json").read_text(encoding="utf-8"))
BUILT = ("Qwen2.5-7B", "Qwen3-8B", "BLOOM-176B", "Falcon-7B", "Falcon-40B", "ChatGLM3-6B", "Mixtral-8x7B v0.1",
         "DeepSeek-V2-Lite", "T5-large (v1.0)", "Llama-3.2 1B")  # fmt: skip
ODD: list[Any] = [None, -1, 0, 1.5, 10**30, float("nan"), "x", "", [], [1], {}, {"rope_type": []}, True, False]


def test_every_type_of_config_is_here() -> None:
    assert CONFIGS.keys() | {"llama", "chatglm"} == FAMILIES.keys()


@pytest.mark.parametrize("kind", CONFIGS)
def test_odd_fields_are_refused_or_give_a_config(kind: str) -> None:
    raw = json.loads(CONFIGS[kind].to_json_string(use_diff=False))
    raw["model_type"] = kind
    plain = FAMILIES[kind].read(raw)
    refused = 0
    for name in [*raw, "rope_theta", "rope_scaling", "quantization_config", "sliding_window", "head_dim"]:
        for value in ODD:
            changed = raw | {name: value}
            try:
                config = family_of(changed).read(changed)
            except model.GlassLlamaError as error:
                refused += error.code == "config"
            else:
                assert config.n_layers >= 1
                assert config.context_limit >= 1
                assert hash(config) is not None
    assert refused > 50
    spec = model.spec_from_config(raw)
    assert isinstance(spec, ModelSpec)
    own = (plain.n_layers, plain.d_model, plain.n_heads, plain.vocab_size, plain.ffn_hidden)
    assert own == (spec.n_layers, spec.d_model, spec.n_heads, spec.vocab_size, spec.ffn_hidden)


def test_published_configs_are_read_and_make_networks_of_the_published_size() -> None:
    refused = {}
    for name, raw in PUBLISHED.items():
        if raw.get("model_type") in FAMILIES:
            try:
                family_of(raw).read(raw)
            except model.GlassLlamaError as error:
                refused[name] = error.params["field"]
    assert refused == {"DeepSeek-V3": "quantization_config"}
    for name in BUILT:
        family = family_of(PUBLISHED[name])
        with torch.device("meta"):
            net = family.build(family.read(PUBLISHED[name]))
        assert sum(weight.numel() for weight in net.parameters()) == parameter_count(model.catalogue()[name]), name
