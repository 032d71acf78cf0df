"""The families that are read, each against transformers' own network: every weight, and every byte of its cache.

One tiny random network a row. Where a vendor's network is not in transformers, the same arithmetic by hand.
"""

import pytest
import torch
import transformers

from model.errors import GlassLlamaError
from model.kv_math import KvOptions, kv_cache_bytes
from model.published.catalogue import active_parameter_count, parameter_count
from model.published.hf import FAMILIES
from model.published.hf_spec import spec_from_config
from tests.model.kv_math.test_kv_transformers import VOCABULARY, B, T, held, run

SIZES = {"vocab_size": VOCABULARY, "hidden_size": 32, "intermediate_size": 48, "max_position_embeddings": 64}
HEADS = {"num_hidden_layers": 5, "num_attention_heads": 4, "num_key_value_heads": 2}
IDS = {"pad_token_id": 0, "bos_token_id": 1, "eos_token_id": 2}
TINY = {**SIZES, **HEADS, **IDS}
WIDE = {**TINY, "head_dim": 16}
EXPERTS = {"num_local_experts": 4, "num_experts_per_tok": 2}
EARLY = {name: value for name, value in TINY.items() if name != "num_key_value_heads"}
GLM = {**WIDE, "n_routed_experts": 4, "num_experts_per_tok": 2, "moe_intermediate_size": 16, "n_shared_experts": 2}
ERNIE = {**TINY, "moe_num_experts": 4, "moe_k": 2, "moe_intermediate_size": 16}
DBRX = {"d_model": 32, "n_heads": 4, "n_layers": 3, "max_seq_len": 64, "vocab_size": VOCABULARY}
DBRX_PARTS = {
    "attn_config": {"kv_n_heads": 2, "rope_theta": 10_000.0, "clip_qkv": 8},
    "ffn_config": {"ffn_hidden_size": 24, "moe_num_experts": 4, "moe_top_k": 2},
}
OPT = {**EARLY, "ffn_dim": 40}
# Class, fields of its config, kinds of its layers (f, s), heads that are cached.
NETWORKS = [
    ("Phi3", {**TINY, "sliding_window": 8}, "sssss", 2),
    ("Phi3", {**TINY, "tie_word_embeddings": True}, "fffff", 2),
    ("Phi", TINY, "fffff", 2),
    ("Phi", EARLY, "fffff", 4),
    ("Olmo", {**TINY, "clip_qkv": 8.0}, "fffff", 2),
    ("Olmo2", {**TINY, "attention_bias": True}, "fffff", 2),
    ("Olmo3", {**TINY, "sliding_window": 8}, "sssfs", 2),
    ("Granite", {**TINY, "tie_word_embeddings": True, "attention_bias": True, "mlp_bias": True}, "fffff", 2),
    ("SmolLM3", TINY, "fffff", 2),
    ("SmolLM3", {**TINY, "use_sliding_window": True, "sliding_window": 8, "attention_bias": True}, "fffsf", 2),
    ("Cohere", TINY, "fffff", 2),
    ("Cohere", {**TINY, "use_qk_norm": True, "attention_bias": True}, "fffff", 2),
    ("Cohere2", {**TINY, "sliding_window": 8}, "sssfs", 2),
    ("Starcoder2", {**TINY, "sliding_window": 8}, "sssss", 2),
    ("Starcoder2", {**TINY, "use_bias": False}, "fffff", 2),
    ("Glm", WIDE, "fffff", 2),
    ("Glm4", {**WIDE, "attention_bias": False}, "fffff", 2),
    ("SeedOss", WIDE, "fffff", 2),
    ("SeedOss", {**WIDE, "attention_out_bias": True}, "fffff", 2),
    ("Exaone4", {**WIDE, "sliding_window": 8}, "sssfs", 2),
    ("Exaone4", {**WIDE, "sliding_window": None, "layer_types": ["full_attention"] * 5}, "fffff", 2),
    ("Ernie4_5", WIDE, "fffff", 2),
    ("Ernie4_5", {**WIDE, "use_bias": True, "tie_word_embeddings": False}, "fffff", 2),
    ("Ministral3", {**WIDE, "sliding_window": 8}, "sssss", 2),
    ("Ministral", {**WIDE, "layer_types": ["sliding_attention", *["full_attention"] * 4]}, "sffff", 2),
    ("GptOss", {**WIDE, **EXPERTS, "sliding_window": 8}, "sfsfs", 2),
    ("Glm4Moe", {**GLM, "first_k_dense_replace": 2, "use_qk_norm": True, "attention_bias": True}, "fffff", 2),
    ("MiniMaxM2", {**WIDE, **EXPERTS}, "fffff", 2),
    ("Ernie4_5_Moe", {**ERNIE, "moe_layer_start_index": 2, "tie_word_embeddings": False}, "fffff", 2),
    ("Ernie4_5_Moe", {**ERNIE, "moe_layer_interval": 2}, "fffff", 2),
    ("Phimoe", {**TINY, **EXPERTS, "sliding_window": 8, "lm_head_bias": True}, "sssss", 2),
    ("Phimoe", {**TINY, **EXPERTS, "attention_bias": True}, "fffff", 2),
    ("Olmoe", {**TINY, "num_experts": 4, "num_experts_per_tok": 2}, "fffff", 2),
    ("Dbrx", {**DBRX, **DBRX_PARTS}, "fff", 2),
    ("OPT", OPT, "fffff", 4),
    ("OPT", {**OPT, "enable_bias": False, "tie_word_embeddings": False}, "fffff", 4),
    ("GPTNeoX", EARLY, "fffff", 4),
    ("GPTNeoX", {**EARLY, "use_parallel_residual": False, "tie_word_embeddings": True}, "fffff", 4),
    ("Mpt", {"d_model": 32, "n_heads": 4, "n_layers": 2, "vocab_size": VOCABULARY, "max_seq_len": 64}, "ff", 4),
]  # fmt: skip


