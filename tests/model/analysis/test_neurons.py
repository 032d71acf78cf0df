"""What neurons write and how sparsely layers fire, against transformers' own pass over the same files."""

import math
from pathlib import Path

import numpy as np
import pytest
import torch

import model
from model.analysis.neurons import activations, firing, neurons_of, sparsity, written
from model.layer_metadata import ffn_metadata
from tests.reference import reference, run_reference, sample_ids

TOKENS = 11


class Seen:
    """transformers' forward pass, with the inner vector of every layer and what its norms and layers gave."""

    def __init__(self, directory: Path, ids: list[int]):
        self.net = reference(directory)
        self.inner: list[torch.Tensor] = []
        self.ffn_out: list[torch.Tensor] = []
        self.before_final = torch.empty(0)
        for layer in self.net.model.layers:
            layer.mlp.down_proj.register_forward_pre_hook(lambda _, given: self.inner.append(given[0][0]))
            layer.mlp.register_forward_hook(lambda _, given, result: self.ffn_out.append(result[0]))
        self.net.model.norm.register_forward_pre_hook(self._final)
        self.run = run_reference(self.net, torch.tensor([ids]))

    def _final(self, _module: torch.nn.Module, given: tuple[torch.Tensor]) -> None:
        self.before_final = given[0][0]


@pytest.fixture(scope="module")
def trace(lm: model.LanguageModel) -> model.Trace:
    return model.run_trace(lm, sample_ids(1, TOKENS)[0].tolist())


@pytest.fixture(scope="module")
def seen(checkpoint: Path, trace: model.Trace) -> Seen:
    return Seen(checkpoint, trace.token_ids)


def test_firing_agrees_with_a_plain_count(lm: model.LanguageModel, trace: model.Trace, seen: Seen) -> None:
    found = firing(lm, trace.residual)
    assert found.open.shape == (lm.config.n_layers, TOKENS)
    np.testing.assert_allclose(found.open, trace.gate_open, atol=1e-7)
    for i, inner in enumerate(seen.inner):
        for t in range(TOKENS):
            strength = sorted(inner[t].abs().double().tolist(), reverse=True)
            kept = math.ceil(0.05 * len(strength))
            assert found.top[i, t] == pytest.approx(sum(strength[:kept]) / sum(strength), rel=1e-4)
            count = round(float(found.needed[i, t]) * len(strength))
            assert sum(strength[:count]) / sum(strength) > 0.9 - 1e-6  # either pass may round to its side of 0.9
            assert sum(strength[: count - 1]) / sum(strength) < 0.9 + 1e-6


def test_sparsity_by_hand() -> None:
    even, one = np.ones(40), np.zeros(40)
    one[7] = -3.0
    top, needed = sparsity(np.stack([even, one, np.zeros(40)]))
    np.testing.assert_allclose(top, [2 / 40, 1.0, 0.0])
    np.testing.assert_allclose(needed, [36 / 40, 1 / 40, 0.0])


@pytest.mark.parametrize(("layer", "token"), [(0, 0), (1, 4), (2, TOKENS - 1)])
def test_what_is_written_adds_up_to_the_layer_and_to_its_logits(
    lm: model.LanguageModel, trace: model.Trace, seen: Seen, layer: int, token: int
) -> None:
    recorded = trace.layer(layer)
    made = ffn_metadata(lm.net.block(layer).ffn)
    inner = torch.from_numpy(activations(neurons_of(recorded, made), made)[token]).float()
    torch.testing.assert_close(inner, seen.inner[layer][token], atol=1e-5, rtol=1e-5)
    rms = float(trace.final_norm_rms[token])
    vocabulary, f = lm.config.vocab_size, lm.config.ffn_hidden
    found = written(lm, layer, inner, rms, range(f), vocabulary)
    weights = seen.net.model.layers[layer].mlp.down_proj.weight
    truth = (weights * seen.inner[layer][token]).T.detach()
    torch.testing.assert_close(found.norm, truth.norm(dim=-1), atol=1e-5, rtol=1e-4)
    torch.testing.assert_close(found.column, weights.norm(dim=0).detach())
    assert found.whole == pytest.approx(float(seen.ffn_out[layer][token].norm()), rel=1e-4)
    assert found.rest == pytest.approx(0, abs=1e-5)
    # Every neuron's share of every logit, summed, is the layer's share.
    total = torch.zeros(vocabulary, dtype=torch.float64)
    for n in range(f):
        total[found.raised[n]] += found.raised_by[n].double()
    eps = seen.net.config.rms_norm_eps
    scale = (seen.before_final[token].double().square().mean() + eps).sqrt()
    direct = seen.ffn_out[layer][token].double() * seen.net.model.norm.weight.double() / scale
    torch.testing.assert_close(total, seen.net.lm_head.weight.double() @ direct, atol=1e-4, rtol=1e-4)


def test_a_few_neurons_and_tokens(lm: model.LanguageModel, trace: model.Trace, seen: Seen) -> None:
    inner = seen.inner[1][3]
    found = written(lm, 1, inner, 1.0, [5, 2], 3)
    column = seen.net.model.layers[1].mlp.down_proj.weight[:, 2] * inner[2]
    logits = seen.net.lm_head(column * seen.net.model.norm.weight).detach()
    assert found.raised.shape == (2, 3)
    assert found.raised[1].tolist() == logits.topk(3).indices.tolist()
    assert found.lowered[1].tolist() == logits.topk(3, largest=False).indices.tolist()
    torch.testing.assert_close(found.lowered_by[1], logits.topk(3, largest=False).values, atol=1e-5, rtol=1e-4)
    others = seen.ffn_out[1][3] - column - seen.net.model.layers[1].mlp.down_proj.weight[:, 5] * inner[5]
    assert found.rest == pytest.approx(float(others.detach().norm()), rel=1e-4)
