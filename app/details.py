"""What a chapter asks about a run beyond its first message: one entry a question, answered as a plain message.

An entry takes the engine, the held run and what the page sent (`whole()` and its like check it; where that names an
`other` run, the held run itself stands there) and gives a dict that JSON can hold, arrays packed by
`visuals.payload.pack`. The page asks by `glass.detail(name, params)`.
"""

from collections.abc import Callable
from typing import Any

from model import LanguageModel
from model.record import read_record
from visuals.attend import (
    head_columns,
    head_names,
    head_names_payload,
    head_write_info,
    head_write_payload,
    values_payload,
)
from visuals.merges import merges_info, merges_payload
from visuals.payload import Message
from visuals.training import training_payload

from .comparing import difference
from .engine import Engine
from .inside import ffn_firing, ffn_map, ffn_written, norm_depth, norm_vectors, rope_scalings
from .kv import kv_live
from .requests import layer_of, token_of, whole
from .session import HeldRun
from .stream_details import draw, ends, lens, logits, offered, shares, stage, stream

Detail = Callable[[Engine, HeldRun, dict[str, Any]], Message]


def merges(engine: Engine, held: HeldRun, _asked: dict[str, Any]) -> Message:
    """How the tokenizer made the run's tokens."""
    return merges_payload(engine.study(held.model, merges_info, held.trace.token_ids))


def values(engine: Engine, held: HeldRun, asked: dict[str, Any]) -> Message:
    """{layer}: its value vectors."""
    return values_payload(engine.layer(held.model, held.trace, layer_of(held, asked)))


def head_write(engine: Engine, held: HeldRun, asked: dict[str, Any]) -> Message:
    """{layer, head, query}: what this head writes to the residual stream at this token."""
    layer, query = layer_of(held, asked), token_of(held, asked, "query")
    head = whole(asked, "head", engine.about(held.model).config.n_heads)
    changes = held.trace.intervention
    off = (layer, head) in changes.heads or layer in changes.attention
    columns = engine.study(held.model, head_columns, layer, head) * (not off)
    return head_write_payload(head_write_info(columns, engine.layer(held.model, held.trace, layer), head, query))


def names_of_heads(engine: Engine, held: HeldRun, _asked: dict[str, Any]) -> Message:
    """The heads that the model's file heads.json names, where it has one."""
    return head_names_payload(engine.study(held.model, head_names))


def record(lm: LanguageModel) -> Message:
    """What the files beside a model's weights say about its training."""
    return training_payload(read_record(lm.directory))


def training(engine: Engine, held: HeldRun, _asked: dict[str, Any]) -> Message:
    """How the run's model was trained, and what was measured of it."""
    return engine.study(held.model, record)


DETAILS: dict[str, Detail] = {
    "difference": difference,
    "training": training,
    "stream": stream,
    "stage": stage,
    "ends": ends,
    "lens": lens,
    "contributions": shares,
    "next": offered,
    "logits": logits,
    "draw": draw,
    "kv_live": kv_live,
    "merges": merges,
    "values": values,
    "head_write": head_write,
    "head_names": names_of_heads,
    "norm_vectors": norm_vectors,
    "norm_depth": norm_depth,
    "rope_scalings": rope_scalings,
    "ffn_map": ffn_map,
    "ffn_firing": ffn_firing,
    "ffn_written": ffn_written,
}
