"""Reading config.json files: the catalogue's cards from the Hub's own files, transformers' shapes, and what is refused.

hub_configs.json holds the config.json of 42 of the catalogue's models, without fields that say nothing about the shape;
hub_config_sources.json says of each whether it was read in a published file, and in which, or written down from the
catalogue's sources. The other six were never released in that form (llama2.c, GLM-130B, GPT-3).
"""

import copy
import json
import math
import pickle
from dataclasses import fields, is_dataclass
from pathlib import Path

import huggingface_hub
import pytest
import torch
import transformers

import model
from model.errors import GlassLlamaError
from model.kv_math import KvOptions, kv_breakdown, kv_cache_bytes
from model.kv_math.kinds import attention_kinds
from model.kv_math.memory import Setup, largest_context, memory_use
from model.kv_math.speed import decode_bound
from model.kv_math.weights import weight_breakdown
from model.published.catalogue import catalogue, parameter_count
from model.published.hf import FAMILIES
from model.published.hf.class_heads import AS_HEADS, EACH_OWN, HEAD_DIM, KV_HEADS
from model.published.hf.fields import SHAPE_FIELDS
from model.published.hf_spec import spec_from_config, spec_from_hub, spec_from_text
from model.published.hub import REASONS
from model.published.spec import ModelSpec
from model.published.unstated import Unstated, unstated_in
from tests.hub import stand_in

CONFIGS = json.loads(Path(__file__).with_name("hub_configs.json").read_text(encoding="utf-8"))
HYBRIDS = json.loads(Path(__file__).with_name("hybrid_configs.json").read_text(encoding="utf-8"))
READ_IN = json.loads(Path(__file__).with_name("hub_config_sources.json").read_text(encoding="utf-8"))
TEXTS = {"name", "family", "release", "parameters", "tokenizer", "source", "source_grade", "verified", "not_verified"}
# The files say 163,840 where the cards say what the vendor supports; BLOOM's file says nothing.
OTHER_CONTEXT = {
    "DeepSeek-V2": 163_840,
    "DeepSeek-V2-Lite": 163_840,
    "DeepSeek-V3": 163_840,
    "DeepSeek-V3.2-Exp": 163_840,
    "BLOOM-176B": None,
}
LLAMA = CONFIGS["Llama-3 8B"]


def numbers(value):
    """`value` as plain data without remarks and texts for readers."""
    if not is_dataclass(value):
        return value
    skipped = TEXTS | {"notes", "note", "also", "placement", "max_context", "kv_heads_assumed", "head_dim_assumed"}
    return {f.name: numbers(getattr(value, f.name)) for f in fields(value) if f.name not in skipped}


def differences(ours, theirs, path=""):
    """Fields in which two cards differ, but for what the second leaves open (None or "")."""
    if isinstance(ours, dict) and isinstance(theirs, dict):
        return [line for name in ours for line in differences(ours[name], theirs[name], f"{path}{name}.")]
    return [] if ours == theirs or theirs in (None, "") else [f"{path} {ours} {theirs}"]


def refused(change, base=LLAMA, **more):
    with pytest.raises(GlassLlamaError) as caught:
        spec_from_config({**base, **change, **more}, "mine")
    assert caught.value.code == "hf_config"
    return str(caught.value)


@pytest.mark.parametrize("name", list(CONFIGS))
def test_the_hubs_file_gives_the_catalogues_card(name):
    read, card = spec_from_config(CONFIGS[name], name), catalogue()[name]
    assert differences(numbers(read), numbers(card)) == []
    assert (read.moe is None, read.mla is None, read.indexer is None, read.position.scaling is None) == (
        card.moe is None,
        card.mla is None,
        card.indexer is None,
        card.position.scaling is None,
    )
    assert read.max_context == OTHER_CONTEXT.get(name, card.max_context)
    assert parameter_count(read) == parameter_count(card)
    for tokens in (1, 5_000, 131_072):
        assert kv_cache_bytes(read, tokens, 3) == kv_cache_bytes(card, tokens, 3)
    assert read.source == (f"config.json of {name}",)


def test_of_every_file_it_is_known_where_it_was_read():
    assert set(READ_IN) == {"about", *CONFIGS}
    for name in CONFIGS:
        how, where = READ_IN[name]
        assert how in ("file", "shape", "facts")
        assert bool(where) == (how != "facts")
        assert how != "facts" or catalogue()[name].source


def test_early_and_derived_files_of_the_hub():
    """Files of published checkpoints that say the same in another way, or too early to be read."""
    # HF vijayshankar245/falcon-2-7b-finqa-vj: num_kv_heads as transformers' class fills it in; multi_query decides.
    falcon = spec_from_config({**CONFIGS["Falcon-7B"], "num_kv_heads": 71}, "falcon")
    assert (falcon.n_kv_heads, kv_cache_bytes(falcon, 1)) == (1, 32 * 2 * 64 * 2)
    # HF google-t5/t5-large@9311dac states no feed_forward_proj: relu in transformers.
    t5 = {name: value for name, value in CONFIGS["T5-large (v1.0)"].items() if name != "feed_forward_proj"}
    assert spec_from_config(t5, "t5").ffn == catalogue()["T5-large (v1.0)"].ffn
    # HF deepseek-ai/DeepSeek-V2@4c2b2d1 calls itself "deepseek", which has no latents: refused, never read as MHA.
    early = {"model_type": "deepseek", "architectures": ["DeepseekForCausalLM"]}
    assert refused(early, CONFIGS["DeepSeek-V2"]).startswith("config.json: kv_lora_rank is 512; expected it absent")
    # HF tiiuae/falcon-40b-instruct@662a9a4, before transformers knew Falcon: other names, no new_decoder_architecture.
    early = {"alibi": False, "apply_residual_connection_post_layernorm": False, "architectures": ["RWForCausalLM"],
             "bias": False, "hidden_size": 8192, "layer_norm_epsilon": 1e-05, "model_type": "RefinedWeb", "n_head": 128,
             "n_head_kv": 8, "n_layer": 60, "parallel_attn": True, "vocab_size": 65024}  # fmt: skip
    read = spec_from_config(early, "falcon")
    assert kv_cache_bytes(read, 5000, 3) == kv_cache_bytes("Falcon-40B", 5000, 3)
    assert parameter_count(read) == parameter_count(catalogue()["Falcon-40B"])


