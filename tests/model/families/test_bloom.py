"""BLOOM against transformers: ALiBi, LayerNorm with bias also on the embedding, a fused QKV, GELU."""

import numpy as np
import pytest
import torch
import transformers
from safetensors.torch import load_file, save_file

import model
from tests.families import (
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

FIELDS = {"vocab_size": 320, "hidden_size": 48, "n_layer": 3, "bos_token_id": 0, "eos_token_id": 0, "pad_token_id": 0}


@pytest.fixture(scope="module")
def pair() -> Pair:
    """Six heads, no power of two: ALiBi's slopes then come from two sequences."""
    return pair_of(save(transformers.BloomConfig(**FIELDS, n_head=6)))


def test_the_forward_pass_agrees(pair: Pair) -> None:
    check_forward(pair)
    check_forward(pair_of(save(transformers.BloomConfig(**FIELDS, n_head=8), seed=1)))


def test_generation_and_cache_agree(pair: Pair) -> None:
    check_generation(pair)


def test_the_bias_is_slope_times_distance(pair: Pair) -> None:
    """The slopes of six heads by the paper's rule: those of four, and every other one of eight's."""
    layer = model.run_trace(pair.lm, sample(1, 9)[0].tolist()).layer(1)
    slopes = [2.0**-2, 2.0**-4, 2.0**-6, 2.0**-8, 2.0**-1, 2.0**-3]
    distance = np.arange(9)[:, None] - np.arange(9)
    np.testing.assert_allclose(layer.position_bias, [-slope * distance for slope in slopes], atol=1e-6)
    raw = np.einsum("htc,hsc->hts", layer.q.astype(float), layer.k.astype(float)) / 8**0.5
    np.testing.assert_allclose(layer.scores, raw + layer.position_bias, atol=1e-5)
    np.testing.assert_allclose(layer.attn_norm_mean, layer.resid_in.mean(-1), atol=1e-6)
    np.testing.assert_allclose(layer.ffn_norm_rms, layer.resid_mid.std(-1), rtol=1e-4)
    for absent in ("q_rot", "k_rot", "gate"):
        assert not hasattr(layer, absent)


def test_why(pair: Pair) -> None:
    check_why(pair)
    trace = model.run_trace(pair.lm, sample(1, 9)[0].tolist())
    assert model.score_terms(trace, 1, 0, 8, 3).names[-3:] == ("bias 0", "bias 1", "position")


def test_parts_switched_off(pair: Pair) -> None:
    check_off(
        pair,
        lambda net, i: net.transformer.h[i].self_attention.dense,
        lambda net, i: net.transformer.h[i].mlp.dense_4h_to_h,
    )


def test_names_as_bigscience_writes_them(pair: Pair) -> None:
    """Its own files have no `transformer.` before each name."""
    file = pair.directory / "model.safetensors"
    tensors = load_file(file)
    save_file({name.removeprefix("transformer."): tensor for name, tensor in tensors.items()}, file)
    again = model.load(pair.directory, device="cpu")
    save_file(tensors, file, metadata={"format": "pt"})
    ids = sample(1, 5)
    close(again.net(ids), pair.lm.net(ids), 0)


def test_what_is_not_implemented_is_refused(pair: Pair) -> None:
    for field, value in {
        "apply_residual_connection_post_layernorm": True,
        "n_head": 5,
        "layer_norm_epsilon": 0,
    }.items():
        assert refusal(pair.directory, **{field: value}).startswith(f"config.json: {field} is ")
    assert torch.equal(pair.lm.net.head.weight, pair.lm.net.embed.weight)
