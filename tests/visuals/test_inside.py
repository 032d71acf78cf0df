"""What the chapters on RMSNorm, RoPE and SwiGLU are sent, against transformers and against plain counts."""

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch
from transformers import LlamaConfig as TheirConfig
from transformers.modeling_rope_utils import ROPE_INIT_FUNCTIONS

import model
from model.analysis.neurons import Neurons, firing
from model.config import RopeScaling
from model.interventions import NOTHING, Intervention
from model.layer_metadata import FfnMetadata
from tests.reference import reference, run_reference, sample_ids
from visuals import ffn, norm, position
from visuals.payload import unpack

TOKENS = 9
SWIGLU = FfnMetadata("silu", True, 80, 80)  # the stand-in's


@pytest.fixture(scope="module")
def trace(lm: model.LanguageModel) -> model.Trace:
    return model.run_trace(lm, sample_ids(1, TOKENS)[0].tolist())


def test_vectors_and_gamma_give_transformers_norms(
    lm: model.LanguageModel, checkpoint: Path, trace: model.Trace
) -> None:
    net = reference(checkpoint)
    given: list[torch.Tensor] = []
    norms = [n for layer in net.model.layers for n in (layer.input_layernorm, layer.post_attention_layernorm)]
    for module in [*norms, net.model.norm]:
        module.register_forward_hook(lambda _, args, result: given.extend([args[0][0], result[0]]))
    run_reference(net, torch.tensor([trace.token_ids]))
    for i, (before, after) in enumerate(zip(given[::2], given[1::2], strict=True)):
        layer, name = (0, "final") if i == len(norms) else (i // 2, ("attn", "ffn")[i % 2])
        ours = trace.residual[-1] if name == "final" else norm.vectors_before(lm, trace.layer(layer), name)
        message = json.loads(json.dumps(norm.norm_payload(ours, norm.learned_of(lm, name, layer))))
        x, gamma = unpack(message["before"]), unpack(message["gamma"])
        np.testing.assert_allclose(x, before, atol=1e-5)
        rms = np.sqrt((x.astype(np.float64) ** 2).mean(-1, keepdims=True) + lm.config.norm_eps)
        np.testing.assert_allclose(x / rms * gamma, after, atol=2e-5)


def test_largest_channels_through_depth(trace: model.Trace) -> None:
    found = norm.depth_info(trace.residual, 4)
    largest = np.abs(trace.residual).max((0, 1))
    assert list(found.channels) == sorted(range(len(largest)), key=lambda c: -largest[c])[:4]
    np.testing.assert_array_equal(found.values, trace.residual[:, :, found.channels])
    np.testing.assert_allclose(found.median[1, 2], np.median(np.abs(trace.residual[1, 2])))
    assert norm.depth_payload(found)["channels"] == [int(c) for c in found.channels]


THEIRS = {
    "linear": {"rope_type": "linear"},
    "yarn": {"rope_type": "yarn", "original_max_position_embeddings": 128},
    "llama3": {
        "rope_type": "llama3",
        "original_max_position_embeddings": 128,
        "low_freq_factor": 1.0,
        "high_freq_factor": 4.0,
    },
}


@pytest.mark.parametrize("factor", position.FACTORS)
def test_scalings_are_those_of_transformers(lm: model.LanguageModel, factor: int) -> None:
    config = replace(lm.config, head_dim=64)
    found = {scaled.name: scaled for scaled in position.scalings_info(config, factor)}
    assert list(found) == ["model", "none", "linear", "dynamic", "yarn", "llama3"]
    np.testing.assert_array_equal(found["model"].inv_freq, found["none"].inv_freq)
    np.testing.assert_allclose(found["none"].inv_freq, 10_000 ** (-np.arange(32) / 32), rtol=1e-6)
    for name, fields in THEIRS.items():
        parameters = {"rope_theta": 10_000.0, "factor": float(factor), **fields}
        theirs = TheirConfig(
            hidden_size=64, num_attention_heads=1, head_dim=64, max_position_embeddings=128, rope_parameters=parameters
        )
        inv_freq, attention = ROPE_INIT_FUNCTIONS[name](theirs, torch.device("cpu"))
        np.testing.assert_allclose(found[name].inv_freq, inv_freq, rtol=1e-5)
        assert found[name].attention_scaling == pytest.approx(attention)
    # NTK-aware: the base grows so that the slowest pair is slowed by the factor, and the fastest not at all.
    ntk = found["dynamic"].inv_freq
    assert ntk[0] == 1.0
    assert ntk[-1] == pytest.approx(found["none"].inv_freq[-1] / factor, rel=1e-5)
    np.testing.assert_allclose(ntk, (10_000 * factor ** (64 / 62)) ** (-np.arange(32) / 32), rtol=1e-5)


def test_scalings_of_a_scaled_model_start_from_its_original_context(lm: model.LanguageModel) -> None:
    config = replace(lm.config, max_context=512, rope_scaling=RopeScaling("yarn", 4.0, 128))
    assert position.trained_context(config) == 128
    found = {scaled.name: scaled for scaled in position.scalings_info(config, 4)}
    np.testing.assert_array_equal(found["model"].inv_freq, found["yarn"].inv_freq)
    assert np.abs(found["model"].inv_freq - found["none"].inv_freq).max() > 0
    message = json.loads(json.dumps(position.scalings_payload(list(found.values()), 128)))
    assert [method["name"] for method in message["methods"]][:2] == ["model", "none"]


def test_two_dimensions_have_no_ntk(lm: model.LanguageModel) -> None:
    names = [scaled.name for scaled in position.scalings_info(replace(lm.config, head_dim=2), 4)]
    assert "dynamic" not in names


def test_the_map_holds_the_strongest_neurons_in_the_order_of_their_token(trace: model.Trace) -> None:
    layer = trace.layer(1)
    found = ffn.map_info(layer, SWIGLU, ffn.strongest_anywhere(layer, SWIGLU, 12))
    strength = np.abs(layer.gate / (1 + np.exp(-layer.gate)) * layer.up)
    assert set(found.neuron) == set(np.argsort(-strength.max(0), kind="stable")[:12])
    peaks = strength[:, found.neuron].argmax(0)
    assert list(peaks) == sorted(peaks)
    np.testing.assert_array_equal(found.gate, layer.gate.T[found.neuron])
    np.testing.assert_array_equal(unpack(ffn.map_payload(found)["up"]), layer.up.T[found.neuron])
    assert (
        ffn.strongest(ffn.written_inner(layer, SWIGLU, 1, NOTHING)[3], 5)
        == np.argsort(-strength[3], kind="stable")[:5].tolist()
    )


def test_what_neurons_write_is_sent_with_its_tokens(lm: model.LanguageModel, trace: model.Trace) -> None:
    layer = trace.layer(2)
    row = ffn.written_inner(layer, SWIGLU, 2, NOTHING)[4]
    neurons = ffn.strongest(row, 3)
    found = ffn.written_by(lm, 2, row, float(trace.final_norm_rms[4]), neurons)
    pieces = {i: f"<{i}>" for i in range(lm.config.vocab_size)}
    adds = ffn.raised_by(lm, 2, row, float(trace.final_norm_rms[4]), 7)
    # the same by W_down, the final norm and the output head as they are in the checkpoint
    direction = lm.net.norm.weight * lm.net.head.weight[7] / float(trace.final_norm_rms[4])
    wanted = torch.from_numpy(row) * (direction @ lm.net.layers[2].ffn.down_proj.weight)
    np.testing.assert_allclose(adds, wanted.detach(), atol=1e-5)
    read = Neurons(layer.gate[4], layer.up[4], None)
    message = json.loads(json.dumps(ffn.written_payload(found, neurons, pieces, read, adds)))
    assert message["rows"][1]["gate"] == pytest.approx(float(layer.gate[4, neurons[1]]))
    assert message["rows"][1]["up"] == pytest.approx(float(layer.up[4, neurons[1]]))
    assert message["rows"][1]["adds"] == pytest.approx(float(wanted[neurons[1]]), abs=1e-5)
    assert [row["neuron"] for row in message["rows"]] == neurons
    first = message["rows"][0]
    assert first["raised"][0]["piece"] == f"<{first['raised'][0]['id']}>"
    assert (
        first["raised"][0]["by"] >= first["raised"][-1]["by"] > first["lowered"][-1]["by"] >= first["lowered"][0]["by"]
    )
    assert message["rest"] < message["whole"]


def test_firing_is_sent_by_layer_and_token(lm: model.LanguageModel, trace: model.Trace) -> None:
    message = ffn.firing_payload(firing(lm, trace.residual, NOTHING))
    assert set(message) == {"open", "top", "needed"}
    np.testing.assert_allclose(unpack(message["open"]), trace.gate_open, atol=1e-7)


def test_what_is_switched_off_writes_nothing(lm: model.LanguageModel) -> None:
    """W_down's real input, under the same intervention, is what the page is told."""
    what = Intervention(neurons=((1, 3), (1, 7), (0, 5)), ffn=(2,))
    changed = model.run_trace(lm, sample_ids(1, TOKENS)[0].tolist(), what)
    for index in range(3):
        layer = changed.layer(index)
        row = ffn.written_inner(layer, SWIGLU, index, what)
        weight = lm.net.layers[index].ffn.down_proj.weight
        np.testing.assert_allclose(row @ weight.numpy().T, layer.resid_out - layer.resid_mid, atol=2e-5)
    assert not ffn.written_inner(changed.layer(1), SWIGLU, 1, what)[:, [3, 7]].any()
    found = firing(lm, changed.residual, what)
    np.testing.assert_allclose(found.open, changed.gate_open, atol=1e-7)
