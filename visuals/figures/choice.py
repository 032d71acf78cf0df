"""What comes next: the most probable tokens at the end, and what the stream says of it after each layer."""

import numpy as np
import plotly.graph_objects as go
import torch

from model import Trace
from model.analysis.lens import lens_at_every_depth
from model.refusals import refusal
from model.sampling import candidates

from ..plain import plain
from .look import PLAIN, SIZE, Look, absent, bar, figure, height_of, map_of, name_ticks, pieces_of, shown

WRITTEN = 9  # depths up to which a cell has room for its word


def next_token_figure(trace: Trace, count: int = 10, look: Look = PLAIN) -> go.Figure:
    """The `count` most probable next tokens, softmax(logits), and in the last bar all others together: they sum to 1.

    Raises GlassLlamaError for an encoder's run, which chooses no token, and for a `count` below 1.
    """
    if not len(trace.logits):
        raise absent("a choice of the next token", trace)
    if count < 1:
        raise refusal("count", count, "a whole number of at least 1")
    offered = candidates(torch.from_numpy(trace.logits), count)
    pieces = [plain(shown(piece)) for piece in trace.lm.tokenizer.pieces(offered.ids.tolist())]
    others = len(trace.logits) - len(pieces)
    names = [*pieces, look.say("others", count=f"{others:,}")] if others else pieces
    title = look.say("next", piece=shown(trace.pieces[-1]))
    made = figure(look, title, look.say("answer"), "", height_of(len(names)))
    made.add_bar(
        x=[*offered.probabilities, offered.tail][: len(names)],
        y=list(range(len(names))),
        orientation="h",
        marker={"color": [look.colour("output")] * len(pieces) + [look.colour("muted")]},
        texttemplate="%{x:.3g}",
        textposition="outside",
        cliponaxis=False,
        hovertemplate="%{x:.6g}<extra></extra>",
    )
    name_ticks(made, names)
    made.update_xaxes(range=[0, 1.05])
    return made


def lens_figure(trace: Trace, look: Look = PLAIN) -> go.Figure:
    """The logit lens: final norm and head on the stream before each layer and after the last, at every token.

    A cell holds the most probable next token there, written in it where there is room, and its colour the probability.
    Raises GlassLlamaError for an
    encoder's run.
    """
    if not len(trace.logits):
        raise absent("a head that reads the stream", trace)
    read = lens_at_every_depth(trace.lm, trace.residual, np.zeros(len(trace.token_ids), np.int64))
    best = [trace.lm.tokenizer.pieces(row.ids[:, 0].tolist()) for row in read]
    words = np.array([[plain(shown(piece)) for piece in row] for row in best], dtype=object).T
    names = pieces_of(trace)
    made = figure(look, look.say("lens"), look.say("depth"), look.say("token"), height_of(len(names)))
    values = np.stack([row.probabilities[:, 0] for row in read]).T
    hover = f"{look.say('depth')} %{{x}}, %{{y}} → %{{text}}: %{{z:.4g}}"
    written = {"texttemplate": "%{text}", "textfont": {"size": SIZE}} if len(read) <= WRITTEN else {}
    made.add_trace(map_of(values, hover, zmax=1, text=words, colorbar=bar(look.say("answer")), **written))
    name_ticks(made, names)
    made.update_xaxes(showgrid=False, dtick=1 if trace.n_layers <= 16 else None)
    return made
