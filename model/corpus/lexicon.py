"""The words of the little world, read from `lexicon.json`: each noun, name and verb in English and Chinese.

Chinese strings hold a space at each word boundary ("有 一 天"); `writer.chinese` cuts there and drops the spaces.
"""

import json
from functools import cache
from pathlib import Path
from typing import Any, Literal, NamedTuple, TypeVar

Language = Literal["en", "zh"]
W = TypeVar("W", bound=tuple[str, ...])


class Noun(NamedTuple):
    """A countable noun with its Chinese measure word and its English plural."""

    en: str
    zh: str
    measure: str
    plural: str


class Place(NamedTuple):
    """A place or a piece of furniture; `en_at` is "in the kitchen", `zh_at` is "厨房 里"."""

    en: str
    zh: str
    en_the: str
    en_at: str
    zh_at: str
    measure: str


class Name(NamedTuple):
    """A person's name; `gender` is "m" or "f"."""

    en: str
    zh: str
    gender: str


class Pair(NamedTuple):
    """A word in both languages."""

    en: str
    zh: str


class Verb(NamedTuple):
    """An English verb's forms and its Chinese counterpart; `ing` is empty where the world never needs it."""

    base: str
    third: str
    past: str
    zh: str
    ing: str = ""


class Weather(NamedTuple):
    """A sentence on the weather, in the English present and past and in Chinese."""

    en: str
    past: str
    zh: str


_DATA = json.loads(Path(__file__).with_name("lexicon.json").read_text(encoding="utf-8"))


@cache
def plural_of(noun: str) -> str:
    """The regular English plural: "box" gives "boxes", "puppy" gives "puppies"."""
    if noun.endswith(("s", "x", "ch", "sh")):
        return noun + "es"
    if noun.endswith("y") and noun[-2] not in "aeiou":
        return noun[:-1] + "ies"
    return noun + "s"


@cache
def with_article(phrase: str) -> str:
    """The phrase after "a" or "an": "an old ball", "a ball"."""
    return ("an " if phrase[0] in "aeiou" and not phrase.startswith("uni") else "a ") + phrase


def _nouns(category: str) -> list[Noun]:
    return [Noun(row[0], row[1], row[2], row[3] if len(row) > 3 else plural_of(row[0])) for row in _DATA[category]]


def _place(en: str, zh: str, preposition: str, zh_after: str, measure: str) -> Place:
    # English says "at school", without an article.
    the = en if en == "school" else f"the {en}"
    return Place(en, zh, the, f"{preposition} {the}", f"{zh} {zh_after}", measure)


def _group(group: str, words: list[W]) -> list[W]:
    """Those of the words that the lexicon lists in a group, by their English form, which is each row's first field."""
    members = set(_DATA["groups"][group])
    return [word for word in words if word[0] in members]


NAMES = [Name(*row) for row in _DATA["names"]]
ANIMALS = _nouns("animals")
THINGS = _nouns("things")
FOODS = _nouns("foods")
DRINKS = _nouns("drinks")
PEOPLE = _nouns("people")
NATURE = _nouns("nature")
OTHER = _nouns("other")
STUFF = [Pair(*row) for row in _DATA["stuff"]]
FURNITURE = [_place(row[0], row[1], row[3], row[4], row[2]) for row in _DATA["furniture"]]
PLACES = [_place(*row) for row in _DATA["places"]]
COLOURS = [Pair(*row) for row in _DATA["colours"]]
QUALITIES = [Pair(*row[:2]) for row in _DATA["qualities"]]
FEELINGS = [Pair(*row) for row in _DATA["feelings"]]
OPPOSITES = [(Pair(row[0], row[1]), Pair(row[2], row[3])) for row in _DATA["opposites"]]
ACTIVITIES = [Verb(base, third, past, zh, ing) for base, third, past, ing, zh in _DATA["activities"]]
VERBS = [Verb(*row) for row in _DATA["verbs"]]
NUMBERS = [Pair(*row) for row in _DATA["numbers"]]
WEATHER = [Weather(*row) for row in _DATA["weather"]]
TIMES = [Pair(*row) for row in _DATA["times"]]
SERIES: list[dict[str, Any]] = _DATA["series"]

PETS, JOBS = _group("pets", ANIMALS), _group("jobs", PEOPLE)
CLOTHES, FRAGILE, HEAVY, THROWN, MADE = (
    _group(name, THINGS) for name in ("clothes", "fragile", "heavy", "thrown", "made")
)
ROOMS, OUTDOORS, SHOPS = (_group(name, PLACES) for name in ("rooms", "outdoors", "shops"))
TOPS, SEATS, OUTDOOR_SPOTS = (_group(name, FURNITURE) for name in ("tops", "seats", "outdoor_spots"))
STORY_QUALITIES, SIZES = _group("story_qualities", QUALITIES), _group("sizes", QUALITIES)
HUMAN_ACTIVITIES, ANIMAL_ACTIVITIES, SHARED_ACTIVITIES = (
    _group(name, ACTIVITIES) for name in ("human_activities", "animal_activities", "shared_activities")
)
VERB_FORMS = {verb.base: verb for verb in [*ACTIVITIES, *VERBS]}
_BY_NAME = {word.en: word for word in [*ANIMALS, *PLACES, *FURNITURE]}
# What an animal is best known for: the cat sleeps on the sofa.
HABITS = [(_BY_NAME[animal], VERB_FORMS[verb], _BY_NAME[place]) for animal, verb, place in _DATA["habits"]]

COUNTABLE = [*ANIMALS, *THINGS, *FOODS, *PEOPLE, *NATURE, *OTHER]


def all_pairs() -> list[Pair]:
    """Every word that has one translation in each direction, as the translation documents use them."""
    pairs = [Pair(item.en, item.zh) for item in [*COUNTABLE, *DRINKS, *FURNITURE, *PLACES]]
    pairs += [*STUFF, *COLOURS, *FEELINGS, *NUMBERS]
    pairs += [Pair(name.en, name.zh) for name in NAMES]
    pairs += [Pair(verb.base, verb.zh) for verb in [*ACTIVITIES, *VERBS] if "…" not in verb.zh]
    pairs += [pair for both in OPPOSITES for pair in both]
    # A word with two translations ("light" is 轻 and 亮) would have no single right answer: the first one stays.
    seen: set[str] = set()
    unique = []
    for pair in pairs:
        if pair.en not in seen and pair.zh not in seen:
            seen.update(pair)
            unique.append(pair)
    return unique


def verb_of(base: str) -> Verb:
    """The verb with this base form; one that no list has is spelt regularly, but for "begin"."""
    return VERB_FORMS.get(base) or Verb(base, base + "s", "began" if base == "begin" else base + "ed", "")
