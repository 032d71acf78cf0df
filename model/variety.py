"""How many stories hold each token once, twice and so on, and where the network's own stories do so more often.

What is safest to tell is told ever more often when only faults are counted: after two stages of judged stories 75 of
100 English ones told of somebody hungry, of the corpus's 12; later ones told in one story what somebody has, ten times.
"""

from collections.abc import Iterable, Mapping, Sequence
from itertools import chain, islice

import torch
from jaxtyping import Float
from torch import Tensor

from .corpus import documents
from .corpus.lexicon import Language
from .tokenizer import Tokenizer

STORIES = 1_000  # of the corpus, in each language: a share is known to 0.016 or better

Usage = Mapping[Language, Float[Tensor, "times V"]]


def usage(stories: Iterable[tuple[Language, Sequence[int]]], vocab_size: int, times: int = 1) -> Usage:
    """For each language the share of its stories, given as token ids, that hold each token 1, 2, … `times` times.

    Row k counts the stories that have it k + 1 times or more.
    """
    held: dict[Language, Tensor] = {language: torch.zeros(times, vocab_size) for language in ("en", "zh")}
    count = dict.fromkeys(held, 0)
    least = torch.arange(1, times + 1)[:, None]
    for language, ids in stories:
        held[language] += torch.bincount(torch.tensor(ids), minlength=vocab_size) >= least
        count[language] += 1
    return {language: held[language] / max(1, count[language]) for language in held}


def corpus_usage(tokenizer: Tokenizer, vocab_size: int, times: int = 1, seed: int = 0) -> Usage:
    """Of the stories that the network learns from."""

    def of(language: Language) -> Iterable[tuple[Language, Sequence[int]]]:
        for document in islice(documents(seed, "train", {f"story-{language}": 1.0}), STORIES):
            yield language, tokenizer.back_end.encode(document.text).ids

    return usage(chain(of("en"), of("zh")), vocab_size, times)


def overused(told: Usage, usual: Usage) -> Usage:
    """By how much each share among the stories told exceeds the usual one."""
    return {language: (told[language] - usual[language]).clamp(min=0) for language in told}
