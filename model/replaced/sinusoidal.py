"""Sinusoidal positions, as the first Transformer has them (Vaswani et al. 2017, arXiv 1706.03762, section 3.5).

Each position has a vector of its own, which no training changes, and which is added to the token's vector. Its
frequencies are those of RoPE with base 10,000; only the width differs, d_model in place of head_dim.
"""

from collections.abc import Callable

import torch
from jaxtyping import Float, Int
from torch import Tensor

from ..masks import Start, places

BASE = 10_000.0


def sinusoidal_frequencies(width: int) -> Float[Tensor, "pairs"]:
    """10000^(−2i/width) for pair i, in radians per position, float64; of an odd width the last has a sine alone."""
    return BASE ** -(torch.arange(0, width, 2, dtype=torch.float64) / width)


def sinusoids(positions: Int[Tensor, "*batch"], width: int) -> Float[Tensor, "*batch width"]:
    """PE(pos, 2i) = sin(pos · 10000^(−2i/width)) and PE(pos, 2i + 1) = cos of the same, for each of these positions.

    Worked out in float64, given in float32. Marian and others put all sines before all cosines: the same numbers in
    another order of channels.
    """
    angles = positions.double()[..., None] * sinusoidal_frequencies(width).to(positions.device)
    return torch.stack((angles.sin(), angles.cos()), -1).flatten(-2)[..., :width].float()


def sinusoidal_positions(tokens: int, width: int) -> Float[Tensor, "tokens width"]:
    """The vectors of positions 0 … tokens − 1."""
    return sinusoids(torch.arange(tokens), width)


def with_sinusoids(
    embed: Callable[[Tensor, Start], Tensor], ids: Tensor, start: Start = 0
) -> Float[Tensor, "*batch d"]:
    """The stream before the first layer with PE(pos) added to each token's vector, in that vector's dtype.

    The vector is added as it is. The paper multiplies the embedding by √d first, which its network is trained with.
    """
    x = embed(ids, start)
    at = places(start, ids.shape[-1], x.device)
    return x + sinusoids(at if at.ndim == 1 else at[:, 0], x.shape[-1]).to(x.dtype)
