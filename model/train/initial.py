"""The weights that a network begins to learn from."""

import torch
from torch import nn

from .optimisers import tables


@torch.no_grad()
def initialise(net: nn.Module, seed: int) -> None:
    """Normal weights that keep a vector's length; what writes to the residual stream begins at 0, the tables small.

    So every block begins as the identity, as in nanochat (github.com/karpathy/nanochat, gpt.py). Biases begin at 0,
    norms at 1.
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
