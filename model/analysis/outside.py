"""Is a prompt of the world that the bundled model learnt? Told by its words, and by how much it surprises the model.

Surprisal is −ln p of each next token, in nats, the mean over a text (the first token has none). What is usual is
measured with the same weights on the beginnings of held-out documents, of as many tokens: short texts surprise more.

All of it is of the prompt as the model reads it with nothing changed, so that no change in a run makes a doubt less.
"""

import math
from collections.abc import Sequence
from typing import NamedTuple
from weakref import WeakKeyDictionary

import numpy as np
import torch
from jaxtyping import Float, Int

from ..checkpoint import BUNDLED, LanguageModel
from ..little_world import little_world
from ..pieces import Work, in_pieces
from ..sampling import candidates
from ..trace import Trace, run_trace
from .lens import unembed
from .strangers import strangers

COMPARED = 32  # tokens of a text, at most
ROWS = 16
HALF = 0.5  # an answer with less has less than all others together
MARGIN = 1.1  # by so much a text of known words must surprise more than every document


class Usual(NamedTuple):
    """Mean surprisal of held-out documents' first tokens, in nats: the middle one and the largest of `documents`."""

    documents: int
    middle: float
    most: float


class Outside(NamedTuple):
    """What is strange in a prompt of `words` words: `places` are words that the corpus never has (first token, end).

    `surprisal` is the mean over its first `tokens` tokens, None for a single one; `usual` what held-out documents have,
    None where it was not measured, as nothing is strange. `odd`: the words are known, the text is not. `misplaced`: the
    answer is the place of which the prompt says otherwise. `doubt` is the probability of the prompt's answer where all
    other tokens together have more, and `unsure` whether that is so of it or of the run's own answer. Another model's
    world is not known: of it only `misplaced` is told.
    """

    words: int
    places: list[tuple[int, int]]
    tokens: int
    surprisal: float | None
    usual: Usual | None
    odd: bool
    misplaced: bool = False
    doubt: float | None = None
    unsure: bool = False


def knows_corpus(lm: LanguageModel) -> bool:
    """Whether this is the model that was trained on model/corpus."""
    return lm.directory == BUNDLED


@in_pieces
def outside(lm: LanguageModel, trace: Trace, prompt: str, elsewhere: str = "") -> Work[Outside | None]:
    """What is strange in a run's prompt, and in its answer; None for a prompt that is not what was run, and for another
    model whose answer is right. `elsewhere` is the place that the prompt rules out, where one is known."""
    spans = lm.tokenizer.spans(prompt)
    if lm.tokenizer.encode(prompt) != trace.token_ids[: len(spans)]:
        return None
    ends = len(spans) == len(trace.token_ids)
    own_p, answer = _answer(lm, trace)
    wrong = ends and bool(elsewhere) and answer.strip() == elsewhere
    if not knows_corpus(lm):
        return Outside(0, [], 0, None, None, False, True) if wrong else None
    read = trace if ends and not trace.intervention else run_trace(lm, trace.token_ids[: len(spans)])
    p, _ = _answer(lm, read)
    found = strangers(prompt)
    places = [_tokens(spans, place) for place in found.places]
    tokens = min(len(spans), COMPARED)
    own = _surprisal(lm, read, tokens) if tokens > 1 else None
    yield
    # Only what a blind guess among all tokens would have told better can be odd.
    suspect = own is not None and own > math.log(lm.config.vocab_size)
    compared = own is not None and (places or suspect)
    usual = (yield from usual_surprisal.pieces(lm, tokens)) if compared else None
    odd = bool(not places and usual and own and own > MARGIN * usual.most)
    doubt = p if p < HALF else None
    return Outside(found.words, places, tokens, own, usual, odd, wrong, doubt, min(p, own_p) < HALF)


def _answer(lm: LanguageModel, trace: Trace) -> tuple[float, str]:
    """The probability of the first token that follows, and its text."""
    best = candidates(torch.from_numpy(trace.logits), 1)
    return float(best.probabilities[0]), lm.tokenizer.decode([int(best.ids[0])])


@in_pieces
def usual_surprisal(lm: LanguageModel, tokens: int) -> Work[Usual]:
    """What the first tokens of held-out documents surprise the model by: of those that have so many, 2 to COMPARED."""
    rows = (yield from _held_out(lm))[:, : tokens - 1]
    means = np.sort(rows[~np.isnan(rows).any(1)].mean(1))
    return Usual(len(means), float(np.median(means)), float(means[-1]))


def _surprisal(lm: LanguageModel, trace: Trace, tokens: int) -> float:
    following = torch.tensor(trace.token_ids[1:tokens])
    found = [
        -logits.log_softmax(-1).cpu().gather(-1, following[rows, None])[:, 0]
        for rows, logits in unembed(lm, trace.residual[-1, : tokens - 1])
    ]
    return float(torch.cat(found).double().mean())


def _tokens(spans: Sequence[tuple[int, int]], place: tuple[int, int]) -> tuple[int, int]:
    """The tokens that hold a place's characters."""
    held = [t for t, (start, end) in enumerate(spans) if start < place[1] and end > place[0]]
    return held[0], held[-1] + 1


_measured: WeakKeyDictionary[torch.nn.Module, np.ndarray] = WeakKeyDictionary()


def _held_out(lm: LanguageModel) -> Work[Float[np.ndarray, "documents following"]]:
    """Surprisal of each token after the first, NaN after a document's end; measured once for a model."""
    if lm.net not in _measured:
        encoded = [lm.tokenizer.encode(text)[:COMPARED] for text in little_world().held_out]
        rows: list[np.ndarray] = []
        for start in range(0, len(encoded), ROWS):
            yield
            rows.append(_measure(lm, encoded[start : start + ROWS]))
        _measured[lm.net] = np.concatenate(rows)
    return _measured[lm.net]


def _measure(lm: LanguageModel, rows: Sequence[Sequence[int]]) -> Float[np.ndarray, "rows following"]:
    ids: Int[torch.Tensor, "rows tokens"] = torch.zeros(len(rows), COMPARED, dtype=torch.long)
    for row, own in zip(ids, rows, strict=True):
        row[: len(own)] = torch.tensor(own)  # what stands after a text changes nothing in it
    with torch.inference_mode():
        logs = lm.net(ids.to(lm.device)).float()[:, :-1].log_softmax(-1).cpu()
    found = -logs.gather(-1, ids[:, 1:, None])[..., 0].double().numpy()
    ends = np.array([len(own) for own in rows])
    return np.where(np.arange(1, COMPARED) < ends[:, None], found, np.nan)