@pytest.mark.parametrize(
    ("kind", "given", "layers", "heads"), NETWORKS, ids=[f"{i}-{r[0]}" for i, r in enumerate(NETWORKS)]
)
def test_weights_and_cache_are_those_of_transformers(kind, given, layers, heads):
    network = getattr(transformers, f"{kind}ForCausalLM")
    net = network(network.config_class(**given))
    spec = spec_from_config(net.config.to_dict(), "tiny")
    assert "".join(layer[0] for layer in spec.layer_kinds) == layers
    assert spec.n_kv_heads == heads
    buffers = [p for name, p in net.named_buffers() if name.endswith("e_score_correction_bias")]
    assert parameter_count(spec) == sum(p.numel() for p in [*net.parameters(), *buffers])
    assert held(run(net)) == kv_cache_bytes(spec, T, B, "fp32", KvOptions(window="transformers"))


# A family whose network stands in its vendor's repository alone, and one of transformers' with the same weights.
GQA7 = {"vocab_size": 92_544, "hidden_size": 4096, "intermediate_size": 14_336, "num_hidden_layers": 32,
        "num_attention_heads": 32, "num_key_value_heads": 8, "max_position_embeddings": 32_768}  # fmt: skip
VENDORS = {
    # HF internlm/internlm2-7b
    "internlm2": (
        {**GQA7, "bias": False, "rope_theta": 1e6, "rope_scaling": {"type": "dynamic", "factor": 2.0}},
        ("Llama", GQA7),
        7_737_708_544,
    ),
    # HF internlm/internlm3-8b-instruct
    "internlm3": (
        {**GQA7, "vocab_size": 128_512, "intermediate_size": 10_240, "num_hidden_layers": 48, "num_key_value_heads": 2}
        | {"head_dim": 128, "bias": False, "qkv_bias": False},
        ("Llama", {**GQA7, "vocab_size": 128_512, "intermediate_size": 10_240, "num_hidden_layers": 48}
         | {"num_key_value_heads": 2}),
        8_804_241_408,
    ),
    # HF Qwen/Qwen-7B: w1 and w2 are half as wide as intermediate_size
    "qwen": (
        {"vocab_size": 151_936, "hidden_size": 4096, "intermediate_size": 22_016, "num_hidden_layers": 32}
        | {"num_attention_heads": 32, "kv_channels": 128, "seq_length": 8192, "max_position_embeddings": 32_768}
        | {"rotary_pct": 1.0, "rotary_emb_base": 10_000, "no_bias": True, "layer_norm_epsilon": 1e-6}
        | {"tie_word_embeddings": False, "use_dynamic_ntk": True, "use_logn_attn": True},
        ("Qwen2", {"vocab_size": 151_936, "hidden_size": 4096, "intermediate_size": 11_008, "num_hidden_layers": 32}
         | {"num_attention_heads": 32, "num_key_value_heads": 32}),
        7_721_324_544,
    ),
    # HF baichuan-inc/Baichuan2-7B-Chat
    "baichuan": (
        {"vocab_size": 125_696, "hidden_size": 4096, "intermediate_size": 11_008, "num_hidden_layers": 32}
        | {"num_attention_heads": 32, "max_position_embeddings": 4096, "model_max_length": 4096},
        ("Llama", {"vocab_size": 125_696, "hidden_size": 4096, "intermediate_size": 11_008, "num_hidden_layers": 32}
         | {"num_attention_heads": 32}),
        7_505_973_248,
    ),
}  # fmt: skip


