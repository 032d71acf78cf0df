"""What a network is made of, said in plain data: for who draws it, and computes again what it computed.

Asked of the parts themselves; nothing here knows a family.
"""

from typing import Literal, NamedTuple, cast

from jaxtyping import Float, Int
from torch import Tensor

from .attention import Heads
from .feedforward import FeedForward
from .mla import LatentAttention
from .moe import Experts
from .network import Network, StackName
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


class BucketParts(NamedTuple):
    """Which of a head's learned numbers its scores get, by distance: for keys before the query, and for those after it
    where it sees them."""

    before: Int[Tensor, "T"]
    after: Int[Tensor, "T"] | None


class Parts(NamedTuple):
    """A network reading `tokens` tokens; of one with an encoder, either of its stacks.

    `stack` is "encoder" or "decoder" where there are both. `causal`: no token sees those after it; otherwise each sees
    all. `prefix`: how many tokens at the start all see each other, of a network that has such a mask. `norms` gives
    the layer's norms with what each reads, a tap; `norm_kind` is the same for all. `rotary`, or
    `bias` (n_heads, T): what is added to a score, by the distance from query to key, and `bias_after` for keys after
    the query, where it sees them. `scale` multiplies q·k, and `cross_scale` that of a decoder's look at the source.
    """

    stack: StackName | None
    causal: bool
    prefix: int | None
    norm_kind: Literal["layer", "rms"]
    norms: dict[str, str]
    embed_norm: bool
    rotary: RotaryParts | None
    bias: Float[Tensor, "n_heads T"] | None
    bias_after: Float[Tensor, "n_heads T"] | None
    buckets: BucketParts | None
    scale: float
    cross_scale: float | None
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


def bucket_parts(net: Network, last: Bias, first: Bias | None) -> BucketParts | None:
    """Of a network whose biases are learned numbers: what the last token's keys get, and the first one's."""
    if last.buckets is None:
        return None
    after = None if first is None or first.buckets is None else first.buckets[0].cpu()
    return BucketParts(last.buckets[0].flip(-1).cpu(), after)


def parts(net: Network, tokens: int) -> Parts:
    """Of a network that reads this many tokens from the start of its text."""
    block = net.block(0)
    places = net.places(0, 1)
    attn: Heads = block.attn
    seen = None if places.mask is None else net.places(0, tokens).mask
    prefix = getattr(net, "prefix", None)
    sees_all = seen is not None and bool(seen.all())
    latent = None
    if isinstance(attn, LatentAttention):
        latent = LatentParts(attn.rank, attn.nope, attn.qk_dim - attn.nope, attn.v_dim)
    rotary = bias = bias_after = numbered = None
    if isinstance(places, Bias):
        last = cast(Bias, net.places(tokens - 1, 1))  # what the last token's scores get, key by key
        first = cast(Bias, net.places(0, tokens)) if sees_all else None
        bias = last.bias[:, 0].flip(-1).float().cpu()
        bias_after = None if first is None else first.bias[:, 0].float().cpu()
        numbered = bucket_parts(net, last, first)
    elif isinstance(places, Rotation | PairRotation):
        first = 0 if latent is None else latent.nope
        rotary = RotaryParts(rope_frequencies(net.config, tokens), first, isinstance(places, PairRotation))
    return Parts(
        stack="decoder" if hasattr(net, "encoder") else None if hasattr(net, "head") else "encoder",
        causal=prefix is not None or not sees_all,
        prefix=prefix,
        norm_kind="layer" if isinstance(block.attn_norm, LayerNorm) else "rms",
        norms=dict(block.norms),
        embed_norm=hasattr(net, "embed_norm"),
        rotary=rotary,
        bias=bias,
        bias_after=bias_after,
        buckets=numbered,
        scale=attn.score_scale,
        cross_scale=cast(Heads, block.cross).score_scale if "cross" in block.further else None,
        latent=latent,
        ffn=tuple(ffn_parts(net.block(layer).ffn) for layer in range(net.config.n_layers)),
    )
