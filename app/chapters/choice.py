"""The chapter on the next token: sampling, the logit lens, who wrote a logit."""

from typing import Annotated

import numpy as np
import torch
from jaxtyping import Float, Int

from model.analysis.causal_map import Patched
from model.analysis.draw import draw as draw_token
from model.sampling import Sampling, candidates
from visuals.choice import (
    causal_payload,
    contributions_payload,
    draw_payload,
    glosses_message,
    lens_payload,
    logit_terms_payload,
)
from visuals.messages.choice import (
    CausalMapDetail,
    ContributionsDetail,
    DrawDetail,
    GlossesAnswer,
    LensDetail,
    LensFitAnswer,
    LogitsDetail,
    LogitTermsDetail,
    NextDetail,
    WrittenToken,
)
from visuals.payload import pack
from visuals.run import RUN_CANDIDATES, offers

from ..engine import Engine
from ..fields import Flag, Request, Token, TokenId, among, below, read
from ..operations import (
    BEST_TOKENS,
    CAUSAL_MAP,
    CONTRIBUTIONS,
    FIT_LENS,
    JACOBIAN_LENS,
    LENS,
    LENS_FIT,
    LOGIT_TERMS,
    NORM_AND_HEAD,
    RUNNERS_UP,
)
from ..prompts import check_text
from ..requests import AtToken, Filters, OtherText, Sent, about_run, leader_of, map_limit, model_of, token_of, unchanged
from ..session import HeldRun


class Lens(Request):
    """Whether the rank of the text's next token is followed, whether the Jacobian lens reads the stream, and at which
    token: at every one where it is null."""

    follow: Flag = False
    jacobian: Flag = False
    token: Token | None = None


class LensFit(Request):
    """Whether one more token is taken into the lens."""

    further: Flag = False


class Shares(Request):
    """The token whose logit is taken apart, or each position's choice; `versus` the best other token."""

    target: TokenId | None = None
    versus: Flag = False


class Logits(Request):
    """A position; the last where it is null."""

    token: Token | None = None


class Throw(Logits):
    """A seed, with which `draws` tokens were drawn before that after a position."""

    seed: Annotated[int, below(1 << 53)]
    draws: Token = 0


class Terms(AtToken):
    """A token's logit after a position, less that of `against`."""

    target: TokenId
    against: TokenId | None = None


class CausalMap(OtherText):
    """What is taken from the other text: the stream, or what attention or the feed-forward writes."""

    patched: Annotated[Patched, among(("stream", "attention", "ffn"))] = "stream"


ON_DEMAND = ("contributions", "logit-terms", "causal-map")
PANELS = ("sampling", "lens", *ON_DEMAND)


def lens(engine: Engine, held: HeldRun, asked: Sent) -> LensDetail:
    """{follow, jacobian, token, other}: the lens at every depth; the rank followed is that of the final choice, or of
    the text's next token, in the run `other` where that is named. `jacobian`: the Jacobian lens reads. With `token`
    that one alone is read, which is there much sooner."""
    of, stream = about_run(Lens, engine, held, asked), held.trace.residual
    tokens = slice(None) if of.token is None else slice(of.token, of.token + 1)
    targets = _targets(engine, leader_of(held, asked), None, of.follow, tokens)
    readings = held.study(engine, JACOBIAN_LENS if of.jacobian else LENS, stream[:, tokens], targets)
    first = len(stream) - len(readings)
    return lens_payload(readings, targets, lambda ids: engine.pieces(held.model, ids), first)


def lens_fit(engine: Engine, data: Sent) -> LensFitAnswer:
    """{model, further}: how far the Jacobian lens of a model is, after one more token where `further` says so."""
    operation = FIT_LENS if read(LensFit, data).further else LENS_FIT
    fit = engine.study(model_of(engine, data), operation, None)
    return {"done": fit.done, "tokens": fit.tokens, "first": fit.first, "own_texts": fit.own_texts}


def shares(engine: Engine, held: HeldRun, asked: Sent) -> ContributionsDetail:
    """{target, versus, other}: who wrote the logit of `target` (null: each position's final choice, in the run `other`
    where that is named), or, with `versus`, by how much it beats the best other token."""
    of = about_run(Shares, engine, held, asked)
    vectors, leader = held.trace.residual, leader_of(held, asked)
    targets = _targets(engine, leader, of.target, False)
    last = leader.trace.residual[-1]
    against = held.study(engine, RUNNERS_UP, last, targets) if of.versus else None
    parts = held.study(engine, CONTRIBUTIONS, vectors, targets, against, held.trace.intervention)
    return contributions_payload(parts, targets, against, lambda ids: engine.pieces(held.model, ids))


