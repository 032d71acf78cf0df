"""RoPE at work: one pair of a head's channels before and after its rotation, token by token."""

from typing import Literal, NamedTuple

import numpy as np
import plotly.graph_objects as go
from jaxtyping import Float

from model import Trace
from model.errors import check_index

from .look import PLAIN, Look, absent, figure, pieces_of

ARC = 64  # points of one


class PairTurned(NamedTuple):
    """One pair of channels at every token, before RoPE and after, and by how many radians it turns per position."""

    before: Float[np.ndarray, "T 2"]
    after: Float[np.ndarray, "T 2"]
    channels: tuple[int, int]
    frequency: float


def pair_turned(trace: Trace, layer: int, head: int, pair: int, vector: Literal["q", "k"] = "q") -> PairTurned:
    """Pair `pair` of a query head's q, or of a K/V head's k.

    Raises IndexError for a layer, GlassLlamaError for a head or a pair that is not there, and for a network that
    rotates nothing or rebuilds its keys from a latent.
    """
    of, rotary = trace.layer(layer).arrays, trace.network.rotary
    if rotary is None or vector not in of:
        raise absent(f"RoPE on {vector}", trace)
    inv_freq = rotary.frequencies.inv_freq.cpu().numpy()
    check_index("head", head, len(of[vector]))
    check_index("pair", pair, len(inv_freq))
    if rotary.interleaved:
        channels = (rotary.first + 2 * pair, rotary.first + 2 * pair + 1)
    else:
        channels = (rotary.first + pair, rotary.first + pair + len(inv_freq))
    before, after = (of[name][head][:, channels] for name in (vector, f"{vector}_rot"))
    return PairTurned(before, after, channels, float(inv_freq[pair]))


def rotation_figure(
    trace: Trace,
    layer: int,
    head: int,
    pair: int,
    vector: Literal["q", "k"] = "q",
    look: Look = PLAIN,
) -> go.Figure:
    """A pair of q's or k's channels as points of a plane: a token's before RoPE, its after RoPE, and the arc between.

    Raises as `pair_turned` does.
    """
    turned, names = pair_turned(trace, layer, head, pair, vector), pieces_of(trace)
    title = look.say("rope", layer=layer, head=head, pair=pair, vector=vector, frequency=f"{turned.frequency:.4g}")
    first, second = (look.say("channel", channel=channel) for channel in turned.channels)
    made = figure(look, title, first, second, 520)
    arcs = _arcs(turned)
    line = {"color": look.colour("line"), "width": 1}
    made.add_scatter(x=arcs[:, 0], y=arcs[:, 1], mode="lines", line=line, showlegend=False, hoverinfo="skip")
    for name, points, filled in (("unrotated", turned.before, False), ("rotated", turned.after, True)):
        made.add_scatter(
            x=points[:, 0],
            y=points[:, 1],
            text=names,
            customdata=list(range(len(names))),
            name=look.say(name),
            meta={"points": name},
            mode="markers",
            marker={"color": look.colour(vector), "size": 9, "symbol": "circle" if filled else "circle-open"},
            hovertemplate="%{customdata} %{text}: (%{x:.4g}, %{y:.4g})<extra></extra>",
        )
    made.update_yaxes(scaleanchor="x")
    return made


def _arcs(turned: PairTurned) -> Float[np.ndarray, "points 2"]:
    """The way of each token's point from before RoPE to after it, and NaN, where a line ends, between two tokens."""
    x, y = turned.before.astype(np.float64).T[..., None]
    angles = np.arctan2(y, x) + np.linspace(0, turned.frequency * np.arange(len(x)), ARC).T
    points = np.stack([np.hypot(x, y) * np.cos(angles), np.hypot(x, y) * np.sin(angles)], axis=-1)
    return np.pad(points, ((0, 0), (0, 1), (0, 0)), constant_values=np.nan).reshape(-1, 2)
