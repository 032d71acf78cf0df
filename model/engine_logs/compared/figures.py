"""What a comparison consists of: rows of three columns, and a ladder of differences from the formula to the log."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from typing import Literal

from ...published.spec import ModelSpec
from ..amounts import Printed
from ..facts import Conflict, EngineLog, LoadedWeights

Of = Literal["pool", "request"]
OTHER_LAYERS = ("other_layers", "other_full_layers", "other_window_layers")  # the log counts others than the model has


@dataclass(frozen=True)
class Cell:
    """One figure: exact, and the arithmetic that it comes from, or how the log prints it.

    `worked_out`: it is in the log's column, but on no line of it; it comes of figures that the log has rounded.
    """

    value: int | Decimal | Fraction
    how: str = ""
    worked_out: bool = False


@dataclass(frozen=True)
class Row:
    """A quantity by the formula, as the engine reserves it, and as the log has it; None where one of them has none.
    `differs`: the log's is not what the engine would print of what it reserves.

    `quantity` is a key of the page's texts: "token", "tokens", "bytes", "request", "concurrency", "block",
    "state", "longest".
    """

    quantity: str
    formula: Cell | None = None
    reserved: Cell | None = None
    logged: Cell | None = None
    differs: bool = False


@dataclass(frozen=True)
class Difference:
    """One step from the formula to the log: `bytes` more, None where it is a remark.

    `code` is a key of the page's texts, `source` one of SOURCES or "". `of` says which ladder it stands on.
    """

    code: str
    bytes: int | None
    source: str
    params: Mapping[str, object]
    of: Of = "pool"


@dataclass(frozen=True)
class CountedWeights:
    """The weights that a log tells of beside their count: `counted` bytes in `dtype`, None where no product counts that
    format or the model's shape is not known; `stated`: the log says the format. All of one rank, or of the whole."""

    loaded: LoadedWeights
    counted: int | None
    dtype: str
    stated: bool

    @property
    def more(self) -> int | None:
        """Bytes that the engine says more than are counted."""
        return None if self.counted is None else self.loaded.size.bytes - self.counted


@dataclass(frozen=True)
class Comparison:
    """A log beside the formula, on one rank of `tp` × `pp`; `dtype` is the format of K, `dtype_v` that of V."""

    log: EngineLog
    spec: ModelSpec
    dtype: str
    dtype_v: str
    tp: int
    pp: int
    rows: tuple[Row, ...]
    differences: tuple[Difference, ...]
    fitting: tuple[str, ...] = ()
    conflicts: tuple[Conflict, ...] = ()
    weights: CountedWeights | None = None


def explained(differences: Iterable[Difference]) -> bool:
    """Whether the steps leave no more of the log's bytes than its digits and a block."""
    codes = {one.code for one in differences}
    return bool(codes & {"rounding", "whole_blocks"}) and not codes & {"unexplained", *OTHER_LAYERS}


def rest(told: int, logged: Printed | None, of: Of = "pool") -> Difference | None:
    """What is left between what is explained and what the log prints: its rounding, or what no step here names."""
    if logged is None:
        return None
    code = "rounding" if logged.holds(told) else "unexplained"
    return Difference(code, logged.bytes - told, "", {"slack": logged.slack}, of)


def back_to_tokens(size: Printed, each: int) -> list[Row]:
    """Rows of a log that says how many bytes a cache has and not of how many tokens; `each` is the bytes of one."""
    return [
        Row("tokens", Cell(_tokens_of(size, each), f"{size.bytes:,} / {each:,}")),
        Row("bytes", None, None, Cell(size.bytes, size.text)),
    ]


def no_tokens(code: str, size: Printed, each: int) -> Difference:
    """That the log does not say the context, and what its bytes come to."""
    return Difference(code, None, "", {"logged": size.text, "tokens": f"{_tokens_of(size, each):,}"})


def _tokens_of(size: Printed, each: int) -> int | Decimal:
    """How many tokens of `each` bytes; where that is no whole number, to one digit after the point."""
    whole, rest_of = divmod(size.bytes, each)
    return round(Decimal(size.bytes) / each, 1) if rest_of else whole


def product(*numbers: object) -> str:
    """Numbers with separators and × between."""
    return " × ".join(f"{one:,}" if isinstance(one, int) else str(one) for one in numbers)


def pad(number: int, multiple: int) -> int:
    """Up to a multiple."""
    return -(-number // multiple) * multiple
