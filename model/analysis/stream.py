"""The residual stream through depth: how long it is, and what each sub-layer writes to it.

Symbols: T tokens, d d_model, L n_layers. A stream (L + 1, T, d) is a Trace's `residual`: before each layer, and after
the last.
"""

from collections.abc import Iterator
from fnmatch import filter as matching
from typing import Literal, NamedTuple, get_args

import numpy as np
import torch
from jaxtyping import Float
from torch import Tensor

from ..checkpoint import LanguageModel
from ..forward_pass import Pass
from ..interventions import NOTHING, Intervention, intervened
from ..pieces import Work, in_pieces
from ..taps import capture

Site = Literal[
    "resid_in",
    "attn_normed",
    "attn_out",
    "resid_cross",
    "cross_normed",
    "cross_out",
    "resid_mid",
    "ffn_normed",
    "ffn_out",
    "resid_out",
]
SITES: tuple[Site, ...] = get_args(Site)


class StreamSizes(NamedTuple):
    """Euclidean norms by layer and token, and where the writing points. All float32.

    `resid` (L + 1, T) is the stream's norm; the others named as in SITES, (L, T) each, are those inside a layer;
    `final_normed` (T,) is the norm after the final RMSNorm. `attn_cosine`, `cross_cosine` and `ffn_cosine` (L, T) are
    the cosines between what the sub-layer adds and the stream that it reads (`resid_in`, `resid_cross`, `resid_mid`):
    NaN where one of the two is the zero vector, as it is for a sub-layer that is switched off, since there is no angle
    then. A site that the network does not have is None.
    """

    resid: np.ndarray
    attn_normed: np.ndarray
    attn_out: np.ndarray
    resid_mid: np.ndarray | None
    ffn_normed: np.ndarray | None
    ffn_out: np.ndarray
    final_normed: np.ndarray
    attn_cosine: np.ndarray
    ffn_cosine: np.ndarray
    resid_cross: np.ndarray | None
    cross_normed: np.ndarray | None
    cross_out: np.ndarray | None
    cross_cosine: np.ndarray | None


def each_layer(
    lm: LanguageModel, stream: Float[np.ndarray, "depths T d"], what: Intervention, *taps: str
) -> Iterator[dict[str, Float[Tensor, "T d"]]]:
    """The values at these taps of each block, layer by layer, recomputed from the layer's own input.

    `taps` are patterns as `capture` takes them, whose order the values keep; `what` is the run's intervention. As the
    run computed them, with fused attention, so that no layer's T × T weights are held. Nothing hangs on the network
    when a layer's values are told.
    """
    positions = lm.net.positions(0, stream.shape[1])
    for block, resid_in in zip(lm.net.layers, stream[:-1], strict=True):
        with torch.inference_mode(), intervened(lm.net, what), capture(block, *taps) as seen:
            block(on_device(lm, resid_in)[None], Pass(positions))
        yield {name: seen[name][0] for tap in taps for name in matching(seen, tap)}


def on_device(lm: LanguageModel, vectors: np.ndarray) -> Tensor:
    """Recorded vectors, back where the model is and in its dtype, which they were in before: nothing is rounded."""
    return torch.from_numpy(vectors).to(lm.device, lm.dtype)


@in_pieces
def stream_sizes(
    lm: LanguageModel, stream: Float[np.ndarray, "depths T d"], what: Intervention = NOTHING
) -> Work[StreamSizes]:
    """Measure a run's stream at every site of every layer; `what` is the run's intervention."""
    block = lm.net.block(0)
    sites = [name for name in SITES if hasattr(block, name)]
    norms: dict[str, list[Tensor]] = {name: [] for name in sites}
    written = [("attn", "resid_in"), ("ffn", block.norms[block.ffn_reads])]
    written += [(name, block.norms[f"{name}_norm"]) for name in block.extra_sublayers]
    cosines: dict[str, list[Tensor]] = {part: [] for part, _ in written}
    for seen in each_layer(lm, stream, what, *sites):
        for name, vectors in seen.items():
            norms[name].append(length(vectors))
        for part, before in written:
            cosines[part].append(cosine(seen[f"{part}_out"], seen[before]))
        yield
    with torch.inference_mode():
        final = length(lm.net.norm(on_device(lm, stream[-1])))
    table = {name: _table(rows) for name, rows in norms.items()}
    first, after = table.pop("resid_in"), table.pop("resid_out")
    return StreamSizes(
        resid=np.concatenate([first, after[-1:]]),
        attn_normed=table["attn_normed"],
        attn_out=table["attn_out"],
        resid_mid=table.get("resid_mid"),
        ffn_normed=table.get("ffn_normed"),
        ffn_out=table["ffn_out"],
        final_normed=final.float().cpu().numpy(),
        attn_cosine=_table(cosines["attn"]),
        ffn_cosine=_table(cosines["ffn"]),
        resid_cross=table.get("resid_cross"),
        cross_normed=table.get("cross_normed"),
        cross_out=table.get("cross_out"),
        cross_cosine=_table(cosines["cross"]) if "cross" in cosines else None,
    )


def length(vectors: Float[Tensor, "T d"]) -> Float[Tensor, "T"]:
    """√Σx², summed in float64."""
    return vectors.double().square().sum(-1).sqrt()


def cosine(a: Float[Tensor, "T d"], b: Float[Tensor, "T d"]) -> Float[Tensor, "T"]:
    """a·b / (‖a‖‖b‖), NaN where either is the zero vector."""
    return (a.double() * b.double()).sum(-1) / (length(a) * length(b))


def _table(rows: list[Tensor]) -> np.ndarray:
    return torch.stack(rows).float().cpu().numpy()
