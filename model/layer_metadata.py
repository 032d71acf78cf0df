"""What a network's layers are made of, as plain data: enough to draw them, and to repeat their arithmetic.

It is read off the layers' modules; no code here asks for a family.
"""

from typing import Literal, NamedTuple, cast

import torch
from jaxtyping import Float, Int
from torch import Tensor

from .attention import Heads
from .config import NetworkConfig
from .feedforward import FeedForward
from .mla import LatentAttention
from .moe import Experts
from .network import Network, StackName
from .norms import LayerNorm
from .positions import Bias, PairRotation, RopeFrequencies, Rotation, rope_frequencies
from .weight_error import WeightError


class FfnMetadata(NamedTuple):
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


class RotaryMetadata(NamedTuple):
    """How RoPE turns a query or key: from channel `first` on, in pairs (i, i + pairs) or `interleaved` (2i, 2i + 1)."""

    frequencies: RopeFrequencies
    first: int
    interleaved: bool


class LatentMetadata(NamedTuple):
    """Widths under MLA: the latent's, and of a head's key the rebuilt part and the shared rotated one; its values'."""

    rank: int
    nope: int
    rope: int
    value: int


class BucketMetadata(NamedTuple):
    """Which of a head's learned numbers a score gets, by distance: for keys `before` the query, and for keys `after` it
    where the query sees those."""

    before: Int[Tensor, "T"]
    after: Int[Tensor, "T"] | None


class NetworkMetadata(NamedTuple):
    """A network reading `tokens` tokens; of one with an encoder, either of its stacks. It holds no module.

    - `config`, `dtype`: the shape of what reads, and what its weights are stored in. Of weights of 8 bits `dtype` is
      what is computed in, and `int8_error` what they change; None of others.
    - `stack`: "encoder" or "decoder" where there are both.
    - `causal`: no token sees those after it; otherwise each sees all. `prefix`: how many tokens at the start all see
      each other, of a network that has such a mask. `window`: how many keys up to itself a query sees, where not all.
    - `sinusoidal`: positions are added to the embedding.
    - `norms`: the layer's norms with what each reads, a tap; `norm_kind` is the same for all.
    - `rotary`: how RoPE turns queries and keys. Or `bias` (n_heads, T): what is added to a score, by the distance from
      query to key, and `bias_after` for keys after the query, where it sees them. `no_position`: that number is 0 at
      any distance, as where positions are taken out.
    - `scale` multiplies q·k; `cross_scale` does so where a decoder looks at the source.
    - `ffn`: the feed-forward of each layer.
    """

    config: NetworkConfig
    dtype: torch.dtype
    stack: StackName | None
    causal: bool
    prefix: int | None
    window: int | None
    sinusoidal: bool
    norm_kind: Literal["layer", "rms"]
    norms: dict[str, str]
    embed_norm: bool
    rotary: RotaryMetadata | None
    bias: Float[Tensor, "n_heads T"] | None
    bias_after: Float[Tensor, "n_heads T"] | None
    no_position: bool
    buckets: BucketMetadata | None
    scale: float
    cross_scale: float | None
    latent: LatentMetadata | None
    ffn: tuple[FfnMetadata, ...]
    int8_error: WeightError | None

    @property
    def nbytes(self) -> int:
        """Bytes of what is added to scores, and of the buckets: what grows with the tokens."""
        held = (self.bias, self.bias_after, *(self.buckets or ()))
        return sum(array.nbytes for array in held if array is not None)


def ffn_metadata(ffn: FeedForward) -> FfnMetadata:
    """What one layer's feed-forward is made of."""
    if not isinstance(ffn, Experts):
        return FfnMetadata(ffn.activation, ffn.gated, ffn.neurons, ffn.neurons)
    shared = 0 if ffn.shared is None else ffn.shared.neurons
    return FfnMetadata(
        ffn.activation, ffn.gated, ffn.neurons, ffn.width, len(ffn.expert), shared=shared, **vars(ffn.routing)
    )


def bucket_metadata(net: Network, last: Bias, first: Bias | None) -> BucketMetadata | None:
    """The buckets of the last token's keys and of the first token's; None where biases are no learned numbers."""
    if last.buckets is None:
        return None
    after = None if first is None or first.buckets is None else first.buckets[0].cpu()
    return BucketMetadata(last.buckets[0].flip(-1).cpu(), after)


def network_metadata(net: Network, tokens: int) -> NetworkMetadata:
    """What a network is made of that reads this many tokens from the start of its text."""
    block = net.block(0)
    positions = net.positions(0, 1)
    attn: Heads = block.attn
    seen = None if positions.mask is None else net.positions(0, tokens).mask
    prefix = net.prefix if net.can_have_prefix else None
    sees_all = seen is not None and not net.window and bool(seen.all())
    latent = None
    if isinstance(attn, LatentAttention):
        latent = LatentMetadata(attn.rank, attn.nope, attn.qk_dim - attn.nope, attn.v_dim)
    rotary = bias = bias_after = numbered = None
    no_position = False
    if isinstance(positions, Bias):
        last = cast(Bias, net.positions(tokens - 1, 1))  # what the last token's scores get, key by key
        first = cast(Bias, net.positions(0, tokens)) if sees_all else None
        bias = last.bias[:, 0].flip(-1).float().cpu()
        bias_after = None if first is None else first.bias[:, 0].float().cpu()
        numbered = bucket_metadata(net, last, first)
        no_position = not cast(Bias, net.positions(1, 1)).bias.any()  # one token alone has distance 0, which may add 0
    elif isinstance(positions, Rotation | PairRotation):
        first = 0 if latent is None else latent.nope
        rotary = RotaryMetadata(rope_frequencies(net.config, tokens), first, isinstance(positions, PairRotation))
    return NetworkMetadata(
        config=net.config,
        dtype=net.dtype,
        stack="decoder" if hasattr(net, "encoder") else None if hasattr(net, "head") else "encoder",
        causal=prefix is not None or not sees_all,
        prefix=prefix,
        window=net.window or None,
        sinusoidal=net.sinusoidal,
        norm_kind="layer" if isinstance(block.attn_norm, LayerNorm) else "rms",
        norms=dict(block.norms),
        embed_norm=hasattr(net, "embed_norm"),
        rotary=rotary,
        bias=bias,
        bias_after=bias_after,
        no_position=no_position,
        buckets=numbered,
        scale=attn.score_scale,
        cross_scale=cast(Heads, block.cross).score_scale if "cross" in block.extra_sublayers else None,
        latent=latent,
        ffn=tuple(ffn_metadata(net.block(layer).ffn) for layer in range(net.config.n_layers)),
        int8_error=net.int8_error,
    )
