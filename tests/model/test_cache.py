"""The KV cache changes nothing but the cost: cached logits equal the full pass, and its bytes are the formula's."""

from dataclasses import replace

import pytest
import torch

import model
from model.cache import KVCache
from tests.reference import sample_ids
from tests.standin import make_checkpoint

TOKENS = 14
SHAPES = {"MHA": 6, "GQA": 2, "MQA": 1}


@pytest.fixture(scope="module", params=SHAPES)
def net(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> model.LanguageModel:
    where = tmp_path_factory.mktemp("cache")
    return model.load(
        make_checkpoint(where, seed=1, sharpness=1.2, num_key_value_heads=SHAPES[request.param]), device="cpu"
    ).net


@pytest.mark.parametrize("batch", [1, 3])
@pytest.mark.parametrize("chunks", [[1] * TOKENS, [9, 1, 1, 1, 1, 1], [5, 4, 1, 1, 3], [TOKENS]], ids=str)
@torch.inference_mode()
def test_cached_logits_equal_the_full_pass_token_by_token(net, batch: int, chunks: list[int]) -> None:
    ids = sample_ids(batch, TOKENS, seed=2)
    full = net(ids)
    cache, position = KVCache(net.config, capacity=TOKENS, batch=batch), 0
    for count in chunks:
        logits = net(ids[:, position : position + count], cache, position)
        torch.testing.assert_close(logits, full[:, position : position + count], rtol=0, atol=1e-5)
        position += count
    assert position == TOKENS


@pytest.mark.parametrize("count", [1, 4])
@torch.inference_mode()
def test_the_eager_path_over_the_cache_gives_the_same(net, count: int) -> None:
    ids = sample_ids(1, TOKENS, seed=3)
    cache = KVCache(net.config, capacity=TOKENS)
    net(ids[:, :-count], cache)
    logits = net(ids[:, -count:], cache, TOKENS - count, eager=True)
    torch.testing.assert_close(logits, net(ids)[:, -count:], rtol=0, atol=1e-5)


@torch.inference_mode()
def test_the_last_logits_alone_equal_the_last_of_all(net) -> None:
    ids = sample_ids(2, TOKENS, seed=4)
    assert net(ids, last_only=True).shape == (2, 1, net.config.vocab_size)
    torch.testing.assert_close(net(ids, last_only=True), net(ids)[:, -1:], rtol=0, atol=1e-5)


@torch.inference_mode()
def test_the_position_is_the_callers(net) -> None:
    """Going back and writing other tokens over the old ones leaves no trace of the old ones."""
    one, other = sample_ids(2, TOKENS, seed=5)[:, None]
    cache = KVCache(net.config, capacity=TOKENS)
    net(one, cache, 0)
    net(other[:, :8], cache, 0)
    logits = net(other[:, 8:], cache, 8)
    torch.testing.assert_close(logits, net(other)[:, 8:], rtol=0, atol=1e-5)


def test_bytes_are_those_of_the_formula_and_of_the_tensors(net) -> None:
    config = net.config
    for dtype, size in ((torch.float32, 4), (torch.bfloat16, 2)):
        cache = KVCache(config, capacity=TOKENS, dtype=dtype)
        per_token = 2 * 3 * config.n_kv_heads * 8 * size  # K and V × L × n_kv_heads × head_dim × bytes
        for tokens in (0, 1, 7, TOKENS):
            assert cache.nbytes(tokens) == per_token * tokens
        held = sum(tensor.untyped_storage().nbytes() for tensor in (*cache.keys, *cache.values))
        assert cache.nbytes(TOKENS) == held


def test_a_write_past_the_end_is_refused_and_changes_nothing(net) -> None:
    cache = KVCache(net.config, capacity=4)
    k = torch.ones(1, net.config.n_kv_heads, 3, 8)
    cache.write(0, 0, k, k)
    before = cache.keys[0].clone()
    with pytest.raises(IndexError, match="5 tokens do not fit into a KV cache of 4"):
        cache.write(0, 2, 2 * k, 2 * k)
    assert torch.equal(cache.keys[0][:, :, :3], before[:, :, :3])
    with pytest.raises(IndexError):
        net(sample_ids(1, 5), cache)


def test_what_is_written_comes_back_as_a_view(net) -> None:
    cache = KVCache(replace(net.config, n_layers=2), capacity=6)
    k, v = torch.randn(2, 1, net.config.n_kv_heads, 2, 8)
    cache.write(1, 0, k, v)
    keys, values = cache.write(1, 2, v, k)
    assert torch.equal(keys, torch.cat((k, v), 2))
    assert torch.equal(values, torch.cat((v, k), 2))
    assert keys.data_ptr() == cache.keys[1].data_ptr()
    assert values.data_ptr() == cache.values[1].data_ptr()
