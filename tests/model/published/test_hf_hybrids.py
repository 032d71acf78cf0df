"""Hybrids and models that share K and V: read from a config.json, against transformers' own networks and caches.

B = 3 sequences in bf16. transformers keeps one more input of a convolution than is needed and one token less of a
window (window="transformers"); its recurrent states are fp32, MiniMax's alone as the model computes.
"""

import copy
import json
from pathlib import Path

import pytest
import torch
import transformers

from model.errors import GlassLlamaError
from model.kv_math import KvOptions, kv_breakdown, kv_bytes_per_token, kv_cache_bytes
from model.kv_math.growth import kv_growth
from model.kv_math.kinds import attention_kinds
from model.kv_math.memory import memory_use
from model.kv_math.report import breakdown_lines
from model.kv_math.weights import weight_breakdown
from model.published.catalogue import parameter_count
from model.published.hf import FAMILIES
from model.published.hf.fields import SHAPE_FIELDS
from model.published.hf_spec import spec_from_config

# One published model of each type: the fields of its config.json that say its shape, and where they were read.
FILES = json.loads(Path(__file__).with_name("hybrid_configs.json").read_text(encoding="utf-8"))
CONFIGS = {name: entry["config"] for name, entry in FILES.items()}
T = 65_536
# At T tokens in bf16: layers × tokens × K and V × heads × width × bytes; then layers × (channels × 3 past inputs
# × bytes + heads × rows × columns × bytes of the state's own format). And the vendor's parameters, rounded, in 10⁹.
BY_HAND = {
    "Qwen3-Next 80B-A3B": (12 * T * 2 * 2 * 256 * 2 + 36 * (8192 * 3 * 2 + 32 * 128 * 128 * 4), 80),
    "Qwen3.5 27B": (16 * T * 2 * 4 * 256 * 2 + 48 * (10_240 * 3 * 2 + 48 * 128 * 128 * 4), 27),
    "Jamba v0.1": (4 * T * 2 * 8 * 128 * 2 + 28 * (8192 * 3 * 2 + 8192 * 16 * 4), 52),
    "Mamba 2.8B": (64 * (5120 * 3 * 2 + 5120 * 16 * 4), 2.8),
    "Mamba-Codestral 7B": (64 * (10_240 * 3 * 2 + 128 * 64 * 128 * 4), 7.3),
    "Nemotron 3 Nano 30B-A3B": (6 * T * 2 * 2 * 128 * 2 + 23 * (6144 * 3 * 2 + 64 * 64 * 128 * 4), 31.6),
    "Granite 4.0 H Small": (4 * T * 2 * 8 * 128 * 2 + 36 * (8448 * 3 * 2 + 128 * 64 * 128 * 4), 32),
    "MiniMax-M1": (10 * T * 2 * 8 * 128 * 2 + 70 * 64 * 128 * 128 * 2, 456),
    "Kimi Linear 48B-A3B": (7 * T * (512 + 64) * 2 + 20 * (3 * 4096 * 3 * 2 + 32 * 128 * 128 * 4), 49),
    "Falcon-H1 34B": (72 * (T * 2 * 4 * 128 * 2 + 5120 * 3 * 2 + 32 * 128 * 256 * 4), 34),
    "LFM2 1.2B": (6 * T * 2 * 8 * 64 * 2 + 10 * 2048 * 2 * 2, 1.17),
    "Gemma 3n E4B (text)": ((16 * 512 + 4 * T) * 2 * 2 * 256 * 2, 6.9),
    "Gemma 4 31B (text)": (50 * 1024 * 2 * 16 * 256 * 2 + 10 * T * 2 * 4 * 512 * 2, 30.7),
    "DeepSeek-V4 Flash": (  # compressed 4:1 with an indexer's key in fp8, or 128:1; the longest wait for an entry
        (43 * 128 + 21 * T // 4 + 20 * T // 128) * 512 * 2
        + 21 * T // 4 * 132
        + 21 * (3 * 2 + 4) * 2 * (512 + 128) * 2
        + 20 * 127 * 2 * 512 * 2,
        284,
    ),
    "Hunyuan-Large": (32 * T * 2 * 8 * 80 * 2, 389),
    "Hunyuan-A13B": (32 * T * 2 * 8 * 128 * 2, 80),
    "Hunyuan 7B": (32 * T * 2 * 8 * 128 * 2, 7.5),
}
B, VOCABULARY = 3, 50
SIZES = {"vocab_size": VOCABULARY, "hidden_size": 32, "intermediate_size": 48, "max_position_embeddings": 64}
HEADS = {"num_attention_heads": 4, "num_key_value_heads": 2}
DELTA = {"linear_conv_kernel_dim": 4, "linear_key_head_dim": 8, "linear_value_head_dim": 6}
DELTA |= {"linear_num_key_heads": 2, "linear_num_value_heads": 4}
EXPERTS = {"moe_intermediate_size": 16, "num_experts": 4, "num_experts_per_tok": 2}
ROUTED = {**EXPERTS, "shared_expert_intermediate_size": 24}
MAMBA = {"vocab_size": VOCABULARY, "hidden_size": 32, "state_size": 12}
MAMBA2 = {"mamba_n_heads": 8, "mamba_d_head": 8, "mamba_n_groups": 2, "mamba_d_state": 12, "mamba_chunk_size": 8}
NEMOTRON = {**SIZES, **HEADS, "head_dim": 16, "ssm_state_size": 12, "mamba_num_heads": 8, "mamba_head_dim": 8}
NEMOTRON |= {"n_groups": 2, "n_routed_experts": 4, "moe_intermediate_size": 16, "chunk_size": 8}
NEMOTRON |= {"moe_shared_expert_intermediate_size": 24}
GEMMA = {**SIZES, **HEADS, "head_dim": 16, "sliding_window": 8, "vocab_size_per_layer_input": 60}
GEMMA |= {"hidden_size_per_layer_input": 8}
KIMI = {"kv_lora_rank": 20, "qk_rope_head_dim": 8, "qk_nope_head_dim": 12, "v_head_dim": 10, "num_local_experts": 4}
KIMI |= {"num_attention_heads": 4, "num_key_value_heads": 4, "num_experts_per_tok": 2, "moe_intermediate_size": 16}
KIMI |= {"linear_head_dim": 8, "linear_num_heads": 3, "pad_token_id": 0, "bos_token_id": 0, "eos_token_id": 0}
SOME, HYBRID = ["mamba", "attention", "mamba"], ["linear_attention", "full_attention", "linear_attention"]

# Class of the config, class of the network, fields, kinds of its layers (first letters).
NETWORKS = [
    ("Qwen3NextConfig", "Qwen3NextForCausalLM", {**SIZES, **HEADS, **DELTA, **ROUTED, "head_dim": 16}, 5, "lllfl"),
    ("Qwen3_5TextConfig", "Qwen3_5ForCausalLM", {**SIZES, **HEADS, **DELTA, "head_dim": 16}, 4, "lllf"),
    ("Qwen3_5MoeTextConfig", "Qwen3_5MoeForCausalLM",
     {**SIZES, **HEADS, **DELTA, **ROUTED, "head_dim": 16, "layer_types": HYBRID}, 3, "lfl"),
    ("JambaConfig", "JambaForCausalLM", {**SIZES, **HEADS, "num_experts": 4, "mamba_d_state": 12}, 6, "llllfl"),
    ("JambaConfig", "JambaForCausalLM",
     {**SIZES, **HEADS, "num_experts": 1, "mamba_proj_bias": True, "attn_layer_period": 2, "attn_layer_offset": 0},
     3, "flf"),
    ("MambaConfig", "MambaForCausalLM", {**MAMBA, "time_step_rank": 5}, 2, "ll"),
    ("MambaConfig", "MambaForCausalLM", {**MAMBA, "use_bias": True, "use_conv_bias": False, "conv_kernel": 3}, 2, "ll"),
    ("Mamba2Config", "Mamba2ForCausalLM", {**MAMBA, "num_heads": 8, "head_dim": 8, "n_groups": 2}, 2, "ll"),
    ("Mamba2Config", "Mamba2ForCausalLM",
     {**MAMBA, "num_heads": 4, "head_dim": 16, "n_groups": 1, "use_bias": True, "tie_word_embeddings": True}, 2, "ll"),
    ("NemotronHConfig", "NemotronHForCausalLM",
     {**NEMOTRON, "layers_block_type": ["mamba", "mlp", "mamba", "attention", "moe"]}, None, "lnlfn"),
    ("NemotronHConfig", "NemotronHForCausalLM",
     {**NEMOTRON, "hybrid_override_pattern": "ME*E", "moe_latent_size": 24, "use_bias": True}, None, "lnfn"),
    ("GraniteMoeHybridConfig", "GraniteMoeHybridForCausalLM",
     {**SIZES, **HEADS, **MAMBA2, "layer_types": SOME, "num_local_experts": 4, "shared_intermediate_size": 24},
     3, "lfl"),
    ("GraniteMoeHybridConfig", "GraniteMoeHybridForCausalLM",
     {**SIZES, **HEADS, **MAMBA2, "layer_types": SOME, "num_local_experts": 0, "num_experts_per_tok": 0}
     | {"mamba_proj_bias": True, "mamba_conv_bias": False, "attention_bias": True, "mamba_d_head": "auto"}, 3, "lfl"),
    ("MiniMaxConfig", "MiniMaxForCausalLM",
     {**SIZES, **HEADS, "head_dim": 16, "layer_types": HYBRID, "num_local_experts": 4}, 3, "lfl"),
    ("KimiLinearConfig", "KimiLinearForCausalLM", {**SIZES, **KIMI}, 5, "llllf"),
    ("FalconH1Config", "FalconH1ForCausalLM", {**SIZES, **HEADS, **MAMBA2, "mamba_d_ssm": 64}, 2, "hh"),
    ("FalconH1Config", "FalconH1ForCausalLM",
     {**SIZES, **HEADS, **MAMBA2, "mamba_d_ssm": None, "mamba_rms_norm": True, "projectors_bias": True}
     | {"mamba_proj_bias": True, "attention_bias": True}, 2, "hh"),
    ("Lfm2Config", "Lfm2ForCausalLM", {**SIZES, **HEADS, "full_attn_idxs": [1], "conv_bias": True}, 3, "lfl"),
    ("Lfm2Config", "Lfm2ForCausalLM",
     {**SIZES, **HEADS, "full_attn_idxs": [0], "conv_L_cache": 5, "block_auto_adjust_ff_dim": False}, 2, "fl"),
    ("Lfm2MoeConfig", "Lfm2MoeForCausalLM",
     {**SIZES, **HEADS, **EXPERTS, "layer_types": ["conv", "full_attention", "conv"], "num_dense_layers": 1}, 3, "lfl"),
    ("Gemma3nTextConfig", "Gemma3nForCausalLM",
     {**GEMMA, "num_kv_shared_layers": 5, "laurel_rank": 4, "altup_num_inputs": 3}
     | {"intermediate_size": [48] * 9 + [64]}, 10, "ssssfssssf"),
    ("Gemma4TextConfig", "Gemma4ForCausalLM",
     {**GEMMA, "global_head_dim": 24, "num_kv_shared_layers": 6, "use_double_wide_mlp": True}, 12, "sssssf" * 2),
    ("Gemma4TextConfig", "Gemma4ForCausalLM",
     {**GEMMA, **EXPERTS, "global_head_dim": 24, "num_global_key_value_heads": 1, "attention_k_eq_v": True}
     | {"hidden_size_per_layer_input": 0, "enable_moe_block": True, "top_k_experts": 2}, 6, "sssssf"),
    ("HunYuanDenseV1Config", "HunYuanDenseV1ForCausalLM", {**SIZES, **HEADS, "head_dim": 16}, 2, "ff"),
    ("HunYuanMoEV1Config", "HunYuanMoEV1ForCausalLM",
     {**SIZES, **HEADS, "head_dim": 16, "num_experts": 4, "moe_topk": 2}, 2, "ff"),
]  # fmt: skip


def built(kind, network, given, layers):
    config = getattr(transformers, kind)(**copy.deepcopy(given), **({"num_hidden_layers": layers} if layers else {}))
    return getattr(transformers, network)(config).to(torch.bfloat16).eval()


def held(net, tokens):
    """Bytes of every tensor in the cache after a prefill of all tokens but one, and a step of one."""
    cache = None
    with torch.no_grad():
        for length in (tokens - 1, 1):
            name = "cache_params" if "Mamba" in type(net).__name__ else "past_key_values"
            done = net(torch.randint(0, VOCABULARY, (B, length)), use_cache=True, **({name: cache} if cache else {}))
            cache = getattr(done, name)
    kept = [getattr(layer, name, None) for layer in cache.layers for name in ("keys", "values")]
    states = ("conv_states", "recurrent_states")
    kept += [s for layer in cache.layers for name in states for s in (getattr(layer, name, None) or {}).values()]
    kept += [s for s in getattr(cache, "linear_cache", []) if not isinstance(s, list)]
    return sum(tensor.nbytes for tensor in kept if tensor is not None)


@pytest.mark.parametrize("case", NETWORKS, ids=[f"{i}-{row[0]}" for i, row in enumerate(NETWORKS)])
def test_bytes_and_weights_are_those_of_transformers(case):
    *how, kinds = case
    net = built(*how)
    shape = spec_from_config(net.config.to_dict(), "tiny")
    assert "".join(kind[0] for kind in shape.layer_kinds) == kinds
    biases = [b for name, b in net.named_buffers() if name.endswith(("e_score_correction_bias", "expert_bias"))]
    assert parameter_count(shape) == sum(p.numel() for p in [*net.parameters(), *biases])
    for tokens in (3, 8, 20):  # before, at and after the window's end
        assert held(net, tokens) == kv_cache_bytes(shape, tokens, B, options=KvOptions(window="transformers"))


def test_the_file_a_vendor_wrote_says_what_transformers_writes_anew():
    for name, given in CONFIGS.items():
        if given["model_type"] in ("minimax_m1", "hunyuan"):  # not in transformers
            continue
        config = transformers.AutoConfig.for_model(**copy.deepcopy(given))
        ours, again = spec_from_config(given, name), spec_from_config(config.to_dict(), name)
        for tokens in (100, T):
            assert kv_cache_bytes(ours, tokens) == kv_cache_bytes(again, tokens), name
        assert parameter_count(ours) == parameter_count(again), name
        with torch.device("meta"):
            net = transformers.AutoModelForCausalLM.from_config(config.get_text_config())
        net.tie_weights()
        biases = [b for key, b in net.named_buffers() if key.endswith("e_score_correction_bias")]
        assert parameter_count(ours) == sum(p.numel() for p in [*net.parameters(), *biases]), name


def test_published_models_take_what_was_worked_out_by_hand():
    for name, (count, billions) in BY_HAND.items():
        shape = spec_from_config(CONFIGS[name], name)
        assert kv_cache_bytes(shape, T) == count, name
        assert parameter_count(shape) == pytest.approx(billions * 10**9, rel=0.02), name


def test_a_state_is_kept_as_the_model_keeps_it_or_as_asked():
    nemotron = spec_from_config(CONFIGS["Nemotron 3 Nano 30B-A3B"], "x")
    kept = {state: kv_cache_bytes(nemotron, 1, options=KvOptions(state=state)) for state in ("own", "fp32", "dtype")}
    assert kept["own"] == kept["fp32"] == kept["dtype"] + 23 * 64 * 64 * 128 * 2
    minimax = spec_from_config(CONFIGS["MiniMax-M1"], "x")
    kept = {state: kv_cache_bytes(minimax, 1, options=KvOptions(state=state)) for state in ("own", "fp32", "dtype")}
    assert kept["own"] == kept["dtype"] == kept["fp32"] - 70 * 64 * 128 * 128 * 2


def test_without_attention_no_token_takes_anything():
    mamba = spec_from_config(CONFIGS["Mamba 2.8B"], "x")
    assert kv_cache_bytes(mamba, 1) == kv_cache_bytes(mamba, 10**6)
    assert kv_bytes_per_token(mamba) == 0
    assert [(phase.until, phase.bytes) for phase in kv_growth(mamba)] == [(None, 0)]
    assert attention_kinds(mamba) == {}
    halves = kv_breakdown(mamba, 10, options=KvOptions(tp=2, pp=2))
    assert halves.total_bytes == 4 * halves.per_gpu_bytes == kv_cache_bytes(mamba, 10)
    assert "no attention" in breakdown_lines(halves)[0]
    with pytest.raises(GlassLlamaError, match="has no K/V heads to broadcast"):
        kv_cache_bytes(mamba, 10, options=KvOptions(layout="broadcast_heads"))


def test_layers_that_share_are_counted_once_on_every_stage():
    """Hunyuan-Large: layers 0, 2, 4, … keep K and V. Asked for, other numbers of last layers share instead."""
    hunyuan = spec_from_config(CONFIGS["Hunyuan-Large"], "x")
    token = 2 * 8 * 80 * 2
    assert kv_breakdown(hunyuan, 10, options=KvOptions(pp=4)).stage_bytes == (8 * 10 * token,) * 4
    assert kv_cache_bytes(hunyuan, 10, options=KvOptions(shared_layers=0)) == 64 * 10 * token
    gemma = spec_from_config(CONFIGS["Gemma 3n E4B (text)"], "x")
    assert kv_cache_bytes(gemma, 10) == 20 * 10 * 2 * 2 * 256 * 2
    assert kv_cache_bytes(gemma, 10, options=KvOptions(shared_layers=0)) == 35 * 10 * 2 * 2 * 256 * 2


def test_full_layers_may_have_heads_of_their_own():
    """Gemma 4 31B: 16 K/V heads of 256 in sliding layers, 4 of 512 in full ones."""
    gemma = spec_from_config(CONFIGS["Gemma 4 31B (text)"], "x")
    assert kv_cache_bytes(gemma, 10) == 10 * 2 * 2 * (50 * 16 * 256 + 10 * 4 * 512)
    kinds = attention_kinds(gemma)
    assert kv_cache_bytes(kinds["GQA"], 10) == kv_cache_bytes(gemma, 10)
    assert kv_cache_bytes(kinds["MHA"], 10) == 10 * 2 * 2 * 32 * (50 * 256 + 10 * 512)
    with pytest.raises(GlassLlamaError, match=r"tp is 32|n_kv_heads|divisor"):
        kv_cache_bytes(gemma, 10, options=KvOptions(tp=3))
    eight = kv_breakdown(gemma, 10, options=KvOptions(tp=8))  # two heads a rank in sliding layers, copies in full ones
    assert eight.per_gpu_bytes == 10 * 2 * 2 * (50 * 2 * 256 + 10 * 1 * 512)


def test_falcon_h1_is_quantised_as_a_llama_not_as_falcon():
    """llama.cpp keeps the output matrix of the architecture falcon in q8_0; falcon-h1 is another one."""
    spec = spec_from_config(CONFIGS["Falcon-H1 34B"])
    assert weight_breakdown(spec, "q4_0").output == "q6_K"


def test_weights_of_a_hybrid_on_gpus():
    for name, given in CONFIGS.items():
        shape = spec_from_config(given, name)
        weights = memory_use(shape, 100).weights
        assert weights.weights == parameter_count(shape), name
        assert sum(weights.in_stages(2)) >= weights.total_bytes, name


REFUSED = [
    ("Qwen3-Next 80B-A3B", {"linear_num_value_heads": 5}, "linear_num_value_heads is 5; expected a multiple"),
    ("Qwen3-Next 80B-A3B", {"layer_types": ["full_attention"] * 48}, "layer_types is ['full_attention'"),
    ("Qwen3-Next 80B-A3B", {"kv_lora_rank": 8}, "kv_lora_rank is 8; expected it absent"),
    ("Jamba v0.1", {"attn_layer_offset": 8}, "attn_layer_offset is 8; expected a whole number from 0 to 7"),
    ("Mamba 2.8B", {"expand": 1.7001}, "expand is 1.70"),
    ("Mamba-Codestral 7B", {"num_heads": 100}, "num_heads is 100; expected a divisor of mamba_expand"),
    ("Nemotron 3 Nano 30B-A3B", {"hybrid_override_pattern": "MX"}, "hybrid_override_pattern is 'MX'; expected a text"),
    ("Nemotron 3 Nano 30B-A3B", {"hybrid_override_pattern": "**"}, "hybrid_override_pattern is '**'; expected some"),
    ("Granite 4.0 H Small", {"mamba_d_head": 63}, "mamba_n_heads is 128; expected a divisor"),
    ("Granite 4.0 H Small", {"layer_types": ["lstm"] * 40}, "layer_types is 'lstm'; expected each one of"),
    ("MiniMax-M1", {"attn_type_list": [2] * 80}, "attn_type_list is [2, 2"),
    ("Kimi Linear 48B-A3B", {"linear_attn_config": {"num_heads": 32}}, "linear_attn_config.head_dim is missing"),
    ("Falcon-H1 34B", {"attn_layer_indices": [1]}, "attn_layer_indices is [1]; expected it absent"),
    ("LFM2 1.2B", {"conv_dim": 7}, "conv_dim is 7; expected 2048"),
    ("Hunyuan-Large", {"cla_share_factor": None}, "cla_share_factor is missing"),
    ("Hunyuan-A13B", {"moe_topk": [1] + [8] * 31}, "moe_topk is [1, 8"),
]
WEIGHTS_ALONE = [
    ("Qwen3-Next 80B-A3B", {"attention_bias": True}, "attention_bias is True; expected False"),
    ("Nemotron 3 Nano 30B-A3B", {"mlp_bias": True}, "mlp_bias is True; expected False"),
    ("MiniMax-M1", {"shared_intermediate_size": 64}, "shared_intermediate_size is 64; expected 0 or None"),
    ("Hunyuan-A13B", {"moe_layer_num_skipped": 1}, "moe_layer_num_skipped is 1; expected 0"),
]


def test_what_cannot_be_read_is_refused_by_the_fields_name():
    for name, change, says in REFUSED:
        with pytest.raises(GlassLlamaError) as caught:
            spec_from_config({**CONFIGS[name], **change}, "mine")
        assert str(caught.value).startswith(f"config.json: {says}"), name
    for name, change, says in WEIGHTS_ALONE:
        spec = spec_from_config({**CONFIGS[name], **change}, "mine")
        assert str(spec.unstated[0]).startswith(f"config.json: {says}"), name
        assert kv_cache_bytes(spec, 1000) == kv_cache_bytes(spec_from_config(CONFIGS[name]), 1000)
    gemma = CONFIGS["Gemma 3n E4B (text)"]
    for change, says in (
        ({"num_kv_shared_layers": 34}, "text_config.num_kv_shared_layers is 34"),
        ({"intermediate_size": [1, 2]}, "text_config.intermediate_size is [1, 2]"),
    ):
        with pytest.raises(GlassLlamaError, match=r"text_config\.") as caught:
            spec_from_config({**gemma, "text_config": {**gemma["text_config"], **change}}, "mine")
        assert str(caught.value).startswith(f"config.json: {says}")


def test_no_value_of_any_field_breaks_a_reader():
    """Whatever stands in a field: a card that makes sense, or a refusal in one line."""
    junk, messages = (None, -1, 1, 1.5, "x", [[1]], {"a": 1}, True, float("nan")), set()
    for name, config in CONFIGS.items():
        paths = [(field,) for field in (*config, *SHAPE_FIELDS, "rope_parameters", "per_layer_config")]
        paths += [(outer, inner) for outer, part in config.items() if isinstance(part, dict) for inner in part]
        for first, *inner in paths:
            for value in junk:
                part = {**config[first], inner[0]: value} if inner else value
                try:
                    shape = spec_from_config({**config, first: part}, name)
                except GlassLlamaError as error:
                    messages.add(str(error))
                else:
                    assert kv_cache_bytes(shape, 100) > 0, (name, first)
    assert max(map(len, messages)) < 500 + len(", ".join(FAMILIES))
    assert not any("\n" in message for message in messages)