@pytest.mark.parametrize("kind", VENDORS)
def test_a_vendors_own_network_has_the_weights_of_its_like(kind):
    """The published total of each checkpoint, and what transformers allocates for the like network, are both ours."""
    file, (like, sizes), published = VENDORS[kind]
    network = getattr(transformers, f"{like}ForCausalLM")
    with torch.device("meta"):
        net = network(network.config_class(**sizes))
    spec = spec_from_config({"model_type": kind, **file}, kind)
    assert parameter_count(spec) == sum(p.numel() for p in net.parameters()) == published
    heads, width = file.get("num_key_value_heads", file["num_attention_heads"]), file["hidden_size"] // 32
    assert kv_cache_bytes(spec, 4096, 2) == 2 * file["num_hidden_layers"] * 2 * 4096 * heads * width * 2


def test_baichuan_13b_has_alibi_and_states_its_length_otherwise():
    file = {"model_type": "baichuan", "vocab_size": 125_696, "hidden_size": 5120, "intermediate_size": 13_696}
    file |= {"num_hidden_layers": 40, "num_attention_heads": 40, "model_max_length": 4096}
    spec = spec_from_config(file, "Baichuan2-13B")
    assert (spec.position.kind, spec.max_context, parameter_count(spec)) == ("alibi", 4096, 13_896_668_160)


