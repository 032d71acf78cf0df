"""Which keys a query may look at. Knows nothing about networks."""

from typing import NamedTuple

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor


class Starts(NamedTuple):
    """Where the new tokens of each sequence of a batch begin: `each` (B,), and the largest of them as a number.

    It stands where one number does for sequences that all begin at the same place.
    """

    each: Int[Tensor, "B"]
    most: int

    @classmethod
    def of(cls, starts: list[int], device: torch.device) -> "Starts":
        """The places in this order, one for each row."""
        return cls(torch.tensor(starts, device=device), max(starts))


Start = int | Starts


def places(start: Start, count: int, device: torch.device) -> Int[Tensor, "*batch T"]:
    """The positions of `count` tokens from `start` on: (T,), or (B, 1, T) where each sequence begins elsewhere."""
    if isinstance(start, int):
        return torch.arange(start, start + count, device=device)
    each = start.each[:, None, None]
    return each if count == 1 else each + torch.arange(count, device=device)


def keys_of(start: Start, count: int) -> int:
    """S: how many keys there are once `count` tokens from `start` on are read; of a batch, the longest sequence's."""
    return (start if isinstance(start, int) else start.most) + count


def own_keys(start: Start, count: int, device: torch.device) -> Bool[Tensor, "B 1 T S"] | None:
    """The causal mask of sequences that begin at different places: what stands beyond a sequence's own end is hidden.

    None where all begin at one place: there the plain causal mask holds.
    """
    if isinstance(start, int):
        return None
    return torch.arange(keys_of(start, count), device=device) <= places(start, count, device)[..., None]


def causal_mask(queries: int, keys: int, device: torch.device) -> Bool[Tensor, "queries keys"]:
    """True where a query may look: at its own place and before it; the last query stands at the last key."""
    return torch.ones(queries, keys, dtype=torch.bool, device=device).tril(keys - queries)


def prefix_mask(queries: int, keys: int, prefix: int, device: torch.device) -> Bool[Tensor, "queries keys"]:
    """The causal mask, but that the first `prefix` tokens all see each other (GLM, arXiv 2103.10360)."""
    mask = causal_mask(queries, keys, device)
    mask[: max(0, prefix - (keys - queries)), :prefix] = True
    return mask


def window_mask(start: Start, count: int, window: int, device: torch.device) -> Bool[Tensor, "*batch T S"]:
    """True where a query sees a key: of those up to itself the last `window`, its own among them (Mistral 7B, arXiv
    2310.06825, section 2).

    For `count` queries from `start` on and all keys up to the last of them; with a first dimension B where each
    sequence begins elsewhere. Raises ValueError for a window that holds no token.
    """
    if window < 1:
        raise ValueError(f"window is {window}; expected at least 1, the query's own token")
    queries = places(start, count, device)[..., None]
    keys = torch.arange(keys_of(start, count), device=device)
    return (keys <= queries) & (keys > queries - window)


def hidden(scores: Float[Tensor, "*rows queries keys"], mask: Bool[Tensor, "*heads queries keys"]) -> Tensor:
    """The scores with -inf wherever a query may not look."""
    return scores.masked_fill(~mask, float("-inf"))
