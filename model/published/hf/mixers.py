"""What a state-space, linear-attention or short-convolution layer keeps of a sequence, and which weights it has.

Each function gives a StateSpec and the weights of the layers `layers`; shapes as transformers' modules have them, the
widths of the papers: Mamba (arXiv 2312.00752), Mamba-2 (2405.21060), gated DeltaNet (2412.06464), Kimi Delta Attention
(2510.26692), lightning attention (2401.04658).
"""

from typing import NamedTuple

from ..expected import expected
from ..spec import ExtraWeights, StateSpec
from ..unstated import Unstated
from .fields import Fields, refusal


class Mixer(NamedTuple):
    """A layer's state and its weights."""

    state: StateSpec
    weights: tuple[ExtraWeights, ...]


def _weights(
    layers: tuple[int, ...], into: tuple[int, ...], out: tuple[int, ...], units: int, vectors: int
) -> tuple[ExtraWeights, ...]:
    """The projections in and out, split over `units`, and as one number all that is no projection."""
    return (
        ExtraWeights("linear.in", into, layers, units=units),
        ExtraWeights("linear.out", out, layers, units=units),
        ExtraWeights("linear.vectors", (vectors,), layers, "vector"),
    )


class Mamba2(NamedTuple):
    """Mamba-2's sizes, whatever a family calls them; `bias_in` and `bias_out`: the projections have biases."""

    heads: int
    head_dim: int
    groups: int
    d_state: int
    kernel: int
    conv_bias: bool
    bias_in: bool
    bias_out: bool
    norm: bool = True

    def mixer(self, d_model: int, layers: tuple[int, ...]) -> Mixer:
        """Convolved are the channels and, for each group, B and C; z and a step per head come straight from the
        input."""
        inner = self.heads * self.head_dim
        channels = inner + 2 * self.groups * self.d_state
        into = inner + channels + self.heads
        vectors = 3 * self.heads + channels * (self.kernel + self.conv_bias) + inner * self.norm
        vectors += into * self.bias_in + d_model * self.bias_out
        state = StateSpec(channels, self.kernel - 1, self.heads, self.head_dim, self.d_state, fp32=True)
        return Mixer(state, _weights(layers, (d_model, into), (inner, d_model), self.heads, vectors))


def inner_width(f: Fields, d_model: int, *names: str) -> int:
    """`names` times the width: what is computed inside a Mamba layer; a whole number."""
    wide = d_model * f.number(*names, default=2)
    if isinstance(wide, Unstated):
        return wide
    if wide != int(wide):
        raise refusal(f.path + names[0], wide / d_model, expected("whole_from", low=1))
    return int(wide)


def mamba2_heads(f: Fields, inner: int, count: str, width: str) -> tuple[int, int]:
    """Heads and their width, "auto" or as the file says; together they are the inner width."""
    heads = f.count(count)
    given = f.get(width, default="auto")
    head_dim = inner // heads if given == "auto" else f.count(width)
    if heads * head_dim != inner:
        raise refusal(f.path + count, heads, expected("divisor", name="mamba_expand × hidden_size", value=inner))
    return heads, head_dim


def mamba1(f: Fields, d_model: int, layers: tuple[int, ...], prefix: str = "", norms: bool = False) -> Mixer:
    """Mamba, whose channels have `d_state` numbers each; `norms`: on the step, B and C (Jamba)."""
    names = ("d_state", "d_conv", "dt_rank", "conv_bias", "proj_bias")
    if not prefix:
        names = ("state_size", "conv_kernel", "time_step_rank", "use_conv_bias", "use_bias")
    state_size, conv, rank_name, conv_bias, bias = (prefix + name for name in names)
    inner = inner_width(f, d_model, f"{prefix}expand")
    d_state, kernel = f.count(state_size), f.count(conv)
    rank = -(-d_model // 16) if f.get(rank_name, default="auto") == "auto" else f.count(rank_name)
    step = rank + 2 * d_state
    vectors = inner * (d_state + 2 + kernel + f.flag(conv_bias, default=True)) + step * norms
    vectors += (2 * inner + d_model) * f.flag(bias, default=False)
    steps = (ExtraWeights("linear.steps", (inner, rank + step), layers, units=inner),)
    state = StateSpec(inner, kernel - 1, inner, 1, d_state, fp32=True)
    return Mixer(state, _weights(layers, (d_model, 2, inner), (inner, d_model), inner, vectors) + steps)


def delta_net(f: Fields, d_model: int, layers: tuple[int, ...]) -> Mixer:
    """Gated DeltaNet: q and k have heads of their own, v, its gate z, the decay and the step others."""
    keys, values = f.count("linear_num_key_heads"), f.count("linear_num_value_heads")
    d_k, d_v, kernel = (f.count(f"linear_{name}") for name in ("key_head_dim", "value_head_dim", "conv_kernel_dim"))
    if values % keys:
        raise refusal(
            f.path + "linear_num_value_heads", values, expected("multiple", name="linear_num_key_heads", value=keys)
        )
    channels = 2 * keys * d_k + values * d_v
    into = channels + values * d_v + 2 * values
    # vLLM reads this field of Qwen 3.5 alone, not of Qwen3-Next.
    named = f.get("mamba_ssm_dtype") == "float32" and f.raw.get("model_type") != "qwen3_next"
    state = StateSpec(channels, kernel - 1, values, d_k, d_v, fp32=True, vllm_fp32=named)
    vectors = channels * kernel + 2 * values + d_v
    return Mixer(state, _weights(layers, (d_model, into), (values * d_v, d_model), values, vectors))


def kimi_delta(
    f: Fields, heads: int, width: int, kernel: int, d_model: int, layers: tuple[int, ...], full_gate: bool = False
) -> Mixer:
    """Kimi Delta Attention: q, k and v convolved, a decay per channel and an output gate, both of low rank.

    `full_gate`: the gate is a whole matrix, and the rate of the decay is a channel's (Kimi K3).
    """
    inner = heads * width
    state = StateSpec(3 * inner, kernel - 1, heads, width, width, fp32=True, vllm_fp32=True)
    low = 1 if full_gate else 2
    into = 3 * inner + heads + low * width + full_gate * inner
    gates = (ExtraWeights("linear.gates", (low, width, inner), layers, units=heads),)
    vectors = 3 * inner * kernel + inner + (width if full_gate else heads) + width
    return Mixer(state, _weights(layers, (d_model, into), (inner, d_model), heads, vectors) + gates)


def lightning(heads: int, width: int, d_model: int, layers: tuple[int, ...]) -> Mixer:
    """MiniMax-01's lightning attention: no convolution; q, k, v and an output gate, and a norm over all heads."""
    inner = heads * width
    state = StateSpec(0, 0, heads, width, width)
    return Mixer(state, _weights(layers, (d_model, 4, inner), (inner, d_model), heads, inner))


def short_convolution(kernel: int, bias: bool, d_model: int, layers: tuple[int, ...]) -> Mixer:
    """LFM2's gated short convolution, which keeps its last inputs and no state."""
    state = StateSpec(d_model, kernel - 1, 0, 0, 0)
    vectors = d_model * (kernel + 5 * bias)
    return Mixer(state, _weights(layers, (d_model, 3, d_model), (d_model, d_model), d_model, vectors))
