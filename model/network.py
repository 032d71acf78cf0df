"""What every network here has, whatever its family: the interface for generic code (a trace, an analysis).

A part that a network lacks is absent. No code asks for a network's family.
"""

from copy import copy
from functools import partial
from typing import TYPE_CHECKING, Any, ClassVar, Literal, NamedTuple, cast

import torch
from jaxtyping import Float, Int
from torch import Tensor, nn

from .attention import Heads
from .cache import KVCache
from .feedforward import FeedForward
from .forward_pass import Pass
from .masks import Start
from .module import Module
from .norms import Norm
from .positions import Bias, PositionEncoding, with_prefix
from .taps import Tap

if TYPE_CHECKING:
    from .weight_error import WeightError

# What writes to the stream: heads that look at their own text, heads that look at a source, the feed-forward.
Writer = Literal["head", "cross", "ffn"]
StackName = Literal["encoder", "decoder"]


class Layer(Module):
    """One layer: attention and feed-forward, each reading a normalised copy of the residual stream and added to it.

    `norms` names the layer's norms, each with the tap of the stream that it reads; `ffn_reads` is the norm before the
    feed-forward. `extra_sublayers` are the attributes that write to the stream besides, each through its tap NAME_out.
    """

    extra_sublayers: ClassVar[tuple[str, ...]] = ()
    norms: ClassVar[dict[str, str]] = {"attn_norm": "resid_in", "ffn_norm": "resid_mid"}
    ffn_reads: ClassVar[str] = "ffn_norm"

    attn: Heads
    ffn: FeedForward
    attn_norm: Norm
    attn_out: Tap

    @property
    def attentions(self) -> dict[Writer, str]:
        """The attribute that holds each kind of heads, in the order of the computation."""
        extra: dict[Writer, str] = {cast(Writer, name): name for name in self.extra_sublayers}
        return {"head": "attn", **extra}

    @property
    def writes(self) -> dict[Writer, str]:
        """The tap of what each kind writes, in the order of the computation.

        Heads pass (B, T, n_heads, width), before W_O; the feed-forward passes (B, T, d).
        """
        heads: dict[Writer, str] = {kind: f"{module}.mixed" for kind, module in self.attentions.items()}
        return {**heads, "ffn": "ffn_out"}

    def reads(self, kind: Writer) -> str:
        """The tap of the stream that heads of a kind, or the feed-forward, read."""
        return self.norms[self.ffn_reads if kind == "ffn" else f"{self.attentions[kind]}_norm"]

    @property
    def parallel(self) -> bool:
        """Whether the feed-forward reads the stream as attention does, before attention has written to it."""
        return self.reads("ffn") == "resid_in"

    def attend(self, stream: Float[Tensor, "B T d"], at: Pass) -> Float[Tensor, "B T d"]:
        """What attention writes where its norm reads this stream."""
        return self.attn_out(self.attn(self.attn_norm(stream), at))

    def feed(self, stream: Float[Tensor, "B T d"]) -> Float[Tensor, "B T d"]:
        """What the feed-forward writes where its norm reads this stream."""
        return self.ffn(getattr(self, self.ffn_reads)(stream))


class Stack(NamedTuple):
    """The layers of `net`, which all read one text. In the whole network, names of its taps start with `prefix`.

    `name` tells an encoder from its decoder; None where there is one stack.
    """

    name: StackName | None
    prefix: str
    net: "Network"


