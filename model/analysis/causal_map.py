"""Where the answer lives: the residual stream at one layer and token taken from the other run, and what that changes.

Activation patching (Meng et al. 2022, arXiv 2202.05262) over a pair of prompts (nodes.py).
Symbols: L n_layers, T tokens, d d_model.
"""

from collections.abc import Iterator

import torch
from jaxtyping import Float
from torch import Tensor

from ..taps import capture
from .nodes import Pair, Swap, share_of, swapped

ROWS = 64  # patched runs in one pass


def causal_map(pair: Pair, rows: int = ROWS) -> Float[Tensor, "depths T"]:
    """(L + 1, T): the share of the logit difference that is left when the stream there is the other run's.

    Row l is the stream before layer l (L: before the final norm). 1: nothing is lost; 0: the other run's difference.
    """
    return torch.cat(list(causal_rows(pair, rows))).view(-1, pair.shape[1])


def causal_rows(pair: Pair, rows: int = ROWS) -> Iterator[Float[Tensor, "places"]]:
    """The same, some places at a time, by layer and then token: for who shows progress or may stop."""
    net = pair.lm.net
    layers, tokens, _ = pair.shape
    names = [*(f"layers.{i}.resid_in" for i in range(layers)), "final_resid"]
    with torch.inference_mode(), capture(net, *names) as seen:
        net(pair.other_ids, last_only=True)
    places = [(depth, token) for depth in range(layers + 1) for token in range(tokens)]
    for start in range(0, len(places), rows):
        part = places[start : start + rows]
        swaps: dict[str, Swap] = {}
        for depth in sorted({depth for depth, _ in part}):
            here = [(row, token) for row, (at, token) in enumerate(part) if at == depth]
            swaps[names[depth]] = _placed(here, seen[names[depth]][0])
        with torch.inference_mode(), swapped(net, swaps):
            yield share_of(pair, net(pair.ids.expand(len(part), -1), last_only=True)[:, -1]).float().cpu()


def _placed(places: list[tuple[int, int]], theirs: Float[Tensor, "T d"]) -> Swap:
    rows, tokens = (list(column) for column in zip(*places, strict=True))

    def place(stream: Float[Tensor, "C T d"]) -> Float[Tensor, "C T d"]:
        changed = stream.clone()
        changed[rows, tokens] = theirs[tokens]
        return changed

    return place
