"""Where a layer looks in a long text: its weights a few rows at a time, and a map of tiles of any text's length.

All weights of a layer are (n_heads, T, T): of SmolLM2 and 8,192 tokens 2.4 GB. The recorded stream is read here in
stretches of tokens, each beside the keys and values of those before, so no more than some rows are there at once.
"""

from collections.abc import Iterator

import numpy as np
import torch
import torch.nn.functional as F
from jaxtyping import Float
from torch import Tensor

from ..forward_pass import Pass
from ..growth import keeps_its_beginning
from ..interventions import intervened
from ..refusals import refusal
from ..taps import capture
from ..trace import Trace

ROWS = 64  # at a time
TILES = 256  # along each side of a map


def attention_rows(trace: Trace, layer: int, rows: int = ROWS) -> Iterator[Float[np.ndarray, "n_heads rows S"]]:
    """The weights of a layer of a run, `rows` queries at a time, each over the S tokens up to the last of them.

    Of tokens that all see each other (a prefix mask) none is without the others. Raises IndexError for a layer that the
    model does not have, and ValueError where tokens see those after them, or where the text's length changes what its
    first tokens record: `trace.layer` has those. GlassLlamaError for a number of rows below 1.
    """
    for weights in _stretches(trace, layer, rows):
        yield weights.float().cpu().numpy()


def attention_map(trace: Trace, layer: int, tiles: int = TILES) -> Float[np.ndarray, "n_heads tiles tiles"]:
    """The largest weight in each tile of a layer's maps, which have no more than `tiles` rows and columns.

    A tile is `edge` tokens wide and high, ceil(T / tiles); the last are cut off by the end of the text. The largest and
    not the mean: a stripe that is one token wide would be lost in a mean. Raises as `attention_rows` does.
    """
    _check_count("tiles", tiles)
    count = len(trace.token_ids)
    edge = -(-count // tiles)
    sides = -(-count // edge)
    rows = edge * max(1, ROWS // edge)  # whole tiles
    found = torch.zeros(trace.network.config.n_heads, sides, sides)
    begun = 0
    for weights in _stretches(trace, layer, rows):
        _, height, width = weights.shape
        padded = F.pad(weights.float(), (0, -width % edge, 0, -height % edge))
        shrunk = F.max_pool2d(padded[None], edge)[0].cpu()
        first = begun // edge
        found[:, first : first + shrunk.shape[1], : shrunk.shape[2]] = shrunk
        begun += height
    return found.numpy()


def _check_count(field: str, count: int) -> None:
    if count < 1:
        raise refusal(field, count, "a whole number of at least 1")


def _stretches(trace: Trace, layer: int, rows: int) -> Iterator[Float[Tensor, "n_heads rows S"]]:
    lm, count = trace.lm, len(trace.token_ids)
    trace.check_layer(layer)
    _check_count("rows", rows)
    if not keeps_its_beginning(trace, count):
        raise ValueError("expected a causal network whose positions do not depend on the text's length")
    net, block = lm.net, lm.net.block(layer)
    cache = net.cache(count)
    first = -(-max(rows, net.prefix) // rows) * rows  # the prefix in one stretch, and whole tiles
    starts = [0, *range(first, count, rows)]
    for start, end in zip(starts, [*starts[1:], count], strict=True):
        x = torch.as_tensor(trace.residual[layer, start:end], dtype=lm.dtype, device=lm.device)[None]
        with (
            torch.inference_mode(),
            intervened(net, trace.intervention.lasting),
            capture(block, "attn.attention") as seen,
        ):
            block(x, Pass(net.positions(start, end - start), layer, cache, start, eager=True))
        yield seen["attn.attention"][0]
