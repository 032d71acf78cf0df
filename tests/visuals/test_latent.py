"""What a head hands to W_O under MLA, of values and of latents, against what transformers hands to it."""

import numpy as np
import pytest
import torch

import model
from tests.app.test_ffn_on_page import CONFIGS
from tests.families import pair_of, save
from visuals.latent import latent_info

IDS = [5, 77, 31, 200, 9, 120, 64]


@torch.no_grad()
def test_both_ways_give_what_transformers_hands_to_w_o() -> None:
    pair = pair_of(save(CONFIGS["deepseek"], sharpness=1.0))
    handed: list[torch.Tensor] = []
    layer, head = 1, 2
    projection = pair.peer.model.layers[layer].self_attn.o_proj
    hook = projection.register_forward_pre_hook(lambda _, given: handed.append(given[0][0]))
    pair.peer(torch.tensor([IDS]))
    hook.remove()
    heads = pair.lm.config.n_heads
    theirs = handed[0].view(len(IDS), heads, -1)[:, head].numpy()
    found = latent_info(pair.lm, model.run_trace(pair.lm, IDS).layer(layer), layer, head)
    for ours in (found.mixed, found.mixed_latent):
        np.testing.assert_allclose(ours, theirs, atol=1e-5)
    assert found.mean_latent.shape == found.latent.shape
    assert float(np.abs(found.mixed - found.mixed_latent).max()) == pytest.approx(0, abs=1e-12)
