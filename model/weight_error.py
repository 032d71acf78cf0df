"""What a network's answers lose by weights that are stored in fewer bits: measured, on a text."""

from typing import NamedTuple

import torch
from jaxtyping import Float, Int
from torch import Tensor

from .network import Network

# What is measured on, where nothing else is asked for.
TEXT = (
    "The capital of France is Paris, and the capital of Germany is Berlin. A boy went to the river with his father. "
    "They saw a small bird in a tree, and the boy asked what it was."
)


class WeightError(NamedTuple):
    """Differences between two networks' answers after each of `tokens` tokens of a text.

    `logit_rms` and `logit_max` are of the logits' differences; `kl` is the mean over the tokens of KL(exact || stored)
    in nats, and `same` the share of the tokens after which both have the same most probable one.
    """

    tokens: int
    logit_rms: float
    logit_max: float
    kl: float
    same: float


@torch.inference_mode()
def every_logit(net: Network, ids: Int[Tensor, "1 T"]) -> Float[Tensor, "T V"]:
    """The logits after each token; a network with an encoder reads the text and writes it."""
    return (net(ids, ids) if hasattr(net, "encoder") else net(ids))[0].float()


def weight_error(exact: Float[Tensor, "T V"], stored: Float[Tensor, "T V"]) -> WeightError:
    """The differences of two networks' logits."""
    apart = exact - stored
    p, q = exact.double().log_softmax(-1), stored.double().log_softmax(-1)
    return WeightError(
        len(exact),
        float(apart.square().mean().sqrt()),
        float(apart.abs().max()),
        float((p.exp() * (p - q)).sum(-1).mean()),
        float((exact.argmax(-1) == stored.argmax(-1)).double().mean()),
    )
