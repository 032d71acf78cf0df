"""How a checkpoint was trained, as plotly figures, and what was measured of it. Dressed as kv_charts.py says."""

from collections.abc import Sequence
from itertools import pairwise
from typing import NamedTuple

import plotly.graph_objects as go

from model.record import Entry, Measured, Record

from .messages.overview import MeasuredSkill, PlotlyFigure, SkillsFigure, TrainingCharts, TrainingDetail
from .plain import plain

# What is drawn of the answers, by colour and dash: kinds of document that differ in language alone share a line.
SKILLS: dict[str, tuple[tuple[str, ...], str, str]] = {
    "induction": (("induction",), "q", "solid"),
    "recall": (("recall",), "k", "solid"),
    "facts": (("facts-en", "facts-zh"), "v", "solid"),
    "pronouns": (("pronouns-en", "pronouns-zh"), "gate", "solid"),
    "story_questions": (("story-en", "story-zh"), "norm", "dash"),
    "translation": (("translation-words",), "up", "dash"),
    "brackets": (("brackets",), "output", "dot"),
    "counting": (("counting",), "residual", "dot"),
}
MILLION, TEN_THOUSAND = 1_000_000, 10_000  # tokens: what English and Chinese count large numbers in
# The page has names for these; a stage of another training is called what its log calls it.
STAGES = frozenset({"patterns", "bindings", "backwards", "stories"})
ROOM_FOR_A_NUMBER = 0.08  # share of the axis that a stage's number takes where the chart is narrowest, on a phone
LINE = 18  # pixels from one row of numbers to the next
EDGE = 8  # pixels above a chart
ENDS = 28  # pixels beside a chart: plotly leaves out a number at its end that has no room, such as 3,500
APART = 6  # pixels between the axis and its numbers, so that both axes' zeros stand apart


class Beginning(NamedTuple):
    """Where a stage begins: after `tokens` tokens. `name` as _stage_name gives it; `number` counts from 1."""

    number: int
    name: str
    tokens: int


def beginnings(log: Sequence[Entry]) -> list[Beginning]:
    """Every stage of the log that has a name, in order. A stage that comes again is one more."""
    ends = [0, *(entry.tokens for entry in log)]
    stages = [""] + [entry.stage for entry in log]
    starts = [(now, ends[i]) for i, (before, now) in enumerate(pairwise(stages)) if now and now != before]
    return [Beginning(i + 1, _stage_name(stage), tokens) for i, (stage, tokens) in enumerate(starts)]


def rows_for(places: Sequence[float], apart: float) -> list[int]:
    """The lowest row for each place, in order, on which no other one is nearer than `apart`."""
    last: list[float] = []  # of each row
    rows = []
    for place in places:
        row = next((i for i, other in enumerate(last) if place - other >= apart), len(last))
        last[row : row + 1] = [place]
        rows.append(row)
    return rows


