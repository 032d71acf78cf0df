"""Falcon (Almazrouei et al. 2023, arXiv 2311.16867): attention and feed-forward side by side, on the same stream.

Falcon-7B: one norm whose output both read, and one K/V head for all queries. Falcon-40B and 180B: groups of queries,
and a norm for each of the two; Falcon2-11B: groups and one norm. LayerNorm with bias, RoPE, GELU, and Q, K and V from
one matrix. Checked against transformers' modeling_falcon.py.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, ClassVar

import torch
from jaxtyping import Float
from torch import Tensor

from ..attention import Attention
from ..config import BLANKS, LlamaConfig, config_fields, rope_fields
from ..feedforward import ACTIVATIONS, FeedForward, Mlp
from ..fields import NetworkFields, expect_fixed, expect_type, refusal
from ..forward_pass import Pass
from ..llama import Llama
from ..network import Layer
from ..norms import LayerNorm, Norm
from ..published.hf.sizes import falcon
from ..taps import Tap
from .family import Family, Names

# Fields that change the result and that this code implements in one way only.
FIXED: dict[str, tuple[Any, ...]] = {
    "alibi": (False, None),
    "parallel_attn": (True, None),
    "quantization_config": (None,),
    "is_encoder_decoder": (False, None),
}


@dataclass(frozen=True)
class FalconConfig(LlamaConfig):
    """A LLaMA's fields; `two_norms`: attention and feed-forward each have a norm, else they share one.

    `grouped`: the files keep q, k and v of each K/V head together. `biases`: on all linear maps.
    """

    grouped: bool = False
    two_norms: bool = False
    activation: str = "gelu"
    biases: bool = False

    @classmethod
    def from_hf(cls, raw: dict[str, Any]) -> "FalconConfig":
        """Read a parsed config.json. Raises GlassLlamaError, naming the field, for what is wrong or not implemented."""
        expect_type(raw, "falcon")
        expect_fixed(raw, FIXED)
        fields = NetworkFields(
            raw, defaults={"eos_token_id": 11, "activation": "gelu"}, blanks=BLANKS | {"activation": None}
        )
        read = falcon(fields)
        if not read.grouped and not read.multi_query:
            raise refusal("multi_query", False, "true, or new_decoder_architecture: Falcon-RW is not implemented")
        if read.norms > 1 + read.grouped:
            raise refusal("num_ln_in_parallel_attn", read.norms, "1 or 2" if read.grouped else "1")
        sizes, activation = read.sizes, fields.word("activation", among=tuple(ACTIVATIONS), default="gelu")
        if sizes.d_model % sizes.n_heads:
            raise refusal("num_attention_heads", sizes.n_heads, f"a divisor of hidden_size ({sizes.d_model})")
        return cls(
            **config_fields(fields, sizes, read.norm_eps, read.tied_embeddings),
            **rope_fields(fields, sizes.max_context),
            grouped=read.grouped,
            two_norms=read.norms == 2,
            activation=activation,
            biases=read.biases,
        )

    def to_hf(self) -> dict[str, Any]:
        """The `config.json` that transformers reads for this model."""
        heads = {"num_kv_heads": self.n_kv_heads, "num_ln_in_parallel_attn": 1 + self.two_norms} if self.grouped else {}
        return heads | {
            "architectures": ["FalconForCausalLM"],
            "model_type": "falcon",
            "num_hidden_layers": self.n_layers,
            "hidden_size": self.d_model,
            "num_attention_heads": self.n_heads,
            "ffn_hidden_size": self.ffn_hidden,
            "activation": self.activation,
            "new_decoder_architecture": self.grouped,
            "multi_query": not self.grouped,
            "parallel_attn": True,
            "alibi": False,
            "bias": self.biases,
            "layer_norm_epsilon": self.norm_eps,
            "rope_theta": self.rope_theta,
            "max_position_embeddings": self.max_context,
            **self.common_fields(),
        }


class ParallelBlock(Layer):
    """One layer: attention and feed-forward both read the same normed stream, and both are added to it at once.

    Taps, all (B, T, d): `resid_in`, `attn_normed`, `attn_out`, `ffn_out`, `resid_out`.
    """

    norms: ClassVar[dict[str, str]] = {"attn_norm": "resid_in"}
    ffn_reads = "attn_norm"

    def __init__(self, norm: Callable[[], Norm], attn: Attention, ffn: FeedForward):
        super().__init__()
        self.attn_norm = norm()
        self.attn = attn
        self.ffn = ffn
        self.resid_in, self.resid_out = Tap(), Tap()
        self.attn_normed = Tap()
        self.attn_out, self.ffn_out = Tap(), Tap()

    def forward(self, x: Float[Tensor, "B T d"], at: Pass) -> Float[Tensor, "B T d"]:
        x = self.resid_in(x)
        normed = self.attn_normed(self.attn_norm(x))
        written = self.attn_out(self.attn(normed, at))
        return self.resid_out(x + written + self.ffn_out(self.ffn(self.normed_for_ffn(x, normed))))

    def normed_for_ffn(self, x: Float[Tensor, "B T d"], normed: Float[Tensor, "B T d"]) -> Float[Tensor, "B T d"]:
        """What the feed-forward reads: here what attention reads."""
        return normed


class TwoNormBlock(ParallelBlock):
    """The same with a norm for each of the two. Further tap: `ffn_normed` (B, T, d)."""

    norms: ClassVar[dict[str, str]] = {"attn_norm": "resid_in", "ffn_norm": "resid_in"}
    ffn_reads = "ffn_norm"

    def __init__(self, norm: Callable[[], Norm], attn: Attention, ffn: FeedForward):
        super().__init__(norm, attn, ffn)
        self.ffn_norm = norm()
        self.ffn_normed = Tap()

    def normed_for_ffn(self, x: Float[Tensor, "B T d"], normed: Float[Tensor, "B T d"]) -> Float[Tensor, "B T d"]:
        """What the feed-forward reads: the stream through a norm of its own."""
        return self.ffn_normed(self.ffn_norm(x))


class Falcon(Llama):
    """The network: embedding, blocks, final norm and head as in a LLaMA, with other blocks and LayerNorm."""

    config: FalconConfig

    def make_norm(self) -> LayerNorm:
        """A norm of the stream."""
        return LayerNorm(self.config.d_model, self.config.norm_eps)

    def make_block(self, _layer: int) -> ParallelBlock:
        """One layer's block."""
        config = self.config
        kind = TwoNormBlock if config.two_norms else ParallelBlock
        ffn = Mlp(config.d_model, config.ffn_hidden, config.activation, config.biases)
        attention = Attention(config, bias=config.biases, out_bias=config.biases)
        return kind(self.make_norm, attention, ffn)


