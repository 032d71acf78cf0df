"""Attention to a part of what is cached: keys that choose tokens, and entries that stand for several tokens."""

from dataclasses import dataclass
from typing import Literal


@dataclass(frozen=True)
class IndexerSpec:
    """The lightning indexer of DeepSeek-V3.2: `n_heads` queries share one cached key; `top_k` tokens are then read."""

    n_heads: int
    head_dim: int
    top_k: int


@dataclass(frozen=True)
class CompressedSpec:
    """What the layers `layers` keep beside their sliding window in DeepSeek-V4: one entry of every `rate` tokens.

    "csa" is compressed sparse attention, "hca" heavily compressed attention. An entry is as wide as the shared K/V
    head. Tokens that do not fill an entry yet wait in a buffer, with one value and one gate each. With `overlap` each
    token feeds two entries, its own and the next. Values and gates are then twice as wide, and half of those of the
    last full entry stay. The `indexer` compresses keys of its own in the same way; its `top_k` counts entries.
    """

    kind: Literal["csa", "hca"]
    rate: int
    layers: tuple[int, ...]
    overlap: bool = False
    indexer: IndexerSpec | None = None
