"""Rotary position embedding (Su et al. 2021, arXiv 2104.09864) and the ways to stretch it to longer contexts.

Pairs are the half-split ones, (i, i + head_dim/2), since Hugging Face stores LLaMA's weights so. Meta's own files use
the interleaved pairs (2i, 2i+1); the two differ by a fixed permutation of the rows of W_Q and W_K. GLM and DeepSeek
keep interleaved pairs, and GLM rotates a part of each head alone.

ALiBi and T5's buckets rotate nothing: they add a bias to the scores. All kinds are a PositionEncoding.
"""

import math
from collections.abc import Callable
from functools import lru_cache
from typing import NamedTuple, Protocol, cast

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor

from .config import LlamaConfig, RopeScaling
from .masks import Start, keys_of, own_keys, places, prefix_mask, window_mask


class PositionEncoding(Protocol):
    """How attention learns where T tokens stand: by a rotation of queries and keys, or by a bias on the scores.

    `bias` (n_heads, T, S) is added to the scores; None adds nothing. `mask` (T, S) is True where a query sees a key;
    None is the causal mask. Of sequences that stand at different places both have a first dimension B.
    """

    @property
    def bias(self) -> Tensor | None: ...
    @property
    def mask(self) -> Tensor | None: ...

    def rotate(self, x: Tensor) -> Tensor:
        """Queries or keys (B, heads, T, head_dim), rotated to their positions; as they are where nothing rotates."""
        ...

    def at(self, position: int) -> "PositionEncoding":
        """The encoding of this one of the T tokens, in float64 on the CPU."""
        ...


class RopeFrequencies(NamedTuple):
    """`inv_freq` in radians per token, one a pair, fastest first; cos and sin are multiplied by `attention_scaling`.

    Sequences of different lengths may have frequencies of their own: (B, 1, 1, pairs).
    """

    inv_freq: Float[Tensor, "*batch pairs"]
    attention_scaling: float


class Rotation(NamedTuple):
    """cos and sin of every pair's angle for `rotate`: both halves of head_dim, sin with the sign of its half."""

    cos: Float[Tensor, "*batch T head_dim"]
    sin: Float[Tensor, "*batch T head_dim"]
    mask: Bool[Tensor, "*batch T S"] | None = None

    bias = None

    def rotate(self, x: Float[Tensor, "B heads T head_dim"]) -> Float[Tensor, "B heads T head_dim"]:
        """Queries or keys, rotated to their positions."""
        return rotate(x, self)

    def at(self, position: int) -> "Rotation":
        """The rotation of this one of the T positions, in float64 on the CPU."""
        return Rotation(*(part[position : position + 1].double().cpu() for part in (self.cos, self.sin)))


class PairRotation(NamedTuple):
    """cos and sin of interleaved pairs (2i, 2i+1), each number twice; channels beyond their width are not rotated."""

    cos: Float[Tensor, "*batch T rotary_dim"]
    sin: Float[Tensor, "*batch T rotary_dim"]
    mask: Bool[Tensor, "*batch T S"] | None = None

    bias = None

    def rotate(self, x: Float[Tensor, "B heads T head_dim"]) -> Float[Tensor, "B heads T head_dim"]:
        """Queries or keys, rotated to their positions."""
        width = self.cos.shape[-1]
        turned, rest = x[..., :width], x[..., width:]
        swapped = torch.unflatten(turned, -1, (-1, 2)).flip(-1).flatten(-2)  # (b, a) for each pair (a, b)
        turned = torch.addcmul(turned * self.cos, swapped, self.sin)
        return torch.cat((turned, rest), -1) if rest.shape[-1] else turned

    def at(self, position: int) -> "PairRotation":
        """The rotation of this one of the T positions, in float64 on the CPU."""
        return PairRotation(*(part[position : position + 1].double().cpu() for part in (self.cos, self.sin)))


class Bias(NamedTuple):
    """What is added to the scores of T queries and S keys, the last query standing at the last key.

    In a decoder `memory` is what an encoder made of the source, for its layers' second attention. `buckets` says, where
    the numbers are learned ones, which of them each pair gets.
    """

    bias: Float[Tensor, "*batch n_heads T S"]
    mask: Bool[Tensor, "*batch T S"] | None = None
    memory: Float[Tensor, "B source d"] | None = None
    buckets: Int[Tensor, "*batch T S"] | None = None

    def rotate(self, x: Float[Tensor, "B heads T head_dim"]) -> Float[Tensor, "B heads T head_dim"]:
        """Queries or keys as they are: nothing is rotated."""
        return x

    def at(self, position: int) -> "Bias":
        """The same: `rotate` does nothing at any position."""
        return self


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
    scaling, dim = config.rope_scaling, config.rotary_dim
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


def rope(config: LlamaConfig, start: Start, count: int, weight: Tensor) -> Rotation:
    """A model's rotation of `count` tokens from `start` on, in the dtype and on the device of a weight.

    Dynamic NTK's frequencies follow the length of a sequence: in a batch each sequence has those of its own length.
    """
    if isinstance(start, int):
        return rotation(rope_frequencies(config, start + count, weight.device), start, count, weight.dtype)
    frequencies = rope_frequencies(config, keys_of(start, count), weight.device)
    if keys_of(start, count) > config.max_context and config.rope_scaling and config.rope_scaling.kind == "dynamic":
        each = cast(list[int], start.each.tolist())  # pyright: ignore[reportUnknownMemberType]
        own = [rope_frequencies(config, one + count, weight.device).inv_freq for one in each]
        frequencies = frequencies._replace(inv_freq=torch.stack(own)[:, None, None])
    return rotation(frequencies, start, count, weight.dtype)