def fused_rows(config: FalconConfig) -> dict[str, Tensor]:
    """With groups, files keep each K/V head's queries, key and value together; ours stand q, k, v, each by head."""
    width = config.group_size + 2
    rows = torch.arange(config.n_kv_heads * width * config.head_dim).view(config.n_kv_heads, width, config.head_dim)
    parts = (rows[:, :-2], rows[:, -2], rows[:, -1])
    order = torch.cat([part.flatten() for part in parts])
    return {f"layers.{{i}}.attn.qkv_proj.{part}": order for part in ("weight", "bias")} if config.grouped else {}


def tensors(config: FalconConfig) -> Names:
    """The table of names: that of the norms says which kind of Falcon it is."""
    modules = {
        "layers.{i}.attn_norm": f"transformer.h.{{i}}.{'ln_attn' if config.two_norms else 'input_layernorm'}",
        "layers.{i}.ffn_norm": "transformer.h.{i}.ln_mlp",
        "layers.{i}.attn.qkv_proj": "transformer.h.{i}.self_attention.query_key_value",
        "layers.{i}.attn.o_proj": "transformer.h.{i}.self_attention.dense",
        "layers.{i}.ffn.up_proj": "transformer.h.{i}.mlp.dense_h_to_4h",
        "layers.{i}.ffn.down_proj": "transformer.h.{i}.mlp.dense_4h_to_h",
        "norm": "transformer.ln_f",
    }
    return {
        "embed.weight": ("transformer.word_embeddings.weight",),
        "head.weight": ("lm_head.weight",),
        **{f"{ours}.{part}": (f"{theirs}.{part}",) for ours, theirs in modules.items() for part in ("weight", "bias")},
    }


FAMILIES = {"falcon": Family(FalconConfig.from_hf, Falcon, tensors, row_order=fused_rows)}
