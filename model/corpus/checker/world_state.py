"""Keeps a record of the world that a story tells of, and notes each statement that contradicts it.

Who is where, who has what, what is eaten or broken, which colour a thing has. Knows neither language nor how the
corpus makes its worlds: it hears clauses.
"""

from collections import deque

from model.corpus import lexicon
from model.corpus.checker.clauses import Clause, Ref

_GENDER = {name.en: name.gender for name in lexicon.NAMES}
_BEINGS = ("name", "animal")
_GOODS = ("thing", "food")
_GOING = {"go", "walk", "run", "come", "return"}
_GETTING = {"have", "take", "pick", "buy", "make", "catch", "wear", "prepare", "get", "hold"}
_MEETING = {"meet", "see", "hug", "feed", "help", "chase", "play"}
_SPEAKING = {"say", "ask", "answer"}
# Verbs whose place is where the thing is, not where the subject is.
_ELSEWHERE = {"put", "drop", "throw", "want", "like", "love", *_SPEAKING}
_NEW_EACH_TIME = {*_SPEAKING, "eat"}  # another thing is said, another apple eaten
LATELY = 5  # clauses: what one of so many before has told is no news


class WorldState:
    """The state of a story's world, as told so far; `tell` takes the next clause and gives the kinds of its faults."""

    def __init__(self) -> None:
        self.place: dict[str, dict[str, str]] = {}  # being -> kind of place -> place
        self.stays: dict[str, str] = {}  # being -> the place that a sentence of its own has said it is at
        self.holder: dict[str, str | None] = {}  # thing -> who has it
        self.spot: dict[str, str] = {}  # thing -> where it was put
        self.colour: dict[str, str] = {}
        self.known: set[str] = set()  # things told of
        self.titled: set[str] = set()  # things that only the title names
        self.twins: set[str] = set()  # words that two things share, about which nothing is checked
        self.gone: set[str] = set()
        self.broken: set[str] = set()
        self.met: set[str] = set()  # people and animals told of
        self.gifts: list[tuple[str, str, str]] = []  # giver, thing, taker
        self.last_subject: Ref | None = None
        self.last_thing: Ref | None = None
        self.asker: Ref | None = None  # who has asked for something
        self.lately: deque[tuple] = deque(maxlen=LATELY)  # what the last clauses have told
        self.found: list[str] = []

    def tell(self, clause: Clause, answer: bool = False) -> list[str]:
        """The clause becomes part of the story. An answer must agree with it: its "a ball" is one that is known."""
        self.found = []
        subjects = [self._resolve(ref, subject=True) for ref in clause.subjects]
        refs = [(role, self._resolve(ref)) for role, ref in clause.refs]
        clause = Clause(
            [ref for ref in subjects if ref],
            clause.verb,
            [(role, ref) for role, ref in refs if ref],
            clause.negated,
            clause.colour,
            clause.quality,
            owner=clause.owner,
        )
        if clause.owner in ("m", "f") and not any(_GENDER.get(being) == clause.owner for being in self._told(clause)):
            self.found.append("pronoun")
        for ref in (*clause.subjects, *(ref for _, ref in clause.refs)):
            self._mention(ref, clause, answer)
        if len(subjects) == len(clause.subjects):  # else a pronoun is open, and nothing can be said
            self._act(clause, answer)
        if not answer:
            self._hear(clause)
        self._remember(clause)
        return self.found

    def say(self, speaker: Ref | None, asks: bool, grants: bool) -> list[str]:
        """Somebody asks for something, or grants it: nobody grants what they themselves have asked for."""
        found = ["self"] if grants and speaker and self.asker and speaker.key == self.asker.key else []
        if asks or grants:
            self.asker = speaker if asks else None
        return found

    def count(self, place: str) -> int | None:
        """How many people are at a room; None while the place of one of them has not been told."""
        rooms = [self.place.get(being, {}).get("place") for being in self.met if being in _GENDER]
        return None if None in rooms else rooms.count(place)

    def introduce(self, refs: list[Ref]) -> None:
        """People and things that a title names."""
        self.titled |= {ref.key for ref in refs if ref.kind in _GOODS}
        self.met |= {ref.key for ref in refs if ref.kind in _BEINGS}

    def _told(self, clause: Clause) -> set[str]:
        """Everyone told of, in this clause or before."""
        return self.met | {ref.key for ref in clause.subjects if ref.kind in _BEINGS}

    def _resolve(self, ref: Ref, subject: bool = False) -> Ref | None:
        """What a pronoun means: the last subject, else the last thing, else the one person it fits; None when open."""
        if ref.kind != "pronoun":
            return ref
        last = self.last_subject
        if ref.key == "n":
            last = last if last and last.kind != "name" else None
            meant = last or self.last_thing if subject else self.last_thing or last
        elif last and last.kind == "name" and _GENDER[last.key] == ref.key:
            meant = last
        else:
            fitting = [person for person in self.met if _GENDER.get(person) == ref.key]
            if not fitting:
                self.found.append("pronoun")
            meant = Ref("name", fitting[0]) if len(fitting) == 1 else None
        return meant._replace(said=False, colour="") if meant else None

    def _hear(self, clause: Clause) -> None:
        """Who does the same again, or is as they have just been."""
        refs = tuple((role, ref.key) for role, ref in clause.refs)
        subjects = tuple(ref.key for ref in clause.subjects)
        told = (subjects, clause.verb, refs, clause.negated, clause.colour, clause.quality)
        news = clause.verb in _NEW_EACH_TIME or told not in self.lately or not (refs or clause.colour or clause.quality)
        if subjects and not news and "twice" not in self.found:
            self.found.append("twice")
        self.lately.append(told)

    def _remember(self, clause: Clause) -> None:
        one = clause.subjects[0] if len(clause.subjects) == 1 else None
        self.last_subject = one if one and one.kind in (*_BEINGS, *_GOODS) else None
        things = [ref for _, ref in clause.refs if ref.kind in (*_GOODS, "animal")]
        self.last_thing = things[-1] if things else self.last_thing

    def _mention(self, ref: Ref, clause: Clause, answer: bool) -> None:
        """A person, or a thing: a new one may be told of with "a", an old one only while it is there."""
        if ref.kind in _BEINGS:
            if answer and ref.key not in self.met:
                self.found.append("unmentioned")
            self.met.add(ref.key)
        if ref.kind not in _GOODS or not ref.said:
            return
        if answer or ref.definite:
            if ref.key not in self.known | self.titled:
                self.found.append("unmentioned")
            if ref.key in self.gone:
                self.found.append("gone")
        elif ref.definite is False and ref.key in self.known and ref.key not in self.gone:
            self.twins.add(ref.key)
        if ref.definite is False or clause.verb in ("find", "look", "lose"):
            self.gone.discard(ref.key)  # another one
        self.known.add(ref.key)
        if ref.colour and not clause.negated:
            self._paint(ref.key, ref.colour)

    def _paint(self, thing: str, colour: str) -> None:
        if thing not in self.twins and self.colour.setdefault(thing, colour) != colour:
            self.found.append("colour")
        self.colour[thing] = colour

    def _act(self, clause: Clause, answer: bool) -> None:
        """What the verb does to the world."""
        verb, beings = clause.verb, [ref.key for ref in clause.subjects if ref.kind in _BEINGS]
        at = clause.role("at", "place", "furniture")
        goal = clause.role("to", "place") or clause.role("", "place")
        if verb in _GOING and goal:
            self._go(beings, goal, clause.negated)
        elif at and verb not in _ELSEWHERE and not (at.kind == "furniture" and self._good(clause)):
            for being in beings:
                self._stand(being, at)
            if verb == "be" and not answer:
                self._say_where(beings, at)
        if verb == "be" and clause.subjects and clause.subjects[0].kind in _GOODS:
            self._describe(clause.subjects[0].key, clause, at)
        if clause.negated:
            return
        if len({*beings}) < len(beings) or any(ref.said and ref.key in beings for _, ref in clause.refs):
            self.found.append("self")
        if verb == "have" and beings and clause.role("", "people", "name"):
            self.found.append("person")
        thing = self._good(clause)
        if thing and beings:
            self._handle(beings[0], verb, thing.key, clause, answer)
        elif verb in _MEETING and len(beings) == 1:
            other = clause.role("", *_BEINGS) or clause.role("with", *_BEINGS)
            if other:
                self._together(beings[0], other.key)
        if verb == "break":
            self._break(thing or (clause.subjects[0] if clause.subjects else None))

    def _good(self, clause: Clause) -> Ref | None:
        """The thing that is acted on; English says "puts on a scarf" with the scarf after the preposition."""
        worn = clause.role("at", *_GOODS) if clause.verb == "put" else None
        return clause.role("", *_GOODS) or worn

    def _go(self, beings: list[str], goal: Ref, negated: bool) -> None:
        if beings and not negated and all(self.place.get(being, {}).get(goal.kind) == goal.key for being in beings):
            self.found.append("there")
        for being in beings:
            self.place[being] = {goal.kind: goal.key}
            self.stays.pop(being, None)

    def _say_where(self, beings: list[str], at: Ref) -> None:
        """ "Tom is in the kitchen" is news only once, until he goes."""
        if beings and all(self.stays.get(being) == at.key for being in beings):
            self.found.append("twice")
        self.stays |= dict.fromkeys(beings, at.key)

    def _stand(self, being: str, at: Ref) -> None:
        places = self.place.setdefault(being, {})
        if places.setdefault(at.kind, at.key) != at.key:
            self.found.append("place")
            places[at.kind] = at.key

    def _describe(self, thing: str, clause: Clause, at: Ref | None) -> None:
        """ "The ball is red", "the ball is on the table"."""
        if thing in self.twins or clause.negated:
            return
        if clause.colour:
            self._paint(thing, clause.colour)
        if at and self.holder.get(thing):
            self.found.append("owner")
        elif at and at.kind == "furniture" and self.spot.setdefault(thing, at.key) != at.key:
            self.found.append("place")

    def _together(self, one: str, other: str) -> None:
        """The two must be at one place; where only one's is known, it is now the other's as well."""
        rooms = [self.place.get(being, {}).get("place") for being in (one, other)]
        if None not in rooms and rooms[0] != rooms[1]:
            self.found.append("apart")
        known = rooms[0] or rooms[1]
        if known and None in rooms:
            for being in (one, other):
                self.place.setdefault(being, {})["place"] = known

    def _handle(self, person: str, verb: str, thing: str, clause: Clause, answer: bool) -> None:
        """What someone does with a thing: only who has it can give, show, put down, drop or eat it."""
        other = clause.role("to", *_BEINGS) or clause.role("", *_BEINGS) or clause.role("from", *_BEINGS)
        if thing in self.gone:
            self.found.append("gone")
        if answer:
            self._check_answer(person, verb, thing, other)
        elif verb in _GETTING or (verb == "put" and not clause.role("at", "place", "furniture")):
            self._owned_by(person, thing)
            self._hold(thing, person)
        elif verb == "find":
            if thing in self.known:
                self._owned_by(person, thing)
            self._hold(thing, person)
        elif verb in ("give", "throw") and other:
            self._owned_by(person, thing)
            self._together(person, other.key)
            self._hold(thing, other.key)
            self.gifts.append((person, thing, other.key))
        elif verb == "borrow" and other:
            self._owned_by(other.key, thing)
            self._together(person, other.key)
            self._hold(thing, person)
        elif verb in ("show", "look") and other:
            self._owned_by(person, thing)
            self._together(person, other.key)
        elif verb in ("put", "drop", "eat"):
            self._owned_by(person, thing)
            self._leave(verb, thing, clause)
        elif verb == "fix":
            if thing not in self.broken and thing not in self.twins:
                self.found.append("broken")
            self.broken.discard(thing)
            self.holder[thing] = None

    def _leave(self, verb: str, thing: str, clause: Clause) -> None:
        spot = clause.role("at", "furniture", "place")
        if verb == "put" and spot:
            self._hold(thing, None)
            self.spot[thing] = spot.key
        elif verb == "eat":
            self._hold(thing, None)
            self.gone.add(thing)
            self.twins.discard(thing)

    def _check_answer(self, person: str, verb: str, thing: str, other: Ref | None) -> None:
        if verb == "have":
            if thing in self.spot and not self.holder.get(thing):
                self.found.append("owner")
            self._owned_by(person, thing)
        elif verb == "give" and other:
            given = [gift for gift in self.gifts if gift[1] == thing]
            if given and (person, thing, other.key) not in given:
                self.found.append("owner")

    def _owned_by(self, person: str, thing: str) -> None:
        if thing not in self.twins and self.holder.get(thing) not in (None, person):
            self.found.append("owner")

    def _hold(self, thing: str, person: str | None) -> None:
        self.holder[thing] = person
        self.spot.pop(thing, None)

    def _break(self, thing: Ref | None) -> None:
        if thing is None or thing.kind not in _GOODS or thing.key in self.twins:
            return
        if thing.key in self.broken:
            self.found.append("broken")
        self.broken.add(thing.key)
