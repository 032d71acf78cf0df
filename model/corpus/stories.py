"""Story documents: a world's events told in English or Chinese, some with a title, many with questions after."""

import random
from typing import NamedTuple

from model.corpus import lexicon
from model.corpus.facts import Fact, ask, noun_slots, noun_value, person_slots, place_slots
from model.corpus.lexicon import Language, Name
from model.corpus.narrator import Narrator
from model.corpus.scripts import make_story
from model.corpus.split import SplitName
from model.corpus.world import Being, World
from model.corpus.writer import Document, document, sentences

_TELLS_PLACE = {"be_at", "once_at", "go", "together", "stay", "act", "together_act", "meet", "come"}
_COLOURS = set(lexicon.COLOURS)
_THOROUGH = 8  # questions after a story that asks for everything it has told


class Known(NamedTuple):
    """A fact that the story has told, and the share of questions about it that may ask for its subject."""

    relation: str
    fact: Fact
    subject_share: float


def _subject(being: Being, language: Language) -> dict[str, str]:
    return person_slots(being.word, language) if isinstance(being.word, Name) else noun_slots(being.word, language)


def _told_places(world: World) -> list[Being]:
    """The people and animals whose place the story has told."""
    told: dict[int, Being] = {}
    for event in world.events:
        if event.kind in _TELLS_PLACE:
            beings = event.s if isinstance(event.s, tuple) else (event.s,)
            for being in (*beings, event.r) if event.kind == "meet" else beings:
                told[id(being)] = being
    return list(told.values())


def known_facts(world: World, language: Language) -> list[Known]:
    """What holds at the end of the story and was told in it."""
    facts = []
    for being in _told_places(world):
        alone = not any(other is not being and other.place is being.place for other in [*world.people, *world.animals])
        relation = "at" if isinstance(being.word, Name) else "spot"
        fact = Fact(_subject(being, language), place_slots(being.place, language))
        facts.append(Known(relation, fact, 0.4 if alone else 0))
    for thing in world.things:
        if thing.holder is not None:
            only = len(world.held_by(thing.holder)) == 1
            fact = Fact(_subject(thing.holder, language), noun_value(thing.word, language))
            facts.append(Known("has", fact, 0.4 if only else 1))
        elif thing.spot is not None:
            facts.append(Known("spot", Fact(noun_slots(thing.word, language), place_slots(thing.spot, language)), 0))
        if thing.quality is not None and thing.quality in _COLOURS:
            colour = {"v": f"‹{thing.quality.en if language == 'en' else thing.quality.zh}›"}
            facts.append(Known("colour", Fact(noun_slots(thing.word, language), colour), 0))
    return facts + _given(world, language)


def _given(world: World, language: Language) -> list[Known]:
    """Who gave what to whom, for things that changed hands once."""
    gifts = [event for event in world.events if event.kind == "give"]
    known = []
    for event in gifts:
        if sum(other.o is event.o for other in gifts) > 1:
            continue
        taker, thing = event.r.word, event.o.word
        if language == "zh":
            value = {"v": f"‹{taker.zh}›", "w": thing.zh}
        else:
            value = {"v": f"‹{taker.en}›", "w": f"the {thing.en}"}
        known.append(Known("gave", Fact(_subject(event.s, language), value), 0.5))
    return known


def _crowd(world: World, language: Language) -> tuple[str, str] | None:
    """How many people are at one place, when the story has told where everyone is."""
    if len(_told_places(world)) < len(world.people) + len(world.animals):
        return None
    place = world.rng.choice(world.people).place
    n = sum(person.place is place for person in world.people)
    if place not in lexicon.ROOMS:
        return None
    if language == "zh":
        return f"{place.zh_at} 有 几 个 人 ？", f"{place.zh_at} 有 ‹{('一', '两', '三')[n - 1]}› 个 人 。"
    number = ("One", "Two", "Three")[n - 1]
    return f"How many people are {place.en_at}?", f"‹{number}›."


def _title(world: World, language: Language) -> str:
    """A title from who and what the story is about."""
    who = world.people[0].word
    others = [being.word for being in [*world.people[1:], *world.animals]] + [thing.word for thing in world.things]
    other = world.rng.choice(others)
    if language == "zh":
        return f"{who.zh} 和 {other.zh}\n"
    return f"{who.en} and {other.en if isinstance(other, Name) else 'the ' + other.en}\n"


def story_document(rng: random.Random, language: Language, split: SplitName, thorough: bool = False) -> Document:
    """One story, mostly of 3 to 12 sentences, perhaps with a title before and questions with their answers after.

    `thorough` asks for everything that was told, up to eight questions.
    """
    world = make_story(rng, split)
    narrator = Narrator(rng, language)
    lines = [narrator.tell(event) for event in world.events]
    if rng.random() < 0.15:
        lines.insert(0, _title(world, language))
    facts = known_facts(world, language)
    if facts and (thorough or rng.random() < 0.6):
        lines[-1] += "\n"
        asked = _THOROUGH if thorough else rng.choice((1, 2, 3, 4, 5))
        for known in rng.sample(facts, min(len(facts), asked)):
            crowd = _crowd(world, language) if rng.random() < 0.08 else None
            question, answer = crowd or ask(rng, known.relation, known.fact, language, known.subject_share)
            lines.append(f"{question} {answer}\n")
        lines[-1] = lines[-1].rstrip("\n")
    return document(f"story-{language}", sentences(language, lines))
