"""What a text's last token takes from one earlier token: what would come without a look at it, and which of the heads
that look there brings most of the answer from it.

As in knock_out.py the scores of one token are masked before the softmax, in all heads of all layers, so that the other
weights are renormalised. What a head brings is told from the run as it is: with weights and what the final norm divides
by held at its values, head h adds α[s]·(W_O[h]·v[s])·u to the answer's logit from token s, with u the direction along
which final norm and head read the stream for that answer (direct logit attribution; Elhage et al. 2021). Others may
bring the same, so the head is then switched off altogether, at every token.

Symbols: L n_layers, T tokens, R rows of a pass, d d_model.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import torch
from jaxtyping import Float

from ..forward_pass import Pass
from ..pieces import Work, in_pieces
from ..shapes import figures
from ..taps import capture
from .head_losses import Head, ablated_run, log_p_without, switched_off
from .last_token import TextRead, last_token_logs
from .logit_terms import heads_along, read_along


class LookingHead(NamedTuple):
    """A head, its attention `weight` there, what it `adds` from there to the target's logit, and the nats of
    log p(target) that are `missed` when it is switched off."""

    layer: int
    head: int
    weight: float
    adds: float
    missed: float


@dataclass(frozen=True)
class LooksBack:
    """The last token's looks at `token`: `instead`, of probability `p_instead`, is the most probable next token without
    them. `looking` are the heads that look there most, sinks apart, the one that adds most first: that is `head`, and
    `together` is what they all add. Where there are none, it is the one of all that adds most."""

    token: int
    instead: int
    p_instead: float
    looking: tuple[Head, ...]
    together: float
    head: LookingHead


@in_pieces
def looks_back(
    read: TextRead, target: int, token: int, attention: Float[np.ndarray, "L n_heads T"], sinks: Sequence[int] = ()
) -> Work[LooksBack]:
    """What the last token's looks at an earlier `token` bring for the next token `target`.

    `attention` is the last token's (sinks.last_attention), and `sinks` are where heads park.
    """
    apart = attention.copy()
    apart[..., list(sinks)] = -1
    looking = apart.argmax(-1) == token
    adds = _added(read, target, token, attention[..., token])
    yield
    most_first = np.argsort(-adds, axis=None, kind="stable")
    order: list[Head] = [divmod(int(i), adds.shape[1]) for i in most_first]
    there = tuple(head for head in order if looking[head])
    off = torch.zeros(2, len(read.ids), dtype=torch.bool, device=read.lm.device)
    off[1, token] = True  # beside a row that sees all: there are two at least
    with torch.inference_mode():
        without = last_token_logs(read, 2, lambda _: off)[1]
    yield
    first = yield from _looking_head(read, target, token, (there or order)[0], attention, adds)
    instead = int(without.argmax())
    return LooksBack(token, instead, float(without[instead].exp()), there, float(adds[looking].sum()), first)


@in_pieces
def looking_head(
    read: TextRead, target: int, token: int, head: Head, attention: Float[np.ndarray, "L n_heads T"]
) -> Work[LookingHead]:
    """One head that looks at `token`, as looks_back tells of the first."""
    adds = _added(read, target, token, attention[..., token])
    yield
    return (yield from _looking_head(read, target, token, head, attention, adds))


def _looking_head(
    read: TextRead,
    target: int,
    token: int,
    head: Head,
    attention: Float[np.ndarray, "L n_heads T"],
    adds: Float[np.ndarray, "L n_heads"],
) -> Work[LookingHead]:
    missed = yield from _missed(read, target, *head)
    return LookingHead(*head, float(attention[(*head, token)]), float(adds[head]), missed)


def _added(
    read: TextRead, target: int, token: int, weights: Float[np.ndarray, "L n_heads"]
) -> Float[np.ndarray, "L n_heads"]:
    """What each head adds to the target's logit from a token to which it gives these weights; 0 of one that is off."""
    lm, added = read.lm, np.zeros(weights.shape)
    direction, _ = read_along(lm.net, target)
    at = Pass(lm.net.positions(0, 1), eager=True)  # MLA rebuilds its values then
    with torch.inference_mode():
        along = direction / float(figures(lm.net.norm)["rms"](read.streams[-1, -1]))
        for layer, given in enumerate(weights):
            block = lm.net.block(layer)
            with capture(block.attn, "v") as seen:
                block.attn(block.attn_norm(read.streams[layer, token][None, None]), at)
            values = seen["v"][0].double().cpu()
            added[layer] = heads_along(block.attn, torch.tensor(given)[:, None].double(), values, along)[:, 0].numpy()
    for head in switched_off(read.changed, lm.config.n_heads):
        added[head] = 0
    return added


def _missed(read: TextRead, target: int, layer: int, head: int) -> Work[float]:
    """What is lost without a head; nothing without one that the run has off."""
    if (layer, head) in switched_off(read.changed, read.lm.config.n_heads):
        return 0.0
    run = ablated_run(read, target, "zero", ())
    whole, without = yield from log_p_without.pieces(run, [(), ((layer, head),)])
    return whole - without
