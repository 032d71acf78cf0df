"""How wide LLaMA makes its feed-forward: two thirds of the 4d that a network without a gate has, then rounded up.

A gated unit has three matrices where there were two, so that two thirds of the width keep the parameters equal (Shazeer
2020, arXiv 2002.05202, section 2). The steps are those of Meta's llama-models, models/llama3/model.py, FeedForward.
"""

import math
from collections.abc import Mapping
from types import MappingProxyType
from typing import NamedTuple

POWERS = tuple(2**power for power in range(9))  # multiples that are tried: coarser ones fit almost any width


class WidthSteps(NamedTuple):
    """The width after each step: 4d, ⅔ of it cut to a whole number, that times a factor and cut again, rounded up."""

    four: int
    thirds: int
    scaled: int
    width: int


class WidthRule(NamedTuple):
    """What a model's params.json says: `ffn_dim_multiplier`, 1 where there is none, and `multiple_of`."""

    multiplier: float
    multiple_of: int


# Read in Meta's params.json, as llama-models' sku_list.py has them; TinyLlama's is lit-gpt's, which is the same rule.
PUBLISHED: Mapping[str, WidthRule] = MappingProxyType(
    {
        "LLaMA-1 7B": WidthRule(1.0, 256),
        "LLaMA-1 13B": WidthRule(1.0, 256),
        "LLaMA-1 33B": WidthRule(1.0, 256),
        "LLaMA-1 65B": WidthRule(1.0, 256),
        "Llama-2 7B": WidthRule(1.0, 256),
        "Llama-2 13B": WidthRule(1.0, 256),
        "Llama-2 70B": WidthRule(1.3, 4096),
        "Llama-3 8B": WidthRule(1.3, 1024),
        "Llama-3 70B": WidthRule(1.3, 4096),
        "Llama-3.1 405B": WidthRule(1.2, 4096),
        "Llama-3.2 1B": WidthRule(1.5, 256),
        "Llama-3.2 3B": WidthRule(1.0, 256),
        "TinyLlama-1.1B": WidthRule(1.0, 256),
    }
)


def llama_width(d_model: int, rule: WidthRule) -> WidthSteps:
    """The width that the rule gives. Raises ValueError where a number is not above 0."""
    for name, value in (("d_model", d_model), *rule._asdict().items()):
        if value <= 0:
            raise ValueError(f"{name} is {value}; expected a number above 0.")
    four = 4 * d_model
    thirds = int(2 * four / 3)
    scaled = int(rule.multiplier * thirds)
    return WidthSteps(four, thirds, scaled, rule.multiple_of * math.ceil(scaled / rule.multiple_of))


def ffn_parameters(d_model: int, width: int, gated: bool) -> int:
    """Numbers in the matrices of a feed-forward: three of them with a gate, two without; no biases."""
    return (3 if gated else 2) * d_model * width


def fitting_multiples(d_model: int, width: int, multiplier: float = 1.0) -> list[int]:
    """Powers of two up to 256 with which the rule gives this width."""
    return [one for one in POWERS if llama_width(d_model, WidthRule(multiplier, one)).width == width]
