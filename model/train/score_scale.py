"""The scale of attention scores while a network learns: divided by √head_dim, also in families that do not divide (T5).

It is the same network: in what is written, its query weights are √head_dim times smaller, which gives the same scores.
An optimiser's step has one size for all matrices. Without the division it would move the scores √head_dim times as far.
"""

from collections.abc import Callable, Iterator
from typing import Any

import torch
from torch import Tensor, nn

from ..attention import Attention, CrossAttention


def scale_scores(build: Callable[[Any], Any]) -> Callable[[Any], Any]:
    """A function that makes networks as `build` does, but with all scores divided by √head_dim."""

    def made(config: Any) -> Any:
        net = build(config)
        for heads in _attentions_with_scale(net):
            heads.scale = None
        return net

    return made


@torch.no_grad()
def unscale_scores(net: Any, build: Callable[[Any], Any], config: Any) -> Any:
    """The same network with its family's own scale, as `build` makes it. Its query weights make up for the factor."""
    made = build(config).to(net.embed.weight.device)
    made.load_state_dict(net.state_dict())
    for heads in _attentions_with_scale(made):
        _queries(heads).mul_(heads.qk_dim**-0.5 / heads.scale)
    return made


def _attentions_with_scale(net: nn.Module) -> Iterator[Any]:
    """The attentions that multiply q·k by a scale of their own, and do not divide it by √head_dim."""
    for heads in net.modules():
        if isinstance(heads, Attention | CrossAttention) and heads.scale is not None:
            yield heads


def _queries(heads: Attention | CrossAttention) -> Tensor:
    """The rows that make the queries."""
    return heads.q_proj.weight if isinstance(heads, CrossAttention) else heads.qkv_proj.weight[: heads.qkv_proj.rows[0]]
