"""The KV-cache charts as plotly's JSON. Colours are custom properties and words are text keys; the page fills in both.

A figure so never changes with the theme or the language. "var(--glass-q)" is a colour of static/glass.css, and a text
that begins with "text:" is a key of the page's texts (static/chart.js). Heights are not in it either: each trace has
its points' `models`, `tokens` and exact `bytes` as texts, and figure["unit"] says how many bytes one is on the axis;
the page divides (panels/kv/points.js). So a slider's hundred figures differ in little else than those bytes. They
are plain dicts, since checking one by plotly's classes takes longer than computing it; a test has plotly check them.
"""

import math
import re
from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache
from itertools import chain
from types import MappingProxyType
from typing import NamedTuple

from model.errors import GlassLlamaError
from model.kv_math import KvBreakdown, KvOptions, kv_breakdown
from model.kv_math.memory import Setup
from model.kv_math.options import MAX_TOKENS
from model.kv_math.stages import options_beside
from model.published.spec import ModelSpec

from .kv import refused_message
from .messages.kv import CacheChart, CachePoints, CacheTrace, Dash, Excluded, Shape
from .plain import plain

UNITS = {"gib": 2**30, "gb": 10**9}
LINE_COLOURS = ("accent", "gate", "up", "norm", "output", "residual")
DASHES: tuple[Dash, ...] = ("solid", "dash", "dot", "dashdot", "longdash", "longdashdot")
# What takes bytes, in the order in which it is stacked: colour, and pattern where the colour is used twice.
PARTS: dict[str, tuple[str, Shape]] = {
    "weights": ("residual", ""),
    "draft.weights": ("residual", "/"),
    "self.full.kv": ("accent", ""),
    "self.full.latent": ("gate", ""),
    "self.full.indexer": ("up", ""),
    "self.full.tail": ("norm", ""),
    "self.sliding.kv": ("output", ""),
    "self.chunked.kv": ("output", "/"),
    "self.sliding.shared": ("output", ""),
    "csa.shared": ("accent", ""),
    "csa.indexer": ("up", ""),
    "csa.buffer": ("norm", ""),
    "csa.overlap": ("norm", "/"),
    "hca.shared": ("gate", ""),
    "hca.buffer": ("norm", "x"),
    "state.conv": ("norm", "/"),
    "state.recurrent": ("norm", "x"),
    "cross.kv": ("norm", ""),
    "draft.cache": ("residual", "x"),
}
Plotly = dict[str, object]  # a part of a figure, as plotly's JSON has it
NO_MORE: Mapping[str, object] = MappingProxyType({})
FEWEST_TOKENS = 128
AXIS_ROOM = 0.02  # of an axis, at each of its ends
BAR_LETTERS = 9  # as many as there is room for under a bar; a longer word is broken at its hyphens


class Point(NamedTuple):
    """Bytes of one model's cache, or of a part of it, at `tokens` tokens."""

    model: str
    tokens: int
    bytes: int


class Series(NamedTuple):
    """One model's cache at growing contexts."""

    name: str
    points: tuple[Point, ...]


class Question(NamedTuple):
    """What is drawn: the model asked about (first) and those to compare it with, at `batch` sequences in `dtype`.

    `options` are those of the first model; of them the others have what belongs to the engine and the GPUs.
    """

    specs: Sequence[ModelSpec]
    tokens: int
    batch: int
    dtype: str
    options: KvOptions

    def options_of(self, i: int) -> KvOptions:
        """The options of model `i`."""
        return options_beside(self.specs[i], self.options) if i else self.options

    @property
    def longest(self) -> int:
        """The most tokens that a cache of these options has room for."""
        return self.options.reserved_tokens or MAX_TOKENS


def question(specs: Sequence[ModelSpec], tokens: int, batch: int, dtype: str, options: KvOptions) -> Question:
    """A checked question. Raises GlassLlamaError, naming the field, where the first model cannot be asked that."""
    checked = kv_breakdown(specs[0], tokens, batch, dtype, options)
    return Question(specs, checked.tokens, checked.batch, checked.dtype, options)


