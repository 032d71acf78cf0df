"""Held-out cases of each skill, taken from the documents that training never shows.

A case is a prompt, the document's own continuation, and a judge. One document gives at most one case of a skill, so
that cases are independent; the same seed gives the same cases.
"""

import random
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import NamedTuple

from model.corpus import Document, documents, lexicon
from model.corpus.lexicon import Language
from model.evaluate.judges import Judge, closes, content, exactly, mentions, number_of

# A skill that has too few different cases (there are only so many ways to count to twenty) stops here.
DOCUMENTS_PER_CASE = 150
_ENDS = ".!?。！？\n"


class Skill(NamedTuple):
    """What is measured, what a case of it is, the share of cases that must be right, and in which languages.

    The language "digits" stands for numerals.
    """

    name: str
    case: str
    bar: float
    languages: tuple[str, ...] = ("en", "zh")


_FIXED = "the greedy continuation must be the document's own"
SKILLS = [
    Skill(
        "induction",
        "A random sequence of words has been read once, and the first word of its repeat: "
        f"{_FIXED} to the end of that repeat.",
        0.98,
    ),
    Skill("recall", f"Keys with values, then a key for the first time again: {_FIXED} value, and end there.", 0.98),
    Skill(
        "questions",
        "A short text, then a question of where, who, what or which colour that is asked for the first time. The "
        "answer's first sentence must hold the right word, no other of its kind, and nobody and nothing else that the "
        "question does not name; a pronoun must fit. Every form of answer counts.",
        0.95,
    ),
    Skill(
        "pronouns",
        'A man and a woman; what is asked was told of "he" and "she" alone. Judged as questions are.',
        0.98,
    ),
    Skill(
        "brackets",
        "A text of nested brackets and quotes, up to where one is closed. In the greedy continuation each must be "
        "closed by its partner, in order, up to the innermost that was open.",
        0.99,
    ),
    Skill(
        "counting",
        f"Two or more numbers of a count up or down: {_FIXED}, to its last number.",
        0.97,
        ("en", "zh", "digits"),
    ),
    Skill(
        "translation",
        f"Words with their translations, then one more word: {_FIXED} translation, and end there. The language is that "
        "of the answer.",
        0.99,
    ),
    Skill(
        "agreement",
        'A subject with words between it and its verb: the next form of "be" in the greedy continuation must have the '
        "subject's number.",
        0.98,
        ("en",),
    ),
]


@dataclass(frozen=True)
class Case:
    """One case: the model reads `prompt` and writes on, at most `limit` tokens, until `judge` has a verdict.

    `answer` is what must be said, `reference` the document's own text after the prompt, `part` a finer division.
    """

    skill: str
    language: str
    part: str
    prompt: str
    answer: str
    reference: str
    judge: Judge
    limit: int


def collect(wanted: int, seed: int, skills: list[Skill]) -> dict[tuple[str, str], list[Case]]:
    """`wanted` cases of each skill and language, all different; fewer where there are not so many."""
    rng = random.Random(seed)
    names = {skill.name for skill in skills}
    cases: dict[tuple[str, str], list[Case]] = {(s.name, language): [] for s in skills for language in s.languages}
    seen: set[tuple[str, str]] = set()
    stream = documents(seed, "heldout")
    for _ in range(wanted * DOCUMENTS_PER_CASE):
        document = next(stream)
        maker = _MAKERS.get(document.kind)
        found = [case for case in maker(document) if case.skill in names] if maker else []
        case = rng.choice(found) if found else None
        if case and (case.prompt, case.answer) not in seen and len(cases[case.skill, case.language]) < wanted:
            seen.add((case.prompt, case.answer))
            cases[case.skill, case.language].append(case)
        if all(len(found) == wanted for found in cases.values()):
            break
    return cases


def _fixed(document: Document, skill: str, language: str, start: int, end: int, whole: bool) -> Case:
    """A case whose answer is the document's own text from `start` to `end`, with `whole` to the end of a word."""
    text = document.text
    answer = text[start:end]
    # A token is at least one byte: no answer is longer, and a wrong one stops at its first difference.
    limit = len(answer.encode()) + 2
    return Case(skill, language, "", text[:start], answer, text[start:], exactly(answer, whole), limit)


def language_of(text: str) -> Language:
    return "en" if text.isascii() or not re.search(r"[一-鿿]", text) else "zh"


def _induction(document: Document) -> Iterator[Case]:
    """After one whole period and the first word of the second, the rest of the second period."""
    ((span, _),) = document.answers
    ends = _word_ends(document)
    period = sum(end <= span for end in ends)
    if period > 1:
        yield _fixed(document, "induction", language_of(document.text), ends[period], ends[2 * period - 1], False)


