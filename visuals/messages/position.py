"""What the chapter on RoPE is sent."""

from typing_extensions import TypedDict

from .arrays import Packed


class ScaledFrequencies(TypedDict):
    """A model's frequencies under one method: `inv_freq` (pairs,) float32, radians per token, and what cos and sin are
    multiplied by."""

    name: str
    inv_freq: Packed
    attention_scaling: float


class RopeScalingsDetail(TypedDict):
    """The methods in order, the model's own first; `original` is the context that they stretch, in tokens."""

    original: int
    methods: list[ScaledFrequencies]