def test_what_was_left_to_transformers_classes_is_said():
    seeing = spec_from_config(CONFIGS["Gemma-3 12B (text)"], "x")
    assert "text_alone" in [note.code for note in kv_breakdown(seeing).notes]
    assert "text_alone" not in [note.code for note in kv_breakdown(spec_from_config(LLAMA, "x")).notes]
    notes = " ".join(seeing.notes)
    for said in ("text_config.rope_theta 1000000.0", "text_config.vocab_size 262208", "vision tower"):
        assert said in notes
    assert "max_position_embeddings 2048" in spec_from_config(CONFIGS["Falcon-40B"], "x").notes[0]
    assert "quantised" in spec_from_config(CONFIGS["DeepSeek-V3"], "x").notes[0]
    assert spec_from_config(LLAMA, "x").notes == ()


@pytest.mark.parametrize("name", [n for n, c in CONFIGS.items() if c["model_type"] not in ("chatglm", "deepseek")])
def test_the_file_as_transformers_writes_it_anew_says_the_same(name):
    """transformers 5 renames fields (rope_parameters, layer_types, mlp_layer_types) and fills in defaults."""
    config = transformers.AutoConfig.for_model(**copy.deepcopy(CONFIGS[name]))
    for again in (config.to_dict(), json.loads(config.to_json_string())):
        assert numbers(spec_from_config(again, name)) == numbers(spec_from_config(CONFIGS[name], name))


SIZES = {"vocab_size": 50, "hidden_size": 32, "intermediate_size": 48, "max_position_embeddings": 64}
HEADS = {"num_hidden_layers": 6, "num_attention_heads": 4, "num_key_value_heads": 2}
EXPERTS = {"moe_intermediate_size": 16, "num_experts": 4, "num_experts_per_tok": 2}
MLA = {"kv_lora_rank": 20, "qk_rope_head_dim": 8, "qk_nope_head_dim": 12, "v_head_dim": 16, "num_attention_heads": 4}
ROUTED = {"n_routed_experts": 4, "num_experts_per_tok": 2, "moe_intermediate_size": 16, "n_group": 1, "topk_group": 1}
T5 = {"vocab_size": 50, "d_model": 32, "d_kv": 16, "d_ff": 48, "num_layers": 3, "num_decoder_layers": 2, "num_heads": 4}
FALCON = {"vocab_size": 50, "hidden_size": 64, "num_hidden_layers": 2, "num_attention_heads": 4, "num_kv_heads": 2}
# Class of the network, fields of its config, kinds of its layers (f, s, c).
NETWORKS = [
    ("LlamaForCausalLM", {**SIZES, **HEADS, "attention_bias": True}, "ffffff"),
    ("LlamaForCausalLM", {**SIZES, **HEADS, "attention_bias": True, "mlp_bias": True, "head_dim": 16}, "ffffff"),
    ("MistralForCausalLM", {**SIZES, **HEADS, "head_dim": 16, "sliding_window": None}, "ffffff"),
    ("MixtralForCausalLM", {**SIZES, **HEADS, "sliding_window": 8, "num_local_experts": 3}, "ssssss"),
    (
        "Qwen2ForCausalLM",
        {**SIZES, **HEADS, "use_sliding_window": True, "sliding_window": 8, "max_window_layers": 4},
        "ffffss",
    ),
    ("Qwen3ForCausalLM", {**SIZES, **HEADS, "head_dim": 16, "attention_bias": True}, "ffffff"),
    ("Qwen2MoeForCausalLM", {**SIZES, **HEADS, **EXPERTS, "shared_expert_intermediate_size": 32}, "ffffff"),
    (
        "Qwen2MoeForCausalLM",
        {**SIZES, **HEADS, **EXPERTS, "shared_expert_intermediate_size": 32, "decoder_sparse_step": 2},
        "ffffff",
    ),
    ("Qwen3MoeForCausalLM", {**SIZES, **HEADS, **EXPERTS, "head_dim": 16, "decoder_sparse_step": 3}, "ffffff"),
    ("GemmaForCausalLM", {**SIZES, **HEADS, "head_dim": 16}, "ffffff"),
    ("Gemma2ForCausalLM", {**SIZES, **HEADS, "head_dim": 16, "sliding_window": 8}, "sfsfsf"),
    ("Gemma3ForCausalLM", {**SIZES, **HEADS, "head_dim": 16, "sliding_window": 8}, "sssssf"),
    (
        "Llama4ForCausalLM",
        {
            **SIZES,
            **HEADS,
            "head_dim": 16,
            "attention_chunk_size": 8,
            "num_local_experts": 2,
            "interleave_moe_layer_step": 2,
        }
        | {"intermediate_size_mlp": 40},
        "cccfcc",
    ),
    ("T5ForConditionalGeneration", {**T5, "feed_forward_proj": "gated-gelu", "tie_word_embeddings": False}, "ff"),
    ("MT5ForConditionalGeneration", T5, "ff"),
    ("FalconForCausalLM", {**FALCON, "new_decoder_architecture": True, "bias": True}, "ff"),
    ("FalconForCausalLM", {**FALCON, "new_decoder_architecture": True, "num_ln_in_parallel_attn": 1}, "ff"),
    ("FalconForCausalLM", {**FALCON, "multi_query": False, "parallel_attn": False, "alibi": True, "bias": True}, "ff"),
    ("BloomForCausalLM", {"vocab_size": 50, "hidden_size": 64, "n_layer": 2, "n_head": 4}, "ff"),
    ("GPT2LMHeadModel", {"vocab_size": 50, "n_embd": 32, "n_layer": 2, "n_head": 4, "n_inner": 40}, "ff"),
    (
        "DeepseekV2ForCausalLM",
        {**SIZES, **MLA, **ROUTED, "num_hidden_layers": 6, "q_lora_rank": None, "first_k_dense_replace": 2},
        "ffffff",
    ),
    ("DeepseekV3ForCausalLM", {**SIZES, **MLA, **ROUTED, "num_hidden_layers": 4, "q_lora_rank": 24}, "ffff"),
    (
        "DeepseekV32ForCausalLM",
        {**SIZES, **MLA, **ROUTED, "num_hidden_layers": 3, "q_lora_rank": 24, "index_n_heads": 2, "index_head_dim": 16}
        | {"index_topk": 4, "mlp_layer_types": ["dense", "sparse", "sparse"]},
        "fff",
    ),
]


