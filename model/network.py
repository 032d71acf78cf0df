"""What every network here has, whatever its family: what generic code (a trace, an analysis) may ask of it.

A part that a network lacks is absent. Nothing asks which family a network is of.
"""

from copy import copy
from typing import Any, ClassVar, Literal, NamedTuple, cast

import torch
from jaxtyping import Float, Int
from torch import Tensor, nn

from .attention import Heads
from .cache import KVCache
from .feedforward import FeedForward
from .module import Module
from .norms import Norm
from .positions import PositionEncoding
from .taps import Tap

# What writes to the stream: heads that look at their own text, heads that look at a source, the feed-forward.
Writer = Literal["head", "cross", "ffn"]
StackName = Literal["encoder", "decoder"]


class Layer(Module):
    """One layer: attention and feed-forward, each reading a normalised copy of the residual stream and added to it.

    `norms` names the layer's norms, each with the tap of the stream that it reads; `ffn_reads` is the one before the
    feed-forward. `extra_sublayers` names what else writes to the stream, each to its tap NAME_out.
    """

    extra_sublayers: ClassVar[tuple[str, ...]] = ()
    norms: ClassVar[dict[str, str]] = {"attn_norm": "resid_in", "ffn_norm": "resid_mid"}
    ffn_reads: ClassVar[str] = "ffn_norm"

    attn: Heads
    ffn: FeedForward
    attn_norm: Norm

    @property
    def attentions(self) -> dict[Writer, str]:
        """Its kinds of heads, each with the module that holds them, in the order of the computation."""
        extra: dict[Writer, str] = {cast(Writer, name): name for name in self.extra_sublayers}
        return {"head": "attn", **extra}

    @property
    def writes(self) -> dict[Writer, str]:
        """What writes to the stream, by kind in the order of the computation, and the tap of what it has to write:
        heads (B, T, n_heads, width), before W_O, and the feed-forward (B, T, d)."""
        heads: dict[Writer, str] = {kind: f"{module}.mixed" for kind, module in self.attentions.items()}
        return {**heads, "ffn": "ffn_out"}

    def reads(self, kind: Writer) -> str:
        """The tap of the stream that heads of a kind, or the feed-forward, read."""
        return self.norms[self.ffn_reads if kind == "ffn" else f"{self.attentions[kind]}_norm"]

    @property
    def parallel(self) -> bool:
        """Whether the feed-forward reads the stream as attention does, before attention has written to it."""
        return self.reads("ffn") == "resid_in"

    def feed(self, stream: Float[Tensor, "B T d"]) -> Float[Tensor, "B T d"]:
        """What the feed-forward writes where its norm reads this stream."""
        return self.ffn(getattr(self, self.ffn_reads)(stream))


class Stack(NamedTuple):
    """Layers that read one text: those of `net`, whose taps have names that begin with `prefix` in the whole network.

    `name` tells an encoder from its decoder; None where there is one stack alone.
    """

    name: StackName | None
    prefix: str
    net: "Network"


class Network(Module):
    """A network that continues a text. Its layers are `net.layers`; `net.norm` and `net.head` make the logits.

    `head_scale` multiplies what the head reads. A network that has read a source text, which it does not continue,
    keeps its ids as `source_ids` and what its `encoder` made of them as `memory`.
    """

    config: Any  # each network's own kind of NetworkConfig
    embed: nn.Embedding
    layers: nn.ModuleList
    norm: Norm
    head: nn.Linear
    final_resid: Tap
    final_normed: Tap
    head_scale: float = 1.0
    encoder: Any  # the Network that reads a source, where there is one
    source_ids: Int[Tensor, "B S"] | None = None
    memory: Float[Tensor, "B S d"] | None = None

    def with_memory(self, source_ids: Int[Tensor, "B S"], memory: Float[Tensor, "B S d"]) -> "Network":
        """This network, sharing its weights, where it has read a source: `memory` is what its encoder made of it."""
        net = copy(self)
        net.source_ids, net.memory = source_ids, memory
        return net

    def encode_source(self, source_ids: Int[Tensor, "B S"], eager: bool = False) -> "Network":
        """This network, sharing its weights, once its encoder has read a source."""
        return self.with_memory(source_ids, self.encoder.read(source_ids, eager))

    def start_decoding(self, ids: list[int]) -> tuple["Network", list[int]]:
        """The network that continues this text, and the tokens that it starts from: itself, and the text."""
        return self, ids

    def start_decoding_all(self, texts: list[list[int]]) -> tuple["Network", list[list[int]]]:
        """The same for several texts, continued as rows of one batch; an encoder reads texts of one length."""
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

    def positions(self, start: int, count: int) -> PositionEncoding:
        """The position encoding of `count` tokens from `start` on, for the layers' attention (Pass.positions)."""
        raise NotImplementedError

    def cache(self, capacity: int, batch: int = 1) -> KVCache:
        """An empty KV cache for `batch` sequences of up to `capacity` tokens, on the device of the weights."""
        weight = self.embed.weight
        return KVCache(self.config, capacity, batch, weight.dtype, weight.device)

    def embedded(self, ids: Tensor) -> Float[Tensor, "*batch d"]:
        """The residual stream before the first layer."""
        return self.embed(ids)

    def unembed(self, normed: Float[Tensor, "*batch d"]) -> Float[Tensor, "*batch V"]:
        """The logits that the head makes of the normalised stream."""
        return self.head(normed if self.head_scale == 1.0 else normed * self.head_scale)

    def finished(self, stream: Float[Tensor, "*batch d"]) -> Float[Tensor, "*batch d"]:
        """The stream after the last layer, as the final norm gives it to the head, or an encoder to its decoder."""
        return self.final_normed(self.norm(self.final_resid(stream)))

    def scored(self, stream: Float[Tensor, "*batch d"]) -> Float[Tensor, "*batch V"]:
        """The logits that final norm and head make of the stream after the last layer."""
        return self.unembed(self.norm(stream))

    @property
    def dtype(self) -> torch.dtype:
        return self.embed.weight.dtype
