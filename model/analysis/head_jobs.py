"""The jobs of any model's heads, measured on repeated random tokens: no corpus is needed, and no text tells the answer.

The measures are those of Olsson et al. 2022, "In-context Learning and Induction Heads" (arXiv 2209.11895, "Head
activation evaluators"), and of Wang et al. 2022 (arXiv 2211.00593) for duplicate tokens; head_scores.py has each. A
sequence is SEQUENCE_TOKENS different random tokens, REPEATS times in a row after a start token, of which

- `previous_token` is the mean weight on the token just before,
- `first_token` the mean weight on the start token: an attention sink,
- `duplicate_token` the weight on earlier copies of the same token,
- `induction` the weight on what followed those copies: prefix matching;

and on the SEQUENCE_TOKENS alone, once,

- `ov_copying` says whether what a head writes when it looks at a token raises the logit of that token.

The tokens are drawn evenly from the vocabulary's words, a blank and letters, without the tenth with the lowest and the
tenth with the highest ids: a BPE vocabulary is about in the order of frequency, and Olsson et al. leave out the most
and the least common. Sequence i is drawn with seed i, so that every measurement of a model gives the same numbers.
"""

import random
from collections.abc import Sequence

from torch import Tensor

from ..checkpoint import LanguageModel
from ..pieces import Work, in_pieces
from .head_scores import (
    DEFINITIONS,
    Scores,
    attention_of,
    duplicate_token,
    first_token,
    mean_scores,
    ov_copying,
    prefix_matching,
    previous_token,
)

SEQUENCES, SEQUENCE_TOKENS, REPEATS = 10, 25, 4
JOBS = ("previous_token", "first_token", "duplicate_token", "induction", "ov_copying")
MEASURED = {
    "previous_token": "Mean attention from each token, from the third on, to the token just before it, on repeated "
    "random tokens.",
    "first_token": "Mean attention from each token, from the third on, to the start token of repeated random tokens "
    "(an attention sink).",
    **{name: DEFINITIONS[name] for name in ("duplicate_token", "induction", "ov_copying")},
}
TOKENS = 1 + SEQUENCE_TOKENS * REPEATS + SEQUENCE_TOKENS  # that pass through the network for one sequence


def can_be_measured(lm: LanguageModel) -> bool:
    """Whether a text alone can be run: a network with an encoder reads a source besides."""
    writes = not lm.reads_source and hasattr(lm.net, "head")  # an encoder by itself does not
    return writes and lm.config.context_limit > SEQUENCE_TOKENS * REPEATS


def random_tokens(lm: LanguageModel, seed: int) -> list[int]:
    """SEQUENCE_TOKENS different tokens of the vocabulary's words; of all tokens but the ends where it has too few."""
    every = [i for i in range(lm.config.vocab_size) if i not in lm.config.eos_ids]
    words = [i for i, piece in zip(every, lm.tokenizer.pieces(every), strict=True) if _is_word(piece)]
    usual = words[len(words) // 10 : -(len(words) // 10) or None]
    return random.Random(seed).sample(usual if len(usual) >= SEQUENCE_TOKENS else every, SEQUENCE_TOKENS)


def _is_word(piece: str) -> bool:
    return piece[:1] == " " and piece[1:].isalpha()


def repeated(lm: LanguageModel, tokens: Sequence[int]) -> list[int]:
    """The tokens REPEATS times in a row, after the token that begins a text, or else one that ends one."""
    start = lm.tokenizer.encode("")[:1] or list(lm.config.eos_ids[:1])
    return [*start, *list(tokens) * REPEATS]


@in_pieces
def measure(lm: LanguageModel, seed: int) -> Work[dict[str, Scores]]:
    """Every job's scores (L, n_heads) on one sequence."""
    tokens = random_tokens(lm, seed)
    ids = repeated(lm, tokens)
    attention = attention_of(lm, ids)
    yield
    matching, duplicate = prefix_matching(attention, ids), duplicate_token(attention, ids)
    assert matching is not None
    assert duplicate is not None
    found = {
        "previous_token": previous_token(attention),
        "first_token": first_token(attention),
        "duplicate_token": duplicate,
        "induction": matching,
    }
    yield
    return {**found, "ov_copying": ov_copying(lm, tokens)}


def mean_of(measured: Sequence[dict[str, Tensor]]) -> dict[str, Scores]:
    """The mean over sequences of each job's scores."""
    return {name: mean_scores(one[name] for one in measured) for name in JOBS}
