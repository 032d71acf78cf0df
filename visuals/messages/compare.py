"""What the chapter that compares two runs is sent."""

from typing_extensions import TypedDict

from .arrays import Packed
from .sums import Product


class DifferenceDetail(TypedDict):
    """‖B − A‖ (`apart`) and ‖A‖ (`first`) of the residual stream, (L + 1, T) float32, at tokens that both runs have."""

    apart: Packed
    first: Packed


class PartsDetail(TypedDict):
    """By field of model.replaced.parts.Parts, what a run's network could have in place of its own."""

    offered: dict[str, list[str | int]]


class LossDetail(TypedDict):
    """−log p, in nats, of every token after the first, by what came before it; and the mean."""

    nats: Packed
    mean: float


class CostDetail(TypedDict):
    """What a network costs: parameters held; bytes of weights `read` for one token, and of the cache `kept` of one,
    each with its products."""

    parameters: int
    weights: list[Product]
    read: int
    cache: list[Product]
    kept: int
