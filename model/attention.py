"""Grouped-query attention (Ainslie et al. 2023, arXiv 2305.13245): several query heads share one K/V head.

With n_kv_heads = n_heads it is multi-head attention, with n_kv_heads = 1 multi-query attention.
"""

import torch
import torch.nn.functional as F
from jaxtyping import Float
from torch import Tensor, nn

from .cache import KVCache
from .config import LlamaConfig
from .module import Module
from .positions import Rotation, rotate
from .stacked import StackedLinear
from .taps import Tap


class Attention(Module):
    """Causal self-attention with RoPE. Query head h reads K/V head h // group_size.

    Taps: `q`, `q_rot` (B, n_heads, T, head_dim); `k`, `k_rot`, `v` (B, n_kv_heads, T, head_dim); `mixed` (B, T,
    n_heads, head_dim), each head's weighted sum of values before W_O; and on the eager path alone `scores` (before
    the mask) and `attention` (after the softmax), both (B, n_heads, T, S).
    """

    def __init__(self, config: LlamaConfig):
        super().__init__()
        d, head_dim = config.d_model, config.head_dim
        self.n_heads, self.n_kv_heads, self.head_dim = config.n_heads, config.n_kv_heads, head_dim
        kv_width = config.n_kv_heads * head_dim
        self.qkv_proj = StackedLinear(d, config.n_heads * head_dim, kv_width, kv_width)  # W_Q, W_K, W_V
        self.o_proj = nn.Linear(config.n_heads * head_dim, d, bias=False)
        self.q, self.k, self.v, self.q_rot, self.k_rot = Tap(), Tap(), Tap(), Tap(), Tap()
        self.scores, self.attention, self.mixed = Tap(), Tap(), Tap()

    def forward(
        self,
        x: Float[Tensor, "B T d"],
        rope: Rotation,
        layer: int = 0,
        cache: KVCache | None = None,
        position: int = 0,
        eager: bool = False,
    ) -> Float[Tensor, "B T d"]:
        """Attend from these T tokens, which start at `position`, to themselves and to what the cache holds before them.

        `eager` writes the softmax out, so that scores and weights pass their taps; otherwise PyTorch's fused
        scaled_dot_product_attention runs, which never holds them.
        """
        q, k, v = self.qkv_proj(x)
        q = self.q(self._heads(q, self.n_heads))
        k = self.k(self._heads(k, self.n_kv_heads))
        v = self.v(self._heads(v, self.n_kv_heads))
        q, k = self.q_rot(rotate(q, rope)), self.k_rot(rotate(k, rope))
        if cache is not None:
            k, v = cache.write(layer, position, k, v)
        mixed = self._eager(q, k, v) if eager else self._fused(q, k, v)
        return self.o_proj(self.mixed(mixed.transpose(1, 2)).flatten(2))

    def _heads(self, x: Float[Tensor, "B T width"], n: int) -> Float[Tensor, "B n T head_dim"]:
        return x.view(*x.shape[:2], n, self.head_dim).transpose(1, 2)

    def _fused(self, q: Tensor, k: Tensor, v: Tensor) -> Float[Tensor, "B n_heads T head_dim"]:
        if q.shape[2] == 1:  # one new token sees every key: the heads of a group can stand as rows of one query
            grouped = q.reshape(len(q), self.n_kv_heads, -1, self.head_dim)
            return F.scaled_dot_product_attention(grouped, k, v).reshape(q.shape)
        k, v = self._share(k), self._share(v)
        if q.shape[2] == k.shape[2]:
            return F.scaled_dot_product_attention(q, k, v, is_causal=True)
        return F.scaled_dot_product_attention(q, k, v, attn_mask=causal_mask(q.shape[2], k.shape[2], q.device))

    def _eager(self, q: Tensor, k: Tensor, v: Tensor) -> Float[Tensor, "B n_heads T head_dim"]:
        scores = self.scores(q @ self._share(k).transpose(2, 3) * self.head_dim**-0.5)
        masked = scores.float().masked_fill(~causal_mask(q.shape[2], k.shape[2], q.device), float("-inf"))
        return self.attention(masked.softmax(-1)).to(v.dtype) @ self._share(v)

    def _share(self, kv: Float[Tensor, "B n_kv_heads S head_dim"]) -> Float[Tensor, "B n_heads S head_dim"]:
        """Repeat each K/V head for the query heads of its group."""
        return kv.repeat_interleave(self.n_heads // self.n_kv_heads, dim=1)


def causal_mask(queries: int, keys: int, device: torch.device) -> Tensor:
    """(queries, keys) of bool: True where a query may look; the last query stands at the last key."""
    return torch.ones(queries, keys, dtype=torch.bool, device=device).tril(keys - queries)
