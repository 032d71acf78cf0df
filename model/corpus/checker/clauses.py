"""What a sentence says, in the same form for both languages: who, what they do, to what or whom, where.

Reads word by word and knows no sentence templates: a preposition gives its role to the noun after it.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import NamedTuple

from model.corpus.checker.sentences import QUOTE, Sentence
from model.corpus.checker.vocabulary import Word, cut, measure_words


class Ref(NamedTuple):
    """A person, animal, thing or place that a sentence names, or a pronoun (kind "pronoun").

    `definite` is True after "the" or 那, False after "a" or a number, None where the text leaves it open ("his bag").
    `said` is False for what a pronoun stands for.
    """

    kind: str
    key: str
    definite: bool | None = None
    colour: str = ""
    said: bool = True


@dataclass
class Clause:
    """One statement. `refs` are all but the subjects, each with its role.

    A role is "" (object), "at" (in, on, at, by, under), "to", "from", "for", "with", "after" or "near".
    """

    subjects: list[Ref] = field(default_factory=list)
    verb: str = ""
    refs: list[tuple[str, Ref]] = field(default_factory=list)
    negated: bool = False
    colour: str = ""
    quality: str = ""  # another adjective said of the subject: "is hungry", 很饿
    number: str = ""
    owner: str = ""  # the gender of "his", "her", "its"

    def role(self, role: str, *kinds: str) -> Ref | None:
        """The first reference in this role and of one of these kinds."""
        return next((ref for name, ref in self.refs if name == role and ref.kind in kinds), None)


NOUN_KINDS = ("name", "animal", "thing", "food", "people", "place", "furniture")
_AT_FIRST = ("place", "furniture", "name", "animal", "thing", "food", "people")
_ROLES = {
    "en": dict.fromkeys(("in", "on", "at", "by", "under"), "at")
    | dict.fromkeys(("near", "behind"), "near")
    | {"to": "to", "for": "for", "with": "with", "from": "from", "after": "after", "before": "after"},
    "zh": {
        "在": "at",
        "到": "to",
        "来到": "to",
        "把": "",
        "给": "to",
        "送给": "to",
        "对": "to",
        "让": "to",
        "向": "from",
    }
    | {"为": "for", "跟着": "after"},
}
_PRONOUNS = {"he": "m", "him": "m", "she": "f", "it": "n", "他": "m", "她": "f", "它": "n"}
_DEFINITE = {"the", "那", "这"}
_OWNING = {"my": "", "your": "", "his": "m", "her": "f", "its": "n"}
_INDEFINITE = {"a", "an", "some"}
_LINKS = {"and", "but", "so", "because", ",", "，"}
# Chinese verbs that have several English ones, or none, in the lexicon.
_CHINESE_VERBS = {"做": "make", "叫": "call", "看": "look", "吃": "eat", "喝": "drink", "找": "lose", "帮": "help"}
_CHINESE_VERBS |= {"准备": "prepare", "拿起": "take", "走": "walk", "跑": "run", "坐": "sit", "来到": "come"}
_CHINESE_VERBS |= {
    "送给": "give",
    "破": "break",
    "坏": "break",
    "过来": "come",
    "睡着": "sleep",
    "说": "say",
    "掉": "drop",
}


class _Reader:
    """Reads the clauses of one sentence."""

    def __init__(self, sentence: Sentence) -> None:
        self.language = sentence.language
        self.words = [word for word in sentence.words if word is not QUOTE]
        self.spoken = bool(sentence.words) and sentence.words[0] is QUOTE
        self.clause = Clause()
        self.described = False  # an adjective has been said of the subject, as Chinese does without a verb
        self._reset()

    def _reset(self) -> None:
        self.role: str | None = None
        self.definite: bool | None = None
        self.colour = ""
        self.counted = False  # a number or 那 has been read: its measure word comes
        self.noun = False  # an article, a number or an owner has been read: a noun comes

    def clauses(self) -> Iterator[Clause]:
        """The sentence's clauses in order."""
        for i, word in enumerate(self.words):
            if word.text in _LINKS:
                if (self.clause.verb or self.described) and any(map(self._can_be_verb, range(i + 1, len(self.words)))):
                    yield self._finish()
                    self.described = False
                    # "sits down and eats": the same subject; "so he stays": another one, which replaces it.
                    self.clause = Clause(list(self.clause.subjects) if self._goes_on(i + 1) else [])
                self._reset()
            else:
                self._read(i, word)
        yield self._finish()

    def _finish(self) -> Clause:
        clause = self.clause
        if self.spoken and not clause.subjects:  # “…” says Tom
            clause.subjects = [ref for role, ref in clause.refs if not role]
            clause.refs = [(role, ref) for role, ref in clause.refs if role]
        if not clause.verb and (clause.colour or self.described or any(role == "at" for role, _ in clause.refs)):
            clause.verb = "be"
        return clause

    def _goes_on(self, i: int) -> bool:
        """Whether a clause that starts at word i takes over the subject before it."""
        if self.language == "en":
            return self._can_be_verb(i)
        return not any(w.text in _PRONOUNS or w.sense("name") for w in self.words[i : i + 2])

    def _can_be_verb(self, i: int) -> bool:
        word, before = self.words[i], self.words[i - 1].text.lower() if i else ""
        if self.language == "en":
            noun = before in {*_DEFINITE, *_INDEFINITE, *_OWNING} or bool(
                i and self.words[i - 1].sense("colour", "adjective")
            )
            return word.sense("verb") is not None and not noun
        return word.text in _CHINESE_VERBS or word.sense("verb") is not None

    def _read(self, i: int, word: Word) -> None:
        text = word.text if word.sense("name") else word.text.lower()
        after = self.words[i + 1] if i + 1 < len(self.words) else None
        if text in ("not", "cannot", "不", "没有"):
            self.clause.negated = True
        elif after and after.text in ("'s", "的") and (word.sense("name") or text in _PRONOUNS):
            self.noun = True  # an owner, not one who takes part
            self.clause.owner = _PRONOUNS.get(text, "")
        elif text in _OWNING and not (text == "her" and not self._starts_noun(after)):
            self.noun = True
            self.clause.owner = _OWNING[text]
        elif text in _DEFINITE:
            self.noun, self.definite, self.counted = True, True, text in ("那", "这")
        elif self.counted and text in measure_words():
            self.counted = False
        elif text in _INDEFINITE or word.sense("number") or text == "两":
            self.noun, self.definite, self.counted = True, False, self.language == "zh"
            self.clause.number = "" if text in _INDEFINITE else text
        elif self._reads_role(text):
            pass
        elif self._can_be_verb(i) and not (self.language == "en" and self.noun):
            self._verb(text, word)
        elif text in _PRONOUNS or text == "her":
            self._ref(Ref("pronoun", _PRONOUNS.get(text, "f")))
        elif colour := word.sense("colour"):
            self.colour = self.clause.colour = colour.key
        else:
            quality = word.sense("adjective")
            if quality and self.clause.subjects:
                self.described = True
                self.clause.quality = "" if self.noun else quality.key
            self._noun(word)

    def _reads_role(self, text: str) -> bool:
        """Takes a preposition; a Chinese one may be the verb as well: 把球给了莉莉."""
        clause, role = self.clause, _ROLES[self.language].get(text)
        if role is None:
            return False
        self.role = role
        if self.language == "zh":
            if text == "给" and not clause.verb and any(not role for role, _ in clause.refs):
                clause.verb = "give"
            elif text in ("来到", "送给"):
                clause.verb = _CHINESE_VERBS[text]
            elif text == "到" and clause.verb in ("run", "walk", "come"):
                clause.verb = "go"
        return True

    def _starts_noun(self, word: Word | None) -> bool:
        return word is not None and word.sense("adjective", "colour", "noun", *NOUN_KINDS) is not None

    def _verb(self, text: str, word: Word) -> None:
        sense = word.sense("verb")
        key = _CHINESE_VERBS.get(text) if self.language == "zh" else None
        key = key or min(s.key for s in word.senses if s.kind == "verb")
        doing = sense is not None and sense.form == "ing"
        before = self.clause.verb
        # "is sleeping", "does he sleep", 坐下来吃, 来帮助: what counts is the second verb.
        if not before or (doing and before == "be") or before == "do" or before in ("sit", "come"):
            self.clause.verb = key
        self._reset()

    def _noun(self, word: Word) -> None:
        kinds = _AT_FIRST if self.role == "at" else NOUN_KINDS
        # What is said of many, "likes cakes", is said of none in particular.
        one = Word(word.text, tuple(sense for sense in word.senses if sense.form != "many"))
        if sense := one.sense(*kinds):
            self._ref(Ref(sense.kind, sense.key, self.definite, self.colour))
        elif word.sense("noun", "drink", "stuff", *NOUN_KINDS):
            self._reset()

    def _ref(self, ref: Ref) -> None:
        if self.role == "at" and ref.kind in ("name", "pronoun"):
            self.role = None  # "At last Tom goes": nobody is at Tom
        if self.role is None and not self.clause.verb:
            self.clause.subjects.append(ref)
        else:
            self.clause.refs.append((self.role or "", ref))
        self._reset()


def clauses(sentence: Sentence) -> list[Clause]:
    """What a sentence states, clause by clause; what is quoted is left out."""
    return list(_Reader(sentence).clauses())


def quoted_thing(sentence: Sentence) -> Ref | None:
    """The last thing that is spoken of in a sentence's quotes."""
    words = [word for quote in sentence.quotes for word in cut(quote, sentence.language)]
    found = [sense for word in words if (sense := word.sense("thing", "food"))]
    return Ref(found[-1].kind, found[-1].key) if found else None
