"""The KV cache: it keeps keys and values of the tokens already read, so that a new token computes only its own.

The caller says where to write: the cache is plain storage, and nothing in it moves by itself.
"""

import torch
from jaxtyping import Float
from torch import Tensor

from .config import NetworkConfig
from .masks import Start


class KVCache:
    """Room for the rotated keys and the values of `capacity` tokens, each (B, n_kv_heads, capacity, head_dim) a layer.

    Queries are not kept: a query is used once, by its own token. A network may keep other tensors in place of keys and
    values; `rows` gives (heads, width) of the two. MLA keeps its latent and its shared key.

    `source` holds by layer the keys and values of a source text, (B, n_heads, S, head_dim) each, where there is one;
    `source_mask` (B, 1, 1, S) is True at a text's own tokens, where sources of several lengths stand side by side.
    """

    source: list[tuple[Tensor, Tensor]] | None = None
    source_mask: Tensor | None = None

    def __init__(
        self,
        config: NetworkConfig,
        capacity: int,
        batch: int = 1,
        dtype: torch.dtype = torch.float32,
        device: torch.device | str = "cpu",
        rows: tuple[tuple[int, int], tuple[int, int]] | None = None,
    ):
        own = (config.n_kv_heads, config.head_dim)
        shapes = [(batch, heads, capacity, width) for heads, width in (rows or (own, own))]
        self.capacity = capacity
        self.keys, self.values = (
            [torch.empty(shape, dtype=dtype, device=device) for _ in range(config.n_layers)] for shape in shapes
        )

    def write(
        self,
        layer: int,
        start: Start,
        k: Float[Tensor, "B n_kv_heads T head_dim"],
        v: Float[Tensor, "B n_kv_heads T v_head_dim"],
    ) -> tuple[Float[Tensor, "B n_kv_heads S head_dim"], Float[Tensor, "B n_kv_heads S v_head_dim"]]:
        """Store T tokens of the first B texts from `start` on; gives their S = start + T keys and values, as views.

        Raises IndexError where they would not fit, and TypeError for Starts: that takes a BatchCache.
        """
        if not isinstance(start, int):
            raise TypeError("sequences that begin at different places need a BatchCache (model/batch_cache.py)")
        end = start + k.shape[2]
        if end > self.capacity:
            raise IndexError(f"{end} tokens do not fit into a KV cache of {self.capacity}")
        keys, values = self.keys[layer][: len(k)], self.values[layer][: len(k)]
        keys.narrow(2, start, k.shape[2]).copy_(k)
        values.narrow(2, start, v.shape[2]).copy_(v)
        return keys.narrow(2, 0, end), values.narrow(2, 0, end)

    def keep(self, rows: list[int]) -> None:
        """Keep these sequences of the batch and drop the others."""
        self.keys, self.values = ([held[rows] for held in kind] for kind in (self.keys, self.values))

    def nbytes(self, tokens: int) -> int:
        """Bytes that the first `tokens` tokens occupy, read off the tensors themselves."""
        return sum(held.nbytes for held in (*self.keys, *self.values)) // self.capacity * tokens


class SourceCache(KVCache):
    """A decoder's own keys and values, and for every layer those of a source text, which are computed once."""

    def __init__(self, config: NetworkConfig, capacity: int, source: list[tuple[Tensor, Tensor]]):
        keys = source[0][0]
        super().__init__(config, capacity, len(keys), keys.dtype, keys.device)
        self.source = source

    def keep(self, rows: list[int]) -> None:
        """Keep these sequences of the batch, with their sources, and drop the others."""
        super().keep(rows)
        self.source = [(keys[rows], values[rows]) for keys, values in self.source or ()]

    def nbytes(self, tokens: int) -> int:
        """Bytes of the first `tokens` tokens of the decoder's own text, and of the whole source."""
        return super().nbytes(tokens) + sum(part.nbytes for pair in self.source or () for part in pair)
