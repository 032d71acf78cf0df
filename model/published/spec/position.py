"""How a model encodes positions."""

from dataclasses import dataclass
from typing import Literal


@dataclass(frozen=True)
class ScalingSpec:
    """How RoPE's frequencies are stretched. Fields as in Hugging Face's config; None where the kind has none."""

    kind: str
    factor: float
    original_max_context: int | None = None
    low_freq_factor: float | None = None
    high_freq_factor: float | None = None
    beta_fast: float | None = None
    beta_slow: float | None = None
    mscale: float | None = None
    mscale_all_dim: float | None = None


@dataclass(frozen=True)
class PositionSpec:
    """`rotary_dim` is the part of head_dim that RoPE rotates. `theta` is RoPE's base, `local_theta` that of
    layers that see a window alone, where it is another.

    `buckets` counts T5's distances. `unused_rows` stand in a learned table before its first position (OPT).
    """

    kind: Literal["rope", "learned", "sinusoidal", "alibi", "t5_bias", "none"]
    theta: float | None = None
    local_theta: float | None = None
    rotary_dim: int | None = None
    layout: Literal["half", "interleaved"] = "half"
    scaling: ScalingSpec | None = None
    buckets: int | None = None
    note: str = ""
    unused_rows: int = 0
