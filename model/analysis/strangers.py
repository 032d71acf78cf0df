"""What of a text the bundled model's corpus never says.

Words that the pattern documents make up ("bako", "qzt") are on no list, as any few letters may be one: they are at home
only in a text of nothing else that repeats them.
"""

import re
from collections.abc import Iterator
from functools import cache
from typing import NamedTuple

from ..little_world import little_world

_SIGNS = frozenset("0123456789.,!?;:'\"“”()[]{}<>+-=。，！？：；、")
_CHINESE = re.compile(r"[一-鿿]+")
_PART = re.compile(rf"{_CHINESE.pattern}|[^\W\d_一-鿿]+|\S")
# As patterns.py makes words up: syllables, or up to four letters; with nothing but commas between them.
_MADE_UP = re.compile(r"(?:[bdfgklmnprstvz][aeiou]){1,3}|[a-z]{1,4}")
_SEQUENCE = re.compile(r"[a-z]+(?:,? [a-z]+)*,? ?")


class Strangers(NamedTuple):
    """Where a text has words or signs that the corpus never has, as (first character, end), and of how many words in
    all, signs that the corpus has not counted."""

    places: list[tuple[int, int]]
    words: int


def strangers(text: str) -> Strangers:
    """What of a text the corpus never says. Letters of either case are alike; Chinese is cut so that most is known."""
    parts = [(found.start(), found[0]) for found in _PART.finditer(text)]
    words = [(at, word, known) for start, part in parts for at, word, known in _cut(start, part) if part not in _SIGNS]
    latin = [word for _, word, _ in words]
    at_home = _SEQUENCE.fullmatch(text) and len(set(latin)) < len(latin) and all(map(_MADE_UP.fullmatch, latin))
    places = [] if at_home else [(at, at + len(word)) for at, word, known in words if not known]
    return Strangers(places, len(words))


def _cut(start: int, part: str) -> Iterator[tuple[int, str, bool]]:
    """The words of one run of letters: where each stands, and whether the corpus has it."""
    if not _CHINESE.fullmatch(part):
        yield start, part, part in _SIGNS or part.lower() in little_world().known_words["en"]
        return
    known = little_world().known_words["zh"]
    # best[i]: of the first i characters, how many are unknown, how many words there are, and where the last one starts.
    best: list[tuple[int, int, int]] = [(0, 0, 0)]
    for end in range(1, len(part) + 1):
        starts = [s for s in range(max(0, end - _longest()), end) if part[s:end] in known]
        best.append(
            min([(best[end - 1][0] + 1, best[end - 1][1] + 1, end - 1)] + [(*_more(best[s]), s) for s in starts])
        )
    cuts, end = [], len(part)
    while end:
        cuts.append((best[end][2], end))
        end = best[end][2]
    strange = 0  # unknown characters side by side are one word
    for first, end in reversed(cuts):
        if part[first:end] not in known:
            strange += 1
            continue
        if strange:
            yield start + first - strange, part[first - strange : first], False
        strange = 0
        yield start + first, part[first:end], True
    if strange:
        yield start + len(part) - strange, part[-strange:], False


def _more(before: tuple[int, int, int]) -> tuple[int, int]:
    return before[0], before[1] + 1


@cache
def _longest() -> int:
    return max(map(len, little_world().known_words["zh"]))
