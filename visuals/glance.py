"""Why this word: the messages of the first screen. What matters for an answer, and words to change."""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np
from jaxtyping import Float

from model import LanguageModel, Trace
from model.analysis.effects import ATTENDED, Effect, Effects, effects, seen_by
from model.analysis.first_look import first_look
from model.analysis.matching import Matching, Other, Way, matching
from model.analysis.outside import Outside, Usual
from model.analysis.swaps import Swap
from model.analysis.switching import Kind, Part, stacks
from model.pieces import Work, in_pieces

from .messages.glance import (
    EffectMessage,
    FirstHead,
    LookStep,
    MatchingDetail,
    Nothing,
    OtherToken,
    OutsideDetail,
    PartKind,
    SightPlace,
    SwapMessage,
    UsualSurprisal,
    WhyDetail,
)
from .messages.run import Start
from .payload import Pieces

LOOKING = 8192  # rows × tokens that an answer to why may cost: in a long run fewer parts are measured
# What parts of an encoder are called; it looks at no other text.
IN_ENCODER: dict[Kind, PartKind] = {"head": "encoder_head", "neuron": "encoder_neuron"}


class Sight(NamedTuple):
    """The token that a head looks at most from the one at `query`, and its weight."""

    query: int
    key: int
    weight: float


class Looks(NamedTuple):
    """What was measured, and where each head in `parts` looks from the token that is asked about: an encoder's from the
    source token that the answer was read from, or else from the last."""

    found: Effects
    sights: dict[Part, Sight]


@in_pieces
def looks(lm: LanguageModel, trace: Trace, target: int | None, position: int) -> Work[Looks]:
    """What matters for `target` after `position`, and where the heads among it look from there."""
    found = yield from effects.pieces(trace, target, position, *how_many(trace))
    read = found.look.key if found.look.kind == "cross" else -1
    sights: dict[Part, Sight] = {}
    for part in sorted((one.part for one in found.parts if one.part.kind in ATTENDED), key=lambda one: one.layer):
        sights[part] = _sight(trace, part, read if part.encoder else found.position)
        yield
    return Looks(found, sights)


def how_many(trace: Trace) -> tuple[int, int]:
    """How many heads and neurons are switched off in a run of this length for an answer to why."""
    room = LOOKING // max(len(run.token_ids) for run in stacks(trace))
    return max(4, min(24, 3 * room // 4)), max(2, min(8, room // 4))


def opening(_lm: LanguageModel, trace: Trace) -> Start:
    """The layer, head, query and key that a page shows first: the head that brings most of the most probable next
    token's logit from one token, and that token; no key for a head that looks at a source text."""
    first = first_look(trace)
    if first is None:
        return {"layer": 0, "head": 0}
    start: Start = {"layer": first.layer, "head": first.head, "query": len(trace.token_ids) - 1}
    return {**start, "key": first.key} if first.kind == "head" else start


def looks_payload(info: Looks, piece: str) -> WhyDetail:
    """The message of Looks; `piece` is the target's."""
    found, look = info.found, info.found.look
    return {
        "target": found.target,
        "piece": piece,
        "position": found.position,
        "probability": found.probability,
        "first": _first(found.first, info.sights) if found.first else None,
        "look": {
            "kind": look.kind,
            "key": look.key,
            "heads": [
                {"layer": part.layer, "head": part.number, "weight": weight}
                for part, weight in zip(look.heads, look.weights, strict=True)
            ],
            "without": look.without,
            "by_chance": sorted(look.by_chance),
        },
        "parts": [_effect(one, info.sights) for one in found.parts],
    }


def _effect(one: Effect, sights: Mapping[Part, Sight]) -> EffectMessage:
    part = one.part
    told: EffectMessage = {
        "kind": IN_ENCODER[part.kind] if part.encoder else part.kind,
        "layer": part.layer,
        "index": part.number,
        "without": one.probability,
        "loss": one.loss,
    }
    return {**told, **_place(part, sights)} if part in sights else told


@in_pieces
def matching_info(
    _lm: LanguageModel, trace: Trace, layer: int, head: int, query: int, key: int
) -> Work[Matching | None]:
    """How a head at `query` tells the token `key` from another answer in the text."""
    return (yield from matching.pieces(trace, layer, head, query, key))


def matching_payload(found: Matching | None, pieces: Pieces) -> MatchingDetail | Nothing:
    """What a head compared; {} where there is nothing to tell."""
    return {} if found is None else matching_message(found, pieces)


def matching_message(found: Matching, pieces: Pieces) -> MatchingDetail:
    """What a head compared."""
    return {
        "rival": found.rival,
        "score": found.score,
        "rival_score": found.rival_score,
        "asked": _steps(found.asked),
        "told": _steps(found.told),
        "rival_told": found.rival_told and _steps(found.rival_told),
        "term": found.term,
        "rival_term": found.rival_term,
        "from_asked": found.from_asked,
        "rival_from_asked": found.rival_from_asked,
        "n_terms": found.n_terms,
        "other": found.other and _other(found.other, pieces),
    }


def _steps(way: Way) -> list[LookStep]:
    return [
        {"layer": one.layer, "head": one.head, "at": one.at, "key": one.key, "weight": one.weight} for one in way.steps
    ]


def _other(one: Other, pieces: Pieces) -> OtherToken:
    return {
        "position": one.position,
        "id": one.id,
        "piece": pieces([one.id])[0],
        "score": one.score,
        "rival_score": one.rival_score,
    }


def outside_payload(found: Outside, example: str) -> OutsideDetail:
    """What is strange in a prompt, and an example of what is not."""
    return {
        "words": found.words,
        "places": found.places,
        "tokens": found.tokens,
        "surprisal": found.surprisal,
        "usual": found.usual and _usual(found.usual),
        "odd": found.odd,
        "misplaced": found.misplaced,
        "doubt": found.doubt,
        "unsure": found.unsure,
        "example": example,
    }


def _usual(found: Usual) -> UsualSurprisal:
    return {"documents": found.documents, "middle": found.middle, "most": found.most}


def swaps_payload(found: Sequence[Swap], pieces: Pieces) -> list[SwapMessage]:
    """The words to change."""
    names = pieces([one.answer for one in found])
    return [
        {
            "start": one.start,
            "word": one.word,
            "other": one.other,
            "text": one.text,
            "answer": one.answer,
            "piece": piece,
            "probability": one.probability,
        }
        for one, piece in zip(found, names, strict=True)
    ]


def _sight(trace: Trace, part: Part, position: int) -> Sight:
    weights = seen_by(trace, part)
    row: Float[np.ndarray, " S"] = weights[position]
    key = int(row.argmax())
    return Sight(position % len(weights), key, float(row[key]))


def _place(part: Part, sights: Mapping[Part, Sight]) -> SightPlace:
    sight = sights[part]
    return {
        "layer": part.layer,
        "head": part.number,
        "query": sight.query,
        "key": sight.key,
        "weight": sight.weight,
    }


def _first(part: Part, sights: Mapping[Part, Sight]) -> FirstHead:
    return {"kind": part.kind, **_place(part, sights)}
