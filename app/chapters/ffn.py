"""The chapter on SwiGLU, the feed-forward part, and on experts in its place."""

from typing import Annotated

import numpy as np
from jaxtyping import Float

from model import GlassLlamaError
from model.analysis.neurons import Written, neurons_of
from visuals import ffn
from visuals.activations import kinds_payload
from visuals.experts import routing_payload
from visuals.ffn_width import widths_payload
from visuals.messages.ffn import (
    ActivationKindsDetail,
    FiringDetail,
    NeuronMapDetail,
    NeuronWritesDetail,
    RoutingDetail,
    RoutingSchemesDetail,
    WidthsDetail,
)
from visuals.routing import schemes_payload

from ..engine import Engine
from ..fields import Request, TokenId, below, read
from ..operations import ACTIVATION_KINDS, FIRING, RAISED_BY, ROUTING, ROUTING_SCHEMES, WRITTEN_BY
from ..requests import Place, Sent, about_run, layer_of, leader_of
from ..session import HeldRun


class OfNeuron(Request):
    """A neuron; the strongest ones where it is null, or those that add most to the logit of `target`."""

    neuron: Annotated[int, below("neurons")] | None = None
    target: TokenId | None = None


ON_DEMAND = ("swiglu", "ffn-tokens", "activation-kinds", "ffn-width", "routing-kinds")
PANELS = ("experts", "ffn-token", *ON_DEMAND)


def ffn_map(engine: Engine, held: HeldRun, data: Sent) -> NeuronMapDetail:
    """{layer, other}: the layer's strongest neurons at every token, in the run `other` where that is named."""
    index = layer_of(engine, held, data)
    layer, leader = (engine.layer(run.model, run.trace, index) for run in (held, data.get("other", held)))
    parts = held.trace.network.ffn[index]
    return ffn.map_payload(ffn.map_info(layer, parts, ffn.strongest_anywhere(leader, parts)))


def activation_kinds(engine: Engine, held: HeldRun, data: Sent) -> ActivationKindsDetail:
    """{layer}: what other activations would make of that layer's neurons at every token."""
    index = layer_of(engine, held, data)
    layer, trace = engine.layer(held.model, held.trace, index), held.trace
    made = trace.network.ffn[index]
    return kinds_payload(held.study(engine, ACTIVATION_KINDS, layer, index, made, trace.intervention))


def ffn_widths(_engine: Engine, _held: HeldRun, _data: Sent) -> WidthsDetail:
    """{}: how wide the feed-forward of published models is."""
    return widths_payload()


def ffn_firing(engine: Engine, held: HeldRun, _data: Sent) -> FiringDetail:
    """{}: how sparsely each layer fires."""
    trace = held.trace
    return ffn.firing_payload(held.study(engine, FIRING, trace.residual, trace.intervention))


def ffn_written(engine: Engine, held: HeldRun, data: Sent) -> NeuronWritesDetail:
    """{layer, token, neuron, target, other}: what that neuron wrote, or the strongest ones where `neuron` is null, or
    those that add most to the logit of `target`: those of the run `other`, and to the tokens that they raise and lower
    most there, where that is named."""
    of, leader = about_run(Place, engine, held, data), leader_of(held, data)
    index, token = of.layer, of.token

    def inner_row(run: HeldRun) -> Float[np.ndarray, "f"]:
        layer = engine.layer(run.model, run.trace, index)
        return ffn.written_inner(layer, run.trace.network.ffn[index], index, run.trace.intervention)[token]

    def wrote(run: HeldRun, like: Written | None = None) -> Written:
        return held.study(
            engine, WRITTEN_BY, index, inner_row(run), float(run.trace.final_norm_rms[token]), neurons, like
        )

    row = inner_row(leader)
    asked = read(OfNeuron, data, neurons=len(row), vocabulary=engine.about(held.model).config.vocab_size)
    adds = None
    if asked.target is not None:
        rms = float(leader.trace.final_norm_rms[token])
        adds = leader.study(engine, RAISED_BY, index, row, rms, asked.target)
    neurons = [asked.neuron] if asked.neuron is not None else ffn.strongest(row if adds is None else adds.clip(0))
    found = wrote(held) if leader is held else wrote(held, wrote(leader))
    ids = sorted({*found.raised.flatten().tolist(), *found.lowered.flatten().tolist()})
    pieces = dict(zip(ids, engine.pieces(held.model, ids), strict=True))
    layer = engine.layer(held.model, held.trace, index)
    read_there = neurons_of(layer, held.trace.network.ffn[index]).each(lambda part: part[token])
    return ffn.written_payload(found, neurons, pieces, read_there, adds)


def experts(engine: Engine, held: HeldRun, data: Sent) -> RoutingDetail:
    """{layer}: where the router of that layer sent each token."""
    index = layer_with_experts(engine, held, data)
    layer = engine.layer(held.model, held.trace, index)
    return routing_payload(held.study(engine, ROUTING, layer, index))


def routing_kinds(engine: Engine, held: HeldRun, data: Sent) -> RoutingSchemesDetail:
    """{layer}: where other ways to route would send each token, and what the layer would write then."""
    index = layer_with_experts(engine, held, data)
    layer = engine.layer(held.model, held.trace, index)
    return schemes_payload(held.study(engine, ROUTING_SCHEMES, layer, index))


def layer_with_experts(engine: Engine, held: HeldRun, data: Sent) -> int:
    """The field `layer`, one that has experts. Raises GlassLlamaError."""
    index = layer_of(engine, held, data)
    made = held.trace.network.ffn
    if not made[index].experts:
        some = ", ".join(str(i) for i, one in enumerate(made) if one.experts)
        said = f"layer {index} has no experts; expected {f'one of {some}' if some else 'a network that has some'}."
        raise GlassLlamaError("bad_request", said)
    return index


DETAILS = {
    "experts": experts,
    "routing_kinds": routing_kinds,
    "ffn_map": ffn_map,
    "activation_kinds": activation_kinds,
    "ffn_widths": ffn_widths,
    "ffn_firing": ffn_firing,
    "ffn_written": ffn_written,
}
