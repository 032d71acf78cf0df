"""Mixtral against transformers: the router's two of eight, and both layouts of its files."""

import json

import numpy as np
import pytest
import torch
import transformers
from safetensors.torch import load_file

import model
from model.interventions import Intervention
from tests.families import (
    SIZES,
    Pair,
    check_forward,
    check_generation,
    check_why,
    close,
    pair_of,
    refusal,
    run,
    sample,
    save,
)

FIELDS = SIZES | {"num_key_value_heads": 2, "intermediate_size": 24, "num_local_experts": 8, "num_experts_per_tok": 2}


@pytest.fixture(scope="module")
def pair() -> Pair:
    return pair_of(save(transformers.MixtralConfig(**FIELDS)))


def test_the_forward_pass_agrees(pair: Pair) -> None:
    check_forward(pair)
    check_forward(pair_of(save(transformers.MixtralConfig(**FIELDS | {"num_experts_per_tok": 3}), seed=1)))


def test_generation_and_cache_agree(pair: Pair) -> None:
    check_generation(pair)


def test_both_layouts_of_the_files(pair: Pair) -> None:
    """transformers writes one tensor a matrix, as Mistral does; or, asked to, all experts of a layer in one."""
    old = load_file(pair.directory / "model.safetensors")
    assert "model.layers.1.block_sparse_moe.experts.7.w3.weight" in old
    again = pair.directory.with_name(pair.directory.name + "-packed")
    pair.peer.save_pretrained(again, save_original_format=False)
    packed = load_file(again / "model.safetensors")
    assert packed["model.layers.1.mlp.experts.gate_up_proj"].shape == (8, 48, 48)
    (again / "tokenizer.json").write_bytes((pair.directory / "tokenizer.json").read_bytes())
    ids = sample(1, 7)
    close(model.load(again, device="cpu").net(ids), pair.lm.net(ids), 0)


def test_the_router_shows_what_it_did(pair: Pair) -> None:
    ids = sample(1, 9)
    trace = model.run_trace(pair.lm, ids[0].tolist())
    with torch.no_grad():
        theirs = pair.peer(ids, output_router_logits=True).router_logits
    for i in range(3):
        layer = trace.layer(i)
        assert layer.gate.shape == layer.up.shape == (9, 2, 24)
        scores = theirs[i].softmax(-1)
        close(torch.from_numpy(layer.router_scores), scores)
        best = scores.topk(2)
        assert (layer.experts == best.indices.numpy()).all()
        close(torch.from_numpy(layer.expert_weight), best.values / best.values.sum(-1, keepdim=True))
        opened = (layer.gate > 0).mean((1, 2))
        np.testing.assert_allclose(trace.gate_open[i], opened, atol=1e-6)
    assert len({number for i in range(3) for number in trace.layer(i).experts.flatten().tolist()}) > 3


def test_why(pair: Pair) -> None:
    check_why(pair)


def test_a_neuron_of_an_expert_switched_off(pair: Pair) -> None:
    ids = sample(1, 9)
    number = int(model.run_trace(pair.lm, ids[0].tolist()).layer(1).experts[-1, 0])
    peer = pair_of(pair.directory).peer
    with torch.no_grad():
        peer.model.layers[1].mlp.experts.down_proj[number, :, 5] = 0
    what = Intervention(neurons=((1, number * 24 + 5),))
    changed = model.run_trace(pair.lm, ids[0].tolist(), what)
    close(torch.from_numpy(changed.logits), run(peer, ids).logits[0, -1])
    assert np.abs(changed.logits - model.run_trace(pair.lm, ids[0].tolist()).logits).max() > 1e-4
    with pytest.raises(model.GlassLlamaError, match="neuron 192 is not there; expected 0 to 191"):
        model.run_trace(pair.lm, ids[0].tolist(), Intervention(neurons=((1, 192),)))


def test_what_is_not_implemented_is_refused(pair: Pair) -> None:
    for field, value in {"sliding_window": 64, "num_experts_per_tok": 9, "num_local_experts": 9999}.items():
        assert refusal(pair.directory, **{field: value}).startswith(f"config.json: {field} is ")
    fewer = json.loads((pair.directory / "config.json").read_text())["num_local_experts"] - 1
    assert "unknown tensor" in refusal(pair.directory, num_local_experts=fewer)
