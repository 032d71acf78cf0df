"""Which words the corpus can say, worked out from its lists and sentence forms without writing a document.

`strangers` finds what a text holds beside them. Words that the pattern documents make up ("bako", "qzt") are on no
list, as any few letters may be one: they are at home only in a text of nothing else that repeats them.
"""

import re
from collections.abc import Iterator
from functools import cache
from itertools import chain
from typing import NamedTuple

from model.corpus import lexicon
from model.corpus.facts import RELATIONS
from model.corpus.lexicon import Language, verb_of
from model.corpus.narrator import CHINESE_PRONOUNS, ENGLISH_PRONOUNS, EVENTS

# Words of sentence forms that stand in the code of patterns.py, stories.py and facts.py, not in a list.
_IN_CODE: dict[Language, str] = {
    "en": "the opposite of is plus minus says next to near behind under with are were was how many people and friends "
    "a an boy girl",
    "zh": "的 反义词 是 减 加 等于 说 也 有 几 个 人 和 朋友 两 三 那 个 在 里 男孩 女孩",
}
_SIGNS = frozenset("0123456789.,!?;:'\"“”()[]{}<>+-=。，！？：；、")
_ACTIVE = (lexicon.HUMAN_ACTIVITIES, lexicon.ANIMAL_ACTIVITIES, lexicon.SHARED_ACTIVITIES)
_SLOT = re.compile(r"\{\w+\}|\[\w+\]")
_VERB = re.compile(r"\[(\w+)\]")
_LATIN = re.compile(r"[A-Za-z]+")
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


@cache
def known_words(language: Language) -> frozenset[str]:
    """Every word of the corpus's texts in a language; English ones in lower case."""
    templates = [template for form in _forms(language) for template in form]
    texts = [*_listed(language), _IN_CODE[language], *(_SLOT.sub(" ", template) for template in templates)]
    if language == "zh":
        return frozenset(word for text in texts for part in text.split() for word in _CHINESE.findall(part))
    bases = {base for template in templates for base in _VERB.findall(template)}
    spelt = " ".join([*texts, *(form for base in bases for form in _verb_forms(base))])
    return frozenset(word.lower() for word in _LATIN.findall(spelt)) | frozenset("abcdefghijklmnopqrstuvwxyz")


def _listed(language: Language) -> Iterator[str]:
    """What the lists bring into texts: every word that has a translation, and the forms that sentences ask for."""
    numbered = [*lexicon.ANIMALS, *lexicon.THINGS, *lexicon.FOODS]
    at_work = {verb for group in _ACTIVE for verb in group} | {verb for _, verb, _ in lexicon.HABITS}
    rows = [*lexicon.all_pairs(), *lexicon.QUALITIES, *lexicon.COLOURS, *chain(*lexicon.OPPOSITES), *lexicon.TIMES]
    yield from (getattr(row, language) for row in rows)
    yield from (word for row in lexicon.SERIES for word in row[language])
    if language == "en":
        yield from (pronoun for forms in ENGLISH_PRONOUNS.values() for pronoun in forms)
        yield from (noun.plural for noun in numbered)
        yield from (place.en_at for place in [*lexicon.PLACES, *lexicon.FURNITURE])
        yield from (form for verb in at_work for form in (verb.base, verb.third, verb.past, verb.ing))
        yield from (text for row in lexicon.WEATHER for text in (row.en, row.past))
    else:
        yield from CHINESE_PRONOUNS.values()
        yield from (noun.measure for noun in [*numbered, *lexicon.DRINKS, *lexicon.JOBS])
        yield from (place.zh_at for place in [*lexicon.PLACES, *lexicon.FURNITURE])
        yield from (verb.zh for verb in at_work)
        yield from (row.zh for row in lexicon.WEATHER)


def _forms(language: Language) -> Iterator[list[str]]:
    """The sentence forms of phrases.json."""
    yield from (form[language] for form in EVENTS.values())
    yield from (templates for form in RELATIONS.values() for templates in form[language].values())


def _verb_forms(base: str) -> tuple[str, ...]:
    """The present and past that narrator.py gives a verb."""
    if base == "be":
        return ("is", "are", "was", "were")
    verb = verb_of(base)
    return (verb.base, verb.third, verb.past)


def _cut(start: int, part: str) -> Iterator[tuple[int, str, bool]]:
    """The words of one run of letters: where each stands, and whether the corpus has it."""
    if not _CHINESE.fullmatch(part):
        yield start, part, part in _SIGNS or part.lower() in known_words("en")
        return
    known = known_words("zh")
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
    return max(map(len, known_words("zh")))
