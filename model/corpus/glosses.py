"""What Chinese words of the little world mean in English, for readers who have no Chinese.

Words are those of lexicon.json, and in glosses.json the others: grammar's, and characters that are words by themselves.
"""

import json
from collections.abc import Iterator
from functools import cache
from itertools import combinations
from pathlib import Path
from typing import NamedTuple

from . import lexicon


class Glosses(NamedTuple):
    """`words`: a Chinese word -> its English. `parts`: what is only a part of such words -> the English of the shortest
    of them, the first in the lexicon's order."""

    words: dict[str, str]
    parts: dict[str, str]


def lexicon_words() -> Iterator[tuple[str, str]]:
    """The lexicon's words, (Chinese, English); of one with two meanings the commoner comes first."""
    nouns = [*lexicon.COUNTABLE, *lexicon.DRINKS, *lexicon.FURNITURE, *lexicon.PLACES, *lexicon.NAMES]
    pairs = [*lexicon.STUFF, *lexicon.COLOURS, *lexicon.QUALITIES, *lexicon.FEELINGS, *lexicon.NUMBERS]
    yield from ((one.zh, one.en) for one in [*nouns, *pairs])
    yield from ((one.zh, one.en) for both in lexicon.OPPOSITES for one in both)
    yield from ((one.zh, one.base) for one in [*lexicon.VERBS, *lexicon.ACTIVITIES] if "…" not in one.zh)
    for series in lexicon.SERIES:
        yield from zip(series["zh"], series["en"], strict=True)
    yield from ((one.zh, one.en) for one in lexicon.TIMES if " " not in one.zh)


@cache
def glosses() -> Glosses:
    """Of all words."""
    words: dict[str, str] = {}
    for chinese, english in lexicon_words():
        words.setdefault(chinese, english)
    words |= json.loads(Path(__file__).with_name("glosses.json").read_text(encoding="utf-8"))
    parts: dict[str, str] = {}
    for chinese in sorted(words, key=len):
        for start, end in combinations(range(len(chinese) + 1), 2):
            if (part := chinese[start:end]) not in words:
                parts.setdefault(part, words[chinese])
    return Glosses(words, parts)
