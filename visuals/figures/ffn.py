"""A gated feed-forward at one token: what every neuron reads by gate and by up, and what comes of the two."""

import numpy as np
import plotly.graph_objects as go

from model import Trace
from model.analysis.neurons import activations, neurons_of
from model.errors import check_index

from ..palette import SIGNED, plotly_scale
from .look import PLAIN, Look, absent, bar, figure, shown

NAMES = {"silu": "SiLU", "relu": "ReLU", "gelu": "GELU", "gelu_new": "GELU"}


def gates_figure(trace: Trace, layer: int, token: int, look: Look = PLAIN) -> go.Figure:
    """Every neuron of a layer at one token: its gate against its up, coloured by what they make, SiLU(gate) · up.

    With experts, the neurons of those that the token goes to. Raises IndexError for a layer, GlassLlamaError for a
    token that is not there and for a feed-forward without a gate.
    """
    ffn, of = trace.network.ffn[layer], trace.layer(layer)
    check_index("token", token, len(trace.token_ids))
    if not ffn.gated:
        raise absent("gate", trace)
    read = neurons_of(of, ffn)
    assert read.gate is not None
    made_of = activations(read, ffn)[token]
    there = np.flatnonzero(~np.isnan(read.gate[token]))
    act = NAMES[ffn.activation]
    title = look.say("ffn", layer=layer, token=token, piece=shown(trace.pieces[token]))
    made = figure(look, title, look.say("gate", activation=act), look.say("up"), 480)
    most = float(np.abs(made_of[there]).max())
    made.add_scatter(
        x=read.gate[token, there],
        y=read.up[token, there],
        customdata=np.stack([there, made_of[there]], axis=-1),
        mode="markers",
        marker={
            "color": made_of[there],
            "colorscale": plotly_scale(SIGNED[look.theme]),
            "cmin": -most,
            "cmax": most,
            "size": 8,
            "line": {"color": look.colour("muted"), "width": 0.5},
            "colorbar": bar(look.say("write", activation=act)),
        },
        hovertemplate="%{customdata[0]}: %{x:.4g}, %{y:.4g} → %{customdata[1]:.4g}<extra></extra>",
    )
    for line in (made.add_vline, made.add_hline):
        line(0, line={"color": look.colour("line"), "width": 1})
    return made
