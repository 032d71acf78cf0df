"""Scores that are q·k as it is (T5's) are divided by √head_dim while a network learns, as all others' are.

It is the same network: what makes q is as many times larger, and as many times smaller in what is written. But an
optimiser's step has one size for all matrices, and would move undivided scores √head_dim times as far.
"""

from collections.abc import Callable, Iterator
from typing import Any

import torch
from torch import Tensor, nn

from ..attention import Attention, CrossAttention


def scale_scores(build: Callable[[Any], Any]) -> Callable[[Any], Any]:
    """A maker of networks like `build`, but with all scores divided by √head_dim."""

    def made(config: Any) -> Any:
        net = build(config)
        for heads in _undivided(net):
            heads.scale = None
        return net

    return made


@torch.no_grad()
def unscale_scores(net: Any, build: Callable[[Any], Any], config: Any) -> Any:
    """The same network with its family's own scores, as `build` makes it; its query weights make up for the factor."""
    made = build(config).to(net.embed.weight.device)
    made.load_state_dict(net.state_dict())
    for heads in _undivided(made):
        _queries(heads).mul_(heads.qk_dim**-0.5 / heads.scale)
    return made


def _undivided(net: nn.Module) -> Iterator[Any]:
    """The attentions whose q·k has a factor of its own, and is not divided by √head_dim."""
    for heads in net.modules():
        if isinstance(heads, Attention | CrossAttention) and heads.scale is not None:
            yield heads


def _queries(heads: Attention | CrossAttention) -> Tensor:
    """The rows that make the queries."""
    return heads.q_proj.weight if isinstance(heads, CrossAttention) else heads.qkv_proj.weight[: heads.qkv_proj.rows[0]]
