"""The chapter on the next token: sampling, the logit lens, who wrote a logit."""

from typing import Any

import numpy as np
import torch
from jaxtyping import Float

from model.analysis.draw import draw as draw_token
from model.sampling import Sampling, candidates
from visuals.choice import (
    causal_payload,
    contributions_payload,
    draw_payload,
    lens_payload,
    logit_terms_payload,
)
from visuals.payload import Message, pack
from visuals.run import RUN_CANDIDATES, offers

from ..engine import Engine
from ..operations import BEST_TOKENS, CAUSAL_MAP, CONTRIBUTIONS, LENS, LOGIT_TERMS, NORM_AND_HEAD, RUNNERS_UP
from ..prompts import check_text
from ..requests import int_field, leader_of, map_limit, token_of, unchanged
from ..session import HeldRun

PANELS = ("sampling", "lens", "contributions", "logit-terms", "causal-map")


def lens(engine: Engine, held: HeldRun, asked: dict[str, Any]) -> Message:
    """{follow, other}: the lens at every depth; the rank followed is that of the final choice, or of the text's next
    token, in the run `other` where that is named."""
    targets = _targets(engine, leader_of(held, asked), None, asked.get("follow") is True)
    readings = held.study(engine, LENS, held.trace.residual, targets)
    return lens_payload(readings, targets, lambda ids: engine.pieces(held.model, ids))


def shares(engine: Engine, held: HeldRun, asked: dict[str, Any]) -> Message:
    """{target, versus, other}: who wrote the logit of `target` (null: each position's final choice, in the run `other`
    where that is named), or, with `versus`, by how much it beats the best other token."""
    vectors, leader = held.trace.residual, leader_of(held, asked)
    targets = _targets(engine, leader, asked.get("target"), False)
    last = leader.trace.residual[-1]
    against = held.study(engine, RUNNERS_UP, last, targets) if asked.get("versus") is True else None
    parts = held.study(engine, CONTRIBUTIONS, vectors, targets, against, held.trace.intervention)
    return contributions_payload(parts, targets, against, lambda ids: engine.pieces(held.model, ids))


def offered(engine: Engine, held: HeldRun, asked: dict[str, Any]) -> Message:
    """{token}: the candidates for the token after that position, as a run's own message has them for the last, and
    `written`, the one that the text goes on with (null after the last): {id, logit, rank}, the rank counted from 0."""
    token = token_of(held, asked)
    values = _logits_at(engine, held, asked)
    found = candidates(torch.from_numpy(values), RUN_CANDIDATES)
    message = offers(found, engine.about(held.model), lambda ids: engine.pieces(held.model, ids))
    following = held.trace.token_ids[token + 1 : token + 2]
    told = [{"id": int(i), "logit": float(values[i]), "rank": int((values > values[i]).sum())} for i in following]
    return message | {"written": told[0] if told else None}


def logits(engine: Engine, held: HeldRun, asked: dict[str, Any]) -> Message:
    """{token}: all logits after that position (the last one where none is named), float32: what the sampling sliders
    work on."""
    return {"logits": pack(_logits_at(engine, held, asked), "f4")}


def draw(engine: Engine, held: HeldRun, asked: dict[str, Any]) -> Message:
    """{token, temperature, top_k, top_p, seed, draws}: the token that these settings draw after that position (the last
    one where none is named), `draws` tokens having been drawn with the seed before."""
    how = Sampling(asked.get("temperature", 0), asked.get("top_k", 0), asked.get("top_p", 1))
    draws = int_field(asked, "draws", len(held.trace.token_ids)) if "draws" in asked else 0
    values = _logits_at(engine, held, asked)
    drawn = draw_token(torch.from_numpy(values), how, int_field(asked, "seed", 1 << 53), draws)
    return draw_payload(drawn, values, lambda ids: engine.pieces(held.model, ids))


def terms(engine: Engine, held: HeldRun, asked: dict[str, Any]) -> Message:
    """{token, target, against}: what made the logit of `target` after that position, less that of `against` where that
    is not null."""
    vocab_size = engine.about(held.model).config.vocab_size
    target = int_field(asked, "target", vocab_size)
    against = None if asked.get("against") is None else int_field(asked, "against", vocab_size)
    return logit_terms_payload(held.study(engine, LOGIT_TERMS, target, against, token_of(held, asked)))


def causal(engine: Engine, held: HeldRun, asked: dict[str, Any]) -> Message:
    """{token, text}: where the answer after that position lives, against the answer to another `text`."""
    texts, other = unchanged(held, asked, map_limit(engine, held)), check_text(asked.get("text"))
    found = held.study(engine, CAUSAL_MAP, texts.ids, other, texts.written or None)
    return causal_payload(found, engine.pieces(held.model, [found.answer, found.other]))


def _logits_at(engine: Engine, held: HeldRun, asked: dict[str, Any]) -> Float[np.ndarray, " V"]:
    """What the model gave every token after a position: final norm and head on the recorded stream."""
    token = token_of(held, asked) if "token" in asked else len(held.trace.token_ids) - 1
    if token == len(held.trace.token_ids) - 1:
        return held.trace.logits
    return held.study(engine, NORM_AND_HEAD, held.trace.residual[-1, token])[2]


def _targets(engine: Engine, held: HeldRun, target: Any, follow: bool) -> np.ndarray:
    """(T,): one token everywhere, or each position's final choice; with `follow` the text's own next token instead."""
    vocab_size = engine.about(held.model).config.vocab_size
    ids = held.trace.token_ids
    if target is not None:
        return np.full(len(ids), int_field({"target": target}, "target", vocab_size))
    best = held.study(engine, BEST_TOKENS, held.trace.residual[-1])
    if follow:
        best[:-1] = ids[1:]
    return best


DETAILS = {
    "lens": lens, "contributions": shares, "next": offered, "logits": logits, "draw": draw, "logit_terms": terms,
    "causal_map": causal,
}  # fmt: skip
