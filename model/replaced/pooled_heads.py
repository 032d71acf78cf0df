"""The same network with another number of K/V heads: from MHA by way of GQA to MQA, by mean pooling.

Ainslie et al. 2023 (arXiv 2305.13245, section 2.1) make a GQA network of a trained MHA network so: the projection
matrices of each group's K/V heads are averaged. Then they train it further, which nobody does here. A network with few
K/V heads is taken as one where each query head has the K/V head that it reads: with more heads than it has, its own
are repeated, and nothing changes.

The loaded weights stay as they are. A linear projection's mean is the mean of its outputs, so these are pooled.
"""

from copy import copy
from typing import TypeVar

from jaxtyping import Float
from torch import Tensor, nn

from ..attention import Attention
from ..module import Module
from ..network import Layer, Network

M = TypeVar("M", bound=nn.Module)


def head_counts(n_heads: int) -> list[int]:
    """Numbers of K/V heads that so many query heads can share evenly: the divisors, from 1 (MQA) to all (MHA)."""
    return [count for count in range(1, n_heads + 1) if n_heads % count == 0]


def can_be_pooled(net: Network) -> bool:
    """Whether keys and values are projections of the one stream that there is: not so under MLA, nor with two."""
    return len(net.stacks) == 1 and isinstance(net.block(0).attn, Attention)


def pooled(heads: Float[Tensor, "*batch given width"], n_heads: int, count: int) -> Float[Tensor, "*batch count width"]:
    """K/V heads as `count` ones: each is the mean of those that its share of the query heads reads.

    Raises ValueError where `n_heads` is not a multiple of both.
    """
    given = heads.shape[-2]
    for number in (given, count):
        if number < 1 or n_heads % number:
            raise ValueError(f"n_heads ({n_heads}) is not a multiple of the number of K/V heads ({number})")
    if count % given == 0:  # no mean, so that nothing is rounded
        return heads.repeat_interleave(count // given, -2)
    read = heads.repeat_interleave(n_heads // given, -2)
    return read.unflatten(-2, (count, n_heads // count)).mean(-2)


class PooledProjection(Module):
    """W_Q as it is, and W_K and W_V with their heads pooled."""

    def __init__(self, given: nn.Module, n_heads: int, n_kv_heads: int, count: int):
        super().__init__()
        self.given, self.n_heads, self.n_kv_heads, self.count = given, n_heads, n_kv_heads, count

    def forward(self, x: Float[Tensor, "*batch d"]) -> tuple[Tensor, Tensor, Tensor]:
        """q, k and v of x, each flat: k and v of `count` heads."""
        q, k, v = self.given(x)
        return q, self._pooled(k), self._pooled(v)

    def _pooled(self, kv: Float[Tensor, "*batch width"]) -> Tensor:
        return pooled(kv.unflatten(-1, (self.n_kv_heads, -1)), self.n_heads, self.count).flatten(-2)


def with_kv_heads(net: Network, count: int) -> Network:
    """A network with `count` K/V heads in every layer, which shares the weights of `net` and leaves it as it is.

    Raises ValueError for a number that its query heads cannot share evenly.
    """
    if count not in head_counts(net.config.n_heads):
        raise ValueError(f"n_heads ({net.config.n_heads}) is not a multiple of the number of K/V heads ({count})")
    made = _apart(net)
    made.layers = nn.ModuleList(_layer(net.block(layer), count) for layer in range(net.config.n_layers))
    return made


def _layer(block: Layer, count: int) -> Layer:
    made = _apart(block)
    assert isinstance(block.attn, Attention)
    attn = _apart(block.attn)
    attn.qkv_proj = PooledProjection(attn.qkv_proj, attn.n_heads, attn.n_kv_heads, count)  # type: ignore[assignment]
    attn.n_kv_heads = count
    made.attn = attn
    return made


def _apart(module: M) -> M:
    """A copy with the same parts, of which one can be put in another's place."""
    made = copy(module)
    made._modules = dict(module._modules)
    return made
