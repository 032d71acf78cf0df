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
