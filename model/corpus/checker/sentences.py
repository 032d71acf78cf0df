"""Cuts a text into its sentences, and looks at what holds them together: their ends and their quotes."""

from dataclasses import dataclass, field

from model.corpus.checker.vocabulary import Sense, Word, cut
from model.corpus.lexicon import Language

ENDS = ".!?。！？"
_QUOTES = {"“": "”", '"': '"'}
QUOTE = Word("“”", (Sense("function", "quote"),))


@dataclass(frozen=True)
class Fault:
    """What is wrong (`kind`, one word) and the sentence that has it."""

    kind: str
    sentence: str


@dataclass
class Sentence:
    """A sentence as it stands: its words with each quote as one word and without the end, and what is quoted.

    `end` is its last mark, "" for a title, `answers` the question before it when it stands right after one.
    """

    text: str
    language: Language
    words: list[Word]
    quotes: list[str] = field(default_factory=list)
    end: str = ""
    answers: "Sentence | None" = None

    @property
    def asks(self) -> bool:
        """Whether it is a question, and not one that someone in the story says."""
        return self.end in ("?", "？") and not self.quotes

    @property
    def kind(self) -> str:
        """ "Title", "Question", "Answer" or "Story"."""
        if not self.end:
            return "Title"
        return "Question" if self.asks else "Answer" if self.answers else "Story"


def read(text: str, language: Language, complete: bool = True) -> tuple[list[Sentence], list[Fault]]:
    """The sentences of a text and the faults in its ends and quotes.

    A first line without an end is a title. With `complete` False the text was cut off and its last, unfinished
    sentence is left out.
    """
    sentences: list[Sentence] = []
    faults: list[Fault] = []
    lines = text.strip().split("\n")
    for i, line in enumerate(lines):
        parts, rest, wrong = _parts(line.strip())
        faults += [Fault("quotes", part) for part in wrong]
        for part in parts:
            sentence = _sentence(part, language)
            faults += [Fault("end", quote) for quote in sentence.quotes if quote[-1:] not in (*ENDS, ",")]
            if sentences and sentences[-1].asks and not sentence.asks:
                sentence.answers = sentences[-1]
            sentences.append(sentence)
        if rest and i == 0 and not parts and len(lines) > 1:
            sentences.append(Sentence(rest, language, cut(rest, language)))
        elif (rest not in wrong if rest else not line.strip()) and (complete or i < len(lines) - 1):
            faults.append(Fault("end", rest))
    return sentences, faults


def _parts(line: str) -> tuple[list[str], str, list[str]]:
    """A line's whole sentences, what is left after them, and those whose quotes do not pair."""
    parts: list[str] = []
    wrong: list[str] = []
    start, closing = 0, ""
    for i, character in enumerate(line):
        done = False
        if closing:
            if character == closing:
                closing = ""
                # A quote that opens a sentence has who says it after it; any other quote ends it.
                done = line[i - 1] in ENDS and line[start:].lstrip()[0] not in _QUOTES
        elif character in _QUOTES:
            closing = _QUOTES[character]
        elif character in _QUOTES.values():
            wrong.append(line[start : i + 1].strip())
        else:
            done = character in ENDS
        if done:
            parts.append(line[start : i + 1].strip())
            start = i + 1
    if closing:
        wrong.append(line[start:].strip())
    return parts, line[start:].strip(), wrong


def _sentence(text: str, language: Language) -> Sentence:
    words: list[Word] = []
    quotes: list[str] = []
    plain, i = "", 0
    while i < len(text):
        closing = _QUOTES.get(text[i])
        close = text.find(closing, i + 1) if closing else -1
        if close < 0:
            plain, i = plain + text[i], i + 1
            continue
        words += [*cut(plain, language), QUOTE]
        quotes.append(text[i + 1 : close])
        plain, i = "", close + 1
    words += cut(plain, language)
    end = text[-1] if text[-1] in ENDS else quotes[-1][-1:] if quotes else ""
    if words and words[-1].text in ENDS:
        words.pop()
    return Sentence(text, language, words, quotes, end)