GPT_OSS_120B = {
    "model_type": "gpt_oss", "attention_bias": True, "experts_per_token": 4, "head_dim": 64, "hidden_act": "silu",
    "hidden_size": 2880, "initial_context_length": 4096, "intermediate_size": 2880,
    "layer_types": ["sliding_attention", "full_attention"] * 18, "max_position_embeddings": 131_072,
    "num_attention_heads": 64, "num_experts_per_tok": 4, "num_hidden_layers": 36, "num_key_value_heads": 8,
    "num_local_experts": 128, "rms_norm_eps": 1e-5, "rope_theta": 150_000, "sliding_window": 128,
    "rope_scaling": {"beta_fast": 32.0, "beta_slow": 1.0, "factor": 32.0, "original_max_position_embeddings": 4096,
                     "rope_type": "yarn", "truncate": False},
    "quantization_config": {"quant_method": "mxfp4"}, "swiglu_limit": 7.0, "tie_word_embeddings": False,
    "vocab_size": 201_088,
}  # fmt: skip
KIMI_K2 = {
    "model_type": "kimi_k2", "attention_bias": False, "first_k_dense_replace": 1, "hidden_act": "silu",
    "hidden_size": 7168, "intermediate_size": 18_432, "kv_lora_rank": 512, "max_position_embeddings": 131_072,
    "moe_intermediate_size": 2048, "moe_layer_freq": 1, "n_group": 1, "n_routed_experts": 384, "n_shared_experts": 1,
    "norm_topk_prob": True, "num_attention_heads": 64, "num_experts_per_tok": 8, "num_hidden_layers": 61,
    "num_key_value_heads": 64, "num_nextn_predict_layers": 0, "q_lora_rank": 1536, "qk_nope_head_dim": 128,
    "qk_rope_head_dim": 64, "rms_norm_eps": 1e-6, "rope_theta": 50_000.0, "routed_scaling_factor": 2.827,
    "rope_scaling": {"beta_fast": 1.0, "beta_slow": 1.0, "factor": 32.0, "mscale": 1.0, "mscale_all_dim": 1.0,
                     "original_max_position_embeddings": 4096, "type": "yarn"},
    "scoring_func": "sigmoid", "tie_word_embeddings": False, "topk_group": 1, "topk_method": "noaux_tc",
    "v_head_dim": 128, "vocab_size": 163_840,
}  # fmt: skip
PHI_3_MINI_4K = {
    "model_type": "phi3", "attention_bias": False, "hidden_act": "silu", "hidden_size": 3072,
    "intermediate_size": 8192, "max_position_embeddings": 4096, "num_attention_heads": 32, "num_hidden_layers": 32,
    "num_key_value_heads": 32, "original_max_position_embeddings": 4096, "rms_norm_eps": 1e-5, "rope_scaling": None,
    "rope_theta": 10_000.0, "sliding_window": 2047, "tie_word_embeddings": False, "vocab_size": 32_064,
}  # fmt: skip


def test_gpt_oss_120b_by_hand():
    """18 full layers keep 131,072 tokens and 18 sliding ones 128: × 2 × 8 heads × 64 × 2 bytes."""
    spec = spec_from_config(GPT_OSS_120B, "gpt-oss-120b")
    assert kv_cache_bytes(spec, 131_072) == 18 * (131_072 + 128) * 2 * 8 * 64 * 2 == 4_836_556_800
    # The model card (arXiv 2508.10925): 116.83 B parameters, 5.13 B active, unembedding counted, embedding not
    assert round(parameter_count(spec) / 1e9, 2) == 116.83
    assert round((active_parameter_count(spec) - 201_088 * 2880) / 1e9, 2) == 5.13


def test_kimi_k2_by_hand():
    """61 layers keep 131,072 latents of 512 with RoPE keys of 64, at 2 bytes."""
    spec = spec_from_config(KIMI_K2, "Kimi-K2-Instruct")
    assert kv_cache_bytes(spec, 131_072) == 61 * 131_072 * (512 + 64) * 2 == 9_210_691_584
    assert round(parameter_count(spec) / 1e12, 2) == 1.03
    assert round(active_parameter_count(spec) / 1e9) == 33
    wrapped = {"model_type": "kimi_k25", "text_config": {**KIMI_K2, "max_position_embeddings": 262_144}}
    assert kv_cache_bytes(spec_from_config(wrapped, "Kimi-K2.5"), 131_072) == 9_210_691_584


def test_phi_3_mini_4k_by_hand():
    """Its window of 2,047 tokens, full: 32 layers × 2 × 32 heads × 96 × 2 bytes a token."""
    spec = spec_from_config(PHI_3_MINI_4K, "Phi-3-mini-4k-instruct")
    assert kv_cache_bytes(spec, 4096) == 2047 * 32 * 2 * 32 * 96 * 2 == 804_913_152
    assert kv_cache_bytes(spec, 4096, options=KvOptions(window="off")) == 4096 * 32 * 2 * 32 * 96 * 2
    assert parameter_count(spec) == 3_821_079_552