def rotation(frequencies: RopeFrequencies, start: Start, count: int, dtype: torch.dtype = torch.float32) -> Rotation:
    """The rotation of positions start … start + count - 1, on the device of the frequencies."""
    inv_freq = frequencies.inv_freq
    angles = places(start, count, inv_freq.device).float()[..., None] * inv_freq
    cos = (angles.cos() * frequencies.attention_scaling).to(dtype)
    sin = (angles.sin() * frequencies.attention_scaling).to(dtype)
    mask = own_keys(start, count, inv_freq.device)
    return Rotation(torch.cat((cos, cos), -1), torch.cat((-sin, sin), -1), mask)


def interleaved(halves: Rotation) -> PairRotation:
    """The same angles as `halves`, for interleaved pairs."""
    half = halves.cos.shape[-1] // 2
    cos, sin = halves.cos[..., :half], halves.sin[..., half:]
    turned = cos.repeat_interleave(2, -1), torch.stack((-sin, sin), -1).flatten(-2)
    return PairRotation(*turned, halves.mask)


def with_prefix(
    positions: Callable[[Start, int], PositionEncoding], prefix: int, start: Start, count: int
) -> Rotation | PairRotation:
    """The rotated positions of `count` tokens from `start` on, with the prefix's mask while the prefix is read.

    Raises IndexError where a prefix is read in more than one pass: its first tokens would miss the last.
    """
    own = cast(Rotation | PairRotation, positions(start, count))
    first = start if isinstance(start, int) else int(start.each.min())
    if 0 < first < prefix:
        raise IndexError(f"position {first}: a prefix of {prefix} tokens must be read in one pass")
    if first:
        return own
    mask = prefix_mask(count, count, prefix, own.cos.device)
    if own.mask is not None and own.mask.ndim == 2:  # a window: within the prefix it hides nothing
        mask = own.mask.clone()
        mask[:prefix, :prefix] = True
    return own._replace(mask=mask)


def with_window(
    positions: Callable[[Start, int], PositionEncoding], window: int, start: Start, count: int
) -> Rotation | PairRotation | Bias:
    """The positions of `count` tokens from `start` on; a query sees the last `window` keys, its own among them."""
    own = cast(Rotation | PairRotation | Bias, positions(start, count))
    device = (own.bias if isinstance(own, Bias) else own.cos).device
    return own._replace(mask=window_mask(start, count, window, device))


def alibi_slopes(n_heads: int) -> Float[Tensor, "n_heads"]:
    """ALiBi's slope of every head (Press et al. 2021, arXiv 2108.12409, section 3).

    A geometric sequence from 2^(-8/n) on, with that ratio, for n a power of two; otherwise that of the power below, and
    after it every other slope of twice that power.
    """
    power = 2 ** math.floor(math.log2(n_heads))
    slopes = [2 ** (-8 * (i + 1) / power) for i in range(power)]
    slopes += [2 ** (-8 * (2 * i + 1) / (2 * power)) for i in range(n_heads - power)]
    return torch.tensor(slopes)


def alibi(n_heads: int, start: Start, count: int, like: Tensor) -> Float[Tensor, "*batch n_heads T S"]:
    """-slope × distance for `count` queries from position `start` on and all keys up to the last of them."""
    queries = places(start, count, like.device)
    distance = queries[..., None] - torch.arange(keys_of(start, count), device=like.device)
    return (-alibi_slopes(n_heads).to(like.device)[:, None, None] * distance).to(like.dtype)


def buckets(
    start: Start, count: int, buckets: int, max_distance: int, both_ways: bool, device: torch.device
) -> Int[Tensor, "*batch T S"]:
    """T5's bucket of every (query, key) pair, for `count` queries from `start` on and all keys up to the last.

    Half of the buckets hold one distance each, the others ever longer ranges, on a logarithmic scale up to
    `max_distance`; what is farther shares the last. With `both_ways` (the encoder) the second half of all buckets is
    for keys after the query; otherwise those share bucket 0 with the query itself (arXiv 1910.10683, section 2.1; Mesh
    TensorFlow's transformer_layers.py).
    """
    queries = places(start, count, device)
    ahead = torch.arange(keys_of(start, count), device=device) - queries[..., None]
    first = torch.zeros_like(ahead)
    if both_ways:
        buckets //= 2
        first, distance = (ahead > 0) * buckets, ahead.abs()
    else:
        distance = (-ahead).clamp(min=0)
    single = buckets // 2
    octaves = (distance.clamp(min=1).float() / single).log() / math.log(max_distance / single)
    wide = (single + (octaves * (buckets - single)).long()).clamp(max=buckets - 1)
    return first + torch.where(distance < single, distance, wide)


def rotate(x: Float[Tensor, "B heads T head_dim"], rope: Rotation) -> Float[Tensor, "B heads T head_dim"]:
    """Turn each pair (a, b) of every head by its angle: (a·cos - b·sin, b·cos + a·sin)."""
    a, b = x.chunk(2, -1)
    return torch.addcmul(x * rope.cos, torch.cat((b, a), -1), rope.sin)


def _unscaled(theta: float, dim: int) -> Float[Tensor, "pairs"]:
    return 1.0 / theta ** (torch.arange(0, dim, 2, dtype=torch.float32) / dim)


def _dynamic_theta(config: LlamaConfig, scaling: RopeScaling, total_tokens: int) -> float:
    """Dynamic NTK (bloc97 and emozilla 2023): past the trained context the base grows with the sequence."""
    stretch = total_tokens / config.max_context
    dim = config.rotary_dim
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
