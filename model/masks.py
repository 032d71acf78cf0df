"""Which keys a query may look at. Knows nothing about networks."""

import torch
from jaxtyping import Bool, Float
from torch import Tensor


def causal_mask(queries: int, keys: int, device: torch.device) -> Bool[Tensor, "queries keys"]:
    """True where a query may look: at its own place and before it; the last query stands at the last key."""
    return torch.ones(queries, keys, dtype=torch.bool, device=device).tril(keys - queries)


def prefix_mask(queries: int, keys: int, prefix: int, device: torch.device) -> Bool[Tensor, "queries keys"]:
    """The causal mask, but that the first `prefix` tokens all see each other (GLM, arXiv 2103.10360)."""
    mask = causal_mask(queries, keys, device)
    mask[: max(0, prefix - (keys - queries)), :prefix] = True
    return mask


def hidden(scores: Float[Tensor, "*rows queries keys"], mask: Bool[Tensor, "*heads queries keys"]) -> Tensor:
    """The scores with -inf wherever a query may not look."""
    return scores.masked_fill(~mask, float("-inf"))
