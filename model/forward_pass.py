"""What a layer must know of a forward pass, beside the stream that it reads."""

from typing import NamedTuple

from .cache import KVCache
from .masks import Start
from .positions import PositionEncoding


class Pass(NamedTuple):
    """One layer's share of a forward pass over T new tokens, whose queries meet S = start + T keys.

    positions: where the T tokens stand. It rotates queries and keys, or holds a bias (n_heads, T, S) on the scores; its
        mask (T, S) says which keys a query sees.
    layer: the layer's number, from 0. It chooses the layer's tensors in the cache.
    cache: keys and values of the `start` tokens before; the layer adds those of the T new ones. None: there are no
        tokens before, and nothing is kept.
    start: the position of the first of the T tokens, for all sequences or for each.
    eager: attention writes its softmax out, so that taps see scores and weights; otherwise a fused kernel runs.
    """

    positions: PositionEncoding
    layer: int = 0
    cache: KVCache | None = None
    start: Start = 0
    eager: bool = False
