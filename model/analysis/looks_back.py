"""What a text's last token takes from one earlier token: what would come without a look at it, and with which head it
looks to most effect.

As in knock_out.py the scores of one token are masked before the softmax, so that the other weights are renormalised: in
all heads of all layers, and then in one head at a time, whose keys and values other heads and tokens still read.

Symbols: L n_layers, T tokens, R rows of a pass.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import torch
from jaxtyping import Bool, Float
from torch import Tensor

from .last_token import TextRead, last_token_logs

TRIED = 30  # heads, in one pass with the run as it is and the one without any look


class LookingHead(NamedTuple):
    """A head, its attention `weight` there, and the nats of log p(target) lost when it alone may not look."""

    layer: int
    head: int
    weight: float
    lost: float


@dataclass(frozen=True)
class LooksBack:
    """The last token's looks at `token`: `instead`, of probability `p_instead`, is the most probable next token without
    them. `heads` are the TRIED ones that give the token most weight, the one that loses most first."""

    token: int
    instead: int
    p_instead: float
    heads: tuple[LookingHead, ...]


def looks_back(read: TextRead, target: int, token: int, attention: Float[np.ndarray, "L n_heads T"]) -> LooksBack:
    """What the last token's looks at an earlier `token` bring for the next token `target`.

    `attention` is the last token's (sinks.last_attention).
    """
    weights = attention[..., token]
    order = np.argsort(-weights, axis=None, kind="stable")[:TRIED]
    tried = [(int(i) // weights.shape[1], int(i) % weights.shape[1]) for i in order]
    with torch.inference_mode():
        logs = last_token_logs(read, 2 + len(tried), _hidden(read, token, tried))
    whole, without = logs[0, target], logs[1]
    found = [
        LookingHead(*one, float(weights[one]), float(whole - alone))
        for one, alone in zip(tried, logs[2:, target], strict=True)
    ]
    instead = int(without.argmax())
    return LooksBack(token, instead, float(without[instead].exp()), tuple(sorted(found, key=lambda head: -head.lost)))


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