@pytest.mark.parametrize(("kind", "given", "layers"), NETWORKS, ids=[f"{i}-{row[0]}" for i, row in enumerate(NETWORKS)])
def test_shapes_read_from_a_config_are_those_of_transformers_network(kind, given, layers):
    """Every weight of the network is counted, and every layer has the kind that transformers gives it."""
    network = getattr(transformers, kind)
    config = network.config_class(**given)
    if kind == "Gemma3ForCausalLM":
        config = transformers.Gemma3TextConfig(**given)
    with torch.device("meta"):
        net = network(config)
    net.tie_weights()
    spec = spec_from_config(config.to_dict(), "tiny")
    biases = [p for name, p in net.named_buffers() if name.endswith("e_score_correction_bias")]  # a buffer there
    assert parameter_count(spec) == sum(p.numel() for p in [*net.parameters(), *biases])
    assert "".join(layer[0] for layer in spec.layer_kinds) == layers


@pytest.mark.parametrize(
    ("name", "kind"),
    [(n, c["model_type"]) for n, c in CONFIGS.items() if c["model_type"] not in ("chatglm", "deepseek")],
)
def test_full_size_weights_are_those_that_transformers_allocates(name, kind):
    config = transformers.AutoConfig.for_model(**copy.deepcopy(CONFIGS[name])).get_text_config()
    network = transformers.AutoModelForSeq2SeqLM if kind == "t5" else transformers.AutoModelForCausalLM
    with torch.device("meta"):
        net = network.from_config(config)
    net.tie_weights()
    biases = [p for key, p in net.named_buffers() if key.endswith("e_score_correction_bias")]
    counted = parameter_count(spec_from_config(CONFIGS[name], name))
    assert counted == sum(p.numel() for p in [*net.parameters(), *biases])


@pytest.mark.parametrize(
    ("change", "says"),
    [
        (
            {"model_type": "mamba9"},
            "this calculator does not read model_type 'mamba9' yet; it reads: baichuan, bloom, ",
        ),
        ({"model_type": None}, "model_type is missing; this calculator reads: baichuan, bloom, "),
        ({"model_type": 5}, "this calculator does not read model_type 5 yet; it reads: "),
        ({"model_type": ["llama"]}, "this calculator does not read model_type ['llama'] yet; it reads: "),
        ({"num_hidden_layers": 0}, "num_hidden_layers is 0; expected a whole number from 1 to 1,000"),
        ({"num_hidden_layers": 10**9}, "num_hidden_layers is 1000000000; expected a whole number from 1 to 1,000"),
        ({"hidden_size": "4096"}, "hidden_size is '4096'; expected a whole number from 1 to 1,000,000,000"),
        ({"hidden_size": None}, "hidden_size is missing"),
        ({"num_key_value_heads": 5}, "num_key_value_heads is 5; expected a divisor of num_attention_heads (32)"),
        ({"num_attention_heads": 3}, "num_key_value_heads is 8; expected a divisor of num_attention_heads (3)"),
        (
            {"sliding_window": 4096},
            "sliding_window is 4096; expected it absent: this calculator does not read llama with",
        ),
        ({"kv_lora_rank": 512}, "kv_lora_rank is 512; expected it absent"),
        ({"num_kv_shared_layers": 4}, "num_kv_shared_layers is 4; expected it absent"),
        ({"q_lora_rank": 1536}, "q_lora_rank is 1536; expected it absent"),
        ({"n_kv_heads": 2}, "n_kv_heads is 2; expected it absent: this calculator does not read llama with it yet; "),
        ({"num_kv_heads": 2}, "num_kv_heads is 2; expected it absent"),
        ({"multi_query_group_num": 2}, "multi_query_group_num is 2; expected it absent"),
        ({"use_cla": True, "cla_share_factor": 2}, "cla_share_factor is 2; expected it absent"),
        ({"use_cla": True}, "use_cla is True; expected it absent"),
        ({"block_configs": [{"attention": {"no_op": True}}]}, "block_configs is [{'attention': {'no_op': True}}]"),
        ({"sliding_window_size": 4096}, "sliding_window_size is 4096; expected it absent"),
        ({"kv_channels": 64}, "kv_channels is 64; expected it absent"),
        ({"sliding_window": 4096}, "sliding_window is 4096; expected it absent"),
        (
            {"sliding_window": 4096, "layer_types": ["sliding_attention", "full_attention"] * 16},
            "sliding_window is 4096; expected it absent",
        ),
        ({"layer_types": ["sliding_attention"] * 32}, "sliding_window is None; expected a number of at least 2"),
        ({"layer_types": ["full_attention"] * 3}, "layer_types is ['full_attention', 'full_attention'"),
        ({"layer_types": ["linear_attention"] * 32}, "layer_types is 'linear_attention'; expected each one of full"),
    ],
)
def test_a_llama_that_cannot_be_read_is_refused_by_the_fields_name(change, says):
    assert refused(change).startswith(f"config.json: {says}")


