"""What the chapter on the norms asks of a run: the vectors before a norm, and the largest channels through depth.

Symbols: T tokens, L n_layers, d d_model, K channels.
"""

from typing import Literal, NamedTuple

import numpy as np
from jaxtyping import Float, Int

from model import LanguageModel, LayerTrace
from model.norms import LayerNorm

from .messages.norm import NormDepthDetail, NormVectorsDetail
from .payload import maybe, pack

Norm = Literal["attn", "cross", "ffn", "final"]
NORMS: tuple[Norm, ...] = ("attn", "cross", "ffn", "final")
CHANNELS = 6


class Depth(NamedTuple):
    """The K channels of the residual stream that reach the largest magnitudes anywhere in a run, largest first.

    `values` are theirs before each layer and after the last; `median` is the median magnitude of all d channels there.
    """

    channels: Int[np.ndarray, "K"]
    values: Float[np.ndarray, "L1 T K"]
    median: Float[np.ndarray, "L1 T"]


class Learned(NamedTuple):
    """What a norm has learned of each channel: its factor γ and, a LayerNorm, what it adds, β."""

    gamma: Float[np.ndarray, "d"]
    beta: Float[np.ndarray, "d"] | None


def norms_of(lm: LanguageModel) -> list[Norm]:
    """The norms that a network has: where one stands before attention and feed-forward both, it is called "attn"."""
    layers = lm.net.block(0).norms
    return [name for name in NORMS if name == "final" or f"{name}_norm" in layers]


def vectors_before(lm: LanguageModel, layer: LayerTrace, norm: Norm) -> Float[np.ndarray, "T d"]:
    """The residual stream that one of a layer's norms reads."""
    return getattr(layer, lm.net.block(0).norms[f"{norm}_norm"])


def learned_of(lm: LanguageModel, norm: Norm, layer: int) -> Learned:
    """What one norm has learned; `layer` does not matter to the final one."""
    module = lm.net.norm if norm == "final" else getattr(lm.net.block(layer), f"{norm}_norm")
    beta = module.bias.float().cpu().numpy() if isinstance(module, LayerNorm) else None
    return Learned(module.weight.float().cpu().numpy(), beta)


def depth_info(residual: Float[np.ndarray, "L1 T d"], count: int = CHANNELS) -> Depth:
    """The largest channels of a run's residual stream; ties go to the lower index."""
    magnitude = np.abs(residual)
    channels = np.argsort(-magnitude.max(axis=(0, 1)), kind="stable")[:count]
    return Depth(channels, residual[:, :, channels], np.median(magnitude, axis=-1))


def norm_payload(before: Float[np.ndarray, "T d"], learned: Learned) -> NormVectorsDetail:
    """The vectors that a norm reads, of all tokens or of one, and its γ and β."""
    return {"before": pack(before, "f4"), "gamma": pack(learned.gamma, "f4"), "beta": maybe(learned.beta, "f4")}


def depth_payload(depth: Depth) -> NormDepthDetail:
    """The largest channels through depth."""
    channels = [int(channel) for channel in depth.channels]
    return {"channels": channels, "values": pack(depth.values, "f4"), "median": pack(depth.median, "f4")}
