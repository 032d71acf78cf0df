"""RMSNorm, the normalisation of every LLaMA (Zhang and Sennrich 2019, arXiv 1910.07467), and LayerNorm beside it.

A norm says what it subtracts and what it divides by. With these held at their values in a run, a norm is linear: its
output is then a sum, with one part for each part of its input.
"""

import torch
import torch.nn.functional as F
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
        if x.dtype == torch.float32:
            return self.weight * self._over_rms(x)
        return self.weight * self._over_rms(x.float()).to(x.dtype)

    def _over_rms(self, x: Float[Tensor, "*batch d"]) -> Float[Tensor, "*batch d"]:
        return x * torch.rsqrt(x.square().mean(-1, keepdim=True) + self.eps)

    def divisor(self, x: Float[Tensor, "*batch d"]) -> Float[Tensor, "*batch"]:
        """What x is divided by: its root mean square."""
        return rms(x, self.eps)

    def normalise_parts(self, parts: Float[Tensor, "S d"], divisor: Float[Tensor, ""]) -> Float[Tensor, "S d"]:
        """The parts of x, each divided by x's own `divisor` and scaled by γ; they add up to norm(x)."""
        return parts / divisor.to(parts) * self.weight.detach().to(parts)

    def fold_into(self, rows: Float[Tensor, "*rows d"]) -> tuple[Float[Tensor, "*rows d"], Float[Tensor, "*rows"]]:
        """Rows with γ folded in: (directions, constants) in float64.

        norm(x)·row = x·direction / divisor(x) + constant. All constants are 0.
        """
        rows = rows.double()
        return rows * self.weight.detach().to(rows), torch.zeros_like(rows[..., 0])


class LayerNorm(nn.Module):
    """(x - mean(x)) / σ(x) · γ + β (Ba et al. 2016, arXiv 1607.06450), σ² the mean square about the mean, plus eps."""

    def __init__(self, d_model: int, eps: float):
        super().__init__()
        self.weight = nn.Parameter(torch.ones(d_model))
        self.bias = nn.Parameter(torch.zeros(d_model))
        self.eps = eps

    def forward(self, x: Float[Tensor, "*batch d"]) -> Float[Tensor, "*batch d"]:
        return F.layer_norm(x, self.weight.shape, self.weight, self.bias, self.eps)

    def mean(self, x: Float[Tensor, "*batch d"]) -> Float[Tensor, "*batch"]:
        """What is subtracted from x: the mean of its channels."""
        return x.float().mean(-1)

    def divisor(self, x: Float[Tensor, "*batch d"]) -> Float[Tensor, "*batch"]:
        """What x - mean(x) is divided by: its root mean square, which is x's standard deviation."""
        return rms(x.float() - self.mean(x)[..., None], self.eps)

    def normalise_parts(self, parts: Float[Tensor, "S d"], divisor: Float[Tensor, ""]) -> Float[Tensor, "S d"]:
        """The parts of x, each centred, divided by x's own `divisor` and scaled by γ; with β they add up to norm(x)."""
        centred = parts - parts.mean(-1, keepdim=True)
        return centred / divisor.to(parts) * self.weight.detach().to(parts)

    def fold_into(self, rows: Float[Tensor, "*rows d"]) -> tuple[Float[Tensor, "*rows d"], Float[Tensor, "*rows"]]:
        """Rows with γ and β folded in: (directions, constants) in float64.

        norm(x)·row = x·direction / divisor(x) + constant. The mean of the direction is subtracted, which gives the same
        as subtracting the mean of x.
        """
        rows = rows.double()
        scaled = rows * self.weight.detach().to(rows)
        return scaled - scaled.mean(-1, keepdim=True), (rows * self.bias.detach().to(rows)).sum(-1)


Norm = RMSNorm | LayerNorm
