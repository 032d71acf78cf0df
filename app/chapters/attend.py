"""The chapter on attention."""

from typing import Any

from model import GlassLlamaError
from visuals.attend import (
    VECTORS,
    head_names_payload,
    head_write_info,
    head_write_payload,
    projection_payload,
    score_terms_payload,
    values_payload,
)
from visuals.latent import latent_payload
from visuals.payload import Message

from ..engine import Engine
from ..operations import HEAD_COLUMNS, HEAD_NAMES, LATENT, PROJECTION, SCORE_TERMS
from ..requests import int_field, layer_of, one_of, token_of
from ..session import HeldRun

PANELS = ("cross", "heads", "attention", "qkv", "latent", "cell", "score-terms", "arcs", "difference")


def values(engine: Engine, held: HeldRun, asked: dict[str, Any]) -> Message:
    """{layer}: its value vectors."""
    return values_payload(engine.layer(held.model, held.trace, layer_of(held, asked)))


def projection(engine: Engine, held: HeldRun, asked: dict[str, Any]) -> Message:
    """{layer, vector, head, channel}: the weights that make q of this query head, or k or v of this K/V head, of every
    channel where `channel` is null."""
    layer, config = layer_of(held, asked), engine.about(held.model).config
    vector: Any = one_of(asked, "vector", VECTORS)
    head = int_field(asked, "head", config.n_heads if vector == "q" else config.n_kv_heads)
    channel = None if asked.get("channel") is None else int_field(asked, "channel", config.head_dim)
    seen = engine.layer(held.model, held.trace, layer)
    return projection_payload(held.study(engine, PROJECTION, seen, layer, vector, head, channel))


def latent(engine: Engine, held: HeldRun, asked: dict[str, Any]) -> Message:
    """{layer, head}: what that layer keeps of each token under MLA, and what the head makes of it."""
    layer = layer_of(held, asked)
    head = int_field(asked, "head", engine.about(held.model).config.n_heads)
    seen = engine.layer(held.model, held.trace, layer)
    if "kv_latent" not in seen.arrays:
        raise GlassLlamaError("bad_request", f"{held.model}: its attention keeps no latent.")
    return latent_payload(held.study(engine, LATENT, seen, layer, head))


def head_write(engine: Engine, held: HeldRun, asked: dict[str, Any]) -> Message:
    """{layer, head, query}: what this head writes to the residual stream at this token."""
    layer, query = layer_of(held, asked), token_of(held, asked, "query")
    head = int_field(asked, "head", engine.about(held.model).config.n_heads)
    changes = held.trace.intervention
    off = (layer, head) in changes.heads or layer in changes.attention
    columns = held.study(engine, HEAD_COLUMNS, layer, head) * (not off)
    return head_write_payload(head_write_info(columns, engine.layer(held.model, held.trace, layer), head, query))


def names_of_heads(engine: Engine, held: HeldRun, _asked: dict[str, Any]) -> Message:
    """The heads that the model's file heads.json names, where it has one."""
    return head_names_payload(held.study(engine, HEAD_NAMES))


def score_terms(engine: Engine, held: HeldRun, asked: dict[str, Any]) -> Message:
    """{layer, head, query, key}: what made this head look there, as a sum over what wrote to the two streams."""
    layer, query, key = layer_of(held, asked), token_of(held, asked, "query"), token_of(held, asked, "key")
    head = int_field(asked, "head", engine.about(held.model).config.n_heads)
    return score_terms_payload(held.study(engine, SCORE_TERMS, layer, head, query, key))


DETAILS = {
    "values": values,
    "projection": projection,
    "latent": latent,
    "head_write": head_write,
    "head_names": names_of_heads,
    "score_terms": score_terms,
}
