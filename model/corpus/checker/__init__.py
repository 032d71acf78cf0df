"""Judges a short text of the little world: is each sentence well formed, and does what it tells hold together?

Form: whole sentences of known words, articles or measure words that fit, verbs that agree, quotes that pair. World: a
person who was in one place is not in another without going there; what one has, no other gives away; what is eaten is
gone; nobody goes to where they are; an answer agrees with the story. It reads the text alone, with grammars and rules
of its own, and knows nothing of the templates and the simulation that the corpus is made from.
"""

from collections.abc import Iterator, Sequence
from itertools import pairwise

from model.corpus.checker import chinese, english
from model.corpus.checker.clauses import clauses, quoted_thing
from model.corpus.checker.questions import about, answered
from model.corpus.checker.sentences import Fault, Sentence, read
from model.corpus.checker.world_state import WorldState
from model.corpus.lexicon import Language

__all__ = ["FAULTS", "Fault", "check"]

FAULTS = {
    "end": "a sentence without its end",
    "quotes": "quotes that do not pair",
    "word": "a word that the world does not have",
    "capital": "a sentence that starts with a small letter",
    "article": '"a" before a vowel or "an" before none',
    "measure": "a measure word that is not the noun's",
    "agreement": "a singular with a plural, or a noun without its article",
    "grammar": "words that form no sentence",
    "stammer": "a word right after itself",
    "tense": "present and past mixed in one story",
    "pronoun": "a pronoun that fits nobody",
    "place": "someone in another place without going there",
    "there": "someone goes to where they are already",
    "twice": "told again where someone is who has not moved, or what one of the last five clauses has told",
    "apart": "two people do something together in different places",
    "self": "someone who does something to themselves, or with themselves",
    "owner": "a thing in two hands",
    "person": "someone who has a person",
    "gone": "a thing that was eaten",
    "broken": "mending what is whole, or breaking it twice",
    "colour": "a thing with two colours",
    "unmentioned": "somebody or something that was never mentioned",
    "count": "a wrong number of people",
    "answer": "an answer to another question",
}


def check(text: str, language: Language, complete: bool = True) -> list[Fault]:
    """Every fault of a text, in order; none means well formed and consistent. `FAULTS` says what each kind is.

    With `complete` False the text was cut off: its last, unfinished sentence is left out.
    """
    sentences, faults = read(text, language, complete)
    return faults + [fault for wrong in _faults(sentences, language) for fault in wrong]


def _faults(sentences: Sequence[Sentence], language: Language) -> Iterator[list[Fault]]:
    """The faults of each sentence, in itself and against those before it."""
    state = WorldState()
    first_tense = ""
    before = ""
    for sentence in sentences:
        if language == "en":
            wrong = english.faults(sentence)
            tense = "" if sentence.asks or sentence.answers or "cannot" in sentence.text else english.tense(sentence)
            first_tense = first_tense or tense
            if tense and tense != first_tense:
                wrong.append(Fault("tense", sentence.text))
        else:
            wrong = chinese.faults(sentence)
        if not wrong and any(one.text == next_one.text for one, next_one in pairwise(sentence.words)):
            wrong.append(Fault("stammer", sentence.text))
        # What is no sentence cannot be understood; what it may say is left alone.
        if not wrong:
            wrong = [Fault(kind, sentence.text) for kind in _told(sentence, state)]
            if sentence.text == before and "twice" not in [fault.kind for fault in wrong]:
                wrong.append(Fault("twice", sentence.text))
        before = sentence.text
        yield wrong


def _told(sentence: Sentence, state: WorldState) -> list[str]:
    """The kinds of faults between a sentence and the story before it."""
    if not sentence.end:
        state.introduce([ref for clause in clauses(sentence) for ref in clause.subjects])
        return []
    if sentence.asks:
        state.last_subject = about(sentence)
        return []
    if sentence.answers:
        return answered(sentence.answers, sentence, state)
    faults: list[str] = []
    subject = None
    for clause in clauses(sentence):
        faults += state.tell(clause)
        subject = subject or state.last_subject
    # "She looks in the garden, but the ball is not there." is about her.
    state.last_subject = subject
    state.last_thing = quoted_thing(sentence) or state.last_thing
    return faults + [fault for quote in sentence.quotes for fault in state.say(subject, *_speech(quote))]


def _speech(quote: str) -> tuple[bool, bool]:
    """Whether what is said asks for something, and whether it grants that."""
    asks = quote.endswith(("?", "？")) or quote.startswith(("Please", "请"))
    return asks, quote.rstrip(".,!。，！") in ("Of course", "Here you are", "当然可以", "给你")
