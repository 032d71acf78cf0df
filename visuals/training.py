"""How a checkpoint was trained, as plotly figures, and what was measured of it. Dressed as kv_charts.py says."""

import math
from collections.abc import Sequence
from itertools import pairwise
from typing import Any

import plotly.graph_objects as go

from model.record import Entry, Record

from .payload import Message

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
MILLION = 1_000_000
# Stages of model/curriculum.py, past ones too: the page has names for them. Another's are shown as its log has them.
STAGES = frozenset(
    {"everything", "patterns", "bindings", "pronouns", "stories", "telling", "backwards", "who", "settling", "closing"}
    | {"long rows", "steady", "scenes", "whole"}
)
ROOM_FOR_A_NAME = 0.05  # the share of the axis that a stage must take to have its name beside its line


def loss_figure(log: Sequence[Entry]) -> go.Figure:
    """Held-out loss against tokens, with a mark where each stage begins, and the stage's name."""
    figure = go.Figure(layout=_layout("text:training.loss_axis", log))
    figure.add_scatter(
        x=[entry.tokens / MILLION for entry in log],
        y=[entry.heldout for entry in log],
        customdata=[_stage_name(entry.stage) for entry in log],
        mode="lines+markers",
        line={"color": "var(--glass-accent)", "width": 2},
        marker={"size": 5},
        cliponaxis=False,
        hovertemplate="text:training.loss_hover",
        showlegend=False,
    )
    starts = [(before.tokens, entry.stage) for before, entry in pairwise(log) if entry.stage != before.stage]
    for (tokens, stage), (following, _) in pairwise([*starts, (math.inf, "")]):
        named = following - tokens >= ROOM_FOR_A_NAME * log[-1].tokens
        figure.add_vline(
            x=tokens / MILLION,
            line={"color": "var(--glass-muted)", "width": 1, "dash": "dot"},
            annotation={"text": _stage_name(stage), "textangle": -90, "yanchor": "top", "font": {"size": 14}}
            if named
            else None,
        )
    return figure


def answers_figure(log: Sequence[Entry]) -> go.Figure:
    """The share of right answers on held-out documents against tokens, one line a skill."""
    figure = go.Figure(layout=_layout("text:training.answers_axis", log))
    figure.update_yaxes(range=[0, 1.02], tickformat=".0%")
    for name, (kinds, colour, dash) in SKILLS.items():
        told = [entry for entry in log if all(kind in entry.answers for kind in kinds)]
        figure.add_scatter(
            x=[entry.tokens / MILLION for entry in told],
            y=[sum(entry.answers[kind] for kind in kinds) / len(kinds) for entry in told],
            name=f"text:training.skill_{name}",
            mode="lines",
            line={"color": f"var(--glass-{colour})", "width": 2, "dash": dash},
            hovertemplate="text:training.answers_hover",
            showlegend=False,  # the page writes the legend below the chart, where it has room at any width
        )
    return figure


def training_payload(record: Record) -> Message:
    """Both figures, null where there is no log, and the measured skills."""
    log = record.log
    return {
        "loss": loss_figure(log).to_plotly_json() if log else None,
        "answers": answers_figure(log).to_plotly_json() if any(entry.answers for entry in log) else None,
        "log": [[entry.stage, entry.tokens, entry.loss, entry.heldout] for entry in log],
        "measured": [line._asdict() for line in record.measured],
    }


def _stage_name(stage: str) -> str:
    return f"text:training.stage_{stage.replace(' ', '_')}" if stage in STAGES else stage


def _title(text: str) -> dict[str, Any]:
    return {"text": text, "standoff": 8, "font": {"size": 14}}


def _layout(name: str, log: Sequence[Entry]) -> dict[str, Any]:
    """Both charts run from no token to the last of the log, so that they can be read one below the other."""
    axis = {"gridcolor": "var(--glass-line)", "zeroline": False, "automargin": True}
    return {
        "font": {"color": "var(--glass-text)", "size": 14},
        "paper_bgcolor": "var(--glass-card)",
        "plot_bgcolor": "var(--glass-card)",
        "hoverlabel": {"bgcolor": "var(--glass-raised)", "font": {"color": "var(--glass-text)", "size": 14}},
        "margin": {"l": 72, "r": 16, "t": 8, "b": 48},
        "height": 320,
        "xaxis": axis | {"title": _title("text:training.tokens_axis"), "range": [0, log[-1].tokens / MILLION]},
        "yaxis": axis | {"title": _title(name), "automargin": False},
        "template": None,
    }
