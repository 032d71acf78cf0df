"""Qwen 2, 2.5 and 3: a LLaMA, but for its attention (Qwen2 report, arXiv 2407.10671; Qwen3 report, arXiv 2505.09388).

Qwen 2 and 2.5 add biases to Q, K and V. Qwen 3 has none; instead an RMSNorm over head_dim normalises each head's q and
k before RoPE. Facts checked against transformers' modeling_qwen2.py and modeling_qwen3.py.
"""

from dataclasses import dataclass
from typing import Any

from ..attention import Attention
from ..config import FIXED_FIELDS, LlamaConfig, network_fields, read_shape
from ..feedforward import SwiGLU
from ..fields import expect_fixed, expect_type, refusal
from ..llama import TENSORS as LLAMA
from ..llama import Block, Llama
from .family import Family

# A window that is not used has no effect, whatever its width.
FIXED = {name: accepted for name, accepted in FIXED_FIELDS.items() if name != "sliding_window"}
# What transformers' classes take for a field that the file leaves out, where LLaMA's does not.
DEFAULTS: dict[str, dict[str, Any]] = {
    "qwen2": {"num_key_value_heads": 32, "max_position_embeddings": 32_768},
    "qwen3": {"num_key_value_heads": 32, "max_position_embeddings": 32_768, "head_dim": 128},
}


@dataclass(frozen=True)
class QwenConfig(LlamaConfig):
    """A LLaMA's fields; `qkv_bias`: biases on Q, K and V; `qk_norm`: an RMSNorm on each head's q and k."""

    qkv_bias: bool = True
    qk_norm: bool = False

    @classmethod
    def from_hf(cls, raw: dict[str, Any]) -> "QwenConfig":
        """Read a parsed config.json. Raises GlassLlamaError, naming the field, as LlamaConfig's reader does."""
        expect_type(raw, *DEFAULTS)
        expect_fixed(raw, FIXED)
        kinds = raw.get("layer_types") or []
        if not isinstance(kinds, list) or any(kind != "full_attention" for kind in kinds):
            raise refusal("layer_types", kinds, 'a list of "full_attention" alone: sliding windows are not implemented')
        newer = raw["model_type"] == "qwen3"
        fields = network_fields(raw, DEFAULTS[raw["model_type"]])
        return cls(**read_shape(fields), qkv_bias=not newer, qk_norm=newer)

    def to_hf(self) -> dict[str, Any]:
        """The `config.json` that transformers reads for this model."""
        kind, name = ("qwen3", "Qwen3") if self.qk_norm else ("qwen2", "Qwen2")
        return super().to_hf() | {"architectures": [f"{name}ForCausalLM"], "model_type": kind}


class Qwen(Llama):
    """The network: a LLaMA whose attention has biases on q, k and v, or norms on q and k."""

    config: QwenConfig

    def make_block(self, _layer: int) -> Block:
        """One layer's block."""
        config = self.config
        attention = Attention(config, bias=config.qkv_bias, qk_norm=config.qk_norm)
        return Block(self.make_norm, attention, SwiGLU(config.d_model, config.ffn_hidden))


TENSORS = LLAMA | {
    "layers.{i}.attn.qkv_proj.bias": tuple(f"model.layers.{{i}}.self_attn.{name}_proj.bias" for name in "qkv"),
    "layers.{i}.attn.q_norm.weight": ("model.layers.{i}.self_attn.q_norm.weight",),
    "layers.{i}.attn.k_norm.weight": ("model.layers.{i}.self_attn.k_norm.weight",),
}
FAMILIES = dict.fromkeys(DEFAULTS, Family(QwenConfig.from_hf, Qwen, TENSORS))
