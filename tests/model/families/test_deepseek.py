"""DeepSeek V2 and V3 against transformers: latent attention in both forms, routing of both kinds, YaRN's mscale."""

from typing import Any

import pytest
import torch
import transformers
from safetensors.torch import load_file, save_file

import model
from model.mla import LatentAttention
from model.taps import capture
from tests.families import (
    SIZES,
    Pair,
    check_forward,
    check_generation,
    check_why,
    close,
    pair_of,
    refusal,
    sample,
    save,
)

MLA = {"kv_lora_rank": 20, "qk_nope_head_dim": 12, "qk_rope_head_dim": 8, "v_head_dim": 10, "num_key_value_heads": 6}
MOE = {"n_routed_experts": 8, "num_experts_per_tok": 3, "moe_intermediate_size": 24, "first_k_dense_replace": 1}
FIELDS = SIZES | MLA | MOE | {"intermediate_size": 80}
YARN = {
    "rope_theta": 1e4,
    "rope_type": "yarn",
    "factor": 4.0,
    "original_max_position_embeddings": 32,
    "mscale": 0.7,
    "mscale_all_dim": 1.1,
}
GROUPS = {"n_group": 4, "topk_group": 2, "routed_scaling_factor": 1.7}
CONFIGS: dict[str, Any] = {
    "V2-Lite": transformers.DeepseekV2Config(**FIELDS, q_lora_rank=None, n_shared_experts=2),
    "V2": transformers.DeepseekV2Config(
        **FIELDS, **GROUPS, q_lora_rank=16, n_shared_experts=1, topk_method="group_limited_greedy", rope_parameters=YARN
    ),
    "V3": transformers.DeepseekV3Config(**FIELDS, **GROUPS, q_lora_rank=16, rope_parameters=YARN),
}


@pytest.fixture(scope="module", params=CONFIGS)
def pair(request: pytest.FixtureRequest) -> Pair:
    return pair_of(save(CONFIGS[request.param], sharpness=1.0))


def test_the_forward_pass_agrees(pair: Pair) -> None:
    check_forward(pair)


def test_generation_and_cache_agree(pair: Pair) -> None:
    """The cache holds the latent and the shared key alone: 28 numbers a token and layer, not 6 × (20 + 10)."""
    check_generation(pair)
    assert pair.lm.net.cache(7).nbytes(7) == 7 * 3 * (20 + 8) * 4


def test_expanded_and_absorbed_are_the_same(pair: Pair) -> None:
    lm, ids = pair.lm, sample(2, 12, seed=3)
    attentions = [module for module in lm.net.modules() if isinstance(module, LatentAttention)]
    assert len(attentions) == 3
    found = []
    for form in (False, True):
        for attention in attentions:
            attention.absorbed = form
        with torch.inference_mode(), capture(lm.net, "*.attn.attention", "*.attn.scores", "*.mixed") as seen:
            logits = lm.net(ids, eager=True)
        with torch.inference_mode():
            cache = lm.net.cache(12, batch=2)
            parts = [lm.net(ids[:, :7], cache), lm.net(ids[:, 7:], cache, 7)]
        close(torch.cat(parts, 1), logits)
        found.append({"logits": logits, **seen})
    for attention in attentions:
        attention.absorbed = None
    for name, value in found[0].items():
        close(found[1][name], value)


def test_why(pair: Pair) -> None:
    check_why(pair)


def test_the_router_and_the_latent_are_transformers(pair: Pair) -> None:
    ids, seen = sample(1, 9), {}
    peer = pair.peer.model.layers[2]
    hooks = [
        peer.mlp.gate.register_forward_hook(lambda _, __, value: seen.update(router=value)),
        peer.self_attn.kv_a_layernorm.register_forward_hook(lambda _, __, value: seen.update(latent=value)),
    ]
    with torch.no_grad():
        pair.peer(ids)
    for hook in hooks:
        hook.remove()
    trace = model.run_trace(pair.lm, ids[0].tolist())
    layer, dense = trace.layer(2), trace.layer(0)
    logits, weight, chosen = seen["router"]
    order = chosen.argsort(-1)
    ours = torch.from_numpy(layer.experts).argsort(-1)
    assert torch.equal(torch.from_numpy(layer.experts).gather(-1, ours), chosen.gather(-1, order))
    close(torch.from_numpy(layer.expert_weight).gather(-1, ours), weight.gather(-1, order))
    newer = pair.lm.config.routing.balanced  # pyright: ignore[reportAttributeAccessIssue]
    close(torch.from_numpy(layer.router_scores), logits.sigmoid() if newer else logits.softmax(-1))
    close(torch.from_numpy(layer.kv_latent), seen["latent"][0].view(9, 20))
    assert layer.k_rope.shape == (9, 8)
    assert layer.gate.shape == (9, 3, 24)
    assert dense.gate.shape == (9, 80)
    for absent in ("experts", "router_scores", "shared_gate"):
        assert not hasattr(dense, absent)
    assert not hasattr(layer, "k")


def test_pairs_that_are_half_split() -> None:
    config = transformers.DeepseekV3Config(**FIELDS, **GROUPS, q_lora_rank=16, rope_interleave=False)
    check_forward(pair_of(save(config, seed=4, sharpness=1.0)))


def test_the_layer_for_the_token_after_the_next_is_left_out(pair: Pair) -> None:
    """V3's published files hold one layer more, which transformers leaves unread as well."""
    file = pair.directory / "model.safetensors"
    tensors = load_file(file)
    further = {
        name.replace("layers.2.", "layers.3."): value * 2 for name, value in tensors.items() if "layers.2." in name
    }
    save_file(tensors | further, file)
    again = model.load(pair.directory, device="cpu")
    save_file(tensors, file, metadata={"format": "pt"})
    close(again.net(sample(1, 5)), pair.lm.net(sample(1, 5)), 0)


def test_what_is_not_implemented_is_refused(pair: Pair) -> None:
    wrong = {
        "moe_layer_freq": 2,
        "n_routed_experts": 5000,
        "scoring_func": "tanh",
        "topk_method": "random",
        "attention_bias": True,
        "quantization_config": {"quant_method": "fp8"},
    }
    for field, value in wrong.items():
        assert refusal(pair.directory, **{field: value}).startswith(f"config.json: {field} is ")
    if pair.lm.config.routing.groups > 1:  # pyright: ignore[reportAttributeAccessIssue]
        assert refusal(pair.directory, n_group=3).startswith("config.json: n_group is 3; expected a divisor")
        assert refusal(pair.directory, topk_group=1).startswith("config.json: topk_group is 1")
