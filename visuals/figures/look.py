"""What all figures share: their words, colours and axes."""

import json
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import Any, Literal, NamedTuple

import numpy as np
import plotly.graph_objects as go
from jaxtyping import Bool

from model import GlassLlamaError, Trace

from ..palette import GROUND, MAGNITUDE, ROLES, plotly_scale
from ..plain import plain

WORDS = Path(__file__).with_name("words.json")
SIZE = 14  # pixels of all text
STANDOFF = 12  # pixels between the names on an axis and its title
PIXEL = 22  # of a map's cell, at least: a piece's name fits beside it


class Look(NamedTuple):
    """The language of a figure's words, and the theme of its colours."""

    language: Literal["en", "zh"] = "en"
    theme: Literal["light", "dark"] = "light"

    def say(self, name: str, **params: object) -> str:
        """A text of words.json, with these filled in, as plotly shows it letter by letter."""
        return plain(_words()[self.language][name].format(**params))

    def colour(self, name: str) -> str:
        """A colour of the palette, of a role or of the ground."""
        return (GROUND[self.theme] | ROLES[self.theme])[name]


PLAIN = Look()


@cache
def _words() -> dict[str, dict[str, str]]:
    return json.loads(WORDS.read_text(encoding="utf-8"))


def pieces_of(trace: Trace) -> list[str]:
    """The tokens' own texts, for an axis. A space at an end is seen as "·", a line's end as "⏎"."""
    return [plain(shown(piece)) for piece in trace.pieces]


def shown(piece: str) -> str:
    """A token's text with what is white in it made visible."""
    return piece.replace(" ", "·").replace("\n", "⏎")


def seen(trace: Trace) -> Bool[np.ndarray, "T T"]:
    """Which keys a query sees, [query, key]."""
    places = np.arange(len(trace.token_ids))
    if not trace.network.causal:
        return np.ones((len(places), len(places)), bool)
    prefix = trace.network.prefix or 0
    return (places <= places[:, None]) | ((places < prefix) & (places[:, None] < prefix))


def absent(what: str, trace: Trace) -> GlassLlamaError:
    """The error for a figure of what a run's network does not have."""
    return GlassLlamaError("absent", f"{what}: {trace.lm.name} has none.")


def figure(look: Look, title: str, x: str, y: str, height: int = 420) -> go.Figure:
    """An empty figure with a title and two axes."""
    axis = {
        "gridcolor": look.colour("grid"), "linecolor": look.colour("line"), "zeroline": False, "automargin": True,
    }  # fmt: skip
    layout: dict[str, Any] = {
        "template": "none",
        "title": {"text": title, "font": {"size": SIZE + 2}, "x": 0.05, "y": 1, "yanchor": "top", "pad": {"t": 12}},
        "font": {"size": SIZE, "color": look.colour("text")},
        "paper_bgcolor": look.colour("card"),
        "plot_bgcolor": look.colour("card"),
        "hoverlabel": {"bgcolor": look.colour("raised"), "font": {"color": look.colour("text"), "size": SIZE}},
        "margin": {"l": 64, "r": 24, "t": 80, "b": 56},
        "height": height,
        "xaxis": axis | {"title": {"text": x, "standoff": STANDOFF}},
        "yaxis": axis | {"title": {"text": y, "standoff": STANDOFF}},
        "legend": {"orientation": "h", "x": 0, "y": 1, "yanchor": "bottom"},
    }
    return go.Figure(layout=layout)


def name_ticks(made: go.Figure, names: Sequence[str], *, along: bool = False) -> None:
    """Numbers 0, 1, … of the rows, and `along` of the columns too, under their names: two tokens of one name stay two.

    Row 0 is at the top.
    """
    ticks = {"tickmode": "array", "tickvals": list(range(len(names))), "ticktext": list(names), "showgrid": False}
    made.update_layout(yaxis=ticks | {"autorange": "reversed"})
    if along:
        made.update_layout(xaxis=ticks | {"tickangle": -60})


def map_of(values: np.ndarray, hover: str, **more: Any) -> go.Heatmap:
    """Magnitudes from 0 on as a map, dark to bright; what is NaN stays empty."""
    drawn = {"zmin": 0, "zmax": float(np.nanmax(values)), "hovertemplate": f"{hover}<extra></extra>"}
    return go.Heatmap(z=values, colorscale=plotly_scale(MAGNITUDE), **(drawn | more))


def bar(title: str) -> dict[str, Any]:
    """The scale beside a map."""
    return {"title": {"text": title, "side": "right"}}


def height_of(rows: int) -> int:
    """Pixels of a figure whose rows have names."""
    return 160 + PIXEL * max(rows, 8)
