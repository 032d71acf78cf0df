"""What the chapter on RoPE asks of a model: its frequencies under each way to stretch them to longer contexts."""

from dataclasses import replace
from typing import NamedTuple

import numpy as np
from jaxtyping import Float

from model import LlamaConfig
from model.config import RopeScaling
from model.positions import rope_frequencies

from .messages.position import RopeScalingsDetail, ScaledFrequencies
from .payload import pack

FACTORS = (2, 4, 8, 16, 32)


class Scaled(NamedTuple):
    """A model's frequencies under one method: radians per token, and what cos and sin are multiplied by."""

    name: str
    inv_freq: Float[np.ndarray, "pairs"]
    attention_scaling: float


def trained_context(config: LlamaConfig) -> int:
    """Tokens of the context before any scaling that the model itself may have."""
    scaling = config.rope_scaling
    return config.max_context if scaling is None else scaling.original_max_context


def scalings_info(config: LlamaConfig, factor: float) -> list[Scaled]:
    """The model's own frequencies, then none, linear, dynamic NTK, YaRN and llama3, stretching by `factor`.

    All by model/positions.py. Dynamic NTK depends on the length of the sequence: here it is the stretched context.
    llama3 takes the bounds of Llama 3.1, one and four turns within the original context; YaRN its paper's, 1 and 32.
    """
    original = trained_context(config)
    methods = {
        "none": None,
        "linear": RopeScaling("linear", factor, original),
        # At factor × the context the base is θ·(factor·factor − (factor − 1))^(d/(d−2)) with Hugging Face's factor;
        # with factor 1 there, it is the plain NTK-aware base θ·factor^(d/(d−2)).
        "dynamic": RopeScaling("dynamic", 1.0, original),
        "yarn": RopeScaling("yarn", factor, original),
        "llama3": RopeScaling("llama3", factor, original, low_freq_factor=1.0, high_freq_factor=4.0),
    }
    if config.rotary_dim == 2:
        del methods["dynamic"]  # it would divide by zero: its exponent is d / (d − 2), d channels being rotated
    own = rope_frequencies(config)
    found = [Scaled("model", own.inv_freq.numpy(), own.attention_scaling)]
    for name, scaling in methods.items():
        changed = replace(config, rope_scaling=scaling, max_context=original)
        frequencies = rope_frequencies(changed, round(original * factor))
        found.append(Scaled(name, frequencies.inv_freq.numpy(), frequencies.attention_scaling))
    return found


def scalings_payload(scalings: list[Scaled], original: int) -> RopeScalingsDetail:
    """The methods in order; `original` is the context that they stretch, in tokens."""
    methods: list[ScaledFrequencies] = [
        {"name": s.name, "inv_freq": pack(s.inv_freq, "f4"), "attention_scaling": s.attention_scaling} for s in scalings
    ]
    return {"original": original, "methods": methods}
