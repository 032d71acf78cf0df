"""The messages of the chapter on the next token: the logit lens, contributions, all logits, one draw."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from jaxtyping import Float, Int
from torch import Tensor

from model import LanguageModel, Trace
from model.analysis.causal_map import Patched, causal_map
from model.analysis.draw import Draw
from model.analysis.lens import Contributions, LogitLens
from model.analysis.logit_terms import LogitTerms, logit_terms
from model.analysis.nodes import run_pair
from model.little_world import little_world
from model.pieces import Work, in_pieces

from .messages.choice import (
    CausalMapDetail,
    ContributionsDetail,
    DrawDetail,
    GlossesAnswer,
    LensDetail,
    LogitTermsDetail,
    NeuronTerm,
    RaceMessage,
    Runner,
    TokenNames,
)
from .payload import Pieces, pack

SHOWN_THROWS = 64
NEURONS = 64  # of a logit's terms, by name


def named(ids: Int[np.ndarray, "..."], pieces: Pieces) -> TokenNames:
    """The distinct ids in an array with their pieces, so that each is sent once."""
    distinct = [int(i) for i in np.unique(ids)]
    return {"ids": distinct, "pieces": pieces(distinct)}


def lens_payload(
    readings: Sequence[LogitLens], targets: Int[np.ndarray, "T"], pieces: Pieces, first: int = 0
) -> LensDetail:
    """All depths, the embedding first: (L + 1, T, K) and (L + 1, T); `targets` (T,) is whose rank is followed.

    `first` is the depth of the first row, where there are fewer.
    """
    ids = np.stack([row.ids for row in readings])
    return {
        "first": first,
        "targets": pack(targets, "i4"),
        "ids": pack(ids, "i4"),
        "probabilities": pack(np.stack([row.probabilities for row in readings]), "f4"),
        "rank": pack(np.stack([row.rank for row in readings]), "i4"),
        "logit": pack(np.stack([row.logit for row in readings]), "f4"),
        "probability": pack(np.stack([row.probability for row in readings]), "f4"),
        "names": named(np.append(ids, targets), pieces),
    }


def contributions_payload(
    parts: Contributions,
    targets: Int[np.ndarray, "T"],
    against: Int[np.ndarray, "T"] | None,
    pieces: Pieces,
) -> ContributionsDetail:
    """Every part's share of one logit, or of a difference of two, for all tokens."""
    told: ContributionsDetail = {
        "embedding": pack(parts.embedding, "f4"),
        "attention": pack(parts.attention, "f4"),
        "ffn": pack(parts.ffn, "f4"),
        "patched": pack(parts.patched, "f4"),
        "logit": pack(parts.logit, "f4"),
        "scale": pack(parts.scale, "f4"),
        "targets": pack(targets, "i4"),
        "against": None if against is None else pack(against, "i4"),
        "names": named(targets if against is None else np.append(targets, against), pieces),
    }
    if parts.constant is not None:
        told["constant"] = pack(parts.constant, "f4")
    if parts.cross is not None:
        told["cross"] = pack(parts.cross, "f4")
    return told


def draw_payload(drawn: Draw, logits: Float[np.ndarray, "V"], pieces: Pieces) -> DrawDetail:
    """The drawn token, and the throws of the most probable tokens and of the next best in the race."""
    token = drawn.token
    return {
        "id": token,
        "piece": pieces([token])[0],
        "probability": drawn.probability,
        "logit": float(logits[token]),
        "race": None if drawn.throws is None else _race(drawn.probabilities, drawn.throws, pieces),
    }


def _race(probabilities: Float[np.ndarray, "V"], throws: Float[np.ndarray, "V"], pieces: Pieces) -> RaceMessage:
    best = np.argsort(-probabilities, kind="stable")[:SHOWN_THROWS]
    listed = [int(i) for i in best if probabilities[i] > 0]
    scores = probabilities / throws
    first, second = (int(i) for i in np.argsort(-scores, kind="stable")[:2])

    def runner(token: int) -> Runner:
        p, thrown = float(probabilities[token]), float(throws[token])
        return {"id": token, "piece": pieces([token])[0], "probability": p, "throw": thrown}

    return {
        "ids": listed,
        "throws": throws[listed].tolist(),
        "winner": runner(first),
        "second": runner(second) if probabilities[second] > 0 else None,
    }


@in_pieces
def logit_terms_info(
    lm: LanguageModel, trace: Trace, target: int, against: int | None, position: int
) -> Work[LogitTerms]:
    """One logit of a run as a sum over the embedding, every head by source token, and every neuron."""
    return (yield from logit_terms.pieces(trace, target, against, position))


def logit_terms_payload(info: LogitTerms) -> LogitTermsDetail:
    """The message of LogitTerms: `heads` (L, n_heads, T), those of a look at a source `cross` (L, n_heads, S) or null,
    and each FFN's sum `ffn` (L,), float32; the strongest neurons by name, and the others' sum."""
    flat = info.neurons.flatten()
    order = flat.abs().argsort(descending=True)[:NEURONS].tolist()
    width = info.neurons.shape[1]
    strongest: list[NeuronTerm] = [{"layer": i // width, "neuron": i % width, "value": float(flat[i])} for i in order]
    return {
        "embedding": info.embedding,
        "heads": pack(info.heads.numpy(), "f4"),
        "cross": None if info.cross is None else pack(info.cross.numpy(), "f4"),
        "ffn": pack(info.neurons.sum(1).numpy(), "f4"),
        "neurons": strongest,
        "other_neurons": float(flat.sum()) - sum(one["value"] for one in strongest),
        "patched": info.patched,
        "biases": info.biases,
        "logit": info.logit,
        "total": info.total,
    }


class CausalInfo(NamedTuple):
    """`left` (L + 1, T): the share of the difference that is left with another text's stream there, or (L, T) with what
    its attention or feed-forward writes there; the two answers; `start` is the first token at which the texts differ.

    Where an encoder reads the texts, `left` is of the decoder and `source_left` of the encoder, with its own L and T.
    """

    left: Float[Tensor, "depths T"]
    source_left: Float[Tensor, "source_depths S"] | None
    answer: int
    other: int
    start: int


@in_pieces
def causal_info(
    lm: LanguageModel,
    ids: Sequence[int],
    other: str,
    written: Sequence[int] | None = None,
    patched: Patched = "stream",
) -> Work[CausalInfo]:
    """The causal maps of a run's text against `other`, after what is `written`. Raises GlassLlamaError where the two
    make no pair."""
    pair = yield from run_pair.pieces(lm, ids, other, written)
    source = None if pair.written is None else (yield from causal_map.pieces(pair, stack="encoder", what=patched))
    left = yield from causal_map.pieces(pair, what=patched)
    return CausalInfo(left, source, pair.answer, pair.other, int((pair.ids != pair.other_ids)[0].nonzero()[0]))


def glosses_message() -> GlossesAnswer:
    """The English of the Chinese words that the bundled model reads."""
    found = little_world().glosses
    return {"words": dict(found["words"]), "parts": dict(found["parts"])}


def causal_payload(info: CausalInfo, names: Sequence[str]) -> CausalMapDetail:
    """The message of CausalInfo; `names` are the two answers' pieces."""
    source = None if info.source_left is None else pack(info.source_left.numpy(), "f4")
    left = pack(info.left.numpy(), "f4")
    return {"left": left, "source_left": source, "answer": names[0], "other": names[1], "start": info.start}
