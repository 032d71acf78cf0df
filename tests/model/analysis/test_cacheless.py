"""Writing with and without a cache: the same tokens, the work as torch counts it, the bytes as the formula has them."""

from dataclasses import replace
from pathlib import Path

import pytest
import torch
from torch.utils.flop_counter import FlopCounterMode

import model
from model.analysis import cacheless
from model.cache import KVCache

PROMPT = "The cat sleeps on"


@pytest.fixture(scope="module")
def lm(checkpoint: Path) -> model.LanguageModel:
    return model.load(checkpoint, device="cpu")


def test_both_ways_write_what_generate_writes(lm):
    ids = lm.tokenizer.encode(PROMPT)
    steps = cacheless.race(lm, ids, 12, seconds=60)
    assert [step.token_id for step in steps] == [step.token_id for step in model.generate(lm, ids, 12)][: len(steps)]
    assert all(step.same for step in steps)
    assert [step.tokens for step in steps] == list(range(len(ids), len(ids) + 12))
    assert all(step.cached_seconds > 0 and step.full_seconds > 0 for step in steps)


def test_a_race_ends_when_its_time_is_over_but_writes_one_token(lm):
    assert len(cacheless.race(lm, [5, 6, 7], 8, seconds=0)) == 1


def test_a_single_token_is_text_enough(lm):
    assert cacheless.race(lm, [5], 2, seconds=60)[0].tokens == 1


def test_a_race_stays_within_the_context(lm):
    room = lm.config.context_limit
    assert len(cacheless.race(lm, [5] * (room - 2), 8, seconds=60)) == 2
    with pytest.raises(IndexError, match="no room"):
        cacheless.race(lm, [5] * room, 1)


@pytest.mark.parametrize(("new", "past"), [(1, 0), (1, 20), (9, 0), (21, 0)])
def test_multiply_adds_are_what_torch_counts(lm, new, past):
    """Torch counts two operations for each multiply–add, and all pairs of a call, also those that the mask hides."""
    cache = KVCache(lm.config, new + past)
    with torch.inference_mode():
        if past:
            lm.net(torch.ones(1, past, dtype=torch.long), cache, 0, last_only=True)
        with FlopCounterMode(display=False) as counter:
            lm.net(torch.ones(1, new, dtype=torch.long), cache, past, eager=True, last_only=True)
    hidden = new * (new + past) - (new * past + new * (new + 1) // 2)
    config = lm.config
    masked = config.n_layers * config.n_heads * 2 * config.head_dim * hidden
    assert counter.get_total_flops() == 2 * (cacheless.multiply_adds(config, new, past) + masked)


def test_layer_weights_are_those_of_the_matrices(lm):
    matrices = [p for name, p in lm.net.layers.named_parameters() if p.dim() == 2]
    assert cacheless.layer_weights(lm.config) == sum(p.numel() for p in matrices)


@pytest.mark.parametrize("n_kv_heads", [1, 2, 6])
def test_held_bytes_are_the_formula(lm, n_kv_heads):
    ids = lm.tokenizer.encode(PROMPT)
    config = lm.config
    found = cacheless.cache_contents(lm, ids)
    assert found.bytes == config.n_layers * len(ids) * config.n_kv_heads * 2 * config.head_dim * 4
    wider = KVCache(replace(config, n_kv_heads=n_kv_heads), len(ids))
    assert wider.nbytes(len(ids)) == config.n_layers * len(ids) * n_kv_heads * 2 * config.head_dim * 4


def test_held_norms_are_those_of_the_recorded_keys_and_values(lm):
    ids = lm.tokenizer.encode(PROMPT)
    found, trace = cacheless.cache_contents(lm, ids), model.run_trace(lm, ids)
    for index in range(lm.config.n_layers):
        layer = trace.layer(index)
        for norms, rows in ((found.k_norm, layer.k_rot), (found.v_norm, layer.v)):
            expected = torch.from_numpy(rows).square().sum(dim=(0, 2)).sqrt()
            torch.testing.assert_close(norms[index], expected, rtol=1e-4, atol=1e-4)
