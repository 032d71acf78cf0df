"""RMSNorm, the normalisation of every LLaMA (Zhang and Sennrich 2019, arXiv 1910.07467)."""

import torch
from jaxtyping import Float
from torch import Tensor, nn


def rms(x: Float[Tensor, "*batch d"], eps: float) -> Float[Tensor, "*batch"]:
    """Root mean square over the last axis, sqrt(mean(x²) + eps), as LLaMA computes it (arXiv 1910.07467, eq. 4).

    The paper's formula has no eps; Meta's code adds it inside the root. Accumulates in float32.
    """
    return torch.sqrt(x.float().square().mean(-1) + eps)


class RMSNorm(nn.Module):
    """x / rms(x) · γ. Unlike LayerNorm it subtracts no mean and adds no bias; γ (`weight`) is one factor a channel."""

    def __init__(self, d_model: int, eps: float):
        super().__init__()
        self.weight = nn.Parameter(torch.ones(d_model))
        self.eps = eps

    def forward(self, x: Float[Tensor, "*batch d"]) -> Float[Tensor, "*batch d"]:
        wide = x.float()
        normed = wide * torch.rsqrt(wide.square().mean(-1, keepdim=True) + self.eps)
        return self.weight * normed.to(x.dtype)
