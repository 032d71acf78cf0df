"""The weights that a network begins to learn from."""

import torch
from torch import Tensor, nn

from ..attention import Attention, CrossAttention
from .optimisers import tables


@torch.no_grad()
def initialise(net: nn.Module, seed: int) -> None:
    """Normal weights that keep a vector's length; what writes to the residual stream begins at 0, the tables small.

    So every block begins as the identity, as in nanochat (github.com/karpathy/nanochat, gpt.py). Biases begin at 0,
    norms at 1. Where scores are q·k as it is, and not divided by √head_dim (T5), what makes q begins as much smaller.
    """
    random = torch.Generator().manual_seed(seed)
    rows = tables(net)
    for name, weight in net.named_parameters():
        if weight.dim() == 2:
            writes = name.endswith(("o_proj.weight", "down_proj.weight"))
            deviation = 0.0 if writes else 0.02 if id(weight) in rows else weight.shape[1] ** -0.5
            weight.copy_(torch.randn(weight.shape, generator=random) * deviation)
        elif name.endswith(".bias"):
            weight.zero_()
    for heads in net.modules():
        if isinstance(heads, Attention | CrossAttention) and heads.scale is not None:
            _queries(heads).mul_(heads.qk_dim**-0.5 / heads.scale)


def _queries(heads: Attention | CrossAttention) -> Tensor:
    """The rows that make the queries."""
    return heads.q_proj.weight if isinstance(heads, CrossAttention) else heads.qkv_proj.weight[: heads.qkv_proj.rows[0]]