def contexts(longest: int) -> list[int]:
    """Contexts to draw a line through: two to a doubling from 128 up to `longest`."""
    grid = {round(FEWEST_TOKENS * 2 ** (i / 2)) for i in range(60)}
    return sorted({n for n in grid if n < longest} | {longest})


def line_series(asked: Question) -> tuple[list[Series], list[Excluded]]:
    """Each model up to its own context (the first at least to `tokens`), and the models that the settings exclude."""
    found: list[Series] = []
    excluded: list[Excluded] = []
    for i, spec in enumerate(asked.specs):
        own = spec.max_context or max(asked.tokens, FEWEST_TOKENS)
        longest = min(max(own, asked.tokens) if i == 0 else own, asked.longest)
        options = asked.options_of(i)
        try:
            kv_breakdown(spec, longest, asked.batch, asked.dtype, options)  # else a line might have no point at all
            found.append(Series(spec.name, _curve(spec, longest, asked.batch, asked.dtype, options)))
        except GlassLlamaError as error:
            if i == 0:
                raise
            excluded.append({"model": spec.name, "refused": refused_message(error)})
    return found, excluded


@lru_cache(maxsize=64)
def _curve(spec: ModelSpec, longest: int, batch: int, dtype: str, options: KvOptions) -> tuple[Point, ...]:
    """The line of one model. Kept, since a slider of tokens passes over the same lines a hundred times."""
    points = [(n, _breakdown(spec, n, batch, dtype, options)) for n in contexts(longest)]
    return tuple(Point(spec.name, n, found.total_bytes) for n, found in points if found)


def _breakdown(spec: ModelSpec, tokens: int, batch: int, dtype: str, options: KvOptions) -> KvBreakdown | None:
    """None where the options themselves ask for more tokens (a prefix, a prompt), so that no cache is so small."""
    least = max(options.shared_prefix, options.prompt_tokens or 1)
    return kv_breakdown(spec, tokens, batch, dtype, options) if tokens >= least else None


def lines_figure(asked: Question, unit: str, log_x: bool, log_y: bool) -> tuple[CacheChart, list[Excluded]]:
    """Bytes of the cache against context, one line a model, a mark where the calculator stands.

    Gives also the models that the settings exclude.
    """
    series, excluded = line_series(asked)
    own = kv_breakdown(asked.specs[0], asked.tokens, asked.batch, asked.dtype, asked.options)
    here = Point(own.spec.name, own.tokens, own.total_bytes)
    lines = [_line(i, name, points) for i, (name, points) in enumerate(series)]
    drawn = [here.tokens, *(point.tokens for one in series for point in one.points)]
    # Room for the longest words at once: where margins follow the words, plotly draws a step with new ones twice.
    fixed = {"automargin": False}
    name = "log_context" if log_x else "context"
    x = {"title": _title(f"text:kv-chart.{name}"), **_context_axis(min(drawn), max(drawn), log_x), **fixed}
    y = {"type": "log", "dtick": 1} if log_y else {"type": "linear", "rangemode": "tozero"}
    layout = _layout(f"text:kv-chart.{'log' if log_y else 'bytes'}_{unit}", x, {**y, **fixed}, left=84)
    return {"data": [*lines, _mark(here)], "layout": layout, "unit": UNITS[unit]}, excluded


def _line(index: int, name: str, points: Sequence[Point]) -> CacheTrace:
    return {
        "type": "scatter",
        "x": [point.tokens for point in points],
        **_points(points),
        "name": name,  # as it is: plotly shows it nowhere, the page's legend and table show it letter by letter
        "mode": "lines",  # a marker for each point would take plotly six times as long
        "line": {"color": _colour(LINE_COLOURS[index]), "width": 3 if index == 0 else 2, "dash": DASHES[index]},
        "hovertemplate": "text:kv-chart.hover",
    }


