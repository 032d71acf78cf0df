"""How large the residual stream is on its way: what norms divide by, and its length."""

import numpy as np
import plotly.graph_objects as go
from plotly.subplots import make_subplots

from model import Trace

from .look import PLAIN, Look, bar, figure, height_of, map_of, name_ticks, pieces_of

NORMS = ("attn_norm_rms", "cross_norm_rms", "ffn_norm_rms")  # of a layer, in its order


def rms_figure(trace: Trace, look: Look = PLAIN) -> go.Figure:
    """What each norm divides by, RMS(x) = √(mean(x²) + ε), a row for each token: a map for each norm of a layer, and
    the final norm's column.

    A LayerNorm divides by the RMS of what is left when the mean is gone. A norm that the network lacks is not drawn.
    """
    norms = [norm for norm in NORMS if norm in trace.figures]
    names = pieces_of(trace)
    grid = make_subplots(
        1, len(norms) + 1, shared_yaxes=True, horizontal_spacing=0.03,
        column_widths=[*[trace.n_layers] * len(norms), 2],
        subplot_titles=[look.say(norm) for norm in (*norms, "final_norm_rms")],
    )  # fmt: skip
    base = figure(look, look.say("rms"), "", "", height_of(len(names)))
    grid.update_layout(base.layout)
    rows = [trace.figures[norm] for norm in norms] + [trace.final_norm_rms[None]]
    most = max(float(values.max()) for values in rows)
    for column, values in enumerate(rows, 1):
        final = column == len(rows)
        hover = "%{y}: %{z:.4g}" if final else f"{look.say('layer')} %{{x}}, %{{y}}: %{{z:.4g}}"
        grid.add_trace(map_of(values.T, hover, zmax=most, showscale=final, colorbar=bar("RMS(x)")), 1, column)
    bare = {"showgrid": False, "zeroline": False}
    grid.update_yaxes(**bare)
    grid.update_xaxes(**bare, title={"text": look.say("layer")}, dtick=1 if trace.n_layers <= 16 else None)
    grid.update_xaxes(title={"text": ""}, showticklabels=False, col=len(rows))
    name_ticks(grid, names)
    return grid


def stream_figure(trace: Trace, look: Look = PLAIN) -> go.Figure:
    """The residual stream's length ‖x‖ = √Σx² before each layer and after the last, a row for each token."""
    lengths = np.linalg.norm(trace.residual.astype(np.float64), axis=-1)
    names = pieces_of(trace)
    made = figure(look, look.say("stream"), look.say("depth"), look.say("token"), height_of(len(names)))
    hover = f"{look.say('depth')} %{{x}}, %{{y}}: %{{z:.4g}}"
    made.add_trace(map_of(lengths.T, hover, colorbar=bar(look.say("length"))))
    name_ticks(made, names)
    made.update_xaxes(showgrid=False, dtick=1 if trace.n_layers <= 16 else None)
    return made
