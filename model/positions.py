"""Rotary position embedding (Su et al. 2021, arXiv 2104.09864) and the ways to stretch it to longer contexts.

Pairs are the half-split ones, (i, i + head_dim/2), since Hugging Face stores LLaMA's weights so. Meta's own files use
the interleaved pairs (2i, 2i+1); the two differ by a fixed permutation of the rows of W_Q and W_K.
"""

import math
from functools import lru_cache
from typing import NamedTuple

import torch
from jaxtyping import Float
from torch import Tensor

from .config import LlamaConfig, RopeScaling


class RopeFrequencies(NamedTuple):
    """`inv_freq` in radians per token, one a pair, fastest first; cos and sin are multiplied by `attention_scaling`."""

    inv_freq: Float[Tensor, "pairs"]
    attention_scaling: float


class Rotation(NamedTuple):
    """cos and sin of every pair's angle for `rotate`: both halves of head_dim, sin with the sign of its half."""

    cos: Float[Tensor, "T head_dim"]
    sin: Float[Tensor, "T head_dim"]


def rope_frequencies(config: LlamaConfig, total_tokens: int = 0, device: torch.device | str = "cpu") -> RopeFrequencies:
    """Frequencies theta^(-2i/head_dim) of a model's pairs in float32, after its scaling.

    `total_tokens`, the length of the sequence so far, matters to dynamic NTK alone.
    """
    grows = config.rope_scaling is not None and config.rope_scaling.kind == "dynamic"
    return _frequencies(config, max(total_tokens, config.max_context) if grows else 0, torch.device(device))


@lru_cache(maxsize=64)  # asked for at every step of a generation
def _frequencies(config: LlamaConfig, total_tokens: int, device: torch.device) -> RopeFrequencies:
    inv_freq, attention_scaling = _scaled(config, total_tokens)
    return RopeFrequencies(inv_freq.to(device), attention_scaling)


def _scaled(config: LlamaConfig, total_tokens: int) -> RopeFrequencies:
    scaling, dim = config.rope_scaling, config.head_dim
    inv_freq = _unscaled(config.rope_theta, dim)
    if scaling is None:
        return RopeFrequencies(inv_freq, 1.0)
    if scaling.kind == "linear":  # kaiokendev 2023: positions are squeezed by the factor
        return RopeFrequencies(inv_freq / scaling.factor, 1.0)
    if scaling.kind == "dynamic":
        return RopeFrequencies(_unscaled(_dynamic_theta(config, scaling, total_tokens), dim), 1.0)
    if scaling.kind == "llama3":
        return RopeFrequencies(_llama3(inv_freq, scaling), 1.0)
    return RopeFrequencies(_yarn(inv_freq, config.rope_theta, dim, scaling), _yarn_attention(scaling))


def rotation(frequencies: RopeFrequencies, start: int, count: int, dtype: torch.dtype = torch.float32) -> Rotation:
    """The rotation of positions start … start + count - 1, on the device of the frequencies."""
    inv_freq = frequencies.inv_freq
    positions = torch.arange(start, start + count, device=inv_freq.device, dtype=torch.float32)
    angles = positions[:, None] * inv_freq
    cos = (angles.cos() * frequencies.attention_scaling).to(dtype)
    sin = (angles.sin() * frequencies.attention_scaling).to(dtype)
    return Rotation(torch.cat((cos, cos), -1), torch.cat((-sin, sin), -1))


def rotate(x: Float[Tensor, "B heads T head_dim"], rope: Rotation) -> Float[Tensor, "B heads T head_dim"]:
    """Turn each pair (a, b) of every head by its angle: (a·cos - b·sin, b·cos + a·sin)."""
    a, b = x.chunk(2, -1)
    return torch.addcmul(x * rope.cos, torch.cat((b, a), -1), rope.sin)


def _unscaled(theta: float, dim: int) -> Float[Tensor, "pairs"]:
    return 1.0 / theta ** (torch.arange(0, dim, 2, dtype=torch.float32) / dim)


def _dynamic_theta(config: LlamaConfig, scaling: RopeScaling, total_tokens: int) -> float:
    """Dynamic NTK (bloc97 and emozilla 2023): past the trained context the base grows with the sequence."""
    stretch = total_tokens / config.max_context
    dim = config.head_dim
    return config.rope_theta * (scaling.factor * stretch - (scaling.factor - 1)) ** (dim / (dim - 2))


def _llama3(inv_freq: Float[Tensor, "pairs"], scaling: RopeScaling) -> Float[Tensor, "pairs"]:
    """Llama 3.1: long waves are slowed by the factor, short ones kept, those between blended (llama-models)."""
    low, high = scaling.low_freq_factor, scaling.high_freq_factor
    assert low is not None  # from_hf requires both
    assert high is not None
    turns = scaling.original_max_context * inv_freq / (2 * math.pi)  # turns within the original context
    keep = ((turns - low) / (high - low)).clamp(0, 1) if high > low else (turns >= low).float()
    return keep * inv_freq + (1 - keep) * inv_freq / scaling.factor


def _yarn(inv_freq: Float[Tensor, "pairs"], theta: float, dim: int, scaling: RopeScaling) -> Float[Tensor, "pairs"]:
    """YaRN (Peng et al. 2023, arXiv 2309.00071, section 3.2): a ramp over pairs from kept to interpolated."""

    def pair_with(turns: float) -> float:
        """The (fractional) pair that makes this many turns within the original context."""
        return dim * math.log(scaling.original_max_context / (turns * 2 * math.pi)) / (2 * math.log(theta))

    low, high = pair_with(scaling.beta_fast), pair_with(scaling.beta_slow)
    if scaling.truncate:
        low, high = math.floor(low), math.ceil(high)
    low, high = max(low, 0), min(high, dim - 1)
    span = (high - low) or 0.001  # both ends on one pair: a step
    ramp = ((torch.arange(dim // 2, dtype=torch.float32) - low) / span).clamp(0, 1)
    return inv_freq / scaling.factor * ramp + inv_freq * (1 - ramp)


def _yarn_attention(scaling: RopeScaling) -> float:
    """YaRN's temperature, folded into cos and sin: 0.1·ln(factor) + 1 unless the checkpoint says otherwise (eq. 22)."""

    def mscale(weight: float) -> float:
        return 0.1 * weight * math.log(scaling.factor) + 1.0 if scaling.factor > 1 else 1.0

    if scaling.attention_factor is not None:
        return scaling.attention_factor
    if scaling.mscale and scaling.mscale_all_dim:
        return mscale(scaling.mscale) / mscale(scaling.mscale_all_dim)
    return mscale(1.0)
