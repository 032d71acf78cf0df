"""The little world: who is where, who has what, and the events that change it.

A `World` runs short scripts (someone is hungry, something is lost, a birthday); each checks what it needs, changes the
state and leaves `Event`s, which `narrator` tells in either language.
"""

import random
from dataclasses import dataclass, field
from typing import Any

from model.corpus import lexicon
from model.corpus.lexicon import Name, Noun, Pair, Place
from model.corpus.split import SplitName, is_held_out, is_pair_held_out, pick, pick_common


@dataclass(eq=False, slots=True)
class Being:
    """A person or an animal of the story, and where it is."""

    word: Name | Noun
    gender: str
    place: Place


@dataclass(eq=False, slots=True)
class Thing:
    """A thing of the story: held by a person, or at a place, perhaps on a piece of furniture; or gone when eaten."""

    word: Noun
    quality: Pair | None = None
    holder: Being | None = None
    place: Place | None = None
    spot: Place | None = None


@dataclass(slots=True)
class Event:
    """What happened: a key of the phrases, and who and what took part, which depends on the kind.

    `s` is the subject (a `Being`, a `Thing` or two beings), `o` a `Thing`, `r` whom it is done to, `at` a `Place`
    and `x` a word (a feeling, an activity, the weather).
    """

    kind: str
    s: Any = None
    o: Any = None
    r: Any = None
    at: Any = None
    x: Any = None


@dataclass(slots=True)
class World:
    """One story's people, animals and things, with the events so far."""

    rng: random.Random
    split: SplitName
    people: list[Being] = field(default_factory=list)
    animals: list[Being] = field(default_factory=list)
    things: list[Thing] = field(default_factory=list)
    rooms: list[Place] = field(default_factory=list)
    events: list[Event] = field(default_factory=list)

    def tell(self, kind: str, s: Being | Thing | tuple[Being, Being] | None = None, **parts: Any) -> None:
        """Adds an event."""
        self.events.append(Event(kind, s, **parts))

    def allowed(self, being: Being, place: Place) -> bool:
        """Whether this person may be at this place: training never shows a held-out pair of name and place."""
        return self.split == "heldout" or not (isinstance(being.word, Name) and is_held_out(being.word.en, place.en))

    def new_thing(self, words: list[Noun], plain: bool = False, **where: Any) -> Thing:
        """A thing not yet in the story, often with a colour or a quality unless it is to be plain."""
        rng, used = self.rng, {thing.word.en for thing in self.things}
        word = pick_common(rng, words, lambda noun: noun.en not in used)
        chance = 1.0 if plain else rng.random()
        quality = None
        if chance < 0.55 and words is lexicon.THINGS:
            quality = rng.choice(lexicon.COLOURS)
        elif chance < 0.75:
            quality = rng.choice(lexicon.SIZES if words is lexicon.FOODS else lexicon.STORY_QUALITIES)
        thing = Thing(word, quality, **where)
        self.things.append(thing)
        return thing

    def held_by(self, being: Being) -> list[Thing]:
        """What this person has."""
        return [thing for thing in self.things if thing.holder is being]

    def anyone(self) -> Being:
        """Some person of the story."""
        return self.rng.choice(self.people)

    def together(self) -> tuple[Being, Being] | None:
        """Two people at one place, the second brought there when nobody is; None when they may not meet there."""
        first = self.anyone()
        here = self.others_with(first)
        if here:
            return first, self.rng.choice(here)
        other = self.rng.choice([person for person in self.people if person is not first])
        if not self.allowed(other, first.place):
            return None
        self.move(other, first.place)
        return first, other

    def others_with(self, being: Being) -> list[Being]:
        """The other people at the same place."""
        return [other for other in self.people if other is not being and other.place is being.place]

    def move(self, being: Being, place: Place) -> None:
        """Brings a person to a place, told as an event, unless they are there."""
        if being.place is not place:
            being.place = place
            self.tell("go", being, at=place)

    def spot_near(self, being: Being) -> Place:
        """A piece of furniture, or a bench or a tree, that stands where this person is."""
        return self.rng.choice(lexicon.OUTDOOR_SPOTS if being.place in lexicon.OUTDOORS else lexicon.TOPS)

    def other_room(self, being: Being) -> Place:
        """A room of the story where this person may be and is not."""
        rooms = [room for room in self.rooms if room is not being.place and self.allowed(being, room)]
        return self.rng.choice(rooms) if rooms else being.place


def new_world(rng: random.Random, split: SplitName) -> World:
    """Two or three people and perhaps an animal, each somewhere; the cast belongs to the split."""
    held_out = split == "heldout"
    world = World(rng, split)
    names = [pick_common(rng, lexicon.NAMES, lambda _: True)]
    for _ in range(rng.choice((1, 1, 1, 2))):
        names.append(
            pick(
                rng,
                lexicon.NAMES,
                lambda name: (
                    name not in names and all(is_pair_held_out(name.en, other.en) == held_out for other in names[:1])
                    and (held_out or all(not is_pair_held_out(name.en, other.en) for other in names))
                ),
            )
        )  # fmt: skip
    world.rooms = [pick_common(rng, lexicon.ROOMS, lambda _: True)]
    while len(world.rooms) < 5:
        world.rooms.append(pick_common(rng, lexicon.ROOMS, lambda room: room not in world.rooms))
    for name in names:
        being = Being(name, name.gender, world.rooms[0])
        rooms = [room for room in world.rooms[:3] if world.allowed(being, room)] or [
            pick(rng, lexicon.ROOMS, lambda room, being=being: world.allowed(being, room))
        ]
        being.place = rng.choice(rooms)
        world.people.append(being)
    if rng.random() < 0.5:
        animal = pick_common(rng, lexicon.PETS, lambda _: True)
        world.animals.append(Being(animal, "n", rng.choice(world.rooms if rng.random() < 0.75 else lexicon.SEATS)))
    return world