class Network(Module):
    """A network that continues a text. Its layers are `net.layers`; `net.norm` and `net.head` make the logits.

    `head_scale` multiplies what the head reads. The first `prefix` tokens see each other; with 0 the mask is causal.
    A query sees the last `window` keys, its own among them; with 0 all up to itself. `sinusoidal` says that positions
    are added to the embedding.
    A network with an `encoder` reads a source text and writes another: `source_ids` are the source's tokens, and
    `memory` is what the encoder made of them.
    """

    began_with_prefix: ClassVar[bool] = False  # whether the first of its family were trained with one

    config: Any  # each network's own kind of NetworkConfig
    embed: nn.Embedding
    layers: nn.ModuleList
    norm: Norm
    head: nn.Linear
    final_resid: Tap
    final_normed: Tap
    head_scale: float = 1.0
    prefix: int = 0
    window: int = 0
    sinusoidal: bool = False
    encoder: Any  # the Network that reads a source, where there is one
    int8_error: "WeightError | None" = None  # of weights that are stored in 8 bits
    source_ids: Int[Tensor, "B S"] | None = None
    memory: Float[Tensor, "B S d"] | None = None

    def with_memory(self, source_ids: Int[Tensor, "B S"], memory: Float[Tensor, "B S d"]) -> "Network":
        """A copy that shares the weights and has this source: `memory` is what the encoder made of it."""
        net = copy(self)
        net.source_ids, net.memory = source_ids, memory
        return net

    def encode_source(self, source_ids: Int[Tensor, "B S"], eager: bool = False) -> "Network":
        """A copy that shares the weights and has read this source with its encoder."""
        return self.with_memory(source_ids, self.encoder.read(source_ids, eager))

    def start_decoding(self, ids: list[int]) -> tuple["Network", list[int]]:
        """(network, ids): what writes on after this text, and the tokens it starts from. Here: itself and the text."""
        return self, ids

    def start_decoding_all(self, texts: list[list[int]]) -> tuple["Network", list[list[int]]]:
        """The same for several texts, as rows of one batch. Where there is an encoder, all have one length."""
        return self, texts

    @property
    def stacks(self) -> tuple[Stack, ...]:
        """Its stacks in the order in which they run, each reading a text of its own."""
        if not hasattr(self, "encoder"):
            return (Stack(None, "", self),)
        return Stack("encoder", "encoder.", self.encoder), Stack("decoder", "", self)

    def block(self, layer: int) -> Layer:
        """One layer's block."""
        return cast(Layer, self.layers[layer])

    def positions(self, start: Start, count: int) -> PositionEncoding:
        """The position encoding of `count` tokens from `start` on, for the layers' attention (Pass.positions)."""
        raise NotImplementedError

    @property
    def can_have_prefix(self) -> bool:
        """Whether its tokens could see those after them: a bias on the scores knows the distances before them alone."""
        return len(self.stacks) == 1 and not isinstance(self.positions(0, 1), Bias)

    def with_prefix(self, tokens: int) -> "Network":
        """A copy that shares the weights, in which the first `tokens` tokens all see each other."""
        net = copy(self)
        net.prefix = tokens
        cast(Any, net).positions = partial(with_prefix, self.positions, tokens)  # in place of the method
        return net

    def cache(self, capacity: int, batch: int = 1) -> KVCache:
        """An empty KV cache for `batch` sequences of up to `capacity` tokens, on the device of the weights."""
        weight = self.embed.weight
        return KVCache(self.config, capacity, batch, weight.dtype, weight.device)

    def embed_tokens(self, ids: Tensor, _start: Start = 0) -> Float[Tensor, "*batch d"]:
        """The residual stream before the first layer, of tokens (…, T) of which the first stands at `_start`."""
        return self.embed(ids)

    def unembed(self, normed: Float[Tensor, "*batch d"]) -> Float[Tensor, "*batch V"]:
        """The logits that the head makes of the normalised stream."""
        return self.head(normed if self.head_scale == 1.0 else normed * self.head_scale)

    def apply_final_norm(self, stream: Float[Tensor, "*batch d"]) -> Float[Tensor, "*batch d"]:
        """The stream after the last layer, normalised: what the head reads, or the decoder of an encoder."""
        return self.final_normed(self.norm(self.final_resid(stream)))

    def logits(self, stream: Float[Tensor, "*batch d"]) -> Float[Tensor, "*batch V"]:
        """The logits that final norm and head make of the stream after the last layer."""
        return self.unembed(self.norm(stream))

    @property
    def dtype(self) -> torch.dtype:
        return self.embed.weight.dtype