@pytest.mark.parametrize(
    ("name", "change", "says"),
    [
        ("Qwen2.5-7B", {"use_sliding_window": True, "max_window_layers": None}, "max_window_layers is None"),
        (
            "Qwen2.5-7B",
            {"use_sliding_window": False, "sliding_window": 4096, "layer_types": ["sliding_attention"] * 28},
            "use_sliding_window is False; expected true, since layer_types has sliding layers.",
        ),
        ("Gemma-3 12B (text)", {"text_config": 5}, "text_config is 5; expected an object"),
        (
            "Gemma-3 12B (text)",
            {"text_config": {"sliding_window": 8, "head_dim": 0}},
            "text_config.num_hidden_layers is missing",
        ),
        ("Llama-4 Scout 17B-16E (text)", {"text_config": {"model_type": "llama"}}, "text_config.model_type is 'llama'"),
        ("Gemma-2 9B", {"sliding_window_size": 8}, "sliding_window_size is 8; expected 4096 or None"),
        ("GPT-2 (124M)", {"num_key_value_heads": 2}, "num_key_value_heads is 2; expected it absent"),
        ("BLOOM-176B", {"multi_query": True}, "multi_query is True; expected it absent"),
        ("T5-11B (v1.0)", {"head_dim": 64}, "head_dim is 64; expected it absent"),
        ("ChatGLM3-6B", {"num_key_value_heads": 4}, "num_key_value_heads is 4; expected it absent"),
        ("Qwen3-8B", {"n_kv_heads": 4}, "n_kv_heads is 4; expected it absent"),
        ("Mixtral-8x7B v0.1", {"kv_lora_rank": 512}, "kv_lora_rank is 512; expected it absent"),
        ("DeepSeekMoE-16B", {"q_lora_rank": 1536}, "q_lora_rank is 1536; expected it absent"),
        ("DeepSeek-V3", {"multi_query_group_num": 2}, "multi_query_group_num is 2; expected it absent"),
        ("Falcon-40B", {"num_kv_heads": 7}, "num_kv_heads is 7; expected a divisor of the heads (128)"),
        ("T5-11B (v1.0)", {"d_kv": None}, "d_kv is missing"),
        ("ChatGLM3-6B", {"rmsnorm": False}, "rmsnorm is False; expected True"),
        ("GPT-2 (124M)", {"add_cross_attention": True}, "add_cross_attention is True; expected it absent"),
        ("DeepSeek-V3", {"kv_lora_rank": None}, "kv_lora_rank is missing"),
        ("DeepSeek-V3", {"index_head_dim": 128}, "index_head_dim is 128; expected it absent"),
    ],
)
def test_other_families_are_refused_by_the_fields_name(name, change, says):
    assert refused(change, CONFIGS[name]).startswith(f"config.json: {says}")


WEIGHTS_ALONE = [
    ("Llama-3 8B", {"intermediate_size": None}, "intermediate_size is missing; expected a whole number from 1 to"),
    ("Llama-3 8B", {"vocab_size": -1}, "vocab_size is -1; expected a whole number"),
    ("Llama-3 8B", {"tie_word_embeddings": "no"}, "tie_word_embeddings is 'no'; expected true or false"),
    ("Llama-3 8B", {"num_local_experts": 8}, "num_local_experts is 8; expected it absent: this calculator does not"),
    ("Llama-3 8B", {"mlp_bias": True}, "mlp_bias is True; expected false, or attention_bias as well"),
    ("Llama-3 8B", {"hidden_size": None, "head_dim": 128}, "hidden_size is missing; expected a whole number"),
    ("GPT-2 (124M)", {"n_positions": None, "n_ctx": None}, "n_positions is missing; expected a whole number"),
    ("Qwen3-30B-A3B", {"mlp_only_layers": [0]}, "mlp_only_layers is [0]; expected []"),
    ("Qwen3-30B-A3B", {"num_experts_per_tok": 200}, "num_experts_per_tok is 200; expected at most the number of"),
    ("Qwen3-30B-A3B", {"num_experts": None}, "num_experts is missing; expected a whole number"),
    ("T5-11B (v1.0)", {"feed_forward_proj": "gated-tanh"}, "feed_forward_proj is 'gated-tanh'; expected one of"),
    ("ChatGLM3-6B", {"add_bias_linear": True}, "add_bias_linear is True; expected False"),
    ("DeepSeek-V2", {"moe_layer_freq": 2}, "moe_layer_freq is 2; expected 1"),
    ("DeepSeek-V3", {"q_lora_rank": "x"}, "q_lora_rank is 'x'; expected a whole number"),
    ("Gemma-3 12B (text)", {"text_config": {**CONFIGS["Gemma-3 12B (text)"]["text_config"], "intermediate_size": 0}},
     "text_config.intermediate_size is 0; expected a whole number"),
]  # fmt: skip


@pytest.mark.parametrize(("name", "change", "says"), WEIGHTS_ALONE)
def test_a_fault_that_the_cache_does_not_depend_on_leaves_the_weights_uncounted(name, change, says):
    spec, card = spec_from_config({**CONFIGS[name], **change}, name), catalogue()[name]
    for tokens in (1, 5_000, 131_072):
        assert kv_cache_bytes(spec, tokens, 3) == kv_cache_bytes(card, tokens, 3)
    assert [str(one)[: len(f"config.json: {says}")] for one in spec.unstated] == [f"config.json: {says}"]
    assert kv_breakdown(spec).notes[-1].code == "unstated"
    for count in (parameter_count, weight_breakdown, memory_use):
        with pytest.raises(GlassLlamaError, match=r"^Weights, activations and what fits are not counted\. ") as caught:
            count(spec)
        assert says in str(caught.value)
        assert caught.value.params["faults"] == [one.params for one in spec.unstated]


@pytest.mark.parametrize(("name", "change", "says"), WEIGHTS_ALONE)
def test_with_the_files_bytes_what_fits_needs_nothing_that_the_weights_are_counted_from(name, change, says):
    """By a share exactly as of the whole config; by lines with more room by the activations that lack, and no less."""
    spec, card = spec_from_config({**CONFIGS[name], **change}, name), catalogue()[name]
    held = 20 * 10**9
    share = Setup(usable_percent=90, weight_bytes=held)
    ours, whole = (memory_use(one, 1024, 2, "B300 288 GB", share) for one in (spec, card))
    assert (ours.per_gpu_bytes, ours.free_bytes) == (held + whole.cache.total_bytes, whole.free_bytes)
    assert largest_context(spec, 2, "B300 288 GB", share).value == largest_context(card, 2, "B300 288 GB", share).value
    lines = Setup(weight_bytes=held)
    ours, whole = (memory_use(one, 1024, 2, "B300 288 GB", lines) for one in (spec, card))
    counted = {term.label: term.bytes for term in whole.beside.activations}
    assert {term.label: term.bytes for term in ours.beside.activations}.items() <= counted.items()
    field = says.partition(" ")[0]
    lacking = len(ours.beside.activations) < len(counted)
    assert ours.beside.lacking == ((field,) if lacking else ()), field
    ranks = Setup(weight_bytes=held, options=KvOptions(tp=4, pp=2))
    assert sum(memory_use(spec, 1024, 2, "B300 288 GB", ranks).weight_stage_bytes) == pytest.approx(held / 4, rel=1e-6)
    with pytest.raises(GlassLlamaError, match="not counted"):
        decode_bound(spec, 1024, 2, "B300 288 GB", share)


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"max_position_embeddings": 8192.5}, "max_position_embeddings is 8192.5"),
        ({"max_position_embeddings": None}, "max_position_embeddings is missing"),
        ({"hidden_act": "mish"}, "hidden_act is 'mish'"),
        ({"rms_norm_eps": "x"}, "rms_norm_eps is 'x'"),
        ({"rope_theta": 0}, "rope_theta is 0"),
        ({"rope_theta": math.inf}, "rope_theta is inf"),
        ({"rope_scaling": [8]}, "rope_scaling is [8]"),
        ({"rope_scaling": {"rope_type": "magic"}}, "rope_scaling.rope_type is 'magic'"),
        ({"rope_scaling": {"rope_type": "linear"}}, "rope_scaling.factor is missing"),
    ],
)
def test_what_decides_no_figure_is_remarked_and_refuses_nothing(change, said):
    spec = spec_from_config({**LLAMA, **change}, "x")
    assert spec.notes == (f"Not read, and no figure here depends on it: {said}.",)
    assert memory_use(spec).per_gpu_bytes == memory_use(spec_from_config(LLAMA, "x")).per_gpu_bytes
    assert spec.max_context == (None if "max_position_embeddings" in change else 8192)


