"""DeepSeek's indexer and its choice of keys, against transformers' DeepSeek-V3.2 and every choice there is."""

from itertools import combinations

import pytest
import torch
from transformers import DeepseekV32Config
from transformers.models.deepseek_v32.modeling_deepseek_v32 import DeepseekV32Indexer

from model.kv_math import kv_cache_bytes
from model.published.catalogue import catalogue
from model.replaced.sparse_attention import (
    KEY_BYTES,
    KEY_WIDTH,
    index_scores,
    index_target,
    pairs_read,
    top_k_mask,
)

T, HEADS, WIDTH, D = 9, 3, 8, 12


def test_index_scores_choose_what_transformers_chooses() -> None:
    """The same queries, key and weights; without a rotation, which comes before both."""
    torch.manual_seed(0)
    config = DeepseekV32Config(
        hidden_size=D, q_lora_rank=10, qk_rope_head_dim=4, index_n_heads=HEADS, index_head_dim=WIDTH, index_topk=4
    )
    indexer = DeepseekV32Indexer(config, 0).eval()
    for parameter in indexer.parameters():
        torch.nn.init.normal_(parameter)
    x, latent = torch.randn(T, D), torch.randn(T, 10)
    seen = torch.ones(T, T, dtype=torch.bool).tril()
    still = torch.ones(1, T, 4), torch.zeros(1, T, 4)
    theirs = indexer(x[None], latent[None], still, seen[None], torch.arange(T)[None])[0].long()
    q = indexer.wq_b(latent).view(T, HEADS, WIDTH).transpose(0, 1)
    ours = index_scores(q, indexer.k_norm(indexer.wk(x)), indexer.weights_proj(x))
    wanted = torch.zeros(T, T, dtype=torch.bool).scatter(-1, theirs, True) & seen
    assert torch.equal(top_k_mask(ours, seen, 4), wanted)


def test_scores_by_hand() -> None:
    q = torch.tensor([[[1.0, 0.0], [0.0, 2.0]], [[-1.0, 1.0], [1.0, 1.0]]])  # two heads, two tokens
    k = torch.tensor([[3.0, 1.0], [-1.0, 4.0]])
    w = torch.tensor([[1.0, 10.0], [0.5, -1.0]])
    # Token 0: head 0 has 3 and -1, head 1 has -2 and 5. Token 1: 2 and 8; 4 and 3.
    assert index_scores(q, k, w).tolist() == [[3.0, 50.0], [1.0 - 4.0, 4.0 - 3.0]]


def test_no_choice_keeps_more_than_the_target() -> None:
    torch.manual_seed(1)
    seen = torch.ones(6, 6, dtype=torch.bool).tril()
    weights = torch.randn(4, 6, 6).masked_fill(~seen, -torch.inf).softmax(-1)
    chosen = top_k_mask(index_target(weights), seen, 3)
    kept = (weights * chosen).sum((0, 2))
    for query in range(6):
        most = max(float(weights[:, query, list(keys)].sum()) for keys in combinations(range(6), 3))
        assert kept[query] == pytest.approx(most, abs=1e-6)
        assert chosen[query].sum() == min(query + 1, 3)


def test_pairs_and_bytes() -> None:
    for tokens, k in ((7, 3), (7, 7), (7, 20), (1, 1), (64, 16)):
        seen = torch.ones(tokens, tokens, dtype=torch.bool).tril()
        assert pairs_read(tokens, k) == top_k_mask(torch.rand(tokens, tokens), seen, k).sum()
    assert DeepseekV32Config().index_head_dim == KEY_WIDTH
    v3, v32 = (catalogue()[name] for name in ("DeepSeek-V3", "DeepSeek-V3.2-Exp"))
    more = kv_cache_bytes(v32, tokens=1) - kv_cache_bytes(v3, tokens=1)
    assert more == v32.n_layers * KEY_BYTES
    with pytest.raises(ValueError, match="k is 0"):
        top_k_mask(torch.rand(2, 2), torch.ones(2, 2, dtype=torch.bool), 0)
