"""Sums of bytes that several chapters show: products with their factors.

Bytes travel as decimal texts, since JavaScript's numbers are exact only up to 2⁵³.
"""

from typing_extensions import TypedDict


class HowMessage(TypedDict):
    """Arithmetic with words in it: a code of the page's texts, and its particulars."""

    code: str
    params: dict[str, str]


class FactorMessage(TypedDict):
    """A number of a product: a code for what it counts, with particulars, and how it came about, "" where that takes no
    arithmetic."""

    value: int
    code: str
    params: dict[str, str | int]
    how: str | HowMessage


class Product(TypedDict):
    """One product of a sum, and its value in bytes."""

    label: str
    factors: list[FactorMessage]
    bytes: str


class TermMessage(Product):
    """One product of a cache's sum, over so many layers."""

    layers: int


class PublishedCount(TypedDict):
    """Parameters as the vendor states them; `exact` where every digit is given."""

    total: int
    exact: bool
    active: int | None