@pytest.mark.parametrize(
    "change",
    [
        {"layer_types": ["full_attention", "sliding_attention"] * 16},
        {"layer_types": ["full_attention"] * 31 + [""]},
        {"kv_lora_rank": 512},
        {"intermediate_size": 14336, "num_attention_heads": 32, "n_kv_heads": 4, "layer_types": 5},
    ],
)
def test_what_decides_no_figure_is_no_fault_beside_others(change):
    alone, both = (refused({**change, **more}) for more in ({}, {"max_position_embeddings": None, "rms_norm_eps": "x"}))
    assert both == alone


def test_all_faults_are_named_at_once():
    wrong = {"num_hidden_layers": 0, "num_attention_heads": None, "intermediate_size": "x", "n_kv_heads": 2,
             "use_cla": True}  # fmt: skip
    with pytest.raises(GlassLlamaError) as caught:
        spec_from_config({**LLAMA, **wrong})
    told = caught.value.params["faults"]
    assert [(one["field"], one["value"], one["expected"]) for one in told] == [
        ("num_hidden_layers", "0", "a whole number from 1 to 1,000"),
        ("num_attention_heads", None, "a whole number from 1 to 1,000,000,000"),
        ("n_kv_heads", "2", "it absent: this calculator does not read llama with it yet"),
        ("use_cla", "True", "it absent: this calculator does not read llama with it yet"),
        ("intermediate_size", "'x'", "a whole number from 1 to 1,000,000,000"),
    ]
    assert [one["field"] for one in told if one.get("spare")] == ["intermediate_size"]
    assert caught.value.params["field"] == "num_hidden_layers"
    said = str(caught.value)
    assert said.startswith(
        "config.json: num_hidden_layers is 0; expected a whole number from 1 to 1,000. num_attention"
    )
    assert "; besides llama without it, it reads: " in said
    assert said.endswith(
        ". Not needed for the cache: intermediate_size is 'x'; expected a whole number from 1 to 1,000,000,000."
    )


