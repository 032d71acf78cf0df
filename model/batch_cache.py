"""The KV cache of sequences of different lengths that are decoded together: a row each, its tokens from place 0 on.

Rows that take part in a step are the first ones, so that attention reads them as views: nothing is gathered. What
stands in a row beyond the sequence's own tokens is 0 or a token that is not read yet; a mask hides it (masks.own_keys).
"""

import torch
import torch.nn.functional as F
from jaxtyping import Float
from torch import Tensor

from .cache import KVCache
from .masks import Start

STEP = 64  # capacity grows by so many tokens


class BatchCache(KVCache):
    """Rows of keys and values, (rows, n_kv_heads, capacity, head_dim) a layer, which come and go.

    A row that comes brings what its prompt's own cache holds, also of a source text.
    """

    def __init__(self) -> None:
        self.capacity = 0
        self.keys: list[Tensor] = []
        self.values: list[Tensor] = []
        self.rows = 0
        self._sources: list[list[tuple[Tensor, Tensor]]] = []  # by row, of its own length
        self._order = torch.arange(0)

    def join(self, given: KVCache, lengths: list[int], room: int) -> None:
        """Further rows at the end: the first `lengths[i]` tokens of row i of a cache; `room` is the longest that any
        row may become, of those that are here too."""
        self._make_room(given, self.rows + len(lengths), room)
        for held, own in zip((*self.keys, *self.values), (*given.keys, *given.values), strict=True):
            new = held[self.rows : self.rows + len(lengths)].zero_()
            for row, length in enumerate(lengths):
                new[row, :, :length] = own[row, :, :length]
        if given.source is not None:
            self._sources += [[(k[row], v[row]) for k, v in given.source] for row in range(len(lengths))]
        self.rows += len(lengths)
        self._stand_sources()

    def swap(self, one: int, other: int) -> None:
        """Two rows change places."""
        for held in (*self.keys, *self.values):
            held[[one, other]] = held[[other, one]]
        if self._sources:
            self._sources[one], self._sources[other] = self._sources[other], self._sources[one]
            self._stand_sources()

    def drop(self, row: int) -> None:
        """A row goes; the last one takes its place."""
        self.rows -= 1
        if row != self.rows:
            for held in (*self.keys, *self.values):
                held[row] = held[self.rows]
        if self._sources:
            self._sources[row] = self._sources[self.rows]
            self._sources.pop()
            self._stand_sources()

    def write(
        self,
        layer: int,
        start: Start,
        k: Float[Tensor, "B n_kv_heads T head_dim"],
        v: Float[Tensor, "B n_kv_heads T v_head_dim"],
    ) -> tuple[Float[Tensor, "B n_kv_heads S head_dim"], Float[Tensor, "B n_kv_heads S v_head_dim"]]:
        """Store one token for each of the first B rows at its own place; gives their first S keys and values as views.

        S is as many as the longest has. Raises IndexError where a row is too short.
        """
        if isinstance(start, int):
            return super().write(layer, start, k, v)
        count, end = len(k), start.most + k.shape[2]
        if end > self.capacity:
            raise IndexError(f"{end} tokens do not fit into a KV cache of {self.capacity}")
        keys, values = self.keys[layer][:count], self.values[layer][:count]
        at = self._order[:count], slice(None), start.each
        keys[at], values[at] = k[:, :, 0], v[:, :, 0]
        return keys.narrow(2, 0, end), values.narrow(2, 0, end)

    def _make_room(self, like: KVCache, rows: int, room: int) -> None:
        """Have tensors of at least so many rows and tokens; of far too large ones smaller ones."""
        capacity = -(-room // STEP) * STEP
        fits = self.keys and len(self.keys[0]) >= rows and capacity <= self.capacity <= 2 * capacity
        if fits:
            return
        most = rows if not self.keys or rows <= len(self.keys[0]) else rows + rows // 2
        kept = min(self.capacity, capacity)

        def moved(held: list[Tensor], own: list[Tensor]) -> list[Tensor]:
            made = [torch.zeros(most, one.shape[1], capacity, one.shape[3]).to(one) for one in own]
            for new, old in zip(made, held, strict=False):
                new[: self.rows, :, :kept] = old[: self.rows, :, :kept]
            return made

        self.keys, self.values = moved(self.keys, like.keys), moved(self.values, like.values)
        self.capacity = capacity
        self._order = torch.arange(most, device=self.keys[0].device)

    def _stand_sources(self) -> None:
        """The sources side by side, as long as the longest, and the mask that hides what others lack."""
        if not self._sources:
            return
        lengths = [row[0][0].shape[1] for row in self._sources]
        most = max(lengths)

        def side_by_side(parts: list[Tensor]) -> Tensor:
            return torch.stack([F.pad(part, (0, 0, 0, most - part.shape[1])) for part in parts])

        layers = range(len(self._sources[0]))
        self.source = [
            (side_by_side([row[i][0] for row in self._sources]), side_by_side([row[i][1] for row in self._sources]))
            for i in layers
        ]
        device = self.source[0][0].device
        ends = torch.tensor(lengths, device=device)[:, None, None, None]
        self.source_mask = torch.arange(most, device=device) < ends
