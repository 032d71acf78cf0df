"""BatchNorm (Ioffe and Szegedy 2015, arXiv 1502.03167), on the vectors of one run: its batch is the run's tokens.

Each channel has statistics of its own, taken over the tokens, where LayerNorm and RMSNorm have them of each token over
its channels. A trained network keeps running means of them for later use; here they are those of the batch, as in
training. Symbols: T tokens, d channels.
"""

from typing import NamedTuple

import torch
from jaxtyping import Float
from torch import Tensor


class BatchStatistics(NamedTuple):
    """Mean and variance of each channel over the tokens. The variance divides by T, as Algorithm 1 has it."""

    mean: Float[Tensor, "d"]
    variance: Float[Tensor, "d"]


def batch_statistics(x: Float[Tensor, "T d"]) -> BatchStatistics:
    """Algorithm 1, steps 1 and 2, in float32. Of one token the variance is 0 in every channel."""
    wide = x.float()
    return BatchStatistics(wide.mean(0), wide.var(0, correction=0))


def batch_norm(x: Float[Tensor, "T d"], statistics: BatchStatistics, eps: float) -> Float[Tensor, "T d"]:
    """(x − mean) / √(variance + eps), Algorithm 1, step 3; γ and β left out."""
    return (x.float() - statistics.mean) * torch.rsqrt(statistics.variance + eps)