def test_a_number_that_is_not_stated_marks_what_is_worked_out_of_it():
    unstated, other = Unstated("a"), Unstated("b")
    for made in (unstated + 1, 1 + unstated, 3 * unstated, unstated * 1.5, unstated // 2, 7 // unstated, -unstated):
        assert unstated_in([0, {"x": made}]) == {"a"}
    assert unstated_in(unstated * other) == {"a", "b"}
    assert (7 % unstated, unstated % 7, unstated != 7, unstated > 7, unstated < 7) == (0, 0, False, False, False)
    assert ((1, 2) * unstated, [None] * unstated) == ((1, 2), [None])
    spec = spec_from_config({**LLAMA, "intermediate_size": None})
    copied = pickle.loads(pickle.dumps(spec))
    assert unstated_in(copied) == unstated_in(spec) == {"intermediate_size"}
    assert [str(one) for one in copied.unstated] == [str(one) for one in spec.unstated]


@pytest.mark.parametrize("count", ["num_hidden_layers", "num_attention_heads", "num_key_value_heads"])
@pytest.mark.parametrize("name", ["Llama-4 Scout 17B-16E (text)", "Qwen3-30B-A3B", "Gemma-3 12B (text)", "DeepSeek-V3"])
def test_a_count_that_is_wrong_makes_no_fault_of_what_suits_any(name, count):
    """Lists with an entry for each layer, and numbers that are to divide each other."""
    config = transformers.AutoConfig.for_model(**copy.deepcopy(CONFIGS[name])).to_dict()
    text = config.get("text_config")
    wrong = {**config, "text_config": {**text, count: -1}} if text else {**config, count: -1}
    if name == "DeepSeek-V3" and count == "num_key_value_heads":  # latents are cached, not heads
        assert kv_cache_bytes(spec_from_config(wrong), 100) == kv_cache_bytes(name, 100)
        return
    with pytest.raises(GlassLlamaError) as caught:
        spec_from_config(wrong)
    assert caught.value.params["field"].endswith(count)
    assert "faults" not in caught.value.params


ALL_CONFIGS = {**CONFIGS, **{name: one["config"] for name, one in HYBRIDS.items()}}


@pytest.mark.parametrize("name", list(ALL_CONFIGS))
def test_without_a_field_the_cache_is_the_same_or_refused(name):
    """No number is made up for what a file lacks: what is counted without a field is what is counted with it."""
    config, counted = ALL_CONFIGS[name], 0
    whole = spec_from_config(config, name)
    outer = "text_config" if isinstance(config.get("text_config"), dict) else None
    part = config[outer] if outer else config
    for field in part:
        if field == "model_type":
            continue
        for change in ({}, {field: "x"}):
            rest = {key: value for key, value in part.items() if key != field} | change
            try:
                spec = spec_from_config({**config, outer: rest} if outer else rest, name)
            except GlassLlamaError:
                continue
            if spec.unstated or any(note.startswith("Not read") for note in spec.notes):
                counted += 1
                for dtype, tokens in (("bf16", 100), ("bf16", 70_000)):
                    assert kv_cache_bytes(spec, tokens, 2, dtype) == kv_cache_bytes(whole, tokens, 2, dtype), field
                kinds = [{kind: kv_cache_bytes(one, 100) for kind, one in attention_kinds(of).items()}
                         for of in (spec, whole)]  # fmt: skip
                assert kinds[0] == kinds[1], field
    assert counted


@pytest.mark.parametrize("off", [None, False, 0, [], {}])
def test_a_shape_field_that_is_switched_off_says_nothing(off):
    names = ("n_kv_heads", "use_cla", "cla_share_factor", "block_configs", "q_lora_rank", "sliding_window_size")
    assert spec_from_config({**LLAMA, **dict.fromkeys(names, off)}, "x") == spec_from_config(LLAMA, "x")


@pytest.mark.parametrize(
    ("name", "change"),
    [
        ("DeepSeek-V3", {"num_key_value_heads": 1, "head_dim": 64}),  # latents are cached, not K/V heads
        ("DeepSeek-V2", {"q_lora_rank": 1536}),
        ("Gemma-2 9B", {"sliding_window_size": 4096}),
        ("Falcon-7B", {"n_head_kv": 71}),  # multi_query decides
        ("Falcon-40B", {"num_kv_heads": 8}),
    ],
)
def test_a_family_keeps_the_shape_fields_of_its_own_files(name, change):
    read, plain = (spec_from_config({**CONFIGS[name], **more}, "x") for more in (change, {}))
    assert kv_cache_bytes(read, 5000, 3) == kv_cache_bytes(plain, 5000, 3)


def test_chatglm_without_shared_heads_may_still_count_them():
    """Its class writes multi_query_group_num 1 into every file; without multi_query_attention all heads are cached."""
    plain = {**CONFIGS["ChatGLM3-6B"], "multi_query_attention": False, "multi_query_group_num": 1}
    assert spec_from_config(plain, "x").n_kv_heads == 32


def test_mistral_must_say_whether_it_slides():
    without = {name: value for name, value in CONFIGS["Mistral-7B v0.1"].items() if name != "sliding_window"}
    assert (
        refused({}, without) == "config.json: sliding_window is missing; expected a number of tokens, or null for none."
    )
    assert spec_from_config({**without, "sliding_window": None}, "v0.2").attention.window is None


@pytest.mark.parametrize("name", {config["model_type"]: name for name, config in CONFIGS.items()}.values())
def test_no_value_of_any_field_breaks_it(name):
    """Whatever stands in a field: a card that makes sense, or a refusal in one line."""
    junk = (None, -1, 1, 1.5, "x", [[1]], {"a": 1}, 10**5000, True, float("nan"))
    config, messages = CONFIGS[name], []
    paths = [(field,) for field in (*config, *SHAPE_FIELDS, "rope_parameters")]
    paths += [(outer, inner) for outer, part in config.items() if isinstance(part, dict) for inner in part]
    for first, *inner in paths:
        for value in junk:
            part = {**config[first], inner[0]: value} if inner else value
            try:
                spec = spec_from_config({**config, first: part}, name)
            except GlassLlamaError as error:
                messages.append(str(error))
            else:
                assert kv_cache_bytes(spec, 100) > 0
    assert max(map(len, messages)) < 500 + len(", ".join(FAMILIES))
    assert not any("\n" in message for message in messages)


def test_every_model_type_has_a_reader_that_names_what_is_missing():
    for kind in set(FAMILIES) - {"gemma3n_text", "gemma4_text"}:  # whose classes have defaults for all
        with pytest.raises(GlassLlamaError, match=r"config\.json: \S+ is (missing|None); expected"):
            spec_from_config({"model_type": kind}, "empty")


def test_a_type_that_is_not_read_is_told_with_all_that_are():
    """Also where a file calls itself llama and carries a field of another family."""
    for change in ({"model_type": "mamba9"}, {"model_type": None}, {"kv_lora_rank": 512}, {"mamba_d_state": 16}):
        with pytest.raises(GlassLlamaError) as caught:
            spec_from_config({**LLAMA, **change})
        told = caught.value.params
        besides = {"llama"} if "kind" in told.get("expected_params", {}) else set()
        assert sorted(told["names"].split(", ")) == sorted(set(FAMILIES) - besides)
        assert told["names"] in str(caught.value)
        assert ("; besides llama without it, it reads: " in str(caught.value)) == bool(besides)


def test_a_byte_order_mark_is_no_fault():
    assert spec_from_text("\ufeff" + json.dumps(LLAMA)) == spec_from_text(json.dumps(LLAMA))
    with pytest.raises(GlassLlamaError, match="the text is missing"):
        spec_from_text("\ufeff\n")


def test_pasted_text():
    spec = spec_from_text(json.dumps(LLAMA))
    assert spec == spec_from_config(LLAMA, "Pasted config")
    assert spec_from_text(json.dumps(CONFIGS["ChatGLM3-6B"]), "mine").name == "THUDM/chatglm3-6b"
    assert kv_cache_bytes(spec, 8192) == 1_073_741_824


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("", "the text is missing"),
        ("   \n", "the text is missing"),
        ("[hello", "no JSON at line 1, column 2"),
        ('{"model_type": "llama",\n "hidden_size": }', "no JSON at line 2, column 17"),
        ('{"model_type": "llama",\n}', "no JSON at line 1, column 23: Illegal trailing comma before end of object"),
        ('{"layer_types": [1, 2 , ]}', "no JSON at line 1, column 23: Illegal trailing comma before end of array"),
        ("{,}", "no JSON at line 1, column 2: Expecting property name"),
        ("hello", "this is no JSON: a config.json stands in braces"),
        ("[1, 2]", "expected a JSON object"),
        ("null", "expected a JSON object"),
        ('{"model_type": "llama", "rope_theta": NaN}', "expected a finite one"),
        ("[" * 100_000, "nested too deeply"),
        ('{"hidden_size": ' + "9" * 50_000 + "}", "a number is too long"),
        ("x" * 100_001, "expected at most 100,000 characters"),
        ('{"a": "<script>alert(1)</script>"}', "model_type is missing"),
    ],
    ids=range(15),
)
def test_pasted_nonsense(text, says):
    with pytest.raises(GlassLlamaError, match=r"^config\.json: ") as caught:
        spec_from_text(text)
    assert says in str(caught.value)
    assert len(str(caught.value)) < 400 + len(", ".join(FAMILIES))


