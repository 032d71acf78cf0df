"""Where heads look: one head as a map, and all heads of a layer as small ones."""

import numpy as np
import plotly.graph_objects as go
from plotly.subplots import make_subplots

from model import Trace
from model.errors import check_index

from .look import PLAIN, Look, bar, figure, height_of, map_of, name_ticks, pieces_of, seen

ACROSS = 4  # heads beside each other
SMALL = 240  # pixels of one of them


def attention_figure(trace: Trace, layer: int, head: int, look: Look = PLAIN) -> go.Figure:
    """The weights of a head, `trace.layer(layer).attention[head]`: a row is a query and sums to 1.

    What the mask hides is empty. Raises IndexError for a layer and GlassLlamaError for a head that is not there.
    """
    weights = _weights(trace, layer)
    check_index("head", head, len(weights))
    names = pieces_of(trace)
    title = look.say("attention", layer=layer, head=head)
    made = figure(look, title, look.say("key"), look.say("query"), height_of(len(names)))
    made.add_trace(map_of(weights[head], _hover(look), zmax=1, colorbar=bar(look.say("weight"))))
    name_ticks(made, names, along=True)
    return made


def heads_figure(trace: Trace, layer: int, look: Look = PLAIN) -> go.Figure:
    """Every head of a layer, each as in `attention_figure`, on one scale. Raises IndexError for a layer."""
    weights = _weights(trace, layer)
    rows = -(-len(weights) // ACROSS)
    grid = make_subplots(
        rows, min(ACROSS, len(weights)), shared_xaxes=True, shared_yaxes=True,
        subplot_titles=[look.say("head", head=head) for head in range(len(weights))],
        horizontal_spacing=0.02, vertical_spacing=0.12 / rows,
    )  # fmt: skip
    grid.update_layout(figure(look, look.say("heads", layer=layer), "", "").layout)
    for head, of_head in enumerate(weights):
        one = map_of(of_head, _hover(look), zmax=1, showscale=head == 0, colorbar=bar(look.say("weight")))
        grid.add_trace(one, head // ACROSS + 1, head % ACROSS + 1)
    grid.update_yaxes(autorange="reversed", showgrid=False, zeroline=False)
    grid.update_xaxes(showgrid=False, zeroline=False, title=None)
    grid.update_layout(height=110 + SMALL * rows)
    grid.update_xaxes(title={"text": look.say("key")}, row=rows)
    grid.update_yaxes(title={"text": look.say("query")}, col=1)
    return grid


def _weights(trace: Trace, layer: int) -> np.ndarray:
    """(n_heads, T, T), NaN where the mask hides a key."""
    return np.where(seen(trace), trace.layer(layer).attention, np.nan)


def _hover(look: Look) -> str:
    return f"{look.say('query')} %{{y}} → {look.say('key')} %{{x}}: %{{z:.4g}}"
