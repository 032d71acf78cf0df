"""GLM: ChatGLM3 (model_type "chatglm") and GLM-4 ("glm"), a LLaMA but for its attention.

Half of each head's channels are rotated, in interleaved pairs; Q, K and V have biases. The two write the same network
under other names. GLM was first trained to fill in blanks after a text that all its tokens see whole (Du et al. 2021,
arXiv 2103.10360); ChatGLM3 and GLM-4 run causally; `with_prefix` runs them the older way. Checked against
transformers' modeling_glm.py and, for ChatGLM3, the modeling_chatglm.py beside its weights.
"""

from dataclasses import dataclass
from typing import Any, ClassVar

from ..attention import Attention
from ..config import FIXED_FIELDS, LlamaConfig, config_fields, network_fields, read_shape
from ..errors import GlassLlamaError
from ..feedforward import SwiGLU
from ..fields import NetworkFields, expect_fixed, expect_type
from ..llama import TENSORS as LLAMA
from ..llama import Block, Llama
from ..masks import Start
from ..positions import PairRotation, interleaved, rope
from ..published.hf.sizes import chatglm, rope_part, rope_share, tied
from .family import Family, Names

FIXED = {
    name: accepted for name, accepted in FIXED_FIELDS.items() if name not in ("attention_bias", "partial_rotary_factor")
}
# What transformers' class takes for a field that the file leaves out, where LLaMA's does not.
DEFAULTS = {
    "num_key_value_heads": 2, "head_dim": 128, "max_position_embeddings": 131_072, "rms_norm_eps": 1.5625e-7,
    "partial_rotary_factor": 0.5,
}  # fmt: skip
# ChatGLM's fields that change the result and that this code implements in one way only.
CHATGLM_FIXED: dict[str, tuple[Any, ...]] = {
    "multi_query_attention": (True,),
    "rmsnorm": (True, None),
    "post_layer_norm": (True, None),
    "add_bias_linear": (False, None),
    "apply_residual_connection_post_layernorm": (False, None),
    "original_rope": (True, None),
    # ChatGLM3-32k divides positions by it, GLM-4 multiplies RoPE's base: the file does not say which.
    "rope_ratio": (1, None),
    "pre_seq_len": (None, 0),
    "quantization_bit": (None, 0),
    "quantization_config": (None,),
    "is_encoder_decoder": (False, None),
}


@dataclass(frozen=True)
class GlmConfig(LlamaConfig):
    """A LLaMA's fields; `rotary_factor`: the part of each head that is rotated; `qkv_bias`: biases on Q, K and V."""

    rotary_factor: float = 0.5
    qkv_bias: bool = True

    @property
    def rotary_dim(self) -> int:
        """The part of a head that RoPE rotates."""
        return int(self.head_dim * self.rotary_factor)

    @classmethod
    def from_hf(cls, raw: dict[str, Any]) -> "GlmConfig":
        """Read a parsed config.json. Raises GlassLlamaError, naming the field, for what is wrong or not implemented."""
        expect_type(raw, "glm")
        expect_fixed(raw, FIXED)
        fields = network_fields(raw, DEFAULTS, partial_rotary_factor=None)
        share = rope_share(fields, rope_part(fields))
        bias = fields.flag("attention_bias", default=True)
        return cls(**read_shape(fields, share), rotary_factor=share, qkv_bias=bias)

    def to_hf(self) -> dict[str, Any]:
        """The `config.json` that transformers' GLM class reads for this model; ChatGLM's is not written."""
        own = {"partial_rotary_factor": self.rotary_factor, "attention_bias": self.qkv_bias, "pad_token_id": None}
        return super().to_hf() | {"architectures": ["GlmForCausalLM"], "model_type": "glm"} | own

    @classmethod
    def from_chatglm(cls, raw: dict[str, Any]) -> "GlmConfig":
        """Read ChatGLM3's config.json, which has names of its own. Raises as `from_hf`."""
        expect_type(raw, "chatglm")
        expect_fixed(raw, CHATGLM_FIXED)
        if raw.get("multi_query_attention") is None:
            raise GlassLlamaError("config", "config.json: multi_query_attention is missing; expected true, as in "
                                  "ChatGLM2 and 3: the first ChatGLM is another network.")  # fmt: skip
        fields = NetworkFields(raw)
        read = chatglm(fields)
        return cls(**config_fields(fields, read.sizes, read.norm_eps, tied(fields, False)), qkv_bias=read.qkv_bias)


class Glm(Llama):
    """The network: a LLaMA with half-rotated heads and biases on q, k and v."""

    began_with_prefix: ClassVar[bool] = True
    config: GlmConfig

    def make_block(self, _layer: int) -> Block:
        """One layer's block."""
        config = self.config
        return Block(self.make_norm, Attention(config, bias=config.qkv_bias), SwiGLU(config.d_model, config.ffn_hidden))

    def positions(self, start: Start, count: int) -> PairRotation:
        """RoPE's cos and sin for interleaved pairs."""
        return interleaved(rope(self.config, start, count, self.embed.weight))


TENSORS = LLAMA | {
    "layers.{i}.attn.qkv_proj.bias": tuple(f"model.layers.{{i}}.self_attn.{name}_proj.bias" for name in "qkv"),
    "layers.{i}.ffn.gate_up_proj.weight": ("model.layers.{i}.mlp.gate_up_proj.weight",),
}
_LAYER = "transformer.encoder.layers.{i}"
CHATGLM: Names = {
    "embed.weight": ("transformer.embedding.word_embeddings.weight",),
    "layers.{i}.attn_norm.weight": (f"{_LAYER}.input_layernorm.weight",),
    "layers.{i}.attn.qkv_proj.weight": (f"{_LAYER}.self_attention.query_key_value.weight",),
    "layers.{i}.attn.qkv_proj.bias": (f"{_LAYER}.self_attention.query_key_value.bias",),
    "layers.{i}.attn.o_proj.weight": (f"{_LAYER}.self_attention.dense.weight",),
    "layers.{i}.ffn_norm.weight": (f"{_LAYER}.post_attention_layernorm.weight",),
    "layers.{i}.ffn.gate_up_proj.weight": (f"{_LAYER}.mlp.dense_h_to_4h.weight",),
    "layers.{i}.ffn.down_proj.weight": (f"{_LAYER}.mlp.dense_4h_to_h.weight",),
    "norm.weight": ("transformer.encoder.final_layernorm.weight",),
    "head.weight": ("transformer.output_layer.weight",),
}
FAMILIES = {"glm": Family(GlmConfig.from_hf, Glm, TENSORS), "chatglm": Family(GlmConfig.from_chatglm, Glm, CHATGLM)}
