"""What attention in one layer reads, carries and writes: what makes q, k and v, a head's own output."""

from typing import Literal, NamedTuple, cast, get_args

import numpy as np
import torch
from jaxtyping import Float, Int

from model import LanguageModel, LayerTrace, ScoreTerms, Trace, score_terms
from model.analysis import head_jobs
from model.attention import Attention
from model.head_names import HeadKind, read_heads
from model.kept_jobs import Measured, fingerprint, kinds_of, measured, read_kept, remember, write_kept
from model.pieces import Work, in_pieces

from .messages.attend import (
    HeadKindMessage,
    HeadNamesDetail,
    HeadWriteDetail,
    ProjectionDetail,
    ScoreTermsDetail,
    ValuesDetail,
)
from .payload import maybe, pack

CHANNELS = 8
Vector = Literal["q", "k", "v"]
VECTORS: tuple[Vector, ...] = get_args(Vector)


class ProjectionInfo(NamedTuple):
    """What makes a head's q, k or v of the normed stream n: rows·n + bias, of all its channels or of one.

    `rows` are the head's of W_Q, W_K or W_V. Where q and k are normalised themselves (Qwen 3) what is said so far is
    divided by `divisor`, the RMS over the head's channels at each token, and multiplied by `gamma`, channel by channel.
    """

    rows: Float[np.ndarray, "K d"]
    bias: Float[np.ndarray, " K"] | None
    gamma: Float[np.ndarray, " K"] | None
    divisor: Float[np.ndarray, " T"] | None


class HeadWriteInfo(NamedTuple):
    """What one head writes to the residual stream at one token: `written` = W_O[:, head's columns] · mixed.

    `mixed` = Σ α·v is the head's output. `stream` is the residual stream before attention. `channels` are the K with
    the largest |written|, strongest first, and `rows` their rows of W_O, so that each can be added up term by term.
    `attn_out` is what all heads of the layer write together.
    """

    mixed: Float[np.ndarray, " width"]
    written: Float[np.ndarray, " d"]
    stream: Float[np.ndarray, " d"]
    attn_out: Float[np.ndarray, " d"]
    channels: Int[np.ndarray, " K"]
    rows: Float[np.ndarray, "K width"]


def projection_info(
    lm: LanguageModel, layer: LayerTrace, index: int, vector: Vector, head: int, channel: int | None
) -> ProjectionInfo:
    """What makes q of a query head, or k or v of a K/V head, in layer `index`; of all channels for `channel` None."""
    attn = cast(Attention, lm.net.block(index).attn)  # the page draws no other (app/engine.py)
    width, of = lm.config.head_dim, VECTORS.index(vector)
    start = sum(attn.qkv_proj.rows[:of]) + head * width
    rows = attn.qkv_proj.weight.detach()[start : start + width].float()
    bias = None if attn.qkv_proj.bias is None else attn.qkv_proj.bias.detach()[start : start + width].float()
    norm = {"q": attn.q_norm, "k": attn.k_norm, "v": None}[vector]
    divisor = gamma = None
    if norm is not None:
        made = torch.from_numpy(layer.attn_normed).to(rows) @ rows.T
        divisor = norm.divisor(made if bias is None else made + bias).cpu().numpy()
        gamma = norm.weight.detach().float()
    only = slice(None) if channel is None else slice(channel, channel + 1)
    added, factor = (None if part is None else part[only].cpu().numpy() for part in (bias, gamma))
    return ProjectionInfo(rows[only].cpu().numpy(), added, factor, divisor)


def projection_payload(info: ProjectionInfo) -> ProjectionDetail:
    """The message of a ProjectionInfo, float32, null where there is none."""
    return {
        "rows": pack(info.rows, "f4"),
        "bias": maybe(info.bias, "f4"),
        "gamma": maybe(info.gamma, "f4"),
        "divisor": maybe(info.divisor, "f4"),
    }


def head_columns(lm: LanguageModel, layer: int, head: int) -> Float[np.ndarray, "d width"]:
    """The columns of W_O that read this head's output, float32: as many as its values are wide."""
    weight = lm.net.block(layer).attn.o_proj.weight
    width = weight.shape[1] // lm.config.n_heads
    return weight[:, head * width : (head + 1) * width].float().cpu().numpy()


