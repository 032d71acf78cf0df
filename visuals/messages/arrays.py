"""Arrays in a message."""

from typing import Literal

from typing_extensions import TypedDict

Dtype = Literal["f4", "f2", "u1", "u2", "i4"]


class Packed(TypedDict):
    """An array: its values in `data`, base64 of little-endian bytes, row by row.

    "f4" and "f2" are IEEE 754 single and half precision, "u1" and "u2" unsigned integers of 8 and 16 bits, "i4" signed
    ones of 32.
    """

    dtype: Dtype
    shape: list[int]
    data: str
