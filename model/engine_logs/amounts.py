"""Amounts as a log prints them: so many digits of a unit, hence a range of bytes. Exact: no floats."""

from dataclasses import dataclass
from decimal import Decimal
from math import ceil

UNITS = {"B": 1, "KIB": 1 << 10, "MIB": 1 << 20, "GIB": 1 << 30, "TIB": 1 << 40}


@dataclass(frozen=True)
class Printed:
    """Bytes that a log prints rounded: `bytes` as printed, and `slack`, half of the last digit that it prints."""

    text: str
    bytes: int
    slack: int

    def holds(self, count: int) -> bool:
        """Whether `count` bytes would be printed so; half a digit more is let pass for the printer's own rounding."""
        return abs(count - self.bytes) <= self.slack

    def __add__(self, other: "Printed") -> "Printed":
        return Printed(f"{self.text} + {other.text}", self.bytes + other.bytes, self.slack + other.slack)


def printed(number: str, unit: str, text: str = "") -> Printed:
    """`number` of `unit`, one of UNITS in any case; `text` is how the log has it."""
    size, value = UNITS[unit.upper()], Decimal(number.replace(",", ""))
    digits = -int(value.as_tuple().exponent)
    half = ceil(Decimal(size).scaleb(-digits) / 2) if size > 1 else 0
    return Printed(text or f"{number} {unit}", int((value * size).to_integral_value()), half)


def count(number: str) -> int:
    """A whole number with or without separators."""
    return int(number.replace(",", ""))