def test_the_public_name_takes_a_file_or_its_text():
    """The interface of the design: `model.spec_from_config({...})`, with errors that name the field."""
    assert model.spec_from_config(LLAMA).name == "Pasted config"
    assert model.spec_from_config(LLAMA) == model.spec_from_config(json.dumps(LLAMA))
    assert model.spec_from_config(CONFIGS["ChatGLM3-6B"]).name == "THUDM/chatglm3-6b"
    assert model.kv_cache_bytes(model.spec_from_config(LLAMA, "mine"), 8192) == 1_073_741_824
    with pytest.raises(model.GlassLlamaError) as caught:
        model.spec_from_config('{"model_type": "llama"}')
    assert caught.value.params["field"] == "num_hidden_layers"
    with pytest.raises(model.GlassLlamaError, match="this is no JSON"):
        model.spec_from_config("llama")


@pytest.mark.parametrize("given", [None, 5, [LLAMA]])
def test_something_else_than_an_object(given):
    with pytest.raises(GlassLlamaError, match="expected a JSON object"):
        spec_from_config(given, "x")


@pytest.fixture
def hub(tmp_path, monkeypatch):
    """A Hub with org/good, whose weights nobody should download, and other repositories that have faults."""
    files = {"good": json.dumps(LLAMA), "broken": "{", "other": '{"model_type": "mamba9"}'}
    with stand_in(tmp_path, monkeypatch, files) as served:
        yield served


def test_a_hub_id_fetches_the_config_alone(hub):
    spec = spec_from_hub(" org/good ")
    assert spec == spec_from_config(LLAMA, "org/good")
    assert hub.downloaded() == {"config.json"}


@pytest.mark.parametrize(
    ("model_id", "code", "says"),
    [
        ("org/missing", "hub", "org/missing: there is no such model on the Hub; check the spelling"),
        ("org/gated", "hub", "org/gated: it is gated: accept its terms"),
        ("org/empty", "hub", "org/empty: it has no config.json"),
        ("not an id!", "hub", "not an id!: this is no model id; expected OWNER/NAME"),
        ("", "hub", "the model id is empty or too long"),
        ("x" * 1000, "hub", "the model id is empty or too long"),
        (None, "hub", "the model id is empty or too long"),
        ("org/broken", "hf_config", "config.json: the text is no JSON at line 1, column 2"),
        ("org/other", "hf_config", "config.json: this calculator does not read model_type 'mamba9' yet"),
    ],
)
def test_what_goes_wrong_on_the_hub(hub, model_id, code, says):
    with pytest.raises(GlassLlamaError) as caught:
        spec_from_hub(model_id)
    assert caught.value.code == code
    assert str(caught.value).startswith(says)
    assert code != "hub" or caught.value.params["reason"] in REASONS


def test_offline_it_says_so(hub, monkeypatch):
    huggingface_hub.snapshot_download("org/good")  # as for a checkpoint
    monkeypatch.setattr(huggingface_hub.constants, "HF_HUB_OFFLINE", True)
    assert isinstance(spec_from_hub("org/good"), ModelSpec)  # from the local cache
    with pytest.raises(GlassLlamaError, match=r"cannot be reached.*paste it instead"):
        spec_from_hub("org/never-seen")


def test_a_key_that_is_nearly_a_field_and_a_head_that_is_far_too_wide_are_remarked_on() -> None:
    config = {"model_type": "llama", "num_hidden_layers": 32, "hidden_size": 4096, "intermediate_size": 14_336}
    config |= {"vocab_size": 128_256, "num_attention_heads": 32, "max_position_embeddings": 8192, "head_dim": 1280}
    notes = spec_from_config(config | {"num_key_value_heads": 8, "attention_biass": True}).notes
    assert "attention_biass is no field that is read; was attention_bias meant?" in notes
    assert "Unusually wide: head_dim 1,280 × 32 heads are more than 4 × hidden_size 4,096." in notes
    plain = spec_from_config(config | {"head_dim": 128, "num_key_value_heads": 8}).notes
    assert not [note for note in plain if "meant" in note or "wide" in note]


@pytest.mark.parametrize(
    ("field", "key"),
    [
        ("num_hidden_layers", "num_hiden_layers"),
        ("num_hidden_layers", "num_hidden_layer"),
        ("num_attention_heads", "num_atention_heads"),
        ("hidden_size", "hidden_szie"),
    ],
)
def test_a_needed_field_under_a_misspelt_name_is_asked_after(field, key) -> None:
    """The key that is there is named, in a text model too; a field of its own that is named alike is not."""
    config = {name: value for name, value in BARE.items() if name != field} | {key: BARE[field]}
    said = refused({"model_type": "llama"}, config)
    assert said.startswith(f"config.json: {field} is missing; expected ")
    assert said.endswith(f". The file has {key}: did you mean {field}?")
    said = refused({"text_config": config}, {"model_type": "mistral3"})
    assert said.endswith(f". The file has text_config.{key}: did you mean text_config.{field}?")
    other = {name: value for name, value in BARE.items() if name != field} | {f"swa_{field}": 8}
    assert "did you mean" not in refused({"model_type": "llama"}, other)


def test_a_model_type_under_a_misspelt_name_is_asked_after() -> None:
    said = refused({"model_typ": "llama"}, BARE)
    assert said.startswith("config.json: model_type is missing (the file has model_typ: did you mean model_type?); ")


@pytest.mark.parametrize(
    "key",
    [
        "num_kv_heads",
        "n_kv_heads",
        "kv_heads",
        "num_kv_head",
        "num_key_value_head",
        "num_key_values_heads",
        "numKeyValueHeads",
        "num-key-value-heads",
        "n_head_kv",
        "kv_n_heads",
        "num_query_groups",
        "num_key_val_heads",
        "num_key_vaule_heads",
        "num_key_value_haeds",
        "num_key_heads",
        "num_value_heads",
    ],
)
def test_kv_heads_by_another_name_are_no_silence(key) -> None:
    """Told by that name, in a text model too, whether transformers' class has a number of its own or not."""
    meant = "is 8; expected another name: did you mean num_key_value_heads? It would be 8."
    for kind in ("llama", "mistral"):
        assert refused({"model_type": kind, key: 8}, BARE) == f"config.json: {key} {meant}"
    text = {**BARE, key: 8}
    assert refused({"text_config": text}, {"model_type": "mistral3"}) == f"config.json: text_config.{key} {meant}"


