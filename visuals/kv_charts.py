"""The KV-cache charts as plotly figures. Colours are custom properties and words are text keys; the page fills in both.

A figure so never changes with the theme or the language. "var(--glass-q)" is a colour of static/glass.css, and a text
that begins with "text:" is a key of the page's texts (static/chart.js).
"""

from collections.abc import Sequence
from typing import Any, NamedTuple

import plotly.graph_objects as go

from model.errors import GlassLlamaError
from model.kv_math import KvBreakdown, KvOptions, kv_breakdown
from model.parameters import parameter_count
from model.spec import ModelSpec

from .payload import Message

UNITS = {"gib": 2**30, "gb": 10**9}
LINE_COLOURS = ("accent", "gate", "up", "norm", "output", "residual")
DASHES = ("solid", "dash", "dot", "dashdot", "longdash", "longdashdot")
# What takes bytes, in the order in which it is stacked: colour, and pattern where the colour is used twice.
PARTS = {
    "weights": ("residual", ""),
    "self.full.kv": ("k", ""),
    "self.full.latent": ("gate", ""),
    "self.full.indexer": ("up", ""),
    "self.full.tail": ("output", ""),
    "self.sliding.kv": ("v", ""),
    "self.chunked.kv": ("v", "/"),
    "state.conv": ("norm", "/"),
    "state.recurrent": ("norm", "x"),
    "cross.kv": ("norm", ""),
}
WEIGHT_BYTES = 2  # bf16
FEWEST_TOKENS = 256


class Series(NamedTuple):
    """One model's breakdowns at growing contexts."""

    name: str
    points: list[KvBreakdown]


class Question(NamedTuple):
    """What is drawn: the model asked about (first) and those to compare it with, at `batch` sequences in `dtype`.

    `options` hold for the first model alone; the others are drawn by the plain formula.
    """

    specs: Sequence[ModelSpec]
    tokens: int
    batch: int
    dtype: str
    options: KvOptions


def question(specs: Sequence[ModelSpec], tokens: Any, batch: Any, dtype: Any, options: KvOptions) -> Question:
    """A checked question. Raises GlassLlamaError, naming the field, where the first model cannot be asked that."""
    checked = kv_breakdown(specs[0], tokens, batch, dtype, options)
    return Question(specs, checked.tokens, checked.batch, checked.dtype, options)


def contexts(longest: int, tokens: int) -> list[int]:
    """Contexts to draw a line through: two to a doubling from 256 up to `longest`, and `tokens`."""
    grid = {round(FEWEST_TOKENS * 2 ** (i / 2)) for i in range(60)}
    return sorted({n for n in grid if n < longest} | {longest, tokens})


def line_series(asked: Question) -> tuple[list[Series], list[str]]:
    """Each model up to its own context (the first at least to `tokens`), and the models that the format excludes."""
    found, excluded = [], []
    for i, spec in enumerate(asked.specs):
        own = spec.max_context or asked.tokens
        longest = max(own, asked.tokens) if i == 0 else own
        options = asked.options if i == 0 else KvOptions()
        lengths = [n for n in contexts(longest, asked.tokens) if n <= longest]
        try:
            points = [_point(spec, n, asked, options) for n in lengths]
            found.append(Series(spec.name, [point for point in points if point]))
        except GlassLlamaError:
            if i == 0:
                raise
            excluded.append(spec.name)
    return found, excluded


def _point(spec: ModelSpec, tokens: int, asked: Question, options: KvOptions) -> KvBreakdown | None:
    """None where the options themselves ask for more tokens (a prefix, a prompt), so that no cache is so small."""
    least = max(options.shared_prefix, options.prompt_tokens or 1)
    return kv_breakdown(spec, tokens, asked.batch, asked.dtype, options) if tokens >= least else None


def lines_figure(series: Sequence[Series], tokens: int, unit: str, log_x: bool, log_y: bool) -> go.Figure:
    """Bytes of the cache against context, one line a model, a mark where the calculator stands.

    customdata of a point: model, tokens, exact bytes as text and with separators.
    """
    figure = go.Figure(layout=_layout(f"text:kv-chart.bytes_{unit}"))
    for i, (name, points) in enumerate(series):
        figure.add_scatter(
            x=[point.tokens for point in points],
            y=[point.total_bytes / UNITS[unit] for point in points],
            customdata=[_said(name, point.tokens, point.total_bytes) for point in points],
            name=name,
            mode="lines+markers",
            line={"color": _colour(LINE_COLOURS[i]), "width": 3 if i == 0 else 2, "dash": DASHES[i]},
            marker={"size": 5 if i == 0 else 4},
            hovertemplate="text:kv-chart.hover",
        )
    here = [point for point in series[0].points if point.tokens == tokens]
    for point in here:
        figure.add_scatter(
            x=[tokens],
            y=[point.total_bytes / UNITS[unit]],
            customdata=[_said(series[0].name, tokens, point.total_bytes)],
            mode="markers",
            marker={"size": 14, "color": _colour("accent"), "line": {"color": _colour("card"), "width": 3}},
            hovertemplate="text:kv-chart.hover",
            showlegend=False,
        )
    longest = max(point.tokens for one in series for point in one.points)
    figure.update_xaxes(title_text="text:kv-chart.context", **_context_axis(longest, log_x))
    figure.update_yaxes(type="log" if log_y else "linear", rangemode="tozero", dtick=1 if log_y else None)
    return figure


