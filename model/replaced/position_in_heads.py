"""What a position adds to a head's query and key where it is added to the token's vector, and not turned into the head.

A sinusoidal or learned position is a vector of the width d_model that stands in the sum which W_Q and W_K read. These
are linear, so the sum comes out as a sum: W_Q·(x + p) = W_Q·x + W_Q·p.

Symbols: T tokens, d d_model.
"""

from typing import NamedTuple

from jaxtyping import Float
from torch import Tensor

from ..attention import Attention
from ..norms import RMSNorm


class HeadNorm(NamedTuple):
    """Of a network that normalises each head's q and k (Qwen 3): these before that norm, its factors, and its ε."""

    q: Float[Tensor, "T head_dim"]
    k: Float[Tensor, "T head_dim"]
    q_gamma: Float[Tensor, "head_dim"]
    k_gamma: Float[Tensor, "head_dim"]
    eps: float


class AddedPositions(NamedTuple):
    """W_Q·p and W_K·p of every position p, for a query head and the K/V head that it reads; `norm`, where q and k are
    normalised after it: the sum is taken before that norm."""

    q: Float[Tensor, "T head_dim"]
    k: Float[Tensor, "T head_dim"]
    norm: HeadNorm | None


def added_positions(
    attn: Attention, head: int, normed: Float[Tensor, "T d"], positions: Float[Tensor, "T d"]
) -> AddedPositions:
    """What these position vectors add to head `head`'s q and k, if they are added to `normed`, which W_Q and W_K read.

    Float32, on the CPU.
    """
    kv_head = head * attn.n_kv_heads // attn.n_heads
    start = attn.qkv_proj.rows[0] + kv_head * attn.head_dim
    rows = [slice(head * attn.head_dim, (head + 1) * attn.head_dim), slice(start, start + attn.head_dim)]
    w_q, w_k = (attn.qkv_proj.weight[part].detach().double().cpu() for part in rows)
    wide = positions.double().cpu()
    norm = None
    if attn.q_norm is not None and attn.k_norm is not None:
        q, k = normed.double().cpu() @ w_q.T, normed.double().cpu() @ w_k.T
        if attn.qkv_proj.bias is not None:
            b_q, b_k = (attn.qkv_proj.bias[part].detach().double().cpu() for part in rows)
            q, k = q + b_q, k + b_k
        norm = HeadNorm(q.float(), k.float(), _gamma(attn.q_norm), _gamma(attn.k_norm), attn.q_norm.eps)
    return AddedPositions((wide @ w_q.T).float(), (wide @ w_k.T).float(), norm)


def _gamma(norm: RMSNorm) -> Float[Tensor, "head_dim"]:
    return norm.weight.detach().float().cpu()
