"""A head's scores of one query, by each way to tell attention where tokens stand. q and k are not rotated yet.

- none: q·k · scale. It is the same wherever the tokens stand.
- added: (q + p_q)·(k + p_k) · scale, with what sinusoidal or learned positions add to q and k (position_in_heads.py).
- a bias: q·k · scale + b, by the distance from query to key: ALiBi's, which is fixed (arXiv 2108.12409), or T5's, a
  learned number for the bucket of the distance (arXiv 1910.10683, section 2.1). T5 itself has the scale 1.
- RoPE: q and k are rotated by their positions (arXiv 2104.09864).
"""

import torch
from jaxtyping import Float, Int
from torch import Tensor

from ..positions import RopeFrequencies, alibi_slopes, buckets, rotate, rotation


def plain_scores(q: Float[Tensor, "head_dim"], k: Float[Tensor, "S head_dim"], scale: float) -> Float[Tensor, "S"]:
    """q·k · scale of a query with S keys: no position."""
    return k @ q * scale


def alibi_bias(n_heads: int, head: int, query: int, keys: int) -> Float[Tensor, "S"]:
    """−slope · distance of head `head` of `n_heads`, from the query at position `query` to keys 0 … `keys` − 1. For
    keys after the query, which the paper's networks never see, the distance is counted forwards."""
    distance = (query - torch.arange(keys)).abs()
    return -alibi_slopes(n_heads)[head] * distance


def relative_bias(
    table: Float[Tensor, "buckets n_heads"], head: int, query: int, keys: int, max_distance: int, both_ways: bool
) -> Float[Tensor, "S"]:
    """T5's learned number for each key's bucket: row `query` of the biases of a head."""
    which: Int[Tensor, "T S"] = buckets(0, max(query + 1, keys), len(table), max_distance, both_ways, table.device)
    return table[which[query, :keys], head]


def rope_scores(
    q: Float[Tensor, "head_dim"],
    k: Float[Tensor, "S head_dim"],
    scale: float,
    query: int,
    frequencies: RopeFrequencies,
) -> Float[Tensor, "S"]:
    """The query at position `query` and keys 0 … S − 1 rotated, in half-split pairs, and their products · scale."""
    turned_q = rotate(q[None, None, None], rotation(frequencies, query, 1))[0, 0, 0]
    turned_k = rotate(k[None, None], rotation(frequencies, 0, len(k)))[0, 0]
    return plain_scores(turned_q, turned_k, scale)
