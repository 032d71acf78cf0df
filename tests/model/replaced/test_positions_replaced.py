"""The ways to tell attention where tokens stand, against transformers' own of Marian, BLOOM, T5 and LLaMA."""

import pytest
import torch
from transformers import LlamaConfig, T5Config
from transformers.models.bloom.modeling_bloom import build_alibi_tensor
from transformers.models.llama.modeling_llama import LlamaRotaryEmbedding, apply_rotary_pos_emb
from transformers.models.t5.modeling_t5 import T5Attention

import model
from model.attention import Attention
from model.config import NetworkConfig
from model.positions import RopeFrequencies
from model.replaced.position_in_heads import added_positions
from model.replaced.position_scores import alibi_bias, plain_scores, relative_bias, rope_scores
from model.replaced.sinusoidal import sinusoidal_frequencies, sinusoidal_positions
from tests.reference import sinusoids_of_marian

SIZES = NetworkConfig(n_layers=1, d_model=24, n_heads=6, n_kv_heads=2, head_dim=8, ffn_hidden=8, vocab_size=8)
CLOSE = {"rtol": 1e-5, "atol": 1e-5}


def random(*shape: int) -> torch.Tensor:
    return torch.randn(*shape, generator=torch.Generator().manual_seed(sum(shape)))


@pytest.mark.parametrize(("tokens", "width"), [(5, 8), (64, 256), (300, 576)])
def test_sinusoids_are_those_of_marian(tokens: int, width: int) -> None:
    torch.testing.assert_close(sinusoidal_positions(tokens, width), sinusoids_of_marian(tokens, width), **CLOSE)


def test_sinusoids_have_the_frequencies_of_rope() -> None:
    config = LlamaConfig(hidden_size=64, num_attention_heads=1, head_dim=64)
    torch.testing.assert_close(sinusoidal_frequencies(64).float(), LlamaRotaryEmbedding(config).inv_freq, **CLOSE)


@pytest.mark.parametrize("n_heads", [1, 5, 8, 9, 12, 112])
def test_alibi_is_that_of_bloom(n_heads: int) -> None:
    """Up to a number that is the same for the whole row: BLOOM counts from the first key."""
    tokens, query = 40, 31
    theirs = build_alibi_tensor(torch.ones(1, tokens), n_heads, torch.float32)[:, 0]
    for head in range(n_heads):
        ours = alibi_bias(n_heads, head, query, query + 1)
        torch.testing.assert_close(ours, theirs[head, : query + 1] - theirs[head, query], **CLOSE)


@pytest.mark.parametrize("both_ways", [False, True])
def test_relative_bias_is_that_of_t5(both_ways: bool) -> None:
    tokens, query, head = 200, 150, 2
    config = T5Config(d_model=24, num_heads=4, d_kv=8, is_decoder=not both_ways)
    theirs = T5Attention(config, has_relative_attention_bias=True, layer_idx=0)
    table = theirs.relative_attention_bias.weight.detach()
    bias = theirs.compute_bias(tokens, tokens).detach()[0, head, query]
    keys = tokens if both_ways else query + 1
    ours = relative_bias(table, head, query, keys, config.relative_attention_max_distance, both_ways)
    torch.testing.assert_close(ours, bias[:keys], **CLOSE)


def test_rotated_scores_are_those_of_llama() -> None:
    q, k, query = random(8), random(20, 8), 13
    rotary = LlamaRotaryEmbedding(LlamaConfig(hidden_size=8, num_attention_heads=1, head_dim=8))
    cos, sin = rotary(k[None], torch.arange(20)[None])
    turned_q, turned_k = apply_rotary_pos_emb(q.expand(1, 1, 20, 8), k[None, None], cos, sin)
    ours = rope_scores(q, k, 8**-0.5, query, RopeFrequencies(rotary.inv_freq, 1.0))
    torch.testing.assert_close(ours, turned_k[0, 0] @ turned_q[0, 0, query] * 8**-0.5, **CLOSE)


@pytest.mark.parametrize("made", [{}, {"bias": True}, {"qk_norm": True}])
def test_added_positions_are_what_the_projections_make_of_the_sum(made: dict[str, bool]) -> None:
    """q and k of the sum, by torch.nn's own linear layer."""
    attn = Attention(SIZES, **made)
    with torch.no_grad():
        for i, weight in enumerate(attn.parameters()):
            weight.copy_(random(*weight.shape) + i)
    x, positions, head = random(5, 24), sinusoidal_positions(5, 24), 4
    found = added_positions(attn, head, x, positions)
    q, k, _ = (part.detach() for part in attn.qkv_proj((x + positions)[None]))
    wanted = {"q": attn.heads(q, 6)[0, head], "k": attn.heads(k, 2)[0, head // 3]}
    plain = [part.detach() for part in attn.qkv_proj(x[None])]
    before = {"q": attn.heads(plain[0], 6)[0, head], "k": attn.heads(plain[1], 2)[0, head // 3]}
    assert (found.norm is not None) == ("qk_norm" in made)
    for name, truth in wanted.items():
        base = before[name] if found.norm is None else getattr(found.norm, name)
        torch.testing.assert_close(base, before[name], **CLOSE)
        torch.testing.assert_close(base + getattr(found, name), truth, rtol=1e-5, atol=1e-4)


def test_without_positions_a_row_is_permuted_as_its_words_are() -> None:
    q, k, order = random(8), random(9, 8), torch.randperm(9, generator=torch.Generator().manual_seed(1))
    assert torch.equal(plain_scores(q, k[order], 0.5), plain_scores(q, k, 0.5)[order])
    frequencies = RopeFrequencies(sinusoidal_frequencies(8).float(), 1.0)
    turned = rope_scores(q, k[order], 0.5, 8, frequencies)
    assert (turned - rope_scores(q, k, 0.5, 8, frequencies)[order]).abs().max() > 0.1


def test_the_example_has_five_pieces() -> None:
    tokenizer = model.load(device="cpu").tokenizer
    assert tokenizer.pieces(tokenizer.encode("猫在沙发上睡觉")) == ["猫", "在", "沙发", "上", "睡觉"]