def text_model(kind, name, config):
    """A text model with its logits' weights beside it: (module, bytes held, weights)."""
    net = getattr(transformers.models, kind)
    module = getattr(getattr(net, f"modeling_{kind}"), name)(config).eval()
    return module, held(run(module)), sum(p.numel() for p in module.parameters())


TOWERS = [
    ("qwen2_vl", "Qwen2VL", {**TINY, "rope_parameters": {"rope_type": "default", "mrope_section": [1, 1, 2]}}),
    ("qwen2_5_vl", "Qwen2_5_VL", {**TINY, "rope_parameters": {"rope_type": "default", "mrope_section": [1, 1, 2]}}),
    ("qwen3_vl", "Qwen3VL", {**WIDE, "rope_parameters": {"rope_type": "default", "mrope_section": [4, 2, 2]}}),
    (
        "qwen3_vl_moe",
        "Qwen3VLMoe",
        {**WIDE, "num_experts": 4, "num_experts_per_tok": 2, "moe_intermediate_size": 16}
        | {"rope_parameters": {"rope_type": "default", "mrope_section": [4, 2, 2]}},
    ),
]


@pytest.mark.parametrize(("kind", "name", "given"), TOWERS, ids=[row[0] for row in TOWERS])
def test_the_text_model_beside_a_tower(kind, name, given):
    config = getattr(transformers.models, kind)
    config = getattr(getattr(config, f"configuration_{kind}"), f"{name}TextConfig")(**given)
    _, real, weights = text_model(kind, f"{name}TextModel", config)
    file = {
        "model_type": kind,
        "tie_word_embeddings": False,
        "text_config": config.to_dict(),
        "vision_config": {"a": 1},
    }
    file["text_config"].pop("tie_word_embeddings", None)
    spec = spec_from_config(file, "tiny")
    assert parameter_count(spec) == weights + SIZES["vocab_size"] * SIZES["hidden_size"]
    assert real == kv_cache_bytes(spec, T, B, "fp32")
    assert "vision tower" in " ".join(spec.notes)
    tied = spec_from_config({**file, "tie_word_embeddings": True}, "tiny")
    assert parameter_count(tied) == weights


