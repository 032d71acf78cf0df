"""Judges of a continuation as it grows: right (True), wrong (False), or not yet to be told (None).

Each judge sees the text so far and whether it has ended, so that writing stops as soon as the verdict is in. Knows
nothing about models or tokens.
"""

import re
from collections.abc import Callable, Collection

from model.corpus.checker.vocabulary import Word, cut
from model.corpus.lexicon import Language

Judge = Callable[[str, bool], bool | None]

_KINDS = ("name", "animal", "thing", "food", "people", "place", "furniture", "colour")
_PLAYERS = {"name", "animal", "thing", "food", "people", "place", "furniture"}
_GENDERED = {"he": "m", "she": "f", "他": "m", "她": "f"}
_BE = re.compile(r"\b(is|are|was|were)\b")
_ANSWERED_LAST = re.compile(r"^Who did\b|给了谁？$|\bwhere\b|哪里|哪儿", re.IGNORECASE)
_PARTNER = {")": "(", "]": "[", "}": "{", ">": "<", "”": "“"}


def exactly(answer: str, whole: bool = False) -> Judge:
    """The continuation starts with `answer`; with `whole` it does not go on with the same word or number."""

    def judge(text: str, ended: bool) -> bool | None:
        if not text.startswith(answer):
            return None if answer.startswith(text) and not ended else False
        if not whole or ended:
            return True
        return None if len(text) == len(answer) else not _same_word(answer[-1], text[len(answer)])

    return judge


def _same_word(last: str, following: str) -> bool:
    """Whether a word goes on from one character to the next; digits, Latin and Chinese do not run into one another."""
    kinds = [(c.isdigit(), c.isalpha() and c.isascii(), c.isalpha() and not c.isascii()) for c in (last, following)]
    return kinds[0] == kinds[1] and any(kinds[0])


def number_of(verb: str) -> Judge:
    """The first form of "be" that the sentence goes on to write has the number of `verb`, in whichever tense."""
    right = {"is", "was"} if verb in ("is", "was") else {"are", "were"}

    def judge(text: str, ended: bool) -> bool | None:
        found = _BE.search(text)
        if found and (ended or found.end() < len(text)):
            return found[1] in right
        return False if ended or re.search(r"[.!?\n]", text) else None

    return judge


def closes(opened: str) -> Judge:
    """Every bracket and quote closes by its partner, up to the one that `opened` (all open ones, in order) ends on."""

    def judge(text: str, ended: bool) -> bool | None:
        stack = list(opened)
        for character in text:
            if character in _PARTNER.values():
                stack.append(character)
            elif character in _PARTNER:
                if stack.pop() != _PARTNER[character]:
                    return False
                if len(stack) < len(opened):
                    return True
        return False if ended else None

    return judge


def mentions(text: str, language: Language) -> list[tuple[str, frozenset[str]]]:
    """The people, animals, things, places and colours that a text names, in order: key and kinds."""
    words = cut(text, language)
    found = []
    for i, word in enumerate(words):
        senses = [sense for sense in word.senses if sense.kind in _KINDS]
        if senses and not _is_measure(words, i):
            found.append((senses[0].key, frozenset(sense.kind for sense in senses)))
    return found


def _is_measure(words: list[Word], i: int) -> bool:
    """一本书: a name that is a measure word after a number or 那."""
    before = words[i - 1] if i else None
    measure = any(sense.kind == "function" for sense in words[i].senses)
    return measure and before is not None and (before.sense("number") is not None or before.text in "那这几两")


def content(question: str, answer: str, language: Language) -> Judge:
    """The first sentence says what is asked, in whatever form: "In the kitchen.", "Tom is in the kitchen."

    It must hold the word `answer`, no other of its kind and nobody and nothing else but what the question names, and no
    "he" for a woman. Where the question names another of the same kind ("Who gave the ball to Lily?"), the two stand in
    the right order.
    """
    named = dict(mentions(question, language))
    ((gold, kinds),) = mentions(answer, language)
    # "Who did Tom give the ball to?", "Where is the bell?": the answer is the last of its kind; else it is the first.
    last = _ANSWERED_LAST.search(question) is not None
    genders = _genders(question, language)

    def judge(text: str, ended: bool) -> bool | None:
        end = re.search(r"[.!?。！？\n]", text.lstrip())
        if not end and not ended:
            return None
        said = text.lstrip()[: end.start() if end else None]
        found = mentions(said, language)
        peers = [key for key, kind in found if kind & kinds]
        others = [key for key, kind in found if kind & (kinds | _PLAYERS) and key != gold and key not in named]
        if others or not peers or not _fits(said, genders, language):
            return False
        return peers[-1 if last else 0] == gold

    return judge


def _genders(question: str, language: Language) -> set[str]:
    """The genders of the people that a question names."""
    found = (word.sense("name") for word in cut(question, language))
    return {sense.form for sense in found if sense}


def _fits(said: str, genders: Collection[str], language: Language) -> bool:
    """Whether a pronoun in an answer fits the person asked about."""
    used = {_GENDERED[word.text.lower()] for word in cut(said, language) if word.text.lower() in _GENDERED}
    return not genders or used <= set(genders)
