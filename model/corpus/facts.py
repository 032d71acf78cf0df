"""Short facts, then restatements and questions with their right answers: who is where, who has what, which colour.

Many questions a text and several ways of asking teach the binding of a subject to its value.
"""

import json
import random
from collections.abc import Callable, Collection
from pathlib import Path
from typing import NamedTuple

from model.corpus import lexicon
from model.corpus.lexicon import Language, Name, Noun, Place, Verb, with_article
from model.corpus.split import SplitName, is_held_out, pick, pick_common
from model.corpus.writer import Document, capital, document, sentences, unmarked

RELATIONS: dict[str, dict[Language, dict[str, list[str]]]] = json.loads(
    Path(__file__).with_name("phrases.json").read_text(encoding="utf-8")
)["relations"]

Slots = dict[str, str]
WEIGHTS = {"at": 9, "has": 5, "wants": 1, "likes": 2, "job": 1, "age": 1, "count": 2, "colour": 2, "spot": 3, "act": 4}
HABIT_SHARE = 0.35
ACTIVITY_PLACES = [*lexicon.ROOMS, *lexicon.FURNITURE[:4]]


class Fact(NamedTuple):
    """A subject bound to a value: the words that fill a relation's templates in one language."""

    subject: Slots
    value: Slots


def zh_number(number: int) -> str:
    """A number before a measure word: 两, not 二, for two."""
    return "两" if number == 2 else lexicon.NUMBERS[number].zh


def person_slots(name: Name, language: Language) -> Slots:
    """The subject slots of a person: the name and the pronoun that refers to it."""
    if language == "zh":
        return {"s": name.zh, "h": "他" if name.gender == "m" else "她", "who": "谁"}
    return {"s": name.en, "h": "he" if name.gender == "m" else "she", "who": "who"}


def noun_slots(noun: Noun, language: Language) -> Slots:
    """The subject slots of an animal or a thing."""
    if language == "zh":
        return {"s": noun.zh, "h": "它", "who": "什么"}
    return {"s": f"the {noun.en}", "h": "it", "who": "what"}


def place_slots(place: Place, language: Language) -> Slots:
    """The value slots of a place, its noun marked as the part to be answered."""
    if language == "zh":
        return {"v": f"‹{place.zh}› {place.zh_at.removeprefix(place.zh)}"}
    return {"v": place.en_at.removesuffix(place.en) + f"‹{place.en}›"}


def noun_value(noun: Noun, language: Language) -> Slots:
    """The value slots of an indefinite noun, and `w`, the same noun when it is known."""
    if language == "zh":
        return {"v": f"一 {noun.measure} ‹{noun.zh}›", "w": noun.zh}
    article, _ = with_article(noun.en).split(" ", 1)
    return {"v": f"{article} ‹{noun.en}›", "w": f"the {noun.en}"}


def _values(relation: str, rng: random.Random, language: Language) -> tuple[list, Callable[..., Slots]]:
    """What a relation's values are drawn from, and what turns one into slots."""
    en = language == "en"
    if relation == "at":
        return lexicon.ROOMS, lambda place: place_slots(place, language)
    if relation == "spot":
        return lexicon.FURNITURE, lambda place: place_slots(place, language)
    if relation == "job":
        return lexicon.JOBS, lambda noun: noun_value(noun, language)
    if relation == "likes":
        return lexicon.FOODS, lambda noun: {"v": f"‹{noun.plural if en else noun.zh}›"}
    if relation == "colour":
        return lexicon.COLOURS, lambda pair: {"v": f"‹{pair.en if en else pair.zh}›"}
    if relation in ("age", "count"):
        noun = rng.choice([*lexicon.THINGS, *lexicon.FOODS])
        words = {"n": noun.plural if en else f"{noun.measure} {noun.zh}"}

        def number(pair: lexicon.Pair) -> Slots:
            zh = "两" if pair.zh == "二" else pair.zh
            return {"v": f"‹{pair.en if en else zh}›", **words}

        return lexicon.NUMBERS[2:13], number
    return lexicon.THINGS, lambda noun: noun_value(noun, language)


def _subject_slots(subject: Name | Noun, language: Language) -> Slots:
    return person_slots(subject, language) if isinstance(subject, Name) else noun_slots(subject, language)


def draw_activity(rng: random.Random, split: SplitName, used: Collection[str] = ()) -> tuple[Name | Noun, Verb, Place]:
    """Who does what where, often an animal at what it is known for; none of the used words, all within the split."""
    held_out = split == "heldout"

    def allowed(subject: Name | Noun, place: Place) -> bool:
        return place.en not in used and subject.en not in used and is_held_out(subject.en, place.en) == held_out

    if rng.random() < 0.5:
        habits = [habit for habit in lexicon.HABITS if allowed(habit[0], habit[2])]
        if habits and rng.random() < HABIT_SHARE:
            return rng.choice(habits)
        subject: Name | Noun = pick_common(rng, lexicon.PETS, lambda x: x.en not in used)
        verb = rng.choice(lexicon.ANIMAL_ACTIVITIES)
    else:
        subject = pick_common(rng, lexicon.NAMES, lambda x: x.en not in used)
        verb = rng.choice(lexicon.HUMAN_ACTIVITIES)
    return subject, verb, pick(rng, ACTIVITY_PLACES, lambda place: allowed(subject, place))


