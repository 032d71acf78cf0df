"""Why q·k is divided by √d before the softmax (Vaswani et al. 2017, arXiv 1706.03762, section 3.2.1, footnote 4).

Entries of q and k that are independent, with mean 0 and variance 1, have a q·k of variance d. Undivided, such scores
lie so far apart that one weight is nearly 1. All others are nearly 0, and the gradient of the softmax nearly vanishes.
"""

import torch
from jaxtyping import Float
from torch import Tensor


def weights_at(products: Float[Tensor, "*rows keys"], divisor: float) -> Float[Tensor, "*rows keys"]:
    """softmax(q·k / divisor); the paper's divisor is √d. Raises ValueError for a divisor that is not above 0."""
    if not divisor > 0:
        raise ValueError(f"divisor is {divisor}; expected a number above 0, such as the square root of the width")
    return (products / divisor).softmax(-1)


def softmax_gradient(weights: Float[Tensor, "*rows keys"]) -> Float[Tensor, "*rows keys keys"]:
    """How each weight of a row follows each score, ∂aᵢ/∂sⱼ = aᵢ(δᵢⱼ − aⱼ): diag(a) − aaᵀ."""
    return weights.diag_embed() - weights[..., :, None] * weights[..., None, :]


def gradient_size(weights: Float[Tensor, "*rows keys"]) -> Float[Tensor, "*rows"]:
    """The trace of that matrix, Σ aᵢ(1 − aᵢ) = 1 − Σ aᵢ². It is positive semidefinite: with a trace of 0 all is 0."""
    return 1 - weights.square().sum(-1)


def entropy(weights: Float[Tensor, "*rows keys"]) -> Float[Tensor, "*rows"]:
    """−Σ aᵢ ln aᵢ in nats: ln(keys) for equal weights, 0 where one key has all."""
    return torch.special.entr(weights).sum(-1)


def spread_expected(q: Float[Tensor, "*rows d"], k: Float[Tensor, "*keys d"]) -> float:
    """√d · rms(q) · rms(k): the standard deviation that q·k would have if all entries were independent, with mean 0."""
    return q.shape[-1] ** 0.5 * float(q.square().mean().sqrt() * k.square().mean().sqrt())
