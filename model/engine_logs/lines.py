"""A pasted log as lines to look things up in. Each pattern reads a line once from left to right: its repeats are
bounded, so that no text takes time that grows faster than it.
"""

import re
from bisect import bisect
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from itertools import accumulate

from ..errors import GlassLlamaError

MAX_CHARACTERS = 200_000
MAX_LINES = 10_000  # a loader's dump of metadata and tensors has some 2,000


@dataclass(frozen=True)
class Found:
    """What a pattern found: the number of the line, from 1, and its named groups."""

    line: int
    parts: Mapping[str, str]
    text: str

    def __getitem__(self, name: str) -> str:
        return self.parts[name]

    def get(self, name: str) -> str:
        """A group, "" where it took no part."""
        return self.parts.get(name) or ""


def pattern(text: str) -> re.Pattern[str]:
    """A pattern in which `~` is up to twenty blanks, `#name:n#` a number and `#name:w#` a whole one, as groups.

    All of its repeats are bounded, and none takes a line break.
    """
    whole = r"\d{1,18}(?:,\d{3}){0,6}"
    number = whole + r"(?:\.\d{1,9})?"
    kinds = {"n": number, "w": whole}
    named = re.sub(r"#(\w+):([nw])#", lambda one: f"(?P<{one[1]}>{kinds[one[2]]})", text)
    return re.compile(named.replace("~", r"[ \t]{0,20}"))


# What a number is of, as engines print it, and a number at the end of a text that is followed by no more than the
# beginning of such a word: whether the number has further digits there, nobody can tell.
_UNITS = ("KiB", "MiB", "GiB", "TiB", "tokens", "cells", "bytes", "layers")
_BEGUN = "|".join(sorted({unit[:end] for unit in _UNITS for end in range(1, len(unit))}, reverse=True))
_CUT = re.compile(rf"(?<![\w.])\d[\d.,]{{0,30}}[ \t]?(?:{_BEGUN})?$")


@dataclass(frozen=True)
class Cut:
    """Where a log ends within a number: the line, and how that ends."""

    line: int
    end: str


@dataclass(frozen=True)
class LogLines:
    """The lines of a log, without the number in which it ends where it is `cut`."""

    text: str
    cut: Cut | None = None

    @cached_property
    def lines(self) -> list[str]:
        return self.text.splitlines()

    @cached_property
    def _joined(self) -> str:
        return "\n".join(self.lines)

    @cached_property
    def _starts(self) -> list[int]:
        """Where each line begins in `_joined`."""
        return [0, *accumulate(len(line) + 1 for line in self.lines)]

    def all(self, wanted: re.Pattern[str]) -> list[Found]:
        """Each line's first match, in order."""
        found: dict[int, Found] = {}
        for match in wanted.finditer(self._joined):
            line = bisect(self._starts, match.start())
            if line not in found:
                parts = {key: value or "" for key, value in match.groupdict().items()}
                found[line] = Found(line, parts, match[0])
        return list(found.values())

    def last(self, wanted: re.Pattern[str]) -> Found | None:
        """The last one: an engine that adjusts a value logs it again."""
        found = self.all(wanted)
        return found[-1] if found else None


def log_lines(text: str) -> LogLines:
    """Raises GlassLlamaError (code "engine_log") for an empty text, and for one that is too long."""
    if not text.strip():
        raise trouble("empty", "The log is empty; paste the lines that the engine prints when it starts.")
    if len(text) > MAX_CHARACTERS:
        said = (
            f"The log has {len(text):,} characters; up to {MAX_CHARACTERS:,} are read. Paste the engine's start alone."
        )
        raise trouble("long", said, value=len(text), limit=MAX_CHARACTERS)
    lines = LogLines(*_without_cut(text))
    if len(lines.lines) > MAX_LINES:
        said = f"The log has {len(lines.lines):,} lines; up to {MAX_LINES:,} are read. Paste the engine's start alone."
        raise trouble("lines", said, value=len(lines.lines), limit=MAX_LINES)
    return lines


def _without_cut(text: str) -> tuple[str, Cut | None]:
    """The text without a number at its end that may have been cut, and where that is. A line break ends a number."""
    begin = max(text.rfind("\n"), text.rfind("\r")) + 1
    found = _CUT.search(text[-60:] if len(text) - begin > 60 else text[begin:])
    if found is None:
        return text, None
    kept = text[: len(text) - len(found[0])]
    return kept, Cut(text.count("\n") + 1, text[max(begin, len(text) - 50) :])


def trouble(reason: str, said: str, **params: object) -> GlassLlamaError:
    """An error of a pasted log; `reason` is a key of the page's texts."""
    return GlassLlamaError("engine_log", said, field="log", reason=reason, **params)
