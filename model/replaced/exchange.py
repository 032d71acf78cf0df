"""A network that runs with one of its parts exchanged for what that part replaced, or for what others have there.

The weights stay those that were trained with the network's own part: what it then says shows how much they rely on that
part, not how good the other one is.
"""

from dataclasses import fields, replace
from functools import partial
from typing import Any, cast
from weakref import WeakKeyDictionary

import torch
from torch import Tensor, nn

from ..attention import Attention
from ..checkpoint import LanguageModel
from ..errors import GlassLlamaError, shortly
from ..feedforward import ACTIVATIONS, FeedForward, GeGLU, SwiGLU
from ..masks import Start, own_keys
from ..module import apart
from ..moe import Experts
from ..network import Layer, Network
from ..norms import LayerNorm, Norm, RMSNorm
from ..positions import Bias, alibi, with_window
from ..taps import Tap
from ..view import View
from .parts import Parts
from .pooled_heads import head_counts, with_kv_heads
from .sinusoidal import with_sinusoids

NORMS = ("layer_norm", "rms_norm")
POSITIONS = ("none", "sinusoidal", "alibi")
WINDOWS = (2, 4, 8, 16, 32)
MOST_KEPT = 4  # exchanged networks of one network


def with_parts(lm: LanguageModel, parts: Parts) -> LanguageModel:
    """The model with these parts, which shares all other weights; without any it is the model itself.

    Raises GlassLlamaError for a part that its network cannot have, naming the field and what would be right.
    """
    if not parts:
        return lm
    check(lm.net, parts)
    config = replace(lm.config, n_kv_heads=parts.kv_heads) if parts.kv_heads else lm.config
    return View.of(lm, partial(_exchanged, parts=parts), config)


def offered(net: Network) -> dict[str, list[str | int]]:
    """By field of Parts, what a network can have in place of its own; none where it reads a source text."""
    if len(net.stacks) > 1:
        return {}
    block = net.block(0)
    attn, ffn, config = block.attn, block.ffn, net.config
    own = "layer_norm" if isinstance(block.attn_norm, LayerNorm) else "rms_norm"
    found: dict[str, list[str | int]] = {
        "norm": [name for name in NORMS if name != own],
        "activation": [name for name in ACTIVATIONS if name != ffn.activation],
    }
    if isinstance(attn, Attention):
        found["position"] = [] if isinstance(net.positions(0, 1), Bias) else [*POSITIONS]
        found["kv_heads"] = [count for count in head_counts(config.n_heads) if count != config.n_kv_heads]
    found["window"] = [*WINDOWS]
    widest = max((experts.routing.top_k for experts in _experts(net)), default=0)
    found["top_k"] = [*range(1, widest)]
    return {name: choices for name, choices in found.items() if choices}


def check(net: Network, parts: Parts) -> None:
    """Raises GlassLlamaError for a part that this network cannot have."""
    choices = offered(net)
    for field in fields(Parts):
        value = getattr(parts, field.name)
        if value and value not in choices.get(field.name, []):
            right = ", ".join(map(str, choices.get(field.name, []))) or "none: this network has no other such part"
            raise GlassLlamaError("bad_request", f"parts: {field.name} is {shortly(value)}; expected {right}.")


# By network, so that its exchanged forms go when it does; hooks find the same modules every time.
_kept: WeakKeyDictionary[Network, dict[Parts, Network]] = WeakKeyDictionary()


def _exchanged(net: Network, parts: Parts) -> Network:
    known = _kept.setdefault(net, {})
    if parts not in known:
        while len(known) >= MOST_KEPT:
            known.pop(next(iter(known)))
        known[parts] = _with(net, parts)
    return known[parts]


def _with(net: Network, parts: Parts) -> Network:
    made = with_kv_heads(net, parts.kv_heads) if parts.kv_heads else apart(net)
    made.layers = nn.ModuleList(_layer(made.block(i), parts) for i in range(net.config.n_layers))
    if parts.norm:
        made.norm = _norm(net.norm, parts.norm)
    if parts.position:
        bias = partial(_bias, parts.position, net.config.n_heads, net.embed.weight)
        cast(Any, made).positions = bias  # in place of the method
    if parts.position == "sinusoidal":
        made.sinusoidal = True
        cast(Any, made).embed_tokens = partial(with_sinusoids, made.embed_tokens)
    if parts.window:
        made.window = parts.window
        cast(Any, made).positions = partial(with_window, made.positions, parts.window)
    return made


def _layer(block: Layer, parts: Parts) -> Layer:
    made = apart(block)
    if parts.norm:
        for name in block.norms:
            setattr(made, name, _norm(getattr(block, name), parts.norm))
    if parts.activation or parts.top_k:
        made.ffn = _ffn(block.ffn, parts)
    if parts.position:
        made.attn = _unrotated(cast(Attention, block.attn))
    return made


def _norm(norm: Norm, kind: str) -> Norm:
    made = (LayerNorm if kind == "layer_norm" else RMSNorm)(norm.weight.shape[0], norm.eps)
    made.weight = norm.weight
    return made.to(norm.weight).requires_grad_(norm.weight.requires_grad)


def _ffn(ffn: FeedForward, parts: Parts) -> FeedForward:
    made = apart(ffn)
    if parts.top_k and isinstance(made, Experts):
        made.routing = replace(made.routing, top_k=min(parts.top_k, made.routing.top_k))
    if parts.activation:
        if isinstance(made, Experts) and made.shared is not None:
            made.shared = cast(SwiGLU, _ffn(made.shared, parts))
        if isinstance(made, SwiGLU):
            made.__class__ = GeGLU  # whose forward asks which activation it has
        made.activation = parts.activation
    return made


def _unrotated(attn: Attention) -> Attention:
    """The same heads without RoPE's taps, and with that of a bias."""
    made = apart(attn)
    for name in ("q_rot", "k_rot"):
        made._modules.pop(name)
        vars(made).pop(name)
    made.position_bias = Tap()
    return made


def _bias(kind: str, n_heads: int, like: Tensor, start: Start, count: int) -> Bias:
    bias = alibi(n_heads, start, count, like)
    return Bias(bias if kind == "alibi" else torch.zeros_like(bias), own_keys(start, count, like.device))


def _experts(net: Network) -> list[Experts]:
    layers = [net.block(i).ffn for i in range(net.config.n_layers)]
    return [ffn for ffn in layers if isinstance(ffn, Experts)]
