"""BLOOM (BigScience 2022, arXiv 2211.05100): a decoder with ALiBi, LayerNorm and biases.

Its norms subtract the mean and add a bias; one stands right after the embedding. No position enters q or k: ALiBi takes
slope × distance from each score. Q, K and V come from one matrix, head by head. The feed-forward has two matrices and
GELU. Checked against transformers' modeling_bloom.py.
"""

from dataclasses import dataclass
from typing import Any

import torch
from jaxtyping import Float
from torch import Tensor

from ..attention import Attention
from ..config import NetworkConfig, config_fields
from ..feedforward import Mlp
from ..fields import NetworkFields, expect_fixed, expect_type, refusal
from ..llama import Block, Llama
from ..masks import Start, own_keys
from ..norms import LayerNorm
from ..positions import Bias, alibi
from ..published.hf.sizes import bloom
from .family import Family

# Fields that change the result and that this code implements in one way only.
FIXED: dict[str, tuple[Any, ...]] = {
    "apply_residual_connection_post_layernorm": (False, None),
    "quantization_config": (None,),
    "auto_map": (None, {}),
    "is_encoder_decoder": (False, None),
}


@dataclass(frozen=True)
class BloomConfig(NetworkConfig):
    """NetworkConfig's fields; every head has its own K and V, and the feed-forward is four times as wide as the stream.

    ALiBi sets no limit to the context; `max_context` is the length of training, `seq_length` (2048 where not stated).
    """

    @classmethod
    def from_hf(cls, raw: dict[str, Any]) -> "BloomConfig":
        """Read a parsed config.json. Raises GlassLlamaError, naming the field, for what is wrong or not implemented."""
        expect_type(raw, "bloom")
        expect_fixed(raw, FIXED)
        fields = NetworkFields(raw, defaults={"eos_token_id": 2}, blanks={"seq_length": 2048})
        read = bloom(fields)
        if read.sizes.d_model % read.sizes.n_heads:
            raise refusal("n_head", read.sizes.n_heads, f"a divisor of hidden_size ({read.sizes.d_model})")
        return cls(**config_fields(fields, read.sizes, read.norm_eps, read.tied_embeddings))

    def to_hf(self) -> dict[str, Any]:
        """The `config.json` that transformers reads for this model."""
        return {
            "architectures": ["BloomForCausalLM"],
            "model_type": "bloom",
            "n_layer": self.n_layers,
            "hidden_size": self.d_model,
            "n_head": self.n_heads,
            "layer_norm_epsilon": self.norm_eps,
            "seq_length": self.max_context,
            "apply_residual_connection_post_layernorm": False,
            **self.common_fields(),
        }


class Bloom(Llama):
    """The network: a LLaMA with other parts, and a norm on the embedding."""

    config: BloomConfig

    def __init__(self, config: BloomConfig):
        super().__init__(config)
        self.embed_norm = self.make_norm()

    def make_norm(self) -> LayerNorm:
        """A norm of the stream."""
        return LayerNorm(self.config.d_model, self.config.norm_eps)

    def make_block(self, _layer: int) -> Block:
        """One layer's block."""
        config = self.config
        attention = Attention(config, bias=True, out_bias=True, rotary=False)
        return Block(self.make_norm, attention, Mlp(config.d_model, config.ffn_hidden, "gelu_new", bias=True))

    def embed_tokens(self, ids: Tensor, _start: Start = 0) -> Float[Tensor, "*batch d"]:
        """The residual stream before the first layer: the embedding, normalised."""
        return self.embed_norm(self.embed(ids))

    def positions(self, start: Start, count: int) -> Bias:
        """ALiBi's bias on the scores of `count` queries from `start` on."""
        weight = self.embed.weight
        return Bias(alibi(self.config.n_heads, start, count, weight), own_keys(start, count, weight.device))


def fused_rows(config: BloomConfig) -> dict[str, Tensor]:
    """Files keep the rows of q, k and v by head (head 0's q, k, v, then head 1's); ours stand q, k, v, each by head."""
    rows = torch.arange(3 * config.d_model).view(config.n_heads, 3, config.head_dim).transpose(0, 1).flatten()
    return {f"layers.{{i}}.attn.qkv_proj.{part}": rows for part in ("weight", "bias")}


def prefixed(name: str) -> str:
    """transformers writes `transformer.` before each name; BigScience's own files do not."""
    return name if name.startswith(("transformer.", "lm_head.")) else f"transformer.{name}"


MODULES = {
    "embed_norm": "transformer.word_embeddings_layernorm",
    "layers.{i}.attn_norm": "transformer.h.{i}.input_layernorm",
    "layers.{i}.attn.qkv_proj": "transformer.h.{i}.self_attention.query_key_value",
    "layers.{i}.attn.o_proj": "transformer.h.{i}.self_attention.dense",
    "layers.{i}.ffn_norm": "transformer.h.{i}.post_attention_layernorm",
    "layers.{i}.ffn.up_proj": "transformer.h.{i}.mlp.dense_h_to_4h",
    "layers.{i}.ffn.down_proj": "transformer.h.{i}.mlp.dense_4h_to_h",
    "norm": "transformer.ln_f",
}
TENSORS = {
    "embed.weight": ("transformer.word_embeddings.weight",),
    "head.weight": ("lm_head.weight",),
    **{f"{ours}.{part}": (f"{theirs}.{part}",) for ours, theirs in MODULES.items() for part in ("weight", "bias")},
}
FAMILIES = {"bloom": Family(BloomConfig.from_hf, Bloom, TENSORS, rename=prefixed, row_order=fused_rows)}
