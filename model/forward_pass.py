"""What a layer knows of the forward pass that it takes part in, beside the stream that it reads."""

from typing import NamedTuple

from .cache import KVCache
from .positions import PositionEncoding


class Pass(NamedTuple):
    """One forward pass, as one layer sees it: T new tokens go through, after `start` tokens that the cache holds.

    `positions` tells attention where the T queries and the S = start + T keys stand, and which keys each query sees.
    `layer` counts from 0; the layer writes its keys and values into that part of `cache`. With no cache (None) the T
    tokens are the whole text, and `start` is 0. `eager` has attention compute its scores and weights one by one, so
    that taps can show them; otherwise a fused kernel runs (Heads.mix).
    """

    positions: PositionEncoding
    layer: int = 0
    cache: KVCache | None = None
    start: int = 0
    eager: bool = False