def _word_ends(document: Document) -> list[int]:
    """Where each word ends, separators left out."""
    ends, at = [], 0
    for word in document.words:
        at += len(word)
        if any(map(str.isalnum, word)):
            ends.append(at)
    return ends


def _recall(document: Document) -> Iterator[Case]:
    """The value of a key that is asked for the first time, whole: 1 is not 10."""
    asked = set()
    for start, end in document.answers:
        key = re.split(r"[,.，。]", document.text[:start])[-1].strip()
        if key not in asked:
            yield _fixed(document, "recall", language_of(document.text), start, end, True)
        asked.add(key)


def _counting(document: Document) -> Iterator[Case]:
    """All numbers after the first two or more: two tell which way and how far the count steps."""
    ((_, end),) = document.answers
    language = "digits" if document.text[0].isdigit() else language_of(document.text)
    # English takes the space before a word into the answer, Chinese the mark after a word into the prompt.
    marks = list(re.finditer("，|,? ", document.text[:end]))[1:]
    for mark in marks:
        start = mark.end() if language == "zh" else mark.end() - 1
        yield _fixed(document, "counting", language, start, end, True)


_PAIRS = {(pair.en, pair.zh) for pair in lexicon.all_pairs()}


def _translation(document: Document) -> Iterator[Case]:
    """A word's translation, whole, after at least one line has shown which way it goes; named after its language."""
    text = document.text
    for start, end in document.answers[1:]:
        source = re.split(r"[\n;]", text[:start])[-1].strip().removesuffix("=").removesuffix("->").rstrip(": ")
        word = text[start:end].strip()
        if (word, source) in _PAIRS or (source, word) in _PAIRS:
            yield _fixed(document, "translation", language_of(word), start, end, True)


def _brackets(document: Document) -> Iterator[Case]:
    """Up to where a bracket or quote is closed; what is open there must be closed in order."""
    text = document.text
    for start, _ in document.answers:
        opened: list[str] = []
        for character in text[:start]:
            if character in "([{<“":
                opened.append(character)
            elif character in ")]}>”":
                opened.pop()
        judge = closes("".join(opened))
        part = f"{len(opened)} open"
        answer = text[start:].strip()[0]
        yield Case("brackets", language_of(text), part, text[:start], answer, text[start:], judge, 32)


def _agreement(document: Document) -> Iterator[Case]:
    """Up to the verb, where other words stand between it and its subject; the verb must have the subject's number."""
    text = document.text
    for start, end in document.answers:
        subject = text[:start].rpartition(".")[2].split()
        if len(subject) > 3:  # "The toy car" leaves no doubt: nothing stands in between
            judge = number_of(text[start:end].strip())
            yield Case("agreement", "en", "", text[:start], text[start:end].strip(), text[start:], judge, 24)


def _asked(document: Document) -> Iterator[Case]:
    """Where, who and what is asked for the first time; the answer's content is judged, in whatever form.

    A pronoun document asks about people whom the text calls only "he" and "she" where it says what is asked.
    """
    kind, _, tail = document.kind.partition("-")
    language: Language = "en" if tail == "en" else "zh"
    skill = "pronouns" if kind == "pronouns" else "questions"
    told: set[frozenset[str]] = set()
    for start, end in document.answers:
        before, question = _sentence_before(document.text, start)
        answer = document.text[start:end].strip()
        facts = frozenset(key for key, _ in mentions(f"{question} {answer}", language))
        if question.endswith(("?", "？")) and facts not in told and len(mentions(answer, language)) == 1:
            judge = content(question, answer, language)
            part = kind if skill == "questions" else ""
            prompt, reference = document.text[:before], document.text[before:]
            yield Case(skill, language, part, prompt, answer, reference, judge, 40)
        told.add(facts)


def _sentence_before(text: str, at: int) -> tuple[int, str]:
    """Where the sentence that holds character `at` begins, and the sentence before it when that is a question.

    Else what is given is the beginning of the sentence itself.
    """
    begin = max(text.rfind(mark, 0, at) for mark in _ENDS) + 1
    if text[begin - 1 : begin] not in ("?", "？"):
        return begin, text[begin:at].strip()
    earlier = max(text.rfind(mark, 0, begin - 1) for mark in _ENDS) + 1
    return begin, text[earlier:begin].strip()


_MAKERS: dict[str, Callable[[Document], Iterator[Case]]] = {
    "induction": _induction,
    "recall": _recall,
    "counting": _counting,
    "translation": _translation,
    "brackets": _brackets,
    "agreement": _agreement,
    **{f"{kind}-{language}": _asked for kind in ("facts", "story", "pronouns") for language in ("en", "zh")},
}
