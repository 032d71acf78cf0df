"""Sinusoidal positions, as the first Transformer has them (Vaswani et al. 2017, arXiv 1706.03762, section 3.5).

Each position has a vector of its own, which no training changes, and which is added to the token's vector. Its
frequencies are those of RoPE with base 10,000; only the width differs, d_model in place of head_dim.
"""

import torch
from jaxtyping import Float
from torch import Tensor

BASE = 10_000.0


def sinusoidal_frequencies(width: int) -> Float[Tensor, "pairs"]:
    """10000^(−2i/width) for pair i, in radians per position, float64; of an odd width the last has a sine alone."""
    return BASE ** -(torch.arange(0, width, 2, dtype=torch.float64) / width)


def sinusoidal_positions(tokens: int, width: int) -> Float[Tensor, "tokens width"]:
    """PE(pos, 2i) = sin(pos · 10000^(−2i/width)) and PE(pos, 2i + 1) = cos of the same, for pos = 0 … tokens − 1.

    Worked out in float64, given in float32. Marian and others put all sines before all cosines: the same numbers in
    another order of channels.
    """
    angles = torch.arange(tokens, dtype=torch.float64)[:, None] * sinusoidal_frequencies(width)
    return torch.stack((angles.sin(), angles.cos()), -1).flatten(-2)[:, :width].float()
