"""What a network is made of, said in plain data: for who draws it, and computes again what it computed.

Asked of the parts themselves; nothing here knows a family.
"""

from typing import NamedTuple, cast

from jaxtyping import Float
from torch import Tensor

from .attention import Heads
from .feedforward import FeedForward
from .mla import LatentAttention
from .moe import Experts
from .network import Network
from .norms import LayerNorm
from .positions import Bias, PairRotation, RopeFrequencies, Rotation, rope_frequencies


class FfnParts(NamedTuple):
    """A layer's feed-forward. A neuron is `activation`(gate)·up, or `activation`(up) where it is not `gated`.

    With `experts`, each of `width` neurons, a token goes to `top_k` of them; the last `shared` neurons read every
    token. `neurons` counts all, expert by expert and the shared ones last; without experts `width` is the same.
    The fields after `scoring` are those of model.moe.Routing.
    """

    activation: str
    gated: bool
    neurons: int
    width: int
    experts: int = 0
    top_k: int = 0
    shared: int = 0
    scoring: str | None = None
    normalised: bool = False
    scaling: float = 1.0
    groups: int = 1
    kept_groups: int = 1
    group_best: int = 1
    balanced: bool = False


class RotaryParts(NamedTuple):
    """How RoPE turns a query or key: from channel `first` on, in pairs (i, i + pairs) or `interleaved` (2i, 2i + 1)."""

    frequencies: RopeFrequencies
    first: int
    interleaved: bool


class LatentParts(NamedTuple):
    """Widths under MLA: the latent's, and of a head's key the rebuilt part and the shared rotated one; its values'."""

    rank: int
    nope: int
    rope: int
    value: int


class Parts(NamedTuple):
    """A network reading `tokens` tokens.

    `norms` gives the layer's norms with what each reads, `resid_in` or `resid_mid`; `norm_kind` is the same for all.
    `rotary`, or `bias` (n_heads, T): what is added to a score, by the distance from query to key. `scale` multiplies
    q·k.
    """

    norm_kind: str
    norms: dict[str, str]
    embed_norm: bool
    rotary: RotaryParts | None
    bias: Float[Tensor, "n_heads T"] | None
    scale: float
    latent: LatentParts | None
    ffn: tuple[FfnParts, ...]


def ffn_parts(ffn: FeedForward) -> FfnParts:
    """Of one layer's feed-forward."""
    if not isinstance(ffn, Experts):
        return FfnParts(ffn.activation, ffn.gated, ffn.neurons, ffn.neurons)
    shared = 0 if ffn.shared is None else ffn.shared.neurons
    return FfnParts(
        ffn.activation, ffn.gated, ffn.neurons, ffn.width, len(ffn.expert), shared=shared, **vars(ffn.routing)
    )


def parts(net: Network, tokens: int) -> Parts:
    """Of a network that reads this many tokens from the start of its text."""
    block = net.block(0)
    places = net.places(0, 1)
    attn: Heads = block.attn
    latent = None
    if isinstance(attn, LatentAttention):
        latent = LatentParts(attn.rank, attn.nope, attn.qk_dim - attn.nope, attn.v_dim)
    rotary = bias = None
    if isinstance(places, Bias):
        last = cast(Bias, net.places(tokens - 1, 1))  # what the last token's scores get, key by key
        bias = last.bias[:, 0].flip(-1).float().cpu()
    elif isinstance(places, Rotation | PairRotation):
        first = 0 if latent is None else latent.nope
        rotary = RotaryParts(rope_frequencies(net.config, tokens), first, isinstance(places, PairRotation))
    return Parts(
        norm_kind="layer" if isinstance(block.attn_norm, LayerNorm) else "rms",
        norms=dict(block.norms),
        embed_norm=hasattr(net, "embed_norm"),
        rotary=rotary,
        bias=bias,
        scale=attn.score_scale,
        latent=latent,
        ffn=tuple(ffn_parts(net.block(layer).ffn) for layer in range(net.config.n_layers)),
    )
