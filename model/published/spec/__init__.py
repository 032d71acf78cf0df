"""What a published model looks like, as far as its cache and its weights depend on it. Plain data: no torch, no files.

Names are those of docs/ARCHITECTURE.md, Notation: `d_model` is the width of the residual stream, `n_kv_heads` counts
K/V heads, and `head_dim` is a field of its own, never d_model / n_heads.
"""

from .attention import AssumedHeads, AttentionKind, AttentionSpec, FullHeads, HeadsOrigin, LayerKind
from .experts import MoeSpec
from .feedforward import FfnSpec
from .latent import MlaSpec
from .model import TEXT_ALONE, ModelSpec
from .norm import NormSpec
from .position import PositionSpec, ScalingSpec
from .sparse import CompressedSpec, IndexerSpec
from .state import StateSpec
from .weights import Bias, ExtraWeights, PublishedParameters, QuantSpec

__all__ = [
    "TEXT_ALONE",
    "AssumedHeads",
    "AttentionKind",
    "AttentionSpec",
    "Bias",
    "CompressedSpec",
    "ExtraWeights",
    "FfnSpec",
    "FullHeads",
    "HeadsOrigin",
    "IndexerSpec",
    "LayerKind",
    "MlaSpec",
    "ModelSpec",
    "MoeSpec",
    "NormSpec",
    "PositionSpec",
    "PublishedParameters",
    "QuantSpec",
    "ScalingSpec",
    "StateSpec",
]
