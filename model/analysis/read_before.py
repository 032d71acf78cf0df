"""Tokens that two texts share at their start are read once; runs from there on see their keys and values.

With causal attention no token sees those after it: what is changed from one token on leaves the ones before as they
are. Knows nothing about what is changed.
"""

import torch
from jaxtyping import Float, Int
from torch import Tensor

from ..cache import KVCache
from ..checkpoint import LanguageModel
from ..masks import Start
from ..network import Network


class ReadBefore(KVCache):
    """The first `count` tokens of a text that a cache holds, for any number of rows; it keeps nothing more.

    Gradients pass through the keys and values of the tokens after them.
    """

    def __init__(self, read: KVCache, count: int):
        self.capacity = count
        self.keys, self.values = ([held[:, :, :count] for held in kind] for kind in (read.keys, read.values))

    def write(
        self,
        layer: int,
        start: Start,
        k: Float[Tensor, "B n_kv_heads T head_dim"],
        v: Float[Tensor, "B n_kv_heads T v_head_dim"],
    ) -> tuple[Float[Tensor, "B n_kv_heads S head_dim"], Float[Tensor, "B n_kv_heads S v_head_dim"]]:
        """Keys and values of the tokens before and of these, which every row has for itself."""
        before = self.keys[layer], self.values[layer]
        keys, values = (
            torch.cat([held.expand(len(new), -1, -1, -1), new], 2) for held, new in zip(before, (k, v), strict=True)
        )
        return keys, values


def is_causal(net: Network) -> bool:
    """Whether a network has one stack, in which no token sees those after it."""
    if len(net.stacks) > 1:
        return False
    mask = net.positions(0, 2).mask
    return mask is None or not bool(mask[0, 1])


def read_text_once(lm: LanguageModel, ids: Int[Tensor, "1 T"]) -> KVCache:
    """The cache of a causal network that has read this text, which may be empty."""
    count = ids.shape[1]
    with torch.no_grad():  # in inference mode, no gradient could pass later
        cache = lm.net.cache(count)
        if count:
            lm.net(ids, cache, last_only=True)
    return cache
