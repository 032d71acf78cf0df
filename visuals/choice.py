"""The messages of the chapter on the next token: the logit lens, contributions, all logits, one draw."""

from collections.abc import Sequence

import numpy as np
from jaxtyping import Float, Int

from model.analysis.draw import Draw
from model.analysis.lens import Contributions, LogitLens

from .payload import Message, Pieces, pack

SHOWN_THROWS = 64


def named(ids: Int[np.ndarray, "..."], pieces: Pieces) -> Message:
    """The distinct ids in an array with their pieces, so that each is sent once."""
    distinct = [int(i) for i in np.unique(ids)]
    return {"ids": distinct, "pieces": pieces(distinct)}


def lens_payload(readings: Sequence[LogitLens], targets: Int[np.ndarray, "T"], pieces: Pieces) -> Message:
    """All depths, the embedding first: (L + 1, T, K) and (L + 1, T); `targets` (T,) is whose rank is followed."""
    ids = np.stack([row.ids for row in readings])
    return {
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
) -> Message:
    """Every part's share of one logit, or of a difference of two, for all tokens."""
    others = None if against is None else pack(against, "i4")
    return {
        **{name: pack(values, "f4") for name, values in parts._asdict().items() if values is not None},
        "targets": pack(targets, "i4"),
        "against": others,
        "names": named(targets if against is None else np.append(targets, against), pieces),
    }


def draw_payload(drawn: Draw, logits: Float[np.ndarray, "V"], pieces: Pieces) -> Message:
    """The drawn token, and the throws of the most probable tokens and of the next best in the race."""
    token, throws = drawn.token, drawn.throws
    message: Message = {
        "id": token,
        "piece": pieces([token])[0],
        "probability": drawn.probability,
        "logit": float(logits[token]),
        "race": None,
    }
    if throws is not None:
        best = np.argsort(-drawn.probabilities, kind="stable")[:SHOWN_THROWS]
        listed = [int(i) for i in best if drawn.probabilities[i] > 0]
        scores = drawn.probabilities / throws
        first, second = (int(i) for i in np.argsort(-scores, kind="stable")[:2])
        message["race"] = {
            "ids": listed,
            "throws": throws[listed].tolist(),
            "winner": _runner(first, drawn, pieces),
            "second": _runner(second, drawn, pieces) if drawn.probabilities[second] > 0 else None,
        }
    return message


def _runner(token: int, drawn: Draw, pieces: Pieces) -> Message:
    assert drawn.throws is not None
    p, thrown = float(drawn.probabilities[token]), float(drawn.throws[token])
    return {"id": token, "piece": pieces([token])[0], "probability": p, "throw": thrown}