def stack_figure(asked: Question, unit: str, weights: bool, few: bool = False) -> tuple[go.Figure, list[str]]:
    """What takes the bytes of each model, at the asked context and around it unless `few`; with weights if wanted.

    customdata as in `lines_figure`. Gives also the models that the format excludes.
    """
    figure = go.Figure(layout=_layout(f"text:kv-chart.{'all' if weights else 'bytes'}_{unit}"))
    bars: dict[str, list[tuple[str, str, int, int]]] = {}
    excluded: list[str] = []
    lengths = [asked.tokens] if few else sorted({max(1, asked.tokens // 4), asked.tokens, min(asked.tokens * 4, 10**8)})
    for tokens in lengths:
        for i, spec in enumerate(asked.specs):
            try:
                found = _point(spec, tokens, asked, asked.options if i == 0 else KvOptions())
            except GlassLlamaError:
                if i == 0:
                    raise
                excluded.append(spec.name)
                continue
            parts = {"weights": parameter_count(spec) * WEIGHT_BYTES} if weights else {}
            parts |= {term.label: term.bytes for term in found.terms} if found else {}
            for label, count in parts.items():
                bars.setdefault(label, []).append((_short(tokens), spec.name, tokens, count))
    for label in [*PARTS, *(set(bars) - set(PARTS))]:
        if label in bars:
            figure.add_bar(**_bar(label, bars[label], unit))
    figure.update_layout(barmode="stack", bargap=0.25)
    figure.update_xaxes(type="multicategory", tickangle=-90 if few else 0)
    return figure, sorted(set(excluded))


def _bar(label: str, bars: list[tuple[str, str, int, int]], unit: str) -> Message:
    colour, pattern = PARTS.get(label, ("residual", "x"))
    place, _, part = label.rpartition(".")
    return {
        "x": [[bar[0] for bar in bars], [bar[1].replace(" ", "<br>") for bar in bars]],
        "y": [bar[3] / UNITS[unit] for bar in bars],
        "customdata": [_said(*bar[1:]) for bar in bars],
        "name": f"text:kv.stack_{(place or 'own').replace('.', '_')}_{part}",
        "marker": {"color": _colour(colour), "pattern": {"shape": pattern, "fgcolor": _colour("card")}},
        "hovertemplate": "text:kv-chart.hover",
    }


def figure_message(figure: go.Figure) -> Message:
    """The figure as plain data for the page."""
    return figure.to_plotly_json()


def _said(name: str, tokens: int, count: int) -> list[Any]:
    return [name, tokens, str(count), f"{count:,} B"]


def _colour(name: str) -> str:
    return f"var(--glass-{name})"


def _short(tokens: int) -> str:
    """8192 as "8K": K is 1024. What is no whole number of K stays as it is."""
    for size, unit in ((2**20, "M"), (2**10, "K")):
        if tokens % size == 0:
            return f"{tokens // size}{unit}"
    return f"{tokens:,}"


def _context_axis(longest: int, log: bool) -> dict[str, Any]:
    """Ticks at powers of two, written as people write contexts."""
    powers = [2**i for i in range(8, 28, 2) if 2**i <= longest * 1.01]
    if not log:
        step = 2 ** max(8, (longest // 5).bit_length())
        powers = list(range(0, longest + 1, step))
    return {
        "type": "log" if log else "linear",
        "tickvals": powers,
        "ticktext": [_short(n) if n else "0" for n in powers],
    }


def _layout(bytes_title: str) -> go.Layout:
    def title(words: str) -> dict[str, Any]:
        return {"text": words, "font": {"size": 14}}

    axis = {"gridcolor": _colour("grid"), "linecolor": _colour("line"), "zerolinecolor": _colour("line")}
    return go.Layout(
        template="none",
        paper_bgcolor="rgba(0,0,0,0)",
        plot_bgcolor="rgba(0,0,0,0)",
        font={"color": _colour("text"), "size": 14},
        xaxis={**axis, "automargin": True, "title": title("")},
        yaxis={**axis, "automargin": True, "title": title(bytes_title), "exponentformat": "power", "tickformat": "~g"},
        legend={"orientation": "h", "yanchor": "bottom", "y": 1.02, "x": 0},
        margin={"l": 64, "r": 16, "t": 16, "b": 56},
        hoverlabel={"bgcolor": _colour("raised"), "bordercolor": _colour("line"), "font": {"color": _colour("text")}},
        hovermode="closest",
    )