@pytest.mark.parametrize("key", ["head_size", "attention_head_dim"])
def test_a_heads_width_by_another_classs_name_is_what_the_files_own_class_takes(key) -> None:
    """transformers' class does not read the key, which is remarked; of a class that is not known it is asked."""
    for kind in ("llama", "qwen3", "mistral"):
        config = {**BARE, "model_type": kind, key: 96, "num_key_value_heads": 8}
        theirs = transformers.AutoConfig.for_model(**config)
        width = getattr(theirs, "head_dim", None) or theirs.hidden_size // theirs.num_attention_heads
        read = spec_from_config(config)
        assert read.head_dim == width
        assert read.head_dim_passed_over == ((key, kind),)
    text = {**BARE, "num_key_value_heads": 8, key: 96}
    read = spec_from_config({"model_type": "mistral3", "text_config": text})
    assert read.head_dim_passed_over == ((f"text_config.{key}", "mistral"),)
    unknown = refused({"model_type": "internlm2", key: 96, "num_key_value_heads": 8}, BARE)
    assert unknown == f"config.json: {key} is 96; expected another name: did you mean head_dim? It would be 96."


@pytest.mark.parametrize("key", ["headdim", "head_dims", "headDim", "head-dim"])
def test_a_heads_width_by_another_name_is_no_silence(key) -> None:
    """Whether transformers' class has a width of its own or takes hidden_size / heads."""
    meant = "is 96; expected another name: did you mean head_dim? It would be 96."
    for kind in ("llama", "qwen3"):
        said = refused({"model_type": kind, key: 96, "num_key_value_heads": 8}, BARE)
        assert said == f"config.json: {key} {meant}"
    text = {**BARE, "num_key_value_heads": 8, key: 96}
    assert refused({"text_config": text}, {"model_type": "mistral3"}) == f"config.json: text_config.{key} {meant}"
    both = {**BARE, "model_type": "llama", key: 96, "head_dim": 128}
    assert spec_from_config(both).head_dim == 128


def test_other_keys_near_kv_heads_are_not_taken_for_them() -> None:
    others = {"swa_num_key_value_heads": 8, "linear_num_key_heads": 8, "swa_head_dim": 8}
    others |= {"kv_head_dim_scale": 8, "kv_cache_dtype": "fp8", "num_key_value_heads_note": 8, "head_dim": 128}
    assert spec_from_config({**BARE, "model_type": "llama", **others}).n_kv_heads == 32


# What every text model states that is not asked here.
BARE = {
    "hidden_size": 4096, "num_hidden_layers": 32, "num_attention_heads": 32, "intermediate_size": 14336,
    "vocab_size": 32000, "max_position_embeddings": 32768, "sliding_window": None,
}  # fmt: skip


def test_heads_that_a_file_leaves_out_are_those_of_transformers_class() -> None:
    """Field for field: of every class that transformers has, a number of its own or none."""
    for kind in {*KV_HEADS, *HEAD_DIM, *AS_HEADS}:
        own = transformers.CONFIG_MAPPING[kind]
        own = own.sub_configs["text_config"] if kind in ("qwen2_vl", "qwen2_5_vl") else own
        stated = {name: field.default for name, field in own.__dataclass_fields__.items()}
        assert stated.get("num_key_value_heads") == KV_HEADS.get(kind), kind
        assert stated.get("head_dim") == HEAD_DIM.get(kind), kind
    assert not AS_HEADS & set(KV_HEADS)
    for kind in EACH_OWN & set(transformers.CONFIG_MAPPING):
        assert "num_key_value_heads" not in transformers.CONFIG_MAPPING[kind].__dataclass_fields__


@pytest.mark.parametrize(
    ("outer", "inner", "own"),
    [
        ("mistral3", "mistral", {}),
        ("mistral3", "ministral3", {}),
        ("mistral3", None, {}),
        ("qwen2_vl", "qwen2_vl_text", {}),
        ("qwen2_5_vl", None, {}),
        ("qwen3_vl", "qwen3_vl_text", {}),
        ("qwen3_vl_moe", None, {"num_experts": 8, "num_experts_per_tok": 2, "moe_intermediate_size": 64}),
        ("llama4", "llama4_text", {"num_local_experts": 4, "num_experts_per_tok": 1}),
        ("gemma3", "gemma3_text", {"sliding_window": 1024}),
        ("gemma3", None, {"sliding_window": 1024}),
        ("gemma4", None, {"sliding_window": 512, "num_hidden_layers": 30}),
        ("qwen3_5", "qwen3_5_text", {}),
    ],
)
def test_heads_that_a_text_model_leaves_out_are_those_of_its_own_class(outer, inner, own) -> None:
    text = {**BARE, **own, **({"model_type": inner} if inner else {})}
    read = spec_from_config({"model_type": outer, "text_config": text})
    theirs = transformers.AutoConfig.for_model(outer, text_config=text).text_config
    stated = theirs.to_dict()  # Gemma 4's object itself refuses fields that its full layers have otherwise
    width = stated.get("head_dim", stated["hidden_size"] // stated["num_attention_heads"])
    assert (read.n_kv_heads, read.head_dim) == (stated["num_key_value_heads"], width)
    assert read.kv_heads_assumed == ("text_config.num_key_value_heads", "class", theirs.model_type)
    counted = spec_from_config({"model_type": outer, "text_config": {**text, "num_key_value_heads": 16}})
    assert (counted.n_kv_heads, counted.kv_heads_assumed) == (16, None)


def test_where_kv_heads_come_from_that_a_file_does_not_count() -> None:
    mistral = {"model_type": "mistral", **BARE}
    for config, heads, origin in (
        (mistral, 8, "class"),
        ({**mistral, "num_key_value_heads": None}, 32, "null"),
        ({**BARE, "model_type": "llama"}, 32, "as_heads"),
        ({**BARE, "model_type": "internlm2"}, 32, "unknown"),
        ({**BARE, "model_type": "qwen2", "num_attention_heads": 64}, 32, "class"),
    ):
        read = spec_from_config(config)
        assert read.kv_heads_assumed == ("num_key_value_heads", origin, config["model_type"])
        assert read.n_kv_heads == heads
        assert not [note for note in read.notes if "num_key_value_heads" in note]
    assert spec_from_config({**BARE, "model_type": "baichuan"}).kv_heads_assumed is None
    said = refused({"model_type": "qwen2", "num_attention_heads": 16}, BARE)
    assert said == (
        "config.json: num_key_value_heads is missing; expected a divisor of num_attention_heads (16); without it "
        "transformers' class takes 32."
    )
