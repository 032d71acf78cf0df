"""The activations that feed-forwards had before SwiGLU, and the gated units that SwiGLU is one of.

A feed-forward without a gate writes W_down f(W x); a gated one W_down (f(W x) ⊙ V x) (Shazeer 2020, arXiv 2002.05202,
eq. 1 to 6). LLaMA's W_gate is W, its W_up is V. Of each function f there is its derivative, which is what training
multiplies a neuron's gradient by.
"""

import math
from typing import NamedTuple

import torch
from jaxtyping import Bool, Float
from torch import Tensor

from ..feedforward import ACTIVATIONS, Activation

SIGMOID_FACTOR = 1.702


def gelu_sigmoid(x: Tensor) -> Tensor:
    """x·σ(1.702·x), which comes near GELU (Hendrycks and Gimpel 2016, arXiv 1606.08415); at most 0.0203 off."""
    return x * torch.sigmoid(SIGMOID_FACTOR * x)


FUNCTIONS: dict[str, Activation] = {**ACTIVATIONS, "gelu_sigmoid": gelu_sigmoid, "sigmoid": torch.sigmoid}


def relu_slope(x: Tensor) -> Tensor:
    """1 above 0, else 0: a neuron at or below 0 passes no gradient on (Nair and Hinton 2010)."""
    return (x > 0).to(x.dtype)


def sigmoid_slope(x: Tensor) -> Tensor:
    """σ'(x) = σ(x)·(1 − σ(x)), at most ¼."""
    gate = torch.sigmoid(x)
    return gate * (1 - gate)


def silu_slope(x: Tensor) -> Tensor:
    """(x·σ(x))' = σ(x)·(1 + x·(1 − σ(x))). SiLU is Swish with β = 1 (Ramachandran et al. 2017, arXiv 1710.05941)."""
    gate = torch.sigmoid(x)
    return gate * (1 + x * (1 - gate))


def gelu_slope(x: Tensor) -> Tensor:
    """(x·Φ(x))' = Φ(x) + x·φ(x), with the density φ and the distribution Φ of the standard normal."""
    return torch.special.ndtr(x) + x * torch.exp(-x * x / 2) / math.sqrt(2 * math.pi)


def gelu_new_slope(x: Tensor) -> Tensor:
    """The derivative of ½x·(1 + tanh u), u = √(2/π)·(x + 0.044715·x³)."""
    root = math.sqrt(2 / math.pi)
    bend = torch.tanh(root * (x + 0.044715 * x**3))
    return (1 + bend) / 2 + x / 2 * (1 - bend * bend) * root * (1 + 3 * 0.044715 * x * x)


def gelu_sigmoid_slope(x: Tensor) -> Tensor:
    """(x·σ(ax))' = σ(ax)·(1 + ax·(1 − σ(ax))), a = 1.702."""
    return silu_slope(SIGMOID_FACTOR * x)


SLOPES: dict[str, Activation] = {
    "silu": silu_slope,
    "relu": relu_slope,
    "gelu": gelu_slope,
    "gelu_new": gelu_new_slope,
    "gelu_sigmoid": gelu_sigmoid_slope,
    "sigmoid": sigmoid_slope,
}


def is_zero(function: str, x: Float[Tensor, "*n"]) -> Bool[Tensor, "*n"]:
    """Where f(x) is exactly 0: by the formula, whatever rounding makes of a value near 0."""
    if function == "sigmoid":
        return torch.zeros_like(x, dtype=torch.bool)
    return x <= 0 if function == "relu" else x == 0


class Kind(NamedTuple):
    """A feed-forward by its `function` f (of FUNCTIONS), and whether f(W x) multiplies V x."""

    name: str
    function: str
    gated: bool

    def factor(self, gate: Float[Tensor, "*n"], up: Float[Tensor, "*n"]) -> Float[Tensor, "*n"]:
        """What scales each neuron's column of W_down, of `gate` = W x and `up` = V x, which only a gated one reads."""
        bent = FUNCTIONS[self.function](gate)
        return bent * up if self.gated else bent


# Without a gate (Vaswani et al. 2017 has ReLU), then with one.
KINDS = (
    Kind("relu", "relu", False),
    Kind("swish", "silu", False),
    Kind("gelu", "gelu", False),
    Kind("gelu_new", "gelu_new", False),
    Kind("gelu_sigmoid", "gelu_sigmoid", False),
    Kind("glu", "sigmoid", True),  # Dauphin et al. 2016, arXiv 1612.08083
    Kind("swiglu", "silu", True),
    Kind("reglu", "relu", True),
    Kind("geglu", "gelu", True),
    Kind("geglu_new", "gelu_new", True),
    Kind("geglu_sigmoid", "gelu_sigmoid", True),
)


def kinds_for(gated: bool) -> tuple[Kind, ...]:
    """The kinds that a network's matrices allow: without a V there is nothing for a gate to multiply."""
    return tuple(kind for kind in KINDS if gated or not kind.gated)


def kind_of(activation: str, gated: bool) -> Kind:
    """The kind that a network has. Raises KeyError for an activation that is none of these."""
    for kind in KINDS:
        if (kind.function, kind.gated) == (activation, gated):
            return kind
    raise KeyError(f"no kind of feed-forward has the activation {activation!r} and gated={gated}.")
