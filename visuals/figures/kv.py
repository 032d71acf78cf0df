"""Bytes of a run's KV cache, and of the same shape under the four kinds of attention."""

import plotly.graph_objects as go

from model import Trace
from model.kv_math import KvBreakdown, kv_breakdown
from model.kv_math.kinds import attention_kinds

from ..kv import FORMAT_OF, spec_of
from .look import PLAIN, Look, figure


def cache_figure(trace: Trace, look: Look = PLAIN) -> go.Figure:
    """What the cache of a run's tokens takes, and would take as MHA, GQA, MQA and MLA with the same layers and heads.

    Under each kind stands its product, as `kv_breakdown` gives it: sequences, layers, tokens, K/V heads and so on. The
    network's own kind is in colour. Raises GlassLlamaError where the calculators do not read the model's config.
    """
    spec, dtype = spec_of(trace.lm), FORMAT_OF[str(trace.network.dtype).removeprefix("torch.")]
    tokens, own = len(trace.token_ids), spec.attention.kind
    found = {kind: kv_breakdown(as_kind, tokens, dtype=dtype) for kind, as_kind in attention_kinds(spec).items()}
    names = [f"{look.say('own_kind', kind=kind) if kind == own else kind}<br>{_sum(of)}" for kind, of in found.items()]
    made = figure(look, look.say("kinds", tokens=tokens, dtype=dtype), "", look.say("bytes"))
    made.add_bar(
        x=names,
        y=[of.total_bytes for of in found.values()],
        marker={"color": [look.colour("v" if kind == own else "muted") for kind in found]},
        texttemplate="%{y:,}",
        textposition="outside",
        cliponaxis=False,
        hovertemplate="%{x}: %{y:,}<extra></extra>",
    )
    return made


def _sum(found: KvBreakdown) -> str:
    """A cache's products as they are multiplied and added, a factor of 1 left out."""
    products = [[f"{factor.value:,}" for factor in term.factors if factor.value != 1] for term in found.terms]
    return " + ".join(" · ".join(product) for product in products)
