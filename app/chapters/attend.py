"""The chapter on attention."""

from typing import Annotated

from pydantic import PlainValidator, ValidationInfo

from model import GlassLlamaError
from model.analysis.head_jobs import SEQUENCES
from visuals.attend import (
    VECTORS,
    Vector,
    head_names_payload,
    head_write_info,
    head_write_payload,
    projection_payload,
    score_terms_payload,
    values_payload,
)
from visuals.attention_kinds import attention_kinds_payload, tokens_in
from visuals.latent import latent_payload
from visuals.messages.attend import (
    AttentionKindsDetail,
    HeadNamesDetail,
    HeadWriteDetail,
    LatentDetail,
    ProjectionDetail,
    ScoreTermsDetail,
    SinksDetail,
    ValuesDetail,
)
from visuals.sinks import sinks_payload

from ..engine import Engine
from ..fields import Request, among, below, check_below, counted, end_of, read
from ..operations import (
    ATTENTION_KINDS,
    HEAD_COLUMNS,
    HEAD_JOBS,
    HEAD_NAMES,
    LATENT,
    PROJECTION,
    RESTS,
    SCORE_TERMS,
    SINKS,
)
from ..requests import HeadWrite, OfHead, OfLayer, Score, Sent, about_run, layer_of
from ..session import HeldRun


def _head_of_vector(value: object, info: ValidationInfo) -> int:
    count = "heads" if info.data.get("vector") == "q" else "kv_heads"
    return check_below(value, end_of(count, info))


class Projection(OfLayer):
    """q of a query head, or k or v of a K/V head; every channel where `channel` is null."""

    vector: Annotated[Vector, among(VECTORS)]
    head: Annotated[int, PlainValidator(_head_of_vector)]
    channel: Annotated[int, below("head_dim")] | None = None


class Jobs(Request):
    """How many random sequences the jobs are to be measured on."""

    count: Annotated[int, counted(1, SEQUENCES)]


class Further(Request):
    """What comes in parts, after `start` were measured."""

    start: Annotated[int, below(1 << 20)] = 0


# What is told of beside GQA.
BESIDE = ("sqrt-d", "token-groups", "sparse-attention", "mask-kinds", "attention-kinds", "gqa-example")
ON_DEMAND = ("heads", "qkv", "score-terms", "sinks", "arcs", "difference", *BESIDE)
PANELS = ("cross", "attention", "latent", "cell", *ON_DEMAND)


def values(engine: Engine, held: HeldRun, asked: Sent) -> ValuesDetail:
    """{layer}: its value vectors."""
    return values_payload(engine.layer(held.model, held.trace, layer_of(engine, held, asked)))


def projection(engine: Engine, held: HeldRun, asked: Sent) -> ProjectionDetail:
    """{layer, vector, head, channel}: the weights that make q of this query head, or k or v of this K/V head, of every
    channel where `channel` is null."""
    of = about_run(Projection, engine, held, asked)
    seen = engine.layer(held.model, held.trace, of.layer)
    return projection_payload(held.study(engine, PROJECTION, seen, of.layer, of.vector, of.head, of.channel))


def latent(engine: Engine, held: HeldRun, asked: Sent) -> LatentDetail:
    """{layer, head}: what that layer keeps of each token under MLA, and what the head makes of it."""
    of = about_run(OfHead, engine, held, asked)
    seen = engine.layer(held.model, held.trace, of.layer)
    if "kv_latent" not in seen.arrays:
        raise GlassLlamaError("bad_request", f"{held.model}: its attention keeps no latent.")
    return latent_payload(held.study(engine, LATENT, seen, of.layer, of.head))


def head_write(engine: Engine, held: HeldRun, asked: Sent) -> HeadWriteDetail:
    """{layer, head, query}: what this head writes to the residual stream at this token."""
    of, changes = about_run(HeadWrite, engine, held, asked), held.trace.intervention
    off = (of.layer, of.head) in changes.heads or of.layer in changes.attention
    columns = held.study(engine, HEAD_COLUMNS, of.layer, of.head) * (not off)
    seen = engine.layer(held.model, held.trace, of.layer)
    return head_write_payload(head_write_info(columns, seen, of.head, of.query))


def names_of_heads(engine: Engine, held: HeldRun, _asked: Sent) -> HeadNamesDetail:
    """The heads that the model's file heads.json names, where it has one, or that were measured here."""
    return head_names_payload(held.study(engine, HEAD_NAMES))


def jobs_of_heads(engine: Engine, held: HeldRun, asked: Sent) -> HeadNamesDetail:
    """{count}: the same, measured on so many random sequences: a page asks for one more each time."""
    return head_names_payload(held.study(engine, HEAD_JOBS, read(Jobs, asked).count))


def score_terms(engine: Engine, held: HeldRun, asked: Sent) -> ScoreTermsDetail:
    """{layer, head, query, key}: what made this head look there, as a sum over what wrote to the two streams."""
    of = about_run(Score, engine, held, asked)
    return score_terms_payload(held.study(engine, SCORE_TERMS, of.layer, of.head, of.query, of.key))


def sinks(engine: Engine, held: HeldRun, _asked: Sent) -> SinksDetail:
    """What made each sink of the run, and what the last token loses without it."""
    info = held.study(engine, SINKS)
    last = len(held.trace.token_ids) - 1
    rests = held.study_and_keep(engine, RESTS, None, last) if info.spikes else None
    return sinks_payload(info, rests, engine.pieces(held.model, [rests.target])[0] if rests else None)


def attention_kinds(engine: Engine, held: HeldRun, asked: Sent) -> AttentionKindsDetail:
    """{start}: the run's next token with other numbers of K/V heads and with latents, more than `start` of them if
    there are as many. A page asks until it has all, or no longer."""
    start, found = read(Further, asked).start, held.kept(ATTENTION_KINDS)
    while found is None or found.done <= start < found.total:
        found = held.study(engine, ATTENTION_KINDS, found)
        held.keep(ATTENTION_KINDS, found)
    ids = tokens_in(found)
    return attention_kinds_payload(found, dict(zip(ids, engine.pieces(held.model, ids), strict=True)))


DETAILS = {
    "values": values,
    "projection": projection,
    "latent": latent,
    "head_write": head_write,
    "head_names": names_of_heads,
    "head_jobs": jobs_of_heads,
    "score_terms": score_terms,
    "sinks": sinks,
    "attention_kinds": attention_kinds,
}
