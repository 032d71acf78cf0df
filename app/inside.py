"""What the chapters on RMSNorm, RoPE and SwiGLU ask about a run: from the page's request to its message."""

from typing import Any

import numpy as np
from jaxtyping import Float

from model import GlassLlamaError
from model.analysis.neurons import Written, firing
from model.errors import shortly
from visuals import ffn, norm, position
from visuals.payload import Message

from .engine import Engine
from .requests import layer_of, leader_of, token_of, whole
from .session import HeldRun


def norm_vectors(engine: Engine, held: HeldRun, data: dict[str, Any]) -> Message:
    """{layer, norm, token}: what a norm reads, of every token where `token` is null; the final norm has no layer."""
    index, name = layer_of(held, data), data.get("norm")
    if name not in norm.NORMS:
        raise GlassLlamaError("bad_request", f"norm is {shortly(name)}; expected one of {', '.join(norm.NORMS)}.")
    if name == "final":
        before = held.trace.residual[-1]
    else:
        before = norm.vectors_before(engine.layer(held.model, held.trace, index), name)
    if data.get("token") is not None:
        token = token_of(held, data)
        before = before[token : token + 1]
    return norm.norm_payload(before, engine.study(held.model, norm.gamma_of, name, index))


def norm_depth(_engine: Engine, held: HeldRun, _data: dict[str, Any]) -> Message:
    """{}: the largest channels of the residual stream through depth."""
    return norm.depth_payload(norm.depth_info(held.trace.residual))


def rope_scalings(engine: Engine, held: HeldRun, data: dict[str, Any]) -> Message:
    """{factor}: the model's frequencies under every scaling method."""
    factor = data.get("factor")
    if isinstance(factor, bool) or factor not in position.FACTORS:
        expected = ", ".join(map(str, position.FACTORS))
        raise GlassLlamaError("bad_request", f"factor is {shortly(factor)}; expected one of {expected}.")
    config = engine.about(held.model).config
    return position.scalings_payload(position.scalings_info(config, factor), position.trained_context(config))


def ffn_map(engine: Engine, held: HeldRun, data: dict[str, Any]) -> Message:
    """{layer, other}: the layer's strongest neurons at every token, in the run `other` where that is named."""
    index = layer_of(held, data)
    layer, leader = (engine.layer(run.model, run.trace, index) for run in (held, data.get("other", held)))
    return ffn.map_payload(ffn.map_info(layer, ffn.strongest_anywhere(leader)))


def ffn_firing(engine: Engine, held: HeldRun, _data: dict[str, Any]) -> Message:
    """{}: how sparsely each layer fires."""
    trace = held.trace
    return ffn.firing_payload(engine.study(held.model, firing, trace.residual, trace.intervention))


def ffn_written(engine: Engine, held: HeldRun, data: dict[str, Any]) -> Message:
    """{layer, token, neuron, other}: what that neuron wrote, or the strongest ones where `neuron` is null: those of the
    run `other`, and to the tokens that they raise and lower most there, where that is named."""
    index, token, leader = layer_of(held, data), token_of(held, data), leader_of(held, data)

    def inner_row(run: HeldRun) -> Float[np.ndarray, "f"]:
        layer = engine.layer(run.model, run.trace, index)
        return ffn.written_inner(layer, index, run.trace.intervention)[token]

    def wrote(run: HeldRun, like: Written | None = None) -> Written:
        return engine.study(
            held.model, ffn.written_by, index, inner_row(run), float(run.trace.final_norm_rms[token]), neurons, like
        )

    asked = data.get("neuron") is not None
    row = inner_row(leader)
    neurons = [whole(data, "neuron", len(row))] if asked else ffn.strongest(row)
    found = wrote(held) if leader is held else wrote(held, wrote(leader))
    ids = sorted({*found.raised.flatten().tolist(), *found.lowered.flatten().tolist()})
    pieces = dict(zip(ids, engine.pieces(held.model, ids), strict=True))
    return ffn.written_payload(found, neurons, pieces)
