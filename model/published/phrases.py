"""What is told by a code and particulars, so that every reader gets it in their own language."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar, Self


@dataclass(frozen=True)
class Phrase:
    """An entry of ENGLISH with its particulars, numbers as they are written; `str` is the English text."""

    ENGLISH: ClassVar[Mapping[str, str]] = {}

    code: str
    params: Mapping[str, str]

    def __str__(self) -> str:
        return self.ENGLISH[self.code].format(**self.params)

    @classmethod
    def of(cls, code: str, **params: object) -> Self:
        """`code` with its particulars; whole numbers get separators."""
        return cls(code, {name: f"{one:,}" if isinstance(one, int) else str(one) for name, one in params.items()})
