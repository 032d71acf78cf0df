"""Scenes: everyone's place and things are told, then people meet, give and play, and only those can who are together.

In a story such a choice comes up once in a while; here it is in every sentence, marked as an answer.
"""

import random

from model.corpus import daily, exchanges
from model.corpus.lexicon import Language
from model.corpus.narrator import Narrator
from model.corpus.split import SplitName
from model.corpus.world import World, new_world
from model.corpus.writer import Document, document, sentences

SCRIPTS = [
    daily.meeting, daily.meeting, daily.trip, daily.fall, daily.stroll, exchanges.give, exchanges.give,
    exchanges.throwing, exchanges.borrow, exchanges.making, exchanges.put_down, exchanges.accident,
]  # fmt: skip


def make_scene(rng: random.Random, split: SplitName) -> World:
    """A world in which two to four scripts run that need people at one place, or someone who has a thing."""
    world = new_world(rng, split, others=(1, 2, 2))
    for being in [*world.people, *world.animals]:
        world.tell("be_at", being, at=being.place)
    for _ in range(rng.randint(0, 2)):
        exchanges.own(world)
    for _ in range(rng.randint(2, 4)):
        rng.choice(SCRIPTS)(world)
    return world


def scene_document(rng: random.Random, language: Language, split: SplitName) -> Document:
    """One scene, without a title and without questions."""
    narrator = Narrator(rng, language, marks=True)
    lines = [narrator.tell(event) for event in make_scene(rng, split).events]
    return document(f"scene-{language}", sentences(language, lines))
