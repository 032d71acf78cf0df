"""Words of a prompt that another word of their kind could stand in for, so that the answer becomes another.

For the circuit of an answer a second prompt of as many tokens is needed (circuit.py). The kinds are those of the little
world's lexicon (names, places, colours, …), pronouns, and brackets; a word of no kind that names something may change
places with another such word of the prompt. Whether the answer changes is run.
"""

import re
from collections.abc import Iterator, Sequence
from functools import cache
from typing import NamedTuple

import torch

from ..checkpoint import LanguageModel
from ..little_world import little_world
from ..pieces import Work, in_pieces, rows_of_a_piece
from ..prompt import target_ids
from .content_words import is_function_word

LARGEST = 1024  # tokens of all candidates that are run
STRANGERS = 2  # words tried for each place that do not stand in the prompt yet
_WORD = re.compile(r"[A-Za-z]+|[一-鿿]+|[(\[{<]")
_OTHERS = (("He", "She"), ("he", "she"), ("him", "her"), ("他", "她"), ("(", "[", "{"))


class Swap(NamedTuple):
    """`text` is the prompt with `word`, which begins at character `start`, replaced by `other`; its most probable next
    token is `answer`, with `probability`."""

    start: int
    word: str
    other: str
    text: str
    answer: int
    probability: float


@in_pieces
def swaps(
    lm: LanguageModel, prompt: str, count: int = 6, target: str | Sequence[int] | None = None
) -> Work[list[Swap]]:
    """Up to `count` swaps of one word, each of another place, that keep the number of tokens and change the answer.

    Where an encoder reads the prompt, that is the next token after `target`, as in run_trace. The surest answers come
    first. There may be none.
    """
    own, written = lm.tokenizer.encode(prompt), target_ids(lm, target)
    ids: list[list[int]] = [own]
    made: list[tuple[int, str, str, str]] = []
    for start, word, other in _candidates(prompt):
        text = prompt[:start] + other + prompt[start + len(word) :]
        encoded = lm.tokenizer.encode(text)
        if len(encoded) == len(own) and len(ids) * (len(own) + len(written)) < LARGEST:
            ids.append(encoded)
            made.append((start, word, other, text))
    yield
    answers: list[int] = []
    sure: list[float] = []
    rows = rows_of_a_piece(lm, len(own) + len(written))
    for start in range(0, len(ids), rows):
        with torch.inference_mode():
            net, begun = lm.net.start_decoding_all(ids[start : start + rows])
            texts = torch.tensor([first + written for first in begun], device=lm.device)
            best = net(texts, last_only=True)[:, -1].float().softmax(-1).max(-1)
        answers += best.indices.tolist()
        sure += best.values.tolist()
        yield
    found = [
        Swap(start, word, other, text, answers[i], sure[i])
        for i, (start, word, other, text) in enumerate(made, 1)
        if answers[i] != answers[0]
    ]
    places: dict[int, Swap] = {}
    for one in sorted(found, key=lambda one: -one.probability):
        places.setdefault(one.start, one)
    return list(places.values())[:count]


def _candidates(prompt: str) -> Iterator[tuple[int, str, str]]:
    """Where a word stands, the word, and one that might stand there."""
    words = list(_words(prompt))
    plain = list(dict.fromkeys(word for _, word in words if _names_something(word) and not _kind(word)))
    present = {word for _, word in words}
    for start, word in reversed(words):  # what is asked stands at the end
        kind: Sequence[str] = _kind(word) or (plain if word in plain else ())
        here = [other for other in kind if other != word and other in present]
        new = [other for other in kind if other not in present]
        for other in [*here, *new[:STRANGERS]]:
            yield start, word, other


def _names_something(word: str) -> bool:
    return len(word) > 2 and not is_function_word(word)


def _words(text: str) -> Iterator[tuple[int, str]]:
    """English words, brackets, and of Chinese the longest words that the lexicon has."""
    for found in _WORD.finditer(text):
        if not "一" <= found[0][0] <= "鿿":
            yield found.start(), found[0]
            continue
        at = 0
        while at < len(found[0]):
            word = next((found[0][at:to] for to in range(len(found[0]), at, -1) if _kind(found[0][at:to])), "")
            if word:
                yield found.start() + at, word
            at += max(1, len(word))


def _kind(word: str) -> tuple[str, ...]:
    """The words of this one's kind, itself among them; () where it has none."""
    return _kinds().get(word, ())


@cache
def _kinds() -> dict[str, tuple[str, ...]]:
    kinds: dict[str, tuple[str, ...]] = {}
    for words in (*little_world().kinds, *_OTHERS):
        for word in words:
            kinds.setdefault(word, words)
    return kinds
