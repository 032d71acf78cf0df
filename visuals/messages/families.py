"""What the chapter on the families is sent."""

from typing import Literal

from typing_extensions import TypedDict

from .sums import Product, PublishedCount


class CellLine(TypedDict):
    """A line of a cell: a code of the page's texts with its numbers; `differs` where LLaMA 3's cell has none such."""

    code: str
    params: dict[str, int | str]
    differs: bool


class Cell(TypedDict):
    """What one network has of one row; `differs` from LLaMA 3's by its codes, not by its numbers."""

    lines: list[CellLine]
    differs: bool


class TokenCache(TypedDict):
    """Bytes that a token takes in the KV cache, with the products; with a `source`, every token of that as much."""

    dtype: str
    bytes: int
    terms: list[Product]
    source: bool


class WeightPartMessage(TypedDict):
    """Weights of one kind: layers × copies × `each`; layers is 0 for what stands outside them."""

    label: str
    layers: int
    copies: int
    how: str
    each: int
    weights: int


class WeightGroup(TypedDict):
    """The parts of a model's weights that belong together."""

    group: str
    weights: int
    parts: list[WeightPartMessage]


class ParametersMessage(TypedDict):
    """All weights by group, those that read one token (`active`, null where all do), and the total as published."""

    published: PublishedCount | None
    total: int | None
    active: int | None
    groups: list[WeightGroup]


class FamilyColumn(TypedDict):
    """A published model: cells by row, its cache, its weights, and where that was read."""

    id: str
    family: str
    name: str
    release: str
    cells: dict[str, Cell]
    cache: TokenCache
    parameters: ParametersMessage
    sources: list[str]


Verdict = Literal["wrong", "part", "open"]


class Claim(TypedDict):
    """What tables say of a family, and the cell that shows what is so, by column and row.

    `verdict`: wrong; true of some models or in some sense; or open, since nobody measured it.
    """

    name: str
    verdict: Verdict
    column: str
    row: str


class FamiliesTable(TypedDict):
    """The families beside each other: rows, columns, which columns each view has, and what tables get wrong of them."""

    reference: str
    rows: list[str]
    views: dict[str, tuple[str, ...]]
    columns: list[FamilyColumn]
    claims: tuple[Claim, ...]


class FamiliesAnswer(FamiliesTable):
    """The table, the panel ([chapter, panel]) that each row or code leads to, and the models on offer by family."""

    rowPlaces: dict[str, tuple[str, str]]
    codePlaces: dict[str, tuple[str, str]]
    elsewhere: dict[str, tuple[str, str]]
    live: dict[str, list[str]]
