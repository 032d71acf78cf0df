"""The chapter that shows the whole: the diagram, the residual stream, the training."""

from visuals.messages.overview import EndsDetail, StageDetail, StreamDetail, TrainingDetail
from visuals.overview import ends_payload, stage_payload, stream_payload

from ..engine import Engine
from ..operations import (
    BEST_TOKENS,
    LAYER_NORMS,
    LOGIT_LENS,
    NORM_AND_HEAD,
    NORM_LEARNED,
    NORMALISED,
    STREAM_SIZES,
    TRAINING,
)
from ..requests import Place, Sent, about_run, leader_of, token_of
from ..session import HeldRun

ON_DEMAND = ("residual", "training")
PANELS = ("overview", *ON_DEMAND)


def stream(engine: Engine, held: HeldRun, _asked: Sent) -> StreamDetail:
    """Norms and cosines along the residual stream for all layers and tokens, and the final choice if there is one."""
    vectors = held.trace.residual
    sizes = held.study(engine, STREAM_SIZES, vectors, held.trace.intervention)
    if not len(held.trace.logits):
        return stream_payload(sizes, None, [])
    best = held.study(engine, BEST_TOKENS, vectors[-1])
    final = held.study(engine, LOGIT_LENS, vectors[-1], best, 1)
    return stream_payload(sizes, final, engine.pieces(held.model, best.tolist()))


def stage(engine: Engine, held: HeldRun, asked: Sent) -> StageDetail:
    """{layer, token}: the vectors around that layer's parts."""
    of = about_run(Place, engine, held, asked)
    learned = held.study(engine, LAYER_NORMS, of.layer)
    return stage_payload(engine.layer(held.model, held.trace, of.layer), of.token, learned)


def ends(engine: Engine, held: HeldRun, asked: Sent) -> EndsDetail:
    """{token, other}: the vectors before the first layer and after the last, and what final norm and head make of it;
    which logits are sent follows from the run `other` where that is named. An encoder has no logits."""
    token = token_of(engine, held, asked)
    (first, last), leader = held.trace.residual[[0, -1], token], leader_of(held, asked)
    learned = held.study(engine, NORM_LEARNED, "final", 0)
    if not len(held.trace.logits):
        return ends_payload(first, last, held.study(engine, NORMALISED, last), learned, None, None)
    normed, _, scores = held.study(engine, NORM_AND_HEAD, last)
    named = scores if leader is held else held.study(engine, NORM_AND_HEAD, leader.trace.residual[-1, token])[2]
    return ends_payload(first, last, normed, learned, scores, named)


def training(engine: Engine, held: HeldRun, _asked: Sent) -> TrainingDetail:
    """How the run's model was trained, and what was measured of it."""
    return held.study(engine, TRAINING)


DETAILS = {"stream": stream, "stage": stage, "ends": ends, "training": training}
