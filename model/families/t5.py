"""T5 (Raffel et al. 2019, arXiv 1910.10683): an encoder reads a source whole, a decoder writes the target.

RMSNorm without a mean, no biases. Scores are q·k, not divided by √head_dim, plus a learned number for the head and the
bucket of the distance, one table a stack, shared by its layers. In the decoder a second attention looks at the
encoder's last states, with no bias by position. T5 1.0 has ReLU and one matrix for embedding and head, whose input is
divided by √d_model; 1.1 (and Flan) a gated GELU and a head of its own. Checked against transformers' modeling_t5.py.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, ClassVar, cast

import torch
from jaxtyping import Float, Int
from torch import Tensor, nn

from ..attention import Attention, CrossAttention
from ..cache import KVCache, SourceCache
from ..config import NetworkConfig, config_fields
from ..feedforward import FeedForward, GeGLU, Mlp
from ..fields import NetworkFields, expect_fixed, expect_type, refusal
from ..forward_pass import Pass
from ..llama import Block
from ..masks import Start, own_keys
from ..network import Network
from ..norms import RMSNorm
from ..positions import Bias, buckets
from ..published.hf.sizes import t5
from ..taps import Tap
from .family import Family, Names

# Fields that change the result and that this code implements in one way only.
FIXED: dict[str, tuple[Any, ...]] = {
    "is_encoder_decoder": (True, None),
    "is_decoder": (False, None),
    "quantization_config": (None,),
    "auto_map": (None, {}),
}
# What stands in for a field that is absent or null, as transformers' class has it.
BLANKS = {"d_kv": 64, "d_ff": 2048, "vocab_size": 32_128, "n_positions": 512}
LEAST_BUCKETS = 4


@dataclass(frozen=True)
class T5Config(NetworkConfig):
    """NetworkConfig's fields of the decoder; `encoder_layers`; `buckets` of distances, the last from `max_distance` on.

    `gated`: 1.1's feed-forward. `head_scale` multiplies what the head reads. `start_id` is the token that every target
    begins with. Distances set no limit to the context; `max_context` is the length of training, `n_positions`.
    """

    encoder_layers: int = 1
    buckets: int = 32
    max_distance: int = 128
    gated: bool = False
    head_scale: float = 1.0
    start_id: int = 0

    @classmethod
    def from_hf(cls, raw: dict[str, Any]) -> "T5Config":
        """Read a parsed config.json. Raises GlassLlamaError, naming the field, for what is wrong or not implemented."""
        expect_type(raw, "t5")
        expect_fixed(raw, FIXED)
        kind = raw.get("feed_forward_proj", "relu")
        if kind not in ("relu", "gated-gelu"):
            raise refusal("feed_forward_proj", kind, "'relu' or 'gated-gelu'")
        fields = NetworkFields(raw, defaults={"eos_token_id": 1}, blanks=BLANKS)
        read = t5(fields, LEAST_BUCKETS)
        # transformers 5 writes the scale itself; before, a tied head said so.
        scaled = fields.flag("scale_decoder_outputs", default=read.tied_embeddings)
        padding = fields.count("pad_token_id", default=0, low=0)
        return cls(
            **config_fields(fields, read.sizes, read.norm_eps, scaled),
            encoder_layers=read.encoder_layers,
            buckets=read.buckets,
            max_distance=fields.count("relative_attention_max_distance", default=128, low=read.buckets // 2 + 1),
            gated=kind != "relu",
            head_scale=read.sizes.d_model**-0.5 if scaled else 1.0,
            start_id=fields.count("decoder_start_token_id", default=padding, low=0),
        )

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.start_id >= self.vocab_size:
            raise refusal("decoder_start_token_id", self.start_id, f"a token id below vocab_size ({self.vocab_size})")

    @property
    def depths(self) -> dict[str, tuple[str, int]]:
        return {
            "layers": ("num_decoder_layers", self.n_layers),
            "encoder.layers": ("num_layers", self.encoder_layers),
        }

    def to_hf(self) -> dict[str, Any]:
        """The `config.json` that transformers reads for this model: 4 looks at the tied head, 5 at the scale."""
        return self.common_fields() | {
            "architectures": ["T5ForConditionalGeneration"],
            "model_type": "t5",
            "is_encoder_decoder": True,
            "num_layers": self.encoder_layers,
            "num_decoder_layers": self.n_layers,
            "d_model": self.d_model,
            "num_heads": self.n_heads,
            "d_kv": self.head_dim,
            "d_ff": self.ffn_hidden,
            "feed_forward_proj": "gated-gelu" if self.gated else "relu",
            "layer_norm_epsilon": self.norm_eps,
            "relative_attention_num_buckets": self.buckets,
            "relative_attention_max_distance": self.max_distance,
            "n_positions": self.max_context,
            "scale_decoder_outputs": self.head_scale != 1.0,
            "pad_token_id": self.start_id,
            "decoder_start_token_id": self.start_id,
        }

    def ffn(self) -> FeedForward:
        """One layer's feed-forward."""
        if self.gated:
            return GeGLU(self.d_model, self.ffn_hidden)
        return Mlp(self.d_model, self.ffn_hidden, "relu")


