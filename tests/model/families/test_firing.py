"""How sparsely layers with experts fire, against what transformers' experts were given and hold."""

import math
from typing import Any

import numpy as np
import pytest
import torch
import transformers
from torch import Tensor

import model
from model.analysis.neurons import firing
from tests.families import close, pair_of, run, sample, save
from tests.model.families.test_deepseek import CONFIGS
from tests.model.families.test_mixtral import FIELDS

TOKENS = 9


def neurons_that_compute(mlp: Any, given: dict[str, tuple[Tensor, ...]]) -> tuple[Tensor, Tensor]:
    """Of transformers' layer: the gates of the neurons that compute for each token, and what scales their columns."""
    x = given["mlp"][0].reshape(TOKENS, -1)
    if not hasattr(mlp, "experts"):
        gate = mlp.gate_proj(x)
        return gate, mlp.act_fn(gate) * mlp.up_proj(x)
    _, chosen, weights = given["experts"]
    both = torch.einsum("tkfd,td->tkf", mlp.experts.gate_up_proj[chosen], x)
    gate, up = both.chunk(2, -1)
    gates, inner = [gate.flatten(1)], [(torch.nn.functional.silu(gate) * up * weights[..., None]).flatten(1)]
    if hasattr(mlp, "shared_experts"):
        own = mlp.shared_experts
        gates.append(own.gate_proj(x))
        inner.append(own.act_fn(gates[-1]) * own.up_proj(x))
    return torch.cat(gates, 1), torch.cat(inner, 1)


@pytest.mark.parametrize("name", ["mixtral", "V2-Lite", "V2", "V3"])
def test_shares_are_of_the_neurons_that_compute_weighted_by_the_router(name: str) -> None:
    pair = pair_of(save(transformers.MixtralConfig(**FIELDS) if name == "mixtral" else CONFIGS[name], sharpness=1.0))
    ids = sample(1, TOKENS)
    trace = model.run_trace(pair.lm, ids[0].tolist())
    seen: list[dict[str, tuple[Tensor, ...]]] = [{} for _ in range(3)]
    for i, layer in enumerate(pair.peer.model.layers):
        layer.mlp.register_forward_pre_hook(lambda _, given, i=i: seen[i].update(mlp=given))
        if hasattr(layer.mlp, "experts"):
            layer.mlp.experts.register_forward_pre_hook(lambda _, given, i=i: seen[i].update(experts=given))
    close(torch.from_numpy(trace.logits), run(pair.peer, ids).logits[0, -1])
    found = firing(pair.lm, trace.residual)
    with torch.no_grad():
        for i, layer in enumerate(pair.peer.model.layers):
            gates, inner = neurons_that_compute(layer.mlp, seen[i])
            np.testing.assert_allclose(found.open[i], (gates > 0).float().mean(1), atol=1e-6)
            for t in range(TOKENS):
                strength = sorted(inner[t].abs().double().tolist(), reverse=True)
                kept = sum(strength[: math.ceil(0.05 * len(strength))])
                assert found.top[i, t] == pytest.approx(kept / sum(strength), rel=1e-4)
                count = round(float(found.needed[i, t]) * len(strength))
                assert sum(strength[:count]) / sum(strength) > 0.9 - 1e-5  # either pass may round to its side of 0.9
                assert sum(strength[: count - 1]) / sum(strength) < 0.9 + 1e-5