def _mark(here: Point) -> CacheTrace:
    return {
        "type": "scatter",
        "x": [here.tokens],
        **_points([here]),
        "mode": "markers",
        "marker": {"size": 14, "color": _colour("accent"), "line": {"color": _colour("card"), "width": 3}},
        "hovertemplate": "text:kv-chart.hover",
    }


def stack_figure(asked: Question, unit: str, weights: bool, few: bool = False) -> tuple[CacheChart, list[Excluded]]:
    """What takes the bytes of each model, at the asked context and around it unless `few`.

    `weights` adds those of each model in bf16, and of the model that drafts for the first one.
    Gives also the models that the settings exclude.
    """
    bars: dict[str, list[Point]] = {}
    order: list[Point] = []
    contexts = {spec.name: spec.max_context for spec in asked.specs}
    excluded: dict[str, Excluded] = {}
    most = min(asked.tokens * 4, asked.longest)
    lengths = [asked.tokens] if few else sorted({max(1, asked.tokens // 4), asked.tokens, most})
    for tokens in lengths:
        for i, spec in enumerate(asked.specs):
            options = asked.options_of(i)
            try:
                found = _breakdown(spec, tokens, asked.batch, asked.dtype, options)
            except GlassLlamaError as error:
                if i == 0:
                    raise
                excluded[spec.name] = {"model": spec.name, "refused": refused_message(error)}
                continue
            parts = dict(_weights(spec, options)) if weights else {}
            for term in found.terms if found else ():
                label = "draft.cache" if term.draft else term.label
                parts[label] = parts.get(label, 0) + term.bytes
            if parts:
                order.append(Point(spec.name, tokens, 0))
            for label, count in parts.items():
                bars.setdefault(label, []).append(Point(spec.name, tokens, count))
    x: Plotly = {"type": "multicategory", "tickangle": -90 if few else 0}
    bytes_title = f"text:kv-chart.{'all' if weights else 'bytes'}_{unit}"
    layout = {**_layout(bytes_title, x), "barmode": "stack", "bargap": 0.25}
    labels = [label for label in [*PARTS, *sorted(set(bars) - set(PARTS))] if label in bars]
    data = [_order(order, contexts, lengths), *(_bar(label, bars[label], contexts, lengths) for label in labels)]
    return {"data": data, "layout": layout, "unit": UNITS[unit]}, [excluded[name] for name in sorted(excluded)]


def _weights(spec: ModelSpec, options: KvOptions) -> Iterator[tuple[str, int]]:
    """What the weights take in bf16, each once: the model's, and its draft model's where it has one."""
    labels = ("weights", "draft.weights")
    for label, one in zip(labels, Setup(options=options).weight_breakdowns(spec), strict=False):
        yield label, one.total_bytes


def _order(bars: Sequence[Point], contexts: Mapping[str, int | None], lengths: Sequence[int]) -> CacheTrace:
    """Every bar without a height, first of all: plotly stands bars in the order in which it meets their names."""
    return {"type": "bar", "x": _bar_places(bars, contexts, lengths), **_points(bars), "hoverinfo": "skip"}


def _bar_places(bars: Sequence[Point], contexts: Mapping[str, int | None], lengths: Sequence[int]) -> list[list[str]]:
    """Context and name of each bar. Its name ends with a space without width for each shorter length: else a model
    would stand where its name has stood among another length's bars."""
    names: list[str] = []
    for bar in bars:
        name = _bar_name(bar.model, _beyond(bar, contexts) is not None)
        names.append(name if name.startswith("text:") else name + "\u200b" * lengths.index(bar.tokens))
    return [[_short(bar.tokens) for bar in bars], names]


def _bar(label: str, bars: Sequence[Point], contexts: Mapping[str, int | None], lengths: Sequence[int]) -> CacheTrace:
    """One part of every bar; `contexts` in it is a model's own context where the bar is beyond it, marked by a †."""
    beyond = [_beyond(bar, contexts) for bar in bars]
    colour, shape = PARTS.get(label, ("residual", "x"))
    place, _, part = label.rpartition(".")
    return {
        "type": "bar",
        "x": _bar_places(bars, contexts, lengths),
        **_points(bars),
        "contexts": beyond,
        "name": f"text:kv.stack_{(place or 'own').replace('.', '_')}_{part}",
        "marker": {
            "color": _colour(colour),
            "pattern": {"shape": shape, "fillmode": "overlay", "fgcolor": _colour("card")},
        },
        "hovertemplate": [f"text:kv-chart.hover{'_beyond' if own else ''}" for own in beyond],
    }


def _beyond(bar: Point, contexts: Mapping[str, int | None]) -> int | None:
    """The model's own context where the bar is beyond it."""
    own = contexts[bar.model]
    return own if own is not None and bar.tokens > own else None


def _bar_name(model: str, beyond: bool) -> str:
    """A model's name in lines; the text of a pasted config's, which the page has with and without the mark."""
    if model.startswith("text:"):
        return f"{model}_beyond" if beyond else model
    words = (re.split("(?<=-)", word) if len(word) > BAR_LETTERS else [word] for word in model.split(" "))
    return "<br>".join(map(plain, chain.from_iterable(words))) + (" †" if beyond else "")


def _points(points: Sequence[Point]) -> CachePoints:
    """Model, tokens and bytes of each point of a trace, as columns, and the model as plotly writes it."""
    return {
        "models": [point.model for point in points],
        "tokens": [point.tokens for point in points],
        "bytes": [str(point.bytes) for point in points],
        "hovertext": [plain(point.model) for point in points],
    }


def _colour(name: str) -> str:
    return f"var(--glass-{name})"


def _short(tokens: int) -> str:
    """8192 as "8K": K is 1024. What is no whole number of K stays as it is."""
    for size, unit in ((2**20, "M"), (2**10, "K")):
        if tokens % size == 0:
            return f"{tokens // size}{unit}"
    return f"{tokens:,}"


def _context_axis(shortest: int, longest: int, log: bool) -> Plotly:
    """Ticks at powers of two, written as people write contexts; with room for half a mark at both ends.

    Its range is told, so that plotly moves a slider's points alone and draws no axis again (static/chart.js).
    """
    powers = [2**i for i in range(8, 28, 2) if 2**i <= longest * 1.01]
    if not log:
        step = 2 ** max(8, (longest // 5).bit_length())
        powers = list(range(0, longest + 1, step))
    low, high = (math.log10(shortest), math.log10(longest)) if log else (0, longest)
    room = AXIS_ROOM * max(high - low, 1)
    return {
        "type": "log" if log else "linear",
        "range": [low - room, high + room],
        "tickvals": powers,
        "ticktext": [_short(n) if n else "0" for n in powers],
    }


def _title(words: str) -> Plotly:
    return {"text": words, "font": {"size": 14}, "standoff": 12}


def _layout(bytes_title: str, x: Mapping[str, object], y: Mapping[str, object] = NO_MORE, left: int = 64) -> Plotly:
    """What both charts share, with further properties of their axes, and the pixels left of the chart."""
    axis = {"gridcolor": _colour("grid"), "linecolor": _colour("line"), "zerolinecolor": _colour("line")}
    return {
        "paper_bgcolor": "rgba(0,0,0,0)",
        "plot_bgcolor": "rgba(0,0,0,0)",
        "font": {"color": _colour("text"), "size": 14},
        "xaxis": {**axis, "automargin": True, "title": _title(""), **x},
        "yaxis": {
            **axis,
            "automargin": True,
            "title": _title(bytes_title),
            "exponentformat": "power",
            "tickformat": "~g",
            **y,
        },
        "showlegend": False,  # the page writes its own: panels/kv/chart-legend.js
        "margin": {"l": left, "r": 16, "t": 16, "b": 56},
        "hoverlabel": {
            "bgcolor": _colour("raised"),
            "bordercolor": _colour("line"),
            "font": {"color": _colour("text")},
        },
        "hovermode": "closest",
    }