def block_parts(config: T5Config) -> tuple[Callable[[], RMSNorm], Attention, FeedForward]:
    """A norm's maker, self-attention and feed-forward of one layer of either stack."""
    norm = partial(RMSNorm, config.d_model, config.norm_eps)
    return norm, Attention(config, rotary=False, scale=1.0), config.ffn()


class DecoderBlock(Block):
    """One layer of the decoder: after its own attention, one that looks at the source.

    Further taps: `resid_cross`, the stream that it reads, `cross_normed` and `cross_out`, all (B, T, d).
    """

    norms: ClassVar[dict[str, str]] = {"attn_norm": "resid_in", "cross_norm": "resid_cross", "ffn_norm": "resid_mid"}
    extra_sublayers: ClassVar[tuple[str, ...]] = ("cross",)

    def __init__(self, config: T5Config):
        super().__init__(*block_parts(config))
        self.cross_norm = RMSNorm(config.d_model, config.norm_eps)
        self.cross = CrossAttention(config, scale=1.0)
        self.resid_cross, self.cross_normed, self.cross_out = Tap(), Tap(), Tap()

    def forward(self, x: Float[Tensor, "B T d"], at: Pass) -> Float[Tensor, "B T d"]:
        x = self.resid_in(x)
        normed = self.attn_normed(self.attn_norm(x))
        x = self.resid_cross(x + self.attn_out(self.attn(normed, at)))
        normed = self.cross_normed(self.cross_norm(x))
        x = self.resid_mid(x + self.cross_out(self.cross(normed, at)))
        normed = self.ffn_normed(self.ffn_norm(x))
        return self.resid_out(x + self.ffn_out(self.ffn(normed)))


class Encoder(Network):
    """The stack that reads the source: every token sees every other. It scores nothing: its logits are (B, S, 0)."""

    config: T5Config

    def __init__(self, config: T5Config, embed: nn.Embedding):
        super().__init__()
        self.config = replace(config, n_layers=config.encoder_layers)
        self.embed = embed
        self.relative = nn.Embedding(config.buckets, config.n_heads)
        self.layers = nn.ModuleList(Block(*block_parts(config)) for _ in range(config.encoder_layers))
        self.norm = RMSNorm(config.d_model, config.norm_eps)
        self.final_resid, self.final_normed = Tap(), Tap()

    def forward(
        self,
        ids: Int[Tensor, "B S"],
        _cache: KVCache | None = None,
        _start: int = 0,
        eager: bool = False,
        last_only: bool = False,
    ) -> Float[Tensor, "B scored nothing"]:
        """As any network runs, for who records it."""
        return self.read(ids, eager)[:, -1 if last_only else 0 :, :0]

    def read(self, ids: Int[Tensor, "B S"], eager: bool = False) -> Float[Tensor, "B S d"]:
        """The last states, normalised: what the decoder looks at."""
        positions, x = self.positions(0, ids.shape[1]), self.embed(ids)
        for layer, block in enumerate(self.layers):
            x = block(x, Pass(positions, layer, eager=eager))
        return self.apply_final_norm(x)

    def positions(self, start: Start, count: int) -> Bias:
        """The bias by bucket, half of the buckets for keys that follow, and a mask that hides nothing."""
        where = buckets(start, count, self.config.buckets, self.config.max_distance, True, self.embed.weight.device)
        return Bias(self.relative(where).permute(2, 0, 1), torch.ones_like(where, dtype=torch.bool), buckets=where)