def test_published_files_in_earlier_forms():
    """Fields as they stand in files of the Hub that transformers would write otherwise today."""
    # HF Qwen/Qwen2.5-VL-7B-Instruct: the text model's fields beside vision_config
    flat = {
        "model_type": "qwen2_5_vl", "hidden_act": "silu", "hidden_size": 3584, "intermediate_size": 18_944,
        "max_position_embeddings": 128_000, "max_window_layers": 28, "num_attention_heads": 28,
        "num_hidden_layers": 28, "num_key_value_heads": 4, "rms_norm_eps": 1e-6, "rope_theta": 1_000_000.0,
        "rope_scaling": {"mrope_section": [16, 24, 24], "type": "mrope"}, "sliding_window": 32_768,
        "tie_word_embeddings": False, "use_sliding_window": False, "vocab_size": 152_064,
        "vision_config": {"window_size": 112, "hidden_size": 1280},
    }  # fmt: skip
    spec = spec_from_config(flat, "Qwen2.5-VL-7B")
    assert parameter_count(spec) == 7_615_616_512  # as Qwen2.5-7B, which has the same language model
    assert (kv_cache_bytes(spec, 1), spec.position.scaling) == (28 * 2 * 4 * 128 * 2, None)
    # HF mistralai/Mistral-Small-3.1-24B-Instruct-2503
    text = {"attention_dropout": 0.0, "head_dim": 128, "hidden_act": "silu", "hidden_size": 5120}
    text |= {"intermediate_size": 32_768, "max_position_embeddings": 131_072, "model_type": "mistral"}
    text |= {"num_attention_heads": 32, "num_hidden_layers": 40, "num_key_value_heads": 8, "rms_norm_eps": 1e-5}
    text |= {"rope_theta": 1e9, "sliding_window": None, "vocab_size": 131_072}
    spec = spec_from_config({"model_type": "mistral3", "text_config": text, "vision_config": {"a": 1}}, "Small 3.1")
    assert parameter_count(spec) == 23_572_403_200  # as Mistral Small 3, which has the same language model
    ministral = {**text, "model_type": "ministral3"}
    ministral.pop("sliding_window")
    assert spec_from_config({"model_type": "mistral3", "text_config": ministral}, "x").layer_kinds == ("full",) * 40
    # HF microsoft/Phi-3.5-mini-instruct: longrope, 4,096 to 131,072 tokens
    scaling = {"long_factor": [1.0] * 48, "short_factor": [1.0] * 48, "type": "longrope"}
    long = {**PHI_3_MINI_4K, "max_position_embeddings": 131_072, "sliding_window": 262_144, "rope_scaling": scaling}
    read = spec_from_config(long, "x").position.scaling
    assert read is not None
    assert (read.kind, read.factor, read.original_max_context) == ("longrope", 32.0, 4096)
    assert spec_from_config({**long, "rope_scaling": {**scaling, "type": "su"}}, "x").position.scaling == read
    # HF LGAI-EXAONE/EXAONE-4.0-32B: letters; the last layer is full whatever they say
    exaone = {"model_type": "exaone4", **WIDE, "num_hidden_layers": 6, "sliding_window": 8}
    for pattern, kinds in (("LLLG", "sssfsf"), (4, "sssfss"), ("LG", "sfsfsf")):
        read = spec_from_config({**exaone, "sliding_window_pattern": pattern}, "x")
        assert "".join(kind[0] for kind in read.layer_kinds) == kinds
    # HF MiniMaxAI/MiniMax-M2: names of its own for what is rotated and for the layers that draft
    minimax = {"model_type": "minimax_m2", **WIDE, **EXPERTS, "rotary_dim": 8, "attn_type_list": [1] * 5}
    minimax |= {"use_mtp": True, "num_mtp_modules": 3, "mtp_transformer_layers": 1, "qk_norm_type": "per_layer"}
    read = spec_from_config(minimax, "x")
    assert (read.position.rotary_dim, read.mtp_layers) == (8, 3)
    # HF EleutherAI/pythia-70m: a quarter rotated, by the family's own names
    neox = {"model_type": "gpt_neox", **EARLY, "rotary_pct": 0.5, "rotary_emb_base": 5000}
    read = spec_from_config(neox, "x").position
    assert (read.rotary_dim, read.theta) == (4, 5000.0)


def refused(kind, base, **change):
    with pytest.raises(GlassLlamaError) as caught:
        spec_from_config({"model_type": kind, **base, **change}, "mine")
    assert caught.value.code == "hf_config"
    return str(caught.value).removeprefix("config.json: ")