def _draw_activities(rng: random.Random, language: Language, split: SplitName, n: int) -> list[Fact]:
    """`n` facts of who does what where, with distinct subjects and places."""
    facts: list[Fact] = []
    used: set[str] = set()
    for _ in range(n):
        subject, verb, place = draw_activity(rng, split, used)
        used.update((subject.en, place.en))
        slots = {"third": verb.third, "base": verb.base, "ing": verb.ing, "act": verb.zh}
        facts.append(Fact(_subject_slots(subject, language), place_slots(place, language) | slots))
    return facts


def draw_facts(rng: random.Random, relation: str, language: Language, split: SplitName, n: int) -> list[Fact]:
    """`n` facts of one relation with distinct subjects and values; every (subject, value) belongs to the split."""
    if relation == "act":
        return _draw_activities(rng, language, split, n)
    held_out = split == "heldout"
    values, slots_of = _values(relation, rng, language)
    subjects = lexicon.THINGS if relation in ("colour", "spot") else lexicon.NAMES
    facts: list[Fact] = []
    used: set[str] = set()
    for _ in range(n):
        subject = pick_common(rng, subjects, lambda x: x.en not in used)
        key = subject.en
        value = pick(rng, values, lambda x, key=key: x.en not in used and is_held_out(key, x.en) == held_out)
        used.update((key, value.en))
        facts.append(Fact(_subject_slots(subject, language), slots_of(value)))
    return facts


def _fill(template: str, fact: Fact, answer: str, language: Language) -> str:
    """The template filled; only `answer` ("s", "v" or neither) keeps or gets its marks."""
    slots = fact.subject | fact.value
    if answer != "v":
        slots["v"] = unmarked(slots["v"])
    if answer == "s":
        head, _, noun = slots["s"].rpartition(" ")
        slots["s"] = f"{head} ‹{noun}›" if head else f"‹{noun}›"
    text = template.format_map(slots)
    return capital(text) if language == "en" else text


def state(rng: random.Random, relation: str, fact: Fact, language: Language, answer: str = "") -> str:
    """The fact as a statement, its value marked when `answer` is "v"."""
    return _fill(rng.choice(RELATIONS[relation][language]["state"]), fact, answer, language)


def ask(
    rng: random.Random, relation: str, fact: Fact, language: Language, subject_share: float = 0.4
) -> tuple[str, str]:
    """A question about the fact and its answer, the answer's word marked."""
    asked = "subject" if rng.random() < subject_share else "value"
    phrases = RELATIONS[relation][language]
    question = _fill(rng.choice(phrases[f"ask_{asked}"]), fact, "", language)
    return question, _fill(rng.choice(phrases[f"tell_{asked}"]), fact, asked[0], language)


def facts_document(rng: random.Random, language: Language, split: SplitName) -> Document:
    """Two to five facts of one or two relations, then a few restatements or questions."""
    known: list[tuple[str, Fact]] = []
    names = list(WEIGHTS)
    for _ in range(1 if rng.random() < 0.75 else 2):
        relation = rng.choices(names, list(WEIGHTS.values()))[0]
        if known and relation == known[0][0]:
            continue
        known += [(relation, fact) for fact in draw_facts(rng, relation, language, split, rng.choice((2, 2, 3, 3, 4)))]
    if len({fact.subject["s"] for _, fact in known}) < len(known):
        # The same thing or person drawn by both relations would blur who is asked about: the first one stays.
        known = list({fact.subject["s"]: (relation, fact) for relation, fact in reversed(known)}.values())
    rng.shuffle(known)
    lines = [state(rng, relation, fact, language) for relation, fact in known]
    joint = "\n" if rng.random() < 0.4 else ""
    lines[-1] += joint
    only_restate = rng.random() < 0.3
    for i in range(rng.randint(2, 7)):
        # Each fact is asked once before any is asked again: a second answer could be copied from the first.
        if i % len(known) == 0:
            rng.shuffle(known)
        relation, fact = known[i % len(known)]
        if only_restate or rng.random() < 0.1:
            lines.append(state(rng, relation, fact, language, "v") + joint)
        else:
            question, answer = ask(rng, relation, fact, language)
            lines.append(f"{question} {answer}{joint}")
    return _joined("facts", language, lines)


def who_document(rng: random.Random, language: Language, split: SplitName) -> Document:
    """Two or three facts of one relation, then who each is true of, answered in a word.

    To answer, what was said last has to lead back to the name before it: the other way round than in a restatement.
    One fact is not asked for, as it could be told by being left over.
    """
    relation = rng.choice(("at", "at", "has", "likes"))
    known = draw_facts(rng, relation, language, split, rng.choice((2, 3)))
    lines = [state(rng, relation, fact, language) for fact in known]
    joint = "\n" if rng.random() < 0.3 else ""
    lines[-1] += joint
    for fact in rng.sample(known, len(known) - 1):
        question, _ = ask(rng, relation, fact, language, subject_share=1)
        lines.append(f"{question} ‹{fact.subject['s']}›{'.' if language == 'en' else ' 。'}{joint}")
    return _joined("who", language, lines)


def _joined(kind: str, language: Language, lines: list[str]) -> Document:
    """The document of these sentences, a line break after the last left out."""
    return document(f"{kind}-{language}", sentences(language, [*lines[:-1], lines[-1].rstrip("\n")]))
