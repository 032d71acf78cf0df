"""Where the answer lives: the residual stream at one layer and token taken from the other run, and what that changes.

Activation patching (Meng et al. 2022, arXiv 2202.05262) over a pair of prompts (nodes.py). A network with an encoder
has a map for each of its stacks.
Symbols: L n_layers of the stack, T tokens of the text that it reads, d d_model.
"""

import torch
from jaxtyping import Float, Int
from torch import Tensor

from ..network import Stack, StackName
from ..pieces import Work, in_pieces
from ..taps import capture
from .nodes import Pair, Swap, last_logits, rows_of_a_pass, share_of, swapped


@in_pieces
def causal_map(pair: Pair, rows: int | None = None, stack: StackName | None = None) -> Work[Float[Tensor, "depths T"]]:
    """(L + 1, T): the share of the logit difference that is left when the stream there is the other run's.

    Row l is the stream before layer l (L: before the final norm). 1: nothing is lost; 0: the other run's difference.
    `stack` is that of two, the decoder unless it is named. `rows` patched runs go in one pass, a piece of the work.
    """
    net, (own, ids) = pair.lm.net, _stack(pair, stack)
    names = [*(f"{own.prefix}layers.{i}.resid_in" for i in range(own.net.config.n_layers)), f"{own.prefix}final_resid"]
    with torch.inference_mode(), capture(net, *names) as seen:
        last_logits(net, pair.other_texts)
    yield
    places = [(depth, token) for depth in range(len(names)) for token in range(ids.shape[1])]
    rows, found = rows or rows_of_a_pass(pair), []
    for start in range(0, len(places), rows):
        part = places[start : start + rows]
        swaps: dict[str, Swap] = {}
        for depth in sorted({depth for depth, _ in part}):
            here = [(row, token) for row, (at, token) in enumerate(part) if at == depth]
            swaps[names[depth]] = _placed(here, seen[names[depth]][0])
        with torch.inference_mode(), swapped(net, swaps):
            found.append(share_of(pair, pair.run(len(part))).float().cpu())
        yield
    return torch.cat(found).view(len(names), -1)


def _stack(pair: Pair, name: StackName | None) -> tuple[Stack, Int[Tensor, "1 T"]]:
    """The stack of this name, the last one for None, and the text that it reads."""
    both = list(zip(pair.lm.net.stacks, pair.texts, strict=True))
    return next((one for one in both if one[0].name == name), both[-1])


def _placed(places: list[tuple[int, int]], theirs: Float[Tensor, "T d"]) -> Swap:
    rows, tokens = (list(column) for column in zip(*places, strict=True))

    def place(stream: Float[Tensor, "C T d"]) -> Float[Tensor, "C T d"]:
        changed = stream.clone()
        changed[rows, tokens] = theirs[tokens]
        return changed

    return place
