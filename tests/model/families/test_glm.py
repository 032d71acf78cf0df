"""GLM-4 and ChatGLM3 against transformers: half of each head rotated, in interleaved pairs; the prefix mask."""

import json
from dataclasses import replace
from pathlib import Path
from shutil import copytree

import pytest
import torch
import transformers
from safetensors.torch import load_file, save_file

import model
from tests.families import (
    SIZES,
    Pair,
    check_forward,
    check_generation,
    check_off,
    check_why,
    close,
    pair_of,
    refusal,
    sample,
    save,
)

FIELDS = SIZES | {"num_key_value_heads": 2, "intermediate_size": 80, "head_dim": 16}


@pytest.fixture(scope="module")
def pair() -> Pair:
    return pair_of(save(transformers.GlmConfig(**FIELDS)))


@pytest.fixture(scope="module")
def chatglm(pair: Pair, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The same weights under ChatGLM3's names and with its config's fields."""
    directory = copytree(pair.directory, tmp_path_factory.mktemp("chatglm") / "chatglm3")
    raw = load_file(directory / "model.safetensors")
    at = "transformer.encoder.layers.{}."
    tensors = {
        "transformer.embedding.word_embeddings.weight": raw["model.embed_tokens.weight"],
        "transformer.encoder.final_layernorm.weight": raw["model.norm.weight"],
        "transformer.output_layer.weight": raw["lm_head.weight"],
        "transformer.rotary_pos_emb.inv_freq": torch.ones(4),
    }
    for i in range(3):
        ours, theirs = at.format(i), f"model.layers.{i}."
        for part in ("weight", "bias"):
            qkv = [raw[f"{theirs}self_attn.{name}_proj.{part}"] for name in "qkv"]
            tensors[f"{ours}self_attention.query_key_value.{part}"] = torch.cat(qkv)
        for name, other in (
            ("input_layernorm", "input_layernorm"),
            ("self_attention.dense", "self_attn.o_proj"),
            ("post_attention_layernorm", "post_attention_layernorm"),
            ("mlp.dense_h_to_4h", "mlp.gate_up_proj"),
            ("mlp.dense_4h_to_h", "mlp.down_proj"),
        ):
            tensors[f"{ours}{name}.weight"] = raw[f"{theirs}{other}.weight"]
    save_file(tensors, directory / "model.safetensors")
    fields = {
        "model_type": "chatglm",
        "auto_map": {"AutoModel": "modeling_chatglm.ChatGLMForConditionalGeneration"},
        "num_layers": 3,
        "hidden_size": 48,
        "num_attention_heads": 6,
        "multi_query_attention": True,
        "multi_query_group_num": 2,
        "kv_channels": 16,
        "ffn_hidden_size": 80,
        "padded_vocab_size": 320,
        "seq_length": 128,
        "layernorm_epsilon": pair.lm.config.norm_eps,
        "rmsnorm": True,
        "add_qkv_bias": True,
        "add_bias_linear": False,
        "original_rope": True,
        "post_layer_norm": True,
        "tie_word_embeddings": False,
        "eos_token_id": 0,
    }
    (directory / "config.json").write_text(json.dumps(fields))
    return directory


def test_the_forward_pass_agrees(pair: Pair) -> None:
    check_forward(pair)
    whole = {"rope_parameters": {"rope_type": "default", "rope_theta": 5e3, "partial_rotary_factor": 1.0}}
    check_forward(pair_of(save(transformers.GlmConfig(**FIELDS, **whole, attention_bias=False), seed=1)))


def test_generation_and_cache_agree(pair: Pair) -> None:
    check_generation(pair)


def test_half_of_each_head_is_rotated_in_interleaved_pairs(pair: Pair) -> None:
    layer = model.run_trace(pair.lm, sample(1, 7)[0].tolist()).layer(1)
    q, turned = (torch.from_numpy(values).double() for values in (layer.q, layer.q_rot))
    assert torch.equal(q[..., 8:], turned[..., 8:])
    angle = 6 * 10_000 ** (-torch.arange(0, 8, 2).double() / 8)  # the last token's, of the four pairs
    pairs = torch.view_as_complex(q[:, 6, :8].unflatten(-1, (4, 2)).contiguous())
    by_hand = torch.view_as_real(pairs * torch.polar(torch.ones(4).double(), angle)).flatten(-2)
    close(turned[:, 6, :8], by_hand, 1e-5)


def test_why(pair: Pair) -> None:
    check_why(pair)


def test_parts_switched_off(pair: Pair) -> None:
    check_off(
        pair,
        lambda net, i: net.model.layers[i].self_attn.o_proj,
        lambda net, i: net.model.layers[i].mlp.down_proj,
    )


def test_chatglm_writes_the_same_network_under_other_names(pair: Pair, chatglm: Path) -> None:
    lm, ids = model.load(chatglm, device="cpu"), sample(1, 9)
    close(lm.net(ids), pair.lm.net(ids), 0)
    assert lm.config == pair.lm.config
    check_generation(Pair(lm, pair.peer, chatglm), tokens=12)
    for field, value in {"rope_ratio": 500, "rmsnorm": False, "add_bias_linear": True, "pre_seq_len": 8}.items():
        assert refusal(chatglm, **{field: value}).startswith(f"config.json: {field} is ")
    assert "multi_query_attention is None" in refusal(chatglm, multi_query_attention=None)


def test_a_prefix_whose_tokens_all_see_each_other(pair: Pair) -> None:
    ids, prefix = sample(1, 9), 5
    visible = torch.ones(9, 9).tril().bool()
    visible[:prefix, :prefix] = True
    mask = torch.zeros(1, 1, 9, 9).masked_fill(~visible, torch.finfo(torch.float32).min)
    with torch.no_grad():
        theirs = pair.peer(ids, attention_mask=mask, output_attentions=True)
    lm = replace(pair.lm, net=pair.lm.net.with_prefix(prefix))  # pyright: ignore[reportAttributeAccessIssue]
    close(lm.net(ids), theirs.logits)
    trace = model.run_trace(lm, ids[0].tolist())
    for i in range(3):
        close(torch.from_numpy(trace.layer(i).attention), theirs.attentions[i][0])
    close(pair.lm.net(ids), pair.peer(ids).logits)  # the network itself stays causal
    cache = lm.net.cache(9)
    parts = [lm.net(ids[:, :6], cache, 0), lm.net(ids[:, 6:7], cache, 6), lm.net(ids[:, 7:], cache, 7)]
    close(torch.cat(parts, 1), theirs.logits)
    with pytest.raises(IndexError, match="a prefix of 5 tokens must be read in one pass"):
        lm.net(ids[:, 3:6], cache, 3)


def test_what_is_not_implemented_is_refused(pair: Pair) -> None:
    for field, value in {"partial_rotary_factor": 2, "hidden_act": "gelu", "sliding_window": 8}.items():
        assert field in refusal(pair.directory, **{field: value, "rope_parameters": None})
    assert '"glm", "chatglm"' in refusal(pair.directory, model_type="glm4")
