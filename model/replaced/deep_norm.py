"""DeepNorm (Wang et al. 2022, arXiv 2203.00555): LayerNorm(α·x + f(x)), so that post-norm trains at 1,000 layers.

α makes the residual stream x larger, not the branch f. At the start of training the weights that write to the stream
(the feed-forward's, W_V and W_O; not W_Q and W_K) are multiplied by β. Both follow from the depth alone.
Symbols: N layers of an encoder, M of a decoder, d channels.
"""

from typing import NamedTuple

import torch.nn.functional as F
from jaxtyping import Float
from torch import Tensor


class DeepScales(NamedTuple):
    """`alpha` multiplies the residual stream in every forward pass, `beta` some weights once, before training."""

    alpha: float
    beta: float


def one_stack_scales(layers: int) -> DeepScales:
    """Of a network with a decoder alone, or an encoder alone (the paper's Figure 2)."""
    return DeepScales((2 * layers) ** 0.25, (8 * layers) ** -0.25)


def decoder_scales(decoder_layers: int) -> DeepScales:
    """Of the decoder beside an encoder (Figure 2)."""
    return DeepScales((3 * decoder_layers) ** 0.25, (12 * decoder_layers) ** -0.25)


def encoder_scales(encoder_layers: int, decoder_layers: int) -> DeepScales:
    """Of the encoder beside a decoder (Figure 2)."""
    both = encoder_layers**4 * decoder_layers
    return DeepScales(0.81 * both ** (1 / 16), 0.87 * both ** (-1 / 16))


def deep_norm(
    x: Float[Tensor, "*batch d"], branch: Float[Tensor, "*batch d"], alpha: float, eps: float
) -> Float[Tensor, "*batch d"]:
    """LayerNorm(alpha·x + branch), γ and β of the LayerNorm left out; with alpha 1 it is post-norm."""
    return F.layer_norm(alpha * x + branch, x.shape[-1:], eps=eps)
