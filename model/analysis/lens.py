"""What the residual stream already says before the last layer, and who wrote it: the logit lens, and contributions.

Symbols: T tokens, d d_model, L n_layers, V vocab_size, K how many are kept.
"""

from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np
import torch
from jaxtyping import Float, Int
from torch import Tensor, nn

from ..checkpoint import LanguageModel
from ..interventions import NOTHING, Intervention
from ..norms import LayerNorm
from ..pieces import Work, in_pieces, readings_of_a_piece
from ..tiled import weight_rows
from .stream import each_layer, on_device

KEPT = 5
# Logits held at once, as a count of numbers: 64 MiB of float32.
CHUNK = 1 << 24


class LogitLens(NamedTuple):
    """What final norm and head make of T vectors of the stream.

    `ids` and `probabilities` (T, K) are the most probable tokens, best first; `rank` (T,) counts the tokens that are
    more probable than the target; `logit` and `probability` (T,) are the target's own. All over the whole vocabulary.
    """

    ids: Int[np.ndarray, "T K"]
    probabilities: Float[np.ndarray, "T K"]
    rank: Int[np.ndarray, "T"]
    logit: Float[np.ndarray, "T"]
    probability: Float[np.ndarray, "T"]


class Contributions(NamedTuple):
    """One logit of each token, taken apart: what each part of the network wrote, times the direction that it reads.

    `embedding` (T,), `attention` and `ffn` (L, T) and `patched` (T,) sum to `logit` (T,) but for rounding; `patched` is
    what an intervention put in the stream's place, less what stood there. `logit` is the network's own, from final norm
    and head; `scale` (T,) is what the final norm divides by. Where that norm adds a bias, `constant` (T,) is its part
    of the sum; where layers look at a source, `cross` (L, T) is what that adds; otherwise None. All float64.
    """

    embedding: Float[np.ndarray, "T"]
    attention: Float[np.ndarray, "L T"]
    ffn: Float[np.ndarray, "L T"]
    patched: Float[np.ndarray, "T"]
    logit: Float[np.ndarray, "T"]
    scale: Float[np.ndarray, "T"]
    constant: Float[np.ndarray, "T"] | None = None
    cross: Float[np.ndarray, "L T"] | None = None


def best_tokens(lm: LanguageModel, stream: Float[np.ndarray, "T d"]) -> Int[np.ndarray, "T"]:
    """The most probable next token at each position, read off the stream at this point."""
    return np.concatenate([logits.argmax(-1).cpu().numpy() for _, logits in unembed(lm, stream)])


def normalised(lm: LanguageModel, vector: Float[np.ndarray, "d"]) -> Float[np.ndarray, "d"]:
    """One vector after the last layer as the final norm leaves it."""
    with torch.inference_mode():
        return lm.net.norm(on_device(lm, vector)).float().cpu().numpy()


def norm_and_head(lm: LanguageModel, vector: Float[np.ndarray, "d"]) -> list[Float[np.ndarray, "n"]]:
    """One vector after the last layer: normalised (d,), the final norm's γ (d,), and its logits (V,). float32."""
    with torch.inference_mode():
        normed = lm.net.norm(on_device(lm, vector))
        values = (normed, lm.net.norm.weight, lm.net.unembed(normed))
        return [value.float().cpu().numpy() for value in values]


def runners_up(
    lm: LanguageModel, stream: Float[np.ndarray, "T d"], targets: Int[np.ndarray, "T"]
) -> Int[np.ndarray, "T"]:
    """At each position the most probable token other than the target."""
    top = np.concatenate([logits.topk(2).indices.cpu().numpy() for _, logits in unembed(lm, stream)])
    return np.where(top[:, 0] == targets, top[:, 1], top[:, 0])


def logit_lens(
    lm: LanguageModel, stream: Float[np.ndarray, "T d"], targets: Int[np.ndarray, "T"], count: int = KEPT
) -> LogitLens:
    """The logit lens (nostalgebraist 2020): the prediction if all layers after this point were skipped.

    Probabilities are a softmax in float32: within 1e-5 of one in float64, as a share of themselves, where they are
    above 1e-30.
    """
    return _together([_read(logits, targets[rows], count) for rows, logits in unembed(lm, stream)])


@in_pieces
def lens_at_every_depth(
    lm: LanguageModel, stream: Float[np.ndarray, "depths T d"], targets: Int[np.ndarray, "T"]
) -> Work[list[LogitLens]]:
    """The logit lens before each layer and after the last.

    A product of few rows is slow, so depths are read together, as many rows as make a piece of the work.
    """
    depths, tokens = stream.shape[:2]
    wanted = np.tile(targets, depths)
    parts: list[LogitLens] = []
    for rows, logits in unembed(lm, stream.reshape(depths * tokens, -1)):
        parts.append(_read(logits, wanted[rows], KEPT))
        yield
    whole = _together(parts)
    starts = range(0, depths * tokens, tokens)
    return [LogitLens(*(values[start : start + tokens] for values in whole)) for start in starts]