def offered(engine: Engine, held: HeldRun, asked: Sent) -> NextDetail:
    """{token}: the candidates for the token after that position, as a run's own message has them for the last, and
    `written`, the one that the text goes on with (null after the last): {id, logit, rank}, the rank counted from 0."""
    token = token_of(engine, held, asked)
    values = _logits_at(engine, held, token)
    found = candidates(torch.from_numpy(values), RUN_CANDIDATES)
    message = offers(found, engine.about(held.model), lambda ids: engine.pieces(held.model, ids))
    following = held.trace.token_ids[token + 1 : token + 2]
    told: list[WrittenToken] = [
        {"id": int(i), "logit": float(values[i]), "rank": int((values > values[i]).sum())} for i in following
    ]
    return {**message, "written": told[0] if told else None}


def logits(engine: Engine, held: HeldRun, asked: Sent) -> LogitsDetail:
    """{token}: all logits after that position (the last one where none is named), float32: what the sampling sliders
    work on."""
    return {"logits": pack(_logits_at(engine, held, about_run(Logits, engine, held, asked).token), "f4")}


def draw(engine: Engine, held: HeldRun, asked: Sent) -> DrawDetail:
    """{token, temperature, top_k, top_p, seed, draws}: the token that these settings draw after that position (the last
    one where none is named), `draws` tokens having been drawn with the seed before."""
    of = about_run(Throw, engine, held, asked)
    how, values = Sampling(**read(Filters, asked).model_dump()), _logits_at(engine, held, of.token)
    drawn = draw_token(torch.from_numpy(values), how, of.seed, of.draws)
    return draw_payload(drawn, values, lambda ids: engine.pieces(held.model, ids))


def terms(engine: Engine, held: HeldRun, asked: Sent) -> LogitTermsDetail:
    """{token, target, against}: what made the logit of `target` after that position, less that of `against` where that
    is not null."""
    of = about_run(Terms, engine, held, asked)
    return logit_terms_payload(held.study(engine, LOGIT_TERMS, of.target, of.against, of.token))


def causal(engine: Engine, held: HeldRun, asked: Sent) -> CausalMapDetail:
    """{token, text, patched}: where the answer after that position lives, against the answer to another `text`, with
    its "stream" (the default), "attention" or "ffn" in one place at a time."""
    of = about_run(CausalMap, engine, held, asked)
    texts, other = unchanged(held, of.token, map_limit(engine, held)), check_text(of.text)
    study = held.study_and_keep if of.patched == "stream" else held.study  # on that "recalled" builds
    found = study(engine, CAUSAL_MAP, texts.ids, other, texts.written or None, of.patched)
    return causal_payload(found, engine.pieces(held.model, [found.answer, found.other]))


def glosses(_engine: Engine, _data: Sent) -> GlossesAnswer:
    """What Chinese words mean in English."""
    return glosses_message()


def _logits_at(engine: Engine, held: HeldRun, token: int | None) -> Float[np.ndarray, " V"]:
    """What the model gave every token after a position, the last one where none is named: final norm and head on the
    recorded stream."""
    if token is None or token == len(held.trace.token_ids) - 1:
        return held.trace.logits
    return held.study(engine, NORM_AND_HEAD, held.trace.residual[-1, token])[2]


def _targets(
    engine: Engine, held: HeldRun, target: int | None, follow: bool, tokens: slice = slice(None)
) -> Int[np.ndarray, "T"]:
    """One token everywhere, or each position's final choice; with `follow` the text's own next token instead. Of these
    `tokens` of a run."""
    ids = np.array(held.trace.token_ids)
    if target is not None:
        return np.full(len(ids[tokens]), target)
    best = held.study(engine, BEST_TOKENS, held.trace.residual[-1, tokens])
    if not follow:
        return best
    following = np.append(ids[1:], -1)[tokens]
    return np.where(following < 0, best, following)


DETAILS = {
    "lens": lens, "contributions": shares, "next": offered, "logits": logits, "draw": draw, "logit_terms": terms,
    "causal_map": causal,
}  # fmt: skip
CALCULATORS = {"lens_fit": lens_fit, "glosses": glosses}
