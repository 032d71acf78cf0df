"""The chapter that shows the whole: the diagram, the residual stream, the training."""

from model import LanguageModel
from model.analysis.lens import best_tokens, logit_lens, norm_and_head, normalised
from model.analysis.stream import stream_sizes
from model.record import read_record
from visuals.messages.overview import EndsDetail, StageDetail, StreamDetail, TrainingDetail
from visuals.norm import Learned, learned_of, norms_of
from visuals.overview import ends_payload, stage_payload, stream_payload
from visuals.overview_training import training_payload

from ..engine import Engine
from ..requests import Sent, layer_of, leader_of, token_of
from ..session import HeldRun

PANELS = ("overview", "residual", "training")


def stream(engine: Engine, held: HeldRun, _asked: Sent) -> StreamDetail:
    """Norms and cosines along the residual stream for all layers and tokens, and the final choice if there is one."""
    vectors = held.trace.residual
    sizes = held.study_in_pieces(engine, stream_sizes, vectors, held.trace.intervention)
    if not len(held.trace.logits):
        return stream_payload(sizes, None, [])
    best = held.study(engine, best_tokens, vectors[-1])
    final = held.study(engine, logit_lens, vectors[-1], best, 1)
    return stream_payload(sizes, final, engine.pieces(held.model, best.tolist()))


def stage(engine: Engine, held: HeldRun, asked: Sent) -> StageDetail:
    """{layer, token}: the vectors around that layer's parts."""
    layer, token = layer_of(held, asked), token_of(held, asked)
    learned = held.study(engine, layer_norms, layer)
    return stage_payload(engine.layer(held.model, held.trace, layer), token, learned)


def layer_norms(lm: LanguageModel, layer: int) -> dict[str, Learned]:
    """What the norms of a layer have learned, by name."""
    return {name: learned_of(lm, name, layer) for name in norms_of(lm) if name != "final"}


def ends(engine: Engine, held: HeldRun, asked: Sent) -> EndsDetail:
    """{token, other}: the vectors before the first layer and after the last, and what final norm and head make of it;
    which logits are sent follows from the run `other` where that is named. An encoder has no logits."""
    token = token_of(held, asked)
    (first, last), leader = held.trace.residual[[0, -1], token], leader_of(held, asked)
    learned = held.study(engine, learned_of, "final", 0)
    if not len(held.trace.logits):
        return ends_payload(first, last, held.study(engine, normalised, last), learned, None, None)
    normed, _, scores = held.study(engine, norm_and_head, last)
    named = scores if leader is held else held.study(engine, norm_and_head, leader.trace.residual[-1, token])[2]
    return ends_payload(first, last, normed, learned, scores, named)


def record(lm: LanguageModel) -> TrainingDetail:
    """What the files beside a model's weights say about its training."""
    return training_payload(read_record(lm.directory))


def training(engine: Engine, held: HeldRun, _asked: Sent) -> TrainingDetail:
    """How the run's model was trained, and what was measured of it."""
    return held.study(engine, record)


DETAILS = {"stream": stream, "stage": stage, "ends": ends, "training": training}
