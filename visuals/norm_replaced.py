"""What the chapter on the norms asks of what stands elsewhere in RMSNorm's place, and in another place.

Symbols: T tokens, d d_model, n tokens that are sent.
"""

from typing import Any

import numpy as np
import torch
from jaxtyping import Float

from model import LanguageModel, LayerTrace
from model.network import StackName
from model.replaced.batch_norm import batch_statistics
from model.replaced.deep_norm import DeepScales, decoder_scales, encoder_scales, one_stack_scales
from model.replaced.norm_placement import Branches
from model.replaced.norm_speed import NormTimes, Timing, norm_times

from .messages.norm import NormKindsDetail, NormPlacementDetail, NormTimesDetail, Timed
from .norm import Norm
from .payload import maybe, pack


def branch_after(lm: LanguageModel, layer: LayerTrace, norm: Norm) -> Float[np.ndarray, "T d"]:
    """What the sub-layer adds that reads one of a layer's norms: both sub-layers' sum where they stand side by side."""
    if lm.net.block(0).parallel:
        return layer.attn_out + layer.ffn_out
    return getattr(layer, f"{norm}_out")


def times_of(lm: LanguageModel, before: Float[np.ndarray, "T d"]) -> NormTimes:
    """How long the norms take on what one of the network's norms reads, in its dtype, where it is."""
    return norm_times(torch.from_numpy(before).to(lm.device, lm.dtype), lm.config.norm_eps)


def deep_scales(stack: StackName | None, layers: int, config: Any) -> DeepScales:
    """DeepNorm's α and β for a stack of so many layers; `config` is the whole network's."""
    if stack == "encoder":
        return encoder_scales(layers, config.n_layers)
    return decoder_scales(layers) if stack == "decoder" else one_stack_scales(layers)


def kinds_payload(
    before: Float[np.ndarray, "T d"],
    branch: Float[np.ndarray, "T d"] | None,
    alpha: float,
    first: int,
    count: int,
) -> NormKindsDetail:
    """What several norms would make of one norm's input, at `count` tokens from `first` on."""
    mean, variance = (one.numpy() for one in batch_statistics(torch.from_numpy(before)))
    some = slice(first, first + count)
    return {
        "first": first,
        "before": pack(before[some], "f4"),
        "mean": pack(mean, "f4"),
        "variance": pack(variance, "f4"),
        "branch": maybe(None if branch is None else branch[some], "f4"),
        "alpha": alpha,
    }


def times_payload(times: NormTimes) -> NormTimesDetail:
    """How long the norms took."""
    return {
        "layer_fused": _timed(times.layer_fused),
        "rms_fused": _timed(times.rms_fused),
        "layer_written": _timed(times.layer_written),
        "rms_written": _timed(times.rms_written),
        "rounds": times.rounds,
        "threads": times.threads,
        "bytes_layer": times.bytes_layer,
        "bytes_rms": times.bytes_rms,
    }


def _timed(timing: Timing) -> Timed:
    return {"median": 1e6 * timing.median, "low": 1e6 * timing.low, "high": 1e6 * timing.high}


def placement_payload(branches: Branches, decoder_layers: int | None, first: int, count: int) -> NormPlacementDetail:
    """The branches of a run at `count` tokens from `first` on."""
    some = slice(first, first + count)
    return {
        "first": first,
        "layers": branches.layers,
        "parts": branches.parts,
        "lengths": pack(branches.lengths[some], "f4"),
        "mean": pack(branches.mean[some], "f4"),
        "products": pack(branches.products[some], "f4"),
        "decoder_layers": decoder_layers,
    }
