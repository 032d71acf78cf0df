"""What the chapter on the norms is sent."""

from typing_extensions import TypedDict

from .arrays import Packed


class NormVectorsDetail(TypedDict):
    """What a norm reads, `before` (T, d), or (1, d) of one token; its `gamma` and `beta` (d,), float32."""

    before: Packed
    gamma: Packed
    beta: Packed | None


class NormDepthDetail(TypedDict):
    """The K channels of the residual stream with the largest magnitudes: `values` (L + 1, T, K), and `median`
    (L + 1, T) of the magnitudes of all d channels, float32."""

    channels: list[int]
    values: Packed
    median: Packed


class NormKindsDetail(TypedDict):
    """For several norms on one run: what a norm reads at some of its T tokens, `before` (n, d) from token `first` on.

    `mean` and `variance` (d,) are each channel's over all T tokens, as BatchNorm takes them. `branch` (n, d) is what
    the sub-layer adds that reads this norm, null after the last layer; `alpha` is DeepNorm's for the network's depth.
    All float32.
    """

    first: int
    before: Packed
    mean: Packed
    variance: Packed
    branch: Packed | None
    alpha: float


class Timed(TypedDict):
    """Microseconds of one call: the median, and what a quarter of the rounds were below and above."""

    median: float
    low: float
    high: float


class NormTimesDetail(TypedDict):
    """How long LayerNorm and RMSNorm took on a norm's input (T, d), as torch offers them (`fused`) and `written` out.

    `rounds` of each; `bytes_layer` and `bytes_rms` are read and written at the least.
    """

    layer_fused: Timed
    rms_fused: Timed
    layer_written: Timed
    rms_written: Timed
    rounds: int
    threads: int
    bytes_layer: int
    bytes_rms: int


class NormPlacementDetail(TypedDict):
    """What was added to a run's stream, at n of its tokens from token `first` on (model/replaced/norm_placement.py).

    `layers` and `parts` (S) name each branch; a part is "attn", "cross", "ffn" or "both". `lengths` (n, S + 1), `mean`
    (n,) and `products` (n, P) are float32. `decoder_layers` is there for an encoder, whose α depends on it.
    """

    first: int
    layers: list[int]
    parts: list[str]
    lengths: Packed
    mean: Packed
    products: Packed
    decoder_layers: int | None
