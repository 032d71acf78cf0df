"""What is known here of the texts that the bundled model was trained on: their words, and some that it has not seen.

Read from `little_world.json`, which `python -m model.corpus` writes. Nothing here knows how the texts are made.
"""

import json
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Literal, NamedTuple

FILE = Path(__file__).with_suffix(".json")


class LittleWorld(NamedTuple):
    """The corpus as data.

    `known_words`: every word of its texts by language, English ones in lower case. `kinds`: lists of words of one kind,
    such as animals in English, any of which may stand for another. `held_out`: texts that training has not shown.
    `glosses`: what Chinese words mean in English, and what is only a part of words, each by the word or part.
    """

    known_words: Mapping[str, frozenset[str]]
    kinds: tuple[tuple[str, ...], ...]
    held_out: tuple[str, ...]
    glosses: Mapping[Literal["words", "parts"], Mapping[str, str]]


@cache
def little_world() -> LittleWorld:
    """The Little World's words and texts."""
    raw = json.loads(FILE.read_text(encoding="utf-8"))
    known = {language: frozenset(words) for language, words in raw["known_words"].items()}
    return LittleWorld(known, tuple(map(tuple, raw["kinds"])), tuple(raw["held_out"]), raw["glosses"])
