"""The norms of a model."""

from dataclasses import dataclass
from typing import Literal


@dataclass(frozen=True)
class NormSpec:
    """`per_layer` counts the norms over d_model in one decoder layer, without cross-attention's own.

    `qk` says what normalises q and k. "rms_per_head": each head alone, with one weight for each dimension of a head.
    "rms_whole": all heads together, with one weight for each dimension of each head. "layer_per_head": each head alone,
    with as many. "l2": each head alone, without weights.
    `vectors` counts the learned vectors of a norm, where they are not the kind's own: an RMSNorm has a scale, a
    LayerNorm a scale and a shift.
    """

    kind: Literal["RMSNorm", "LayerNorm"]
    placement: str
    eps: float | None = None
    per_layer: int = 2
    after_embedding: bool = False
    qk: Literal["none", "rms_per_head", "rms_whole", "layer_per_head", "l2"] = "none"
    vectors: int | None = None

    @property
    def learned(self) -> int:
        """Learned vectors of one norm."""
        return {"RMSNorm": 1, "LayerNorm": 2}[self.kind] if self.vectors is None else self.vectors
