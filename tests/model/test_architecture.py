"""What a network is said to be made of, against transformers' own networks of the same config."""

from copy import deepcopy
from typing import Any

import pytest
import torch
import transformers
from torch import nn

import model
from model.architecture import LAYERS, ArchitectureSummary, architecture_summary, network_without_weights
from tests.families import pair_of, save
from visuals.families import COLUMNS, CONFIGS, sizes_of

PEERS = [name for name, raw in CONFIGS.items() if raw["model_type"] != "chatglm"]  # transformers has no class for it
FEW = {"num_hidden_layers": LAYERS, "num_layers": LAYERS, "n_layer": LAYERS, "num_decoder_layers": LAYERS}


def peer(raw: dict[str, Any]) -> Any:
    """transformers' network of a config, with few layers and no weights."""
    raw = deepcopy(raw) | {name: few for name, few in FEW.items() if name in raw}
    config = transformers.AutoConfig.for_model(**raw)
    kind = transformers.AutoModelForSeq2SeqLM if config.is_encoder_decoder else transformers.AutoModelForCausalLM
    with torch.device("meta"):
        return kind.from_config(config)


def biases(names: set[str]) -> tuple[str, ...]:
    """Which maps have one, by transformers' names."""
    marks = {"qkv": ("q_proj", "k_proj", "v_proj", "query_key_value"), "out": ("o_proj", "self_attention.dense"),
             "ffn": ("mlp.",)}  # fmt: skip
    found = {part for part, own in marks.items() if any(mark in name for name in names for mark in own)}
    return tuple(part for part in marks if part in found)


@pytest.mark.parametrize("name", PEERS)
def test_the_parts_are_those_of_transformers_network(name: str) -> None:
    ours, theirs = architecture_summary(network_without_weights(CONFIGS[name])), peer(CONFIGS[name])
    config, modules = theirs.config, dict(theirs.named_modules())
    norms = {path: part for path, part in modules.items() if "norm" in type(part).__name__.lower()}
    assert {isinstance(part, nn.LayerNorm) for part in norms.values()} == {ours.norm == "LayerNorm"}
    assert {getattr(part, "bias", None) is not None for part in norms.values()} == {ours.norm_bias}
    last = f".{LAYERS - 1}."
    inside = [path for path in norms if last in path and not path.startswith("encoder")]
    own = [place for place in ours.norms if place != "embedding"]
    each = {"latents": 2 if getattr(config, "q_lora_rank", None) else 1, "q_k": 2}
    assert sum(each.get(place, 1) for place in own) == len(inside)
    named = {path for path, _ in theirs.named_parameters() if path.endswith(".bias") and "norm" not in path}
    assert biases({path for path in named if "ln_" not in path}) == ours.biases
    # transformers 5 ties T5 1.1's head until it reads a file that has one; the config says that it is not tied
    assert ours.tied == CONFIGS[name].get("tie_word_embeddings", config.tie_word_embeddings)
    assert ours.encoder == config.is_encoder_decoder
    assert ours.n_heads == config.num_attention_heads
    assert ours.parallel == getattr(config, "parallel_attn", False)


def test_activation_position_and_experts_are_those_of_transformers_config() -> None:
    said = {"silu": ("silu", True), "gelu": ("gelu", False), "relu": ("relu", False), "gated-gelu": ("gelu_new", True)}
    for name in PEERS:
        raw, ours = deepcopy(CONFIGS[name]), architecture_summary(network_without_weights(CONFIGS[name]))
        config = transformers.AutoConfig.for_model(**raw)
        act = raw.get("feed_forward_proj") or getattr(config, "hidden_act", None) or getattr(config, "activation", None)
        # transformers' BloomGelu has the tanh form, which no field names
        assert (ours.activation, ours.gated) == (("gelu_new", False) if raw["model_type"] == "bloom" else said[act])
        kinds = {"bloom": "alibi", "t5": "buckets"}
        assert ours.position.kind == kinds.get(raw["model_type"], "rope")
        experts = getattr(config, "num_local_experts", None) or getattr(config, "n_routed_experts", None)
        assert (ours.experts.experts if ours.experts else None) == experts
        if ours.experts:
            assert ours.experts.top_k == config.num_experts_per_tok
            assert ours.experts.dense_layers == getattr(config, "first_k_dense_replace", 0)


def test_a_tokens_cache_is_the_calculators() -> None:
    """Bytes read off the tensors of the first layers' cache; each layer keeps as much."""
    for column in COLUMNS.values():
        if column.name not in CONFIGS:
            continue
        net, _ = network_without_weights(CONFIGS[column.name]).start_decoding([0])
        with torch.inference_mode():
            cache, spec = net.cache(2), sizes_of(column)
        held = (cache.nbytes(2) - cache.nbytes(1)) // len(net.layers) * spec.n_layers
        assert held == model.kv_cache_bytes(spec, tokens=2, dtype="fp32") // 2 - _source(spec), column.name


def _source(spec: model.ModelSpec) -> int:
    """An encoder's tokens, of which the calculator takes as many as the decoder has."""
    return 2 * spec.n_layers * spec.n_heads * spec.head_dim * 4 if spec.is_encoder_decoder else 0


def test_a_network_with_weights_is_the_same_as_one_without() -> None:
    config = transformers.GlmConfig(vocab_size=320, hidden_size=48, num_hidden_layers=2, num_attention_heads=6,
                                    num_key_value_heads=2, intermediate_size=80, head_dim=8,
                                    pad_token_id=0)  # fmt: skip
    found = pair_of(save(config))
    held = architecture_summary(found.lm.net)
    assert isinstance(held, ArchitectureSummary)
    assert held == architecture_summary(network_without_weights(config.to_dict() | {"model_type": "glm"}))
    assert (held.position.turned, held.position.width, held.position.interleaved, held.prefix) == (4, 8, True, True)