def loss_figure(log: Sequence[Entry], unit: int) -> go.Figure:
    """Held-out loss against tokens, `unit` of them at a time, with a line where each stage begins, and above it the
    stage's number and name."""
    figure = go.Figure(layout=_layout("text:training.loss_axis", log, unit))
    figure.add_scatter(
        x=[entry.tokens / unit for entry in log],
        y=[entry.heldout for entry in log],
        customdata=[plain(_stage_name(entry.stage)) for entry in log],
        mode="lines+markers",
        line={"color": "var(--glass-accent)", "width": 2},
        marker={"size": 5},
        cliponaxis=False,
        hovertemplate="text:training.loss_hover",
        showlegend=False,
    )
    stages = beginnings(log)
    rows = rows_for([stage.tokens / log[-1].tokens for stage in stages], ROOM_FOR_A_NUMBER)
    for stage, row in zip(stages, rows, strict=True):
        line = {"color": "var(--glass-muted)", "width": 1, "dash": "dot"}
        figure.add_vline(x=stage.tokens / unit, line=line)
        figure.add_annotation(
            x=stage.tokens / unit,
            y=1,
            yref="paper",
            ax=0,
            ay=-(EDGE + LINE // 2 + LINE * row),
            arrowhead=0,
            arrowwidth=1,
            arrowcolor="var(--glass-muted)",
            text=str(stage.number) if stage.number > 1 else "text:training.first_stage",
            xanchor="right",  # beside its line: the next one may be two pixels further
            hovertext=plain(stage.name),
            font={"size": 14},
            bgcolor="var(--glass-card)",
            borderpad=1,
        )
    figure.update_layout(margin_t=2 * EDGE + LINE * (max(rows, default=-1) + 1))
    return figure


def answers_figure(log: Sequence[Entry], unit: int) -> go.Figure:
    """The share of right answers on held-out documents against tokens, `unit` of them at a time, one line a skill."""
    figure = go.Figure(layout=_layout("text:training.answers_axis", log, unit))
    figure.update_yaxes(range=[0, 1.02], tickformat=".0%")
    for name, (kinds, colour, dash) in SKILLS.items():
        told = [entry for entry in log if all(kind in entry.answers for kind in kinds)]
        figure.add_scatter(
            x=[entry.tokens / unit for entry in told],
            y=[sum(entry.answers[kind] for kind in kinds) / len(kinds) for entry in told],
            name=f"text:training.skill_{name}",
            mode="lines",
            line={"color": f"var(--glass-{colour})", "width": 2, "dash": dash},
            hovertemplate="text:training.answers_hover",
            showlegend=False,  # the page writes the legend below the chart, where it has room at any width
        )
    return figure


def training_payload(record: Record) -> TrainingDetail:
    """Both figures in each unit, null where there is no log, where its stages begin, and the measured skills."""
    log = record.log
    return {
        **_charts(log, MILLION),
        "in_ten_thousands": _charts(log, TEN_THOUSAND),
        "stages": [{"number": one.number, "name": one.name, "tokens": one.tokens} for one in beginnings(log)],
        "log": [(entry.stage, entry.tokens, entry.loss, entry.heldout) for entry in log],
        "measured": [_skill(line) for line in record.measured],
    }


def _charts(log: Sequence[Entry], unit: int) -> TrainingCharts:
    return {
        "loss": _loss_chart(log, unit) if log else None,
        "answers": _answers_chart(log, unit) if any(entry.answers for entry in log) else None,
    }


def _loss_chart(log: Sequence[Entry], unit: int) -> PlotlyFigure:
    told = loss_figure(log, unit).to_plotly_json()
    return {"data": told["data"], "layout": told["layout"]}


def _answers_chart(log: Sequence[Entry], unit: int) -> SkillsFigure:
    told = answers_figure(log, unit).to_plotly_json()
    return {"data": told["data"], "layout": told["layout"]}


def _skill(line: Measured) -> MeasuredSkill:
    return {"name": line.name, "language": line.language, "right": line.right, "cases": line.cases, "bar": line.bar}


def _stage_name(stage: str) -> str:
    return f"text:training.stage_{stage}" if stage in STAGES else stage


def _title(text: str) -> dict[str, object]:
    return {"text": text, "standoff": 8, "font": {"size": 14}}


def _layout(name: str, log: Sequence[Entry], unit: int) -> dict[str, object]:
    """Both charts run from no token to the last of the log, so that they can be read one below the other."""
    axis = {
        "gridcolor": "var(--glass-line)",
        "zeroline": False,
        "automargin": True,
        "separatethousands": True,
    }
    return {
        "font": {"color": "var(--glass-text)", "size": 14},
        "paper_bgcolor": "var(--glass-card)",
        "plot_bgcolor": "var(--glass-card)",
        "hoverlabel": {"bgcolor": "var(--glass-raised)", "font": {"color": "var(--glass-text)", "size": 14}},
        "margin": {"l": 72, "r": ENDS, "t": EDGE, "b": 48},
        "xaxis": axis
        | {
            "title": _title("text:training.tokens_axis"),
            "range": [0, log[-1].tokens / unit],
            "ticklabelstandoff": APART,
        },
        "yaxis": axis | {"title": _title(name), "automargin": False},
        "template": None,
    }