def _read(logits: Float[Tensor, "rows V"], targets: Int[np.ndarray, "rows"], count: int) -> LogitLens:
    wanted = torch.from_numpy(targets).to(logits.device)[:, None]
    probabilities = logits.softmax(-1)
    total = probabilities.sum(-1, keepdim=True)  # 1 but for the rounding of softmax's own sum, which is not pairwise
    top, target = logits.topk(min(count, logits.shape[-1])).indices, logits.gather(-1, wanted)
    best, own = (probabilities.gather(-1, ids) / total for ids in (top, wanted))
    read = (top, best, (logits > target).sum(-1), target[:, 0], own[:, 0])
    return LogitLens(*(values.cpu().numpy() for values in read))


def _together(parts: Sequence[LogitLens]) -> LogitLens:
    """Readings of rows that follow each other, as one."""
    return LogitLens(*(np.concatenate(column) for column in zip(*parts, strict=True)))


@in_pieces
def contributions(
    lm: LanguageModel,
    stream: Float[np.ndarray, "depths T d"],
    targets: Int[np.ndarray, "T"],
    against: Int[np.ndarray, "T"] | None = None,
    what: Intervention = NOTHING,
) -> Work[Contributions]:
    """What each part of the network adds to the logit of `targets[t]` at every position t of a run's stream.

    A logit is norm(x)·W[target], with x the sum of all that was written to the stream. With what the norm divides by
    frozen at its value in this run that is linear in x: a part's share is its vector ⊙ γ / RMS · W[target], and a
    LayerNorm takes the vector's mean from it first. With `against`, all is for the logit of the target less that of
    `against[t]`: softmax weighs differences alone. `what` is the run's intervention.
    """
    net = lm.net
    last = on_device(lm, stream[-1])
    scale = net.norm.divisor(last).double()
    reads = _rows(net.head, targets) - (0 if against is None else _rows(net.head, against))
    direction, constant = net.norm.fold_into(reads * net.head_scale)
    direction = direction / scale[:, None]

    def share(written: Tensor) -> np.ndarray:
        return (written.double() * direction).sum(-1).cpu().numpy()

    attention, ffn, patched = [], [], np.zeros(len(targets))
    further = [f"{name}_out" for name in net.block(0).extra_sublayers]
    cross = {name: [] for name in further}
    every = each_layer(lm, stream, what, "attn_out", "ffn_out", "resid_out", *further)
    for seen, after in zip(every, stream[1:], strict=True):
        attention.append(share(seen["attn_out"]))
        ffn.append(share(seen["ffn_out"]))
        for name in further:
            cross[name].append(share(seen[name]))
        if what.patches:
            patched += share(on_device(lm, after) - seen["resid_out"])
        yield
    logit = _logits_of(lm, stream[-1], targets) - (0 if against is None else _logits_of(lm, stream[-1], against))
    return Contributions(
        embedding=share(on_device(lm, stream[0])),
        attention=np.stack(attention),
        ffn=np.stack(ffn),
        patched=patched,
        logit=logit,
        scale=scale.cpu().numpy(),
        constant=constant.cpu().numpy() if isinstance(net.norm, LayerNorm) else None,
        cross=np.stack(cross["cross_out"]) if cross else None,
    )


def unembed(lm: LanguageModel, stream: Float[np.ndarray, "T d"]) -> Iterator[tuple[slice, Float[Tensor, "rows V"]]]:
    """Final norm and head on vectors of the stream, a piece of work at a time: (which rows, their float32 logits)."""
    rows = min(readings_of_a_piece(lm), max(1, CHUNK // lm.config.vocab_size))
    for start in range(0, len(stream), rows):
        part = slice(start, min(start + rows, len(stream)))
        with torch.inference_mode():
            logits = lm.net.logits(on_device(lm, stream[part])).float()
        yield part, logits


def _rows(head: nn.Linear, ids: np.ndarray) -> Float[Tensor, "T d"]:
    return weight_rows(head, ids.tolist()).detach().double()


def _logits_of(lm: LanguageModel, stream: np.ndarray, ids: np.ndarray) -> np.ndarray:
    """(T,) float64: at each position the logit of one token."""
    picked = [
        logits.gather(-1, torch.from_numpy(ids[rows]).to(logits.device)[:, None])[:, 0].double().cpu().numpy()
        for rows, logits in unembed(lm, stream)
    ]
    return np.concatenate(picked)
