"""Tells a world's events in English or Chinese: templates filled with names, pronouns that refer, articles, tense.

A pronoun stands for the subject of the sentence before, and only when nobody else in that sentence could be meant.
"""

import json
import random
import re
from functools import cache
from pathlib import Path

from model.corpus.lexicon import Language, Name, Noun, Pair, Verb, verb_of, with_article
from model.corpus.world import Being, Event, Thing
from model.corpus.writer import capital

EVENTS: dict[str, dict[Language, list[str]]] = json.loads(
    Path(__file__).with_name("phrases.json").read_text(encoding="utf-8")
)["events"]
_VERB = re.compile(r"\[(\w+)\]")
ENGLISH_PRONOUNS = {"m": ("he", "him", "his"), "f": ("she", "her", "her"), "n": ("it", "it", "its")}
CHINESE_PRONOUNS = {"m": "他", "f": "她", "n": "它"}
PAST_SHARE = 0.35


@cache
def _english_templates(kind: str, tense: str, plural: bool) -> list[str]:
    """The event's English templates with each [verb] in the form that tense and number ask for."""

    def form(match: re.Match[str]) -> str:
        base = match[1]
        if base == "be":
            return {"present": ("is", "are"), "past": ("was", "were")}[tense][plural]
        verb = verb_of(base)
        return verb.past if tense == "past" else verb.base if plural else verb.third

    return [_VERB.sub(form, template) for template in EVENTS[kind]["en"]]


class Narrator:
    """Tells events one after the other, and remembers what has been mentioned."""

    def __init__(self, rng: random.Random, language: Language) -> None:
        self.rng = rng
        self.language: Language = language
        self.tense = "past" if rng.random() < PAST_SHARE else "present"
        self.mentioned: set[int] = set()
        self.last_subject: Being | Thing | None = None
        self.last_others: list[Being | Thing] = []
        self.curly = rng.random() < 0.4

    def tell(self, event: Event) -> str:
        """The event as one sentence."""
        if event.kind == "weather":
            text = (
                f"{event.x.zh} 。"
                if self.language == "zh"
                else (event.x.past if self.tense == "past" else event.x.en) + "."
            )
            self.last_subject = None
            return text
        if self.language == "zh":
            templates = EVENTS[event.kind]["zh"]
            text = self.rng.choice(templates).format_map(self._chinese(event))
        else:
            plural = isinstance(event.s, tuple)
            templates = _english_templates(event.kind, self.tense, plural)
            text = capital(self.rng.choice(templates).format_map(self._english(event)))
            if not self.curly:
                text = text.replace("“", '"').replace("”", '"')
        # "There is a ball" names only the ball, whoever sees it.
        names_subject = isinstance(event.s, Being | Thing) and event.kind != "there_is"
        self.last_subject = event.s if names_subject else None
        self.last_others = [part for part in (event.o, event.r) if part is not None]
        for part in (event.s, event.o, event.r):
            self.mentioned.add(id(part))
        return text

    def _takes_pronoun(self, entity: Being | Thing) -> bool:
        """Whether a pronoun for this subject is clear, and chosen."""
        if entity is not self.last_subject:
            return False
        gender = _gender(entity)
        return all(_gender(other) != gender for other in self.last_others) and self.rng.random() < 0.65

    def _is_it(self, thing: Thing) -> bool:
        """Whether "it" for this object is clear, and chosen: the one thing that the sentence before was about."""
        clear = [o for o in self.last_others if _gender(o) == "n"] == [thing]
        clear = clear and (self.last_subject is None or _gender(self.last_subject) != "n")
        return clear and self.rng.random() < 0.5

    def _english_noun(self, thing: Thing) -> str:
        """ "a red ball" when new, then "the red ball" or "the ball"."""
        phrase = f"{thing.quality.en} {thing.word.en}" if thing.quality else thing.word.en
        if id(thing) not in self.mentioned:
            return with_article(phrase)
        return "the " + (phrase if self.rng.random() < 0.4 else thing.word.en)

    def _english(self, event: Event) -> dict[str, str]:
        """What fills the slots of an English template; {k} is an object, never "it": nobody says "gives Tom it"."""
        s, o, r, at, x = event.s, event.o, event.r, event.at, event.x
        slots: dict[str, str] = {}
        if isinstance(s, tuple):
            slots["s"] = f"{s[0].word.en} and {s[1].word.en}"
        elif s is not None:
            he, _, his = ENGLISH_PRONOUNS[_gender(s)]
            name = s.word.en if isinstance(s.word, Name) else f"the {s.word.en}"
            slots |= {"s": he if self._takes_pronoun(s) else name, "s2": he, "his": his, "sn": s.word.en}
        if o is not None:
            known = id(o) in self.mentioned
            noun = self._english_noun(o)
            slots |= {"o": "it" if known and self._is_it(o) else noun, "k": noun, "n": o.word.en}
        if r is not None:
            slots |= {"r": r.word.en if isinstance(r.word, Name) else f"the {r.word.en}", "rn": r.word.en}
        if at is not None:
            slots |= {"at": at.en_at, "p": at.en_the}
        if isinstance(x, Verb):
            slots["verb"] = x.past if self.tense == "past" else x.base if isinstance(s, tuple) else x.third
        elif x is not None:
            slots |= {"x": x.en, "time": x.en, "xs": x.plural if isinstance(x, Noun) else x.en}
        return slots

    def _chinese_noun(self, thing: Thing) -> str:
        """一个红色的球 when new, then 红色的球, 那个球 or 球."""
        quality = thing.quality.zh if thing.quality else ""
        link = "" if not quality else f"{quality} " if len(quality) == 1 else f"{quality} 的 "
        if id(thing) not in self.mentioned:
            return f"一 {thing.word.measure} {link}{thing.word.zh}"
        chance = self.rng.random()
        if chance < 0.3:
            return f"{link}{thing.word.zh}"
        return f"那 {thing.word.measure} {thing.word.zh}" if chance < 0.6 else thing.word.zh

    def _chinese(self, event: Event) -> dict[str, str]:
        """What fills the slots of a Chinese template; {d} is a definite object, as 把 wants, {k} one never 它."""
        s, o, r, at, x = event.s, event.o, event.r, event.at, event.x
        slots: dict[str, str] = {}
        if isinstance(s, tuple):
            slots["s"] = f"{s[0].word.zh} 和 {s[1].word.zh}"
        elif s is not None:
            he = CHINESE_PRONOUNS[_gender(s)]
            slots |= {"s": he if self._takes_pronoun(s) else s.word.zh, "he": he, "sn": s.word.zh}
        if o is not None:
            known = id(o) in self.mentioned
            name = "它" if known and self._is_it(o) else self._chinese_noun(o)
            slots |= {
                "o": name,
                "d": name if known else o.word.zh,
                "k": f"那 {o.word.measure} {o.word.zh}",
                "n": o.word.zh,
            }
        if r is not None:
            slots |= {"r": r.word.zh, "rn": r.word.zh}
        if at is not None:
            slots |= {"at": at.zh_at, "p": at.zh}
        if isinstance(x, Verb):
            slots["act"] = x.zh
        elif isinstance(x, Pair | Noun):
            slots |= {
                "x": x.zh,
                "time": x.zh,
                "xz": x.zh,
                "xq": f"一 {x.measure} {x.zh}" if isinstance(x, Noun) else x.zh,
            }
        return slots


def _gender(entity: Being | Thing) -> str:
    return entity.gender if isinstance(entity, Being) else "n"
