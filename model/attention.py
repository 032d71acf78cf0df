"""Grouped-query attention (Ainslie et al. 2023, arXiv 2305.13245): several query heads share one K/V head.

With n_kv_heads = n_heads it is multi-head attention, with n_kv_heads = 1 multi-query attention.
"""

from typing import ClassVar, Literal

import torch
import torch.nn.functional as F
from jaxtyping import Bool, Float
from torch import Tensor, nn

from .config import NetworkConfig
from .forward_pass import Pass
from .masks import causal_mask, hidden
from .module import Module
from .norms import RMSNorm
from .positions import Bias, PositionEncoding
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
        self,
        q: Float[Tensor, "B n_heads T qk_dim"],
        k: Float[Tensor, "#B n_kv_heads S qk_dim"],
        v: Float[Tensor, "#B n_kv_heads S width"],
        bias: Float[Tensor, "*batch n_heads T S"] | None,
        mask: Bool[Tensor, "*heads T S"] | None,
        eager: bool,
    ) -> Float[Tensor, "B T n_heads width"]:
        """Each head's weighted sum of values; keys and values may be the same for every text of the batch.

        `bias` is added to the scores. `mask` is True where a query sees a key, for all heads,
        (n_heads, T, S) for each, or (B, 1, T, S) for each text; None stands for the causal mask.
        `eager` writes the softmax out, so that scores and weights pass their taps; otherwise PyTorch's fused
        scaled_dot_product_attention runs, which never holds them.
        """
        mixed = self._eager(q, k, v, bias, mask) if eager else _with_nonfinite(self._fused(q, k, v, bias, mask), q)
        return self.mixed(mixed.transpose(1, 2))

    def _fused(
        self, q: Tensor, k: Tensor, v: Tensor, bias: Tensor | None, mask: Tensor | None
    ) -> Float[Tensor, "B n_heads T width"]:
        if bias is None:
            if q.shape[2] == 1:  # one new token sees every key: the heads of a group can stand as rows of one query
                grouped = q.reshape(len(q), self.n_kv_heads, -1, q.shape[-1])
                mixed = F.scaled_dot_product_attention(grouped, k, v, attn_mask=mask, scale=self.scale)
                return mixed.reshape(*q.shape[:3], v.shape[-1])
            if q.shape[2] == k.shape[2] and mask is None:
                k, v = self._share(k), self._share(v)
                return F.scaled_dot_product_attention(q, k, v, is_causal=True, scale=self.scale)
        mask = causal_mask(q.shape[2], k.shape[2], q.device) if mask is None else mask
        added = mask if bias is None else hidden(bias, mask)
        if added.ndim > 2:  # by head: the fused kernel for the CPU asks for four
            added = _by_text(added)
        return F.scaled_dot_product_attention(q, self._share(k), self._share(v), attn_mask=added, scale=self.scale)

    def _eager(
        self, q: Tensor, k: Tensor, v: Tensor, bias: Tensor | None, mask: Tensor | None
    ) -> Float[Tensor, "B n_heads T width"]:
        scores = q @ self._share(k).transpose(2, 3) * self.score_scale
        scores = self.scores(scores if bias is None else scores + self.position_bias(_by_text(bias)))
        mask = causal_mask(q.shape[2], k.shape[2], q.device) if mask is None else mask
        return self.attention(hidden(scores.float(), mask).softmax(-1)).to(v.dtype) @ self._share(v)

    @property
    def score_scale(self) -> float:
        """What q·k is multiplied by."""
        return self.qk_dim**-0.5 if self.scale is None else self.scale

    def vectors(
        self,
        kind: Literal["q", "k"],
        normed: Float[Tensor, "parts d"],
        head: int,
        positions: PositionEncoding,
        position: int,
    ) -> Float[Tensor, "parts qk_dim"]:
        """The query or key of a head at one position, as a sum of parts: one for each part of the normed stream.

        The last part gets the biases. Norms on the way divide each part by what they divide the whole by. float64, on
        the CPU.
        """
        raise NotImplementedError

    def heads(self, x: Float[Tensor, "B T width"], n: int) -> Float[Tensor, "B n T per_head"]:
        """A projection as `n` heads."""
        return torch.unflatten(x, -1, (n, -1)).transpose(1, 2)

    def _share(self, kv: Float[Tensor, "B n_kv_heads S width"]) -> Float[Tensor, "B n_heads S width"]:
        """Repeat each K/V head for the query heads of its group."""
        return kv.repeat_interleave(self.n_heads // self.n_kv_heads, dim=1)


def _by_text(values: Tensor) -> Tensor:
    """What is the same for every text of a batch, (n_heads, T, S), with a first dimension for them."""
    return values[None] if values.ndim == 3 else values


def _with_nonfinite(
    mixed: Float[Tensor, "B n_heads T width"], q: Float[Tensor, "B n_heads T qk_dim"]
) -> Float[Tensor, "B n_heads T width"]:
    """What the heads mixed, not finite where the query is not.

    PyTorch's fused kernel for CPUs with AVX-512 gives zeros for a query whose scores are all NaN, which would hide
    damaged weights; 0·q is NaN there and 0 elsewhere.
    """
    if q.device.type != "cpu":
        return mixed
    return torch.add(mixed, q if q.shape[-1] == mixed.shape[-1] else q.abs().amax(-1, keepdim=True), alpha=0)


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

    def forward(self, x: Float[Tensor, "B T d"], at: Pass) -> Float[Tensor, "B T d"]:
        """Attend from these T tokens to themselves, and to the tokens before them that the cache holds."""
        q, k, v = self.project(x, at.positions)
        if at.cache is not None:
            k, v = at.cache.write(at.layer, at.start, k, v)
        return self.o_proj(self.mix(q, k, v, at.positions.bias, at.positions.mask, at.eager).flatten(2))

    def project(self, x: Float[Tensor, "B T d"], positions: PositionEncoding) -> tuple[Tensor, Tensor, Tensor]:
        """q (B, n_heads, T, head_dim), k and v (B, n_kv_heads, T, head_dim), q and k rotated to their positions."""
        q, k, v = self.qkv_proj(x)
        q, k, v = self.heads(q, self.n_heads), self.heads(k, self.n_kv_heads), self.heads(v, self.n_kv_heads)
        if self.q_norm is not None and self.k_norm is not None:
            q, k = self.q_norm(q), self.k_norm(k)
        q, k, v = self.q(q), self.k(k), self.v(v)
        if positions.bias is not None:
            return q, k, v
        return self.q_rot(positions.rotate(q)), self.k_rot(positions.rotate(k)), v

    def vectors(
        self,
        kind: Literal["q", "k"],
        normed: Float[Tensor, "parts d"],
        head: int,
        positions: PositionEncoding,
        position: int,
    ) -> Float[Tensor, "parts qk_dim"]:
        parts = self.before_rotation(kind, normed, head)
        return positions.at(position).rotate(parts[None, :, None])[0, :, 0]

    def before_rotation(
        self, kind: Literal["q", "k"], normed: Float[Tensor, "parts d"], head: int
    ) -> Float[Tensor, "parts head_dim"]:
        """As `vectors`, before RoPE rotates them."""
        number, norm = (head, self.q_norm) if kind == "q" else (head * self.n_kv_heads // self.n_heads, self.k_norm)
        start = number * self.head_dim + (0 if kind == "q" else self.qkv_proj.rows[0])
        rows = slice(start, start + self.head_dim)
        parts = normed @ self.qkv_proj.weight[rows].detach().to(normed).T
        if self.qkv_proj.bias is not None:
            parts[-1] += self.qkv_proj.bias[rows].detach().to(normed)
        return parts if norm is None else norm.normalise_parts(parts, norm.divisor(parts.sum(0)))


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

    def forward(self, x: Float[Tensor, "B T d"], at: Pass) -> Float[Tensor, "B T d"]:
        """Attend from these T tokens to all S tokens of the source, whose keys and values the cache holds."""
        seen = None
        if at.cache is not None and at.cache.source is not None:
            k, v = (part[: len(x)] for part in at.cache.source[at.layer])
            seen = None if at.cache.source_mask is None else at.cache.source_mask[: len(x)]
        else:
            assert isinstance(at.positions, Bias)
            assert at.positions.memory is not None
            k, v = self.keys_and_values(at.positions.memory)
        q, k, v = self.q(self.heads(self.q_proj(x), self.n_heads)), self.k(k), self.v(v)
        if seen is None:
            seen = torch.ones(q.shape[2], k.shape[2], dtype=torch.bool, device=q.device)
        return self.o_proj(self.mix(q, k, v, None, seen, at.eager).flatten(2))

    def keys_and_values(self, memory: Float[Tensor, "B S d"]) -> tuple[Tensor, Tensor]:
        """Of the source's tokens, (B, n_heads, S, head_dim) each."""
        k, v = self.kv_proj(memory)
        return self.heads(k, self.n_heads), self.heads(v, self.n_heads)
