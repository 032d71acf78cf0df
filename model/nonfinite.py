"""Finding the first value of a run that is not finite: NaN, or larger than the dtype holds.

Such a value spoils everything computed from it, so only the first one shows what went wrong.
"""

from collections.abc import Iterator, Sequence
from typing import Literal, NamedTuple

import numpy as np
import torch
from jaxtyping import Float
from torch import Tensor

from .errors import GlassLlamaError
from .forward_pass import Pass
from .network import Layer, Network
from .shapes import array_taps, figures, shapes
from .taps import capture

# In the order of the computation. "stream" is the residual stream that a layer (L: the final norm) reads, where a patch
# put it there.
Part = Literal[
    "embedding", "stream", "attn_norm", "attn", "cross_norm", "cross", "ffn_norm", "ffn", "final_norm", "head"
]
WORDS: dict[Part, str] = {
    "embedding": "the embedding",
    "stream": "the residual stream that it reads",
    "attn_norm": "the norm before attention",
    "attn": "attention",
    "cross_norm": "the norm before cross-attention",
    "cross": "cross-attention",
    "ffn_norm": "the norm before the feed-forward",
    "ffn": "the feed-forward",
    "final_norm": "the final norm",
    "head": "the head",
}


class NonFinite(NamedTuple):
    """The first value of a run that is not finite.

    `layer` is None for what is in no layer. `value` is the name of the value within the part: a tap's, or a norm's
    figure. `token` is the first position at which it is not finite, and `kind` what stands there.
    """

    part: Part
    layer: int | None
    value: str
    token: int
    kind: Literal["NaN", "inf"]

    def __str__(self) -> str:
        place = WORDS[self.part] if self.layer is None else f"layer {self.layer}, {WORDS[self.part]}"
        return f"{place} ({self.value})"


class NamedValue(NamedTuple):
    """A value on its way through the network; `axis` is that of the tokens."""

    part: Part
    name: str
    value: Tensor
    axis: int


def all_finite(kept: dict[str, np.ndarray], logits: Float[np.ndarray, "V"]) -> bool:
    """Whether a run is finite in all that it computed, told from its norms' figures and its logits alone.

    A value that is not finite stays in its token's stream, which every norm squares.
    """
    return all(np.isfinite(values).all() for values in (*kept.values(), logits))


def first_nonfinite(
    net: Network,
    residual: Float[np.ndarray, "layers T d"],
    figures: dict[str, np.ndarray],
    logits: Float[np.ndarray, "V"],
) -> NonFinite | None:
    """The first value that is not finite, of a run that recorded these arrays; None where all are finite.

    Runs the layers once more from their recorded input, up to the one in which the value arose. Whatever was changed in
    the run must be changed in the network now (`intervened`).
    """
    if found := _first([_named("embedding", "resid_in", residual[0])]):
        return found
    positions = net.positions(0, residual.shape[1])
    by_layer = [values for values in figures.values() if values.ndim == 2]
    with torch.inference_mode():
        for i in range(len(residual) - 1):
            stream = _named("stream", "resid_in", residual[i])
            if found := _first([stream]):  # and the layer before gave none: it was put there
                return found._replace(layer=i)
            if np.isfinite(residual[i + 1]).all() and all(np.isfinite(values[i]).all() for values in by_layer):
                continue
            block, x = net.block(i), stream.value.to(net.embed.weight)
            with capture(block, "*") as seen:
                block(x, Pass(positions))
            if found := _first(_values(block, shapes(net, i), seen)):
                return found._replace(layer=i)
        last = _named("stream", "final_resid", residual[-1])
        return _first([last]) or _first(_after(net, last.value.to(net.embed.weight), logits))


def not_finite_error(
    first: NonFinite, dtype: torch.dtype, pieces: Sequence[str], of_encoder: bool = False
) -> GlassLlamaError:
    """The error for a run of these tokens in which this value is not finite."""
    name = str(dtype).removeprefix("torch.")
    mend = "load it in float32 or bfloat16" if dtype == torch.float16 else "fetch the checkpoint again"
    piece, place = pieces[first.token], f"{first} of the encoder" if of_encoder else f"{first}"
    said = f"The first value that is not finite ({first.kind}) arose in {place}, at token {first.token}, {piece!r}. "
    said += f"The values are too large for {name}, or the weights are damaged: {mend}."
    code = "not_finite_encoder" if of_encoder else "not_finite"
    return GlassLlamaError(code, said, **first._asdict(), piece=piece, dtype=name)


def _values(block: Layer, dimensions: dict[str, tuple[str, ...]], seen: dict[str, Tensor]) -> Iterator[NamedValue]:
    """Every value of a layer in the order in which it was computed, with the norms' figures."""
    arrays = {tap: dimensions[name] for name, tap in array_taps(block).items() if name in dimensions}
    part: Part = "stream"
    for tap, value in seen.items():
        if "S" in arrays.get(tap, ()):  # of the source's tokens, not of these
            continue
        part = _part(tap, block, part)
        yield NamedValue(part, tap, value, 1 + arrays[tap].index("T") if tap in arrays else 1)
        for norm, reads in block.norms.items():
            if reads == tap:
                for what, figure in figures(getattr(block, norm)).items():
                    yield NamedValue(_norm(norm), f"{norm}_{what}", figure(value), 1)


def _part(tap: str, block: Layer, last: Part) -> Part:
    """The part of a layer that a tap belongs to; a sum with the stream belongs to what was added last."""
    first = tap.partition(".")[0]
    if first.removesuffix("_normed") + "_norm" in block.norms and first.endswith("_normed"):
        return _norm(first.removesuffix("ed"))
    for part in ("attn", "cross", "ffn"):
        if first in (part, f"{part}_out"):
            return part
    return last


def _norm(name: str) -> Part:
    return "attn_norm" if name == "attn_norm" else "cross_norm" if name == "cross_norm" else "ffn_norm"


def _after(net: Network, stream: Float[Tensor, "B T d"], logits: Float[np.ndarray, "V"]) -> Iterator[NamedValue]:
    """What comes after the last layer; the head reads the last token alone."""
    for what, figure in figures(net.norm).items():
        yield NamedValue("final_norm", f"final_norm_{what}", figure(stream), 1)
    yield NamedValue("final_norm", "final_normed", net.norm(stream), 1)
    scored = torch.zeros(1, stream.shape[1], len(logits))
    scored[0, -1] = torch.from_numpy(logits)
    yield NamedValue("head", "logits", scored, 1)


def _named(part: Part, name: str, array: Float[np.ndarray, "T d"]) -> NamedValue:
    return NamedValue(part, name, torch.from_numpy(array)[None], 1)


def _first(values: Iterator[NamedValue] | list[NamedValue]) -> NonFinite | None:
    """The first of these values that is not finite; `layer` is still to be filled in."""
    for part, name, value, axis in values:
        if not value.is_floating_point():
            continue
        spoilt = ~value.isfinite()
        if bool(spoilt.any()):
            at = spoilt.transpose(0, axis).flatten(1).any(1)
            token = int(at.int().argmax())
            there = value.transpose(0, axis)[token]
            kind = "NaN" if bool(there.isnan().any()) else "inf"
            return NonFinite(part, None, name, token, kind)
    return None
