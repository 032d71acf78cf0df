"""What a text's last token takes from one earlier token: what would come without a look at it, and which of the heads
that look there is missed most.

As in knock_out.py the scores of one token are masked before the softmax, so that the other weights are renormalised: in
all heads of all layers, and then in one head at a time, whose keys and values other heads and tokens still read. Of the
heads that look there, those whose look is missed most are then switched off altogether, at every token, one at a time.

Symbols: L n_layers, T tokens, R rows of a pass.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import torch
from jaxtyping import Bool, Float
from torch import Tensor

from ..pieces import Work, in_pieces
from .head_losses import Head, ablated_run, heads_of_a_pass, log_p_without, switched_off
from .last_token import TextRead, last_token_logs

TRIED = 30  # heads, in one pass with the run as it is and the one without any look
SWITCHED_OFF = 8  # of these, at most, one at a time


class LookingHead(NamedTuple):
    """A head, its attention `weight` there, the nats of log p(target) that are lost when it alone may not look, and
    `missed`, those when it is switched off."""

    layer: int
    head: int
    weight: float
    lost: float
    missed: float


@dataclass(frozen=True)
class LooksBack:
    """The last token's looks at `token`: `instead`, of probability `p_instead`, is the most probable next token without
    them. `count` heads look there most, sinks apart. `heads` are those of them that were switched off, or where there
    are none those that give the token most weight, the one that is missed most first."""

    token: int
    instead: int
    p_instead: float
    count: int
    heads: tuple[LookingHead, ...]


@in_pieces
def looks_back(
    read: TextRead, target: int, token: int, attention: Float[np.ndarray, "L n_heads T"], sinks: Sequence[int] = ()
) -> Work[LooksBack]:
    """What the last token's looks at an earlier `token` bring for the next token `target`.

    `attention` is the last token's (sinks.last_attention), and `sinks` are where heads park.
    """
    weights, apart = attention[..., token], attention.copy()
    apart[..., list(sinks)] = -1
    looking = apart.argmax(-1) == token
    order = np.argsort(-weights, axis=None, kind="stable")[:TRIED]
    tried = [(int(i) // weights.shape[1], int(i) % weights.shape[1]) for i in order]
    with torch.inference_mode():
        logs = last_token_logs(read, 2 + len(tried), _hidden(read, token, tried))
    yield
    whole, without = logs[0, target], logs[1]
    lost = dict(zip(tried, (whole - logs[2:, target]).tolist(), strict=True))
    most = sorted([head for head in tried if looking[head]] or tried, key=lambda head: -lost[head])
    some = most[: min(SWITCHED_OFF, heads_of_a_pass(len(read.ids)))]
    missed = yield from _missed(read, target, some)
    found = [LookingHead(*head, float(weights[head]), lost[head], missed[head]) for head in some]
    instead = int(without.argmax())
    best = tuple(sorted(found, key=lambda head: -head.missed))
    return LooksBack(token, instead, float(without[instead].exp()), int(looking.sum()), best)


def _missed(read: TextRead, target: int, heads: Sequence[Head]) -> Work[dict[Head, float]]:
    """What is lost without each head; nothing without one that the run has off."""
    off = switched_off(read.changed, read.lm.config.n_heads)
    on = [head for head in heads if head not in off]
    whole, *without = yield from log_p_without.pieces(
        ablated_run(read, target, "zero", ()), [(), *((head,) for head in on)]
    )
    return dict.fromkeys(heads, 0.0) | {head: whole - left for head, left in zip(on, without, strict=True)}


def _hidden(
    read: TextRead, token: int, tried: Sequence[tuple[int, int]]
) -> Callable[[int], Bool[Tensor, "n_heads R T"]]:
    """What is hidden in a layer: nothing from row 0, the token from all heads of row 1, then from one head of a row."""

    def of_layer(layer: int) -> Bool[Tensor, "n_heads R T"]:
        off = torch.zeros(read.lm.config.n_heads, 2 + len(tried), len(read.ids), dtype=torch.bool)
        off[:, 1, token] = True
        for row, (at, head) in enumerate(tried, start=2):
            off[head, row, token] = at == layer
        return off.to(read.lm.device)

    return of_layer
