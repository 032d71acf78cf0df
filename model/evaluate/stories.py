"""Stories that the model goes on telling by itself, and how many of them the checker finds no fault in."""

import re
from collections.abc import Callable
from dataclasses import dataclass

from model.checkpoint import LanguageModel
from model.corpus import documents
from model.corpus.checker import FAULTS, Fault, check
from model.corpus.lexicon import Language
from model.evaluate.judges import Judge
from model.evaluate.writing import write

TEMPERATURE = 0.8
BAR = 0.95
LIMIT = 192  # new tokens; what is unfinished then is cut back to the last whole sentence
CASE = (
    "The first two sentences of a held-out story, continued at temperature 0.8 to the end of the text (at most "
    f"{LIMIT} tokens): a checker that reads the text alone finds no fault in form or in the state of the world."
)
# A title, perhaps, then two sentences without speech; more must follow.
_OPENING = re.compile(r'(?:[^.。!?！？\n]+\n)?(?:[^.。!?！？\n"“]+[.。] ?){2}(?=\S)')


def _never(text: str, ended: bool) -> None:
    """The judge of free writing: it stops by itself."""


@dataclass(frozen=True)
class Opening:
    """A story's opening, as a job for `write`."""

    language: Language
    prompt: str
    judge: Judge = _never
    limit: int = LIMIT


@dataclass(frozen=True)
class Story:
    """An opening with what the model wrote after it, and the faults of the whole."""

    language: Language
    opening: str
    text: str
    faults: list[Fault]


def openings(wanted: int, seed: int) -> list[Opening]:
    """`wanted` different openings of held-out stories in each language."""
    found: dict[Language, dict[str, Opening]] = {"en": {}, "zh": {}}
    for document in documents(seed, "heldout"):
        if document.kind not in ("story-en", "story-zh"):
            continue
        language: Language = "en" if document.kind == "story-en" else "zh"
        match = _OPENING.match(document.text)
        if match and len(found[language]) < wanted:
            prompt = match[0].rstrip()
            found[language][prompt] = Opening(language, prompt)
        if all(len(of_language) >= wanted for of_language in found.values()):
            break
    return [opening for of_language in found.values() for opening in of_language.values()]


def tell(
    lm: LanguageModel, told: list[Opening], seed: int, progress: Callable[[int], object] = lambda _: None
) -> list[Story]:
    """Each opening continued and judged; draws depend on the seed."""
    rows = write(lm, told, TEMPERATURE, seed, progress)
    return [
        Story(opening.language, opening.prompt, opening.prompt + row.text, faults_of(opening, row.text, row.ended))
        for opening, row in zip(told, rows, strict=True)
    ]


def faults_of(opening: Opening, text: str, complete: bool) -> list[Fault]:
    """The faults of a continued story; "silent" when nothing was added."""
    if not text.strip():
        return [Fault("silent", opening.prompt)]
    return check(opening.prompt + text, opening.language, complete)


FAULT_NAMES = FAULTS | {"silent": "nothing was told after the opening"}