def test_what_is_not_understood_is_refused_by_its_name():
    mpt = {"d_model": 32, "n_heads": 4, "n_layers": 2, "vocab_size": 50, "max_seq_len": 64}
    oss = {**WIDE, **EXPERTS, "sliding_window": 8}
    for kind, base, change, says in (
        ("opt", OPT, {"do_layer_norm_before": False}, "do_layer_norm_before is False; expected True"),
        ("phi", TINY, {"qk_layernorm": True}, "qk_layernorm is True; expected False"),
        ("mpt", mpt, {"attn_config": {"attn_type": "multiquery_attention"}}, "attn_config.attn_type is 'multiquery"),
        ("mpt", mpt, {"attn_config": {"kv_n_heads": 2}}, "attn_config.kv_n_heads is 2; expected it absent"),
        ("mpt", mpt, {"attn_config": {"alibi": False}}, "attn_config.alibi is False; expected True"),
        ("dbrx", {**DBRX, **DBRX_PARTS}, {"attn_config": {"kv_n_heads": 3}}, "attn_config.kv_n_heads is 3; expected a"),
        ("gpt_oss", oss, {"sliding_window": None}, "sliding_window is missing"),
        ("glm4_moe", GLM, {"n_routed_experts": None}, "n_routed_experts is missing"),
        ("minimax_m2", {**WIDE, **EXPERTS}, {"attn_type_list": [0, 1, 0, 1, 0]}, "attn_type_list is [0, 1, 0, 1, 0]"),
        ("ernie4_5_moe", ERNIE, {"moe_layer_start_index": [0, 1]}, "moe_layer_start_index is [0, 1]"),
        ("smollm3", TINY, {"no_rope_layers": [1, 0]}, "no_rope_layers is [1, 0]; expected a list of 5"),
        ("exaone4", {**WIDE, "sliding_window": 8}, {"sliding_window_pattern": "LX"}, "sliding_window_pattern is 'LX'"),
        ("mistral3", {"text_config": {**TINY, "model_type": "llama"}}, {}, "text_config.model_type is 'llama'"),
        ("olmo2", TINY, {"sliding_window": 8}, "sliding_window is 8; expected it absent"),
        ("cohere", TINY, {"sliding_window": 8}, "sliding_window is 8; expected it absent"),
        ("kimi_k2", KIMI_K2, {"index_head_dim": 128}, "index_head_dim is 128; expected it absent"),
    ):
        assert refused(kind, base, **change).startswith(says), (kind, change)
    for kind, base, change, says in (
        ("opt", OPT, {"word_embed_proj_dim": 16}, "word_embed_proj_dim is 16; expected 32"),
        ("gpt_neox", EARLY, {"attention_bias": False}, "attention_bias is False; expected True"),
        ("mpt", mpt, {"expansion_ratio": 2}, "expansion_ratio is 2; expected 4"),
        ("gpt_oss", oss, {"num_experts_per_tok": 5}, "num_experts_per_tok is 5; expected at most the number"),
        ("minimax_m2", {**WIDE, **EXPERTS}, {"shared_intermediate_size": 8}, "shared_intermediate_size is 8"),
        ("ernie4_5_moe", ERNIE, {"moe_layer_end_index": 2}, "moe_layer_end_index is 2; expected -1 or 4"),
        ("seed_oss", WIDE, {"attention_bias": False, "attention_out_bias": True}, "attention_out_bias is True"),
    ):
        spec = spec_from_config({"model_type": kind, **base, **change}, "mine")
        assert str(spec.unstated[0]).startswith(f"config.json: {says}"), (kind, change)
        whole = spec_from_config({"model_type": kind, **base}, "mine")
        assert kv_cache_bytes(spec, 100) == kv_cache_bytes(whole, 100)
    phi = spec_from_config({"model_type": "phi3", **TINY, "rope_scaling": {"type": "longrope"}}, "mine")
    assert "rope_scaling.original_max_position_embeddings is missing" in " ".join(phi.notes)


def test_no_value_of_any_field_breaks_a_reader():
    """Whatever stands in a field: a shape that makes sense, or a refusal in one line."""
    junk = (None, -1, 1.5, "x", [[1]], {"a": 1}, 10**5000, True)
    bases = {network: given for network, given, _, _ in NETWORKS}
    files = [
        getattr(transformers, f"{name}ForCausalLM").config_class(**given).to_dict() for name, given in bases.items()
    ]
    files += [{"model_type": kind, **file} for kind, (file, _, _) in VENDORS.items()]
    messages = []
    for file in files:
        for field in file:
            for value in junk:
                try:
                    spec = spec_from_config({**file, field: value}, "x")
                except GlassLlamaError as error:
                    messages.append(str(error))
                else:
                    assert kv_cache_bytes(spec, 100) > 0
    assert max(map(len, messages)) < 500 + len(", ".join(FAMILIES))
    assert not any("\n" in message for message in messages)