class T5(Network):
    """The network: `net(source_ids, target_ids)` gives the logits of every target position.

    `layers`, `norm` and `head` are the decoder's. `encode_source(source_ids)` gives the same network once it has read
    that source. That one takes target ids alone, as a network without an encoder does; it is what runs and is traced.
    """

    config: T5Config

    def __init__(self, config: T5Config):
        super().__init__()
        self.config, self.head_scale = config, config.head_scale
        self.embed = nn.Embedding(config.vocab_size, config.d_model)
        self.encoder = Encoder(config, self.embed)
        self.relative = nn.Embedding(config.buckets, config.n_heads)
        self.layers = nn.ModuleList(DecoderBlock(config) for _ in range(config.n_layers))
        self.norm = RMSNorm(config.d_model, config.norm_eps)
        self.head = nn.Linear(config.d_model, config.vocab_size, bias=False)
        if config.tied_embeddings:
            self.head.weight = self.embed.weight
        self.final_resid, self.final_normed = Tap(), Tap()

    def forward(
        self,
        ids: Int[Tensor, "B T"],
        cache: KVCache | Int[Tensor, "B target"] | None = None,
        start: Start = 0,
        eager: bool = False,
        last_only: bool = False,
    ) -> Float[Tensor, "B scored V"]:
        """Logits of target tokens from position `start` on, as Llama.forward gives them, after `encode_source`.

        Without one, `net(source_ids, target_ids)` reads the first and scores the second.
        """
        if isinstance(cache, Tensor):
            return self.encode_source(ids, eager)(cache, None, start, eager, last_only)
        positions, x = self.positions(start, ids.shape[1]), self.embed(ids)
        for layer, block in enumerate(self.layers):
            x = block(x, Pass(positions, layer, cache, start, eager))
        x = self.final_resid(x)
        return self.unembed(self.final_normed(self.norm(x[:, -1:] if last_only else x)))

    def start_decoding(self, ids: list[int]) -> tuple[Network, list[int]]:
        """The network that has read this text, and the token that the target begins with."""
        net, (target,) = self.start_decoding_all([ids])
        return net, target

    def start_decoding_all(self, texts: list[list[int]]) -> tuple[Network, list[list[int]]]:
        """The network that has read these texts of one length, and the token that each target begins with."""
        with torch.inference_mode():
            net = self.encode_source(torch.tensor(texts, device=self.embed.weight.device))
        return net, [[self.config.start_id] for _ in texts]

    def positions(self, start: Start, count: int) -> Bias:
        """The bias by bucket for `count` target tokens from `start` on, and what the encoder made of the source.

        Where each target begins elsewhere, a cache holds the sources (SourceCache): those are of several texts.
        """
        if self.memory is None:
            raise ValueError("no source: call net(source_ids, target_ids), or net.encode_source(source_ids) first")
        where = buckets(start, count, self.config.buckets, self.config.max_distance, False, self.memory.device)
        memory = self.memory if isinstance(start, int) else None
        bias, mask = self.relative(where), own_keys(start, count, self.memory.device)
        if not isinstance(start, int):  # the heads stand where the one of all texts did
            bias, where = bias[:, 0], where[:, 0]
        return Bias(bias.movedim(-1, -3), mask, memory, where)

    def cache(self, capacity: int, batch: int = 1) -> KVCache:
        """An empty cache for `capacity` target tokens, which holds the source's keys and values from the start."""
        if self.memory is None or len(self.memory) != batch:
            raise ValueError(f"no source of {batch} rows: call net.encode_source(source_ids) first")
        cross = [cast(DecoderBlock, block).cross for block in self.layers]
        return SourceCache(self.config, capacity, [attn.keys_and_values(self.memory) for attn in cross])


def tensors(config: T5Config) -> Names:
    """The table of names: the feed-forward's tell 1.0 from 1.1."""
    table: Names = {"embed.weight": ("shared.weight",), "head.weight": ("lm_head.weight",)}
    wi = ("up_proj", ("wi",)) if not config.gated else ("gate_up_proj", ("wi_0", "wi_1"))
    for ours, stack, last in (("", "decoder", 2), ("encoder.", "encoder", 1)):
        at, layer = f"{ours}layers.{{i}}", f"{stack}.block.{{i}}.layer"
        attn, ffn = f"{layer}.0.SelfAttention", f"{layer}.{last}.DenseReluDense"
        table |= {
            f"{ours}norm.weight": (f"{stack}.final_layer_norm.weight",),
            f"{ours}relative.weight": (f"{stack}.block.0.layer.0.SelfAttention.relative_attention_bias.weight",),
            f"{at}.attn_norm.weight": (f"{layer}.0.layer_norm.weight",),
            f"{at}.attn.qkv_proj.weight": tuple(f"{attn}.{name}.weight" for name in "qkv"),
            f"{at}.attn.o_proj.weight": (f"{attn}.o.weight",),
            f"{at}.ffn_norm.weight": (f"{layer}.{last}.layer_norm.weight",),
            f"{at}.ffn.{wi[0]}.weight": tuple(f"{ffn}.{name}.weight" for name in wi[1]),
            f"{at}.ffn.down_proj.weight": (f"{ffn}.wo.weight",),
        }
    cross = "decoder.block.{i}.layer.1"
    return table | {
        "layers.{i}.cross_norm.weight": (f"{cross}.layer_norm.weight",),
        "layers.{i}.cross.q_proj.weight": (f"{cross}.EncDecAttention.q.weight",),
        "layers.{i}.cross.kv_proj.weight": tuple(f"{cross}.EncDecAttention.{name}.weight" for name in "kv"),
        "layers.{i}.cross.o_proj.weight": (f"{cross}.EncDecAttention.o.weight",),
    }


def own_tensors(raw: dict[str, Tensor], config: T5Config) -> dict[str, Tensor]:
    """Without the embedding's copies and a bias that the first files have and nothing reads."""
    unread = "decoder.block.0.layer.1.EncDecAttention.relative_attention_bias.weight"
    shared = raw.get("shared.weight")
    copies = ("encoder.embed_tokens.weight", "decoder.embed_tokens.weight")
    extra = {name for name in copies if name in raw and shared is not None and torch.equal(raw[name], shared)}
    own = {name: tensor for name, tensor in raw.items() if name not in {unread, *extra}}
    if not config.tied_embeddings and shared is not None:
        own.setdefault("lm_head.weight", shared)
    return own


FAMILIES = {"t5": Family(T5Config.from_hf, T5, tensors, unpack=own_tensors)}
