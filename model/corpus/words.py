"""Which words the corpus can say, worked out from its lists and sentence forms without writing a document.

Words that the pattern documents make up ("bako", "qzt") are not among them, as any few letters may be one.
"""

import re
from collections.abc import Iterator
from functools import cache
from itertools import chain

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
_ACTIVE = (lexicon.HUMAN_ACTIVITIES, lexicon.ANIMAL_ACTIVITIES, lexicon.SHARED_ACTIVITIES)
_SLOT = re.compile(r"\{\w+\}|\[\w+\]")
_VERB = re.compile(r"\[(\w+)\]")
_LATIN = re.compile(r"[A-Za-z]+")
_CHINESE = re.compile(r"[一-鿿]+")


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