def head_write_info(
    columns: Float[np.ndarray, "d width"], layer: LayerTrace, head: int, query: int, count: int = CHANNELS
) -> HeadWriteInfo:
    """A head's write at one token, from its columns of W_O (head_columns) and its layer's trace; float64 inside."""
    group_size = len(layer.q) // len(layer.v)
    mixed = layer.attention[head, query].astype(np.float64) @ layer.v[head // group_size].astype(np.float64)
    written = columns.astype(np.float64) @ mixed
    channels = np.argsort(-np.abs(written), kind="stable")[:count]
    return HeadWriteInfo(mixed, written, layer.resid_in[query], layer.attn_out[query], channels, columns[channels])


def head_write_payload(info: HeadWriteInfo) -> HeadWriteDetail:
    """The message of a HeadWriteInfo, all float32 but the channels."""
    return {
        "mixed": pack(info.mixed, "f4"),
        "written": pack(info.written, "f4"),
        "stream": pack(info.stream, "f4"),
        "attn_out": pack(info.attn_out, "f4"),
        "channels": pack(info.channels, "i4"),
        "rows": pack(info.rows, "f4"),
    }


def values_payload(layer: LayerTrace) -> ValuesDetail:
    """The value vectors of a layer, (n_kv_heads, T, width)."""
    return {"v": pack(layer.v, "f4")}


class HeadNames(NamedTuple):
    """The jobs of a model's heads by name, and of how many random sequences of `total` they are the mean: None where
    they were measured on texts, or where they are not known and cannot be measured."""

    kinds: dict[str, HeadKind]
    done: int | None
    total: int


def head_names(lm: LanguageModel) -> HeadNames:
    """The heads of this model that are known to do a job, as far as they are measured.

    Raises GlassLlamaError for a file that does not fit it.
    """
    kinds = read_heads(lm.directory, lm.config)
    if kinds or not head_jobs.can_be_measured(lm):
        return HeadNames(kinds, None, head_jobs.SEQUENCES)
    key = fingerprint(lm)
    if kept := read_kept(lm, key):
        return HeadNames(kept, head_jobs.SEQUENCES, head_jobs.SEQUENCES)
    return _named(measured(key))


def _named(sequences: Measured) -> HeadNames:
    kinds = kinds_of(head_jobs.mean_of(sequences), head_jobs.MEASURED) if sequences else {}
    return HeadNames(kinds, len(sequences), head_jobs.SEQUENCES)


@in_pieces
def measured_heads(lm: LanguageModel, count: int) -> Work[HeadNames]:
    """As head_names, after the first `count` random sequences are measured; those of all are kept."""
    known = head_names(lm)
    if known.done is None or known.done >= count:
        return known
    key = fingerprint(lm)
    sequences = measured(key)
    while len(sequences) < count:
        sequences.append((yield from head_jobs.measure.pieces(lm, len(sequences))))
        yield
    remember(key, sequences)
    found = _named(sequences)
    if found.done == found.total:
        write_kept(lm, key, found.kinds)
    return found


def head_names_payload(found: HeadNames) -> HeadNamesDetail:
    """The message of head_names."""
    kinds = [_head_kind(name, kind) for name, kind in found.kinds.items()]
    return {"kinds": kinds, "done": found.done, "total": found.total}


def _head_kind(name: str, kind: HeadKind) -> HeadKindMessage:
    return {
        "name": name,
        "definition": kind.definition,
        "best": [{"layer": one.layer, "head": one.head, "score": one.score} for one in kind.best],
        "prompt": kind.prompt,
        "prompts": kind.prompts,
    }


@in_pieces
def score_terms_info(lm: LanguageModel, trace: Trace, layer: int, head: int, query: int, key: int) -> Work[ScoreTerms]:
    """One score of a run as a sum over what wrote to the query's and to the key's stream."""
    return (yield from score_terms.pieces(trace, layer, head, query, key))


def score_terms_payload(info: ScoreTerms) -> ScoreTermsDetail:
    """The message of ScoreTerms: `terms` float32, the query's source by the key's."""
    return {
        "terms": pack(info.terms.numpy(), "f4"),
        "sources": [{"kind": one.kind, "layer": one.layer, "head": one.head} for one in info.sources],
        "score": info.score,
        "total": float(info.terms.sum()),
    }
