"""GLM-5 and Kimi K3: the shapes of their files against transformers' own network and the tensors that are published."""

from typing import Any

import pytest
import torch
from transformers import GlmMoeDsaConfig, GlmMoeDsaForCausalLM

from model import kv_cache_bytes, spec_from_config
from model.errors import GlassLlamaError
from model.kv_math.options import KvOptions
from model.published.catalogue import parameter_count
from tests.model.published.test_quantised import counted

# config.json of moonshotai/Kimi-K3 (the fields about the text model's shape), and its tensors without the vision tower:
# shape, in how many layers or experts. Both as listed for the released weights, 96 files of 1,560,936,091,448 bytes.
FULL = [*range(4, 93, 4), 93]
K3: dict[str, Any] = {
    "model_type": "kimi_k3",
    "tie_word_embeddings": False,
    "text_config": {
        "model_type": "kimi_linear", "hidden_size": 7168, "intermediate_size": 33792, "num_hidden_layers": 93,
        "num_attention_heads": 96, "num_key_value_heads": 96, "vocab_size": 163840, "max_position_embeddings": 1048576,
        "q_lora_rank": 1536, "kv_lora_rank": 512, "qk_nope_head_dim": 128, "qk_rope_head_dim": 64, "v_head_dim": 128,
        "mla_use_nope": True, "mla_use_output_gate": True, "attn_res_block_size": 12, "hidden_act": "situ",
        "activation_situ_beta": 4.0, "activation_situ_linear_beta": 25.0, "rms_norm_eps": 1e-5,
        "num_experts": 896, "num_experts_per_token": 16, "num_shared_experts": 2, "moe_intermediate_size": 3072,
        "routed_expert_hidden_size": 3584, "latent_moe_use_norm": True, "first_k_dense_replace": 1, "moe_layer_freq": 1,
        "moe_renormalize": True, "moe_router_activation_func": "sigmoid", "num_expert_group": 1, "topk_group": 1,
        "topk_method": "noaux_tc", "use_grouped_topk": True, "routed_scaling_factor": 1.0,
        "num_nextn_predict_layers": 0, "tie_word_embeddings": False,
        "linear_attn_config": {
            "num_heads": 96, "head_dim": 128, "short_conv_kernel_size": 4, "use_full_rank_gate": True,
            "gate_lower_bound": -5.0, "full_attn_layers": FULL,
            "kda_layers": [layer for layer in range(1, 94) if layer not in FULL],
        },
    },
}  # fmt: skip
K3_TENSORS = [
    (163840 * 7168, 2), (7168, 3), (128 + 96 * 7168 + 12288 + 128 * 7168 + 12288 * 128 + 128, 69),
    (3 * 12288 * 4 + 3 * 12288 * 7168, 69), (6 * 7168 + 2 * 12288 * 7168, 93), (3 * 7168 * 33792, 1),
    (3 * 3072 * 3584, 92 * 896), (896 + 896 * 7168 + 2 * 3584 * 7168 + 3584 + 3 * 7168 * 6144, 92),
    (512 + 576 * 7168 + 24576 * 512 + 1536 + 1536 * 7168 + 18432 * 1536, 24),
]  # fmt: skip
K3_STORED = {
    "quant_method": "compressed-tensors", "format": "mxfp4-pack-quantized", "quantization_status": "compressed",
    "kv_cache_scheme": None, "global_compression_ratio": None,
    "config_groups": {"group_0": {"format": "mxfp4-pack-quantized", "targets": ["Linear"], "weights": {
        "num_bits": 4, "type": "float", "group_size": 32, "strategy": "group", "symmetric": True, "dynamic": False,
        "scale_dtype": "torch.uint8", "actorder": None}}},
    "ignore": ["re:.*self_attn.*", "re:.*shared_experts.*", "re:.*mlp\\.(gate|up|gate_up|down)_proj.*",
               "re:.*lm_head.*", "re:.*vision_tower.*", "re:.*mm_projector.*"],
}  # fmt: skip
PUBLISHED = 1_560_936_091_448


def test_glm_5_has_the_parameters_of_transformers_own_network() -> None:
    config = GlmMoeDsaConfig()
    with torch.device("meta"):
        net = GlmMoeDsaForCausalLM(config)
    found = parameter_count(spec_from_config(config.to_dict()))
    biases = sum(buffer.numel() for name, buffer in net.named_buffers() if name.endswith("e_score_correction_bias"))
    assert found == sum(weights.numel() for weights in net.parameters()) + biases


def test_glm_5_keeps_a_latent_and_an_indexer_key_of_every_token() -> None:
    spec = spec_from_config(GlmMoeDsaConfig().to_dict())
    assert kv_cache_bytes(spec, 1, 1, "bf16", KvOptions(indexer="dtype")) == 78 * (512 + 64 + 128) * 2


@pytest.mark.parametrize("field", [{"index_topk_freq": 4}, {"indexer_types": ["full"] * 3 + ["shared"] * 75}])
def test_layers_that_share_an_indexer_are_refused(field: dict[str, Any]) -> None:
    with pytest.raises(GlassLlamaError, match=next(iter(field))):
        spec_from_config({**GlmMoeDsaConfig().to_dict(), "indexer_types": None, **field})


def test_kimi_k3_has_the_weights_of_its_published_tensors() -> None:
    assert parameter_count(spec_from_config(K3)) == sum(weights * count for weights, count in K3_TENSORS)


def test_kimi_k3_keeps_latents_in_24_layers_and_a_state_in_the_others() -> None:
    spec = spec_from_config(K3)
    grows = kv_cache_bytes(spec, 2, 1, "bf16") - kv_cache_bytes(spec, 1, 1, "bf16")
    assert grows == 24 * (512 + 64) * 2
    state = 69 * (96 * 128 * 128 * 4 + 3 * 96 * 128 * 3 * 2)  # fp32; and the last three inputs of each convolution
    assert kv_cache_bytes(spec, 1, 1, "bf16") - grows == state


def test_kimi_k3_as_it_is_stored_takes_what_its_files_take() -> None:
    text = K3["text_config"] | {"quantization_config": K3_STORED}
    found = counted(K3 | {"text_config": text}, K3_STORED).total_bytes
    assert abs(found / PUBLISHED - 1) < 0.02, found
