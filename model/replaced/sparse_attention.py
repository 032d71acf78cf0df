"""DeepSeek Sparse Attention: an indexer scores every key for a query, and attention reads the k keys it scores highest.

DeepSeek-V3.2-Exp's report, section 1: I_{t,s} = Σ_j w_{t,j} · ReLU(q_{t,j}·k_s), one key a token for all index heads.
All heads of the layer read the same chosen keys. Section 2.1: the indexer is trained towards the weights of the main
attention, summed over its heads and divided by their sum. Nothing here is trained: `index_target` is that goal itself,
and no choice of k keys keeps more of the heads' weight.
"""

import torch
from jaxtyping import Bool, Float
from torch import Tensor

KEY_WIDTH = 128  # of the indexer's one key a token, DeepSeek-V3.2's `index_head_dim`
KEY_BYTES = KEY_WIDTH + 4  # FP8, and one float32 scale, a token and layer (DeepSeek-V3.2-Exp, inference/model.py)


def index_scores(
    q: Float[Tensor, "index_heads T width"], k: Float[Tensor, "T width"], w: Float[Tensor, "T index_heads"]
) -> Float[Tensor, "T T"]:
    """Σ_j w · ReLU(q·k), query by key, of all pairs."""
    return torch.einsum("th,hts->ts", w, (q @ k.T).relu())


def index_target(weights: Float[Tensor, "n_heads T T"]) -> Float[Tensor, "T T"]:
    """What an indexer is trained to match: the mean of the heads' weights, whose rows sum to 1 as theirs do."""
    return weights.mean(0)


def top_k_mask(scores: Float[Tensor, "T S"], seen: Bool[Tensor, "T S"], k: int) -> Bool[Tensor, "T S"]:
    """Of the keys that each query sees the `k` with the highest scores; all of them where it sees no more.

    Raises ValueError for a `k` that leaves no key.
    """
    if k < 1:
        raise ValueError(f"k is {k}; expected at least 1 key for each query")
    best = scores.masked_fill(~seen, -torch.inf).topk(min(k, scores.shape[1]), -1).indices
    return torch.zeros_like(seen).scatter(-1, best, True) & seen


def pairs_read(tokens: int, k: int) -> int:
    """How many pairs of query and key causal attention reads: all before a query up to k, T·k less k(k − 1)/2."""
    k = min(k, tokens)
    return tokens * k - k * (k - 1) // 2
