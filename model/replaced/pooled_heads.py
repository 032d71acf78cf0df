"""The same network with another number of K/V heads: from MHA by way of GQA to MQA, by mean pooling.

Ainslie et al. 2023 (arXiv 2305.13245, section 2.1) make a GQA network of a trained MHA network so: the projection
matrices of each group's K/V heads are averaged. Then they train it further, which nobody does here. A network with few
K/V heads is taken as one where each query head has the K/V head that it reads: with more heads than it has, its own
are repeated, and nothing changes.

The loaded weights stay as they are.
"""

from dataclasses import replace

import torch
from jaxtyping import Float
from torch import Tensor, nn

from ..attention import Attention
from ..module import apart
from ..network import Layer, Network
from ..stacked import StackedLinear


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


def pooled_attention(attn: Attention, count: int) -> Attention:
    """The same heads on `count` K/V heads: W_Q and W_O as they are, the rows of W_K and W_V pooled."""
    given, width = attn.qkv_proj, count * attn.head_dim
    weight = _pooled_rows(given.weight, attn, count)
    made = apart(attn)
    made.qkv_proj = StackedLinear(weight.shape[1], given.rows[0], width, width).to(weight)
    made.qkv_proj.weight = nn.Parameter(weight, requires_grad=False)
    if given.bias is not None:
        made.qkv_proj.bias = nn.Parameter(_pooled_rows(given.bias[:, None], attn, count)[:, 0], requires_grad=False)
    made.n_kv_heads = count
    return made


@torch.no_grad()
def _pooled_rows(rows: Float[Tensor, "given width"], attn: Attention, count: int) -> Float[Tensor, "made width"]:
    """W_Q's rows as they are; those of W_K and W_V as heads, pooled."""
    q, *others = rows.split_with_sizes(attn.qkv_proj.rows)
    heads = [kv.unflatten(0, (attn.n_kv_heads, -1)).flatten(1) for kv in others]
    return torch.cat([q, *(pooled(kv, attn.n_heads, count).reshape(-1, rows.shape[1]) for kv in heads)])


def with_kv_heads(net: Network, count: int) -> Network:
    """A network with `count` K/V heads in every layer, which shares the weights of `net` and leaves it as it is.

    Raises ValueError for a number that its query heads cannot share evenly.
    """
    if count not in head_counts(net.config.n_heads):
        raise ValueError(f"n_heads ({net.config.n_heads}) is not a multiple of the number of K/V heads ({count})")
    made = apart(net)
    made.layers = nn.ModuleList(_layer(net.block(layer), count) for layer in range(net.config.n_layers))
    made.config = replace(net.config, n_kv_heads=count)
    return made


def _layer(block: Layer, count: int) -> Layer:
    made = apart(block)
    assert isinstance(block.attn, Attention)
    made.attn = pooled_attention(block.attn, count)
    return made
