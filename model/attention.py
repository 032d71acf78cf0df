"""Grouped-query attention (Ainslie et al. 2023, arXiv 2305.13245): several query heads share one K/V head.

With n_kv_heads = n_heads it is multi-head attention, with n_kv_heads = 1 multi-query attention.
"""

from typing import ClassVar, Literal

import torch
import torch.nn.functional as F
from jaxtyping import Float
from torch import Tensor, nn

from .cache import KVCache, SourceCache
from .config import NetworkConfig
from .masks import causal_mask, hidden
from .module import Module
from .norms import RMSNorm
from .positions import Bias, BiasAndMask, MaskOnly, PositionEncoding
from .stacked import StackedLinear
from .taps import Tap


class Heads(Module):
    """Heads that compare queries with keys and mix values, however these were made. Query head h reads K/V head
    h // group_size.

    Taps: `mixed` (B, T, n_heads, width), each head's weighted sum of values before W_O; and on the eager path alone
    `scores` (before the mask) and `attention` (after the softmax), both (B, n_heads, T, S).
    """

    dimensions: ClassVar[dict[str, tuple[str, ...]]] = {}  # of a trace's arrays that differ from trace.SHAPES
    o_proj: nn.Linear  # W_O, whose columns belong to the heads in turn
    position_bias: Tap  # where there is one: (1, n_heads, T, S), what is added to the scores

    def __init__(self, n_heads: int, n_kv_heads: int, qk_dim: int, scale: float | None = None):
        super().__init__()
        self.n_heads, self.n_kv_heads, self.qk_dim = n_heads, n_kv_heads, qk_dim
        self.scale = scale  # of q·k; None: 1/√qk_dim
        self.scores, self.attention, self.mixed = Tap(), Tap(), Tap()

    def mix(
        self, q: Tensor, k: Tensor, v: Tensor, places: BiasAndMask, eager: bool
    ) -> Float[Tensor, "B T n_heads width"]:
        """Each head's weighted sum of values.

        `eager` writes the softmax out, so that scores and weights pass their taps; otherwise PyTorch's fused
        scaled_dot_product_attention runs, which never holds them.
        """
        mixed = self._eager(q, k, v, places) if eager else self._fused(q, k, v, places)
        return self.mixed(mixed.transpose(1, 2))

    def _fused(self, q: Tensor, k: Tensor, v: Tensor, places: BiasAndMask) -> Float[Tensor, "B n_heads T width"]:
        if places.bias is None:
            if q.shape[2] == 1:  # one new token sees every key: the heads of a group can stand as rows of one query
                grouped = q.reshape(len(q), self.n_kv_heads, -1, q.shape[-1])
                mixed = F.scaled_dot_product_attention(grouped, k, v, scale=self.scale)
                return mixed.reshape(*q.shape[:3], v.shape[-1])
            if q.shape[2] == k.shape[2] and places.mask is None:
                k, v = self._share(k), self._share(v)
                return F.scaled_dot_product_attention(q, k, v, is_causal=True, scale=self.scale)
        mask = causal_mask(q.shape[2], k.shape[2], q.device) if places.mask is None else places.mask
        # of four dimensions, as the fused kernel for the CPU asks
        seen = mask if places.bias is None else hidden(places.bias, mask)[None]
        return F.scaled_dot_product_attention(q, self._share(k), self._share(v), attn_mask=seen, scale=self.scale)

    def _eager(self, q: Tensor, k: Tensor, v: Tensor, places: BiasAndMask) -> Float[Tensor, "B n_heads T width"]:
        scores = q @ self._share(k).transpose(2, 3) * self.score_scale
        scores = self.scores(scores if places.bias is None else scores + self.position_bias(places.bias[None]))
        mask = causal_mask(q.shape[2], k.shape[2], q.device) if places.mask is None else places.mask
        return self.attention(hidden(scores.float(), mask).softmax(-1)).to(v.dtype) @ self._share(v)

    @property
    def score_scale(self) -> float:
        """What q·k is multiplied by."""
        return self.qk_dim**-0.5 if self.scale is None else self.scale

    def vectors(
        self, kind: Literal["q", "k"], normed: Float[Tensor, "S d"], head: int, places: PositionEncoding, at: int
    ) -> Float[Tensor, "S qk_dim"]:
        """The query, or key, of a head at position `at`, in as many parts as its normed stream comes in.

        The last part gets the biases. What is divided by on the way is that of the whole. float64, on the CPU.
        """
        raise NotImplementedError

    def heads(self, x: Float[Tensor, "B T width"], n: int) -> Float[Tensor, "B n T per_head"]:
        """A projection as `n` heads."""
        return x.unflatten(-1, (n, -1)).transpose(1, 2)

    def _share(self, kv: Float[Tensor, "B n_kv_heads S width"]) -> Float[Tensor, "B n_heads S width"]:
        """Repeat each K/V head for the query heads of its group."""
        return kv.repeat_interleave(self.n_heads // self.n_kv_heads, dim=1)


class Attention(Heads):
    """Causal self-attention, with RoPE or with a bias by position on the scores.

    Taps, beside those of Heads: `q`, `q_rot` (B, n_heads, T, head_dim); `k`, `k_rot`, `v` (B, n_kv_heads, T, head_dim).
    A LLaMA has no biases and no norm on q and k; where there is one (Qwen 3), `q` and `k` are what it gives. Without
    RoPE (`rotary` False) there is no `q_rot` and no `k_rot`, but `position_bias` on the eager path.
    """

    def __init__(
        self,
        config: NetworkConfig,
        bias: bool = False,
        out_bias: bool = False,
        qk_norm: bool = False,
        rotary: bool = True,
        scale: float | None = None,
    ):
        super().__init__(config.n_heads, config.n_kv_heads, config.head_dim, scale)
        d, head_dim = config.d_model, config.head_dim
        self.head_dim = head_dim
        kv_width = config.n_kv_heads * head_dim
        self.qkv_proj = StackedLinear(d, config.n_heads * head_dim, kv_width, kv_width, bias=bias)  # W_Q, W_K, W_V
        self.o_proj = nn.Linear(config.n_heads * head_dim, d, bias=out_bias)
        self.q_norm = RMSNorm(head_dim, config.norm_eps) if qk_norm else None
        self.k_norm = RMSNorm(head_dim, config.norm_eps) if qk_norm else None
        self.q, self.k, self.v = Tap(), Tap(), Tap()
        if rotary:
            self.q_rot, self.k_rot = Tap(), Tap()
        else:
            self.position_bias = Tap()

    def forward(
        self,
        x: Float[Tensor, "B T d"],
        places: PositionEncoding,
        layer: int = 0,
        cache: KVCache | None = None,
        position: int = 0,
        eager: bool = False,
    ) -> Float[Tensor, "B T d"]:
        """Attend from these T tokens, which start at `position`, to themselves and to what the cache holds before them.

        `eager` as in Heads.mix.
        """
        q, k, v = self.project(x, places)
        if cache is not None:
            k, v = cache.write(layer, position, k, v)
        return self.o_proj(self.mix(q, k, v, places, eager).flatten(2))

    def project(self, x: Float[Tensor, "B T d"], places: PositionEncoding) -> tuple[Tensor, Tensor, Tensor]:
        """q (B, n_heads, T, head_dim), k and v (B, n_kv_heads, T, head_dim), q and k turned to their places."""
        q, k, v = self.qkv_proj(x)
        q, k, v = self.heads(q, self.n_heads), self.heads(k, self.n_kv_heads), self.heads(v, self.n_kv_heads)
        if self.q_norm is not None and self.k_norm is not None:
            q, k = self.q_norm(q), self.k_norm(k)
        q, k, v = self.q(q), self.k(k), self.v(v)
        if places.bias is not None:
            return q, k, v
        return self.q_rot(places.turn(q)), self.k_rot(places.turn(k)), v

    def vectors(
        self, kind: Literal["q", "k"], normed: Float[Tensor, "S d"], head: int, places: PositionEncoding, at: int
    ) -> Float[Tensor, "S qk_dim"]:
        parts = self.unplaced(kind, normed, head)
        return places.at(at).turn(parts[None, :, None])[0, :, 0]

    def unplaced(self, kind: Literal["q", "k"], normed: Float[Tensor, "S d"], head: int) -> Float[Tensor, "S head_dim"]:
        """As `vectors`, before they are turned to their place."""
        number, norm = (head, self.q_norm) if kind == "q" else (head * self.n_kv_heads // self.n_heads, self.k_norm)
        start = number * self.head_dim + (0 if kind == "q" else self.qkv_proj.rows[0])
        rows = slice(start, start + self.head_dim)
        parts = normed @ self.qkv_proj.weight[rows].detach().to(normed).T
        if self.qkv_proj.bias is not None:
            parts[-1] += self.qkv_proj.bias[rows].detach().to(normed)
        return parts if norm is None else norm.apart(parts, norm.divisor(parts.sum(0)))


class CrossAttention(Heads):
    """Queries from a decoder's stream, keys and values from an encoder's last states; no mask and no position.

    Taps, beside those of Heads: `q` (B, n_heads, T, head_dim); `k`, `v` (B, n_heads, S, head_dim) for S source tokens.
    """

    def __init__(self, config: NetworkConfig, scale: float | None = None):
        super().__init__(config.n_heads, config.n_heads, config.head_dim, scale)
        d, width = config.d_model, config.n_heads * config.head_dim
        self.q_proj = nn.Linear(d, width, bias=False)
        self.kv_proj = StackedLinear(d, width, width)
        self.o_proj = nn.Linear(width, d, bias=False)
        self.q, self.k, self.v = Tap(), Tap(), Tap()

    def forward(
        self,
        x: Float[Tensor, "B T d"],
        places: PositionEncoding,
        layer: int = 0,
        cache: KVCache | None = None,
        _position: int = 0,
        eager: bool = False,
    ) -> Float[Tensor, "B T d"]:
        """Attend from these T tokens to the source: to what `places` remember of it, or a cache has made of that."""
        assert isinstance(places, Bias)
        assert places.memory is not None
        kv = cache.source[layer] if isinstance(cache, SourceCache) else self.keys_and_values(places.memory)
        q, k, v = self.q(self.heads(self.q_proj(x), self.n_heads)), self.k(kv[0]), self.v(kv[1])
        everything = MaskOnly(torch.ones(q.shape[2], k.shape[2], dtype=torch.bool, device=q.device))
        return self.o_proj(self.mix(q, k, v, everything, eager).flatten(2))

    def keys_and_values(self, memory: Float[Tensor, "B S d"]) -> tuple[Tensor, Tensor]:
        """Of the source's tokens, (B, n_heads, S, head_dim) each."""
        k, v = self.kv_proj(memory)
        return self.heads(k, self.n_heads), self.heads(v, self.n_heads)
