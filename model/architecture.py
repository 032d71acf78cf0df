"""A summary of a network's architecture, by which two networks can be compared, whatever their families.

It is read off the network's modules. The network need not run: it can be on the device "meta", without weights.
layer_metadata.py says what is needed to draw a network that has run.
"""

from dataclasses import dataclass, replace
from typing import Literal

import torch

from .attention import Heads
from .config import NetworkConfig, RopeScaling
from .families import family_of
from .layer_metadata import ffn_metadata
from .mla import LatentAttention
from .moe import Experts
from .network import Layer, Network
from .norms import LayerNorm, RMSNorm
from .positions import Bias, PairRotation

LAYERS = 4  # enough to have every kind of layer that published networks have: DeepSeek-V3's first three have no experts


@dataclass(frozen=True)
class Position:
    """How tokens learn their place: "rope" turns `turned` of a head's `width` channels, in neighbouring pairs where
    `interleaved`, `stretched` where its config says how; "alibi" and "buckets" (as many as `buckets`) add to the
    scores; "sinusoidal" and "learned" add to the embedding.
    """

    kind: Literal["rope", "alibi", "buckets", "sinusoidal", "learned"]
    turned: int = 0
    width: int = 0
    interleaved: bool = False
    theta: float | None = None
    buckets: int = 0
    stretched: RopeScaling | None = None


@dataclass(frozen=True)
class ExpertsPart:
    """`top_k` of `experts` read a token, chosen by `scoring`; `shared`: one more reads all; the first `dense_layers`
    layers have none. With `groups`, a token's experts come from a few of these; `balanced`: a learned number for each
    expert moves the choice.
    """

    experts: int
    top_k: int
    scoring: str
    shared: bool
    dense_layers: int
    groups: int
    balanced: bool


@dataclass(frozen=True)
class ArchitectureSummary:
    """`norms` are the places of norms: "attn", "ffn" and "cross" before these parts, "both" one before attention and
    feed-forward together, "post" after each part, "embedding", "q_k", "latents". `biases` names the linear maps that
    have one: "qkv", "out", "ffn". `norm_bias`: norms add one. `parallel`: attention and feed-forward read the same
    stream. `scaled`: scores are divided by the root of the heads' width. `prefix`: the first of its family were
    trained with a prefix whose tokens all see each other.
    """

    encoder: bool
    norm: Literal["RMSNorm", "LayerNorm"]
    norm_bias: bool
    norms: tuple[str, ...]
    parallel: bool
    position: Position
    attention: Literal["MHA", "GQA", "MQA", "MLA"]
    n_heads: int
    n_kv_heads: int
    latent: tuple[int, int] | None
    scaled: bool
    prefix: bool
    activation: str
    gated: bool
    experts: ExpertsPart | None
    biases: tuple[str, ...]
    tied: bool


def network_without_weights(raw: dict) -> Network:
    """The network that a parsed config.json describes, with its first few layers and without weights.

    Raises GlassLlamaError, naming the field, for a config that does not load.
    """
    family = family_of(raw)
    config: NetworkConfig = family.read(raw)
    with torch.device("meta"):
        return family.build(replace(config, n_layers=min(config.n_layers, LAYERS)))


def architecture_summary(net: Network) -> ArchitectureSummary:
    """What a network is made of."""
    net, _ = net.start_decoding([0])
    layers = [net.block(i) for i in range(len(net.layers))]
    last = layers[-1]
    attn, ffn = last.attn, ffn_metadata(last.ffn)
    return ArchitectureSummary(
        encoder=net.source_ids is not None,
        norm="LayerNorm" if isinstance(last.attn_norm, LayerNorm) else "RMSNorm",
        norm_bias=getattr(last.attn_norm, "bias", None) is not None,
        norms=_norms(net, last),
        parallel=last.parallel,
        position=_position(net, attn),
        attention=_kind(attn),
        n_heads=attn.n_heads,
        n_kv_heads=attn.n_kv_heads,
        latent=(attn.rank, attn.qk_dim - attn.nope) if isinstance(attn, LatentAttention) else None,
        scaled=attn.score_scale != 1.0,
        prefix=net.began_with_prefix,
        activation=ffn.activation,
        gated=ffn.gated,
        experts=_experts(layers),
        biases=_biases(last),
        tied=net.head.weight is net.embed.weight,
    )


def _kind(attn: Heads) -> Literal["MHA", "GQA", "MQA", "MLA"]:
    if isinstance(attn, LatentAttention):
        return "MLA"
    if attn.n_kv_heads == attn.n_heads:
        return "MHA"
    return "MQA" if attn.n_kv_heads == 1 else "GQA"


def _norms(net: Network, block: Layer) -> tuple[str, ...]:
    own = [name.removesuffix("_norm") for name in block.norms]
    if block.ffn_reads == "attn_norm":
        own = ["both"]
    norm = (RMSNorm, LayerNorm)
    outside = [name for name, part in net.named_children() if isinstance(part, norm) and part is not net.norm]
    inside = [name for name, part in block.attn.named_children() if isinstance(part, norm)]
    more = ["embedding"] if outside else []
    if inside:
        more.append("latents" if isinstance(block.attn, LatentAttention) else "q_k")
    return (*own, *more)


def _position(net: Network, attn: Heads) -> Position:
    positions = net.positions(0, 2)
    if isinstance(positions, Bias):
        learned = getattr(net, "relative", None)
        return Position("alibi") if learned is None else Position("buckets", buckets=learned.num_embeddings)
    turned, scaling = net.config.rotary_dim, getattr(net.config, "rope_scaling", None)
    pairs = isinstance(positions, PairRotation)
    return Position("rope", turned, attn.qk_dim, pairs, net.config.rope_theta, stretched=scaling)


def _experts(layers: list[Layer]) -> ExpertsPart | None:
    found = [block.ffn for block in layers if isinstance(block.ffn, Experts)]
    if not found:
        return None
    how = found[0].routing
    shared = found[0].shared is not None
    without = len(layers) - len(found)
    return ExpertsPart(len(found[0].expert), how.top_k, how.scoring, shared, without, how.groups, how.balanced)


def _biases(block: Layer) -> tuple[str, ...]:
    """Of the matrices that make q, k and v, of W_O, of the feed-forward."""
    named = {name for name, _ in block.named_parameters() if name.endswith(".bias") and "norm" not in name}
    starts = {"qkv": "attn.q", "out": "attn.o_proj", "ffn": "ffn."}
    return tuple(part for part, start in starts.items() if any(name.startswith(start) for name in named))
