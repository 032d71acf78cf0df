"""Where to look first in a run: the head and the token that bring most of the answer, told from the recorded run.

With attention weights and what the final norm divides by held at the run's values, head h of a layer adds
α[s]·(W_O[h]·v[s])·u to the answer's logit from token s, with u the direction along which final norm and head read the
stream for that answer (direct logit attribution; Elhage et al. 2021). model/analysis/logit_terms.py has all terms; here
those of the heads that add most in all are made, which takes queries, keys and values of a few layers: neither a
gradient nor a run with something changed.

Symbols: L n_layers, T tokens, S tokens that a head looks at, d d_model.
"""

from typing import NamedTuple

import torch
from jaxtyping import Float
from torch import Tensor

from ..attention import Heads
from ..forward_pass import Pass
from ..interventions import intervened
from ..masks import hidden
from ..network import Writer
from ..positions import PositionEncoding
from ..taps import capture, taps_of
from ..trace import Trace
from .logit_terms import read_along
from .sinks import spiking

TRIED = 4  # heads


class FirstLook(NamedTuple):
    """A head, the token that it brings the answer from, and the `logit` that it adds from there.

    The key of a "head" is a token before the last, that of a "cross" one of the source text.
    """

    kind: Writer
    layer: int
    head: int
    key: int
    logit: float


def first_look(trace: Trace) -> FirstLook | None:
    """Of the TRIED heads that add most to the most probable next token's logit, the largest term from another token.

    Sinks, whose stream spikes, are left out, and so is what a head takes from the last token itself. None where nothing
    is left: in a text of one token, say, or with all heads off. Of equal terms the first counts.
    """
    last = len(trace.token_ids) - 1
    left_out = {*spiking(trace.residual), last}
    found: list[FirstLook] = []
    with torch.inference_mode(), intervened(trace.lm.net, trace.intervention):
        direction, _ = read_along(trace.lm.net, int(trace.logits.argmax()))
        along = (direction / float(trace.final_norm_rms[last])).float().to(trace.lm.device)
        positions = trace.lm.net.positions(0, last + 1)
        for kind, layer, head in _best(trace, along):
            if kind == "head" and len(left_out) > last:
                continue
            terms = _terms(trace, kind, layer, head, along, positions)
            if kind == "head":
                terms[[*left_out]] = float("-inf")
            found.append(FirstLook(kind, layer, head, int(terms.argmax()), float(terms.max())))
    return max(found, key=lambda look: look.logit, default=None)


def _best(trace: Trace, along: Float[Tensor, " d"]) -> list[tuple[Writer, int, int]]:
    """The TRIED heads that write most along a direction at the last token, as (kind, layer, head), the most first."""
    off = trace.intervention
    silent = {("head", *one) for one in off.heads} | {("cross", *one) for one in off.cross}
    written: dict[tuple[Writer, int, int], float] = {}
    for kind, mixed in trace.last_mixed.items():
        for layer, values in enumerate(torch.from_numpy(mixed).to(along)):
            attn = _heads(trace, kind, layer)
            total = (_read(attn, along) * values).sum(-1).tolist()
            written |= {(kind, layer, head): value for head, value in enumerate(total)}
    on = [one for one in written if one not in silent and not (one[0] == "head" and one[1] in off.attention)]
    return sorted(on, key=lambda one: -written[one])[:TRIED]


def _heads(trace: Trace, kind: Writer, layer: int) -> Heads:
    block = trace.lm.net.block(layer)
    return getattr(block, block.attentions[kind])


def _read(attn: Heads, along: Float[Tensor, " d"]) -> Float[Tensor, "n_heads width"]:
    """What a direction reads of each head's mixed values, through W_O."""
    return (along @ attn.o_proj.weight.float()).unflatten(0, (attn.n_heads, -1))


def _terms(
    trace: Trace, kind: Writer, layer: int, head: int, along: Float[Tensor, " d"], positions: PositionEncoding
) -> Float[Tensor, " S"]:
    """What a head adds along a direction at the last token, by the token that it takes it from."""
    lm, block, attn = trace.lm, trace.lm.net.block(layer), _heads(trace, kind, layer)
    x, at = torch.from_numpy(trace.residual[layer]).to(lm.device, lm.dtype)[None], Pass(positions)
    names = ["q_rot", "k_rot", "v"] if "q_rot" in taps_of(attn) else ["q", "k", "v"]
    with capture(attn, *names) as seen:
        if kind == "head":
            attn(block.attn_norm(x), at)
        else:  # which reads what attention has added to the stream
            block(x, at)
    q, k, v = (seen[name][0].float() for name in names)
    shared = head * len(k) // attn.n_heads
    scores = k[shared] @ q[head, -1] * attn.score_scale
    if kind == "head" and positions.bias is not None:
        scores = scores + positions.bias[head, -1]
    if kind == "head" and positions.mask is not None:
        scores = hidden(scores[None], positions.mask[-1:])[0]
    return (scores.softmax(-1) * (v[shared] @ _read(attn, along)[head])).cpu()
