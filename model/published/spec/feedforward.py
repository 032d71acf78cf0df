"""The feed-forward block of a layer."""

from dataclasses import dataclass


@dataclass(frozen=True)
class FfnSpec:
    """`gated`: three matrices (SwiGLU, GeGLU), not two. `parallel`: it reads the same input as attention."""

    activation: str
    gated: bool
    parallel: bool = False
