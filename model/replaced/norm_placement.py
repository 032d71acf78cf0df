"""Where a norm stands: before a sub-layer, after its sum, or both; on the branches that one run recorded.

A sub-layer f adds its branch to the stream x. What becomes of the stream by placement, with LN for LayerNorm:

- "pre": x + f(LN(x)), LLaMA's order and GPT-2's (Xiong et al. 2020, arXiv 2002.04745, call it Pre-LN);
- "post": LN(x + f(x)), the Transformer of 2017 (arXiv 1706.03762, section 3.1);
- "sandwich": x + LN(f(LN(x))) (CogView, arXiv 2105.13290; Gemma 2, arXiv 2408.00118, has an RMSNorm there);
- "deep": LN(α·x + f(x)), DeepNorm (arXiv 2203.00555);
- "branch": LN(x + α·f(x)), which is DeepNorm written wrongly.

The branches are those that were recorded, and are the same for all: what a network trained with another placement would
write is not known here. Symbols: T tokens, d d_model, S branches of all layers, in the order of the computation.
"""

from collections.abc import Iterator
from typing import Literal, NamedTuple, get_args

import numpy as np
import torch
from jaxtyping import Float
from torch import Tensor

from ..analysis.stream import each_layer, on_device
from ..checkpoint import LanguageModel
from ..forward_pass import Pass
from ..interventions import NOTHING, Intervention, intervened
from ..pieces import Work, in_pieces

Placement = Literal["pre", "post", "sandwich", "deep", "branch"]
PLACEMENTS: tuple[Placement, ...] = get_args(Placement)
TOKENS_AT_ONCE = 32


class Chain(NamedTuple):
    """A stream from before the first branch (row 0) to after each of them, float64.

    `lengths` (S + 1, T) are its Euclidean norms. `kept` (S + 1, T) is the factor on x at the start that is still in it:
    what was added later aside, the stream is kept · x. A LayerNorm divides by its σ, and so takes that off both the
    way there and a gradient's straight way back.
    """

    lengths: Float[Tensor, "S1 T"]
    kept: Float[Tensor, "S1 T"]


class Branches(NamedTuple):
    """What a run added to its stream, and the dot products that any placement can be worked out from.

    - `layers`, `parts` (S): which layer wrote a branch, and what in it: "attn", "cross", "ffn", or "both" where
      attention and feed-forward stand side by side.
    - `lengths` (T, S + 1): of the stream as it was recorded, before the first branch and after each.
    - `mean` (T,): of the channels of the stream before the first branch.
    - `products` (T, P): of that stream and each branch with the ones before and itself, row by row of the lower
      triangle, P = (S + 1)(S + 2) / 2; all less the mean of their channels.
    """

    layers: list[int]
    parts: list[str]
    lengths: Float[np.ndarray, "T S1"]
    mean: Float[np.ndarray, "T"]
    products: Float[np.ndarray, "T P"]


def chain(
    start: Float[Tensor, "T d"], branches: Float[Tensor, "S T d"], placement: Placement, alpha: float, eps: float
) -> Chain:
    """The stream under one placement, step by step; norms without γ and β. `alpha` counts in "deep" and "branch"."""
    x = start.double()
    kept = torch.ones(len(x), dtype=x.dtype)
    lengths, factors = [x.norm(dim=-1)], [kept]
    for branch in branches.double():
        x, factor = step(x, branch, placement, alpha, eps)
        kept = kept * factor
        lengths.append(x.norm(dim=-1))
        factors.append(kept)
    return Chain(torch.stack(lengths), torch.stack(factors))


def step(
    x: Float[Tensor, "T d"], branch: Float[Tensor, "T d"], placement: Placement, alpha: float, eps: float
) -> tuple[Float[Tensor, "T d"], Float[Tensor, "T"]]:
    """The stream after one sub-layer, and the factor that x got in it."""
    one = torch.ones(len(x), dtype=x.dtype)
    if placement == "pre":
        return x + branch, one
    if placement == "sandwich":
        return x + _centred(branch) / _deviation(branch, eps)[:, None], one
    residual, added = {"post": (1.0, 1.0), "deep": (alpha, 1.0), "branch": (1.0, alpha)}[placement]
    total = residual * x + added * branch
    deviation = _deviation(total, eps)
    return _centred(total) / deviation[:, None], residual / deviation


def _centred(x: Float[Tensor, "*batch d"]) -> Float[Tensor, "*batch d"]:
    return x - x.mean(-1, keepdim=True)


def _deviation(x: Float[Tensor, "*batch d"], eps: float) -> Float[Tensor, "*batch"]:
    return torch.sqrt(_centred(x).square().mean(-1) + eps)


def layer_branches(
    lm: LanguageModel, stream: Float[np.ndarray, "depths T d"], what: Intervention = NOTHING
) -> Iterator[dict[str, Float[Tensor, "T d"]]]:
    """What each layer of a run added to its stream, by part, in the order of the computation.

    The last part is the rest of what the stream gained, so that the feed-forward, most of a layer's work, is not run
    again. What a patch changed in the stream after a layer counts as part of it.
    """
    block = lm.net.block(0)
    last = "both" if block.parallel else "ffn"
    for wrote, before, after in zip(_before_the_last(lm, stream, what), stream[:-1], stream[1:], strict=True):
        rest = torch.from_numpy(after).double() - torch.from_numpy(before).double()
        for vectors in wrote.values():
            rest = rest - vectors
        yield wrote | {last: rest}


def _before_the_last(
    lm: LanguageModel, stream: Float[np.ndarray, "depths T d"], what: Intervention
) -> Iterator[dict[str, Float[Tensor, "T d"]]]:
    """What all parts of a layer but the last wrote: nothing where they stand side by side."""
    block = lm.net.block(0)
    if block.parallel:
        yield from ({} for _ in stream[:-1])
    elif block.extra_sublayers:
        parts = ["attn", *block.extra_sublayers]
        for seen in each_layer(lm, stream, what, *(f"{part}_out" for part in parts)):
            yield {part: seen[f"{part}_out"].double().cpu() for part in parts}
    else:
        at = Pass(lm.net.positions(0, stream.shape[1]))
        for layer, before in enumerate(stream[:-1]):
            block = lm.net.block(layer)
            with torch.inference_mode(), intervened(lm.net, what):
                wrote = block.attend(on_device(lm, before)[None], at)[0]
            yield {"attn": wrote.double().cpu()}


@in_pieces
def run_branches(
    lm: LanguageModel, stream: Float[np.ndarray, "depths T d"], what: Intervention = NOTHING
) -> Work[Branches]:
    """The branches of a run; `what` is its intervention. A layer is a piece of the work."""
    layers: list[int] = []
    parts: list[str] = []
    vectors = [torch.from_numpy(stream[0])]
    for layer, wrote in enumerate(layer_branches(lm, stream, what)):
        layers += [layer] * len(wrote)
        parts += wrote
        vectors += [vector.float().cpu() for vector in wrote.values()]
        yield
    every = torch.stack(vectors, 1)
    tokens = every.split(TOKENS_AT_ONCE)
    return Branches(
        layers,
        parts,
        torch.cat([some.double().cumsum(1).norm(dim=-1) for some in tokens]).float().numpy(),
        every[:, 0].mean(-1).numpy(),
        torch.cat([_products(some) for some in tokens]).numpy(),
    )


def _products(vectors: Float[Tensor, "T S1 d"]) -> Float[Tensor, "T P"]:
    centred = _centred(vectors.double())
    rows, columns = torch.tril_indices(vectors.shape[1], vectors.shape[1])
    return (centred @ centred.mT)[:, rows, columns].float()
