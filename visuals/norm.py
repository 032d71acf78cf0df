"""What the chapter on RMSNorm asks of a run: the vectors before a norm, and the largest channels through depth.

Symbols: T tokens, L n_layers, d d_model, K channels.
"""

from typing import Literal, NamedTuple

import numpy as np
from jaxtyping import Float, Int

from model import LanguageModel, LayerTrace

from .payload import Message, pack

Norm = Literal["attn", "ffn", "final"]
NORMS: tuple[Norm, ...] = ("attn", "ffn", "final")
CHANNELS = 6


class Depth(NamedTuple):
    """The K channels of the residual stream that reach the largest magnitudes anywhere in a run, largest first.

    `values` are theirs before each layer and after the last; `median` is the median magnitude of all d channels there.
    """

    channels: Int[np.ndarray, "K"]
    values: Float[np.ndarray, "L1 T K"]
    median: Float[np.ndarray, "L1 T"]


def vectors_before(layer: LayerTrace, norm: Norm) -> Float[np.ndarray, "T d"]:
    """The residual stream that one of a layer's two norms reads."""
    return layer.resid_in if norm == "attn" else layer.resid_mid


def gamma_of(lm: LanguageModel, norm: Norm, layer: int) -> Float[np.ndarray, "d"]:
    """The learned factor of each channel, γ, of one norm; `layer` does not matter to the final one."""
    block = lm.net.layers[layer]
    module = {"attn": block.attn_norm, "ffn": block.ffn_norm, "final": lm.net.norm}[norm]
    return module.weight.float().cpu().numpy()


def depth_info(residual: Float[np.ndarray, "L1 T d"], count: int = CHANNELS) -> Depth:
    """The largest channels of a run's residual stream; ties go to the lower index."""
    magnitude = np.abs(residual)
    channels = np.argsort(-magnitude.max(axis=(0, 1)), kind="stable")[:count]
    return Depth(channels, residual[:, :, channels], np.median(magnitude, axis=-1))


def norm_payload(before: Float[np.ndarray, "T d"], gamma: Float[np.ndarray, "d"]) -> Message:
    """The vectors that a norm reads, of all tokens or of one, and its γ."""
    return {"before": pack(before, "f4"), "gamma": pack(gamma, "f4")}


def depth_payload(depth: Depth) -> Message:
    """The largest channels through depth."""
    channels = [int(channel) for channel in depth.channels]
    return {"channels": channels, "values": pack(depth.values, "f4"), "median": pack(depth.median, "f4")}
